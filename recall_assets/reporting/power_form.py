"""What the gate could see, for a terminal and as JSON."""

from dataclasses import asdict
from typing import Any

from rich.text import Text

from recall_assets.power import Power, SlicePower
from recall_assets.reporting.terminal import figure_table, output
from recall_assets.reporting.words import figure

_HEADINGS = ("slice", "n", "lost cases", "as a drop", "4 in 5")


def power_json(power: Power) -> dict[str, Any]:
    """The object that `--json` prints."""
    return asdict(power)


def print_power(power: Power) -> None:
    """Prints the outlook on standard output."""
    with output() as console:
        for name, slices in power.retrievers.items():
            note = " (no baseline yet, so nothing is compared)" if name in power.without_baseline else ""
            console.print(Text(f"{name}: what the gate could see{note}", style="bold"))
            console.print(figure_table(_HEADINGS, [_row(slice_) for slice_ in slices]))
            console.print()
        for note in power.notes:
            console.print(Text(note, style="bold"))
        console.print(
            "lost cases: the fewest lost, with none gained, that are a regression where nothing else changes, at alpha "
            f"{power.alpha}; as a drop: of hit@k; 4 in 5: the true drop that is shown four times in five."
        )
        console.print(
            f"All {power.tests} tests of a sweep share alpha. Tests that could come out cost the others: where all of "
            f"them could, {power.needed_at_worst} lost cases are needed instead of {power.needed}."
        )


def _row(slice_: SlicePower) -> tuple[str, ...]:
    few = slice_.smallest_drop is None
    lost = "too few" if few else str(slice_.needed)
    return slice_.slice, str(slice_.n), lost, figure(slice_.smallest_drop), figure(slice_.seen_drop)
