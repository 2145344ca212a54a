import pytest

from recall_assets.stored import StoredFrames
from tests.conftest import WordEmbedding

TWO = {name: {"kind": "exact", "embedder": "bag"} for name in ("one", "two")}


@pytest.fixture
def swept(make_graph):
    """A graph of two retrievers, of which one was run."""
    graph = make_graph(retrievers=TWO)
    graph.run("sweep_ingest")
    graph.run("sweep_index", "bag")
    graph.run("sweep_retrieve", "one")
    return graph


def test_a_frame_is_what_its_asset_stored(swept):
    stored = StoredFrames(swept.settings)
    assert stored.of("kb_cards").equals(swept.frame("kb_cards"))
    assert stored.of("retrieval_run", "one").equals(swept.frame("retrieval_run", "one"))


def test_what_was_never_stored_is_none(swept):
    stored = StoredFrames(swept.settings)
    assert stored.of("slice_scores") is None
    assert stored.of("retrieval_run", "two") is None


def test_only_the_partitions_that_there_are_have_a_frame(swept):
    stored = StoredFrames(swept.settings)
    assert list(stored.by_partition("case_scores", ["two", "one"])) == ["one"]
    assert stored.by_partition("kb_collection", []) == {}


def test_the_frames_of_a_sweep_are_together_with_the_digests_of_its_embedders(swept):
    slices = swept.frame("case_set")  # any frame: it is handed on as it is
    stored = StoredFrames(swept.settings)
    frames = stored.of_sweep(swept.settings, slices, WordEmbedding())
    assert frames.cards.height == 4
    assert frames.cases.height == 4
    assert (list(frames.collections), list(frames.runs), list(frames.scores)) == (["bag"], ["one"], ["one"])
    assert frames.slices is slices
    assert frames.embedders == {"bag": "words-bag"}


def test_where_nothing_is_stored_a_sweep_has_empty_frames(make_graph):
    graph = make_graph()
    stored = StoredFrames(graph.settings)
    frames = stored.of_sweep(graph.settings, None, WordEmbedding())
    assert (frames.cards.height, frames.cases.height) == (0, 0)
    assert "title" in frames.cards.columns
    assert "query" in frames.cases.columns
    assert (frames.collections, frames.runs, frames.scores) == ({}, {}, {})


def test_the_slices_of_what_is_stored_are_those_that_the_asset_would_make(make_graph):
    graph = make_graph(retrievers=TWO)
    graph.sweep()
    made = graph.frame("slice_scores")
    graph.replace_frame("slice_scores", None, made.filter(retriever="one"))
    assert StoredFrames(graph.settings).slices(graph.settings, WordEmbedding()).equals(made)
