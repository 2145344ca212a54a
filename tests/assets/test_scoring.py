import pytest

from tests.conftest import CARDS
from tests.graph import metadata


def test_case_scores_has_a_row_for_each_gold_bearing_case_and_none_for_the_others(make_graph):
    graph = make_graph()
    shown = metadata(graph.sweep()["sweep_retrieve"], "case_scores")
    assert shown["dagster/row_count"] == 3
    assert graph.frame("case_scores", "words").drop("fingerprint").rows() == [
        ("c1", 1.0, 1.0, 1.0, 1),
        ("c2", 0.0, 0.0, 0.0, None),
        ("c3", 1.0, 1.0, 1.0, 1),
    ]


def test_slice_scores_shows_its_table_and_its_figures_as_numbers(make_graph):
    shown = metadata(make_graph().sweep()["sweep_report"], "slice_scores")
    assert shown["dagster/row_count"] == 8
    assert "| overall | 3 | 0.667 | 0.21-0.94 | 0.667 | 0.667 |" in shown["slices"]
    figures = {name: value for name, value in shown.items() if name.startswith("words/")}
    assert figures == {
        "words/n": 3,
        "words/retrieval_hit_at_k": 2 / 3,
        "words/retrieval_recall_at_k": 2 / 3,
        "words/retrieval_ndcg_at_k": 2 / 3,
    }
    assert {type(value) for value in figures.values()} == {int, float}


def test_slice_scores_of_a_retriever_without_a_run_has_every_case_missing_and_the_reason(make_graph):
    retrievers = {name: {"kind": "exact", "embedder": "bag"} for name in ("ran", "idle")}
    graph = make_graph(retrievers=retrievers)
    graph.run("sweep_ingest")
    graph.run("sweep_index", "bag")
    graph.run("sweep_retrieve", "ran")
    shown = metadata(graph.run("sweep_report"), "slice_scores")
    overall = graph.frame("slice_scores").filter(slice="overall")
    columns = ("retriever", "n", "retrieval_hit_at_k", "cases", "missing", "not_scored")
    assert overall.select(columns).rows() == [
        ("ran", 3, 2 / 3, 4, 0, None),
        ("idle", 0, None, 4, 4, "it was never run"),
    ]
    assert (shown["ran/n"], shown["idle/n"]) == (3, 0)
    assert "idle/retrieval_hit_at_k" not in shown


def test_slice_scores_before_anything_was_retrieved_says_so_for_each_retriever(make_graph):
    graph = make_graph()
    graph.run("sweep_ingest")
    graph.run("sweep_report")
    reasons = graph.frame("slice_scores")["not_scored"].unique().to_list()
    assert reasons == ['kb_collection of the embedder "bag" was never built']


@pytest.mark.parametrize(
    ("first", "reason"),
    [
        pytest.param("kb_cards", "kb_chunks is older than kb_cards or the configured chunking", id="cards alone"),
        pytest.param(
            "kb_chunks",
            "case_set was not read against this knowledge base: 1 labels name no live card",
            id="cards and chunks",
        ),
    ],
)
def test_labels_that_name_no_card_of_the_new_knowledge_base_are_not_scored_by_later_stages(make_graph, first, reason):
    make_graph().sweep()
    without_banana = make_graph(cards=[card for card in CARDS if card["card_id"] != "banana"])
    assert without_banana.materialize("sweep_ingest", "kb_cards").success
    if first == "kb_chunks":
        assert without_banana.materialize("sweep_ingest", "kb_chunks").success
    for job, partition in (("sweep_index", "bag"), ("sweep_retrieve", "words")):
        assert without_banana.run(job, partition).success
    shown = metadata(without_banana.run("sweep_report"), "recall_report")
    assert shown["verdict"] == "inconclusive"
    frame = without_banana.frame("slice_scores")
    assert (set(frame["not_scored"]), set(frame["n"]), set(frame["retrieval_hit_at_k"])) == ({reason}, {0}, {None})
