from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall_assets.metrics import Triad
from recall_assets.outcomes import Outcome
from recall_assets.slices import Ledger, slice_scores

FULL, HALF, NONE = Triad(1.0, 1.0, 1.0), Triad(1.0, 0.5, 0.25), Triad(0.0, 0.0, 0.0)
NOTHING = Ledger(0, 0, 0, 0, 0, 0, 0)

# Eleven cases at k 5, each kind in a number of its own.
OUTCOMES = {
    Outcome("en", "golden", True, 5, 0, FULL): 2,
    Outcome("en", "golden", True, 5, 3, HALF): 1,
    Outcome("en", "adversarial", True, 4, 1, NONE): 1,
    Outcome("es-419", "golden", True, 0, 0, NONE): 1,
    Outcome("es-419", "golden", True, None, 0, None): 2,
    Outcome("es-419", "no_match", False, 0, 0, None): 1,
    Outcome("pt-BR", "no_match", False, 5, 7, None): 2,
    Outcome("pt-BR", "no_match", False, None, 0, None): 1,
}


def by_name(outcomes, k=5):
    return {score.slice: score for score in slice_scores(outcomes, k)}


def test_slices_are_overall_then_case_types_then_locales_then_both_each_sorted_by_name():
    assert [score.slice for score in slice_scores(OUTCOMES, 5)] == [
        "overall",
        "case_type=adversarial",
        "case_type=golden",
        "locale=en",
        "locale=es-419",
        "case_type=adversarial,locale=en",
        "case_type=golden,locale=en",
        "case_type=golden,locale=es-419",
    ]


def test_the_ledger_says_where_every_case_went():
    assert {name: score.ledger for name, score in by_name(OUTCOMES).items()} == {
        "overall": Ledger(
            cases=11,
            gold_bearing=7,
            scored=5,
            empty_result=2,
            missing=3,
            short_result=3,
            duplicates_dropped=3 + 1 + 2 * 7,
        ),
        "case_type=adversarial": replace(
            NOTHING, cases=1, gold_bearing=1, scored=1, short_result=1, duplicates_dropped=1
        ),
        "case_type=golden": Ledger(6, 6, 4, empty_result=1, missing=2, short_result=1, duplicates_dropped=3),
        "locale=en": Ledger(4, 4, 4, empty_result=0, missing=0, short_result=1, duplicates_dropped=4),
        "locale=es-419": Ledger(4, 3, 1, empty_result=2, missing=2, short_result=2, duplicates_dropped=0),
        "case_type=adversarial,locale=en": Ledger(1, 1, 1, 0, 0, 1, 1),
        "case_type=golden,locale=en": Ledger(3, 3, 3, 0, 0, 0, 3),
        "case_type=golden,locale=es-419": Ledger(3, 3, 1, 1, 2, 1, 0),
    }


def test_means_are_over_the_scored_cases_and_n_says_how_many():
    scores = by_name(OUTCOMES)
    assert {name: (score.n, score.means) for name, score in scores.items()} == {
        "overall": (5, (3 / 5, 2.5 / 5, 2.25 / 5)),
        "case_type=adversarial": (1, NONE),
        "case_type=golden": (4, (3 / 4, 2.5 / 4, 2.25 / 4)),
        "locale=en": (4, (3 / 4, 2.5 / 4, 2.25 / 4)),
        "locale=es-419": (1, NONE),
        "case_type=adversarial,locale=en": (1, NONE),
        "case_type=golden,locale=en": (3, (1.0, 2.5 / 3, 2.25 / 3)),
        "case_type=golden,locale=es-419": (1, NONE),
    }


def test_n_is_the_ledgers_scored():
    assert all(score.n == score.ledger.scored for score in slice_scores(OUTCOMES, 5))


def test_a_case_without_gold_changes_no_mean_and_no_n():
    with_gold = {outcome: count for outcome, count in OUTCOMES.items() if outcome.gold_bearing}
    before, after = by_name(with_gold), by_name(OUTCOMES)
    assert before.keys() == after.keys()
    for name, score in before.items():
        assert (score.n, score.means, score.hit_interval) == (
            after[name].n,
            after[name].means,
            after[name].hit_interval,
        )


