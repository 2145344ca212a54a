"""Slices and their ledgers: the one fold from per-case outcomes to what is reported and gated.

Full precision throughout; rounding is for whoever renders.
"""

import math
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain, repeat

from recall_assets.intervals import Interval, wilson
from recall_assets.metrics import Triad
from recall_assets.outcomes import Outcome
from recall_assets.slice_names import OVERALL, slices_of


@dataclass(frozen=True)
class Ledger:
    """Where the cases of a slice went, so that n can be trusted (rule 10).

    Attributes:
        cases: Cases in the slice, with and without gold.
        gold_bearing: Of these, cases with gold.
        scored: Of the gold-bearing, those with a result: the n of the slice.
        empty_result: Cases whose result list is empty; those with gold score 0.0.
        missing: Cases without a result; they are not scored, and the sweep cannot pass.
        short_result: Cases with fewer than k distinct cards found, empty ones included.
        duplicates_dropped: Repeats of a card dropped on the way to k distinct cards.
    """

    cases: int
    gold_bearing: int
    scored: int
    empty_result: int
    missing: int
    short_result: int
    duplicates_dropped: int


@dataclass(frozen=True)
class SliceScore:
    """One slice of one run.

    Attributes:
        slice: `overall`, `case_type=golden`, `locale=en` or `case_type=golden,locale=en`.
        n: Scored gold-bearing cases.
        means: Mean of each metric over n, None where n is 0.
        hit_interval: Wilson interval of hit@k, None where n is 0.
        ledger: Where the slice's cases went.
    """

    slice: str
    n: int
    means: Triad | None
    hit_interval: Interval | None
    ledger: Ledger


def slice_scores(outcomes: Mapping[Outcome, int], k: int) -> list[SliceScore]:
    """Overall, each case type, each locale, and each case type in each locale, in that order, names sorted.

    A slice without any gold-bearing case has nothing to score and no row, except `overall`, whose ledger accounts for
    every case. A gold-bearing slice whose results are all missing keeps its row, with n 0.

    Args:
        outcomes: How many cases had each outcome (a `Counter` of `Outcome`).
        k: The cutoff that was scored at; fewer cards found than this is a short result.
    """
    members: dict[tuple[int, str], list[tuple[Outcome, int]]] = defaultdict(list)
    members[0, OVERALL] = []
    for outcome, count in outcomes.items():
        for key in enumerate(slices_of(outcome.case_type, outcome.locale)):
            members[key].append((outcome, count))
    scores = [_slice_score(name, members[family, name], k) for family, name in sorted(members)]
    return [score for score in scores if score.slice == OVERALL or score.ledger.gold_bearing]


def _slice_score(name: str, counted: list[tuple[Outcome, int]], k: int) -> SliceScore:
    scored = [(outcome.scores, count) for outcome, count in counted if outcome.scores is not None]
    n = sum(count for _, count in scored)
    ledger = Ledger(
        cases=sum(count for _, count in counted),
        gold_bearing=sum(count for outcome, count in counted if outcome.gold_bearing),
        scored=n,
        empty_result=sum(count for outcome, count in counted if outcome.found == 0),
        missing=sum(count for outcome, count in counted if outcome.found is None),
        short_result=sum(count for outcome, count in counted if outcome.found is not None and outcome.found < k),
        duplicates_dropped=sum(outcome.repeats * count for outcome, count in counted),
    )
    if not n:
        return SliceScore(name, 0, None, None, ledger)
    # fsum rounds once, so neither the order of the cases nor their grouping can move a bit of the mean.
    hit, recall, ndcg = (
        math.fsum(chain.from_iterable(repeat(scores[metric], count) for scores, count in scored)) / n
        for metric in range(3)
    )
    hits = sum(count for scores, count in scored if scores.retrieval_hit_at_k)
    return SliceScore(name, n, Triad(hit, recall, ndcg), wilson(hits, n), ledger)
