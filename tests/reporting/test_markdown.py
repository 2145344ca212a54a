from dataclasses import replace

from recall_assets.gate import Status, Verdict
from recall_assets.pairing import Pair
from recall_assets.reporting.markdown import (
    no_figures_markdown,
    report_markdown,
    slice_table,
    summary_markdown,
    table,
)
from recall_assets.reporting.model import LOCALE_NOTE, RECALL_CAVEAT, CheckResult, Report, RetrieverReport
from tests.baselines import scored
from tests.reporting.conftest import COMPARISON

SLICE_TABLE = """\
| slice | n | hit@5 | 95% CI | recall@5 | nDCG@5 |
| --- | ---: | ---: | ---: | ---: | ---: |
| overall | 3 | 0.667 | 0.21-0.94 | 0.500 | 0.613 |
| case_type=golden | 2 | 1.000 | 0.34-1.00 | 0.750 | 1.000 |
| locale=pt-BR | 0 | - | - | - | - |
| case_type=adversarial,locale=es-419 | 1 | 0.000 | 0.00-0.79 | 0.000 | 0.000 |"""
LEDGER = (
    "7 cases, 5 with gold, 3 scored; results: 1 empty, 2 missing, 2 short (fewer than 5 cards); 4 duplicates dropped."
)
CHECK_TABLE = """\
| check | status | finding |
| --- | --- | --- |
| every_case_retrieved | failed | 2 of 7 cases have no result: c1, c2 |
| index_matches_exact | warning | 1 of 5 top lists differs |
| hit_floor | inactive | inactive: no floor is set; observed 0.6667, n 3 |
| cases_valid | passed | 7 cases |"""
WHY = "dense-en: no_regression failed: {} (and 1 more slice) (and 1 more, below)"
REGRESSED = "locale=en: regressed: hit@5 1.0000 -> 0.1429 (6 lost, 0 gained of 7; p 0.0156, 0.0469 corrected)"
COMPARED = f"""\
{CHECK_TABLE}
| no_regression | failed | {REGRESSED} overall: and another line |"""
HOW_TO_READ = f"""\
## How to read this

- {RECALL_CAVEAT}
- {LOCALE_NOTE}
- n counts scored cases with gold; a case without gold has no score and is in no mean."""
# Recall says of the overall slice what hit says, and has no row; nor have tests without a p-value.
CHANGES = """\
## dense-en against its baseline of 2026-09-01: 9 of 11 cases unchanged, 1 added, 1 removed, 1 relabelled

- Added, so not compared: added-1.
- Removed, so not compared: gone-1.
- Relabelled, so not compared: new-label.
- Changed since the baseline: embedder.

| slice | metric | was | now | -/+ | p | sees |
| --- | --- | ---: | ---: | ---: | ---: | ---: |
| locale=en | hit@5 | 1.000 | 0.143 | 6/0 | 0.047 | 0.857 |
| overall | hit@5 | 0.889 | 0.333 | 6/1 | 0.062 | 0.667 |
| overall | nDCG@5 | 0.600 | 0.250 | 7/1 | 0.060 | - |

-/+: cases whose score fell and rose. p is one-sided and corrected over all tests of the sweep. sees: the smallest \
drop of hit@k that so few cases could have shown; 6 changes are the least that any test needs.

Lost (6):

- en-5 (critical): #4 -> MISS, nothing found
- en-2: #1 -> MISS, now first: Fees
- en-4: #1 -> MISS, nothing found
- en-3: #2 -> MISS, nothing found
- en-1: #3 -> MISS, now first: Refunds
- en-6: #5 -> MISS, nothing found

Gained (1):

- pt-1: MISS -> #2

Slipped within the top k (1):

- en-7: #1 -> #3, now first: Limits \\| &lt;b>

- Too few changes to tell (needs 6): case_type=golden,locale=pt-BR nDCG@5 (changed 1 of 2).
- A drop that is not shown: overall hit@5 (a drop of 0.556; about 14 cases would show it), overall nDCG@5 (a drop of \
0.350).
- At the edge, where more draws could turn the finding: overall nDCG@5."""


def test_the_whole_report_without_a_baseline_begins_with_the_verdict_and_why(report):
    assert (
        report_markdown(report)
        == f"""\
# Retrieval recall: inconclusive

dense-en: every_case_retrieved failed: 2 of 7 cases have no result: c1, c2

Cutoff k = 5.

## dense-en

{SLICE_TABLE}

{LEDGER}

{CHECK_TABLE}

{HOW_TO_READ}
"""
    )


def test_the_whole_report_beside_a_baseline_says_what_changed_before_any_figure(compared):
    assert (
        report_markdown(compared)
        == f"""\
# Retrieval recall: fail

{WHY.format(REGRESSED)}

Cutoff k = 5.

{CHANGES}

## dense-en

{SLICE_TABLE}

{LEDGER}

{COMPARED}

{HOW_TO_READ}
"""
    )


