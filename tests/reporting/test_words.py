from dataclasses import replace

import pytest

from recall_assets.gate import Status, Verdict
from recall_assets.intervals import Interval
from recall_assets.reporting import words
from recall_assets.reporting.model import CheckResult, Report, RetrieverReport
from tests.reporting.conftest import REGRESSED, SLICES


@pytest.mark.parametrize(
    ("value", "text"),
    [(2 / 3, "0.667"), (0.0004, "0.000"), (0.0006, "0.001"), (1.0, "1.000"), (0.0, "0.000"), (None, "-")],
)
def test_a_score_has_three_decimals_and_none_is_a_dash(value, text):
    assert words.figure(value) == text


def test_an_interval_has_two_decimals_and_none_is_a_dash():
    assert words.interval(Interval(0.20766, 0.93851)) == "0.21-0.94"
    assert words.interval(None) == "-"


def test_a_row_is_slice_n_hit_its_interval_recall_and_ndcg(report):
    overall, _, all_missing, _ = report.retrievers[0].slices
    assert words.slice_row(overall) == ("overall", "3", "0.667", "0.21-0.94", "0.500", "0.613")
    assert words.slice_row(all_missing) == ("locale=pt-BR", "0", "-", "-", "-", "-")


def test_the_headings_name_the_cutoff():
    assert words.headings(10) == ("slice", "n", "hit@10", "95% CI", "recall@10", "nDCG@10")


def test_the_ledger_of_the_overall_slice_in_a_sentence(report):
    assert words.ledger_sentence(report.retrievers[0], 5) == (
        "7 cases, 5 with gold, 3 scored; results: 1 empty, 2 missing, 2 short (fewer than 5 cards); "
        "4 duplicates dropped."
    )


# Why the verdict is what it is.


def test_the_first_line_of_what_decides_the_verdict_is_the_reason_and_the_others_are_counted(report, compared):
    assert words.reason(report) == "dense-en: every_case_retrieved failed: 2 of 7 cases have no result: c1, c2"
    assert words.reason(compared) == (
        f"dense-en: no_regression failed: {REGRESSED.splitlines()[0]} (and 1 more slice) (and 1 more, below)"
    )


def passed(verdict=Verdict.PASS, **statuses):
    retrievers = [
        RetrieverReport(
            name, SLICES, [CheckResult(check, Status(status), blocking=True) for check, status in statuses.items()]
        )
        for name in ("one", "two")
    ]
    return Report(verdict, 5, retrievers)


def test_a_pass_names_every_active_rule_once():
    report = passed(cases_valid="passed", hit_floor="passed", recall_floor="inactive", no_regression="passed")
    assert words.reason(report) == "every active rule holds: hit_floor, no_regression"


def test_a_rule_with_too_little_to_go_on_is_not_said_to_hold():
    said = words.reason(passed(hit_floor="passed", no_regression="untested"))
    assert said.startswith("every active rule holds: hit_floor")
    assert "no_regression" not in said.partition(";")[0]


def test_a_pass_without_an_active_rule_says_that_nothing_else_could_fail():
    report = passed(every_retriever_scored="passed", hit_floor="inactive", no_regression="inactive")
    assert words.reason(report) == (
        "every case was measured; no floor is set and nothing is compared, so nothing else could fail"
    )


@pytest.mark.parametrize("floor", ["passed", "inactive"])
def test_a_sweep_in_which_something_went_wrong_outside_of_the_checks_does_not_say_that_all_holds(floor):
    report = passed(Verdict.INCONCLUSIVE, hit_floor=floor)
    assert words.reason(report) == "something went wrong in the sweep"
    named = replace(report, errors=("sweep_index a: Chroma cannot be used", "more"))
    assert words.reason(named) == "something went wrong: sweep_index a: Chroma cannot be used"


def test_a_retriever_that_is_not_compared_is_named_beside_those_that_are():
    report = passed(no_regression="passed")
    alone = RetrieverReport("three", SLICES, [CheckResult("no_regression", Status.INACTIVE, blocking=True)])
    assert words.reason(replace(report, retrievers=[*report.retrievers, alone])) == (
        "every active rule holds: no_regression; not compared with a baseline: three"
    )


def test_a_check_without_a_finding_is_a_reason_all_the_same(report):
    bare = CheckResult("every_case_retrieved", Status.FAILED, blocking=True)
    (retriever,) = report.retrievers
    assert words.reason(replace(report, retrievers=[replace(retriever, checks=[bare])])).startswith(
        "dense-en: every_case_retrieved failed"
    )
