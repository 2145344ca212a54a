"""Progress of long steps on standard error: a bar on a terminal, plain lines elsewhere."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.console import Console

Advance = Callable[[int], None]


class Progress:
    """Reports how far a step has come. The core takes one and does not know where it is shown."""

    def __init__(self, subject: str = "", stream: TextIO | None = None) -> None:
        """Sets what is reported on and where.

        Args:
            subject: Stands before each label.
            stream: Where to report; None is standard error as it is at that time.
        """
        self._subject = subject
        self._stream = stream

    def of(self, subject: str) -> "Progress":
        """The same way of reporting, on another subject."""
        return type(self)(subject, self._stream)

    @contextmanager
    def track(self, label: str, total: int) -> Iterator[Advance]:
        """Shows a step of `total` units; the yielded function is called with the units done since the last call."""
        from rich.console import Console

        console = Console(file=self._stream or sys.stderr)
        full_label = f"{self._subject}: {label}" if self._subject else label
        show = self._bar if console.is_terminal else self._lines
        with show(console, full_label, total) as advance:
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
    def _lines(self, console: "Console", label: str, total: int) -> Iterator[Advance]:
        done = 0
        shown = 0

        def advance(units: int) -> None:
            nonlocal done, shown
            done += units
            if done * 4 // max(total, 1) > shown:  # a line a quarter, not a line a batch
                shown = done * 4 // max(total, 1)
                console.print(f"{label}: {done} of {total}", highlight=False, markup=False, soft_wrap=True)

        yield advance


@contextmanager
def kept_stderr() -> Iterator[TextIO]:
    """Standard error as it is now, for as long as the block runs.

    While a step of Dagster runs, file descriptor 2 leads into a capture of its log: no terminal, and so no bar.
    """
    try:
        descriptor = os.dup(sys.stderr.fileno())
    except OSError:  # a stand-in without a descriptor, which nobody can lead elsewhere
        yield sys.stderr
        return
    with os.fdopen(descriptor, "w", encoding="utf-8", errors="replace") as stream:
        yield stream


class Quiet(Progress):
    """Reports nothing; for tests and for callers that have no one to tell."""

    @contextmanager
    def track(self, label: str, total: int) -> Iterator[Advance]:
        """Shows nothing."""
        yield lambda units: None
