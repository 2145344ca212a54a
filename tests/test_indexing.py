import numpy as np
import pytest

from recall_assets.config import Storage
from recall_assets.errors import ModelUnavailableError
from recall_assets.indexing import collection_faults, collection_name, ensure_collection, known_fingerprints
from recall_assets.progress import Quiet
from recall_assets.records import Chunk
from recall_assets.resources.vector_store import VectorStore

CHUNKS = [Chunk(f"{name}@en#0", name, "en", f"text of {name}") for name in ("a", "b", "c")]


class Counting:
    """Embeds every text as its length; counts what it was asked for."""

    def __init__(self, fingerprint="weights-1"):
        self._fingerprint = fingerprint
        self.embedded = 0

    def fingerprint(self, name):
        if name == "gone":
            raise ModelUnavailableError("gone")
        return f"{self._fingerprint}-{name}"

    def documents(self, name, texts, progress):
        self.embedded += len(texts)
        return np.array([[1.0, len(text)] for text in texts], dtype=np.float32)


@pytest.fixture
def store(tmp_path):
    return VectorStore(Storage(path=tmp_path / "state"))


def ensure(store, embedding, chunks=CHUNKS, embedder="bag"):
    collection, built = ensure_collection(embedder, chunks, embedding, store, Quiet())
    return collection.row(0, named=True), built


def test_a_collection_is_built_once_and_then_found_without_embedding_anything(store):
    embedding = Counting()
    first, second = ensure(store, embedding), ensure(store, embedding)
    assert (first[1], second[1]) == (True, False)
    assert second[0] == first[0]
    assert embedding.embedded == 3


def test_the_row_says_what_is_stored_and_what_it_depends_on(store):
    row, _ = ensure(store, Counting())
    assert (row["embedder"], row["count"], row["dimension"]) == ("bag", 3, 2)
    assert row["collection"] == collection_name("bag", row["fingerprint"])
    assert row["chunks_fingerprint"] != row["fingerprint"]


def test_the_order_of_the_chunks_is_no_reason_to_build(store):
    ensure(store, Counting())
    assert ensure(store, Counting(), CHUNKS[::-1])[1] is False


@pytest.mark.parametrize(
    ("embedding", "chunks", "embedder"),
    [
        pytest.param(Counting("weights-2"), CHUNKS, "bag", id="weights or options"),
        pytest.param(Counting(), CHUNKS[:2], "bag", id="a chunk less"),
        pytest.param(Counting(), [*CHUNKS[:2], Chunk("c@en#0", "c", "en", "other text")], "bag", id="a text"),
        pytest.param(Counting(), [*CHUNKS[:2], Chunk("c@en#0", "d", "en", "text of c")], "bag", id="a parent"),
        pytest.param(Counting(), CHUNKS, "other", id="the embedder"),
    ],
)
def test_what_changed_is_built_beside_what_was_there(store, embedding, chunks, embedder):
    before, _ = ensure(store, Counting())
    after, built = ensure(store, embedding, chunks, embedder)
    assert built
    assert after["collection"] != before["collection"]
    assert store.find(before["collection"]).count == 3


def test_a_collection_that_lost_vectors_is_built_again(store):
    row, _ = ensure(store, Counting())
    store._client.get_collection(row["collection"]).delete(ids=["a@en#0"])
    after, built = ensure(store, Counting())
    assert built
    assert after == row
    assert store.chunk_ids(row["collection"]) == ["a@en#0", "b@en#0", "c@en#0"]


def test_a_collection_of_the_right_name_with_another_fingerprint_is_built_again(store):
    row, _ = ensure(store, Counting())
    store._client.get_collection(row["collection"]).modify(metadata={"fingerprint": "other"})
    assert ensure(store, Counting())[1] is True
    assert store.find(row["collection"]).fingerprint == row["fingerprint"]


def test_the_shortest_names_make_collection_names_that_chroma_takes():
    assert collection_name("a", "0123456789abcdef0123") == "kb-a-0123456789abcdef"


def test_a_complete_collection_has_no_fault(store):
    collection, _ = ensure_collection("bag", CHUNKS, Counting(), store, Quiet())
    assert collection_faults(collection, CHUNKS, store) == []


def test_every_fault_of_a_collection_is_named(store):
    collection, _ = ensure_collection("bag", CHUNKS, Counting(), store, Quiet())
    name = collection["collection"].item()
    chroma = store._client.get_collection(name)
    chroma.delete(ids=["a@en#0", "b@en#0"])
    chroma.add(ids=["stray@en#0"], embeddings=[[1.0, 1.0]])
    chroma.modify(metadata={"fingerprint": "0123456789abcdef"})
    assert collection_faults(collection, [*CHUNKS, Chunk("d@en#0", "d", "en", "new")], store) == [
        f"3 chunks are not in {name}, the first a@en#0",
        f"1 vectors in {name} belong to no chunk, the first stray@en#0",
        f"the fingerprint in {name} is 0123456789ab, not that of its asset",
        "kb_chunks has changed since the collection was built; materialize kb_collection again",
    ]


def test_a_text_that_changed_under_the_same_chunk_ids_is_a_fault(store):
    collection, _ = ensure_collection("bag", CHUNKS, Counting(), store, Quiet())
    changed = [Chunk("a@en#0", "a", "en", "another text"), *CHUNKS[1:]]
    assert collection_faults(collection, changed, store) == [
        "kb_chunks has changed since the collection was built; materialize kb_collection again"
    ]


def test_a_collection_that_is_gone_is_a_fault(store):
    collection, _ = ensure_collection("bag", CHUNKS, Counting(), store, Quiet())
    name = collection["collection"].item()
    store._client.delete_collection(name)
    assert collection_faults(collection, CHUNKS, store) == [
        f"there is no collection {name}; materialize kb_collection first"
    ]


def test_a_store_that_cannot_be_used_is_a_fault(store, tmp_path):
    collection, _ = ensure_collection("bag", CHUNKS, Counting(), store, Quiet())
    (tmp_path / "blocked").write_text("a file")
    (fault,) = collection_faults(collection, CHUNKS, VectorStore(Storage(path=tmp_path / "blocked")))
    assert fault.startswith(f"Chroma in {tmp_path}/blocked/chroma cannot be used: ")


def test_an_embedder_that_cannot_be_found_has_no_fingerprint_and_costs_the_others_none():
    assert known_fingerprints(["bag", "gone", "other"], Counting()) == {
        "bag": "weights-1-bag",
        "other": "weights-1-other",
    }
