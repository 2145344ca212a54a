"""The Chroma side: one collection per fingerprint, built under another name and then switched to.

What a collection is searched for, and in which order results come, is in `recall_assets.retrieval`.
"""

import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recall_assets.config import HttpChroma, Storage
from recall_assets.errors import StoreUnavailableError
from recall_assets.records import Chunk
from recall_assets.resources.embedders import Vectors
from recall_assets.vectors import Candidate, VectorTable

_ADD_BATCH = 2000  # batches of 1,000 and more ingest three times faster than of 10; the server allows 5,461
_ROWS = 20_000  # Chroma binds a variable of SQLite for each row that it returns, and SQLite has 32,766


@dataclass(frozen=True)
class Stored:
    """What is stored under a collection's name."""

    collection: str
    count: int
    dimension: int
    fingerprint: str


class VectorStore:
    """The configured Chroma, opened at first use."""

    def __init__(self, config: Storage) -> None:
        """Remembers where the store is; nothing is opened yet."""
        self._config = config

    @cached_property
    def _client(self) -> Any:
        import chromadb

        settings = chromadb.config.Settings(anonymized_telemetry=False)
        try:
            if isinstance(self._config.chroma, HttpChroma):
                chroma = self._config.chroma
                return chromadb.HttpClient(host=chroma.host, port=chroma.port, ssl=chroma.ssl, settings=settings)
            # Chroma keeps clients by the path as it is written: a relative one would outlive a change of folder.
            path = (self._config.path / "chroma").resolve()
            path.mkdir(parents=True, exist_ok=True)
            return chromadb.PersistentClient(path=str(path), settings=settings)
        except (ValueError, OSError, RuntimeError) as error:
            raise StoreUnavailableError(f"{self._where}: {error}") from error

    @contextmanager
    def _use(self) -> Iterator[Any]:
        """The client; what Chroma or the way to it reports becomes an error that says which store it was."""
        import chromadb
        import httpx  # what Chroma's client talks through, whose errors it lets pass

        try:
            yield self._client
        except (chromadb.errors.ChromaError, httpx.HTTPError) as error:
            raise StoreUnavailableError(f"{self._where}: {error}") from error

    @property
    def _where(self) -> str:
        chroma = self._config.chroma
        if isinstance(chroma, HttpChroma):
            return f"Chroma at {chroma.host}:{chroma.port} cannot be used"
        return f"Chroma in {self._config.path / 'chroma'} cannot be used"

    def find(self, name: str) -> Stored | None:
        """What is stored under a name, or None.

        Raises:
            StoreUnavailableError: The store cannot be used.
        """
        import chromadb

        with self._use() as client:
            try:
                collection = client.get_collection(name, embedding_function=None)
            except chromadb.errors.NotFoundError:
                return None
            sample = collection.peek(1)["embeddings"]
            dimension = len(sample[0]) if len(sample) else 0
            return Stored(name, collection.count(), dimension, (collection.metadata or {}).get("fingerprint", ""))

    def build(self, name: str, fingerprint: str, chunks: Sequence[Chunk], vectors: Vectors) -> Stored:
        """Stores vectors under a name; the name exists only once everything is in it.

        Raises:
            StoreUnavailableError: The store cannot be used.
        """
        with self._use() as client:
            self._build(client, name, fingerprint, chunks, vectors)
        return Stored(name, len(chunks), vectors.shape[1], fingerprint)

    def _build(self, client: Any, name: str, fingerprint: str, chunks: Sequence[Chunk], vectors: Vectors) -> None:
        for left_over in client.list_collections():  # of a build that was killed
            if left_over.name.startswith(f"{name}.building-"):
                client.delete_collection(left_over.name)
        building = f"{name}.building-{uuid.uuid4().hex[:8]}"
        collection = client.create_collection(
            building,
            configuration={"hnsw": {"space": "cosine"}},
            embedding_function=None,
            metadata={"fingerprint": fingerprint},
        )
        try:
            for start in range(0, len(chunks), _ADD_BATCH):
                batch = chunks[start : start + _ADD_BATCH]
                collection.add(
                    ids=[chunk.chunk_id for chunk in batch],
                    embeddings=vectors[start : start + _ADD_BATCH],
                    documents=[chunk.text for chunk in batch],
                    metadatas=[{"card_id": chunk.card_id, "locale": chunk.locale} for chunk in batch],
                )
            if self.find(name) is not None:
                client.delete_collection(name)  # incomplete or damaged: whoever builds has found it so
            collection.modify(name=name)
        except BaseException:
            with suppress(Exception):  # a store that failed may fail again; the first error says why
                client.delete_collection(building)
            raise

    def chunk_ids(self, name: str) -> list[str]:
        """The ids in a collection, sorted.

        Raises:
            StoreUnavailableError: There is no such collection, or the store cannot be used.
        """
        with self._collection(name) as collection:
            return sorted(chunk_id for page in _pages(collection, []) for chunk_id in page["ids"])

    def table(self, name: str) -> VectorTable:
        """Every vector of a collection with its chunk, parent and locale, sorted by chunk id.

        Raises:
            StoreUnavailableError: There is no such collection, or the store cannot be used.
        """
        with self._collection(name) as collection:
            pages = list(_pages(collection, ["embeddings", "metadatas"]))
        ids = [chunk_id for page in pages for chunk_id in page["ids"]]
        metadatas = [metadata for page in pages for metadata in page["metadatas"]]
        vectors = np.concatenate([np.asarray(page["embeddings"], dtype=np.float64) for page in pages])
        order = np.argsort(np.array(ids, dtype=object))
        return VectorTable(
            chunk_ids=[ids[index] for index in order],
            card_ids=[metadatas[index]["card_id"] for index in order],
            locales=[metadatas[index]["locale"] for index in order],
            vectors=vectors[order],
        )

    def query(self, name: str, vectors: NDArray[Any], depth: int, locale: str | None) -> list[list[Candidate]]:
        """The approximate nearest chunks of each query vector, as Chroma's index gives them.

        Args:
            name: The collection.
            vectors: One row a query.
            depth: How many chunks to ask for, at most the collection's size.
            locale: Search only texts of this locale, or None for all.

        Raises:
            StoreUnavailableError: There is no such collection, or the store cannot be used.
        """
        at_once = max(1, _ROWS // depth)
        results: list[list[Candidate]] = []
        with self._collection(name) as collection:
            for start in range(0, len(vectors), at_once):
                found = collection.query(
                    query_embeddings=vectors[start : start + at_once],
                    n_results=depth,
                    where=None if locale is None else {"locale": locale},
                    include=["distances", "metadatas"],
                )
                for ids, metadatas, distances in zip(found["ids"], found["metadatas"], found["distances"], strict=True):
                    rows = zip(ids, metadatas, distances, strict=True)
                    results.append([Candidate(i, meta["card_id"], 1.0 - float(away)) for i, meta, away in rows])
        return results

    @contextmanager
    def _collection(self, name: str) -> Iterator[Any]:
        import chromadb

        with self._use() as client:
            try:
                collection = client.get_collection(name, embedding_function=None)
            except chromadb.errors.NotFoundError as error:
                what = f"there is no collection {name}; materialize kb_collection first"
                raise StoreUnavailableError(what) from error
            yield collection


def _pages(collection: Any, include: list[str]) -> Iterator[Any]:
    """What a collection holds, in pages that Chroma can give; at least one page."""
    for offset in range(0, max(1, collection.count()), _ROWS):
        yield collection.get(include=include, limit=_ROWS, offset=offset)