def test_the_whole_summary_has_one_line_of_verdict_then_what_changed_then_the_tables_and_folds_the_rest(compared):
    assert (
        summary_markdown(compared)
        == f"""\
**Retrieval gate: fail** (exit code 1): {WHY.format(REGRESSED)}

{CHANGES}

**dense-en**

{SLICE_TABLE}

<details><summary>Checks, ledgers, how to read this</summary>

**dense-en**

{COMPARED}

{HOW_TO_READ}

</details>
"""
    )


def with_lost(report, count):
    """The report of a run that lost this many cases."""
    pairs = [Pair(scored(f"c{number:02}", 1), scored(f"c{number:02}", None)) for number in range(count)]
    comparison = replace(COMPARISON, pairing=replace(COMPARISON.pairing, pairs=pairs), first_titles=None)
    return replace(report, retrievers=[replace(report.retrievers[0], comparison=comparison)])


def test_a_summary_lists_twenty_cases_and_says_how_many_more_there_are(compared):
    lines = summary_markdown(with_lost(compared, 21)).splitlines()
    start = lines.index("Lost (21):") + 2
    assert lines[start : start + 22] == [
        *(f"- c{number:02}: #1 -> MISS" for number in range(20)),
        "- and 1 more, in the full report",
        "",
    ]
    assert "more, in the full report" not in summary_markdown(with_lost(compared, 20))


def test_the_full_report_lists_every_case(compared):
    markdown = report_markdown(with_lost(compared, 45))
    assert "Lost (45):" in markdown
    assert markdown.count("#1 -> MISS\n") == 45


def test_a_comment_that_a_pull_request_holds_is_not_outgrown_by_hundreds_of_lost_cases(compared):
    assert len(summary_markdown(with_lost(compared, 900))) < 65_536


def test_without_figures_the_summary_is_the_verdict_and_every_problem():
    problems = ["cards.jsonl:2: no title", "cases.jsonl:7: <b> | c"]
    assert no_figures_markdown(Verdict.INVALID, problems) == (
        "**Retrieval gate: invalid** (exit code 2)\n\n- cards.jsonl:2: no title\n- cases.jsonl:7: &lt;b> \\| c\n"
    )


def test_a_retriever_that_was_not_scored_says_why(report):
    (retriever,) = report.retrievers
    unscored = RetrieverReport("dense-en", retriever.slices, not_scored="it was never run")
    markdown = report_markdown(Report(Verdict.INCONCLUSIVE, 5, [unscored]))
    assert "## dense-en\n\n**Not scored:** it was never run.\n\n| slice |" in markdown
    assert "| check |" not in markdown


def test_every_retriever_has_its_section_in_order(report):
    (retriever,) = report.retrievers
    two = [RetrieverReport(name, retriever.slices, retriever.checks) for name in ("sparse", "dense")]
    markdown = report_markdown(Report(Verdict.PASS, 5, two))
    assert [line for line in markdown.splitlines() if line.startswith("## ")] == [
        "## sparse",
        "## dense",
        "## How to read this",
    ]


def test_what_would_break_a_cell_is_escaped():
    assert table(("a", "b"), [("x|y", "one\ntwo")]) == "| a | b |\n| --- | ---: |\n| x\\|y | one two |"
    assert table(("a",), [("<img src=x>",)]) == "| a |\n| --- |\n| &lt;img src=x> |"


def test_a_finding_cannot_add_a_column(report):
    check = CheckResult("cases_valid", Status.FAILED, blocking=True, detail="c1 | c2\nc3")
    markdown = report_markdown(Report(Verdict.INVALID, 5, [RetrieverReport("d", report.retrievers[0].slices, [check])]))
    assert "\n| cases_valid | failed | c1 \\| c2 c3 |\n" in markdown


def test_words_of_a_title_become_no_markup_in_the_reason_either(report):
    check = CheckResult("no_regression", Status.FAILED, blocking=True, detail="lost: c1 (#1 -> MISS, now first: <b>)")
    loud = replace(report, retrievers=[RetrieverReport("d", report.retrievers[0].slices, [check])])
    for markdown in (report_markdown(loud), summary_markdown(loud)):
        assert "d: no_regression failed: lost: c1 (#1 -> MISS, now first: &lt;b>)" in markdown
        assert "<b>" not in markdown


def test_a_table_of_no_slice_is_its_headings():
    assert slice_table([], 3) == "| slice | n | hit@3 | 95% CI | recall@3 | nDCG@3 |\n" + (
        "| --- | ---: | ---: | ---: | ---: | ---: |"
    )


def test_what_went_wrong_in_the_sweep_stands_under_the_verdict(report):
    broken = replace(report, errors=("sweep_index a: Chroma at 127.0.0.1:9 cannot be used",))
    for markdown in (report_markdown(broken), summary_markdown(broken)):
        assert "\n\n- sweep_index a: Chroma at 127.0.0.1:9 cannot be used\n\n" in markdown
