"""The triad (hit@k, recall@k, nDCG@k) of one case: pure functions over id sequences, standard-library maths.

ADR-0023 (A) and (B). Means over cases and their slices are in `recall_assets.slices`; the form for whole frames is in
`recall_assets.batch_scoring` and shares `triad_from_ranks`, so that both give the same bits.
"""

import math
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

HIT = "retrieval_hit_at_k"
RECALL = "retrieval_recall_at_k"
NDCG = "retrieval_ndcg_at_k"
METRICS = (HIT, RECALL, NDCG)
_SHORT = {HIT: "hit", RECALL: "recall", NDCG: "nDCG"}


SAME_SCORE = 1e-9
"""Two scores of one case nearer than this are equal: other ranks differ by far more, another machine by far less."""


class Triad(NamedTuple):
    """The three scores of one gold-bearing case, each in [0, 1], at full precision."""

    retrieval_hit_at_k: float
    retrieval_recall_at_k: float
    retrieval_ndcg_at_k: float


def metric_name(metric: str, k: int) -> str:
    """A metric as the field writes it: `hit@5`, `recall@5`, `nDCG@5`."""
    return f"{_SHORT[metric]}@{k}"


def top_k(ranked: Iterable[str], k: int) -> list[str]:
    """The first k distinct ids in rank order: repeats are dropped, first occurrence wins, then the cut.

    Raises:
        ValueError: k < 1.
    """
    return top_k_and_repeats(ranked, k)[0]


def top_k_and_repeats(ranked: Iterable[str], k: int) -> tuple[list[str], int]:
    """As `top_k`, with the number of repeats that were dropped before the k-th distinct id was reached.

    Repeats further down cannot change any score and are not counted.

    Raises:
        ValueError: k < 1.
    """
    _require_cutoff(k)
    distinct: dict[str, None] = {}
    repeats = 0
    for card_id in ranked:
        if card_id in distinct:
            repeats += 1
            continue
        distinct[card_id] = None
        if len(distinct) == k:
            break
    return list(distinct), repeats


def gold_ranks(top: Sequence[str], gold: Collection[str]) -> tuple[int, ...]:
    """The ranks, from 1, at which cards of `gold` stand in a list of distinct ids."""
    return tuple(rank for rank, card_id in enumerate(top, start=1) if card_id in gold)


def hit_at_k(ranked: Iterable[str], gold: Collection[str], k: int) -> float:
    """1.0 if any gold card is among the first k distinct ids, else 0.0.

    The headline: `must_cite_one_of` is disjunctive, so one gold card meets the contract. The field's names for it are
    success@k (trec_eval `success.k`) and hit rate.

    Raises:
        ValueError: gold is empty (such a case has no score) or k < 1.
    """
    return hit_from_ranks(gold_ranks(top_k(ranked, k), _required(gold)))


def recall_at_k(ranked: Iterable[str], gold: Collection[str], k: int) -> float:
    """Share of the gold cards that are among the first k distinct ids, in [0, 1].

    A lower bound on success where gold is disjunctive: one of two acceptable cards scores 0.5 although the contract
    is met. trec_eval `recall.k`. The denominator is all of the gold, also where it cannot fit into k.

    Raises:
        ValueError: gold is empty (such a case has no score) or k < 1.
    """
    distinct_gold = _required(gold)
    return len(gold_ranks(top_k(ranked, k), distinct_gold)) / len(distinct_gold)


def ndcg_at_k(ranked: Iterable[str], gold: Collection[str], k: int) -> float:
    """Binary-gain nDCG with the log2 discount, in [0, 1]: the rank-sensitive one of the three.

    DCG is the sum of 1 / log2(rank + 1) over the gold cards among the first k distinct ids; the ideal has
    min(|gold|, k) gold cards at the top, so a perfect list scores 1.0 also where gold cannot all fit. trec_eval
    `ndcg_cut.k` on relevance 0/1 (Järvelin and Kekäläinen 2002, in the variant with log2(rank + 1)).

    Raises:
        ValueError: gold is empty (such a case has no score) or k < 1.
    """
    distinct_gold = _required(gold)
    return ndcg_from_ranks(gold_ranks(top_k(ranked, k), distinct_gold), len(distinct_gold), k)


def hit_from_ranks(ranks: Sequence[int]) -> float:
    """hit@k, given the ranks of the gold cards within the top k."""
    return 1.0 if ranks else 0.0


def ndcg_from_ranks(ranks: Iterable[int], n_gold: int, k: int) -> float:
    """nDCG@k, given the ranks (each at most k) of the gold cards and how many gold cards there are."""
    ideal = range(1, min(n_gold, k) + 1)
    return math.fsum(map(_discount, ranks)) / math.fsum(map(_discount, ideal))


def triad_from_ranks(hit_ranks: Sequence[int], relevant_ranks: Sequence[int], n_relevant: int, k: int) -> Triad:
    """The triad from ranks alone.

    Args:
        hit_ranks: Ranks within the top k of the cards of `must_cite_one_of`.
        relevant_ranks: Ranks within the top k of the cards recall and nDCG count: `relevant_ids`, or the gold.
        n_relevant: How many distinct cards recall and nDCG count, at least 1.
        k: The cutoff.
    """
    return Triad(
        hit_from_ranks(hit_ranks),
        len(relevant_ranks) / n_relevant,
        ndcg_from_ranks(relevant_ranks, n_relevant, k),
    )


def triad(ranked: Iterable[str], gold: Collection[str], k: int, relevant: Collection[str] | None = None) -> Triad:
    """The triad of one gold-bearing case.

    Args:
        ranked: Card ids in rank order; repeats are allowed and count once, at their first place.
        gold: The ids of `must_cite_one_of`; repeats count once.
        k: The cutoff, at least 1.
        relevant: The ids of `relevant_ids`, which recall and nDCG then use; None or empty means the gold.

    Raises:
        ValueError: gold is empty (such a case has no score) or k < 1.
    """
    distinct_gold = _required(gold)
    distinct_relevant = frozenset(relevant) if relevant else distinct_gold
    top = top_k(ranked, k)
    return triad_from_ranks(
        gold_ranks(top, distinct_gold), gold_ranks(top, distinct_relevant), len(distinct_relevant), k
    )


def _discount(rank: int) -> float:
    return 1.0 / math.log2(rank + 1)


def _required(gold: Collection[str]) -> frozenset[str]:
    if not gold:
        raise ValueError("a case without gold has no score: leave it out instead of scoring it")
    return frozenset(gold)


def _require_cutoff(k: int) -> None:
    if k < 1:
        raise ValueError(f"the cutoff k must be at least 1, not {k}")
