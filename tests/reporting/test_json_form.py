import copy
import json
from dataclasses import replace

import pytest

from recall_assets.gate import Verdict
from recall_assets.reporting.json_form import comparison_json, no_figures_json, report_json, stored_json
from recall_assets.reporting.model import Report
from tests.reporting.conftest import COMPARISON


def test_the_object_has_exactly_the_agreed_keys_at_full_precision(report):
    assert report_json(report) == {
        "verdict": "inconclusive",
        "exit_code": 3,
        "top_k": 5,
        "retrievers": {
            "dense-en": {
                "slices": [
                    {
                        "slice": "overall",
                        "n": 3,
                        "retrieval_hit_at_k": 2 / 3,
                        "retrieval_recall_at_k": 0.5,
                        "retrieval_ndcg_at_k": 0.61315,
                    },
                    {
                        "slice": "case_type=golden",
                        "n": 2,
                        "retrieval_hit_at_k": 1.0,
                        "retrieval_recall_at_k": 0.75,
                        "retrieval_ndcg_at_k": 0.9999,
                    },
                    {
                        "slice": "locale=pt-BR",
                        "n": 0,
                        "retrieval_hit_at_k": None,
                        "retrieval_recall_at_k": None,
                        "retrieval_ndcg_at_k": None,
                    },
                    {
                        "slice": "case_type=adversarial,locale=es-419",
                        "n": 1,
                        "retrieval_hit_at_k": 0.0,
                        "retrieval_recall_at_k": 0.0,
                        "retrieval_ndcg_at_k": 0.0,
                    },
                ],
                "ledger": {
                    "cases": 7,
                    "gold_bearing": 5,
                    "scored": 3,
                    "empty_result": 1,
                    "missing": 2,
                    "short_result": 2,
                    "duplicates_dropped": 4,
                },
                "checks": [
                    {"name": "every_case_retrieved", "status": "failed", "passed": False, "blocking": True},
                    {"name": "index_matches_exact", "status": "warning", "passed": False, "blocking": False},
                    {"name": "hit_floor", "status": "inactive", "passed": True, "blocking": True},
                    {"name": "cases_valid", "status": "passed", "passed": True, "blocking": True},
                ],
                "baseline": None,
            }
        },
        "reasons": [
            {
                "retriever": "dense-en",
                "check": "every_case_retrieved",
                "status": "failed",
                "detail": "2 of 7 cases have no result: c1, c2",
            }
        ],
        "problems": [],
    }


def test_keys_come_in_the_agreed_order(report):
    document = report_json(report)
    assert list(document) == ["verdict", "exit_code", "top_k", "retrievers", "reasons", "problems"]
    retriever = document["retrievers"]["dense-en"]
    assert list(retriever) == ["slices", "ledger", "checks", "baseline"]
    assert list(retriever["slices"][0]) == [
        "slice",
        "n",
        "retrieval_hit_at_k",
        "retrieval_recall_at_k",
        "retrieval_ndcg_at_k",
    ]


def test_a_figure_survives_json_to_the_last_bit(report, compared):
    for each in (report, compared):
        document = json.loads(json.dumps(report_json(each), allow_nan=False))
        assert document == report_json(each)
    assert document["retrievers"]["dense-en"]["slices"][0]["retrieval_hit_at_k"] == 2 / 3


def test_the_reasons_are_those_that_decide_the_verdict_first(compared):
    assert [(reason["check"], reason["status"]) for reason in report_json(compared)["reasons"]] == [
        ("no_regression", "failed"),
        ("every_case_retrieved", "failed"),
    ]


