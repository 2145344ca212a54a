"""The report for a terminal, at 80 columns and up; plain text where standard output is no terminal."""

import io
import os
import sys

from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from recall_assets.gate import Status, Verdict
from recall_assets.reporting import words
from recall_assets.reporting.model import LOCALE_NOTE, RECALL_CAVEAT, Report, RetrieverReport

_STATUS_STYLE = {
    Status.PASSED: "green",
    Status.FAILED: "bold red",
    Status.WARNING: "yellow",
    Status.INACTIVE: "dim",
    Status.INCONCLUSIVE: "magenta",
}
_VERDICT_STYLE = {Verdict.PASS: "bold green", Verdict.FAIL: "bold red"}
_ON_A_PIPE = 100
_TABLE = 80  # below this the columns of figures would be cut


def print_report(report: Report, *, stored_at: str | None) -> None:
    """Prints the report on standard output.

    Args:
        report: What to print.
        stored_at: Where the stored report lies, or None if none was stored.
    """
    console = Console(highlight=False)
    if not console.is_terminal:
        width = max(console.width, _TABLE) if "COLUMNS" in os.environ else _ON_A_PIPE
        with Console(file=io.StringIO(), highlight=False, width=width) as plain, plain.capture() as capture:
            _print(plain, report, stored_at)
        # A file or a pipe wants no padding.
        sys.stdout.write("".join(f"{line.rstrip()}\n" for line in capture.get().splitlines()))
        return
    _print(console, report, stored_at)


def _print(console: Console, report: Report, stored_at: str | None) -> None:
    for retriever in report.retrievers:
        _print_retriever(console, retriever, report.top_k)
    console.print(RECALL_CAVEAT)
    console.print(LOCALE_NOTE)
    verdict = Text(report.verdict.value, style=_VERDICT_STYLE.get(report.verdict, "bold magenta"))
    console.print(Text.assemble("Verdict: ", verdict, f" (exit code {report.verdict.exit_code})"))
    if stored_at is not None:
        console.print(Text(f"Report: {stored_at}"), soft_wrap=True)


def _print_retriever(console: Console, retriever: RetrieverReport, k: int) -> None:
    console.print(Text(f"Retriever {retriever.name}", style="bold"))
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    headings = words.headings(k)
    table.add_column(headings[0], overflow="fold")
    for heading in headings[1:]:
        table.add_column(heading, justify="right", no_wrap=True)
    for score in retriever.slices:
        table.add_row(*words.slice_row(score))
    console.print(table)
    if retriever.not_scored is not None:
        console.print(Text(f"Not scored: {retriever.not_scored}.", style="bold magenta"))
    console.print(f"Ledger: {words.ledger_sentence(retriever, k)}")
    checks = Table.grid(padding=(0, 2, 0, 0))
    for check in retriever.checks:
        detail = "" if check.status is Status.PASSED else check.detail.removeprefix(f"{check.status.value}: ")
        checks.add_row(Text(check.status.value, style=_STATUS_STYLE[check.status]), check.name, Text(detail))
    console.print("Checks:")
    console.print(Padding(checks, (0, 0, 1, 2), expand=False))
