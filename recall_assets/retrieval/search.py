"""Ranked chunks for a query vector: the order of ties, exact search, and what a search must offer.

The approximate index itself is Chroma's, in `recall_assets.resources.vector_store`.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from recall_assets.vectors import Candidate, VectorTable


class Search(Protocol):
    """Something that ranks the chunks of a collection for query vectors."""

    @property
    def table(self) -> VectorTable:
        """What there is to find."""

    def nearest(self, vectors: NDArray[Any], depth: int, locale: str | None) -> list[list[Candidate]]:
        """For each row, up to `depth` of the nearest chunks; the order is for the caller to make (`in_rank_order`)."""


def in_rank_order(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Score descending, then chunk id ascending: the order of everything this project ranks."""
    return sorted(candidates, key=lambda candidate: (-candidate.score, candidate.chunk_id))


class ExactSearch:
    """Brute force over every vector; loses nothing."""

    def __init__(self, table: VectorTable) -> None:
        """Searches the given vectors."""
        self.table = table

    def nearest(self, vectors: NDArray[Any], depth: int, locale: str | None) -> list[list[Candidate]]:
        """For each row, the `depth` best chunks, best first, ties by chunk id."""
        members = self.table.members(locale)
        scores = self.table.similarities(vectors)[:, members]
        # Rows stand in chunk id order, so a stable sort breaks ties by id.
        order = np.argsort(-scores, axis=1, kind="stable")[:, :depth]
        return [
            [
                Candidate(self.table.chunk_ids[members[i]], self.table.card_ids[members[i]], float(row[i]))
                for i in ranked
            ]
            for row, ranked in zip(scores, order, strict=True)
        ]


def card_similarities(
    table: VectorTable, similarities: NDArray[np.float64], locale: str | None, cards: Iterable[str]
) -> dict[str, float]:
    """The best similarity of each of the given cards over its chunks, for one query's row of similarities."""
    rows = table.rows_of_cards(locale)
    return {card_id: float(similarities[rows[card_id]].max()) for card_id in cards}


def differs_from_exact(
    found: Sequence[str], exact: Sequence[str], similarity: dict[str, float], tolerance: float = 1e-6
) -> bool:
    """Whether an index's cards are worse, at any rank, than exact search's.

    Cards whose similarities are equal up to `tolerance` may stand in each other's place: an index that works in single
    precision orders them by rounding, and that is no loss.

    Args:
        found: The index's distinct cards in rank order.
        exact: Exact search's distinct cards in rank order.
        similarity: Exact similarity of each card.
        tolerance: Differences up to this are rounding.
    """
    if len(found) != len(exact):
        return True
    return any(similarity[best] - similarity[card] > tolerance for card, best in zip(found, exact, strict=True))
