import pytest

from recall_assets.captured_scoring import RETRIEVER, score_captured
from recall_assets.config import Settings
from recall_assets.gate import Status, Verdict
from recall_assets.records import Case, Retrieved
from recall_assets.slices import Ledger

CASES = [
    Case("c1", "en", "golden", "query", ("a",)),
    Case("c2", "en", "golden", "query", ("a", "b")),
    Case("c3", "es-419", "adversarial", "query", ("z",)),
    Case("c4", "en", "no_match", "query", ()),
]
RUN = {
    "c1": (Retrieved("a@en#0", "a"), Retrieved("a@en#1", "a"), Retrieved("x")),
    "c2": (Retrieved("b"),),
    "c3": (),
    "c4": (Retrieved("x"), Retrieved("y")),
}


def score(cases=CASES, run=RUN, k=2, labels_resolved=True, **floors):
    settings = Settings.model_validate({"top_k": k, "gate": {"floors": floors}})
    return score_captured(cases, run, settings, labels_resolved=labels_resolved)


def statuses(report):
    (retriever,) = report.retrievers
    return {check.name: check.status.value for check in retriever.checks}


def without(case_id):
    return {key: value for key, value in RUN.items() if key != case_id}


def test_a_complete_run_passes_with_its_floors_listed_as_inactive():
    report = score()
    assert (report.verdict, report.verdict.exit_code, report.top_k) == (Verdict.PASS, 0, 2)
    assert statuses(report) == {
        "cases_valid": "passed",
        "gold_ids_resolve": "passed",
        "every_case_retrieved": "passed",
        "every_retriever_scored": "passed",
        "hit_floor": "inactive",
        "recall_floor": "inactive",
        "ndcg_floor": "inactive",
    }
    assert all(check.blocking for check in report.retrievers[0].checks)


def test_the_one_retriever_is_called_captured_and_has_the_scores_and_ledger_of_the_run():
    (retriever,) = score().retrievers
    assert (retriever.name, RETRIEVER) == ("captured", "captured")
    overall = retriever.overall
    # c1 (1, 1, 1), c2 (1, 1/2, 1 / 1.63093), c3 zeros; c4 has no gold.
    assert overall.n == 3
    assert overall.means == (2 / 3, 0.5, pytest.approx(0.53772, abs=5e-6))
    # c2 and c3 found fewer than two cards.
    assert overall.ledger == Ledger(4, 3, 3, empty_result=1, missing=0, short_result=2, duplicates_dropped=1)
    assert [slice_score.slice for slice_score in retriever.slices] == [
        "overall",
        "case_type=adversarial",
        "case_type=golden",
        "locale=en",
        "locale=es-419",
        "case_type=adversarial,locale=es-419",
        "case_type=golden,locale=en",
    ]


def test_a_captured_run_keeps_its_own_order_against_its_scores():
    run = RUN | {"c1": (Retrieved("x", score=0.1), Retrieved("a", score=0.9))}
    (with_scores,) = score(run=run, k=1).retrievers
    # Of three cases only c2 has its card first.
    assert with_scores.overall.means.retrieval_hit_at_k == 1 / 3


@pytest.mark.parametrize("absent", ["c1", "c4"], ids=["with gold", "without gold"])
def test_an_absent_case_is_missing_and_makes_the_run_inconclusive(absent):
    report = score(run=without(absent))
    assert (report.verdict, report.verdict.exit_code) == (Verdict.INCONCLUSIVE, 3)
    assert statuses(report)["every_case_retrieved"] == "failed"
    assert statuses(report)["every_retriever_scored"] == "inconclusive"
    (check,) = [check for check in report.retrievers[0].checks if check.name == "every_case_retrieved"]
    assert check.detail == f"1 of 4 cases have no result: {absent}"


def test_an_absent_case_is_not_scored_as_a_zero():
    (retriever,) = score(run=without("c3")).retrievers
    assert (retriever.overall.n, retriever.overall.means.retrieval_hit_at_k) == (2, 1.0)
    assert (retriever.overall.ledger.missing, retriever.overall.ledger.empty_result) == (1, 0)


def test_an_empty_result_scores_zero_and_passes():
    report = score(run=dict.fromkeys(RUN, ()))
    assert report.verdict is Verdict.PASS
    assert report.retrievers[0].overall.means == (0.0, 0.0, 0.0)
    assert report.retrievers[0].overall.ledger.empty_result == 4


def test_a_missed_floor_outweighs_a_missing_case():
    report = score(run=without("c4"), hit=0.67)
    assert (report.verdict, report.verdict.exit_code) == (Verdict.FAIL, 1)
    assert statuses(report)["hit_floor"] == "failed"


def test_a_result_for_a_case_that_is_not_in_the_set_changes_nothing():
    assert score(run=RUN | {"stranger": (Retrieved("a"),)}) == score()


def test_labels_that_were_not_resolved_are_not_said_to_be():
    assert "gold_ids_resolve" not in statuses(score(labels_resolved=False))


def test_a_set_without_any_gold_measures_nothing_and_cannot_pass():
    report = score(cases=[CASES[3]], run={"c4": RUN["c4"]})
    assert report.verdict is Verdict.INCONCLUSIVE
    assert statuses(report)["every_retriever_scored"] == Status.INCONCLUSIVE
    (check,) = [check for check in report.retrievers[0].checks if check.name == "every_retriever_scored"]
    assert check.detail == "no case has gold, so nothing was measured"


@pytest.mark.parametrize(
    ("floors", "status"),
    [
        # 2 of 3 hit, recall is 0.5, nDCG 0.53772.
        ({"hit": 0.66}, {"hit_floor": "passed"}),
        ({"recall": 0.5}, {"recall_floor": "passed"}),
        ({"recall": 0.51}, {"recall_floor": "failed"}),
        ({"ndcg": 0.54, "hit": 0.1}, {"hit_floor": "passed", "ndcg_floor": "failed"}),
    ],
)
def test_the_floors_of_the_configuration_are_applied(floors, status):
    report = score(**floors)
    inactive = dict.fromkeys(("hit_floor", "recall_floor", "ndcg_floor"), "inactive")
    assert {name: said for name, said in statuses(report).items() if name.endswith("_floor")} == inactive | status
    assert report.verdict is (Verdict.FAIL if "failed" in status.values() else Verdict.PASS)
