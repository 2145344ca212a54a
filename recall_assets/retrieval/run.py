"""The run of a vector retriever: from cases and a collection to the `RUN` frame.

Searching and ordering are in `search` and `expansion`; scoring a run is in `recall_assets.batch_scoring`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl
from numpy.typing import NDArray

from recall_assets.config import DenseRetriever, Retriever
from recall_assets.fingerprint import digest
from recall_assets.metrics import top_k
from recall_assets.progress import Progress
from recall_assets.records import RETRIEVED, Case
from recall_assets.resources.vector_store import VectorStore
from recall_assets.retrieval.expansion import QUERY_BATCH, nearest_cards
from recall_assets.retrieval.search import (
    Candidate,
    ExactSearch,
    Search,
    VectorTable,
    card_similarities,
    differs_from_exact,
)
from recall_assets.schemas import RUN, build_frame


@dataclass(frozen=True)
class IndexSearch:
    """The store's approximate index, as a `Search`."""

    store: VectorStore
    collection: str
    table: VectorTable

    def size(self, locale: str | None) -> int:
        """How many chunks there are to find, in a locale or (None) in all."""
        return len(self.table.members(locale))

    def nearest(self, vectors: NDArray[Any], depth: int, locale: str | None) -> list[list[Candidate]]:
        """For each row, up to `depth` near chunks."""
        return self.store.query(self.collection, vectors, depth, locale)


def run_fingerprint(retriever: Retriever, collection_fingerprint: str, cases: Sequence[Case], k: int) -> str:
    """Digest of everything a run depends on: retriever, collection (texts and weights), cases and cutoff.

    Labels are left out: correcting one changes scores, not what was retrieved.
    """
    queries = [(case.case_id, case.locale, case.query) for case in cases]
    return digest(
        {"retriever": retriever.model_dump(mode="json"), "collection": collection_fingerprint, "k": k, "cases": queries}
    )


def run_vector_retriever(  # noqa: PLR0913 - each is an input of its own; a bundle would only be unpacked here
    retriever: Retriever,
    cases: Sequence[Case],
    query_vectors: NDArray[Any],
    store: VectorStore,
    collection: str,
    k: int,
    fingerprint: str,
    progress: Progress,
) -> pl.DataFrame:
    """Runs a dense or exact retriever over every case.

    Args:
        retriever: Its configuration.
        cases: Every case, with and without gold.
        query_vectors: One row a case.
        store: The vector store.
        collection: Name of a complete collection in it.
        k: Distinct cards wanted per case.
        fingerprint: From `run_fingerprint`.
        progress: Told how many cases are done.

    Returns:
        A `RUN` frame, one row a case, in case order.
    """
    table = store.table(collection)
    locales = [case.locale if retriever.locale_filter else None for case in cases]
    exact = ExactSearch(table)
    approximate = isinstance(retriever, DenseRetriever)
    search: Search = IndexSearch(store, collection, table) if approximate else exact
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
            by_card = card_similarities(table, row, locales[index])
            differences.append(differs_from_exact(found[index], exact[index] or [], by_card))
    return differences