def test_a_comparison_has_every_case_that_moved_and_every_test_at_full_precision(compared):
    found = report_json(compared)["retrievers"]["dense-en"]["baseline"]
    assert found == comparison_json(COMPARISON)
    tests = found.pop("tests")

    def move(case_id, before, after, now_first=None, *, critical=False):
        return {
            "case_id": case_id,
            "critical": critical,
            "rank_before": before,
            "rank_after": after,
            "now_first": now_first,
        }

    assert found == {
        "date": "2026-09-01T02:03:04Z",
        "top_k": 5,
        "cases": 11,
        "unchanged_cases": 9,
        "added": ["added-1"],
        "removed": ["gone-1"],
        "relabelled": ["new-label"],
        "changed": ["embedder"],
        "not_comparable": None,
        "lost": [
            move("en-5", 4, None, critical=True),
            move("en-2", 1, None, "Fees"),
            move("en-4", 1, None),
            move("en-3", 2, None),
            move("en-1", 3, None, "Refunds"),
            move("en-6", 5, None),
        ],
        "gained": [move("pt-1", None, 2)],
        "slipped": [move("en-7", 1, 3, "Limits | <b>")],
    }
    assert tests[2] == {
        "slice": "overall",
        "metric": "retrieval_ndcg_at_k",
        "n": 9,
        "before": 0.6,
        "after": 0.25,
        "fell": 7,
        "rose": 1,
        "finding": "not shown",
        "p": 0.0301,
        "p_two_sided": None,
        "p_exact": False,
        "p_corrected": 0.0602,
        "at_the_edge": True,
        "changes_needed": 6,
        "smallest_drop": None,
        "cases_needed": None,
    }
    assert [(test["slice"], test["finding"], test["p"], test["p_exact"]) for test in tests[3:]] == [
        ("locale=en", "regressed", 1 / 64, True),
        ("locale=pt-BR", "no drop", None, None),
        ("case_type=golden,locale=pt-BR", "too few changes", None, None),
    ]
    # Six changes of seven cases, all for the worse.
    assert tests[3]["smallest_drop"] == 6 / 7
    assert (tests[3]["p_two_sided"], tests[4]["p_two_sided"]) == (2 / 64, None)
    assert tests[4]["smallest_drop"] is None


def test_what_cannot_be_compared_says_why_and_has_no_test():
    found = comparison_json(replace(COMPARISON, not_comparable="the baseline is at k = 3", tests=[]))
    assert (found["not_comparable"], found["tests"], len(found["lost"])) == ("the baseline is at k = 3", [], 6)


def test_what_is_stored_adds_the_interval_and_the_ledger_of_every_slice(report):
    stored = stored_json(report)
    overall, _, all_missing, _ = stored["retrievers"]["dense-en"]["slices"]
    assert overall["retrieval_hit_at_k_interval"] == [0.20766, 0.93851]
    assert overall["ledger"] == stored["retrievers"]["dense-en"]["ledger"]
    assert all_missing["retrieval_hit_at_k_interval"] is None
    assert (all_missing["ledger"]["cases"], all_missing["ledger"]["missing"]) == (2, 2)
    printed = copy.deepcopy(stored)
    for entry in printed["retrievers"]["dense-en"]["slices"]:
        del entry["retrieval_hit_at_k_interval"], entry["ledger"]
    assert printed == report_json(report)


def test_retrievers_keep_the_order_of_the_report(report):
    (retriever,) = report.retrievers
    renamed = [type(retriever)(name, retriever.slices) for name in ("z", "a", "m")]
    assert list(report_json(Report(Verdict.PASS, 5, renamed))["retrievers"]) == ["z", "a", "m"]


@pytest.mark.parametrize(("verdict", "exit_code"), [(Verdict.INVALID, 2), (Verdict.INCONCLUSIVE, 3)])
def test_where_there_are_no_figures_the_keys_are_the_same_and_the_problems_are_added(verdict, exit_code):
    assert no_figures_json(verdict, ["cards.jsonl:2: no title", "cases.jsonl:7: no query"]) == {
        "verdict": verdict.value,
        "exit_code": exit_code,
        "top_k": None,
        "retrievers": {},
        "reasons": [],
        "problems": ["cards.jsonl:2: no title", "cases.jsonl:7: no query"],
    }
