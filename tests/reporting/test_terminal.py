import re
from collections.abc import Mapping
from dataclasses import replace

import pytest

from recall_assets.gate import Status, Verdict
from recall_assets.intervals import Interval
from recall_assets.metrics import Triad
from recall_assets.pairing import Pair
from recall_assets.reporting.model import CheckResult, RetrieverReport
from recall_assets.reporting.terminal import print_comparisons, print_report
from recall_assets.slices import Ledger, SliceScore
from tests.baselines import scored
from tests.reporting.conftest import COMPARISON, LONGEST

_STYLE = re.compile(r"\x1b\[[0-9;]*m")


@pytest.fixture
def printed(monkeypatch, capsys):
    """Prints a report, or comparisons by retriever, as on a terminal of that many columns, or (None) on a pipe.

    Gives the text without styles.
    """

    def print_at(report, columns, stored_at=None):
        for name in ("FORCE_COLOR", "NO_COLOR", "TTY_INTERACTIVE"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("TERM", "xterm")
        monkeypatch.setenv("TTY_COMPATIBLE", "0" if columns is None else "1")
        monkeypatch.setenv("COLUMNS", str(columns or 40))
        if isinstance(report, Mapping):
            print_comparisons(report)
        else:
            print_report(report, stored_at=stored_at)
        output = capsys.readouterr().out
        assert ("\x1b" in output) == (columns is not None)
        return _STYLE.sub("", output)

    return print_at


def rows(text):
    """The cells of the slice table, heading first."""
    lines = text[text.index("Retriever dense-en") :].splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("slice"))
    end = next(number for number, line in enumerate(lines) if line.startswith(("Ledger:", "Not scored:")))
    return [line.split() for line in lines[start:end] if line.strip(" \u2500")]


def with_slices(report, *slices):
    (retriever,) = report.retrievers
    return replace(report, retrievers=[replace(retriever, slices=[retriever.overall, *slices])])


RETRIEVER = [
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
]
CAVEATS = [
    "recall@k is a lower bound where gold is disjunctive: finding one of two",
    "acceptable cards scores 0.5, although the contract is met. hit@k is the success",
    "figure.",
    "Differences between locales are indicative: each locale's cases are authored on",
    "their own, so they differ in difficulty as well.",
]
CHANGES = [
    "dense-en against its baseline of 2026-09-01: 9 of 11 cases unchanged, 1 added, 1",
    "removed, 1 relabelled",
    "Added, so not compared: added-1.",
    "Removed, so not compared: gone-1.",
    "Relabelled, so not compared: new-label.",
    "Changed since the baseline: embedder.",
    "slice     metric   was   now -/+     p  sees",
    "\u2500" * 44,
    "locale=en hit@5  1.000 0.143 6/0 0.047 0.857",
    "overall   hit@5  0.889 0.333 6/1 0.062 0.667",
    "overall   nDCG@5 0.600 0.250 7/1 0.060     -",
    "Lost (6):",
    "  en-5 (critical): #4 -> MISS, nothing found",
    "  en-2: #1 -> MISS, now first: Fees",
    "  en-4: #1 -> MISS, nothing found",
    "  en-3: #2 -> MISS, nothing found",
    "  en-1: #3 -> MISS, now first: Refunds",
    "  en-6: #5 -> MISS, nothing found",
    "Gained (1):",
    "  pt-1: MISS -> #2",
    "Slipped (1):",
    "  en-7: #1 -> #3, now first: Limits | <b>",
    "Too few changes to tell (needs 6): case_type=golden,locale=pt-BR nDCG@5 (changed",
    "1 of 2).",
    "A drop that is not shown: overall hit@5 (a drop of 0.556; about 14 cases would",
    "show it), overall nDCG@5 (a drop of 0.350).",
    "At the edge, where more draws could turn the finding: overall nDCG@5.",
    "-/+: cases whose score fell and rose. p is one-sided and corrected over all",
    "tests of the sweep. sees: the smallest drop of hit@k that so few cases could",
    "have shown; 6 changes are the least that any test needs.",
    "",
]


def at_80_columns(text):
    return [line.rstrip() for line in text.splitlines()]


def test_the_whole_report_at_80_columns_begins_with_the_verdict_and_why(report, printed):
    assert at_80_columns(printed(report, 80, stored_at=".recall/report.md")) == [
        "Verdict: inconclusive (exit code 3)",
        "  dense-en: every_case_retrieved: 2 of 7 cases have no result: c1, c2",
        "",
        *RETRIEVER,
        "",
        *CAVEATS,
        "Verdict: inconclusive (exit code 3)",
        "Report: .recall/report.md",
    ]


