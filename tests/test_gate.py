import pytest

from recall_assets.config import Floors
from recall_assets.gate import FLOOR_RULES, SCORED_RULE, Status, Verdict, judge, verdict_of
from recall_assets.intervals import Interval
from recall_assets.metrics import Triad
from recall_assets.slices import Ledger, SliceScore

COMPLETE = Ledger(5, 3, 3, 0, 0, 0, 0)
# Two hits of three; a locale that does far worse must not be taken for the whole.
MEANS = Triad(2 / 3, 0.5, 1 / 3)
SLICES = [
    SliceScore("locale=en", 1, Triad(0.0, 0.0, 0.0), Interval(0.0, 0.8), Ledger(1, 1, 1, 0, 0, 0, 0)),
    SliceScore("overall", 3, MEANS, Interval(0.2, 0.9), COMPLETE),
]
NOTHING_SCORED = [SliceScore("overall", 0, None, None, Ledger(5, 3, 0, 0, 5, 0, 0))]
FLOORS = ("hit", "recall", "ndcg")


def rule(name, slices=SLICES, not_scored=None, **floors):
    (result,) = [r for r in judge("words", slices, Floors(**floors), not_scored) if r.rule == name]
    return result


def test_every_rule_is_judged_for_the_retriever_in_a_fixed_order():
    results = judge("words", SLICES, Floors())
    assert [result.rule for result in results] == ["every_retriever_scored", "hit_floor", "recall_floor", "ndcg_floor"]
    assert (SCORED_RULE, *FLOOR_RULES) == tuple(result.rule for result in results)
    assert {result.retriever for result in results} == {"words"}


@pytest.mark.parametrize(("name", "observed"), list(zip(FLOOR_RULES, MEANS, strict=True)))
def test_a_floor_that_is_not_set_is_inactive_and_still_reports_what_was_observed(name, observed):
    result = rule(name)
    assert (result.status, result.threshold, result.observed, result.n) == (Status.INACTIVE, None, observed, 3)
    assert result.low < observed < result.high
    assert result.detail.startswith(f"inactive: no floor is set; observed {observed:.4f}, n 3, 95% interval ")


def test_the_interval_of_a_floor_is_wilsons_at_the_observed_mean():
    result = rule("hit_floor")
    # 2 of 3, with z2 = 3.84146: (2/3 + z2/6 -+ 1.95996 * sqrt(2/27 + z2/36)) / (1 + z2/3).
    assert (result.low, result.high) == pytest.approx((0.20766, 0.93851), abs=5e-6)
    assert result.detail == "inactive: no floor is set; observed 0.6667, n 3, 95% interval 0.2077 to 0.9385"


@pytest.mark.parametrize("floor", FLOORS)
def test_each_floor_is_held_against_its_own_metric(floor):
    value = dict(zip(FLOORS, MEANS, strict=True))[floor]
    assert rule(f"{floor}_floor", **{floor: value + 1e-9}).status is Status.FAILED
    assert rule(f"{floor}_floor", **{floor: value - 1e-9}).status is Status.PASSED
    others = [other for other in FLOORS if other != floor]
    assert {rule(f"{other}_floor", **{floor: 1.0}).status for other in others} == {Status.INACTIVE}


def test_a_mean_equal_to_its_floor_passes():
    assert rule("hit_floor", hit=2 / 3).status is Status.PASSED
    assert rule("recall_floor", recall=0.5).detail.startswith("at or above the floor 0.5: observed 0.5000, n 3, ")


def test_the_mean_is_held_against_the_floor_unrounded():
    # 0.66666... is rendered as 0.6667, and is below it.
    result = rule("hit_floor", hit=0.6667)
    assert result.status is Status.FAILED
    assert result.detail.startswith("3.3e-05 below the floor 0.6667: observed 0.6667, n 3, ")
    assert rule("hit_floor", hit=0.6666).status is Status.PASSED


def test_a_floor_of_zero_is_active():
    assert rule("hit_floor", hit=0.0).status is Status.PASSED


