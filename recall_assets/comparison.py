"""A run beside its baseline, and the rule `no_regression`.

Which cases are paired is in `recall_assets.pairing`, the tests are in `recall_assets.regression`, and the file is in
`recall_assets.baseline`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from recall_assets.baseline import Baseline, Fingerprints, UnusableBaseline, baseline_path, retrievers_with_baseline
from recall_assets.config import Regression
from recall_assets.gate import REGRESSION_RULE, RuleResult, Status, status_weight, worst
from recall_assets.metrics import metric_name
from recall_assets.pairing import Pair, Pairing, pair
from recall_assets.regression import Finding, SliceTest, regression_tests
from recall_assets.slice_names import OVERALL
from recall_assets.snapshot import ScoredCase
from recall_assets.text import some


@dataclass(frozen=True)
class Current:
    """What a sweep has on one retriever.

    Attributes:
        top_k: The cutoff k.
        cases: Every scored case.
        fingerprints: What the run was made from; None where that is not known.
        first_titles: By case, the title of the card that is first now, no entry where nothing was found; None where
            that is not known.
        not_scored: Why there are no scores, or None.
    """

    top_k: int
    cases: Sequence[ScoredCase]
    fingerprints: Fingerprints | None = None
    first_titles: Mapping[str, str] | None = None
    not_scored: str | None = None


@dataclass(frozen=True)
class Comparison:
    """One retriever's run beside its baseline.

    Attributes:
        baseline: The baseline.
        top_k: The cutoff k of the run.
        changed: In words, what the run was made from that the baseline was not.
        pairing: Which cases are the same.
        first_titles: As in `Current`.
        not_comparable: Why nothing was tested, and what to do; None where it was.
        tests: Every slice and metric, none where nothing was tested.
    """

    baseline: Baseline
    top_k: int
    changed: tuple[str, ...]
    pairing: Pairing
    first_titles: Mapping[str, str] | None
    not_comparable: str | None
    tests: list[SliceTest]


AnyBaseline = Baseline | UnusableBaseline | None


def compare(
    current: Mapping[str, Current], baselines: Mapping[str, AnyBaseline], rule: Regression
) -> dict[str, Comparison]:
    """Compares every retriever that was scored and has a baseline that can be read; the tests are one family.

    Args:
        current: By retriever, what the sweep has.
        baselines: By retriever, what its file holds.
        rule: The configured rule.
    """
    comparisons: dict[str, Comparison] = {}
    for name, run in current.items():
        baseline = baselines.get(name)
        if isinstance(baseline, Baseline) and run.not_scored is None:
            changed = run.fingerprints.changed_since(baseline.fingerprints) if run.fingerprints else ()
            pairing = pair(baseline.cases, run.cases)
            reason = _why_not_comparable(baseline, run, pairing, rule)
            comparisons[name] = Comparison(baseline, run.top_k, changed, pairing, run.first_titles, reason, [])
    pairs = {name: seen.pairing.pairs for name, seen in comparisons.items() if seen.not_comparable is None}
    for name, tests in regression_tests(pairs, rule).items():
        comparisons[name].tests.extend(tests)
    return comparisons


def judge_regression(
    retriever: str,
    run: Current,
    baseline: AnyBaseline,
    comparison: Comparison | None,
    folder: Path,
    rule: Regression,
) -> list[RuleResult]:
    """The rule `no_regression` for one retriever: one result where nothing could be tested, else one a slice.

    Args:
        retriever: Its name.
        run: What the sweep has.
        baseline: What its file holds.
        comparison: From `compare`.
        folder: Where baselines lie.
        rule: The configured rule.
    """
    if baseline is None:
        return [_result(retriever, *_without_baseline(retriever, folder, rule))]
    if isinstance(baseline, UnusableBaseline):
        status = Status.INVALID if baseline.invalid else Status.INCONCLUSIVE
        return [_result(retriever, status, str(baseline.problem))]
    if comparison is None:
        return [_result(retriever, Status.INCONCLUSIVE, f"not scored: {run.not_scored}")]
    if comparison.not_comparable is not None:
        return [_result(retriever, Status.INCONCLUSIVE, comparison.not_comparable)]
    critical = any(pair.critical for pair in comparison.pairing.lost)
    results = []
    for name, slice_tests in groupby(comparison.tests, key=lambda test: test.slice):
        tests = list(slice_tests)
        result = _slice_result(retriever, name, tests, comparison)
        first = critical and name == OVERALL  # which names the critical cases
        results.append((status_weight(result.status), not first, -max(test.drop for test in tests), result))
    return [result for *_, result in sorted(results, key=lambda found: found[:3])]


def compare_baselines(
    before: Baseline, after: Baseline, rule: Regression
) -> tuple[dict[str, Comparison], list[RuleResult]]:
    """Compares two baselines as the gate compares a run with one, under the name of the second's retriever."""
    name = after.retriever
    run = Current(after.top_k, after.cases, after.fingerprints)
    comparisons = compare({name: run}, {name: before}, rule)
    return comparisons, judge_regression(name, run, before, comparisons[name], Path(), rule)


def moved(pair: Pair, comparison: Comparison) -> str:
    """Where a pair's first gold card was and is, and for one that fell, the title of the card that is first now."""
    places = [f"#{rank}" if rank else "MISS" for rank in (pair.before.gold_rank, pair.after.gold_rank)]
    where = " -> ".join(places)
    if places[0] == places[1]:
        return f"{where}, but another gold or relevant card fell"
    if pair.gained or pair.after.gold_rank == 1:
        return where
    if comparison.first_titles is None:
        return where
    title = comparison.first_titles.get(pair.case_id)
    return f"{where}, now first: {title}" if title else f"{where}, nothing found"


