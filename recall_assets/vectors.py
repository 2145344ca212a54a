"""The vectors of a collection and what a search proposes of them: values that stores and searches share.

How candidates are ordered and searched for is in `recall_assets.retrieval.search`.
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Candidate(NamedTuple):
    """A chunk that a search proposes, with its parent and its score (higher is better)."""

    chunk_id: str
    card_id: str
    score: float


@dataclass
class VectorTable:
    """The vectors of a collection, one row a chunk, rows sorted by chunk id."""

    chunk_ids: list[str]
    card_ids: list[str]
    locales: list[str]
    vectors: NDArray[np.float64]
    _members: dict[str | None, NDArray[np.intp]] = field(default_factory=dict, init=False, repr=False, compare=False)

    @cached_property
    def _unit_rows(self) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
        # Equal vectors are scored once: a matrix product may give equal rows sums that differ in the last bit, and
        # their tie would then be broken by chance instead of by id.
        rows, which = np.unique(self.vectors, axis=0, return_inverse=True)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True), which.reshape(-1)

    def similarities(self, vectors: NDArray[Any]) -> NDArray[np.float64]:
        """Cosine of every query (row) with every chunk (column), in double precision."""
        queries = np.asarray(vectors, dtype=np.float64)
        queries = queries / np.linalg.norm(queries, axis=1, keepdims=True)
        rows, which = self._unit_rows
        similarities: NDArray[np.float64] = queries @ rows.T
        return similarities[:, which]

    @cached_property
    def _rows_by_locale(self) -> dict[str | None, dict[str, list[int]]]:
        rows: dict[str | None, dict[str, list[int]]] = {None: {}}
        for row, (card_id, locale) in enumerate(zip(self.card_ids, self.locales, strict=True)):
            for key in (None, locale):
                rows.setdefault(key, {}).setdefault(card_id, []).append(row)
        return rows

    def rows_of_cards(self, locale: str | None) -> dict[str, list[int]]:
        """The row numbers of each card's chunks in a locale, or (None) in all."""
        return self._rows_by_locale.get(locale, {})

    def members(self, locale: str | None) -> NDArray[np.intp]:
        """The row numbers of a locale's chunks, or (None) of all, ascending."""
        if locale not in self._members:
            rows = sorted(row for rows in self.rows_of_cards(locale).values() for row in rows)
            self._members[locale] = np.array(rows, dtype=np.intp)
        return self._members[locale]
