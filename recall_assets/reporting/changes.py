"""A comparison with the baseline in words and rows, shared by the Markdown and the terminal form."""

from collections.abc import Iterable, Iterator

from recall_assets.comparison import Comparison, differences, moved, p_words
from recall_assets.metrics import metric_name
from recall_assets.pairing import Pair
from recall_assets.regression import Finding, SliceTest
from recall_assets.reporting.words import NOTHING, figure
from recall_assets.text import some

HEADINGS = ("slice", "metric", "was", "now", "-/+", "p", "sees")


def legend(comparison: Comparison) -> str:
    """How to read the table."""
    needs = comparison.tests[0].needs if comparison.tests else 0
    return (
        "-/+: cases whose score fell and rose. p is one-sided and corrected over all tests of the sweep. sees: the "
        f"smallest drop of hit@k that so few cases could have shown; {needs} changes are the least that any test needs."
    )


def title(name: str, comparison: Comparison) -> str:
    """Whose comparison it is, and with what."""
    baseline, pairing = comparison.baseline, comparison.pairing
    return (
        f"{name} against its baseline of {baseline.date[:10]}: {len(pairing.pairs)} of {len(baseline.cases)} cases "
        f"unchanged, {differences(pairing)}"
    )


def table_rows(comparison: Comparison) -> list[tuple[str, ...]]:
    """A row for each test with a p-value, worst slices first; recall and nDCG only where they say what hit does not."""
    tested = [test for test in comparison.tests if test.p is not None]
    by_slice: dict[str, list[SliceTest]] = {}
    for test in _own(tested):
        by_slice.setdefault(test.slice, []).append(test)
    return [_row(test, comparison.top_k) for tests in sorted(by_slice.values(), key=_worst_first) for test in tests]


def context(comparison: Comparison) -> Iterator[str]:
    """What changed around the cases, which cases are not compared, and why nothing is where nothing is."""
    pairing = comparison.pairing
    if comparison.not_comparable is not None:
        yield f"Not comparable: {comparison.not_comparable}."
    critical = {case.case_id for case in comparison.baseline.cases if case.critical}
    for what, ids in (("Added", pairing.added), ("Removed", pairing.removed), ("Relabelled", pairing.relabelled)):
        if ids:
            critical_first = sorted(ids, key=lambda case_id: case_id not in critical)
            named = [f"{case_id} (critical)" if case_id in critical else case_id for case_id in critical_first]
            yield f"{what}, so not compared: {some(named)}."
    if comparison.changed:
        yield f"Changed since the baseline: {', '.join(comparison.changed)}."
    if comparison.tests and not any(test.fell or test.rose for test in comparison.tests):
        yield "No score has changed."


def exclusions(comparison: Comparison) -> Iterator[str]:
    """A plain sentence for every test that is no regression although something fell, and why."""
    by_finding = {finding: [t for t in _own(comparison.tests) if t.finding is finding] for finding in Finding}
    if few := by_finding[Finding.TOO_FEW]:
        named = some([f"{_name(test, comparison)} (changed {test.fell + test.rose} of {test.n})" for test in few])
        yield f"Too few changes to tell (needs {few[0].needs}): {named}."
    if not_shown := by_finding[Finding.NOT_SHOWN]:
        needed = [f"{_name(t, comparison)} (a drop of {t.drop:.3f}{_would_take(t)})" for t in not_shown]
        yield f"A drop that is not shown: {some(needed)}."
    if tolerated := by_finding[Finding.TOLERATED]:
        yield f"A drop within the tolerance: {some([_name(test, comparison) for test in tolerated])}."
    if edge := [test for test in comparison.tests if test.at_edge]:
        yield f"At the edge, where more draws could turn the finding: {some([_name(t, comparison) for t in edge])}."


def lost_lines(comparison: Comparison) -> list[str]:
    """The cases lost, the most urgent first: `en-007: #3 -> MISS, now first: Refunds`."""
    return [_line(pair, comparison) for pair in comparison.pairing.lost]


def gained_lines(comparison: Comparison) -> list[str]:
    """The cases gained."""
    return [_line(pair, comparison) for pair in comparison.pairing.gained]


def slipped_lines(comparison: Comparison) -> list[str]:
    """The cases with a lower score that neither lost nor gained their gold."""
    return [_line(pair, comparison) for pair in comparison.pairing.slipped]


def _line(pair: Pair, comparison: Comparison) -> str:
    return f"{pair.case_id}{' (critical)' if pair.critical else ''}: {moved(pair, comparison)}"


def _row(test: SliceTest, k: int) -> tuple[str, ...]:
    seen = NOTHING if test.smallest_drop is None else figure(test.smallest_drop)
    p = NOTHING if test.adjusted is None else p_words(test.adjusted, 3)
    return (
        test.slice,
        metric_name(test.metric, k),
        figure(test.before),
        figure(test.after),
        f"{test.fell}/{test.rose}",
        p,
        seen,
    )


def _own(tests: Iterable[SliceTest]) -> list[SliceTest]:
    """Without those that repeat another metric of the same slice to the figure, as recall does with single gold."""
    seen: dict[tuple[object, ...], SliceTest] = {}
    for test in tests:
        seen.setdefault((test.slice, test.before, test.after, test.fell, test.rose), test)
    return list(seen.values())


def _worst_first(tests: list[SliceTest]) -> tuple[bool, float]:
    return all(test.finding is not Finding.REGRESSED for test in tests), -max(test.drop for test in tests)


def _name(test: SliceTest, comparison: Comparison) -> str:
    return f"{test.slice} {metric_name(test.metric, comparison.top_k)}"


def _would_take(test: SliceTest) -> str:
    return "" if test.cases_needed is None else f"; about {test.cases_needed} cases would show it"
