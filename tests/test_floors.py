import pytest

from recall_assets.config import Floors
from recall_assets.floors import judge_floors
from recall_assets.gate import FLOOR_RULES, SCORED_RULE, Status
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
    """The one result of a rule where floors are set for the overall means alone."""
    (result,) = [r for r in judge_floors("words", slices, {"overall": Floors(**floors)}, not_scored) if r.rule == name]
    return result


def judged(name, slices=SLICES, **by_slice):
    """Slice to result of a rule, for floors by slice, `en` meaning `locale=en` and so on."""
    floors = {"overall": by_slice.pop("overall", Floors())}
    floors |= {f"locale={locale}": minima for locale, minima in by_slice.items()}
    return {r.slice: r for r in judge_floors("words", slices, floors) if r.rule == name}


def test_every_rule_is_judged_for_the_retriever_in_a_fixed_order():
    results = judge_floors("words", SLICES, {"overall": Floors()})
    assert [result.rule for result in results] == ["every_retriever_scored", "hit_floor", "recall_floor", "ndcg_floor"]
    assert (SCORED_RULE, *FLOOR_RULES) == tuple(result.rule for result in results)
    assert {(result.retriever, result.slice) for result in results} == {("words", "overall")}


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
    assert result.detail.startswith("3.33e-05 below the floor 0.6667: observed 0.6667, n 3, ")
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
    assert (result.slice, result.n) == ("overall", next(s.n for s in slices if s.slice == "overall"))


# Floors of other slices.


def test_a_floor_of_a_slice_is_held_against_that_slice_and_not_against_the_whole():
    results = judged("hit_floor", en=Floors(hit=0.1))
    assert {name: (r.status, r.threshold, r.observed, r.n) for name, r in results.items()} == {
        "overall": (Status.INACTIVE, None, 2 / 3, 3),
        "locale=en": (Status.FAILED, 0.1, 0.0, 1),
    }
    # 0 of 1: the upper end is z2 / (1 + z2), z2 = 3.84146.
    assert (results["locale=en"].low, results["locale=en"].high) == pytest.approx((0.0, 0.79345), abs=5e-6)
    assert results["locale=en"].detail == (
        "0.1 below the floor 0.1: observed 0.0000, n 1, 95% interval 0.0000 to 0.7935"
    )


def test_the_whole_can_fail_where_a_slice_holds():
    results = judged("hit_floor", overall=Floors(hit=0.7), en=Floors(hit=0.0))
    assert {name: r.status for name, r in results.items()} == {"overall": Status.FAILED, "locale=en": Status.PASSED}


def test_of_another_slice_only_the_floors_that_are_set_have_a_result():
    floors = {"overall": Floors(), "locale=en": Floors(ndcg=0.5, min_n=1)}
    assert [(r.rule, r.slice) for r in judge_floors("words", SLICES, floors)] == [
        ("every_retriever_scored", "overall"),
        ("hit_floor", "overall"),
        ("recall_floor", "overall"),
        ("ndcg_floor", "overall"),
        ("ndcg_floor", "locale=en"),
    ]


def test_a_floor_of_a_slice_that_does_not_exist_is_inconclusive_and_not_a_pass():
    result = judged("recall_floor", fr=Floors(recall=0.25))["locale=fr"]
    assert (result.status, result.threshold, result.observed, result.n) == (Status.INCONCLUSIVE, 0.25, None, 0)
    assert (result.low, result.high) == (None, None)
    assert result.detail == "floor 0.25; no gold-bearing case is in this slice"


def test_a_floor_of_a_slice_whose_results_are_all_missing_is_inconclusive():
    unscored = [*SLICES, SliceScore("locale=pt-BR", 0, None, None, Ledger(2, 2, 0, 0, 2, 0, 0))]
    result = judged("hit_floor", unscored, **{"pt-BR": Floors(hit=0.0)})["locale=pt-BR"]
    assert (result.status, result.detail) == (Status.INCONCLUSIVE, "floor 0.0; nothing was scored")


# The least n.


@pytest.mark.parametrize(
    ("min_n", "floor", "status"),
    [
        pytest.param(3, 0.5, Status.PASSED, id="n equal to it, and the floor holds"),
        pytest.param(3, 0.9, Status.FAILED, id="n equal to it, and the floor is missed"),
        pytest.param(4, 0.5, Status.INCONCLUSIVE, id="one case short, and the floor would hold"),
        pytest.param(4, 0.9, Status.INCONCLUSIVE, id="one case short, and the floor would be missed"),
        pytest.param(4, None, Status.INACTIVE, id="without a floor it asks for nothing"),
    ],
)
def test_with_fewer_scored_cases_than_min_n_a_floor_that_is_set_is_inconclusive(min_n, floor, status):
    assert rule("hit_floor", hit=floor, min_n=min_n).status is status


def test_too_few_cases_for_a_floor_are_said_with_the_figure_that_is_there():
    result = rule("recall_floor", recall=0.5, min_n=30)
    assert (result.threshold, result.observed, result.n) == (0.5, 0.5, 3)
    assert result.detail.startswith(
        "n 3 is below min_n 30, so the floor 0.5 says nothing: observed 0.5000, n 3, 95% interval "
    )


def test_each_slice_has_a_min_n_of_its_own():
    results = judged("hit_floor", overall=Floors(hit=0.1, min_n=3), en=Floors(hit=0.1, min_n=2))
    assert {name: r.status for name, r in results.items()} == {
        "overall": Status.PASSED,
        "locale=en": Status.INCONCLUSIVE,
    }
