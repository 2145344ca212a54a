"""Intervals around observed rates. Tests between two runs do not belong here."""

import math
from statistics import NormalDist
from typing import NamedTuple

CONFIDENCE = 0.95


class Interval(NamedTuple):
    """A two-sided interval, `low <= high`, both in [0, 1] for a rate."""

    low: float
    high: float


def wilson(successes: float, n: int, confidence: float = CONFIDENCE) -> Interval:
    """The Wilson score interval of a rate, without continuity correction (Wilson 1927, JASA 22:209-212).

    Written out because scipy's `binomtest(...).proportion_ci(method="wilson")`, which a test holds it equal to, costs a
    second of import on the path that must answer in half of one.

    Raises:
        ValueError: n < 1, or successes outside 0..n.
    """
    if n < 1 or not 0 <= successes <= n:
        raise ValueError(f"no interval for {successes} of {n}")
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    rate = successes / n
    centre = rate + z * z / (2 * n)
    spread = z * math.sqrt(rate * (1 - rate) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    # At 0 and n of n the bound is exact in theory; rounding must not move it past the end, there or close by.
    low = 0.0 if successes == 0 else max(0.0, (centre - spread) / scale)
    high = 1.0 if successes == n else min(1.0, (centre + spread) / scale)
    return Interval(low, high)
