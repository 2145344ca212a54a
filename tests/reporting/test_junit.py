import io
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest
from junitparser import Error, Failure, JUnitXml, Skipped

from recall_assets.comparison import Current, compare, judge_regression
from recall_assets.config import Regression
from recall_assets.gate import RuleResult, Status, Verdict, verdict_of
from recall_assets.intervals import Interval
from recall_assets.metrics import Triad
from recall_assets.reporting.junit import junit_xml, no_figures_junit
from recall_assets.reporting.model import CaseResult, CheckResult, Report, RetrieverReport, check_of_rules
from recall_assets.slice_names import slices_of
from recall_assets.slices import Ledger, SliceScore
from tests.baselines import baseline, ranked, scored

MISS = None
FAMILIES = ["overall", "case_type", "locale", "case_type,locale"]
OVERALL = SliceScore("overall", 2, Triad(0.5, 0.5, 0.5), Interval(0.1, 0.9), Ledger(2, 2, 2, 0, 0, 0, 0))


def parsed(xml):
    """Suite, class name and test name to what the test came to, by junitparser; as many as xml.etree finds."""
    document = JUnitXml.fromstring(xml.encode())
    root = ET.fromstring(xml.encode())  # noqa: S314 - our own document
    tests = {
        (suite.name, test.classname, test.name): next(iter(test.result), None) for suite in document for test in suite
    }
    for kind, result in (("failure", Failure), ("error", Error), ("skipped", Skipped)):
        assert len(root.findall(f".//{kind}")) == sum(isinstance(one, result) for one in tests.values())
    assert len(root.findall(".//testcase")) == len(tests)
    return tests


def report_of(rules=(), checks=(), comparison=None, name="words"):
    every = [*checks, *check_of_rules(rules)]
    verdict = verdict_of((check.name, check.status) for check in every)
    return Report(verdict, 5, [RetrieverReport(name, [OVERALL], every, None, list(rules), comparison)])


def rule(name="hit_floor", status=Status.PASSED, slice_="overall", detail="said"):
    return RuleResult("words", name, slice_, status, None, None, 2, None, None, detail)


def compared(before, after, then_k=5, titles=None, **configured):
    """The document on a comparison and what the rule makes of it, with every case of the run."""
    run, committed, regression = (
        Current(5, after, None, titles),
        baseline(before, top_k=then_k),
        Regression(**configured),
    )
    (comparison,) = compare({"words": run}, {"words": committed}, regression).values()
    rules = judge_regression("words", run, committed, comparison, None, regression)
    cases = [case_of(one) for one in after]
    return parsed(junit_xml(report_of(rules, comparison=comparison), {"words": cases}))


def case_of(one):
    return CaseResult(one.case_id, slices_of(one.case_type, one.locale)[-1], True, True, one.gold_rank)


def failed_cases(tests):
    """Case id to message of the cases that failed; they are the tests whose class names the slice."""
    return {
        name: result.message
        for (_, where, name), result in tests.items()
        if where.startswith("words.") and isinstance(result, Failure)
    }


def failures(tests):
    return sum(isinstance(result, Failure) for result in tests.values())


def test_the_suites_are_the_four_families_in_order_even_where_they_are_empty():
    document = JUnitXml.fromstring(junit_xml(report_of(), {}).encode())
    assert document.name == "retrieval recall"
    assert [(suite.name, suite.tests) for suite in document] == [(family, 0) for family in FAMILIES]


def test_a_rule_is_a_test_in_the_family_of_its_slice():
    slices = ["overall", "case_type=golden", "locale=pt-BR", "case_type=golden,locale=pt-BR"]
    tests = parsed(junit_xml(report_of([rule(slice_=name) for name in slices]), {}))
    assert list(tests) == [
        ("overall", "words", "hit_floor overall"),
        ("case_type", "words", "hit_floor case_type=golden"),
        ("locale", "words", "hit_floor locale=pt-BR"),
        ("case_type,locale", "words", "hit_floor case_type=golden,locale=pt-BR"),
    ]


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (Status.PASSED, None),
        (Status.UNTESTED, None),
        (Status.INACTIVE, Skipped),
        (Status.FAILED, Failure),
        (Status.INCONCLUSIVE, Error),
        (Status.INVALID, Error),
    ],
)
def test_what_a_rule_came_to_is_what_its_test_came_to(status, kind):
    ((_, result),) = parsed(junit_xml(report_of([rule(status=status)]), {})).items()
    assert type(result) is (kind or type(None))
    if kind is not None:
        assert result.message == "said"


