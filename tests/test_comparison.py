from dataclasses import replace
from pathlib import Path

import pytest

from recall_assets.baseline import UnusableBaseline
from recall_assets.comparison import (
    Current,
    compare,
    compare_baselines,
    judge_regression,
    moved,
    p_words,
)
from recall_assets.config import Regression
from recall_assets.gate import Status, Verdict, verdict_of
from recall_assets.problems import Problem
from recall_assets.reporting.model import check_of_rules
from tests.baselines import FINGERPRINTS, baseline, ranked, scored

MISS = None
FOLDER = Path("baselines")


def compared(before, after, *, top_k=5, then_k=5, fingerprints=FINGERPRINTS, titles=None, **rule):
    """The comparison of one retriever, and what the rule makes of it."""
    run, configured = Current(top_k, after, fingerprints, titles), Regression(**rule)
    committed = baseline(before, top_k=then_k)
    (comparison,) = compare({"words": run}, {"words": committed}, configured).values()
    return comparison, judge_regression("words", run, committed, comparison, FOLDER, configured)


def judged(before, after, **options):
    """What the rule makes of it, by slice."""
    return {rule.slice: rule for rule in compared(before, after, **options)[1]}


def verdict(before, after, **options):
    rules = judged(before, after, **options).values()
    return verdict_of((rule.rule, rule.status) for rule in rules)


def only(before, after, **options):
    """The one result where nothing could be tested."""
    comparison, (rule,) = compared(before, after, **options)
    assert comparison.tests == []
    assert (rule.slice, rule.n) == ("overall", 0)
    return rule


def test_as_many_cases_with_other_ids_are_not_compared_by_position():
    rule = only(ranked([1] * 20), ranked([MISS] * 20, prefix="d"))
    assert rule.status is Status.INCONCLUSIVE
    assert rule.detail == (
        "of 20 cases in the baseline and 20 in this sweep, none are the same (20 added, 20 "
        "removed, 0 relabelled); promote a baseline on these cases"
    )


@pytest.mark.parametrize(
    ("before", "after", "differ"),
    [
        pytest.param(50, 200, "150 added, 0 removed", id="a baseline of far fewer"),
        pytest.param(200, 50, "0 added, 150 removed", id="a baseline of far more"),
    ],
)
def test_a_baseline_of_another_case_set_is_inconclusive(before, after, differ):
    rule = only(ranked([1] * before), ranked([1] * after))
    assert rule.status is Status.INCONCLUSIVE
    assert rule.detail == (
        f"of {before} cases in the baseline and {after} in this sweep, 50 are the same, under 50% of the larger set "
        f"({differ}, 0 relabelled); promote a baseline on these cases"
    )
    assert verdict(ranked([1] * before), ranked([1] * after)) is Verdict.INCONCLUSIVE


def test_exactly_half_shared_is_compared_and_just_under_is_not():
    before = ranked([1] * 20)
    half = [*ranked([1] * 10), *ranked([1] * 10, prefix="new")]
    assert judged(before, half)["overall"].status is Status.PASSED
    assert only(before, [*ranked([1] * 9), *ranked([1] * 11, prefix="new")]).status is Status.INCONCLUSIVE
    assert only(before, half, min_shared=0.51).status is Status.INCONCLUSIVE


def test_no_shared_case_is_inconclusive_whatever_share_is_asked_for():
    rule = only(ranked([1] * 20), ranked([1] * 20, prefix="d"), min_shared=0.0)
    assert rule.status is Status.INCONCLUSIVE
    assert "under 0%" not in rule.detail


def test_another_k_is_inconclusive_and_says_what_to_do():
    rule = only(ranked([1] * 20), ranked([1] * 20), top_k=5, then_k=10)
    assert rule.status is Status.INCONCLUSIVE
    assert rule.detail == (
        "the baseline is at k = 10, this sweep at k = 5; sweep at the same k, or promote a baseline at the new one"
    )


def test_one_lost_of_twenty_does_not_fail_and_says_that_it_is_too_few_to_tell():
    rules = judged(ranked([1] * 20), ranked([MISS, *[1] * 19]))
    assert {rule.status for rule in rules.values()} == {Status.UNTESTED}
    assert rules["overall"].n == 20
    assert rules["overall"].detail == (
        "too few changes to tell (needs 5): hit@5 1.0000 -> 0.9500 (1 lost, 0 gained of 20)"
    )
    assert verdict(ranked([1] * 20), ranked([MISS, *[1] * 19])) is Verdict.PASS


