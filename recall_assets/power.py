"""What the regression rule could see with a case set, before anything runs. What it saw: `recall_assets.regression`."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from recall_assets.baseline import Baseline, committed_baseline, usable
from recall_assets.config import Settings
from recall_assets.metrics import METRICS
from recall_assets.paired import changes_needed, drop_seen
from recall_assets.records import Case
from recall_assets.slice_names import slices_of
from recall_assets.snapshot import label_of


@dataclass(frozen=True)
class SlicePower:
    """One slice of one retriever.

    Attributes:
        slice: Its name.
        n: Gold-bearing cases that would be compared.
        needed: The fewest lost cases, none gained, that are a regression if nothing outside this slice changes.
        smallest_drop: The drop of hit@k that these are, None where there are not that many cases.
        seen_drop: The true drop of hit@k that is shown four times in five, or None.
    """

    slice: str
    n: int
    needed: int
    smallest_drop: float | None
    seen_drop: float | None


@dataclass(frozen=True)
class Power:
    """What the gate could see.

    Attributes:
        alpha: Chance of a false alarm a sweep.
        needed: Lost cases that are a regression where nothing else changes.
        tests: Slices, metrics and retrievers together, which share alpha at worst.
        needed_at_worst: Lost cases that are needed where all of them could come out.
        retrievers: By retriever, its slices.
        without_baseline: Retrievers that have no baseline that can be read, so that nothing is compared yet.
        notes: What will keep a comparison from being made, in sentences.
    """

    alpha: float
    needed: int
    tests: int
    needed_at_worst: int
    retrievers: dict[str, list[SlicePower]]
    without_baseline: tuple[str, ...]
    notes: tuple[str, ...]


def power(settings: Settings, cases: Sequence[Case]) -> Power:
    """What the gate could see with these cases and the committed baselines.

    Args:
        settings: For retrievers, baselines and alpha.
        cases: The case set; for a retriever without a baseline, all that have gold are taken to be in it.
    """
    alpha = settings.gate.regression.alpha
    baselines = {name: usable(committed_baseline(settings.baselines, name)) for name in settings.retrievers}
    compared: dict[str, Counter[tuple[int, str]]] = {}
    for name, baseline in baselines.items():
        labels = None if baseline is None else {case.case_id: case.label for case in baseline.cases}
        paired = [c for c in cases if c.gold_bearing and (labels is None or labels.get(c.case_id) == label_of(c))]
        compared[name] = Counter(key for case in paired for key in enumerate(slices_of(case.case_type, case.locale)))
    # The same losses are up to three tests: of hit, recall and nDCG, which differ unless single gold was always first.
    alone = alpha / len(METRICS)
    needed = changes_needed(alone)
    tests = len(METRICS) * sum(len(slices) for slices in compared.values())
    return Power(
        alpha,
        needed,
        tests,
        changes_needed(alpha / max(tests, 1)),
        {
            name: [
                SlicePower(slice_, n, needed, needed / n if n >= needed else None, drop_seen(n, alone))
                for (_, slice_), n in sorted(slices.items())
            ]
            for name, slices in compared.items()
        },
        tuple(name for name, baseline in baselines.items() if baseline is None),
        tuple(_notes(settings, baselines)),
    )


def _notes(settings: Settings, baselines: Mapping[str, Baseline | None]) -> Iterator[str]:
    if not settings.gate.regression.compare:
        yield "Nothing will be compared: gate.regression.compare is false."
    for name, baseline in baselines.items():
        if baseline is not None and baseline.top_k != settings.top_k:
            yield f"{name} will not be compared: its baseline is at k = {baseline.top_k}, not {settings.top_k}."
