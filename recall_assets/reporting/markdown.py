"""The report as Markdown, and its short form for a step summary or a comment on a pull request."""

import re
from collections.abc import Iterable, Iterator, Sequence

from recall_assets.gate import Verdict
from recall_assets.reporting import changes, words
from recall_assets.reporting.model import LOCALE_NOTE, RECALL_CAVEAT, Report, RetrieverReport
from recall_assets.slices import SliceScore

_MARKUP = re.compile(r"[\\`*\[\]|]")
_LISTED = 20  # cases in a summary: a comment on a pull request holds 65,536 characters


def report_markdown(report: Report) -> str:
    """The whole report: verdict first, then what changed, then a section per retriever, then how to read it."""
    sections = [
        f"# Retrieval recall: {report.verdict.value}\n\n{_cell(words.reason(report))}\n\nCutoff k = {report.top_k}.",
        *([_bullets(report.errors)] if report.errors else []),
        *_comparisons(report, None),
        *(_section(retriever, report.top_k) for retriever in report.retrievers),
        _how_to_read(report),
    ]
    return "\n\n".join(sections) + "\n"


def summary_markdown(report: Report) -> str:
    """Verdict line, regressions, table; whatever else there is stays folded."""
    tables = "\n\n".join(f"**{r.name}**\n\n{slice_table(r.slices, report.top_k)}" for r in report.retrievers)
    rest = "\n\n".join([*(_findings(retriever) for retriever in report.retrievers), _how_to_read(report)])
    folded = f"<details><summary>Checks, ledgers, how to read this</summary>\n\n{rest}\n\n</details>"
    errors = [_bullets(report.errors)] if report.errors else []
    return "\n\n".join([_verdict_line(report), *errors, *_comparisons(report, _LISTED), tables, folded]) + "\n"


def no_figures_markdown(verdict: Verdict, problems: Sequence[str]) -> str:
    """The summary where there are no figures: the verdict and every problem."""
    return f"**Retrieval gate: {verdict.value}** (exit code {verdict.exit_code})\n\n{_bullets(problems)}\n"


def slice_table(slices: Iterable[SliceScore], k: int) -> str:
    """One row per slice."""
    return table(words.headings(k), (words.slice_row(score) for score in slices))


def table(headings: Sequence[str], rows: Iterable[Sequence[str]], texts: int = 1) -> str:
    """A Markdown table whose first columns are text and whose others are figures."""
    rule = ["---" if index < texts else "---:" for index, _ in enumerate(headings)]
    return "\n".join(f"| {' | '.join(map(_cell, row))} |" for row in (headings, rule, *rows))


def _verdict_line(report: Report) -> str:
    verdict = report.verdict
    return f"**Retrieval gate: {verdict.value}** (exit code {verdict.exit_code}): {_cell(words.reason(report))}"


def _comparisons(report: Report, limit: int | None) -> Iterator[str]:
    for retriever in report.retrievers:
        comparison = retriever.comparison
        if comparison is None:
            continue
        parts = [f"## {changes.title(retriever.name, comparison)}", _bullets(changes.context(comparison))]
        rows = changes.table_rows(comparison)
        if rows:
            parts += [table(changes.HEADINGS, rows, texts=2), changes.legend(comparison)]
        for what, lines in (
            ("Lost", changes.lost_lines(comparison)),
            ("Gained", changes.gained_lines(comparison)),
            ("Slipped within the top k", changes.slipped_lines(comparison)),
        ):
            if lines:
                parts.append(_case_list(what, lines, limit))
        parts.append(_bullets(changes.exclusions(comparison)))
        yield "\n\n".join(filter(None, parts))


def _case_list(what: str, lines: Sequence[str], limit: int | None) -> str:
    listed = _bullets(lines[:limit])
    more = "" if limit is None or len(lines) <= limit else f"\n- and {len(lines) - limit} more, in the full report"
    return f"{what} ({len(lines)}):\n\n{listed}{more}"


def _bullets(lines: Iterable[str]) -> str:
    return "\n".join(f"- {_cell(line)}" for line in lines)


def _how_to_read(report: Report) -> str:
    return (
        f"## How to read this\n\n- {RECALL_CAVEAT}\n- {LOCALE_NOTE}\n- n counts scored cases with gold; a case "
        "without gold has no score and is in no mean."
    )


def _cell(text: str) -> str:
    # Titles and ids are anybody's words: they must neither break the table nor become markup.
    return _MARKUP.sub(r"\\\g<0>", text).replace("&", "&amp;").replace("<", "&lt;").replace("\n", " ")


def _section(retriever: RetrieverReport, k: int) -> str:
    parts = [f"## {retriever.name}"]
    if retriever.not_scored is not None:
        parts.append(f"**Not scored:** {_cell(retriever.not_scored)}.")
    parts += [slice_table(retriever.slices, k), words.ledger_sentence(retriever, k), _check_table(retriever)]
    return "\n\n".join(filter(None, parts))


def _findings(retriever: RetrieverReport) -> str:
    return "\n\n".join(filter(None, [f"**{retriever.name}**", _check_table(retriever)]))


def _check_table(retriever: RetrieverReport) -> str:
    rows = [(check.name, check.status.value, check.detail) for check in retriever.checks]
    return table(("check", "status", "finding"), rows, texts=3) if rows else ""
