"""`recall score`: a captured run against a case set, no store and no model."""

import json
from pathlib import Path

import pytest

from tests.conftest import CARDS, CASES, write_jsonl

NDCG_SECOND = 0.6309297535714575  # one gold card at rank 2: 1 / log2(3)
NDCG_ONE_OF_TWO = 0.6131471927654584  # the first of two gold cards at rank 1: 1 / (1 + 1 / log2(3))

SCORED = [CASES[0], {**CASES[1], "must_cite_one_of": ["banana", "apple"]}, CASES[2], CASES[3]]
RUN = [
    {
        "case_id": "c1",
        "retrieved": ["carrot", {"chunk_id": "apple@en#0", "parent_id": "apple", "score": 0.9}, "banana"],
    },
    {"case_id": "c2", "retrieved": ["apple", "apple", "carrot", "banana"]},
    {"case_id": "c3", "retrieved": [{"chunk_id": "apple"}]},
    {"case_id": "c4", "retrieved": []},
]


@pytest.fixture
def files(here):
    write_jsonl(Path("cards.jsonl"), CARDS)
    write_jsonl(Path("cases.jsonl"), SCORED)
    write_jsonl(Path("run.jsonl"), RUN)
    return ("--cases", "cases.jsonl", "--run", "run.jsonl")


def overall(ran):
    """n, hit, recall and nDCG of the one retriever over all cases."""
    first = json.loads(ran.out)["retrievers"]["captured"]["slices"][0]
    assert first.pop("slice") == "overall"
    return tuple(first.values())


def statuses(ran):
    return {check["name"]: check["status"] for check in json.loads(ran.out)["retrievers"]["captured"]["checks"]}


def test_json_is_one_object_with_slices_ledger_and_checks_at_full_precision(recall, files):
    ran = recall("score", *files, "--k", 2, "--json")

    def row(name, n, hit, recall_, ndcg):
        scores = {"retrieval_hit_at_k": hit, "retrieval_recall_at_k": recall_, "retrieval_ndcg_at_k": ndcg}
        return {"slice": name, "n": n, **{metric: pytest.approx(value, abs=1e-15) for metric, value in scores.items()}}

    def check(name, status):
        return {"name": name, "status": status, "passed": True, "blocking": True}

    assert json.loads(ran.out) == {
        "verdict": "pass",
        "exit_code": 0,
        "top_k": 2,
        "retrievers": {
            "captured": {
                "slices": [
                    row("overall", 3, 1.0, 2.5 / 3, (NDCG_SECOND + NDCG_ONE_OF_TWO + 1) / 3),
                    row("case_type=adversarial", 1, 1.0, 0.5, NDCG_ONE_OF_TWO),
                    row("case_type=golden", 2, 1.0, 1.0, (NDCG_SECOND + 1) / 2),
                    row("locale=en", 2, 1.0, 0.75, (NDCG_SECOND + NDCG_ONE_OF_TWO) / 2),
                    row("locale=pt-BR", 1, 1.0, 1.0, 1.0),
                    row("case_type=adversarial,locale=en", 1, 1.0, 0.5, NDCG_ONE_OF_TWO),
                    row("case_type=golden,locale=en", 1, 1.0, 1.0, NDCG_SECOND),
                    row("case_type=golden,locale=pt-BR", 1, 1.0, 1.0, 1.0),
                ],
                "ledger": {
                    "cases": 4,
                    "gold_bearing": 3,
                    "scored": 3,
                    "empty_result": 1,
                    "missing": 0,
                    "short_result": 2,
                    "duplicates_dropped": 1,
                },
                "checks": [
                    check("cases_valid", "passed"),
                    check("every_case_retrieved", "passed"),
                    check("every_retriever_scored", "passed"),
                    check("hit_floor", "inactive"),
                    check("recall_floor", "inactive"),
                    check("ndcg_floor", "inactive"),
                ],
                "baseline": None,
            }
        },
        "reasons": [],
        "problems": [],
    }
    assert (ran.code, ran.err) == (0, "")


