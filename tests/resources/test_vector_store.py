import socket
import subprocess
import sys
import time

import numpy as np
import pytest

from recall_assets.config import Storage
from recall_assets.errors import StoreUnavailableError
from recall_assets.records import Chunk
from recall_assets.resources.vector_store import Stored, VectorStore

CHUNKS = [
    Chunk("b@en#0", "b", "en", "B\nsecond"),
    Chunk("a@en#0", "a", "en", "A\nfirst"),
    Chunk("a@pt-BR#0", "a", "pt-BR", "A\nprimeiro"),
]
VECTORS = np.array([[0.0, 1.0], [1.0, 0.0], [0.6, 0.8]], dtype=np.float32)


@pytest.fixture
def store(tmp_path):
    return VectorStore(Storage(path=tmp_path / "state"))


def http(tmp_path, port):
    chroma = {"kind": "http", "host": "127.0.0.1", "port": port}
    return VectorStore(Storage.model_validate({"path": tmp_path / "state", "chroma": chroma}))


@pytest.fixture
def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


@pytest.fixture
def server(tmp_path, free_port):
    """A Chroma server, stopped by `terminate()` at the latest after the test."""
    command = [sys.executable, "-c", "from chromadb.cli.cli import app; app()", "run", "--path", tmp_path / "served"]
    process = subprocess.Popen(  # noqa: S603 - fixed words
        [*command, "--host", "127.0.0.1", "--port", str(free_port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    while process.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", free_port)) == 0:
                break
        time.sleep(0.05)
    yield process
    process.terminate()
    process.wait()


def test_nothing_is_opened_before_the_store_is_used(tmp_path):
    VectorStore(Storage(path=tmp_path / "state"))
    assert not (tmp_path / "state").exists()


def test_what_was_never_built_is_not_found(store):
    assert store.find("kb-bag-1") is None


def test_what_was_built_is_found_with_its_count_dimension_and_fingerprint(store):
    built = store.build("kb-bag-1", "f1", CHUNKS, VECTORS)
    assert built == store.find("kb-bag-1") == Stored("kb-bag-1", 3, 2, "f1")


def test_what_was_built_is_there_for_another_process(store, tmp_path):
    store.build("kb-bag-1", "f1", CHUNKS, VECTORS)
    code = (
        "from pathlib import Path; from recall_assets.config import Storage;"
        "from recall_assets.resources.vector_store import VectorStore;"
        f"print(VectorStore(Storage(path=Path({str(tmp_path / 'state')!r}))).chunk_ids('kb-bag-1'))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603
    assert done.stdout == "['a@en#0', 'a@pt-BR#0', 'b@en#0']\n"


def test_chunk_ids_and_the_table_are_sorted_by_id_whatever_the_order_of_building(store):
    store.build("kb-bag-1", "f1", CHUNKS, VECTORS)
    assert store.chunk_ids("kb-bag-1") == ["a@en#0", "a@pt-BR#0", "b@en#0"]
    table = store.table("kb-bag-1")
    assert table.chunk_ids == ["a@en#0", "a@pt-BR#0", "b@en#0"]
    assert table.card_ids == ["a", "a", "b"]
    assert table.locales == ["en", "pt-BR", "en"]
    assert table.vectors == pytest.approx(np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]]))


def test_a_query_gives_the_nearest_chunks_with_their_cosine(store):
    store.build("kb-bag-1", "f1", CHUNKS, VECTORS)
    found = store.query("kb-bag-1", np.array([[1.0, 0.0], [0.0, 2.0]]), depth=2, locale=None)
    assert [[(c.chunk_id, c.card_id) for c in candidates] for candidates in found] == [
        [("a@en#0", "a"), ("a@pt-BR#0", "a")],
        [("b@en#0", "b"), ("a@pt-BR#0", "a")],
    ]
    assert [[c.score for c in candidates] for candidates in found] == [
        pytest.approx([1.0, 0.6], abs=1e-6),
        pytest.approx([1.0, 0.8], abs=1e-6),
    ]


def test_a_query_with_a_locale_finds_only_texts_of_that_locale(store):
    store.build("kb-bag-1", "f1", CHUNKS, VECTORS)
    (found,) = store.query("kb-bag-1", np.array([[1.0, 0.0]]), depth=2, locale="pt-BR")
    assert [candidate.chunk_id for candidate in found] == ["a@pt-BR#0"]


def test_a_collection_larger_than_a_page_is_read_in_full(store, monkeypatch):
    store.build("kb-bag-1", "f1", CHUNKS, VECTORS)
    for rows in (1, 2, 3, 4):
        monkeypatch.setattr("recall_assets.resources.vector_store._ROWS", rows)
        assert store.chunk_ids("kb-bag-1") == ["a@en#0", "a@pt-BR#0", "b@en#0"]
        table = store.table("kb-bag-1")
        assert table.chunk_ids == ["a@en#0", "a@pt-BR#0", "b@en#0"]
        assert table.card_ids == ["a", "a", "b"]
        assert table.locales == ["en", "pt-BR", "en"]
        assert table.vectors == pytest.approx(np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]]))


