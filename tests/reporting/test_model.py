import pytest

from recall_assets.gate import RuleResult, Status
from recall_assets.reporting.model import LOCALE_NOTE, RECALL_CAVEAT, CheckResult, RetrieverReport, check_of_rule
from tests.reporting.conftest import SLICES


@pytest.mark.parametrize(
    ("status", "passed"),
    [
        (Status.PASSED, True),
        (Status.INACTIVE, True),
        (Status.FAILED, False),
        (Status.WARNING, False),
        (Status.INCONCLUSIVE, False),
    ],
)
def test_a_check_has_passed_where_it_held_or_is_inactive(status, passed):
    assert CheckResult("hit_floor", status, blocking=True).passed is passed


def test_a_rule_is_listed_as_a_blocking_check_under_its_own_name():
    rule = RuleResult("dense-en", "hit_floor", Status.FAILED, 0.9, 0.5, 2, 0.1, 0.9, "below the floor 0.9")
    assert check_of_rule(rule) == CheckResult("hit_floor", Status.FAILED, blocking=True, detail="below the floor 0.9")


def test_the_overall_slice_is_found_by_name_wherever_it_stands():
    assert RetrieverReport("dense-en", SLICES[::-1]).overall is SLICES[0]


def test_the_caveats_say_lower_bound_and_indicative():
    assert "recall@k is a lower bound where gold is disjunctive" in RECALL_CAVEAT
    assert "Differences between locales are indicative" in LOCALE_NOTE
