"""Progress of long steps on standard error: a bar on a terminal, plain lines elsewhere."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Advance = Callable[[int], None]


class Progress:
    """Reports how far a step has come. The core takes one and does not know where it is shown."""

    @contextmanager
    def track(self, label: str, total: int) -> Iterator[Advance]:
        """Shows a step of `total` units; the yielded function is called with the units done since the last call."""
        from rich.console import Console

        console = Console(stderr=True)
        track = self._bar(label, total) if console.is_terminal else self._lines(label, total)
        with track as advance:
            yield advance

    @contextmanager
    def _bar(self, label: str, total: int) -> Iterator[Advance]:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as Bars

        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        with Bars(*columns, console=Console(stderr=True), transient=False) as bars:
            task = bars.add_task(label, total=total)
            yield lambda units: bars.advance(task, units)

    @contextmanager
    def _lines(self, label: str, total: int) -> Iterator[Advance]:
        done = 0
        shown = 0

        def advance(units: int) -> None:
            nonlocal done, shown
            done += units
            if done * 4 // max(total, 1) > shown:  # a line a quarter, not a line a batch
                shown = done * 4 // max(total, 1)
                sys.stderr.write(f"{label}: {done} of {total}\n")
                sys.stderr.flush()

        yield advance


class Quiet(Progress):
    """Reports nothing; for tests and for callers that have no one to tell."""

    @contextmanager
    def track(self, label: str, total: int) -> Iterator[Advance]:  # noqa: ARG002
        """Shows nothing."""
        yield lambda units: None