@pytest.mark.parametrize("name", FLOOR_RULES)
def test_where_nothing_was_scored_only_an_active_floor_is_inconclusive(name):
    active = rule(name, NOTHING_SCORED, **{name.removesuffix("_floor"): 0.5})
    assert (active.status, active.detail) == (Status.INCONCLUSIVE, "floor 0.5; nothing was scored")
    inactive = rule(name, NOTHING_SCORED)
    assert (inactive.status, inactive.detail) == (Status.INACTIVE, "inactive: no floor is set; nothing was scored")
    assert (active.observed, active.n, active.low, active.high) == (None, 0, None, None)


def overall(ledger):
    return [SliceScore("overall", ledger.scored, MEANS if ledger.scored else None, None, ledger)]


@pytest.mark.parametrize(
    ("slices", "not_scored", "status", "detail"),
    [
        pytest.param(SLICES, None, "passed", "every case has a result; 3 gold-bearing cases scored", id="complete"),
        pytest.param(
            overall(Ledger(5, 3, 2, 0, 1, 0, 0)), None, "inconclusive", "1 of 5 cases have no result", id="missing"
        ),
        pytest.param(
            overall(Ledger(5, 0, 0, 0, 0, 0, 0)),
            None,
            "inconclusive",
            "no case has gold, so nothing was measured",
            id="no gold",
        ),
        pytest.param(NOTHING_SCORED, "it was never run", "inconclusive", "it was never run", id="never run"),
    ],
)
def test_a_retriever_is_scored_only_if_every_case_has_a_result_and_some_case_has_gold(
    slices, not_scored, status, detail
):
    result = rule(SCORED_RULE, slices, not_scored)
    assert (result.status, result.detail) == (status, detail)
    assert (result.threshold, result.observed, result.low, result.high) == (None, None, None, None)


@pytest.mark.parametrize(
    ("verdict", "word", "exit_code"),
    [
        (Verdict.PASS, "pass", 0),
        (Verdict.FAIL, "fail", 1),
        (Verdict.INVALID, "invalid", 2),
        (Verdict.INCONCLUSIVE, "inconclusive", 3),
    ],
)
def test_each_verdict_has_its_exit_code(verdict, word, exit_code):
    assert (verdict.value, verdict.exit_code) == (word, exit_code)


@pytest.mark.parametrize(
    ("name", "verdict"),
    [
        ("cards_valid", Verdict.INVALID),
        ("cases_valid", Verdict.INVALID),
        ("gold_ids_resolve", Verdict.INVALID),
        ("collection_complete", Verdict.INCONCLUSIVE),
        ("every_case_retrieved", Verdict.INCONCLUSIVE),
        ("hit_floor", Verdict.FAIL),
        ("recall_floor", Verdict.FAIL),
        ("ndcg_floor", Verdict.FAIL),
        ("no_regression", Verdict.FAIL),
    ],
)
def test_a_failed_check_means_what_is_wrong(name, verdict):
    assert verdict_of([("another", Status.PASSED), (name, Status.FAILED)]) is verdict


@pytest.mark.parametrize("name", ["hit_floor", "cases_valid", "every_retriever_scored"])
def test_what_could_not_be_evaluated_is_inconclusive_whatever_the_check(name):
    assert verdict_of([(name, Status.INCONCLUSIVE)]) is Verdict.INCONCLUSIVE


@pytest.mark.parametrize("status", [Status.PASSED, Status.WARNING, Status.INACTIVE])
def test_passed_warnings_and_inactive_checks_leave_a_pass(status):
    assert verdict_of([("index_matches_exact", status), ("hit_floor", status)]) is Verdict.PASS


def test_wrong_input_outweighs_a_failure_which_outweighs_what_was_not_evaluated():
    invalid, failed = ("gold_ids_resolve", Status.FAILED), ("hit_floor", Status.FAILED)
    unknown = ("every_case_retrieved", Status.FAILED)
    assert verdict_of([unknown, failed, invalid]) is Verdict.INVALID
    assert verdict_of([unknown, failed]) is Verdict.FAIL
    assert verdict_of([unknown, ("hit_floor", Status.INACTIVE)]) is Verdict.INCONCLUSIVE