def test_a_missing_result_is_no_zero_and_an_empty_one_is():
    found = {Outcome("en", "golden", True, 5, 0, FULL): 1}
    missing = by_name({**found, Outcome("en", "golden", True, None, 0, None): 1})["overall"]
    empty = by_name({**found, Outcome("en", "golden", True, 0, 0, NONE): 1})["overall"]
    assert (missing.n, missing.means) == (1, FULL)
    assert (empty.n, empty.means) == (2, (0.5, 0.5, 0.5))


def test_a_slice_whose_results_are_all_missing_keeps_its_row_with_n_0_and_no_mean():
    scores = by_name({Outcome("en", "golden", True, None, 0, None): 3})
    assert list(scores) == ["overall", "case_type=golden", "locale=en", "case_type=golden,locale=en"]
    for score in scores.values():
        assert (score.n, score.means, score.hit_interval) == (0, None, None)
        assert score.ledger == replace(NOTHING, cases=3, gold_bearing=3, missing=3)


def test_overall_is_there_even_where_no_case_has_gold_and_where_there_is_no_case():
    (without_gold,) = slice_scores({Outcome("en", "no_match", False, 5, 0, None): 2}, 5)
    assert (without_gold.slice, without_gold.n, without_gold.means) == ("overall", 0, None)
    assert without_gold.ledger == replace(NOTHING, cases=2)
    (nothing,) = slice_scores({}, 5)
    assert (nothing.slice, nothing.n, nothing.ledger) == ("overall", 0, NOTHING)


@pytest.mark.parametrize(("k", "short"), [(4, 0), (5, 1)])
def test_a_short_result_is_one_with_fewer_distinct_cards_than_k(k, short):
    (overall, *_) = slice_scores({Outcome("en", "golden", True, 4, 0, FULL): 1}, k)
    assert overall.ledger.short_result == short


def test_the_hit_interval_is_wilsons_over_the_hits_of_the_slice():
    scores = by_name(OUTCOMES)
    # 3 of 5 and 0 of 1, with z2 = 3.84146: (0.6 + z2/10 -+ 1.95996 * sqrt(0.24/5 + z2/100)) / (1 + z2/5).
    assert scores["overall"].hit_interval == pytest.approx((0.23072, 0.88238), abs=5e-6)
    assert scores["locale=es-419"].hit_interval == pytest.approx((0.0, 3.841459 / 4.841459), abs=5e-6)


def test_a_mean_is_summed_exactly_before_it_is_rounded_once():
    # One after the other, 0.1 + 0.2 + 0.3 is 0.6000000000000001, 0.3 + 0.2 + 0.1 is 0.6, and ten times 0.1 is below 1.
    tenths = [Outcome("en", "golden", True, 5, 0, Triad(1.0, 0.5, value)) for value in (0.1, 0.2, 0.3)]
    assert slice_scores(Counter(tenths), 5)[0].means.retrieval_ndcg_at_k == 0.6 / 3
    assert slice_scores(Counter(tenths[::-1]), 5)[0].means.retrieval_ndcg_at_k == 0.6 / 3
    assert slice_scores({tenths[0]: 10}, 5)[0].means.retrieval_ndcg_at_k == 0.1


outcomes = st.builds(
    Outcome,
    locale=st.sampled_from(["en", "es-419", "pt-BR"]),
    case_type=st.sampled_from(["golden", "adversarial"]),
    gold_bearing=st.just(True),
    found=st.just(5),
    repeats=st.integers(0, 3),
    scores=st.builds(Triad, st.sampled_from([0.0, 1.0]), st.floats(0.0, 1.0), st.floats(0.0, 1.0)),
)


@given(st.lists(outcomes, max_size=40), st.randoms(use_true_random=False))
def test_the_order_of_the_cases_changes_no_bit_of_any_slice(cases, random):
    shuffled = random.sample(cases, len(cases))
    assert slice_scores(Counter(shuffled), 5) == slice_scores(Counter(cases), 5)