def p_words(p: float, digits: int = 4) -> str:
    """A p-value, rounded; one that would round to zero as what it is below."""
    least = 10.0**-digits
    return f"{p:.{digits}f}" if p >= least else f"<{least:.{digits}f}"


def says(test: SliceTest, k: int) -> str:
    """The finding of one test in words, with the figures behind it."""
    means = f"{metric_name(test.metric, k)} {test.before:.4f} -> {test.after:.4f}"
    counts = f"{test.fell} {'lost' if test.is_hit else 'fell'}, {test.rose} {'gained' if test.is_hit else 'rose'}"
    return f"{means} ({counts} of {test.n}{_p_words(test)})"


def _p_words(test: SliceTest) -> str:
    if test.p is None or test.adjusted is None:
        return ""
    about = "" if test.p.exact else ", drawn"
    edge = "; at the edge: more draws could turn it" if test.at_edge else ""
    return f"; p {p_words(test.p.p)}{about}, {p_words(test.adjusted)} corrected{edge}"


def _why_not_comparable(baseline: Baseline, run: Current, pairing: Pairing, rule: Regression) -> str | None:
    if baseline.top_k != run.top_k:
        return (
            f"the baseline is at k = {baseline.top_k}, this sweep at k = {run.top_k}; sweep at the same k, or promote "
            "a baseline at the new one"
        )
    if not pairing.pairs or pairing.shared < rule.min_shared:
        same = len(pairing.pairs) or "none"
        least = f", under {rule.min_shared:.0%} of the larger set" if pairing.pairs else ""
        return (
            f"of {len(baseline.cases)} cases in the baseline and {len(run.cases)} in this sweep, {same} are the "
            f"same{least} ({differences(pairing)}); promote a baseline on these cases"
        )
    return None


def differences(pairing: Pairing) -> str:
    """How many cases are not in both, or not the same in both."""
    return f"{len(pairing.added)} added, {len(pairing.removed)} removed, {len(pairing.relabelled)} relabelled"


def _without_baseline(retriever: str, folder: Path, rule: Regression) -> tuple[Status, str]:
    if rule.compare:
        others = retrievers_with_baseline(folder)
        there = f" (there are: {some(others)})" if others else ""  # a retriever that was renamed leaves its own behind
        why = f"no baseline at {baseline_path(folder, retriever)}{there}; recall baseline promote makes one"
    else:
        why = "nothing is compared (gate.regression.compare is false, or --cases or --k came without --baselines)"
    return (Status.INCONCLUSIVE, why) if rule.require_baseline else (Status.INACTIVE, f"inactive: {why}")


def _slice_result(retriever: str, name: str, tests: list[SliceTest], comparison: Comparison) -> RuleResult:
    statuses = [_STATUS[test.finding] for test in tests]
    status = worst(statuses)
    telling = [test for test, own in zip(tests, statuses, strict=True) if own is status]
    if status is Status.FAILED:
        others = [metric_name(test.metric, comparison.top_k) for test in telling[1:]]
        also = f", so {'is' if len(others) == 1 else 'are'} {' and '.join(others)}" if others else ""
        shown = f"{says(telling[0], comparison.top_k)}{also}"
        detail = f"regressed: {shown}{_culprits(name, telling, comparison)}"
    elif status is Status.UNTESTED:
        test = telling[0]
        detail = f"too few changes to tell (needs {test.needs}): {says(test, comparison.top_k)}"
    else:
        tolerated = [test for test in tests if test.finding is Finding.TOLERATED]
        test = (tolerated or tests)[0]
        held = "no drop is shown" if any(one.fell or one.rose for one in tests) else "no case changed"
        detail = f"{'a drop within the tolerance' if tolerated else held}: {says(test, comparison.top_k)}"
    if name == OVERALL:
        critical = [pair for pair in comparison.pairing.lost if pair.critical]
        if critical:
            named = some([f"{pair.case_id} ({moved(pair, comparison)})" for pair in critical])
            status, detail = Status.FAILED, f"{_cases(len(critical))} lost: {named}; {detail}"
    return RuleResult(retriever, REGRESSION_RULE, name, status, None, None, tests[0].n, None, None, detail)


def _culprits(name: str, tests: list[SliceTest], comparison: Comparison) -> str:
    """The cases behind a regression: those lost, or where only ranks fell, those that slipped."""
    by_hits = any(test.is_hit for test in tests)
    pairs = [p for p in (comparison.pairing.lost if by_hits else comparison.pairing.fell) if name in p.slices]
    named = some([f"{pair.case_id} ({moved(pair, comparison)})" for pair in pairs], limit=3)
    return f"; {'lost' if by_hits else 'fell'}: {named}"


def _cases(count: int) -> str:
    return "1 critical case" if count == 1 else f"{count} critical cases"


def _result(retriever: str, status: Status, detail: str) -> RuleResult:
    return RuleResult(retriever, REGRESSION_RULE, OVERALL, status, None, None, 0, None, None, detail)


_STATUS = {
    Finding.REGRESSED: Status.FAILED,
    Finding.TOLERATED: Status.PASSED,
    Finding.NOT_SHOWN: Status.PASSED,
    Finding.TOO_FEW: Status.UNTESTED,
    Finding.NO_DROP: Status.PASSED,
    Finding.UNCHANGED: Status.PASSED,
}
