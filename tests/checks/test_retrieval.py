import chromadb
import dagster as dg
import polars as pl
import pytest
from upath import UPath

from recall_assets.resources.frames import ParquetIOManager
from recall_assets.resources.vector_store import VectorStore
from tests.graph import checks, materialized

ERROR, WARN = dg.AssetCheckSeverity.ERROR, dg.AssetCheckSeverity.WARN
EXACT = {"words": {"kind": "exact", "embedder": "bag", "locale_filter": True}}


class WithoutFirstCase(ParquetIOManager):
    """Storage that loses the first case of every run."""

    def dump_to_path(self, context, obj, path):
        super().dump_to_path(context, obj[1:] if "retrieval_run" in context.asset_key.path else obj, path)


class WithoutBest(VectorStore):
    """A store whose index never finds the best chunk."""

    def query(self, name, vectors, depth, locale):
        return [found[1:] for found in super().query(name, vectors, depth + 1, locale)]


@pytest.fixture
def indexed(make_graph):
    """A graph after ingest and index."""
    graph = make_graph()
    graph.run("sweep_ingest")
    graph.run("sweep_index", "bag")
    return graph


def chroma_of(graph):
    """The graph's store, opened apart from the project."""
    return chromadb.PersistentClient(
        path=str(graph.settings.storage.path / "chroma"), settings=chromadb.Settings(anonymized_telemetry=False)
    )


def collection_in_chroma(graph):
    """The graph's one collection."""
    (collection,) = chroma_of(graph).list_collections()
    return collection


def test_a_fresh_collection_is_complete(make_graph):
    graph = make_graph()
    graph.run("sweep_ingest")
    result = graph.run("sweep_index", "bag")
    assert result.success
    check = checks(result)["collection_complete"]
    assert (check.passed, check.severity, check.blocking, check.partition) == (True, ERROR, True, "bag")
    assert check.description == "all 4 chunks are in the collection, and nothing else"
    assert {name: value.value for name, value in check.metadata.items()} == {"chunks": 4, "faults": []}


def test_a_vector_that_vanished_from_chroma_fails_collection_complete(indexed):
    collection = collection_in_chroma(indexed)
    collection.delete(ids=["banana@en#0"])
    check = indexed.check("kb_collection", "collection_complete", "bag")
    assert not check.passed
    assert check.description == f"1 chunks are not in {collection.name}, the first banana@en#0"


def test_a_vector_that_no_chunk_accounts_for_fails_collection_complete(indexed):
    collection = collection_in_chroma(indexed)
    collection.add(ids=["stray@en#0"], embeddings=[[1.0] * 512], metadatas=[{"card_id": "stray", "locale": "en"}])
    check = indexed.check("kb_collection", "collection_complete", "bag")
    assert not check.passed
    assert check.description == f"1 vectors in {collection.name} belong to no chunk, the first stray@en#0"


def test_another_fingerprint_in_chroma_fails_collection_complete(indexed):
    collection = collection_in_chroma(indexed)
    collection.modify(metadata={"fingerprint": "0123456789abcdef"})
    check = indexed.check("kb_collection", "collection_complete", "bag")
    assert not check.passed
    assert check.description == f"the fingerprint in {collection.name} is 0123456789ab, not that of its asset"


def test_a_collection_that_is_gone_fails_collection_complete_instead_of_leaving_it_without_result(indexed):
    name = collection_in_chroma(indexed).name
    chroma_of(indexed).delete_collection(name)
    check = indexed.check("kb_collection", "collection_complete", "bag")
    assert (check.passed, check.severity) == (False, ERROR)
    assert check.description == f"there is no collection {name}; materialize kb_collection first"
    assert check.metadata["faults"].value == [check.description]


def test_chunks_that_changed_after_the_index_was_built_fail_collection_complete(indexed):
    chunks = indexed.frame("kb_chunks").with_columns(text=pl.col("text") + " and more")
    indexed.replace_frame("kb_chunks", None, chunks)
    check = indexed.check("kb_collection", "collection_complete", "bag")
    assert not check.passed
    assert "kb_chunks has changed since the collection was built" in check.description


