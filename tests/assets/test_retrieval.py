import polars as pl

from tests.graph import materialized, metadata


def test_retrieval_run_has_a_row_for_every_case_with_gold_and_without(make_graph):
    graph = make_graph()
    shown = metadata(graph.sweep()["sweep_retrieve"], "retrieval_run")
    run = graph.frame("retrieval_run", "words")
    assert run["case_id"].to_list() == ["c1", "c2", "c3", "c4"]
    assert run["chunk_id"].to_list() == [["apple@en#0"], ["carrot@en#0"], ["apple@pt-BR#0"], ["apple@en#0"]]
    assert run["exact_card_id"].to_list() == [["apple"], ["carrot"], ["apple"], ["apple"]]
    assert set(run["status"]) == {"retrieved"}
    assert (shown["dagster/row_count"], shown["results"]) == (4, 4)
    assert shown["fingerprint"] == run["fingerprint"][0]


def test_a_collection_that_vanished_from_chroma_fails_the_run_and_keeps_the_earlier_frame(make_graph):
    graph = make_graph()
    graph.sweep()
    before = graph.frame("retrieval_run", "words")
    elsewhere = graph.frame("kb_collection", "bag").with_columns(collection=pl.lit("kb-bag-gone"))
    graph.replace_frame("kb_collection", "bag", elsewhere)
    result = graph.run("sweep_retrieve", "words")
    assert not result.success
    assert materialized(result) == set()
    assert graph.frame("retrieval_run", "words").equals(before)