def test_a_finding_of_several_lines_has_the_first_as_its_message_and_all_as_its_text():
    xml = junit_xml(report_of([rule(status=Status.FAILED, detail="first\nsecond")]), {})
    ((_, result),) = parsed(xml).items()
    assert (result.message, result.text) == ("first", "first\nsecond")


def test_what_a_rule_that_passed_has_found_is_in_its_output():
    (suite, *_) = JUnitXml.fromstring(junit_xml(report_of([rule(detail="at or above")]), {}).encode())
    assert [test.system_out for test in suite] == ["at or above"]


def test_checks_are_tests_of_the_overall_family_once():
    checks = [
        CheckResult("cases_valid", Status.PASSED, blocking=True, detail="7 cases"),
        CheckResult("index_matches_exact", Status.WARNING, blocking=False, detail="1 of 5 top lists differs"),
    ]
    tests = parsed(junit_xml(report_of([rule()], checks), {}))
    assert tests == {
        ("overall", "words", "cases_valid"): None,
        ("overall", "words", "index_matches_exact"): None,
        ("overall", "words", "hit_floor overall"): None,
    }


def test_a_miss_is_no_failed_test_and_every_case_is_in_its_narrowest_slice():
    cases = [
        CaseResult("en-1", "case_type=golden,locale=en", True, True, 3),
        CaseResult("pt-1", "case_type=golden,locale=pt-BR", True, True, MISS),
    ]
    xml = junit_xml(report_of([rule()]), {"words": cases})
    tests = parsed(xml)
    assert tests["case_type,locale", "words.case_type=golden,locale=en", "en-1"] is None
    assert tests["case_type,locale", "words.case_type=golden,locale=pt-BR", "pt-1"] is None
    suite = list(JUnitXml.fromstring(xml.encode()))[-1]
    assert [(test.name, test.system_out) for test in suite] == [("en-1", "#3"), ("pt-1", "MISS")]


def test_a_case_without_gold_is_skipped_and_one_without_a_result_is_an_error():
    cases = [
        CaseResult("none", "case_type=no_match,locale=en", False, False, MISS),
        CaseResult("gone", "case_type=golden,locale=en", True, False, MISS),
    ]
    none, gone = parsed(junit_xml(report_of(), {"words": cases})).values()
    assert isinstance(none, Skipped)
    assert none.message == "no gold: not scored"
    assert isinstance(gone, Error)
    assert gone.message == "no result, or none that belongs to this sweep"


def test_only_the_cases_that_fell_in_a_regressed_slice_and_metric_fail():
    before = [*ranked([1] * 40), *ranked([1] * 20, prefix="p", locale="pt-BR")]
    after = [*ranked([1] * 38 + [MISS] * 2), *ranked([MISS] * 8 + [1] * 11 + [4], prefix="p", locale="pt-BR")]
    tests = compared(before, after, titles={"p0000": "Fees"})
    failed = failed_cases(tests)
    # overall regresses too, so the two English cases that were lost stand against a pass as well.
    assert {case_id for case_id in failed if case_id.startswith("c")} == {"c0038", "c0039"}
    assert {f"p{n:04d}" for n in range(8)} <= failed.keys()
    assert failed["p0000"] == "#1 -> MISS, now first: Fees"
    assert failed["p0001"] == "#1 -> MISS, nothing found"


