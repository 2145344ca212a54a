"""The run of a vector retriever: from cases and a collection to the `RUN` frame.

Searching and ordering are in `search` and `expansion`; scoring a run is in `recall_assets.batch_scoring`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl
from numpy.typing import NDArray

from recall_assets.config import DenseRetriever, Retriever
from recall_assets.errors import StoreUnavailableError
from recall_assets.metrics import top_k
from recall_assets.progress import Progress
from recall_assets.provenance import run_fingerprint
from recall_assets.records import RETRIEVED, Case
from recall_assets.resources.embedding import Embedding
from recall_assets.resources.vector_store import VectorStore
from recall_assets.retrieval.expansion import QUERY_BATCH, nearest_cards
from recall_assets.retrieval.search import (
    ExactSearch,
    Search,
    card_similarities,
    differs_from_exact,
)
from recall_assets.schemas import RUN, build_frame
from recall_assets.vectors import Candidate, VectorTable


@dataclass(frozen=True)
class IndexSearch:
    """The store's approximate index, as a `Search`."""

    store: VectorStore
    collection: str
    table: VectorTable

    def nearest(self, vectors: NDArray[Any], depth: int, locale: str | None) -> list[list[Candidate]]:
        """For each row, up to `depth` near chunks."""
        return self.store.query(self.collection, vectors, depth, locale)


def run_vector_retriever(
    retriever: Retriever,
    cases: Sequence[Case],
    collection: pl.DataFrame,
    embedding: Embedding,
    store: VectorStore,
    k: int,
    progress: Progress,
) -> pl.DataFrame:
    """Runs a dense or exact retriever over every case.

    Args:
        retriever: Its configuration.
        cases: Every case, with and without gold.
        collection: The one-row `COLLECTION` frame of its embedder.
        embedding: Where its embedder comes from.
        store: The vector store.
        k: Distinct cards wanted per case.
        progress: Told how many queries are embedded and retrieved.

    Returns:
        A `RUN` frame, one row a case, in case order.

    Raises:
        ModelUnavailableError: The embedder cannot be loaded.
        StoreUnavailableError: The store cannot be used.
    """
    stored = collection.row(0, named=True)
    query_vectors = embedding.queries(retriever.embedder, [case.query for case in cases], progress)
    fingerprint = run_fingerprint(retriever, stored["fingerprint"], cases, k)
    table = _complete_table(store, stored)
    locales = [case.locale if retriever.locale_filter else None for case in cases]
    exact = ExactSearch(table)
    approximate = isinstance(retriever, DenseRetriever)
    search: Search = IndexSearch(store, stored["collection"], table) if approximate else exact
    with progress.track("retrieving", len(cases)) as advance:
        results = nearest_cards(search, query_vectors, locales, k, advance)
    found = [top_k((candidate.card_id for candidate in result), k) for result in results]
    best: list[list[str] | None] = [None] * len(cases)
    differs: list[bool | None] = [None] * len(cases)
    if approximate:
        exact_results = nearest_cards(exact, query_vectors, locales, k, lambda _: None)
        best = [top_k((candidate.card_id for candidate in result), k) for result in exact_results]
        differs = list(_differences(table, query_vectors, locales, found, best))
    return build_frame(
        RUN,
        (
            (
                case.case_id,
                RETRIEVED,
                None,
                [candidate.chunk_id for candidate in result],
                [candidate.card_id for candidate in result],
                [candidate.score for candidate in result],
                exact_cards,
                different,
                fingerprint,
            )
            for case, result, exact_cards, different in zip(cases, results, best, differs, strict=True)
        ),
    )


def _complete_table(store: VectorStore, stored: Mapping[str, Any]) -> VectorTable:
    # The check collection_complete says more, but a run that starts here does not repeat it.
    name, held = stored["collection"], store.find(stored["collection"])
    if held is None or (held.count, held.fingerprint) != (stored["count"], stored["fingerprint"]):
        raise StoreUnavailableError(f"the collection {name} is not what kb_collection built; materialize it again")
    return store.table(name)


def _differences(
    table: VectorTable,
    vectors: NDArray[Any],
    locales: Sequence[str | None],
    found: Sequence[list[str]],
    exact: Sequence[list[str] | None],
) -> list[bool]:
    differences = []
    for start in range(0, len(found), QUERY_BATCH):
        similarities = table.similarities(vectors[start : start + QUERY_BATCH])
        for row, index in zip(similarities, range(start, start + len(similarities)), strict=True):
            best = exact[index] or []
            by_card = card_similarities(table, row, locales[index], {*found[index], *best})
            differences.append(differs_from_exact(found[index], best, by_card))
    return differences
