import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from recall_assets.intervals import wilson

# The square of the 97.5% quantile of the normal distribution: 1.959964 squared.
Z2 = 3.841459


@st.composite
def observed(draw):
    n = draw(st.integers(1, 20_000))
    return draw(st.integers(0, n)), n


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [
        pytest.param(5, 10, 0.23659, 0.76341, id="half of ten"),
        pytest.param(0, 10, 0.0, Z2 / (10 + Z2), id="none of ten"),
        pytest.param(10, 10, 10 / (10 + Z2), 1.0, id="ten of ten"),
        pytest.param(1, 1, 1 / (1 + Z2), 1.0, id="one of one"),
    ],
)
def test_the_interval_at_95_percent(successes, n, low, high):
    assert wilson(successes, n) == pytest.approx((low, high), abs=5e-6)


def test_the_ends_at_none_and_at_all_are_exact():
    assert {wilson(0, n).low for n in range(1, 400)} == {0.0}
    assert {wilson(n, n).high for n in range(1, 400)} == {1.0}


@given(observed(), st.sampled_from([0.8, 0.9, 0.95, 0.99]))
def test_the_interval_equals_scipys(observed, confidence):
    successes, n = observed
    expected = binomtest(successes, n).proportion_ci(confidence_level=confidence, method="wilson")
    assert wilson(successes, n, confidence) == pytest.approx((expected.low, expected.high), rel=1e-10, abs=1e-14)


@given(st.integers(1, 20_000), st.floats(0.0, 1.0))
def test_the_interval_of_a_mean_holds_it_and_stays_within_zero_and_one(n, mean):
    low, high = wilson(mean * n, n)
    assert 0.0 <= low <= high <= 1.0
    assert low <= mean + 1e-12
    assert mean <= high + 1e-12


def test_rounding_does_not_move_an_end_out_of_the_unit_range():
    assert wilson(1.0547914161437251e-12, 1).low >= 0.0
    assert wilson(9_999_999.999961749, 10_000_000).high <= 1.0


@pytest.mark.parametrize(("successes", "n"), [(0, 0), (-1, 5), (6, 5), (0, -1)])
def test_what_is_no_rate_is_refused(successes, n):
    with pytest.raises(ValueError, match=f"no interval for {successes} of {n}"):
        wilson(successes, n)