def test_a_case_that_fell_outside_the_regressed_slice_does_not_fail():
    # pt-BR loses 10, en gains 20 and loses one: only the Portuguese slices are worse.
    before = [*ranked([MISS] * 20 + [1] * 20), *ranked([1] * 20, prefix="p", locale="pt-BR")]
    after = [*ranked([1] * 39 + [MISS]), *ranked([MISS] * 10 + [1] * 10, prefix="p", locale="pt-BR")]
    assert failed_cases(compared(before, after)).keys() == {f"p{n:04d}" for n in range(10)}


def test_a_case_that_slipped_fails_only_where_ndcg_regressed():
    slipped = compared(ranked([1] * 40), ranked([4] * 10 + [1] * 30))
    assert failed_cases(slipped) == {f"c{n:04d}": "#1 -> #4" for n in range(10)}
    # Five others rise from 5 to 1 and so nDCG does not fall on the whole.
    level = compared(ranked([1] * 4 + [5] * 4 + [1] * 32), ranked([4] * 4 + [1] * 4 + [1] * 32))
    assert failed_cases(level) == {}


def test_a_critical_case_fails_only_if_it_was_lost():
    before = [*ranked([1] * 37), *(scored(f"k{n}", rank, critical=True) for n, rank in enumerate([2, 1, MISS]))]
    after = [*ranked([1] * 37), *(scored(f"k{n}", rank, critical=True) for n, rank in enumerate([MISS, 4, 1]))]
    tests = compared(before, after)
    assert failed_cases(tests) == {"k0": "#2 -> MISS"}
    assert isinstance(tests["overall", "words", "no_regression overall"], Failure)


def test_where_nothing_is_shown_no_case_fails():
    assert failures(compared(ranked([1] * 20), ranked([MISS, *[1] * 19]))) == 0
    assert failures(compared(ranked([1] * 100), ranked([MISS] * 25 + [1] * 75), tolerance=0.25)) == 0


def test_where_nothing_is_comparable_no_case_fails_and_the_rule_is_an_error():
    tests = compared(ranked([1] * 20, critical=True), ranked([MISS] * 20, critical=True), then_k=7)
    assert failures(tests) == 0
    assert isinstance(tests["overall", "words", "no_regression overall"], Error)


@pytest.mark.parametrize(
    ("name", "status"),
    [
        ("hit_floor", Status.PASSED),
        ("hit_floor", Status.FAILED),
        ("hit_floor", Status.INCONCLUSIVE),
        ("no_regression", Status.FAILED),
        ("no_regression", Status.INVALID),
        ("no_regression", Status.UNTESTED),
        ("no_regression", Status.INACTIVE),
        ("every_retriever_scored", Status.INCONCLUSIVE),
    ],
)
def test_there_are_failures_just_where_a_rule_fails_the_verdict(name, status):
    report = report_of([rule(name, status)])
    assert (failures(parsed(junit_xml(report, {}))) > 0) is (report.verdict is Verdict.FAIL)


@pytest.mark.parametrize(
    ("name", "status", "blocking"),
    [
        ("every_case_retrieved", Status.FAILED, True),
        ("every_case_retrieved", Status.INCONCLUSIVE, True),
        ("collection_complete", Status.FAILED, True),
        ("cases_valid", Status.FAILED, True),
        ("gold_ids_resolve", Status.FAILED, True),
        ("cards_valid", Status.PASSED, True),
        ("index_matches_exact", Status.WARNING, False),
    ],
)
def test_there_are_failures_just_where_a_check_fails_the_verdict(name, status, blocking):
    # Wrong input and missing results are no failures of what is measured, but errors.
    report = report_of([rule()], [CheckResult(name, status, blocking, "said")])
    tests = parsed(junit_xml(report, {}))
    assert (failures(tests) > 0) is (report.verdict is Verdict.FAIL)
    assert any(isinstance(result, Error) for result in tests.values()) is (report.verdict is not Verdict.PASS)


NASTY = "a\x00b\x1b[31m\t\n\r\x85\u2028\ufffe\ud800 \"quoted\" 'single' <tag> & ]]> 🍎"