def test_twenty_five_lost_of_two_thousand_fails_and_names_cases():
    before, after = ranked([1] * 2000), ranked([MISS] * 25 + [1] * 1975)
    assert verdict(before, after) is Verdict.FAIL
    assert judged(before, after)["overall"].detail == (
        "regressed: hit@5 1.0000 -> 0.9875 (25 lost, 0 gained of 2000; p <0.0001, <0.0001 corrected), so are recall@5 "
        "and nDCG@5; lost: c0000 (#1 -> MISS), c0001 (#1 -> MISS), c0002 (#1 -> MISS) and 22 more"
    )


def test_one_miss_in_a_slice_of_one_does_not_fail():
    before = [*ranked([1] * 40), scored("only", 1, locale="pt-BR")]
    after = [*ranked([1] * 40), scored("only", MISS, locale="pt-BR")]
    assert verdict(before, after) is Verdict.PASS
    assert judged(before, after)["locale=pt-BR"].detail == (
        "too few changes to tell (needs 5): hit@5 1.0000 -> 0.0000 (1 lost, 0 gained of 1)"
    )


def test_a_worse_case_while_the_mean_rose_does_not_fail():
    before, after = ranked([1, MISS, MISS, *[1] * 17]), ranked([MISS, 1, 1, *[1] * 17])
    assert verdict(before, after) is Verdict.PASS
    rule = judged(before, after)["overall"]
    assert rule.status is Status.PASSED
    assert rule.detail == "no drop is shown: hit@5 0.9000 -> 0.9500 (1 lost, 2 gained of 20)"


def test_where_nothing_changed_the_rule_passes_and_says_so():
    rule = judged(ranked([1, 2, MISS]), ranked([1, 2, MISS]))["overall"]
    assert (rule.status, rule.n) == (Status.PASSED, 3)
    assert rule.detail == "no case changed: hit@5 0.6667 -> 0.6667 (0 lost, 0 gained of 3)"


def test_gold_that_moves_from_rank_three_to_nine_fails_by_ndcg_and_names_cases():
    before, after = ranked([3] * 100), ranked([9] * 20 + [3] * 80)
    assert verdict(before, after, top_k=10, then_k=10) is Verdict.FAIL
    rule = judged(before, after, top_k=10, then_k=10)["overall"]
    # 1 / log2(4) = 0.5 and 1 / log2(10) = 0.30103; p = 0.5 ** 20.
    assert rule.detail == (
        "regressed: nDCG@10 0.5000 -> 0.4602 (20 fell, 0 rose of 100; p <0.0001, <0.0001 corrected); fell: "
        "c0000 (#3 -> #9), c0001 (#3 -> #9), c0002 (#3 -> #9) and 17 more"
    )


def test_thirteen_lost_and_four_gained_fail_one_sided():
    before = ranked([1] * 13 + [MISS] * 4 + [1] * 183)
    after = ranked([MISS] * 13 + [1] * 4 + [1] * 183)
    rule = judged(before, after)["overall"]
    assert rule.status is Status.FAILED
    assert rule.detail.startswith(
        "regressed: hit@5 0.9800 -> 0.9350 (13 lost, 4 gained of 200; p 0.0245, 0.0245 corrected), so are recall@5"
    )
    assert judged(before[::-1], after[::-1]) == judged(before, after)


def test_a_critical_case_that_is_lost_fails_by_itself_and_is_named():
    before = [*ranked([1] * 19), scored("must-have", 2, critical=True)]
    after = [*ranked([1] * 19), scored("must-have", MISS, critical=True)]
    assert verdict(before, after) is Verdict.FAIL
    rules = judged(before, after, titles={"must-have": "Fees"})
    assert rules["overall"].status is Status.FAILED
    assert rules["overall"].detail == (
        "1 critical case lost: must-have (#2 -> MISS, now first: Fees); too few changes to tell (needs 5): "
        "hit@5 1.0000 -> 0.9500 (1 lost, 0 gained of 20)"
    )
    assert {rule.status for name, rule in rules.items() if name != "overall"} == {Status.UNTESTED}


def test_every_critical_case_that_is_lost_is_counted():
    before, after = ranked([1] * 7, critical=True), ranked([MISS] * 7, critical=True)
    assert judged(before, after)["overall"].detail.startswith(
        "7 critical cases lost: c0000 (#1 -> MISS), c0001 (#1 -> MISS), c0002 (#1 -> MISS), c0003 (#1 -> MISS), "
        "c0004 (#1 -> MISS) and 2 more; regressed: "
    )


