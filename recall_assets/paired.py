"""The exact one-sided paired sign-flip test, Holm's correction, and what a test could have seen.

Numbers in, numbers out: which cases are paired is in `recall_assets.pairing`, what is made of a p-value in
`recall_assets.regression`.

The test asks: had each changed case been as likely to change the other way, how often would the drop be at least this
large? (Fisher 1935, The Design of Experiments, section 21; for 0/1 scores it is the sign test, McNemar's in its exact
form.) Unchanged cases say nothing about direction and are dropped first.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from recall_assets.metrics import SAME_SCORE

_STATES = 1 << 19  # per half of an enumeration: 4 MiB of sums
_FIRST_DRAWS, _MOST_DRAWS, _BATCH = 20_000, 5_120_000, 20_000
_SEED = 23
_MOST_LOSSES = 1000
_IN_WHOLE_NUMBERS = 200  # changes up to which binomial sums are rounded once, so that p equals alpha where it does
# One error in a million for the interval of a drawn p-value: an edge that is not seen would be a verdict by chance.
_DRAW_ERROR = 1e-6


class PValue(NamedTuple):
    """A p-value and how it came about.

    Attributes:
        p: One-sided, in [0, 1]; 0.0 only where no float is small enough.
        low: What it is at least; equal to `p` where it is exact.
        high: What it is at most.
    """

    p: float
    low: float
    high: float

    @property
    def exact(self) -> bool:
        """Whether it was enumerated, not drawn."""
        return self.low == self.high


def sign_test(lost: int, gained: int) -> float:
    """Probability of at least `lost` losses among `lost + gained` changes that are losses with probability 1/2.

    One-sided; 1.0 without a change. The two-sided value, as a comparison without a direction reports it, is
    `two_sided`: 13 lost and 4 gained are 0.0245 one-sided and 0.0490 two-sided.

    Raises:
        ValueError: A negative count.
    """
    if lost < 0 or gained < 0:
        raise ValueError(f"no sign test of {lost} lost and {gained} gained")
    changed = lost + gained
    if changed <= _IN_WHOLE_NUMBERS:
        ways: int = sum(math.comb(changed, number) for number in range(lost, changed + 1))
        return ways / (1 << changed)
    from scipy.special import bdtrc

    return float(bdtrc(lost - 1, changed, 0.5)) if lost else 1.0


def two_sided(lost: int, gained: int) -> float:
    """The exact two-sided sign test: twice the smaller one-sided value, at most 1."""
    return min(1.0, 2 * min(sign_test(lost, gained), sign_test(gained, lost)))


def sign_flip_test(drops: Iterable[float], thresholds: Sequence[float] = (0.05,)) -> PValue:
    """The sign-flip test of the sum of paired drops.

    Exact at any count where all changes are of one size, and as long as the distinct sums of both halves of the sizes
    can be enumerated; else drawn, (b + 1) / (m + 1), from a fixed seed, with more draws until its interval is clear of
    every threshold or the draws run out.

    Args:
        drops: Before minus after, one a pair; zeros are dropped.
        thresholds: What the p-value will be compared with.
    """
    changed = [drop for drop in drops if abs(drop) > SAME_SCORE]
    total = math.fsum(changed)
    sizes = sorted(Counter(round(abs(drop), 12) for drop in changed).items())
    if not changed or total <= -math.fsum(map(abs, changed)) + SAME_SCORE:
        return PValue(1.0, 1.0, 1.0)
    if len(sizes) == 1:
        lost = sum(drop > 0 for drop in changed)
        return _exact(sign_test(lost, len(changed) - lost))
    halves = _halves(sizes)
    if all(math.prod(count + 1 for _, count in half) <= _STATES for half in halves):
        return _exact(_enumerated(halves, total))
    return _drawn(sizes, total, thresholds)


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's adjusted p-values, in the order given: each is at most alpha just where Holm's procedure rejects.

    Holm 1979, Scandinavian Journal of Statistics 6:65-70. Holds whatever the dependence between the tests.
    """
    adjusted = [1.0] * len(p_values)
    running = 0.0
    for place, index in enumerate(sorted(range(len(p_values)), key=lambda i: (p_values[i], i))):
        running = max(running, min(1.0, (len(p_values) - place) * p_values[index]))
        adjusted[index] = running
    return adjusted


def testable(changes: Sequence[int], alpha: float) -> int:
    """By how many tests to divide alpha: the number of tests that could come out at all.

    A test on c changes has no p-value below 0.5 ** c, whatever the data, so one that could not come out even then need
    not be paid for. The least K such that at most K tests can get below alpha / K; at least 1. Tarone 1990,
    Biometrics 46:515-522.

    Args:
        changes: Changed pairs of each test.
        alpha: Of the whole family.
    """
    least = sorted(0.5**count for count in changes)
    return next(k for k in range(1, len(least) + 2) if sum(p < alpha / k for p in least) <= k)


