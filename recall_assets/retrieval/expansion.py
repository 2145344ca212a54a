"""Parent expansion: asking for more chunks until k distinct cards are found or nothing is left."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recall_assets.progress import Advance
from recall_assets.retrieval.search import Search, in_rank_order
from recall_assets.vectors import Candidate

QUERY_BATCH = 100  # queries in batches of 100 run five times faster than one by one


def nearest_cards(
    search: Search, vectors: NDArray[Any], locales: Sequence[str | None], k: int, advance: Advance
) -> list[list[Candidate]]:
    """For each query, chunks in rank order up to the first chunk of the k-th distinct card.

    Args:
        search: What to ask.
        vectors: One row a query.
        locales: For each query the locale to search in, or None for all.
        k: How many distinct cards are wanted; a collection that holds fewer gives what it has.
        advance: Told how many queries are done.
    """
    results: list[list[Candidate]] = [[] for _ in locales]
    for locale in sorted(set(locales), key=lambda tag: tag or ""):
        group = [index for index, tag in enumerate(locales) if tag == locale]
        for start in range(0, len(group), QUERY_BATCH):
            batch = group[start : start + QUERY_BATCH]
            for index, found in zip(batch, _expanded(search, vectors[batch], k, locale), strict=True):
                results[index] = found
            advance(len(batch))
    return results


def _expanded(search: Search, vectors: NDArray[Any], k: int, locale: str | None) -> list[list[Candidate]]:
    cards = search.table.rows_of_cards(locale)
    size, k = sum(map(len, cards.values())), min(k, len(cards))
    results: list[list[Candidate]] = [[] for _ in vectors]
    open_queries = list(range(len(vectors)))
    depth = min(4 * k, size)
    while open_queries and depth:
        found = search.nearest(np.asarray(vectors)[open_queries], depth, locale)
        unsettled = []
        for query, candidates in zip(open_queries, found, strict=True):
            ranked = in_rank_order(candidates)
            end = _end_of_card(ranked, k)
            results[query] = ranked[:end]
            # A tie that reaches the end of what was fetched may go on beyond it, with a smaller id.
            settled = end is not None and ranked[-1].score < ranked[end - 1].score
            if not settled and depth < size:
                unsettled.append(query)
        open_queries = unsettled
        depth = min(4 * depth, size)
    return results


def _end_of_card(ranked: Sequence[Candidate], k: int) -> int | None:
    """How many chunks it takes to reach the k-th distinct card; None if they do not reach it."""
    cards: set[str] = set()
    for count, candidate in enumerate(ranked, start=1):
        cards.add(candidate.card_id)
        if len(cards) == k:
            return count
    return None
