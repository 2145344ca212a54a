import copy
import json

import pytest

from recall_assets.gate import Verdict
from recall_assets.reporting.json_form import no_figures_json, report_json, stored_json
from recall_assets.reporting.model import Report


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
            }
        },
    }


def test_keys_come_in_the_agreed_order(report):
    document = report_json(report)
    assert list(document) == ["verdict", "exit_code", "top_k", "retrievers"]
    retriever = document["retrievers"]["dense-en"]
    assert list(retriever) == ["slices", "ledger", "checks"]
    assert list(retriever["slices"][0]) == [
        "slice",
        "n",
        "retrieval_hit_at_k",
        "retrieval_recall_at_k",
        "retrieval_ndcg_at_k",
    ]


def test_a_figure_survives_json_to_the_last_bit(report):
    document = json.loads(json.dumps(report_json(report), allow_nan=False))
    assert document == report_json(report)
    assert document["retrievers"]["dense-en"]["slices"][0]["retrieval_hit_at_k"] == 2 / 3


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
        "problems": ["cards.jsonl:2: no title", "cases.jsonl:7: no query"],
    }
