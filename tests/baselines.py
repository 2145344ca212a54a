"""Scored cases and baselines in tests, made from the rank of the one gold card: null is a miss."""

import math
from collections.abc import Iterable
from typing import Any

from recall_assets.baseline import Baseline, Fingerprints
from recall_assets.metrics import Triad
from recall_assets.snapshot import ScoredCase

FINGERPRINTS = Fingerprints("kb-1", "labels-1", "retriever-1", "embedder-1")
DATE = "2026-01-02T03:04:05Z"


def scored(
    case_id: str,
    rank: int | None,
    *,
    locale: str = "en",
    case_type: str = "golden",
    critical: bool = False,
    label: str = "asked",
    scores: tuple[float, float, float] | None = None,
) -> ScoredCase:
    """A case whose gold card is at this rank; its scores follow from that, unless they are given."""
    found = (1.0, 1.0, 1 / math.log2(rank + 1)) if rank else (0.0, 0.0, 0.0)
    return ScoredCase(case_id, locale, case_type, critical, label, rank, Triad(*(scores or found)))


def ranked(ranks: Iterable[int | None], prefix: str = "c", **about: Any) -> list[ScoredCase]:
    """Cases `c0000`, `c0001` and so on, whose gold cards are at these ranks."""
    return [scored(f"{prefix}{number:04d}", rank, **about) for number, rank in enumerate(ranks)]


def baseline(
    cases: Iterable[ScoredCase],
    retriever: str = "words",
    *,
    date: str = DATE,
    top_k: int = 5,
    fingerprints: Fingerprints = FINGERPRINTS,
) -> Baseline:
    """A baseline of these cases."""
    return Baseline(retriever, date, top_k, fingerprints, tuple(cases))
