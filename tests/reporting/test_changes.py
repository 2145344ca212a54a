from dataclasses import replace

from recall_assets.comparison import Current, compare
from recall_assets.config import Regression
from recall_assets.paired import PValue
from recall_assets.regression import Finding
from recall_assets.reporting import changes
from tests.baselines import FINGERPRINTS, baseline, ranked, scored

MISS = None


def compared(before, after, *, top_k=5, then_k=5, fingerprints=FINGERPRINTS, titles=None, **rule):
    run = Current(top_k, after, fingerprints, titles)
    (comparison,) = compare({"words": run}, {"words": baseline(before, top_k=then_k)}, Regression(**rule)).values()
    return comparison


def of_ranks(before, after, **options):
    return compared(ranked(before), ranked(after), **options)


def context(comparison):
    return list(changes.context(comparison))


def exclusions(comparison):
    return list(changes.exclusions(comparison))


def test_the_title_says_what_is_compared_with_what():
    before = [*ranked([1] * 10), scored("gone", 1), scored("anew", 1, label="old")]
    after = [*ranked([1] * 10), scored("new-1", 1), scored("new-2", 1), scored("anew", 1, label="new")]
    assert changes.title("words", compared(before, after)) == (
        "words against its baseline of 2026-01-02: 10 of 12 cases unchanged, 2 added, 1 removed, 1 relabelled"
    )


def test_a_row_has_means_counts_the_corrected_p_value_and_what_could_have_been_seen():
    before = ranked([1] * 13 + [MISS] * 4 + [1] * 183)
    after = ranked([MISS] * 13 + [1] * 4 + [1] * 183)
    rows = changes.table_rows(compared(before, after))
    # 196 and 187 of 200; p of 13 lost and 4 gained; 5 of 200.
    assert rows[0] == ("overall", "hit@5", "0.980", "0.935", "13/4", "0.025", "0.025")
    # All cases are English and golden: the other slices are the same cases, and recall and nDCG repeat hit.
    assert [row[:2] for row in rows] == [
        ("overall", "hit@5"),
        ("case_type=golden", "hit@5"),
        ("locale=en", "hit@5"),
        ("case_type=golden,locale=en", "hit@5"),
    ]
    assert len(changes.HEADINGS) == len(rows[0])


def test_what_recall_and_ndcg_say_beyond_hit_has_a_row():
    rows = changes.table_rows(of_ranks([3] * 100, [9] * 20 + [3] * 80, top_k=10, then_k=10))
    # Hit did not change and is not tested; what nDCG could have shown depends on the sizes of its changes.
    assert rows[0] == ("overall", "nDCG@10", "0.500", "0.460", "20/0", "<0.001", "-")
    assert {row[1] for row in rows} == {"nDCG@10"}
    # From rank 2 to a miss hit falls by 1.0 and nDCG by 0.63.
    assert [row[:4] for row in changes.table_rows(of_ranks([2] * 20, [MISS] * 10 + [2] * 10))[:2]] == [
        ("overall", "hit@5", "1.000", "0.500"),
        ("overall", "nDCG@5", "0.631", "0.315"),
    ]


def test_regressed_slices_come_first_and_of_them_those_that_fell_most():
    before = [*ranked([1] * 60), *ranked([1] * 20, prefix="p", locale="pt-BR")]
    after = [*ranked([MISS] * 6 + [1] * 54), *ranked([MISS] * 12 + [1] * 8, prefix="p", locale="pt-BR")]
    slices = list(dict.fromkeys(row[0] for row in changes.table_rows(compared(before, after))))
    assert slices == [
        "locale=pt-BR",
        "case_type=golden,locale=pt-BR",
        "overall",
        "case_type=golden",
        "locale=en",
        "case_type=golden,locale=en",
    ]


def test_where_nothing_was_tested_there_is_no_row():
    assert changes.table_rows(of_ranks([1] * 20, [MISS, *[1] * 19])) == []
    assert changes.table_rows(of_ranks([1] * 20, [1] * 20)) == []
    assert changes.table_rows(of_ranks([1] * 20, [1] * 20, then_k=7)) == []


def test_the_legend_explains_every_column_that_does_not_explain_itself():
    assert changes.legend(of_ranks([1] * 20, [MISS] * 5 + [1] * 15)) == (
        "-/+: cases whose score fell and rose. p is one-sided and corrected over all tests of the sweep. sees: the "
        "smallest drop of hit@k that so few cases could have shown; 5 changes are the least that any test needs."
    )


def test_of_a_test_with_too_few_changes_it_is_said_how_many_it_needs():
    assert context(of_ranks([1] * 20, [MISS, *[1] * 19])) == []
    assert exclusions(of_ranks([1] * 20, [MISS, *[1] * 19])) == [
        "Too few changes to tell (needs 5): overall hit@5 (changed 1 of 20), case_type=golden hit@5 (changed 1 of 20), "
        "locale=en hit@5 (changed 1 of 20), case_type=golden,locale=en hit@5 (changed 1 of 20)."
    ]