@pytest.mark.parametrize(
    ("rows", "sizes"),
    [
        pytest.param(4, [2, 2, 1], id="two queries of depth 2 at once"),
        pytest.param(5, [2, 2, 1], id="not a row more than the limit"),
        pytest.param(1, [1, 1, 1, 1, 1], id="one query is asked whatever its depth"),
        pytest.param(10, [5], id="all at once"),
    ],
)
def test_queries_are_asked_in_parts_that_stay_within_the_limit_and_answered_in_order(store, monkeypatch, rows, sizes):
    from chromadb import Collection

    store.build("kb-bag-1", "f1", CHUNKS, VECTORS)
    monkeypatch.setattr("recall_assets.resources.vector_store._ROWS", rows)
    query, asked = Collection.query, []

    def counted(self, **arguments):
        asked.append(len(arguments["query_embeddings"]))
        return query(self, **arguments)

    monkeypatch.setattr(Collection, "query", counted)
    vectors = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8], [0.0, 1.0], [1.0, 0.0]])
    found = store.query("kb-bag-1", vectors, depth=2, locale=None)
    assert [candidates[0].chunk_id for candidates in found] == ["a@en#0", "b@en#0", "a@pt-BR#0", "b@en#0", "a@en#0"]
    assert [len(candidates) for candidates in found] == [2] * 5
    assert asked == sizes


def test_building_under_a_name_that_exists_replaces_what_is_there(store):
    store.build("kb-bag-1", "f1", CHUNKS, VECTORS)
    store.build("kb-bag-1", "f2", CHUNKS[:1], VECTORS[:1])
    assert store.find("kb-bag-1") == Stored("kb-bag-1", 1, 2, "f2")
    assert [collection.name for collection in store._client.list_collections()] == ["kb-bag-1"]


def test_a_build_that_fails_half_way_leaves_the_old_collection_and_nothing_else(store):
    store.build("kb-bag-1", "f1", CHUNKS, VECTORS)
    with pytest.raises(ValueError, match="length"):
        store.build("kb-bag-1", "f2", CHUNKS, VECTORS[:2])
    assert store.find("kb-bag-1") == Stored("kb-bag-1", 3, 2, "f1")
    assert [collection.name for collection in store._client.list_collections()] == ["kb-bag-1"]


def test_a_build_drops_what_a_killed_build_of_the_same_name_left_over_and_nothing_else(store):
    store.build("kb-bag-2", "f1", CHUNKS, VECTORS)
    for name in ("kb-bag-1.building-0a1b2c3d", "kb-bag-1.building-4e5f6071", "kb-bag-2.building-0a1b2c3d"):
        store._client.create_collection(name, embedding_function=None)
    store.build("kb-bag-1", "f1", CHUNKS, VECTORS)
    names = {collection.name for collection in store._client.list_collections()}
    assert names == {"kb-bag-1", "kb-bag-2", "kb-bag-2.building-0a1b2c3d"}


def test_more_chunks_than_fit_into_one_batch_are_all_stored(store):
    many = [Chunk(f"{number:04}@en#0", f"{number:04}", "en", "text") for number in range(2001)]
    vectors = np.random.default_rng(0).normal(size=(2001, 4)).astype(np.float32)
    store.build("kb-bag-1", "f1", many, vectors)
    assert store.chunk_ids("kb-bag-1") == [chunk.chunk_id for chunk in many]


@pytest.mark.parametrize(
    "ask",
    [
        pytest.param(lambda store: store.chunk_ids("kb-bag-1"), id="chunk_ids"),
        pytest.param(lambda store: store.table("kb-bag-1"), id="table"),
        pytest.param(lambda store: store.query("kb-bag-1", VECTORS, 1, None), id="query"),
    ],
)
def test_a_collection_that_is_not_there_is_named_with_what_to_do(store, ask):
    with pytest.raises(StoreUnavailableError, match="there is no collection kb-bag-1; materialize kb_collection first"):
        ask(store)


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "state").write_text("a file")
    with pytest.raises(StoreUnavailableError, match=f"Chroma in {tmp_path}/state/chroma cannot be used: .*Not a dir"):
        VectorStore(Storage(path=tmp_path / "state")).find("kb-bag-1")


def test_a_damaged_store_is_named(tmp_path):
    (tmp_path / "state" / "chroma").mkdir(parents=True)
    (tmp_path / "state" / "chroma" / "chroma.sqlite3").write_text("no database" * 1000)
    with pytest.raises(StoreUnavailableError, match=f"Chroma in {tmp_path}/state/chroma cannot be used: .*not a datab"):
        VectorStore(Storage(path=tmp_path / "state")).find("kb-bag-1")


def test_a_server_that_is_not_there_is_named_by_host_and_port(tmp_path, free_port):
    with pytest.raises(StoreUnavailableError, match=f"Chroma at 127.0.0.1:{free_port} cannot be used: Could not conne"):
        http(tmp_path, free_port).find("kb-bag-1")
    assert not (tmp_path / "state").exists()


def test_a_server_holds_collections_as_a_folder_does_and_is_named_when_it_is_lost(tmp_path, free_port, server):
    store = http(tmp_path, free_port)
    assert store.find("kb-bag-1") is None
    assert store.build("kb-bag-1", "f1", CHUNKS, VECTORS) == store.find("kb-bag-1") == Stored("kb-bag-1", 3, 2, "f1")
    assert store.table("kb-bag-1").card_ids == ["a", "a", "b"]
    (found,) = store.query("kb-bag-1", VECTORS[1:2], depth=1, locale="en")
    assert [candidate.chunk_id for candidate in found] == ["a@en#0"]
    server.terminate()
    server.wait()
    asks = (
        lambda: store.find("kb-bag-1"),
        lambda: store.build("kb-bag-2", "f2", CHUNKS, VECTORS),
        lambda: store.chunk_ids("kb-bag-1"),
        lambda: store.table("kb-bag-1"),
        lambda: store.query("kb-bag-1", VECTORS, 1, None),
    )
    for ask in asks:
        with pytest.raises(StoreUnavailableError, match=f"Chroma at 127.0.0.1:{free_port} cannot be used"):
            ask()
