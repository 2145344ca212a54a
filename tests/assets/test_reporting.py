import json
from dataclasses import replace

import polars as pl

from recall_assets.automation import SWEEP_TAG, stages
from recall_assets.baseline import write_baseline
from recall_assets.score_frames import snapshot
from tests.baselines import baseline
from tests.graph import metadata


def test_recall_report_stores_markdown_and_json_under_its_run_and_as_the_latest(make_graph):
    graph = make_graph()
    result = graph.sweep()["sweep_report"]
    reports = graph.settings.storage.path / "reports"
    shown = metadata(result, "recall_report")
    assert shown["path"] == str(reports / result.run_id / "report.md")
    assert shown["verdict"] == "pass"
    for folder in (result.run_id, "latest"):
        assert (reports / folder / "report.md").read_text(encoding="utf-8") == shown["report"]
        assert json.loads((reports / folder / "report.json").read_text())["verdict"] == "pass"


def test_the_stored_json_has_the_figures_of_slice_scores_at_full_precision(make_graph):
    graph = make_graph()
    result = graph.sweep()["sweep_report"]
    path = graph.settings.storage.path / "reports" / result.run_id / "report.json"
    stored = json.loads(path.read_text())["retrievers"]["words"]["slices"]
    frame = graph.frame("slice_scores")
    assert [entry["slice"] for entry in stored] == frame["slice"].to_list()
    assert [entry["retrieval_hit_at_k"] for entry in stored] == frame["retrieval_hit_at_k"].to_list()
    assert [entry["ledger"]["cases"] for entry in stored] == frame["cases"].to_list()


def test_gate_verdict_has_a_row_for_every_rule_of_every_retriever(make_graph):
    retrievers = {name: {"kind": "exact", "embedder": "bag"} for name in ("one", "two")}
    graph = make_graph(retrievers=retrievers, gate={"floors": {"hit": 0.9}})
    shown = metadata(graph.sweep()["sweep_report"], "gate_verdict")
    assert shown["dagster/row_count"] == 10
    assert "verdict" not in shown
    assert graph.frame("gate_verdict").select("retriever", "rule", "slice", "status").rows() == [
        (name, rule, "overall", status)
        for name in ("one", "two")
        for rule, status in [
            ("every_retriever_scored", "passed"),
            ("hit_floor", "failed"),
            ("recall_floor", "inactive"),
            ("ndcg_floor", "inactive"),
            ("no_regression", "inactive"),
        ]
    ]


def test_gate_verdict_has_a_row_for_every_slice_with_a_floor(make_graph):
    graph = make_graph(gate={"slices": {"locale=en": {"hit": 0.5, "ndcg": 0.6}}})
    graph.sweep()
    columns = ("rule", "slice", "status", "threshold", "observed", "n")
    assert graph.frame("gate_verdict").filter(pl.col("slice") != "overall").select(columns).rows() == [
        ("hit_floor", "locale=en", "passed", 0.5, 0.5, 2),
        ("ndcg_floor", "locale=en", "failed", 0.6, 0.5, 2),
    ]


def test_a_report_over_unchanged_figures_keeps_its_data_version(make_graph):
    graph = make_graph()
    versions = [
        graph.sweep()["sweep_report"].asset_materializations_for_node("recall_report")[0].tags["dagster/data_version"]
        for _ in range(2)
    ]
    assert versions[0] == versions[1]


RULES = ["every_retriever_scored", "hit_floor", "recall_floor", "ndcg_floor", "no_regression"]
DATA_CHECKS = [
    *("cards_valid", "cases_valid", "gold_ids_resolve", "locale_coverage"),
    *("collection_complete", "every_case_retrieved", "index_matches_exact"),
]


def listed(graph):
    """Name and status of the checks that the latest report lists."""
    path = graph.settings.storage.path / "reports" / "latest" / "report.json"
    return [(check["name"], check["status"]) for check in json.loads(path.read_text())["retrievers"]["words"]["checks"]]


def test_the_report_of_a_run_by_itself_lists_the_rules_of_the_gate(make_graph):
    graph = make_graph()
    graph.sweep()
    assert listed(graph) == list(zip(RULES, ["passed", *["inactive"] * 4], strict=True))


def test_the_report_of_a_scheduled_sweep_lists_the_checks_on_data_too(make_graph):
    graph = make_graph()
    for stage in stages(graph.settings):
        for partition in stage.runs:
            graph.run(stage.job, partition, **{SWEEP_TAG: "night-1"})
    statuses = [*["passed"] * 8, *["inactive"] * 4]
    assert listed(graph) == list(zip([*DATA_CHECKS, *RULES], statuses, strict=True))


# Beside a baseline.


def promoted(graph):
    """The baseline that a run of everything but c2, and c1 at a lower rank than there is now, would have made."""
    cases = snapshot(graph.frame("case_set"), graph.frame("case_scores", "words"))
    worse = {"c1": replace(cases[0], gold_rank=None, scores=(0.0, 0.0, 0.0))}
    better = {"c2": replace(cases[1], gold_rank=1, scores=(1.0, 1.0, 1.0))}
    before = [(worse | better).get(case.case_id, case) for case in cases]
    write_baseline(graph.settings.baselines, baseline(before, "words", top_k=1))


def test_report_and_verdict_stand_beside_the_committed_baseline_and_list_what_was_lost_and_gained(make_graph, tmp_path):
    graph = make_graph(baselines=tmp_path / "baselines")
    graph.sweep()
    promoted(graph)
    result = graph.run("sweep_report")
    assert result.success
    verdicts = graph.frame("gate_verdict").filter(rule="no_regression")
    # One case lost and one gained: no slice changed by more than a case or two, where five are needed.
    assert verdicts.select("slice", "status", "n").sort("slice").rows() == [
        ("case_type=adversarial", "untested", 1),
        ("case_type=adversarial,locale=en", "untested", 1),
        ("case_type=golden", "passed", 2),
        ("case_type=golden,locale=en", "passed", 1),
        ("case_type=golden,locale=pt-BR", "passed", 1),
        ("locale=en", "passed", 2),
        ("locale=pt-BR", "passed", 1),
        ("overall", "passed", 3),
    ]
    path = graph.settings.storage.path / "reports" / result.run_id / "report.json"
    found = json.loads(path.read_text())["retrievers"]["words"]["baseline"]
    assert [(move["case_id"], move["now_first"]) for move in found["lost"]] == [("c2", "Carrot")]
    assert [move["case_id"] for move in found["gained"]] == ["c1"]
    assert "- c2: #1 -> MISS, now first: Carrot\n" in metadata(result, "recall_report")["report"]


def test_a_baseline_that_was_edited_fails_the_run_as_wrong_input_and_costs_no_one_the_report(make_graph, tmp_path):
    graph = make_graph(baselines=tmp_path / "baselines")
    graph.sweep()
    promoted(graph)
    path = tmp_path / "baselines" / "words.json"
    path.write_text(path.read_text().replace('"rank": null', '"rank": 1'))
    result = graph.run("sweep_report")
    assert not result.success
    assert metadata(result, "recall_report")["verdict"] == "invalid"
    (detail,) = graph.frame("gate_verdict").filter(rule="no_regression")["detail"]
    assert detail.startswith(f"{path}:1: its content does not match its digest, so it was edited or merged by hand; ")
