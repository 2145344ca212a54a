import itertools
import math
import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest, permutation_test

from recall_assets import paired
from recall_assets.paired import (
    cases_needed,
    changes_needed,
    drop_seen,
    holm,
    sign_flip_test,
    sign_test,
    two_sided,
)

COUNTS = [(lost, gained) for lost in range(13) for gained in range(13)] + [(13, 4), (4, 13), (120, 80), (1000, 900)]
NDCG = [0.0, *(1 / math.log2(rank + 1) for rank in range(10, 0, -1))]
"""nDCG@10 of a miss, and of one gold card at rank 10 up to rank 1."""


def by_enumeration(drops):
    """Share of all ways to flip the signs whose sum is at least the observed one."""
    changed = [drop for drop in drops if drop]
    total = math.fsum(changed)
    flips = itertools.product((1, -1), repeat=len(changed))
    sums = [math.fsum(sign * drop for sign, drop in zip(signs, changed, strict=True)) for signs in flips]
    return sum(value >= total - 1e-9 for value in sums) / len(sums)


def by_counting(drops):
    """The same, in whole numbers, for drops that are whole numbers: how many ways lead to each sum."""
    ways = Counter({0: 1})
    for drop in filter(None, drops):
        following = Counter()
        for value, count in ways.items():
            following[value + drop] += count
            following[value - drop] += count
        ways = following
    return sum(count for value, count in ways.items() if value >= sum(drops)) / sum(ways.values())


def drawn_drops(seed, sizes=40, lost=0.7):
    """As many drops of as many sizes, too many to enumerate."""
    generator = random.Random(seed)  # noqa: S311 - not for secrets
    return [size if generator.random() < lost else -size for size in range(101, 101 + sizes)]


@pytest.mark.parametrize(("lost", "gained"), COUNTS)
def test_the_sign_test_is_the_exact_binomial_test(lost, gained):
    if lost + gained:
        expected = binomtest(lost, lost + gained, 0.5, alternative="greater").pvalue
        both_sides = binomtest(lost, lost + gained, 0.5).pvalue
    else:
        expected = both_sides = 1.0
    assert sign_test(lost, gained) == pytest.approx(expected, rel=1e-9)
    assert two_sided(lost, gained) == pytest.approx(both_sides, rel=1e-9)


def test_thirteen_lost_and_four_gained_are_as_rare_as_a_table_of_the_binomial_says():
    # Of 2 ** 17 = 131072 ways, C(17,13..17) = 2380 + 680 + 136 + 17 + 1 = 3214 have at least 13 losses.
    assert sign_test(13, 4) == pytest.approx(3214 / 131072, rel=1e-12)
    assert round(sign_test(13, 4), 4) == 0.0245
    assert round(two_sided(13, 4), 4) == 0.0490
    assert two_sided(4, 13) == two_sided(13, 4)


def test_the_p_value_is_the_same_on_every_call_and_for_any_order_of_the_cases():
    drops = [1.0] * 13 + [-1.0] * 4 + [0.0] * 183
    for seed in range(20):
        random.Random(seed).shuffle(drops)  # noqa: S311 - not for secrets
        assert sign_flip_test(drops).p == sign_flip_test(list(drops)).p == sign_test(13, 4)


@pytest.mark.parametrize("counts", [(-1, 0), (0, -1), (-2, 5)])
def test_a_negative_count_is_refused(counts):
    with pytest.raises(ValueError, match=f"no sign test of {counts[0]} lost and {counts[1]} gained"):
        sign_test(*counts)


def test_counts_of_any_size_have_an_exact_p_value():
    # By the normal approximation with continuity correction: z = (50500 - 0.5 - 50000) / sqrt(25000) = 3.1591.
    assert sign_test(50_500, 49_500) == pytest.approx(0.000791, abs=2e-6)
    assert sign_flip_test([1.0] * 505 + [-1.0] * 495).exact


@pytest.mark.parametrize(
    "drops",
    [
        pytest.param([], id="no pair"),
        pytest.param([0.0, 0.0], id="no change"),
        pytest.param([-1.0, -0.5, -0.25], id="all for the better"),
    ],
)
def test_without_a_case_for_the_worse_p_is_one(drops):
    assert sign_flip_test(drops) == (1.0, 1.0, 1.0)


def test_unchanged_pairs_change_no_p_value():
    drops = [0.5, 0.25, -0.125, 1.0]
    # Sums of +-1, +-.5, +-.25, +-.125 are all different; 2 of 16 reach 1.625: itself and that of four losses.
    assert sign_flip_test(drops).p == sign_flip_test([0.0, *drops, 0.0, 0.0]).p == 2 / 16


def test_all_for_the_worse_has_the_least_p_value_that_so_many_changes_can_have():
    assert sign_flip_test([0.3, 0.7, 0.2, 0.9, 0.4]).p == pytest.approx(1 / 32)


@given(
    st.lists(st.tuples(st.sampled_from(NDCG), st.sampled_from(NDCG)), min_size=1, max_size=9),
)
def test_the_sign_flip_test_of_ndcg_is_that_of_all_flips(pairs):
    drops = [before - after for before, after in pairs]
    result = sign_flip_test(drops)
    assert result.exact
    assert result.p == pytest.approx(by_enumeration(drops), rel=1e-9)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=9))
