"""Bringing a collection into being: find it by fingerprint, or embed and build it."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import polars as pl

from recall_assets.errors import ModelUnavailableError, StoreUnavailableError
from recall_assets.progress import Progress
from recall_assets.provenance import chunks_fingerprint, collection_fingerprint
from recall_assets.records import Chunk
from recall_assets.resources.embedding import Embedding
from recall_assets.resources.vector_store import VectorStore
from recall_assets.schemas import COLLECTION, build_frame


def ensure_collection(
    embedder: str, chunks: Sequence[Chunk], embedding: Embedding, store: VectorStore, progress: Progress
) -> tuple[pl.DataFrame, bool]:
    """The collection that holds these chunks under this embedder, built if there is no complete one.

    The index build of Chroma is not reproducible, so a collection is kept for as long as its fingerprint holds.

    Returns:
        A `COLLECTION` frame of one row, and whether anything was built.

    Raises:
        ModelUnavailableError: The embedder cannot be loaded.
        StoreUnavailableError: The store cannot be used.
    """
    fingerprint = collection_fingerprint(chunks, embedding.fingerprint(embedder))
    name = collection_name(embedder, fingerprint)
    stored = store.find(name)
    built = stored is None or stored.fingerprint != fingerprint or stored.count != len(chunks)
    if stored is None or built:
        vectors = embedding.documents(embedder, [chunk.text for chunk in chunks], progress)
        stored = store.build(name, fingerprint, chunks, vectors)
    row = (embedder, stored.collection, stored.count, stored.dimension, fingerprint, chunks_fingerprint(chunks))
    return build_frame(COLLECTION, [row]), built


def known_fingerprints(embedders: Iterable[str], embedding: Embedding) -> dict[str, str]:
    """Digest of options and weights by embedder, without those whose weights cannot be found. Loads no model."""
    known = {}
    for name in embedders:
        with suppress(ModelUnavailableError):
            known[name] = embedding.fingerprint(name)
    return known


def collection_name(embedder: str, fingerprint: str) -> str:
    """The name of a collection in Chroma, from 3 characters up."""
    return f"kb-{embedder}-{fingerprint[:16]}"


def collection_faults(collection: pl.DataFrame, chunks: Sequence[Chunk], store: VectorStore) -> list[str]:
    """How a stored collection differs from the chunks it should hold; empty if it does not.

    A store that cannot be used, or has no such collection, is a fault as well.
    """
    try:
        return _faults(collection.row(0, named=True), chunks, store)
    except StoreUnavailableError as error:
        return [str(error)]


def _faults(row: Mapping[str, Any], chunks: Sequence[Chunk], store: VectorStore) -> list[str]:
    faults = []
    expected, present = {chunk.chunk_id for chunk in chunks}, set(store.chunk_ids(row["collection"]))
    if lacking := sorted(expected - present):
        faults.append(f"{len(lacking)} chunks are not in {row['collection']}, the first {lacking[0]}")
    if extra := sorted(present - expected):
        faults.append(f"{len(extra)} vectors in {row['collection']} belong to no chunk, the first {extra[0]}")
    stored = store.find(row["collection"])
    if stored is not None and stored.fingerprint != row["fingerprint"]:
        faults.append(f"the fingerprint in {row['collection']} is {stored.fingerprint[:12]}, not that of its asset")
    if row["chunks_fingerprint"] != chunks_fingerprint(chunks):
        faults.append("kb_chunks has changed since the collection was built; materialize kb_collection again")
    return faults
