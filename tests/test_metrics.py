import copy

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from recall_assets.metrics import (
    HIT,
    METRICS,
    NDCG,
    RECALL,
    Triad,
    gold_ranks,
    hit_at_k,
    ndcg_at_k,
    recall_at_k,
    top_k,
    top_k_and_repeats,
    triad,
    triad_from_ranks,
)

# 1 / log2(rank + 1) for ranks 1 to 3: 1, 0.63093, 0.5. The ideal of two gold cards is 1.63093.
SECOND = 0.6309297535714575

cards = st.sampled_from([f"card{number}" for number in range(12)])
rankings = st.lists(cards, max_size=25)
golds = st.lists(cards, min_size=1, max_size=14)
cutoffs = st.integers(1, 15)


def test_the_keys_of_the_three_scores_are_those_of_the_decision_record():
    assert METRICS == ("retrieval_hit_at_k", "retrieval_recall_at_k", "retrieval_ndcg_at_k")
    assert (HIT, RECALL, NDCG) == METRICS == Triad._fields


# Rule 1: drop repeats, first occurrence wins, then cut at k.


def test_repeats_are_dropped_before_the_cut_so_that_a_repeat_does_not_push_the_next_card_out():
    assert top_k(["a", "a", "a", "b", "c"], 2) == ["a", "b"]
    assert hit_at_k(["a", "a", "a", "b"], ["b"], 2) == 1.0
    assert recall_at_k(["a", "a", "b"], ["a", "b"], 2) == 1.0


def test_a_repeat_counts_at_its_first_place_and_gains_only_once():
    assert top_k(["a", "b", "a", "c"], 3) == ["a", "b", "c"]
    assert ndcg_at_k(["x", "a", "a", "a"], ["a"], 4) == SECOND
    assert recall_at_k(["a", "a"], ["a", "b"], 2) == 0.5


def test_a_list_shorter_than_k_is_kept_whole():
    assert top_k(["b", "a"], 10) == ["b", "a"]
    assert top_k([], 10) == []


@pytest.mark.parametrize(
    ("ranked", "k", "top", "repeats"),
    [
        pytest.param(["a", "a", "b", "a", "c", "c"], 3, ["a", "b", "c"], 2, id="later ones are not counted"),
        pytest.param(["a", "a", "b", "a", "c", "c"], 4, ["a", "b", "c"], 3, id="k is never reached"),
        pytest.param(["a", "b", "b"], 2, ["a", "b"], 0, id="a repeat right after the k-th"),
        pytest.param(["a", "a", "a"], 1, ["a"], 0, id="k of 1"),
        pytest.param([], 3, [], 0, id="nothing"),
    ],
)
def test_repeats_are_counted_on_the_way_to_the_k_th_distinct_card(ranked, k, top, repeats):
    assert top_k_and_repeats(ranked, k) == (top, repeats)


def test_ids_are_compared_exactly():
    assert hit_at_k(["Apple", "apple ", "7"], ["apple"], 3) == 0.0
    assert hit_at_k(["7"], ["007"], 1) == 0.0


# Rule 2: hit.


@pytest.mark.parametrize(
    ("ranked", "gold", "k", "expected"),
    [
        pytest.param(["a", "b", "c"], ["c"], 3, 1.0, id="gold at rank k"),
        pytest.param(["a", "b", "c"], ["c"], 2, 0.0, id="gold one below the cut"),
        pytest.param(["a", "b", "c"], ["z", "c", "y"], 3, 1.0, id="any one of three is enough"),
        pytest.param(["a", "b", "c"], ["a", "b", "c"], 3, 1.0, id="all of three is no more than 1"),
        pytest.param(["a"], ["z"], 3, 0.0, id="none"),
    ],
)
def test_hit_is_one_if_any_gold_card_is_in_the_top_k(ranked, gold, k, expected):
    assert hit_at_k(ranked, gold, k) == expected


# Rule 3: recall.


@pytest.mark.parametrize(
    ("ranked", "gold", "k", "expected"),
    [
        pytest.param(["a", "x"], ["a", "b"], 2, 0.5, id="one of two acceptable cards"),
        pytest.param(["a", "x", "b"], ["a", "b", "c"], 3, 2 / 3, id="two of three"),
        pytest.param(["a", "b", "c", "d"], ["a", "b", "c", "d"], 2, 0.5, id="gold that cannot fit counts too"),
        pytest.param(["a"], ["a", "a"], 1, 1.0, id="gold named twice counts once"),
        pytest.param(["x", "y"], ["a"], 2, 0.0, id="none"),
    ],
)
def test_recall_is_the_share_of_the_gold_in_the_top_k(ranked, gold, k, expected):
    assert recall_at_k(ranked, gold, k) == expected


# Rule 4: nDCG.


@pytest.mark.parametrize(
    ("ranked", "gold", "k", "expected"),
    [
        pytest.param(["a", "x", "y"], ["a"], 3, 1.0, id="at rank 1"),
        pytest.param(["x", "a", "y"], ["a"], 3, 0.63093, id="at rank 2"),
        pytest.param(["x", "y", "a"], ["a"], 3, 0.5, id="at rank 3"),
        pytest.param([*"tuvwxy", "a"], ["a"], 7, 1 / 3, id="at rank 7"),
        pytest.param(["a", "x", "b"], ["a", "b"], 3, 0.91972, id="two at 1 and 3: 1.5 / 1.63093"),
        pytest.param(["x", "a", "b"], ["a", "b"], 3, 0.69343, id="two at 2 and 3: 1.13093 / 1.63093"),
        pytest.param(["a", "x"], ["a", "b"], 2, 0.61315, id="one of two: 1 / 1.63093"),
        pytest.param(["x", "y"], ["a"], 2, 0.0, id="none"),
    ],
)
def test_ndcg_discounts_by_the_log2_of_the_rank(ranked, gold, k, expected):
    assert ndcg_at_k(ranked, gold, k) == pytest.approx(expected, abs=5e-6)


