"""Floors that a baseline justifies: the observed mean less the slack that its n calls for."""

import math
from collections import Counter
from dataclasses import dataclass

from recall_assets.baseline import Baseline
from recall_assets.intervals import wilson
from recall_assets.outcomes import Outcome
from recall_assets.slice_names import CASE_TYPE, LOCALE, OVERALL, family
from recall_assets.slices import SliceScore, slice_scores


@dataclass(frozen=True)
class SuggestedFloors:
    """Floors of one slice.

    Attributes:
        slice: Its name.
        n: Scored cases.
        observed: Mean hit, recall and nDCG.
        floors: Lower ends of their 95% Wilson intervals, rounded down to three decimals.
    """

    slice: str
    n: int
    observed: tuple[float, float, float]
    floors: tuple[float, float, float]


def slices_of_baseline(baseline: Baseline) -> list[SliceScore]:
    """The slices of a baseline; their ledgers count scored cases only."""
    outcomes = Counter(
        Outcome(case.locale, case.case_type, True, baseline.top_k, 0, case.scores) for case in baseline.cases
    )
    return slice_scores(outcomes, baseline.top_k)


def suggested_floors(baseline: Baseline) -> list[SuggestedFloors]:
    """Floors of `overall`, each case type and each locale."""
    return [
        _suggested(score)
        for score in slices_of_baseline(baseline)
        if family(score.slice) in (OVERALL, CASE_TYPE, LOCALE)
    ]


def _suggested(score: SliceScore) -> SuggestedFloors:
    means = score.means or (0.0, 0.0, 0.0)
    hit, recall, ndcg = (_rounded_down(wilson(mean * score.n, score.n).low) if score.n else 0.0 for mean in means)
    return SuggestedFloors(score.slice, score.n, (means[0], means[1], means[2]), (hit, recall, ndcg))


def _rounded_down(value: float) -> float:
    return math.floor(value * 1000) / 1000
