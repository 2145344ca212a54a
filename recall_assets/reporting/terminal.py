"""The report for a terminal, at 80 columns and up; plain text where standard output is no terminal."""

import io
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from recall_assets.gate import Status, Verdict
from recall_assets.reporting import words
from recall_assets.reporting.model import LOCALE_NOTE, RECALL_CAVEAT, CheckResult, Report, RetrieverReport

if TYPE_CHECKING:
    from recall_assets.comparison import Comparison

_STATUS_STYLE = {
    Status.PASSED: "green",
    Status.FAILED: "bold red",
    Status.WARNING: "yellow",
    Status.INACTIVE: "dim",
    Status.UNTESTED: "yellow",
    Status.INVALID: "bold magenta",
    Status.INCONCLUSIVE: "magenta",
}
_VERDICT_STYLE = {Verdict.PASS: "bold green", Verdict.FAIL: "bold red"}
_ON_A_PIPE = 100
_TABLE = 80  # below this the columns of figures would be cut
_REASON = 300  # characters: four lines of 80, so that verdict and three reasons stand within 15 lines
_REASONS = 3
_LISTED = 20


def print_report(report: Report, *, stored_at: str | None) -> None:
    """Prints the report on standard output.

    Args:
        report: What to print.
        stored_at: Where the stored report lies, or None if none was stored.
    """
    with output() as console:
        _print_verdict(console, report)
        for retriever in report.retrievers:
            if retriever.comparison is not None:
                _print_comparison(console, retriever.name, retriever.comparison)
        for retriever in report.retrievers:
            _print_retriever(console, retriever, report.top_k)
        console.print(RECALL_CAVEAT)
        console.print(LOCALE_NOTE)
        console.print(_verdict(report))
        if stored_at is not None:
            console.print(Text(f"Report: {stored_at}"), soft_wrap=True)


def print_comparisons(comparisons: "Mapping[str, Comparison]") -> None:
    """Prints runs beside their baselines on standard output."""
    with output() as console:
        for name, comparison in comparisons.items():
            _print_comparison(console, name, comparison)


@contextmanager
def output() -> Iterator[Console]:
    """Standard output to print on; what is printed on a pipe has no style, no padding and a fixed width."""
    console = Console(highlight=False)
    if console.is_terminal:
        yield console
        return
    width = max(console.width, _TABLE) if "COLUMNS" in os.environ else _ON_A_PIPE
    with Console(file=io.StringIO(), highlight=False, width=width) as plain, plain.capture() as capture:
        yield plain
    sys.stdout.write("".join(f"{line.rstrip()}\n" for line in capture.get().splitlines()))
    sys.stdout.flush()  # here, where a reader that has left is noticed, and not while the process ends


def figure_table(headings: Sequence[str], rows: Sequence[Sequence[str]], texts: int = 1, gap: int = 2) -> Table:
    """A table whose first columns are text that may fold, and whose others are figures that may not.

    Args:
        headings: Of the columns.
        rows: Their cells.
        texts: How many columns are text.
        gap: Spaces between columns, 1 or 2.
    """
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, gap - 1, 0, 0))
    for index, heading in enumerate(headings):
        if index < texts:
            table.add_column(heading, overflow="fold")
        else:
            table.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    return table


def _verdict(report: Report) -> Text:
    verdict = Text(report.verdict.value, style=_VERDICT_STYLE.get(report.verdict, "bold magenta"))
    return Text.assemble("Verdict: ", verdict, f" (exit code {report.verdict.exit_code})")


def _print_verdict(console: Console, report: Report) -> None:
    console.print(_verdict(report))
    against = report.reasons
    if not against:
        console.print(Text(f"{words.reason(report)}."))
    for name, check in against[:_REASONS]:
        finding = f"{name}: {check.name}: {check.headline}"
        shown = finding if len(finding) <= _REASON else f"{finding[: _REASON - 2]} …"
        console.print(Padding(Text(shown), (0, 0, 0, 2), expand=False))
    if len(against) > _REASONS:
        console.print(f"  and {len(against) - _REASONS} more, under Checks")
    console.print()


def _print_comparison(console: Console, name: str, comparison: "Comparison") -> None:
    from recall_assets.reporting import changes  # a captured run is reported without it

    console.print(Text(changes.title(name, comparison), style="bold"))
    for sentence in changes.context(comparison):
        console.print(Text(sentence))
    rows = changes.table_rows(comparison)
    if rows:
        console.print(figure_table(changes.HEADINGS, rows, texts=2, gap=1))  # so that 80 columns hold them
    for what, lines in (
        ("Lost", changes.lost_lines(comparison)),
        ("Gained", changes.gained_lines(comparison)),
        ("Slipped", changes.slipped_lines(comparison)),
    ):
        if lines:
            more = f"; the first {_LISTED}, all are in the report" if len(lines) > _LISTED else ""
            console.print(f"{what} ({len(lines)}{more}):")
            for line in lines[:_LISTED]:
                console.print(Padding(Text(line), (0, 0, 0, 2), expand=False))
    for sentence in changes.exclusions(comparison):
        console.print(Text(sentence))
    if rows:
        console.print(Text(changes.legend(comparison), style="dim"))
    console.print()


def _print_retriever(console: Console, retriever: RetrieverReport, k: int) -> None:
    console.print(Text(f"Retriever {retriever.name}", style="bold"))
    console.print(figure_table(words.headings(k), [words.slice_row(score) for score in retriever.slices]))
    if retriever.not_scored is not None:
        console.print(Text(f"Not scored: {retriever.not_scored}.", style="bold magenta"))
    console.print(f"Ledger: {words.ledger_sentence(retriever, k)}")
    checks = Table.grid(padding=(0, 2, 0, 0))
    for no_wrap in (True, True, False):
        checks.add_column(no_wrap=no_wrap)
    for check in retriever.checks:
        checks.add_row(Text(check.status.value, style=_STATUS_STYLE[check.status]), check.name, Text(_finding(check)))
    console.print("Checks:")
    console.print(Padding(checks, (0, 0, 1, 2), expand=False))


def _finding(check: CheckResult) -> str:
    """What a check that did not just pass came to; the other slices are in the report."""
    return "" if check.status is Status.PASSED else check.headline.removeprefix(f"{check.status.value}: ")