def changes_needed(threshold: float) -> int:
    """The fewest changes, all for the worse, whose p-value is below a threshold in (0, 1]."""
    needed = max(0, math.floor(-math.log2(threshold)) - 1)
    while 0.5**needed >= threshold:
        needed += 1
    return needed


def cases_needed(drops: Sequence[float], n: int, threshold: float) -> int | None:
    """About how many paired cases would show a drop like this one, changing in the same proportions.

    For scores of 0 and 1 by the exact sign test, gains rounded up; beyond 1,000 losses, and for other scores, by the
    normal approximation of the sign-flip test, and never fewer than the changes that any test needs.

    Args:
        drops: Before minus after, one a pair.
        n: Pairs, unchanged ones included.
        threshold: The p-value to get below.

    Returns:
        A number of cases, or None where there is no drop to show.
    """
    changed = [drop for drop in drops if abs(drop) > SAME_SCORE]
    total = math.fsum(changed)
    if total <= SAME_SCORE:
        return None
    if len({round(abs(drop), 12) for drop in changed}) == 1:
        exact = _cases_by_sign_test(sum(drop > 0 for drop in changed), len(changed), n, threshold)
        if exact is not None:
            return exact
    from scipy.special import ndtri

    spread = math.fsum(drop * drop for drop in changed)
    factor = max(float(ndtri(threshold)) ** 2 * spread / total**2, changes_needed(threshold) / len(changed))
    return math.ceil(n * factor)


def drop_seen(n: int, threshold: float, chance: float = 0.8) -> float | None:
    """The smallest true rate of losses, without gains, that a test of n pairs shows with the given chance.

    None where n is smaller than the losses that are needed.
    """
    needed = changes_needed(threshold)
    if needed > n:
        return None
    from scipy.special import betaincinv

    # P(Binomial(n, d) >= needed) is the regularized incomplete beta function I_d(needed, n - needed + 1).
    return float(betaincinv(needed, n - needed + 1, chance))


def _exact(p: float) -> PValue:
    return PValue(p, p, p)


def _halves(sizes: list[tuple[float, int]]) -> tuple[list[tuple[float, int]], list[tuple[float, int]]]:
    """The sizes in two halves with about as many distinct sums each, in the same way whatever their order was."""
    halves: tuple[list[tuple[float, int]], list[tuple[float, int]]] = ([], [])
    states = [1, 1]
    for size, count in sorted(sizes, key=lambda item: (-item[1], item[0])):
        smaller = int(states[1] < states[0])
        halves[smaller].append((size, count))
        states[smaller] *= count + 1
    return halves


def _sums(half: Iterable[tuple[float, int]]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Every sum of the half's signed sizes, ascending, with its probability."""
    sums, weights = np.zeros(1), np.ones(1)
    for size, count in half:
        flipped = np.arange(count + 1)
        chance = np.array([math.comb(count, int(number)) / 2**count for number in flipped])
        sums = (sums[:, None] + size * (count - 2 * flipped)[None, :]).ravel()
        weights = (weights[:, None] * chance[None, :]).ravel()
    order = np.argsort(sums, kind="stable")
    return sums[order], weights[order]


def _enumerated(halves: tuple[list[tuple[float, int]], list[tuple[float, int]]], total: float) -> float:
    first, chances = _sums(halves[0])
    second, weights = _sums(halves[1])
    at_least = np.append(np.cumsum(weights[::-1])[::-1], 0.0)
    places = np.searchsorted(second, total - SAME_SCORE - first, side="left")
    return min(1.0, float(np.dot(chances, at_least[places])))


def _drawn(sizes: list[tuple[float, int]], total: float, thresholds: Sequence[float]) -> PValue:
    from scipy.special import betaincinv

    generator = np.random.default_rng(_SEED)
    reached = draws = 0
    until = _FIRST_DRAWS
    while True:
        while draws < until:
            sums = np.zeros(_BATCH)
            for size, count in sizes:
                sums += size * (count - 2 * generator.binomial(count, 0.5, _BATCH))
            reached += int(np.count_nonzero(sums >= total - SAME_SCORE))
            draws += _BATCH
        # Clopper and Pearson's interval of the share of draws, which holds at any count.
        low = float(betaincinv(reached, draws - reached + 1, _DRAW_ERROR)) if reached else 0.0
        high = float(betaincinv(reached + 1, draws - reached, 1 - _DRAW_ERROR)) if reached < draws else 1.0
        estimate = PValue((reached + 1) / (draws + 1), low, high)
        if draws >= _MOST_DRAWS or not any(low <= threshold <= high for threshold in thresholds):
            return estimate
        until *= 4


def _cases_by_sign_test(lost: int, changed: int, n: int, threshold: float) -> int | None:
    """None where more than `_MOST_LOSSES` would have to be tried."""
    from scipy.special import bdtrc

    losses = np.arange(lost, _MOST_LOSSES + 1)
    gains = -(-(changed - lost) * losses // lost)  # rounded up
    shown = np.flatnonzero(bdtrc(losses - 1, losses + gains, 0.5) < threshold)
    return math.ceil(n * int(losses[shown[0]]) / lost) if shown.size else None
