import math

import pytest

from recall_assets import paired
from recall_assets.config import Regression
from recall_assets.metrics import HIT, METRICS, NDCG, RECALL
from recall_assets.paired import sign_test
from recall_assets.pairing import pair
from recall_assets.regression import Finding, regression_tests
from tests.baselines import ranked, scored

MISS = None


def compared(before, after, **rule):
    """The tests of one retriever by slice and metric."""
    return in_family({"words": (before, after)}, **rule)["words"]


def in_family(retrievers, **rule):
    pairs = {name: pair(before, after).pairs for name, (before, after) in retrievers.items()}
    tests = regression_tests(pairs, Regression(**rule))
    return {name: {(test.slice, test.metric): test for test in those} for name, those in tests.items()}


def of_ranks(before, after, **rule):
    return compared(ranked(before), ranked(after), **rule)


def overall(tests, metric=HIT):
    return tests["overall", metric]


def findings(tests):
    return {test.finding for test in tests.values()}


def fifty_fifty(types, changed):
    """As many case types, each with so many changed cases, half lost and half gained: tests that could come out."""
    before, after = [], []
    for number in range(types):
        about = {"prefix": f"t{number}-", "case_type": f"type-{number}"}
        before += ranked([1, MISS] * (changed // 2), **about)
        after += ranked([MISS, 1] * (changed // 2), **about)
    return before, after


def test_every_slice_and_metric_is_tested_in_the_order_of_the_slices():
    before = [scored("a", 1), scored("b", 2, locale="pt-BR"), scored("c", 3, case_type="adversarial")]
    assert list(compared(before, before)) == [
        (name, metric)
        for name in (
            "overall",
            "case_type=adversarial",
            "case_type=golden",
            "locale=en",
            "locale=pt-BR",
            "case_type=adversarial,locale=en",
            "case_type=golden,locale=en",
            "case_type=golden,locale=pt-BR",
        )
        for metric in METRICS
    ]


def test_a_test_has_the_means_and_counts_of_its_slice_at_full_precision():
    before = [scored("a", 1), scored("b", 2), scored("c", MISS), scored("d", 1, locale="pt-BR")]
    after = [scored("a", 3), scored("b", MISS), scored("c", 1), scored("d", 1, locale="pt-BR")]
    tests = compared(before, after)
    hit, ndcg = tests["locale=en", HIT], tests["locale=en", NDCG]
    assert (hit.n, hit.before, hit.after, hit.fell, hit.rose) == (3, 2 / 3, 2 / 3, 1, 1)
    assert (ndcg.n, ndcg.fell, ndcg.rose) == (3, 2, 1)
    assert ndcg.before == pytest.approx((1 + 1 / math.log2(3)) / 3, rel=1e-15)
    assert ndcg.after == pytest.approx((0.5 + 1) / 3, rel=1e-15)
    assert (overall(tests).n, overall(tests).drop) == (4, 0.0)


def test_where_nothing_changed_no_test_is_made():
    tests = of_ranks([1, 2, MISS], [1, 2, MISS])
    assert findings(tests) == {Finding.UNCHANGED}
    assert {(test.p, test.adjusted, test.cases_needed) for test in tests.values()} == {(None, None, None)}


def test_a_retriever_without_a_pair_has_no_test():
    assert in_family({"words": ([], []), "other": (ranked([1]), ranked([1]))})["words"] == {}


def test_one_lost_of_twenty_is_too_few_to_tell():
    test = overall(of_ranks([1] * 20, [MISS, *[1] * 19]))
    assert (test.finding, test.fell, test.needs, test.p) == (Finding.TOO_FEW, 1, 5, None)
    # Five of twenty, all lost, could have shown; so many are lost in a hundred cases at this rate.
    assert (test.smallest_drop, test.cases_needed) == (0.25, 100)


def test_twenty_five_lost_of_two_thousand_is_a_regression():
    tests = of_ranks([1] * 2000, [MISS] * 25 + [1] * 1975)
    assert overall(tests).finding is Finding.REGRESSED
    assert overall(tests).drop == pytest.approx(0.0125)
    assert overall(tests).p.p == pytest.approx(0.5**25)
    assert findings(tests) == {Finding.REGRESSED}


def test_one_miss_in_a_slice_of_one_is_too_few_to_tell():
    before = [*ranked([1] * 40), scored("only", 1, locale="pt-BR")]
    after = [*ranked([1] * 40), scored("only", MISS, locale="pt-BR")]
    test = compared(before, after)["locale=pt-BR", HIT]
    assert (test.n, test.drop, test.finding, test.smallest_drop) == (1, 1.0, Finding.TOO_FEW, None)


def test_a_worse_case_while_the_mean_rose_is_no_drop():
    tests = of_ranks([1, MISS, MISS, *[1] * 17], [MISS, 1, 1, *[1] * 17])
    assert (overall(tests).fell, overall(tests).rose) == (1, 2)
    assert findings(tests) == {Finding.NO_DROP}


def test_as_many_lost_as_gained_is_no_drop_however_many_they_are():
    tests = of_ranks([1, MISS] * 100, [MISS, 1] * 100)
    assert findings(tests) == {Finding.NO_DROP}
    assert overall(tests).p.p == pytest.approx(sign_test(100, 100))


def test_gold_that_moves_from_rank_three_to_nine_is_a_regression_of_ndcg_alone():
    tests = of_ranks([3] * 100, [9] * 20 + [3] * 80)
    hit, recall, ndcg = (overall(tests, metric) for metric in METRICS)
    assert (hit.finding, recall.finding) == (Finding.UNCHANGED, Finding.UNCHANGED)
    assert (hit.before, hit.after) == (1.0, 1.0)
    assert (ndcg.finding, ndcg.fell, ndcg.rose) == (Finding.REGRESSED, 20, 0)
    # 1 / log2(4) = 0.5 and 1 / log2(10) = 0.30103.
    assert (ndcg.before, round(ndcg.after, 6)) == (0.5, 0.460206)
    assert ndcg.smallest_drop is None


def test_thirteen_lost_and_four_gained_is_a_regression_if_nothing_else_could_come_out():
    before, after = [1] * 13 + [MISS] * 4 + [1] * 183, [MISS] * 13 + [1] * 4 + [1] * 183
    test = overall(of_ranks(before, after))
    assert (test.finding, test.fell, test.rose) == (Finding.REGRESSED, 13, 4)
    assert (round(test.p.p, 4), round(test.adjusted, 4)) == (0.0245, 0.0245)


def test_the_order_of_the_cases_changes_no_test():
    before = ranked([1] * 13 + [MISS] * 4 + [2] * 30)
    after = ranked([MISS] * 13 + [1] * 4 + [5] * 20 + [2] * 10)
    assert compared(before[::-1], after) == compared(before, after[::-1]) == compared(before, after)


def test_five_lost_show_a_regression_and_four_do_not():
    assert overall(of_ranks([1] * 20, [MISS] * 5 + [1] * 15)).finding is Finding.REGRESSED
    assert overall(of_ranks([1] * 20, [MISS] * 4 + [1] * 16)).finding is Finding.TOO_FEW


def test_equal_to_alpha_is_no_regression():
    # Five lost have p = 0.03125.
    lost = [MISS] * 5 + [1] * 15
    assert overall(of_ranks([1] * 20, lost, alpha=0.03125)).finding is Finding.TOO_FEW
    assert overall(of_ranks([1] * 20, lost, alpha=0.0313)).finding is Finding.REGRESSED


def test_a_drop_that_could_have_been_shown_and_was_not_says_how_many_cases_would():
    # 5 lost and 2 gained: (C(7,5) + C(7,6) + C(7,7)) / 2 ** 7 = 29 / 128.
    test = overall(of_ranks([1] * 5 + [MISS] * 2 + [1] * 33, [MISS] * 5 + [1] * 2 + [1] * 33))
    assert (test.finding, test.p.p) == (Finding.NOT_SHOWN, pytest.approx(29 / 128))
    # 14 lost and 6 gained have p = 0.0577, 15 and 6 have 0.0392: three times as many cases.
    assert test.cases_needed == 120


def test_a_shown_drop_is_tolerated_unless_it_is_larger_than_the_tolerance():
    before, after = [1] * 100, [MISS] * 25 + [1] * 75
    assert overall(of_ranks(before, after, tolerance=0.25)).finding is Finding.TOLERATED
    assert overall(of_ranks(before, after, tolerance=0.2499)).finding is Finding.REGRESSED
    assert overall(of_ranks(before, after)).finding is Finding.REGRESSED


def test_the_tolerance_is_held_against_each_metric_by_itself():
    tests = of_ranks([1] * 100, [3] * 50 + [1] * 50, tolerance=0.3)
    assert overall(tests, NDCG).finding is Finding.TOLERATED
    assert overall(of_ranks([1] * 100, [3] * 50 + [1] * 50, tolerance=0.2), NDCG).finding is Finding.REGRESSED


def test_a_drop_that_is_not_shown_is_not_called_tolerated():
    assert overall(of_ranks([1] * 20, [MISS, *[1] * 19], tolerance=0.5)).finding is Finding.TOO_FEW


def test_tests_on_the_same_changes_are_counted_once():
    # From rank 1 to a miss all three metrics fall by 1.0, and every slice holds every case: one test.
    tests = of_ranks([1] * 20, [MISS] * 5 + [1] * 15)
    assert len(tests) == 12
    assert findings(tests) == {Finding.REGRESSED}
    assert {(test.threshold, test.needs) for test in tests.values()} == {(0.05, 5)}
    # From rank 2 nDCG falls by another amount: two tests share alpha, and five changes are too few for either.
    tests = of_ranks([2] * 20, [MISS] * 5 + [2] * 15)
    assert {(test.finding, test.threshold, test.needs) for test in tests.values()} == {(Finding.TOO_FEW, 0.025, 6)}


def test_relevant_ids_make_recall_a_test_of_its_own():
    # Gold stays first; of two relevant cards one is lost, in seven cases.
    found, half = (1.0, 1.0, 1.0), (1.0, 0.5, 0.6131471927654584)
    before = [scored(f"c{n}", 1, scores=found) for n in range(30)]
    after = [scored(f"c{n}", 1, scores=half if n < 7 else found) for n in range(30)]
    tests = compared(before, after)
    assert overall(tests, HIT).finding is Finding.UNCHANGED
    assert overall(tests, RECALL).finding is Finding.REGRESSED
    assert overall(tests, NDCG).finding is Finding.REGRESSED
    assert (overall(tests, RECALL).before, overall(tests, RECALL).after) == (1.0, pytest.approx(1 - 3.5 / 30))
    # Two tests of p = 0.5 ** 7.
    assert (overall(tests, RECALL).threshold, overall(tests, RECALL).adjusted) == (0.025, pytest.approx(2 / 128))


def test_tests_that_cannot_come_out_cost_the_others_nothing():
    # Forty case types with one changed case each beside a locale with five lost.
    before = ranked([1] * 20, locale="pt-BR")
    after = ranked([MISS] * 5 + [1] * 15, locale="pt-BR")
    for number in range(40):
        about = {"prefix": f"t{number}-", "case_type": f"type-{number}"}
        before += ranked([1, 1], **about)
        after += ranked([1, 1], **about)
    test = compared(before, after)["locale=pt-BR", HIT]
    assert (test.finding, test.threshold, test.adjusted) == (Finding.REGRESSED, 0.05, pytest.approx(0.03125))


def test_the_retrievers_of_a_sweep_are_one_family():
    # 11 lost and 1 gained: 13 / 4096 = 0.0032 alone; with forty-one tests beside it, 42 times that.
    fallen = ranked([1] * 11 + [MISS] + [1] * 28), ranked([MISS] * 11 + [1] + [1] * 28)
    alone = overall(in_family({"words": fallen})["words"])
    assert (alone.finding, alone.adjusted) == (Finding.REGRESSED, pytest.approx(13 / 4096))
    family = in_family({"words": fallen, "other": fifty_fifty(types=40, changed=12)})
    together = overall(family["words"])
    assert (together.finding, together.threshold) == (Finding.NOT_SHOWN, 0.05 / 42)
    assert together.adjusted == pytest.approx(42 * 13 / 4096)
    assert findings(family["other"]) == {Finding.NO_DROP}


def test_five_lost_are_too_few_where_forty_other_tests_could_come_out():
    fallen = ranked([1] * 20), ranked([MISS] * 5 + [1] * 15)
    test = overall(in_family({"words": fallen, "other": fifty_fifty(types=40, changed=12)})["words"])
    # 0.5 ** 10 = 0.00098 is the first below 0.05 / 41 = 0.00122.
    assert (test.finding, test.threshold, test.needs) == (Finding.TOO_FEW, 0.05 / 41, 10)


def test_the_same_changes_of_two_retrievers_are_two_tests():
    fallen = ranked([1] * 20), ranked([MISS] * 6 + [1] * 14)
    family = in_family({"one": fallen, "two": fallen})
    for name in ("one", "two"):
        assert overall(family[name]).finding is Finding.REGRESSED
        assert overall(family[name]).adjusted == pytest.approx(2 / 64)


def test_the_correction_is_holms_over_the_tests_that_could_come_out():
    # en loses 10, pt-BR 6; both together 16; three tests of p = 0.5 ** 16, 0.5 ** 10 and 0.5 ** 6.
    before = [*ranked([1] * 30), *ranked([1] * 30, prefix="p", locale="pt-BR")]
    after = [*ranked([MISS] * 10 + [1] * 20), *ranked([MISS] * 6 + [1] * 24, prefix="p", locale="pt-BR")]
    tests = compared(before, after)
    assert overall(tests).adjusted == pytest.approx(3 * 0.5**16)
    assert tests["locale=en", HIT].adjusted == pytest.approx(2 * 0.5**10)
    assert tests["locale=pt-BR", HIT].adjusted == pytest.approx(0.5**6)
    assert findings(tests) == {Finding.REGRESSED}


def test_a_slice_can_regress_while_the_whole_does_not():
    # pt-BR loses 12 of 30, en gains 12 of 30.
    before = [*ranked([MISS] * 12 + [1] * 18), *ranked([1] * 30, prefix="p", locale="pt-BR")]
    after = [*ranked([1] * 30), *ranked([MISS] * 12 + [1] * 18, prefix="p", locale="pt-BR")]
    tests = compared(before, after)
    assert overall(tests).finding is Finding.NO_DROP
    assert tests["locale=en", HIT].finding is Finding.NO_DROP
    assert tests["locale=pt-BR", HIT].finding is Finding.REGRESSED


def of_many_sizes(rose):
    """Forty changes of as many sizes, which cannot be enumerated; the first so many are for the better."""
    before = [scored(f"c{n}", 1, scores=(1.0, 1.0, 0.5 + n / 100)) for n in range(40)]
    after = [scored(f"c{n}", 1, scores=(1.0, 1.0, 0.9 if n < rose else 0.5 - (n + 1) / 200)) for n in range(40)]
    return before, after


def test_a_drawn_p_value_that_is_clear_of_every_threshold_is_not_at_the_edge():
    before, after = of_many_sizes(rose=10)
    test = overall(compared(before, after), NDCG)
    assert (test.finding, test.p.exact, test.at_edge) == (Finding.REGRESSED, False, False)
    assert compared(before, after) == compared(before, after)


def test_a_drawn_p_value_near_a_threshold_is_at_the_edge(monkeypatch):
    monkeypatch.setattr(paired, "_MOST_DRAWS", 20_000)
    before, after = of_many_sizes(rose=18)
    p = overall(compared(before, after), NDCG).p.p
    assert {test.at_edge for test in compared(before, after, alpha=p * 1.01).values() if test.p} == {True}
    assert {test.at_edge for test in compared(before, after, alpha=p * 5).values() if test.p} == {False}


def test_scores_that_another_machine_rounds_in_another_way_are_no_changes():
    before = [scored(f"c{n}", 2, scores=(1.0, 1.0, 0.6309297535714575)) for n in range(40)]
    after = [scored(f"c{n}", 2, scores=(1.0, 1.0, 0.6309297535714573)) for n in range(40)]
    tests = compared(before, after)
    assert findings(tests) == {Finding.UNCHANGED}
    assert {(test.fell, test.rose) for test in tests.values()} == {(0, 0)}
