import pytest

from recall_assets.gate import RuleResult, Status, Verdict
from recall_assets.reporting.model import (
    LOCALE_NOTE,
    RECALL_CAVEAT,
    CheckResult,
    Report,
    RetrieverReport,
    check_of_rules,
)
from tests.reporting.conftest import SLICES


@pytest.mark.parametrize(
    ("status", "passed"),
    [
        (Status.PASSED, True),
        (Status.INACTIVE, True),
        (Status.UNTESTED, True),
        (Status.FAILED, False),
        (Status.WARNING, False),
        (Status.INVALID, False),
        (Status.INCONCLUSIVE, False),
    ],
)
def test_a_check_has_passed_where_it_held_is_inactive_or_had_too_little_to_go_on(status, passed):
    assert CheckResult("hit_floor", status, blocking=True).passed is passed


def result(status, name="overall", rule="hit_floor", says="as found", observed=0.5):
    return RuleResult("dense-en", rule, name, Status(status), 0.9, observed, 2, 0.1, 0.9, says)


@pytest.mark.parametrize(
    ("detail", "headline"),
    [
        ("too low", "too low"),
        ("one\ntwo", "one (and 1 more slice)"),
        ("one\ntwo\nthree", "one (and 2 more slices)"),
        ("", "failed"),
    ],
)
def test_the_headline_is_the_first_line_and_counts_the_others(detail, headline):
    assert CheckResult("hit_floor", Status.FAILED, blocking=True, detail=detail).headline == headline


def test_a_rule_is_listed_as_a_blocking_check_under_its_own_name():
    assert check_of_rules([result("failed", says="below the floor 0.9")]) == [
        CheckResult("hit_floor", Status.FAILED, blocking=True, detail="below the floor 0.9")
    ]


def test_rules_are_listed_once_each_in_the_order_of_their_first_result():
    rules = [result("passed"), result("passed", rule="no_regression"), result("passed", "locale=en")]
    assert [check.name for check in check_of_rules(rules)] == ["hit_floor", "no_regression"]


@pytest.mark.parametrize(
    ("status", "said"),
    [
        ("invalid", "locale=en: one\nlocale=fr: two"),
        ("failed", "locale=en: one\nlocale=fr: two"),
        ("inconclusive", "locale=en: one\nlocale=fr: two"),
        ("untested", "locale=en: one\nlocale=fr: two"),
    ],
)
def test_the_worst_slices_speak_for_a_rule_by_name_and_the_others_are_silent(status, said):
    rules = [
        result("passed", says="fine"),
        result(status, "locale=en", says="one"),
        result("inactive", "locale=de", says="not set"),
        result(status, "locale=fr", says="two"),
    ]
    (check,) = check_of_rules(rules)
    assert (check.status, check.detail) == (Status(status), said)


@pytest.mark.parametrize("status", ["passed", "inactive"])
def test_of_a_rule_that_holds_in_every_slice_the_first_speaks(status):
    (check,) = check_of_rules([result(status, says="fine"), result(status, "locale=en", says="fine too")])
    assert (check.status, check.detail) == (Status(status), "fine")


def test_the_overall_slice_is_not_named_where_it_speaks_beside_others():
    (check,) = check_of_rules([result("failed", says="one"), result("failed", "locale=en", says="two")])
    assert check.detail == "one\nlocale=en: two"


def test_the_slice_that_is_furthest_below_its_floor_speaks_first():
    rules = [
        result("failed", says="one", observed=0.8),
        result("failed", "locale=en", says="two", observed=0.3),
        result("failed", "locale=fr", says="three", observed=0.6),
    ]
    (check,) = check_of_rules(rules)
    assert check.detail == "locale=en: two\nlocale=fr: three\none"


def test_slices_without_a_floor_speak_in_the_order_they_were_judged_in():
    rules = [
        RuleResult("d", "no_regression", name, Status.FAILED, None, None, 2, None, None, name)
        for name in ("locale=fr", "overall", "locale=en")
    ]
    (check,) = check_of_rules(rules)
    assert check.detail == "locale=fr: locale=fr\noverall\nlocale=en: locale=en"


def test_no_rule_is_no_check():
    assert check_of_rules([]) == []


def retriever(name, **statuses):
    checks = [CheckResult(check, Status(status), blocking=True) for check, status in statuses.items()]
    return RetrieverReport(name, SLICES, checks)


def reasons(*retrievers):
    return [(name, check.name) for name, check in Report(Verdict.FAIL, 5, list(retrievers)).reasons]


def test_the_reasons_are_wrong_input_then_failures_then_what_was_not_evaluated_in_the_order_of_the_report():
    one = retriever("one", every_case_retrieved="failed", hit_floor="failed", no_regression="untested")
    two = retriever("two", hit_floor="passed", recall_floor="failed", no_regression="invalid", ndcg_floor="untested")
    assert reasons(one, two) == [
        ("two", "no_regression"),
        ("one", "hit_floor"),
        ("two", "recall_floor"),
        ("one", "every_case_retrieved"),
    ]


def test_of_failures_a_regression_is_the_first_reason_because_it_names_the_cases():
    one = retriever("one", hit_floor="failed", every_case_retrieved="failed")
    two = retriever("two", hit_floor="failed", no_regression="failed")
    assert reasons(one, two) == [
        ("two", "no_regression"),
        ("one", "hit_floor"),
        ("two", "hit_floor"),
        ("one", "every_case_retrieved"),
    ]


def test_neither_a_warning_nor_a_check_that_blocks_nothing_is_a_reason():
    loose = CheckResult("index_matches_exact", Status.INCONCLUSIVE, blocking=False, detail="did not run")
    warned = CheckResult("locale_coverage", Status.WARNING, blocking=False)
    assert reasons(RetrieverReport("one", SLICES, [loose, warned]), retriever("two", hit_floor="inactive")) == []


def test_the_overall_slice_is_found_by_name_wherever_it_stands():
    assert RetrieverReport("dense-en", SLICES[::-1]).overall is SLICES[0]


def test_the_caveats_say_lower_bound_and_indicative():
    assert "recall@k is a lower bound where gold is disjunctive" in RECALL_CAVEAT
    assert "Differences between locales are indicative" in LOCALE_NOTE
