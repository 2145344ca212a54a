"""Baselines, promotions and suggested floors, for a terminal, as JSON and as YAML to paste."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml
from rich.text import Text

from recall_assets.baseline import Baseline, baseline_path
from recall_assets.metrics import METRICS, metric_name
from recall_assets.pairing import pair
from recall_assets.reporting import words
from recall_assets.reporting.terminal import figure_table, output
from recall_assets.suggested_floors import SuggestedFloors, slices_of_baseline, suggested_floors

if TYPE_CHECKING:
    from recall_assets.latest import Promotion

_NAMES = ("hit", "recall", "ndcg")


def baseline_json(baseline: Baseline) -> dict[str, Any]:
    """A baseline's head and the means of its slices."""
    return {
        "date": baseline.date,
        "top_k": baseline.top_k,
        "fingerprints": asdict(baseline.fingerprints),
        "cases": len(baseline.cases),
        "critical_cases": [case.case_id for case in baseline.cases if case.critical],
        "slices": [
            {"slice": score.slice, "n": score.n, **dict(zip(METRICS, score.means, strict=True))}
            for score in slices_of_baseline(baseline)
            if score.means is not None
        ],
    }


def print_baseline(baseline: Baseline) -> None:
    """Prints a baseline's head and slices on standard output."""
    with output() as console:
        console.print(Text(f"Baseline of {baseline.retriever}", style="bold"))
        critical = [case.case_id for case in baseline.cases if case.critical]
        console.print(
            f"measured {baseline.date}, k = {baseline.top_k}, {len(baseline.cases)} cases, {len(critical)} critical"
        )
        for name, value in asdict(baseline.fingerprints).items():
            console.print(f"{name.replace('_', ' ')}: {value[:16]}")
        rows = [words.slice_row(score) for score in slices_of_baseline(baseline)]
        console.print(figure_table(words.headings(baseline.top_k), rows))
        console.print()


def promotion_json(promotion: "Promotion") -> dict[str, Any]:
    """What was promoted, and how it differs from what was there."""
    before, after = promotion.before, promotion.after
    pairing = pair(before.cases if before else (), after.cases)
    return {
        "date": after.date,
        "top_k": after.top_k,
        "cases": len(after.cases),
        "replaced": None if before is None else before.date,
        "lost": [moved.case_id for moved in pairing.lost] if before else [],
        "gained": [moved.case_id for moved in pairing.gained] if before else [],
    }


def promotion_lines(promotions: "Sequence[Promotion]", folder: Path) -> list[str]:
    """A line a baseline: where it is, what it holds, and how it differs from what was there."""
    return [_promotion_line(promotion, folder) for promotion in promotions]


def floors_json(baselines: Sequence[Baseline]) -> dict[str, Any]:
    """By retriever and slice: n, observed means and floors."""
    return {
        baseline.retriever: {
            one.slice: {
                "n": one.n,
                "observed": dict(zip(_NAMES, one.observed, strict=True)),
                "floors": dict(zip(_NAMES, one.floors, strict=True)),
            }
            for one in suggested_floors(baseline)
        }
        for baseline in baselines
    }


def floors_yaml(baselines: Sequence[Baseline]) -> str:
    """Settings to paste into `recall.yaml`, with the figures they come from as comments."""
    lines = [
        "# Observed mean less its slack: the lower end of the 95% Wilson interval, rounded down.",
        "gate:",
        "  retrievers:",
    ]
    for baseline in baselines:
        overall, *others = suggested_floors(baseline)
        lines += [
            f"    {_key(baseline.retriever)}:  # measured {baseline.date}, k = {baseline.top_k}",
            f"      floors: {_flow(overall)}",
        ]
        if others:
            lines += ["      slices:", *(f"        {_key(one.slice)}: {_flow(one)}" for one in others)]
    return "\n".join(lines)


def _flow(one: SuggestedFloors) -> str:
    floors = ", ".join(f"{name}: {floor:.3f}" for name, floor in zip(_NAMES, one.floors, strict=True))
    observed = ", ".join(f"{value:.3f}" for value in one.observed)
    return f"{{{floors}}}  # observed {observed}; n {one.n}"


def _key(name: str) -> str:
    """The name as a YAML key, quoted where it must be."""
    return (
        yaml.safe_dump(name, default_flow_style=True, allow_unicode=True, width=10_000).removesuffix("\n...\n").strip()
    )


def _promotion_line(promotion: "Promotion", folder: Path) -> str:
    before, after = promotion.before, promotion.after
    overall = slices_of_baseline(after)[0]
    hit = words.figure(overall.means[0] if overall.means else None)
    line = (
        f"{baseline_path(folder, after.retriever)}: {len(after.cases)} cases, "
        f"{metric_name(METRICS[0], after.top_k)} {hit}, measured {after.date}"
    )
    if before is None:
        return line
    pairing = pair(before.cases, after.cases)
    return f"{line}; {len(pairing.lost)} lost and {len(pairing.gained)} gained since {before.date}"