def test_the_whole_report_beside_a_baseline_says_what_changed_before_any_figure(compared, printed):
    assert at_80_columns(printed(compared, 80, stored_at=".recall/report.md")) == [
        "Verdict: fail (exit code 1)",
        "  dense-en: no_regression: locale=en: regressed: hit@5 1.0000 -> 0.1429 (6 lost,",
        "  0 gained of 7; p 0.0156, 0.0469 corrected) (and 1 more slice)",
        "  dense-en: every_case_retrieved: 2 of 7 cases have no result: c1, c2",
        "",
        *CHANGES,
        *RETRIEVER,
        "  failed    no_regression         locale=en: regressed: hit@5 1.0000 -> 0.1429",
        "                                  (6 lost, 0 gained of 7; p 0.0156, 0.0469",
        "                                  corrected) (and 1 more slice)",
        "",
        *CAVEATS,
        "Verdict: fail (exit code 1)",
        "Report: .recall/report.md",
    ]


def test_comparisons_alone_are_printed_as_in_the_report_one_below_the_other(printed):
    other = replace(COMPARISON, tests=[], not_comparable="the baseline is at k = 3", changed=())
    assert at_80_columns(printed({"dense-en": COMPARISON, "exact": other}, 80)) == [
        *CHANGES,
        "exact against its baseline of 2026-09-01: 9 of 11 cases unchanged, 1 added, 1",
        "removed, 1 relabelled",
        "Not comparable: the baseline is at k = 3.",
        *CHANGES[2:5],
        *CHANGES[11:22],
        "",
    ]


def with_checks(report, *checks):
    (retriever,) = report.retrievers
    return replace(report, retrievers=[replace(retriever, checks=list(checks))])


def top(text):
    """What stands above the first retriever's figures."""
    return at_80_columns(text[: text.index("Retriever dense-en")])


def test_a_pass_says_in_a_sentence_what_held(report, printed):
    held = CheckResult("hit_floor", Status.PASSED, blocking=True, detail="at or above the floor 0.5")
    text = printed(with_checks(replace(report, verdict=Verdict.PASS), held), 80)
    assert top(text) == ["Verdict: pass (exit code 0)", "every active rule holds: hit_floor.", ""]


def failed(name, detail="below"):
    return CheckResult(name, Status.FAILED, blocking=True, detail=detail)


def test_three_reasons_are_listed_and_the_others_counted(report, printed):
    names = ("hit_floor", "recall_floor", "ndcg_floor", "every_retriever_scored", "collection_complete")
    text = printed(with_checks(replace(report, verdict=Verdict.FAIL), *map(failed, names)), 80)
    assert top(text) == [
        "Verdict: fail (exit code 1)",
        "  dense-en: hit_floor: below",
        "  dense-en: recall_floor: below",
        "  dense-en: ndcg_floor: below",
        "  and 2 more, under Checks",
        "",
    ]
    three = printed(with_checks(replace(report, verdict=Verdict.FAIL), *map(failed, names[:3])), 80)
    assert "more, under Checks" not in three


def test_a_long_reason_is_cut_so_that_verdict_and_reasons_stand_within_fifteen_lines(report, printed):
    words = " ".join(f"case-{number:03}" for number in range(200))
    names = ("hit_floor", "recall_floor", "ndcg_floor", "no_regression")
    *lines, more, _ = top(printed(with_checks(report, *(failed(name, words) for name in names)), 80))
    assert len(lines) <= 15
    assert more == "  and 1 more, under Checks"
    assert [line.endswith(" …") for line in lines].count(True) == 3


def test_a_reason_without_words_is_its_status(report, printed):
    bare = CheckResult("every_case_retrieved", Status.FAILED, blocking=True)
    assert top(printed(with_checks(report, bare), 80))[1] == "  dense-en: every_case_retrieved: failed"


def test_twenty_cases_are_listed_and_the_rest_is_in_the_report(printed):
    def lost(count):
        pairs = [Pair(scored(f"c{number:02}", 1), scored(f"c{number:02}", None)) for number in range(count)]
        pairing = replace(COMPARISON.pairing, pairs=pairs)
        return {"dense-en": replace(COMPARISON, pairing=pairing, first_titles=None)}

    text = printed(lost(21), 80)
    assert "Lost (21; the first 20, all are in the report):\n" in text.replace(" \n", "\n")
    assert text.count("#1 -> MISS") == 20
    assert "Lost (20):" in printed(lost(20), 80)


def test_the_widest_comparison_fits_80_columns_without_cutting_a_figure(printed):
    wide = replace(COMPARISON.tests[3], slice=LONGEST, fell=123, rose=45)
    text = printed({"dense-en": replace(COMPARISON, tests=[wide])}, 80)
    assert max(map(len, text.splitlines())) <= 80
    assert f"{LONGEST} hit@5" in " ".join(text.split())
    assert "1.000 0.143 123/45 0.047 0.857" in " ".join(text.split())


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