def test_the_table_has_a_row_a_slice_between_verdict_and_reason_and_ledger_checks_caveat_and_note(recall, files):
    ran = recall("score", *files, "--k", 2)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines()[:2] == [
        "Verdict: pass (exit code 0)",
        "every case was measured; no floor is set and nothing is compared, so nothing else could fail.",
    ]
    text = " ".join(ran.out.split())
    assert "Retriever captured slice n hit@2 95% CI recall@2 nDCG@2" in text
    assert "overall 3 1.000 0.44-1.00 0.833 0.748" in text  # (0.6309 + 0.6131 + 1) / 3; Wilson for 3 of 3
    assert "case_type=adversarial,locale=en 1 1.000 0.21-1.00 0.500 0.613" in text
    assert "4 cases, 3 with gold, 3 scored; results: 1 empty, 0 missing, 2 short (fewer than 2" in text
    assert "inactive hit_floor" in text
    assert "recall@k is a lower bound where gold is disjunctive" in text
    assert "Differences between locales are indicative" in text
    assert text.endswith("Verdict: pass (exit code 0)")


def test_k_on_the_command_line_overrides_the_configuration_and_that_the_default(recall, files, monkeypatch):
    assert json.loads(recall("score", *files, "--json").out)["top_k"] == 5
    Path("recall.yaml").write_text("top_k: 3")
    assert json.loads(recall("score", *files, "--json").out)["top_k"] == 3
    Path("other.yaml").write_text("top_k: 4")
    monkeypatch.setenv("RECALL_CONFIG", "other.yaml")
    assert json.loads(recall("score", *files, "--json").out)["top_k"] == 4
    assert overall(recall("score", *files, "--k", 1, "--json")) == (3, 2 / 3, 0.5, 2 / 3)


@pytest.mark.parametrize(
    ("floors", "code", "verdict", "failed"),
    [
        # At k = 1: hit 2/3, recall 0.5, nDCG 2/3.
        pytest.param("{hit: 0.66, recall: 0.5}", 0, "pass", [], id="met"),
        pytest.param("{hit: 0.67}", 1, "fail", ["hit_floor"], id="hit"),
        pytest.param("{hit: 0.1, recall: 0.51, ndcg: 0.7}", 1, "fail", ["recall_floor", "ndcg_floor"], id="two"),
    ],
)
def test_the_floors_of_the_configuration_decide_the_exit_code(recall, files, floors, code, verdict, failed):
    Path("recall.yaml").write_text(f"top_k: 1\ngate: {{floors: {floors}}}\n")
    ran = recall("score", *files, "--json")
    document = json.loads(ran.out)
    assert (ran.code, document["exit_code"], document["verdict"]) == (code, code, verdict)
    assert [name for name, status in statuses(ran).items() if status == "failed"] == failed
    assert [reason["check"] for reason in document["reasons"]] == failed


@pytest.mark.parametrize(
    ("gate", "code", "reason"),
    [
        # At k = 1: hit 1/2 in English, over two cases.
        pytest.param("slices: {locale=en: {hit: 0.5}}", 0, None, id="a slice at its floor"),
        pytest.param("slices: {locale=en: {hit: 0.6}}", 1, "locale=en: 0.1 below the floor 0.6: ", id="a slice below"),
        pytest.param(
            "floors: {hit: 0.1, min_n: 4}", 3, "n 3 is below min_n 4, so the floor 0.1 says nothing: ", id="n"
        ),
        pytest.param(
            "slices: {locale=fr: {hit: 0}}", 3, "locale=fr: floor 0.0; no gold-bearing case is in this slice", id="none"
        ),
        pytest.param("floors: {min_n: 4}", 0, None, id="n without a floor"),
    ],
)
def test_floors_of_slices_and_the_least_n_decide_the_exit_code_too(recall, files, gate, code, reason):
    Path("recall.yaml").write_text(f"top_k: 1\ngate: {{{gate}}}\n")
    ran = recall("score", *files, "--json")
    found = [entry["detail"] for entry in json.loads(ran.out)["reasons"]]
    assert ran.code == code
    assert len(found) == (reason is not None)
    assert reason is None or found[0].startswith(reason)


