import json

from recall_assets.automation import SWEEP_TAG, stages
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
    assert shown["dagster/row_count"] == 8
    assert "verdict" not in shown
    assert graph.frame("gate_verdict").select("retriever", "rule", "status").rows() == [
        (name, rule, status)
        for name in ("one", "two")
        for rule, status in [
            ("every_retriever_scored", "passed"),
            ("hit_floor", "failed"),
            ("recall_floor", "inactive"),
            ("ndcg_floor", "inactive"),
        ]
    ]


def test_a_report_over_unchanged_figures_keeps_its_data_version(make_graph):
    graph = make_graph()
    versions = [
        graph.sweep()["sweep_report"].asset_materializations_for_node("recall_report")[0].tags["dagster/data_version"]
        for _ in range(2)
    ]
    assert versions[0] == versions[1]


RULES = ["every_retriever_scored", "hit_floor", "recall_floor", "ndcg_floor"]
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
    assert listed(graph) == list(zip(RULES, ["passed", *["inactive"] * 3], strict=True))


def test_the_report_of_a_scheduled_sweep_lists_the_checks_on_data_too(make_graph):
    graph = make_graph()
    for stage in stages(graph.settings):
        for partition in stage.runs:
            graph.run(stage.job, partition, **{SWEEP_TAG: "night-1"})
    statuses = [*["passed"] * 8, *["inactive"] * 3]
    assert listed(graph) == list(zip([*DATA_CHECKS, *RULES], statuses, strict=True))