def test_a_collection_that_fails_the_check_fails_its_run(indexed):
    collection = collection_in_chroma(indexed)
    # The number of vectors is right, so the asset takes the collection for what it is looking for.
    collection.delete(ids=["banana@en#0"])
    collection.add(ids=["stray@en#0"], embeddings=[[1.0] * 512], metadatas=[{"card_id": "stray", "locale": "en"}])
    result = indexed.run("sweep_index", "bag")
    assert not result.success
    check = checks(result)["collection_complete"]
    assert [fault.split(" in ")[0] for fault in check.metadata["faults"].value] == ["1 chunks are not", "1 vectors"]


def test_a_run_over_every_case_passes_both_of_its_checks(indexed):
    result = indexed.run("sweep_retrieve", "words")
    assert result.success
    evaluated = checks(result)
    complete, matching = evaluated["every_case_retrieved"], evaluated["index_matches_exact"]
    assert (complete.passed, complete.severity, complete.blocking, complete.partition) == (True, ERROR, True, "words")
    assert complete.description == "every case has a result"
    assert (matching.passed, matching.severity, matching.blocking, matching.partition) == (True, WARN, False, "words")
    assert matching.description == "the top k of all 4 cases is that of exact search"


def test_a_case_without_a_row_fails_every_case_retrieved_and_nothing_is_scored(make_graph, tmp_path):
    graph = make_graph({"io_manager": WithoutFirstCase(UPath(tmp_path / "state" / "frames"))})
    graph.run("sweep_ingest")
    graph.run("sweep_index", "bag")
    result = graph.run("sweep_retrieve", "words")
    assert not result.success
    assert materialized(result) == {"retrieval_run"}
    assert "case_scores/words" not in graph.stored()
    check = checks(result)["every_case_retrieved"]
    assert not check.passed
    assert check.description == "1 of 4 cases have no result: c1"
    assert check.metadata["missing_case_ids"].value == ["c1"]


def test_a_case_with_the_status_missing_fails_every_case_retrieved_with_the_reason(indexed):
    indexed.run("sweep_retrieve", "words")
    second = pl.col("case_id") == "c2"
    run = indexed.frame("retrieval_run", "words").with_columns(
        status=pl.when(second).then(pl.lit("missing")).otherwise("status"),
        error=pl.when(second).then(pl.lit("timed out after 30 s")),
    )
    indexed.replace_frame("retrieval_run", "words", run)
    check = indexed.check("retrieval_run", "every_case_retrieved", "words")
    assert not check.passed
    assert check.description == "1 of 4 cases have no result: c2; timed out after 30 s"


def test_an_empty_result_is_a_result(make_graph):
    case = {"case_id": "c1", "locale": "es", "case_type": "golden", "query": "fruta", "must_cite_one_of": ["apple"]}
    graph = make_graph(cases=[case])
    result = graph.sweep()["sweep_retrieve"]
    assert graph.frame("retrieval_run", "words")["card_id"].to_list() == [[]]
    assert checks(result)["every_case_retrieved"].passed
    assert graph.frame("case_scores", "words")["retrieval_hit_at_k"].to_list() == [0.0]


def test_an_index_that_loses_the_best_card_is_a_warning_with_the_share_and_stops_nothing(make_graph, make_settings):
    result = make_graph({"store": WithoutBest(make_settings().storage)}).sweep()["sweep_retrieve"]
    assert result.success
    assert materialized(result) == {"retrieval_run", "case_scores"}
    check = checks(result)["index_matches_exact"]
    assert (check.passed, check.severity, check.blocking) == (False, WARN, False)
    # c3 has one card in its locale and loses it; c4's query shares no word with any card, so all are equally far.
    assert check.description == "3 of 4 cases get a worse top k: c1, c2, c3"
    values = {name: value.value for name, value in check.metadata.items()}
    assert values == {
        "status": "active",
        "compared": 4,
        "differing": 3,
        "share_differing": 0.75,
        "differing_case_ids": ["c1", "c2", "c3"],
    }


def test_a_retriever_without_an_approximate_index_passes_and_says_inactive(make_graph):
    check = checks(make_graph(retrievers=EXACT).sweep()["sweep_retrieve"])["index_matches_exact"]
    assert check.passed
    assert check.description == "inactive: this retriever uses no approximate index"
    assert check.metadata["status"].value == "inactive"