def test_a_captured_run_is_compared_with_no_baseline(recall, files):
    Path("recall.yaml").write_text("top_k: 1\ngate: {regression: {require_baseline: true}}\n")
    ran = recall("score", *files, "--json")
    assert (ran.code, "no_regression" in statuses(ran)) == (0, False)


def test_a_missing_case_is_no_zero_the_figures_are_of_the_others_and_the_code_is_3(recall, files):
    write_jsonl(Path("run.jsonl"), [RUN[0], RUN[2], RUN[3]])
    ran = recall("score", *files, "--k", 2, "--json")
    document = json.loads(ran.out)
    assert (ran.code, document["verdict"], document["exit_code"]) == (3, "inconclusive", 3)
    assert overall(ran) == (2, 1.0, 1.0, pytest.approx((NDCG_SECOND + 1) / 2, abs=1e-15))
    adversarial = document["retrievers"]["captured"]["slices"][1]
    assert adversarial == {
        "slice": "case_type=adversarial",
        "n": 0,
        "retrieval_hit_at_k": None,
        "retrieval_recall_at_k": None,
        "retrieval_ndcg_at_k": None,
    }
    assert document["retrievers"]["captured"]["ledger"]["missing"] == 1
    assert statuses(ran)["every_case_retrieved"] == "failed"
    assert "1 of 4 cases have no result: c2" in " ".join(recall("score", *files).out.split())


def test_a_missing_case_without_gold_is_reported_all_the_same(recall, files):
    write_jsonl(Path("run.jsonl"), RUN[:3])
    ran = recall("score", *files, "--json")
    assert (ran.code, overall(ran)[0]) == (3, 3)


def test_an_empty_result_scores_zero_and_passes(recall, files):
    write_jsonl(Path("run.jsonl"), [{**line, "retrieved": []} for line in RUN])
    ran = recall("score", *files, "--json")
    assert (ran.code, overall(ran)) == (0, (3, 0.0, 0.0, 0.0))
    assert json.loads(ran.out)["retrievers"]["captured"]["ledger"]["empty_result"] == 4


def test_a_case_set_without_any_gold_is_inconclusive_and_not_a_pass(recall, files):
    write_jsonl(Path("cases.jsonl"), [{**case, "must_cite_one_of": []} for case in CASES])
    ran = recall("score", *files, "--json")
    assert (ran.code, json.loads(ran.out)["verdict"]) == (3, "inconclusive")
    assert overall(ran) == (0, None, None, None)
    assert statuses(ran)["every_retriever_scored"] == "inconclusive"


def test_a_result_for_an_unknown_case_is_a_note_on_standard_error_and_changes_nothing(recall, files):
    before = recall("score", *files, "--json")
    write_jsonl(Path("run.jsonl"), [*RUN, {"case_id": "c9", "retrieved": ["apple"]}])
    after = recall("score", *files, "--json")
    assert after.err == "note: run.jsonl: 1 results are for cases that the case set does not have, not scored: c9\n"
    assert (after.code, after.out) == (0, before.out)


def test_a_captured_run_keeps_its_own_order_whatever_its_scores_say(recall, files):
    items = [{"chunk_id": "carrot", "score": 0.1}, {"chunk_id": "apple", "score": 0.9}]
    write_jsonl(Path("run.jsonl"), [{"case_id": "c1", "retrieved": items}])
    write_jsonl(Path("cases.jsonl"), [CASES[0]])
    assert overall(recall("score", *files, "--k", 1, "--json")) == (1, 0.0, 0.0, 0.0)