@pytest.mark.parametrize(("then", "now"), [(MISS, 1), (1, 5), (MISS, MISS), (1, 1)])
def test_a_critical_case_that_is_not_lost_fails_nothing(then, now):
    before = [*ranked([1] * 19), scored("must-have", then, critical=True)]
    assert verdict(before, [*ranked([1] * 19), scored("must-have", now, critical=True)]) is Verdict.PASS


@pytest.mark.parametrize(("then", "now"), [(False, True), (True, False)])
def test_a_case_is_critical_by_its_tag_of_now_or_of_the_baseline_which_cannot_be_taken_off_with_the_loss(then, now):
    before = [*ranked([1] * 19), scored("must-have", 1, critical=then)]
    assert verdict(before, [*ranked([1] * 19), scored("must-have", MISS, critical=now)]) is Verdict.FAIL


def test_a_tolerance_does_not_excuse_a_critical_case():
    before, after = ranked([1] * 20, critical=True), ranked([MISS, *[1] * 19], critical=True)
    assert verdict(before, after, tolerance=0.9) is Verdict.FAIL


def test_a_relabelled_critical_case_is_not_compared():
    before = [*ranked([1] * 19), scored("must-have", 1, critical=True, label="old")]
    after = [*ranked([1] * 19), scored("must-have", MISS, critical=True, label="new")]
    comparison, _ = compared(before, after)
    assert comparison.pairing.relabelled == ["must-have"]
    assert verdict(before, after) is Verdict.PASS


def test_added_removed_and_relabelled_cases_leave_the_figures_of_the_others_alone():
    same = ranked([1] * 20)
    before = [*same, scored("gone", 1), scored("asked-anew", 1, label="old")]
    after = [*same, scored("new", MISS), scored("asked-anew", MISS, label="new")]
    rule = judged(before, after)["overall"]
    assert (rule.n, rule.detail) == (20, "no case changed: hit@5 1.0000 -> 1.0000 (0 lost, 0 gained of 20)")


@pytest.mark.parametrize(
    ("fingerprints", "changed"),
    [
        (FINGERPRINTS, ()),
        (replace(FINGERPRINTS, knowledge_base="kb-2"), ("knowledge base",)),
        (replace(FINGERPRINTS, embedder="embedder-2"), ("embedder",)),
        (replace(FINGERPRINTS, retriever="retriever-2"), ("retriever configuration",)),
        (replace(FINGERPRINTS, case_labels="labels-2"), ("case labels",)),
        (replace(FINGERPRINTS, knowledge_base="kb-2", embedder="embedder-2"), ("knowledge base", "embedder")),
        (None, ()),
    ],
)
def test_a_run_made_from_something_else_is_compared_and_what_changed_is_named(fingerprints, changed):
    comparison, rules = compared(ranked([1] * 20), ranked([MISS] * 5 + [1] * 15), fingerprints=fingerprints)
    assert comparison.changed == changed
    assert {rule.status for rule in rules} == {Status.FAILED}


def test_a_shown_drop_within_the_tolerance_passes_and_is_not_said_not_to_be_there():
    before, after = ranked([1] * 100), ranked([MISS] * 25 + [1] * 75)
    rule = judged(before, after, tolerance=0.25)["overall"]
    assert verdict(before, after, tolerance=0.25) is Verdict.PASS
    assert rule.status is Status.PASSED
    assert "no drop is shown" not in rule.detail
    assert "tolerance" in rule.detail
    assert verdict(before, after, tolerance=0.24) is Verdict.FAIL


def test_recall_regresses_where_relevant_ids_are_lost_and_hit_does_not():
    found, half = (1.0, 1.0, 1.0), (1.0, 0.5, 0.6131471927654584)
    before = [scored(f"c{n}", 1, scores=found) for n in range(30)]
    after = [scored(f"c{n}", 1, scores=half if n < 7 else found) for n in range(30)]
    rule = judged(before, after)["overall"]
    assert rule.status is Status.FAILED
    assert rule.detail == (
        "regressed: recall@5 1.0000 -> 0.8833 (7 fell, 0 rose of 30; p 0.0078, 0.0156 corrected), so is nDCG@5; fell: "
        "c0 (#1 -> #1, but another gold or relevant card fell), c1 (#1 -> #1, but another gold or relevant card fell), "
        "c2 (#1 -> #1, but another gold or relevant card fell) and 4 more"
    )


