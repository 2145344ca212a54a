import math

import pytest
from scipy.stats import binomtest

from recall_assets.config import Settings
from recall_assets.floors import judge_floors
from recall_assets.gate import FLOOR_RULES, Status
from recall_assets.suggested_floors import slices_of_baseline, suggested_floors
from tests.baselines import baseline, ranked, scored

MIXED = baseline(
    [
        *ranked([1] * 80 + [None] * 20),
        *ranked([1, 1, None], prefix="p", locale="pt-BR"),
        scored("hard", None, case_type="adversarial"),
    ]
)


def of(slice_, of_baseline=MIXED):
    (one,) = [floors for floors in suggested_floors(of_baseline) if floors.slice == slice_]
    return one


def test_floors_are_suggested_for_the_whole_each_case_type_and_each_locale():
    assert [(one.slice, one.n) for one in suggested_floors(MIXED)] == [
        ("overall", 104),
        ("case_type=adversarial", 1),
        ("case_type=golden", 103),
        ("locale=en", 101),
        ("locale=pt-BR", 3),
    ]


def test_a_floor_is_the_lower_wilson_end_rounded_down():
    # 80 of 100: 0.71117 to 0.86663; 2 of 3: 0.20766 to 0.93851 (scipy, Wilson).
    eighty = of("overall", baseline(ranked([1] * 80 + [None] * 20)))
    assert (eighty.observed, eighty.floors) == ((0.8, 0.8, 0.8), (0.711, 0.711, 0.711))
    two = of("locale=pt-BR")
    assert two.observed == pytest.approx((2 / 3,) * 3)
    assert two.floors == (0.207, 0.207, 0.207)


@pytest.mark.parametrize(("hits", "n"), [(1, 1), (0, 1), (5, 5), (29, 29), (27, 29), (999, 1000), (0, 40)])
def test_floors_of_hit_follow_scipys_wilson_interval(hits, n):
    low = binomtest(hits, n).proportion_ci(method="wilson").low
    floor = of("overall", baseline(ranked([1] * hits + [None] * (n - hits)))).floors[0]
    assert floor == math.floor(low * 1000) / 1000
    assert floor <= hits / n


def test_each_metric_has_a_floor_of_its_own():
    # Rank 3 is hit and recall 1 and nDCG 0.5.
    one = of("overall", baseline(ranked([3] * 40)))
    assert one.observed == (1.0, 1.0, 0.5)
    # 40 of 40: 40 / (40 + 3.8415) = 0.91238; 20 of 40: 0.351995 (scipy, Wilson).
    assert one.floors == (0.912, 0.912, 0.351)


def test_a_sweep_as_good_as_the_baseline_is_above_every_suggested_floor():
    floors = {
        one.slice: dict(zip(("hit", "recall", "ndcg"), one.floors, strict=True)) for one in suggested_floors(MIXED)
    }
    overall = floors.pop("overall")
    settings = Settings.model_validate({"gate": {"floors": overall, "slices": floors}})
    results = judge_floors("words", slices_of_baseline(MIXED), settings.gate.floors_of("words"))
    judged = [result for result in results if result.rule in FLOOR_RULES]
    assert len(judged) == 15
    assert {result.status for result in judged} == {Status.PASSED}


def test_the_slices_of_a_baseline_count_scored_cases_only():
    overall = slices_of_baseline(MIXED)[0]
    assert (overall.slice, overall.n, overall.ledger.cases, overall.ledger.gold_bearing) == ("overall", 104, 104, 104)
    assert overall.means.retrieval_hit_at_k == 82 / 104
    assert [score.slice for score in slices_of_baseline(MIXED)][-3:] == [
        "case_type=adversarial,locale=en",
        "case_type=golden,locale=en",
        "case_type=golden,locale=pt-BR",
    ]


def test_a_baseline_without_a_case_suggests_a_floor_of_zero():
    (one,) = suggested_floors(baseline([]))
    assert (one.slice, one.n, one.floors) == ("overall", 0, (0.0, 0.0, 0.0))