def test_with_relevant_ids_recall_counts_those_and_hit_stays_on_the_gold(recall, files):
    write_jsonl(Path("cases.jsonl"), [{**CASES[0], "relevant_ids": ["carrot", "banana"]}])
    write_jsonl(Path("run.jsonl"), RUN[:1])
    assert overall(recall("score", *files, "--k", 1, "--json")) == (1, 0.0, 0.5, 1.0)


def test_ids_meet_whatever_form_cases_and_run_are_written_in(recall, files):
    Path("cases.yaml").write_text(
        "- {case_id: 007, locale: no, case_type: golden, query: q, must_cite_one_of: [caf\u00e9, 01]}\n",
        encoding="utf-8",
    )
    write_jsonl(Path("run.jsonl"), [{"case_id": " 007 ", "retrieved": ["1", "cafe\u0301 "]}])
    ran = recall("score", "--cases", "cases.yaml", "--run", "run.jsonl", "--k", 2, "--json")
    assert overall(ran)[:3] == (1, 1.0, 0.5)
    assert "locale=no" in ran.out


def test_with_a_knowledge_base_the_labels_are_resolved_and_the_check_is_listed(recall, files):
    ran = recall("score", *files, "--kb", "cards.jsonl", "--json")
    assert (ran.code, statuses(ran)["gold_ids_resolve"]) == (0, "passed")


def test_with_a_knowledge_base_a_dangling_label_is_wrong_input_with_the_nearest_id(recall, files):
    write_jsonl(Path("cases.jsonl"), [{**CASES[0], "must_cite_one_of": ["apples"]}, *SCORED[1:]])
    assert recall("score", *files, "--json").code == 0
    ran = recall("score", *files, "--kb", "cards.jsonl", "--json")
    message = 'cases.jsonl:1: case "c1": gold id "apples" is no card of the knowledge base; did you mean "apple"?'
    assert (ran.code, ran.err) == (2, f"{message}\n")
    assert json.loads(ran.out)["problems"] == [message]


def test_the_problems_of_all_files_are_reported_in_one_go_and_nothing_is_written(recall, here):
    Path("recall.yaml").write_text("top_k: 0")
    Path("cards.jsonl").write_bytes(b'{"card_id": "caf\xe9"}')
    Path("cases.jsonl").write_text('{"case_id": 7}\n')
    Path("run.jsonl").write_text('{"case_id": "c1", "retrieved": "apple"}\nnot json\n')
    before = sorted(here.iterdir())
    ran = recall("score", "--cases", "cases.jsonl", "--run", "run.jsonl", "--kb", "cards.jsonl", "--json")
    problems = [
        "cards.jsonl:1: byte 0xe9 is not UTF-8; save the file as UTF-8",
        "cases.jsonl:1: case_id is a number; write a string in quotes",
        'cases.jsonl:1: missing field "case_type"',
        'cases.jsonl:1: missing field "locale"',
        'cases.jsonl:1: missing field "must_cite_one_of"; write [] if there is none',
        'cases.jsonl:1: missing field "query"',
        "recall.yaml:1:1: top_k: input should be greater than or equal to 1, not 0",
        "run.jsonl:1: retrieved is a string instead of a list; write [] for an empty result",
        "run.jsonl:2:1: not JSON: Expecting value at column 1",
    ]
    assert ran.code == 2
    assert ran.err.splitlines() == problems
    assert json.loads(ran.out) == {
        "verdict": "invalid",
        "exit_code": 2,
        "top_k": None,
        "retrievers": {},
        "reasons": [],
        "problems": problems,
    }
    assert sorted(here.iterdir()) == before


def test_without_json_wrong_input_leaves_standard_output_empty(recall, files):
    ran = recall("score", "--cases", "none.jsonl", "--run", "run.jsonl")
    assert ran == (2, "", "none.jsonl:1: no such file or folder\n")


def test_a_run_without_a_line_is_wrong_input(recall, files):
    Path("run.jsonl").write_text("\n")
    assert recall("score", *files) == (2, "", "run.jsonl:1: no result at all; write one object a line\n")
