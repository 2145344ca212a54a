from recall_assets.gate import Status, Verdict
from recall_assets.reporting.markdown import report_markdown, slice_table, table
from recall_assets.reporting.model import LOCALE_NOTE, RECALL_CAVEAT, CheckResult, Report, RetrieverReport


def test_the_whole_report(report):
    assert (
        report_markdown(report)
        == f"""\
# Retrieval recall: inconclusive

Cutoff k = 5.

## dense-en

| slice | n | hit@5 | 95% CI | recall@5 | nDCG@5 |
| --- | ---: | ---: | ---: | ---: | ---: |
| overall | 3 | 0.667 | 0.21-0.94 | 0.500 | 0.613 |
| case_type=golden | 2 | 1.000 | 0.34-1.00 | 0.750 | 1.000 |
| locale=pt-BR | 0 | - | - | - | - |
| case_type=adversarial,locale=es-419 | 1 | 0.000 | 0.00-0.79 | 0.000 | 0.000 |

7 cases, 5 with gold, 3 scored; results: 1 empty, 2 missing, 2 short (fewer than 5 cards); 4 duplicates dropped.

| check | status | finding |
| --- | --- | --- |
| every_case_retrieved | failed | 2 of 7 cases have no result: c1, c2 |
| index_matches_exact | warning | 1 of 5 top lists differs |
| hit_floor | inactive | inactive: no floor is set; observed 0.6667, n 3 |
| cases_valid | passed | 7 cases |

## How to read this

- {RECALL_CAVEAT}
- {LOCALE_NOTE}
- n counts scored cases with gold; a case without gold has no score and is in no mean.
"""
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


def test_a_finding_cannot_add_a_column(report):
    check = CheckResult("cases_valid", Status.FAILED, blocking=True, detail="c1 | c2\nc3")
    markdown = report_markdown(Report(Verdict.INVALID, 5, [RetrieverReport("d", report.retrievers[0].slices, [check])]))
    assert "\n| cases_valid | failed | c1 \\| c2 c3 |\n" in markdown


def test_a_table_of_no_slice_is_its_headings():
    assert slice_table([], 3) == "| slice | n | hit@3 | 95% CI | recall@3 | nDCG@3 |\n" + (
        "| --- | ---: | ---: | ---: | ---: | ---: |"
    )