def test_of_a_case_whose_first_gold_kept_its_rank_it_is_said_what_fell():
    before = [scored("a", 1, scores=(1.0, 1.0, 1.0))]
    after = [scored("a", 1, scores=(1.0, 0.5, 0.6131471927654584))]
    comparison, _ = compared(before, after)
    assert moved(comparison.pairing.slipped[0], comparison) == ("#1 -> #1, but another gold or relevant card fell")


def test_the_slices_that_failed_come_first_and_the_largest_drop_before_others():
    before = [*ranked([1] * 200), *ranked([1] * 20, prefix="p", locale="pt-BR")]
    after = [*ranked([1] * 200), *ranked([MISS] * 12 + [1] * 8, prefix="p", locale="pt-BR")]
    _, rules = compared(before, after)
    assert [(rule.slice, rule.status.value) for rule in rules] == [
        ("locale=pt-BR", "failed"),
        ("case_type=golden,locale=pt-BR", "failed"),
        ("overall", "failed"),
        ("case_type=golden", "failed"),
        ("locale=en", "passed"),
        ("case_type=golden,locale=en", "passed"),
    ]


def test_only_the_cases_of_the_slice_are_named_for_it():
    before = [*ranked([1] * 30), *ranked([1] * 30, prefix="p", locale="pt-BR")]
    after = [*ranked([MISS] * 10 + [1] * 20), *ranked([MISS] * 6 + [1] * 24, prefix="p", locale="pt-BR")]
    detail = judged(before, after)["locale=pt-BR"].detail
    assert detail.endswith("lost: p0000 (#1 -> MISS), p0001 (#1 -> MISS), p0002 (#1 -> MISS) and 3 more")


def test_two_retrievers_share_one_chance_of_a_false_alarm():
    fallen = ranked([1] * 11 + [MISS] + [1] * 28), ranked([MISS] * 11 + [1] + [1] * 28)
    before = [c for n in range(40) for c in ranked([1, MISS] * 6, prefix=f"t{n}-", case_type=f"type-{n}")]
    after = [c for n in range(40) for c in ranked([MISS, 1] * 6, prefix=f"t{n}-", case_type=f"type-{n}")]
    runs = {"words": Current(5, fallen[1]), "other": Current(5, after)}
    baselines = {"words": baseline(fallen[0]), "other": baseline(before, "other")}
    rule = Regression()

    def status(names):
        comparisons = compare({name: runs[name] for name in names}, baselines, rule)
        judgement = judge_regression("words", runs["words"], baselines["words"], comparisons["words"], FOLDER, rule)
        return next(result.status for result in judgement if result.slice == "overall")

    assert status(["words"]) is Status.FAILED
    assert status(["words", "other"]) is Status.PASSED


def test_a_retriever_that_is_not_comparable_takes_no_part_in_the_family():
    fallen = ranked([1] * 20), ranked([MISS] * 5 + [1] * 15)
    runs = {"words": Current(5, fallen[1]), "other": Current(5, ranked([MISS] * 20))}
    baselines = {"words": baseline(fallen[0]), "other": baseline(ranked([1] * 20), "other", top_k=7)}
    comparisons = compare(runs, baselines, Regression())
    assert comparisons["other"].tests == []
    assert {test.threshold for test in comparisons["words"].tests} == {0.05}


def without_comparison(committed, run=None, **rule):
    run = run or Current(5, ranked([1]))
    assert compare({"words": run}, {"words": committed}, Regression(**rule)) == {}
    (result,) = judge_regression("words", run, committed, None, FOLDER, Regression(**rule))
    return result.status, result.detail


def test_without_a_baseline_the_rule_is_inactive_and_says_how_to_make_one(here):
    make = "no baseline at baselines/words.json; recall baseline promote makes one"
    assert without_comparison(None) == (Status.INACTIVE, f"inactive: {make}")
    assert without_comparison(None, require_baseline=True) == (Status.INCONCLUSIVE, make)


def test_the_baselines_of_retrievers_that_may_have_been_renamed_are_named(here):
    FOLDER.mkdir()
    for name in ("word.json", "letters.json", ".words.json.1", "README.md"):
        (FOLDER / name).touch()
    assert without_comparison(None) == (
        Status.INACTIVE,
        "inactive: no baseline at baselines/words.json (there are: letters, word); recall baseline promote makes one",
    )