def test_differences_of_thirds_that_rounding_makes_unlike_are_of_one_size(pairs):
    # 1 - 2/3 and 1/3 - 0 differ in their last bits.
    result = sign_flip_test([before / 3 - after / 3 for before, after in pairs])
    assert result.p == pytest.approx(by_counting([before - after for before, after in pairs]), rel=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_the_sign_flip_test_is_scipys_permutation_test_of_all_flips(seed):
    generator = np.random.default_rng(seed)
    drops = generator.choice(NDCG, 10) - generator.choice(NDCG, 10)
    reference = permutation_test(
        (drops,), np.sum, permutation_type="samples", n_resamples=np.inf, alternative="greater", vectorized=False
    )
    assert sign_flip_test(drops).p == pytest.approx(reference.pvalue, rel=1e-9)


@pytest.mark.parametrize("sizes", [20, 30, 36])
@pytest.mark.parametrize("lost", [0.5, 0.65, 0.9])
def test_many_changes_of_many_sizes_are_still_enumerated(sizes, lost):
    drops = drawn_drops(sizes, sizes, lost)
    result = sign_flip_test(drop / 64 for drop in drops)
    assert result.exact
    assert result.p == pytest.approx(by_counting(drops), rel=1e-9)


def test_hundreds_of_changes_of_few_sizes_are_enumerated():
    drops = [3] * 130 + [-3] * 100 + [7] * 110 + [-7] * 105
    result = sign_flip_test(drop / 10 for drop in drops)
    assert result.exact
    assert result.p == pytest.approx(by_counting(drops), rel=1e-9)


@pytest.mark.parametrize("seed", range(8))
def test_a_drawn_p_value_lies_within_its_own_interval_of_the_exact_one(seed):
    drops = drawn_drops(seed)
    exact = by_counting(drops)
    result = sign_flip_test(drops)
    assert not result.exact
    assert result.low <= exact <= result.high
    assert result.low <= result.p <= result.high


@pytest.mark.parametrize("seed", range(3))
def test_a_drawn_p_value_is_the_same_on_every_call_and_for_any_order(seed):
    drops = drawn_drops(seed)
    first = sign_flip_test(drops)
    assert sign_flip_test(drops) == first
    assert sign_flip_test(reversed(drops)) == first
    assert sign_flip_test([*drops[20:], 0.0, *drops[:20]]) == first


def test_more_is_drawn_until_the_interval_is_clear_of_every_threshold():
    drops = drawn_drops(1)
    far = sign_flip_test(drops, (0.9,))
    near = far.low + 0.9 * (far.high - far.low)
    closer = sign_flip_test(drops, (0.9, near))
    assert closer.high - closer.low < far.high - far.low
    assert not closer.low <= near <= closer.high


def test_draws_run_out_where_a_threshold_is_the_p_value_itself(monkeypatch):
    monkeypatch.setattr(paired, "_MOST_DRAWS", 320_000)
    drops = drawn_drops(1, lost=0.55)
    exact = by_counting(drops)
    result = sign_flip_test(drops, (exact,))
    assert result.low <= exact <= result.high
    # 4.75 standard errors on each side.
    assert result.high - result.low == pytest.approx(2 * 4.75 * math.sqrt(exact * (1 - exact) / 320_000), rel=0.05)


@pytest.mark.parametrize(
    ("p_values", "adjusted"),
    [
        pytest.param([], [], id="none"),
        pytest.param([0.03], [0.03], id="one"),
        pytest.param([0.01, 0.04, 0.03, 0.005], [0.03, 0.06, 0.06, 0.02], id="four"),
        pytest.param([0.01, 0.02, 0.03, 0.04, 0.05], [0.05, 0.08, 0.09, 0.09, 0.09], id="never below a smaller one's"),
        pytest.param([0.6, 0.5], [1.0, 1.0], id="at most one"),
        pytest.param([0.02, 0.02, 0.02], [0.06, 0.06, 0.06], id="ties"),
    ],
)
def test_holms_adjusted_p_values(p_values, adjusted):
    assert holm(p_values) == pytest.approx(adjusted)


@given(st.lists(st.floats(0.0001, 1.0), min_size=1, max_size=8), st.sampled_from([0.01, 0.05, 0.1]))
def test_an_adjusted_p_value_is_at_most_alpha_just_where_holms_steps_reject(p_values, alpha):
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    rejected = set()
    for step, index in enumerate(order):
        if p_values[index] * (len(p_values) - step) > alpha:
            break
        rejected.add(index)
    assert {index for index, value in enumerate(holm(p_values)) if value <= alpha} == rejected


@pytest.mark.parametrize(
    ("changes", "alpha", "tests"),
    [
        pytest.param([], 0.05, 1, id="no test"),
        pytest.param([4, 3, 1, 0], 0.05, 1, id="none could come out"),
        pytest.param([5, 4, 4], 0.05, 1, id="one could"),
        # 0.03125 is below 0.05 for both, and not below 0.025.
        pytest.param([5, 5], 0.05, 2, id="two that share alpha cannot"),
        pytest.param([6, 6], 0.05, 2, id="two that share alpha can"),
        # 0.015625 is below 0.05 / 3 = 0.01667, and not below 0.05 / 4 = 0.0125.
        pytest.param([6, 6, 6], 0.05, 3, id="three can"),
        pytest.param([6, 6, 6, 6], 0.05, 4, id="four cannot"),
        pytest.param([10] * 10, 0.05, 10, id="ten can"),
        pytest.param([10] * 3 + [1] * 37, 0.05, 3, id="those that could not are not paid for"),
        pytest.param([1], 0.5, 1, id="a half is not below a half"),
        pytest.param([2, 2], 0.5, 2, id="another alpha"),
    ],
)
def test_alpha_is_divided_by_the_number_of_tests_that_could_come_out(changes, alpha, tests):
    assert paired.testable(changes, alpha) == paired.testable(changes[::-1], alpha) == tests


@pytest.mark.parametrize(
    ("threshold", "changes"),
    [
        (1.0, 1),
        (0.5, 2),
        (0.05, 5),
        (0.03125, 6),  # 0.5 ** 5 itself: equal is not below
        (0.0313, 5),
        (0.025, 6),
        (0.01, 7),
        (0.001, 10),
        (0.0009765625, 11),
        (0.05 / 41, 10),
        (1e-12, 40),
    ],
)
def test_the_fewest_changes_whose_p_value_is_below_a_threshold(threshold, changes):
    assert changes_needed(threshold) == changes
    assert sign_test(changes, 0) < threshold <= sign_test(changes - 1, 0)


def cases_by_search(lost, gained, n, threshold):
    for losses in range(lost, lost * 1000 + 1):
        gains = -(-gained * losses // lost)
        if binomtest(losses, losses + gains, 0.5, alternative="greater").pvalue < threshold:
            return -(-n * losses // lost)
    return None


@pytest.mark.parametrize(
    ("lost", "gained", "n", "threshold"),
    [
        (1, 0, 20, 0.05),
        (2, 0, 29, 0.05),
        (3, 1, 50, 0.05),
        (3, 2, 50, 0.05),
        (5, 4, 100, 0.05),
        (6, 3, 200, 0.01),
        (5, 0, 40, 0.05),
        (5, 0, 40, 0.05 / 12),
        (7, 5, 300, 0.05 / 12),
    ],
)
def test_the_cases_needed_are_found_by_search_with_the_binomial_test(lost, gained, n, threshold):
    drops = [1.0] * lost + [-1.0] * gained + [0.0] * (n - lost - gained)
    assert cases_needed(drops, n, threshold) == cases_by_search(lost, gained, n, threshold)
    assert cases_needed([drop / 2 for drop in drops], n, threshold) == cases_by_search(lost, gained, n, threshold)


def test_nothing_is_asked_of_scipy_that_it_will_drop(recwarn):
    cases_needed([1.0, 1.0, -1.0], 20, 0.05)
    assert {str(warning.message) for warning in recwarn} == set()


def test_one_lost_of_twenty_would_take_five_of_a_hundred():
    assert cases_needed([1.0], 20, 0.05) == 100


@pytest.mark.parametrize(
    "drops",
    [
        pytest.param([], id="no change"),
        pytest.param([1.0, -1.0], id="as many gained"),
        pytest.param([0.5, -1.0], id="a rise"),
        pytest.param([0.0], id="nothing"),
    ],
)
def test_no_number_of_cases_shows_a_drop_that_is_not_there(drops):
    assert cases_needed(drops, 20, 0.05) is None


def test_a_drop_of_unlike_changes_takes_as_many_cases_as_the_normal_approximation_says():
    # Sum 1.0 and sum of squares 1.645 in 20 cases: 1.644854 ** 2 * 1.645 / 1.0 ** 2 * 20 = 89.01.
    assert cases_needed([1.0, 0.5, 0.25, -0.25, -0.5, 0.1, -0.1], 20, 0.05) == 90


def test_no_drop_takes_fewer_cases_than_any_test_needs_changes():
    # Two changes of twenty; five are needed, and so 50 cases.
    assert cases_needed([0.6, 0.5], 20, 0.05) == 50


@pytest.mark.parametrize("threshold", [0.05, 0.01, 0.05 / 24])
@pytest.mark.parametrize("n", [12, 29, 100, 2000])
def test_the_drop_seen_is_the_rate_at_which_enough_losses_have_the_given_chance(n, threshold):
    needed = next(count for count in range(50) if 0.5**count < threshold)
    for chance in (0.5, 0.8):
        assert binom.sf(needed - 1, n, drop_seen(n, threshold, chance)) == pytest.approx(chance, rel=1e-6)


def test_where_n_is_smaller_than_the_losses_needed_no_drop_is_seen():
    assert drop_seen(4, 0.05) is None
    # All five must be lost: d ** 5 = 0.8.
    assert drop_seen(5, 0.05) == pytest.approx(0.8 ** (1 / 5))
    assert drop_seen(0, 0.05) is None
