"""The regression rule: for every slice and metric, whether a drop since the baseline is shown.

The mathematics is in `recall_assets.paired`, who is paired with whom in `recall_assets.pairing`, and what a finding
means for the gate in `recall_assets.comparison`.
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import NamedTuple

from recall_assets.config import Regression
from recall_assets.metrics import HIT, METRICS, SAME_SCORE
from recall_assets.paired import (
    PValue,
    cases_needed,
    changes_needed,
    holm,
    sign_flip_test,
    testable,
)
from recall_assets.pairing import Pair


class Finding(StrEnum):
    """What the test of one slice and metric came to."""

    REGRESSED = "regressed"
    TOLERATED = "tolerated"
    NOT_SHOWN = "not shown"
    TOO_FEW = "too few changes"
    NO_DROP = "no drop"
    UNCHANGED = "unchanged"


@dataclass(frozen=True)
class SliceTest:
    """One metric of one slice, before and after.

    Attributes:
        slice: Name of the slice.
        metric: Name of the metric.
        n: Paired cases.
        before: Mean over them in the baseline.
        after: Mean over them now.
        fell: Cases whose score fell; for hit@k the lost ones.
        rose: Cases whose score rose.
        finding: What it came to.
        threshold: The p-value to get below if only this test came out: alpha over the tests that could.
        needs: Changes, all for the worse, below which no p-value reaches the threshold.
        p: One-sided p-value, None where it was not tested.
        adjusted: The p-value after Holm's correction, which is compared with alpha.
        at_edge: Whether other draws, of this p-value or of another in the family, could turn the finding.
        cases_needed: About how many paired cases would show such a drop, for one that is not shown.
    """

    slice: str
    metric: str
    n: int
    before: float
    after: float
    fell: int
    rose: int
    finding: Finding
    threshold: float
    needs: int
    p: PValue | None = None
    adjusted: float | None = None
    at_edge: bool = False
    cases_needed: int | None = None

    @property
    def is_hit(self) -> bool:
        """Whether the metric is hit@k, whose changes are cases lost and gained."""
        return self.metric == HIT

    @property
    def drop(self) -> float:
        """How far the mean fell; negative where it rose."""
        return self.before - self.after

    @property
    def smallest_drop(self) -> float | None:
        """For hit@k, the smallest drop that n cases could have shown, all changes for the worse; None if none could."""
        return self.needs / self.n if self.is_hit and self.needs <= self.n else None


class _Result(NamedTuple):
    p: PValue
    adjusted: float
    at_edge: bool


_Drops = tuple[tuple[str, float], ...]


def regression_tests(pairs: Mapping[str, Sequence[Pair]], rule: Regression) -> dict[str, list[SliceTest]]:
    """Tests every slice and metric of every retriever, as one family: one chance of a false alarm for the sweep.

    Tests of one retriever on the very same changes (hit@k and recall@k with single gold, a slice within a slice) are
    one test and are counted once. Tests that could not come out whatever the directions of their changes are left out
    before Holm's correction, and say so.

    Args:
        pairs: By retriever, its pairs.
        rule: alpha and the tolerance.

    Returns:
        By retriever, the tests by slice in the slices' order, and in it by metric.
    """
    measured = [(name, test, drops) for name, those in pairs.items() for test, drops in _measured(those)]
    family = list(dict.fromkeys((name, drops) for name, _, drops in measured if drops))
    threshold = rule.alpha / testable([len(drops) for _, drops in family], rule.alpha)
    tested = [key for key in family if 0.5 ** len(key[1]) < threshold]
    results = dict(zip(tested, _tested([drops for _, drops in tested], rule.alpha), strict=True))
    tests: dict[str, list[SliceTest]] = {name: [] for name in pairs}
    for name, test, drops in measured:
        in_family = replace(test, threshold=threshold, needs=changes_needed(threshold))
        tests[name].append(_concluded(in_family, drops, results.get((name, drops)), rule))
    return tests


def _tested(family: Sequence[_Drops], alpha: float) -> list[_Result]:
    sizes = [[drop for _, drop in drops] for drops in family]
    values = [sign_flip_test(drops, ()) for drops in sizes]
    # More draws only where they could turn the finding: few p-values lie near the one threshold that counts for them.
    for index in _undecided(values, alpha):
        values[index] = sign_flip_test(sizes[index], _thresholds_in_reach(values, index, alpha))
    at_edge = set(_undecided(values, alpha))
    adjusted = holm([value.p for value in values])
    return [_Result(p, own, index in at_edge) for index, (p, own) in enumerate(zip(values, adjusted, strict=True))]


def _undecided(values: Sequence[PValue], alpha: float) -> list[int]:
    """Places of the p-values for which it depends on where in their intervals they all lie whether Holm rejects."""
    # An adjusted p-value never falls when any p-value rises, so the two ends of the intervals bound it.
    lowest, highest = holm([value.low for value in values]), holm([value.high for value in values])
    return [index for index, ends in enumerate(zip(lowest, highest, strict=True)) if ends[0] < alpha <= ends[1]]


def _thresholds_in_reach(values: Sequence[PValue], index: int, alpha: float) -> list[float]:
    """What Holm may compare a p-value with, given how many others are surely or possibly smaller."""
    own, others = values[index], [*values[:index], *values[index + 1 :]]
    surely = sum(other.high < own.low for other in others)
    possibly = sum(other.low <= own.high for other in others)
    return [alpha / (len(values) - smaller) for smaller in range(surely, possibly + 1)]


def _measured(pairs: Sequence[Pair]) -> list[tuple[SliceTest, _Drops]]:
    """For each slice and metric: counts and means, and the case ids and drops of the cases that changed."""
    members: dict[tuple[int, str], list[Pair]] = defaultdict(list)
    for pair in pairs:
        for key in enumerate(pair.slices):
            members[key].append(pair)
    return [
        _measure(name, index, metric, members[family, name])
        for family, name in sorted(members)
        for index, metric in enumerate(METRICS)
    ]


def _measure(name: str, index: int, metric: str, pairs: Sequence[Pair]) -> tuple[SliceTest, _Drops]:
    before = [pair.before.scores[index] for pair in pairs]
    after = [pair.after.scores[index] for pair in pairs]
    drops = tuple((pair.case_id, drop) for pair in pairs if abs(drop := pair.drop(index)) > SAME_SCORE)
    fell = sum(drop > 0 for _, drop in drops)
    means = (math.fsum(before) / len(pairs), math.fsum(after) / len(pairs))
    return SliceTest(name, metric, len(pairs), *means, fell, len(drops) - fell, Finding.UNCHANGED, 1.0, 0), drops


def _concluded(test: SliceTest, drops: _Drops, result: _Result | None, rule: Regression) -> SliceTest:
    if result is not None:
        test = replace(test, p=result.p, adjusted=result.adjusted, at_edge=result.at_edge)
    if not drops:
        return test
    if math.fsum(drop for _, drop in drops) <= SAME_SCORE:
        return replace(test, finding=Finding.NO_DROP)
    if result is not None and result.adjusted < rule.alpha:
        return replace(test, finding=Finding.REGRESSED if test.drop > rule.tolerance else Finding.TOLERATED)
    finding = Finding.TOO_FEW if result is None else Finding.NOT_SHOWN
    return replace(test, finding=finding, cases_needed=cases_needed([d for _, d in drops], test.n, test.threshold))
