import json

import pytest

from recall_assets.automation import stages
from recall_assets.baseline import read_baseline
from tests.conftest import CARDS, CASES
from tests.graph import materialized, metadata

JOB = "promote_baseline"


@pytest.fixture
def graph(make_graph, tmp_path):
    return make_graph(baselines=tmp_path / "baselines")


def failure(result):
    """What the one failed step of a run says."""
    (event,) = [event for event in result.all_events if event.is_step_failure]
    error = event.step_failure_data.error
    return (error.cause or error).message


def test_recall_baseline_is_materialized_by_no_sweep(graph):
    graph.sweep()
    assert "recall_baseline" not in {asset for stage in stages(graph.settings) for asset in stage.assets}
    assert not graph.settings.baselines.exists()
    assert "recall_baseline/words" not in graph.stored()


def test_recall_baseline_writes_the_file_and_stores_the_same_cases_as_a_frame(graph):
    graph.sweep()
    result = graph.run(JOB, "words")
    assert result.success
    assert materialized(result) == {"recall_baseline"}
    baseline = read_baseline(graph.settings.baselines / "words.json")
    shown = metadata(result, "recall_baseline")
    assert str(graph.settings.baselines / "words.json") in shown.values()
    assert shown["measured"] == baseline.date
    assert shown["dagster/row_count"] == 3
    frame = graph.frame("recall_baseline", "words")
    assert frame.select("case_id", "retrieval_hit_at_k", "gold_rank").rows() == [
        ("c1", 1.0, 1),
        ("c2", 0.0, None),
        ("c3", 1.0, 1),
    ]
    assert [case.label for case in baseline.cases] == frame["label"].to_list()


def test_recall_baseline_of_unchanged_scores_keeps_bytes_and_data_version(graph):
    graph.sweep()
    path = graph.settings.baselines / "words.json"
    found = []
    for _ in range(2):
        (event,) = graph.run(JOB, "words").asset_materializations_for_node("recall_baseline")
        found.append((path.read_bytes(), event.tags["dagster/data_version"]))
    assert found[0] == found[1]


def test_recall_baseline_says_what_it_was_made_from(graph):
    graph.sweep()
    graph.run(JOB, "words")
    document = json.loads((graph.settings.baselines / "words.json").read_text(encoding="utf-8"))
    assert (document["format"], document["retriever"], document["top_k"]) == (1, "words", 1)
    assert document["fingerprints"]["embedder"] == "words-bag"
    assert (
        document["fingerprints"]["knowledge_base"] == graph.frame("kb_collection", "bag")["chunks_fingerprint"].item()
    )


@pytest.mark.parametrize(
    ("changes", "jobs", "reason"),
    [
        (
            {"top_k": 2},
            (),
            "its retrieval_run is older than the knowledge base, the cases or the configuration",
        ),
        (
            {"cards": [CARDS[0] | {"text": "green leaf"}, *CARDS[1:]]},
            ("sweep_ingest",),
            'kb_collection of the embedder "bag" is older than the knowledge base',
        ),
        (
            {"cases": [CASES[0] | {"must_cite_one_of": ["banana"]}, *CASES[1:]]},
            ("sweep_ingest",),
            "its case_scores are older than its run, the labels or top_k",
        ),
        (
            {"cases": [CASES[0] | {"query": "yellow"}, *CASES[1:]]},
            ("sweep_ingest",),
            "its retrieval_run is older than the knowledge base, the cases or the configuration",
        ),
    ],
)
def test_recall_baseline_refuses_what_does_not_belong_together_and_leaves_the_file(
    make_graph, tmp_path, changes, jobs, reason
):
    graph = make_graph(baselines=tmp_path / "baselines")
    graph.sweep()
    graph.run(JOB, "words")
    before = (tmp_path / "baselines" / "words.json").read_bytes()
    changed = make_graph(baselines=tmp_path / "baselines", **changes)
    for job in jobs:
        changed.run(job)
    result = changed.run(JOB, "words")
    assert not result.success
    assert f"words: not promoted: {reason}; run the sweep again: recall sweep" in failure(result)
    assert (tmp_path / "baselines" / "words.json").read_bytes() == before
