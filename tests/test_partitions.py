from recall_assets.partitions import Partitions

TWO = {"bag": {"kind": "usem3"}, "other": {"kind": "usem3"}, "idle": {"kind": "usem3"}}


def test_partitions_are_the_retrievers_in_their_order_and_the_embedders_they_use(make_settings):
    retrievers = {
        "second": {"kind": "dense", "embedder": "other"},
        "first": {"kind": "exact", "embedder": "bag"},
        "third": {"kind": "exact", "embedder": "other"},
    }
    partitions = Partitions.of(make_settings(embedders=TWO, retrievers=retrievers))
    assert partitions.retrievers.get_partition_keys() == ["second", "first", "third"]
    assert partitions.embedders.get_partition_keys() == ["bag", "other"]


def test_a_retriever_takes_the_collection_of_its_own_embedder(make_graph):
    retrievers = {"first": {"kind": "exact", "embedder": "bag"}, "second": {"kind": "exact", "embedder": "other"}}
    graph = make_graph(embedders=TWO, retrievers=retrievers)
    graph.run("sweep_ingest")
    graph.run("sweep_index", "other")
    assert graph.run("sweep_retrieve", "second").success
    # The collection of the embedder of `first` was never built.
    assert not graph.run("sweep_retrieve", "first").success
    assert graph.stored() >= {"kb_collection/other", "retrieval_run/second"}
    assert "retrieval_run/first" not in graph.stored()
