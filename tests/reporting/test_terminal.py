import re
from dataclasses import replace

import pytest

from recall_assets.gate import Status, Verdict
from recall_assets.intervals import Interval
from recall_assets.metrics import Triad
from recall_assets.reporting.model import CheckResult, RetrieverReport
from recall_assets.reporting.terminal import print_report
from recall_assets.slices import Ledger, SliceScore
from tests.reporting.conftest import LONGEST

_STYLE = re.compile(r"\x1b\[[0-9;]*m")


@pytest.fixture
def printed(monkeypatch, capsys):
    """Prints a report as on a terminal of that many columns, or (None) on a pipe; gives the text without styles."""

    def print_at(report, columns, stored_at=None):
        for name in ("FORCE_COLOR", "NO_COLOR", "TTY_INTERACTIVE"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("TERM", "xterm")
        monkeypatch.setenv("TTY_COMPATIBLE", "0" if columns is None else "1")
        monkeypatch.setenv("COLUMNS", str(columns or 40))
        print_report(report, stored_at=stored_at)
        output = capsys.readouterr().out
        assert ("\x1b" in output) == (columns is not None)
        return _STYLE.sub("", output)

    return print_at


def rows(text):
    """The cells of the slice table, heading first."""
    lines = text.splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("slice"))
    end = next(number for number, line in enumerate(lines) if line.startswith(("Ledger:", "Not scored:")))
    return [line.split() for line in lines[start:end] if line.strip(" \u2500")]


def with_slices(report, *slices):
    (retriever,) = report.retrievers
    return replace(report, retrievers=[replace(retriever, slices=[retriever.overall, *slices])])


def test_the_whole_report_at_80_columns(report, printed):
    lines = [line.rstrip() for line in printed(report, 80, stored_at=".recall/report.md").splitlines()]
    assert lines == [
        "Retriever dense-en",
        "slice                                n  hit@5     95% CI  recall@5  nDCG@5",
        "\u2500" * 74,
        "overall                              3  0.667  0.21-0.94     0.500   0.613",
        "case_type=golden                     2  1.000  0.34-1.00     0.750   1.000",
        "locale=pt-BR                         0      -          -         -       -",
        "case_type=adversarial,locale=es-419  1  0.000  0.00-0.79     0.000   0.000",
        "Ledger: 7 cases, 5 with gold, 3 scored; results: 1 empty, 2 missing, 2 short",
        "(fewer than 5 cards); 4 duplicates dropped.",
        "Checks:",
        "  failed    every_case_retrieved  2 of 7 cases have no result: c1, c2",
        "  warning   index_matches_exact   1 of 5 top lists differs",
        "  inactive  hit_floor             no floor is set; observed 0.6667, n 3",
        "  passed    cases_valid",
        "",
        "recall@k is a lower bound where gold is disjunctive: finding one of two",
        "acceptable cards scores 0.5, although the contract is met. hit@k is the success",
        "figure.",
        "Differences between locales are indicative: each locale's cases are authored on",
        "their own, so they differ in difficulty as well.",
        "Verdict: inconclusive (exit code 3)",
        "Report: .recall/report.md",
    ]


@pytest.mark.parametrize(("k", "n"), [(5, 45), (10, 300), (10, 9999)])
def test_a_terminal_of_80_columns_holds_the_longest_slice_on_one_line(report, printed, k, n):
    longest = SliceScore(LONGEST, n, Triad(0.5, 0.25, 0.125), Interval(0.4, 0.6), Ledger(n, n, n, 0, 0, 0, 0))
    text = printed(replace(with_slices(report, longest), top_k=k), 80)
    assert max(map(len, text.splitlines())) <= 80
    assert rows(text)[0] == ["slice", "n", f"hit@{k}", "95%", "CI", f"recall@{k}", f"nDCG@{k}"]
    assert rows(text)[-1] == [LONGEST, str(n), "0.500", "0.40-0.60", "0.250", "0.125"]


@pytest.mark.parametrize(
    ("name", "k"),
    [
        pytest.param("case_type=regional_words_and_typos,locale=zh-Hant-TW", 5, id="a long case type"),
        pytest.param(LONGEST, 1000, id="a large cutoff"),
    ],
)
def test_a_slice_that_cannot_fit_is_folded_and_no_figure_is_cut(report, printed, name, k):
    wide = SliceScore(name, 123456, Triad(0.5, 0.25, 0.125), Interval(0.4, 0.6), Ledger(9, 9, 9, 0, 0, 0, 0))
    text = printed(replace(with_slices(report, wide), top_k=k), 80)
    assert max(map(len, text.splitlines())) <= 80
    (*_, first, second) = rows(text)
    assert first[1:] == ["123456", "0.500", "0.40-0.60", "0.250", "0.125"]
    assert first[0] + second[0] == name


def test_long_findings_wrap_within_their_column(report, printed):
    (retriever,) = report.retrievers
    detail = "90 of 300 cases have no result: " + ", ".join(f"adversarial-es-419-{number:03}" for number in range(5))
    check = CheckResult("every_retriever_scored", Status.INCONCLUSIVE, blocking=True, detail=detail)
    text = printed(replace(report, retrievers=[replace(retriever, checks=[check])]), 80)
    assert max(map(len, text.splitlines())) <= 80
    lines = text.splitlines()
    start = lines.index("Checks:") + 1
    assert lines[start].startswith("  inconclusive  every_retriever_scored  90 of 300 cases")
    finding = " ".join(line[40:].strip() for line in lines[start : lines.index(" " * 80)])
    assert finding == detail


def test_on_a_pipe_the_text_is_plain_unpadded_and_never_so_narrow_that_figures_are_cut(report, printed):
    text = printed(report, None)
    assert 40 < max(map(len, text.splitlines())) <= 80
    assert not [line for line in text.splitlines() if line != line.rstrip()]
    assert rows(text)[-1] == [LONGEST, "1", "0.000", "0.00-0.79", "0.000", "0.000"]


def test_where_the_report_lies_is_one_line_that_can_be_copied(report, printed):
    path = "/" + "long-folder/" * 12 + "report.md"
    assert printed(report, 80, stored_at=path).splitlines()[-1] == f"Report: {path}"


def test_where_nothing_was_stored_no_place_is_named(report, printed):
    assert "Report:" not in printed(report, 80)


def test_a_retriever_that_was_not_scored_says_why(report, printed):
    (retriever,) = report.retrievers
    unscored = RetrieverReport("dense-en", retriever.slices, not_scored="it was never run")
    assert "\nNot scored: it was never run.\nLedger: " in printed(replace(report, retrievers=[unscored]), 80)


def test_brackets_in_a_text_are_printed_and_not_taken_for_a_style(report, printed):
    check = CheckResult("cases_valid", Status.FAILED, blocking=True, detail="retrieved[0] is [bold]null[/bold]")
    (retriever,) = report.retrievers
    loud = RetrieverReport("dense-en", retriever.slices, [check], not_scored="[red]never[/red] run")
    text = printed(replace(report, retrievers=[loud]), 80, stored_at="[dim]/report.md")
    assert "retrieved[0] is [bold]null[/bold]" in text
    assert "Not scored: [red]never[/red] run." in text
    assert "Report: [dim]/report.md" in text


@pytest.mark.parametrize(
    ("verdict", "line"), [(Verdict.PASS, "pass (exit code 0)"), (Verdict.FAIL, "fail (exit code 1)")]
)
def test_the_verdict_comes_with_its_exit_code(report, printed, verdict, line):
    assert f"Verdict: {line}" in printed(replace(report, verdict=verdict), 80).splitlines()