def test_where_baselines_are_not_looked_for_the_rule_says_so(here):
    why = "nothing is compared (gate.regression.compare is false, or --cases or --k came without --baselines)"
    assert without_comparison(None, compare=False) == (Status.INACTIVE, f"inactive: {why}")
    assert without_comparison(None, compare=False, require_baseline=True) == (Status.INCONCLUSIVE, why)


@pytest.mark.parametrize(
    ("invalid", "status", "outcome"),
    [
        pytest.param(True, Status.INVALID, Verdict.INVALID, id="damaged"),
        pytest.param(False, Status.INCONCLUSIVE, Verdict.INCONCLUSIVE, id="of another format"),
    ],
)
def test_a_baseline_that_cannot_be_used_is_named_with_its_place(invalid, status, outcome):
    unusable = UnusableBaseline(invalid, Problem("baselines/words.json", 3, "no JSON; restore it"))
    assert without_comparison(unusable) == (status, "baselines/words.json:3: no JSON; restore it")
    assert verdict_of([("no_regression", status)]) is outcome


def test_a_retriever_that_was_not_scored_is_inconclusive_with_its_reason():
    run = Current(5, [], not_scored="it was never run")
    assert without_comparison(baseline(ranked([1])), run) == (Status.INCONCLUSIVE, "not scored: it was never run")


def test_a_sweep_without_a_scored_case_is_not_comparable_with_a_baseline_that_has_some():
    assert only(ranked([1] * 3), []).status is Status.INCONCLUSIVE


def test_the_check_of_the_rule_lists_every_slice_that_failed_worst_first():
    before = [*ranked([1] * 200), *ranked([1] * 20, prefix="p", locale="pt-BR")]
    after = [*ranked([1] * 200), *ranked([MISS] * 12 + [1] * 8, prefix="p", locale="pt-BR")]
    (check,) = check_of_rules(compared(before, after)[1])
    assert (check.name, check.status) == ("no_regression", Status.FAILED)
    assert [line.partition(": regressed")[0] for line in check.detail.splitlines()] == [
        "locale=pt-BR",
        "case_type=golden,locale=pt-BR",
        "regressed: hit@5 1.0000 -> 0.9455 (12 lost, 0 gained of 220; p 0.0002, 0.0002 corrected), so are recall@5 and "
        "nDCG@5; lost: p0000 (#1 -> MISS), p0001 (#1 -> MISS), p0002 (#1 -> MISS) and 9 more",
        "case_type=golden",
    ]


@pytest.mark.parametrize(
    ("then", "now", "titles", "words"),
    [
        (1, MISS, None, "#1 -> MISS"),
        (3, MISS, {"a": "Fees"}, "#3 -> MISS, now first: Fees"),
        (3, MISS, {}, "#3 -> MISS, nothing found"),
        (1, 4, {"a": "Fees"}, "#1 -> #4, now first: Fees"),
        (4, 1, {"a": "Fees"}, "#4 -> #1"),
        (MISS, 2, {"a": "Fees"}, "MISS -> #2"),
    ],
)
def test_where_a_case_moved_and_what_is_first_in_its_place(then, now, titles, words):
    comparison, _ = compared([scored("a", then)], [scored("a", now)], titles=titles)
    assert moved(comparison.pairing.pairs[0], comparison) == words


@pytest.mark.parametrize(
    ("p", "words"),
    [(1.0, "1.0000"), (0.02452, "0.0245"), (0.0001, "0.0001"), (0.00009, "<0.0001"), (1e-300, "<0.0001")],
)
def test_a_small_p_value_is_never_shown_as_zero(p, words):
    assert p_words(p) == words


def test_two_baselines_are_compared_like_a_run_with_a_baseline():
    before = baseline(ranked([1] * 20), date="2026-01-01T00:00:00Z")
    after = baseline(ranked([MISS] * 5 + [1] * 15), fingerprints=replace(FINGERPRINTS, embedder="embedder-2"))
    comparisons, rules = compare_baselines(before, after, Regression())
    assert list(comparisons) == ["words"]
    assert (comparisons["words"].changed, comparisons["words"].baseline) == (("embedder",), before)
    assert {rule.status for rule in rules} == {Status.FAILED}
    assert rules[0].detail.startswith("regressed: hit@5 1.0000 -> 0.7500 (5 lost, 0 gained of 20; p 0.0312")
