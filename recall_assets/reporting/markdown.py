"""The report as Markdown."""

from collections.abc import Iterable, Sequence

from recall_assets.reporting import words
from recall_assets.reporting.model import LOCALE_NOTE, RECALL_CAVEAT, Report, RetrieverReport
from recall_assets.slices import SliceScore


def report_markdown(report: Report) -> str:
    """The whole report: verdict first, then a section per retriever, then how to read the figures."""
    sections = [
        f"# Retrieval recall: {report.verdict.value}\n\nCutoff k = {report.top_k}.",
        *(_section(retriever, report.top_k) for retriever in report.retrievers),
        f"## How to read this\n\n- {RECALL_CAVEAT}\n- {LOCALE_NOTE}\n- n counts scored cases with gold; a case "
        "without gold has no score and is in no mean.",
    ]
    return "\n\n".join(sections) + "\n"


def slice_table(slices: Iterable[SliceScore], k: int) -> str:
    """One row per slice."""
    return table(words.headings(k), (words.slice_row(score) for score in slices))


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table whose first column is text and whose others are figures."""
    rule = ("---", *("---:" for _ in headings[1:]))
    return "\n".join(f"| {' | '.join(map(_cell, row))} |" for row in (headings, rule, *rows))


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _section(retriever: RetrieverReport, k: int) -> str:
    parts = [f"## {retriever.name}"]
    if retriever.not_scored is not None:
        parts.append(f"**Not scored:** {retriever.not_scored}.")
    parts += [slice_table(retriever.slices, k), words.ledger_sentence(retriever, k)]
    if retriever.checks:
        rows = ((check.name, check.status.value, check.detail) for check in retriever.checks)
        parts.append(table(("check", "status", "finding"), rows).replace("---:", "---"))
    return "\n\n".join(parts)