def test_of_a_drop_that_is_not_shown_it_is_said_how_many_cases_would_show_it():
    before, after = [1] * 5 + [MISS] * 2 + [1] * 33, [MISS] * 5 + [1] * 2 + [1] * 33
    (said,) = exclusions(of_ranks(before, after))
    # 14 lost and 6 gained have p = 0.0577, 15 and 6 have 0.0392: three times as many cases.
    assert said.startswith(
        "A drop that is not shown: overall hit@5 (a drop of 0.075; about 120 cases would show it), case_type=golden"
    )


def test_a_drop_within_the_tolerance_is_named():
    assert exclusions(of_ranks([1] * 100, [MISS] * 25 + [1] * 75, tolerance=0.25)) == [
        "A drop within the tolerance: overall hit@5, case_type=golden hit@5, locale=en hit@5, "
        "case_type=golden,locale=en hit@5."
    ]


def test_a_drawn_p_value_at_the_edge_is_named():
    comparison = of_ranks([1] * 20, [MISS] * 5 + [1] * 15)
    drawn = replace(comparison.tests[0], p=PValue(0.04, 0.03, 0.06), adjusted=0.04, at_edge=True)
    assert exclusions(replace(comparison, tests=[drawn])) == [
        "At the edge, where more draws could turn the finding: overall hit@5."
    ]


def test_a_regression_needs_no_sentence_because_it_is_in_the_table():
    comparison = of_ranks([1] * 20, [MISS] * 5 + [1] * 15)
    assert {test.finding for test in comparison.tests} == {Finding.REGRESSED}
    assert (context(comparison), exclusions(comparison)) == ([], [])


def test_where_no_score_changed_it_is_said():
    comparison = of_ranks([1, MISS, 3], [1, MISS, 3])
    assert (context(comparison), exclusions(comparison)) == (["No score has changed."], [])


def test_what_is_not_compared_is_named():
    before = [*ranked([1] * 10), scored("gone", 1), scored("anew", 1, label="old")]
    after = [*ranked([1] * 10), *ranked([1] * 7, prefix="new-"), scored("anew", 1, label="new")]
    assert context(compared(before, after)) == [
        "Added, so not compared: new-0000, new-0001, new-0002, new-0003, new-0004 and 2 more.",
        "Removed, so not compared: gone.",
        "Relabelled, so not compared: anew.",
        "No score has changed.",
    ]


def test_what_changed_around_the_cases_is_named():
    other = replace(FINGERPRINTS, knowledge_base="kb-2", embedder="embedder-2")
    assert context(of_ranks([1] * 3, [1] * 3, fingerprints=other)) == [
        "Changed since the baseline: knowledge base, embedder.",
        "No score has changed.",
    ]


def test_why_nothing_is_compared_comes_first():
    assert context(of_ranks([1] * 3, [1] * 3, then_k=7)) == [
        "Not comparable: the baseline is at k = 7, this sweep at k = 5; sweep at the same k, or promote a baseline at "
        "the new one."
    ]
    first, *others = context(of_ranks([1] * 50, [1] * 200))
    assert first.startswith("Not comparable: of 50 cases in the baseline and 200 in this sweep, 50 are the same")
    assert others == ["Added, so not compared: c0050, c0051, c0052, c0053, c0054 and 145 more."]


def test_lost_gained_and_slipped_cases_have_a_line_each_the_most_urgent_first():
    before = [
        scored("a", 3),
        scored("b", 1),
        scored("c", 2, critical=True),
        scored("d", MISS),
        scored("e", 1),
        scored("f", 2, critical=True),
    ]
    after = [
        scored("a", MISS),
        scored("b", MISS),
        scored("c", MISS, critical=True),
        scored("d", 4),
        scored("e", 3),
        scored("f", 5, critical=True),
    ]
    titles = {"a": "Fees", "c": "Limits", "d": "Fees", "e": "Fees", "f": "Cards"}
    comparison = compared(before, after, titles=titles)
    assert changes.lost_lines(comparison) == [
        "c (critical): #2 -> MISS, now first: Limits",
        "b: #1 -> MISS, nothing found",
        "a: #3 -> MISS, now first: Fees",
    ]
    assert changes.gained_lines(comparison) == ["d: MISS -> #4"]
    assert changes.slipped_lines(comparison) == [
        "f (critical): #2 -> #5, now first: Cards",
        "e: #1 -> #3, now first: Fees",
    ]


def test_where_titles_are_not_known_nothing_is_said_of_them():
    assert changes.lost_lines(of_ranks([1, 2], [MISS, 2])) == ["c0000: #1 -> MISS"]


def test_a_critical_case_that_is_no_longer_compared_is_named_first_and_as_critical():
    before = [scored("a", 1), scored("b", 1, critical=True), *(scored(f"c{n}", 1) for n in range(5))]
    after = [scored(f"c{n}", 1) for n in range(5)]
    assert "Removed, so not compared: b (critical), a." in context(compared(before, after))