def test_ndcg_of_a_perfect_list_is_one_also_where_the_gold_cannot_all_fit_into_k():
    assert ndcg_at_k(["a", "b"], ["a", "b", "c", "d"], 2) == 1.0
    assert ndcg_at_k(["a"], ["a", "b"], 1) == 1.0


def test_gain_is_binary_whatever_the_place_of_a_card_in_the_label():
    assert ndcg_at_k(["b", "a"], ["a", "b"], 2) == ndcg_at_k(["a", "b"], ["a", "b"], 2) == 1.0


# Rule 5: relevant_ids.


def test_relevant_ids_replace_the_gold_in_recall_and_ndcg_but_not_in_hit():
    scores = triad(["b", "a", "c"], ["a"], 3, relevant=["b", "c", "d"])
    assert scores.retrieval_hit_at_k == 1.0
    assert scores.retrieval_recall_at_k == 2 / 3
    # Found at ranks 1 and 3, ideal three at the top: 1.5 / 2.13093.
    assert scores.retrieval_ndcg_at_k == pytest.approx(0.70392, abs=5e-6)


def test_a_relevant_card_in_the_top_k_is_no_hit():
    assert triad(["b"], ["a"], 3, relevant=["b"]) == (0.0, 1.0, 1.0)


@pytest.mark.parametrize("relevant", [None, [], ()])
def test_without_relevant_ids_all_three_use_the_gold(relevant):
    assert triad(["x", "a"], ["a", "b"], 2, relevant) == (1.0, 0.5, pytest.approx(0.38685, abs=5e-6))


# Rules 6 and 7: no gold, no result.


@pytest.mark.parametrize("metric", [hit_at_k, recall_at_k, ndcg_at_k, triad])
def test_empty_gold_is_refused_instead_of_scored(metric):
    with pytest.raises(ValueError, match="without gold has no score"):
        metric(["a"], [], 5)


def test_empty_gold_is_refused_also_where_there_are_relevant_ids():
    with pytest.raises(ValueError, match="without gold has no score"):
        triad(["a"], [], 5, relevant=["a"])


def test_an_empty_result_scores_zero_on_all_three():
    assert triad([], ["a", "b"], 5) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize("k", [0, -1])
@pytest.mark.parametrize("metric", [hit_at_k, recall_at_k, ndcg_at_k, triad])
def test_a_cutoff_below_one_is_refused(metric, k):
    with pytest.raises(ValueError, match=f"at least 1, not {k}"):
        metric(["a"], ["a"], k)


def test_scores_keep_full_precision():
    scores = triad(["x", "a", "y"], ["a", "b", "c"], 3)
    assert scores.retrieval_recall_at_k == 1 / 3
    assert scores.retrieval_ndcg_at_k == SECOND / (1 + SECOND + 0.5)


def test_ranks_of_gold_start_at_one():
    assert gold_ranks(["a", "x", "b"], {"a", "b", "z"}) == (1, 3)
    assert triad_from_ranks((2,), (1, 3), 2, 3) == (1.0, 1.0, pytest.approx(0.91972, abs=5e-6))


# Properties.


@given(rankings, golds, cutoffs, st.none() | st.lists(cards, max_size=14))
def test_every_score_lies_between_zero_and_one(ranked, gold, k, relevant):
    assert all(0.0 <= score <= 1.0 for score in triad(ranked, gold, k, relevant))


@given(st.permutations([f"card{number}" for number in range(12)]), st.integers(1, 12), cutoffs)
def test_ndcg_is_exactly_one_where_the_gold_fills_the_top_and_less_one_place_further_down(ranked, n_gold, k):
    gold = ranked[:n_gold]
    assert ndcg_at_k(ranked, gold, k) == 1.0
    assert ndcg_at_k(["other", *ranked], gold, k) < 1.0


@given(rankings, golds, cutoffs, st.none() | golds)
def test_dropping_repeats_beforehand_changes_nothing(ranked, gold, k, relevant):
    distinct = list(dict.fromkeys(ranked))
    assert triad(ranked, gold, k, relevant) == triad(distinct, gold, k, relevant)


@given(rankings, golds, cutoffs, st.data())
def test_a_repeat_put_in_anywhere_after_the_first_changes_no_score(ranked, gold, k, data):
    assume(ranked)
    first = data.draw(st.integers(0, len(ranked) - 1))
    place = data.draw(st.integers(first + 1, len(ranked)))
    assert triad([*ranked[:place], ranked[first], *ranked[place:]], gold, k) == triad(ranked, gold, k)


@given(rankings, golds, cutoffs)
def test_what_is_below_the_k_th_distinct_card_changes_no_score(ranked, gold, k):
    assert triad([*top_k(ranked, k)], gold, k) == triad(ranked, gold, k)


@given(rankings, golds, cutoffs, st.none() | golds)
def test_the_triad_is_the_three_functions(ranked, gold, k, relevant):
    counted = relevant or gold
    assert triad(ranked, gold, k, relevant) == (
        hit_at_k(ranked, gold, k),
        recall_at_k(ranked, counted, k),
        ndcg_at_k(ranked, counted, k),
    )


@given(rankings, golds, cutoffs, golds)
def test_what_is_passed_in_is_never_changed(ranked, gold, k, relevant):
    before = copy.deepcopy((ranked, gold, relevant))
    triad(ranked, gold, k, relevant)
    top_k_and_repeats(ranked, k)
    for metric in (hit_at_k, recall_at_k, ndcg_at_k):
        metric(ranked, gold, k)
    assert (ranked, gold, relevant) == before