def test_whatever_is_in_an_id_or_a_finding_the_document_is_valid_and_one_test_stays_one():
    cases = [CaseResult(NASTY, "case_type=golden,locale=en", True, True, 1)]
    report = report_of([rule(status=Status.FAILED, detail=f"{NASTY}\nlast")], name="words")
    xml = junit_xml(report, {"words": cases})
    tests = parsed(xml)
    assert len(tests) == 2
    (name,) = (name for _, where, name in tests if where.startswith("words."))
    assert "\n" not in name
    assert name.endswith("\\ud800 \"quoted\" 'single' <tag> & ]]> 🍎")
    failure = tests["overall", "words", "hit_floor overall"]
    assert failure.message == r"a\x00b\x1b[31m\t"
    assert failure.text.endswith("]]> 🍎\nlast")


def test_a_title_with_markup_is_shown_as_it_is():
    before, after = ranked([1] * 20), ranked([MISS] * 5 + [1] * 15)
    failed = failed_cases(compared(before, after, titles={"c0000": 'Fees & "limits" <b>\x07'}))
    assert failed["c0000"] == '#1 -> MISS, now first: Fees & "limits" <b>\\x07'


def test_the_cases_of_each_retriever_are_told_apart():
    one, two = report_of([rule()]).retrievers[0], report_of([rule()], name="letters").retrievers[0]
    case = CaseResult("en-1", "case_type=golden,locale=en", True, True, 1)
    tests = parsed(junit_xml(Report(Verdict.PASS, 5, [one, two]), {"words": [case], "letters": [case]}))
    assert [where for _, where, name in tests if name == "en-1"] == [
        "words.case_type=golden,locale=en",
        "letters.case_type=golden,locale=en",
    ]


@pytest.mark.parametrize("verdict", [Verdict.INVALID, Verdict.INCONCLUSIVE])
def test_without_figures_there_is_one_test_that_could_not_run_with_every_problem(verdict):
    xml = no_figures_junit(verdict, ["cards.jsonl:1: no <title>", "cases.yaml:2: no gold\x07"])
    ((key, result),) = parsed(xml).items()
    assert key == ("overall", "inputs", "sweep")
    assert isinstance(result, Error)
    assert result.message == verdict.value
    assert result.text == "cards.jsonl:1: no <title>\ncases.yaml:2: no gold\\x07"


def test_what_is_not_ascii_stays_as_it_is_in_utf8():
    xml = junit_xml(report_of([rule(detail="preço")]), {})
    events = ET.iterparse(io.BytesIO(xml.encode("utf-8")))  # noqa: S314 - our own document
    assert "preço" in [element.text for _, element in events]


def test_every_suite_and_the_document_say_how_many_tests_they_hold():
    rules = [
        rule(status=Status.FAILED),
        rule("recall_floor", Status.INCONCLUSIVE),
        rule("ndcg_floor", Status.INACTIVE),
        rule(slice_="locale=en", status=Status.FAILED),
    ]
    root = ET.fromstring(junit_xml(report_of(rules), {}))  # noqa: S314 - our own document
    counts = {
        element.get("name"): tuple(element.get(name) for name in ("tests", "failures", "errors", "skipped"))
        for element in (root, *root)
    }
    assert counts == {
        "retrieval recall": ("4", "2", "1", "1"),
        "overall": ("3", "1", "1", "1"),
        "case_type": ("0", "0", "0", "0"),
        "locale": ("1", "1", "0", "0"),
        "case_type,locale": ("0", "0", "0", "0"),
    }


def test_what_went_wrong_in_the_sweep_is_an_error_of_its_own():
    report = replace(report_of(), errors=("sweep_index a: Chroma at 127.0.0.1:9 cannot be used",))
    suites = ET.fromstring(junit_xml(report, {}))  # noqa: S314
    (test,) = suites.findall(".//testcase")
    assert test.find("error").get("message") == "sweep_index a: Chroma at 127.0.0.1:9 cannot be used"
