"""Progress of long steps on standard error: a bar on a terminal, plain lines elsewhere."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

Advance = Callable[[int], None]


class Progress:
    """Reports how far a step has come. The core takes one and does not know where it is shown."""

    def __init__(self, subject: str = "") -> None:
        """Reports on a subject, which stands before each label."""
        self._subject = subject

    def of(self, subject: str) -> "Progress":
        """The same way of reporting, on another subject."""
        return type(self)(subject)

    @contextmanager
    def track(self, label: str, total: int) -> Iterator[Advance]:
        """Shows a step of `total` units; the yielded function is called with the units done since the last call."""
        from rich.console import Console

        console = Console(stderr=True)
        full_label = f"{self._subject}: {label}" if self._subject else label
        track = self._bar(console, full_label, total) if console.is_terminal else self._lines(full_label, total)
        with track as advance:
            yield advance

    @contextmanager
    def _bar(self, console: "Console", label: str, total: int) -> Iterator[Advance]:
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as Bars

        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        with Bars(*columns, console=console) as bars:
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
    def track(self, label: str, total: int) -> Iterator[Advance]:
        """Shows nothing."""
        yield lambda units: None
