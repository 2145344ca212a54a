import pytest

from recall_assets.metrics import Triad
from recall_assets.outcomes import Outcome, score_run
from recall_assets.records import Case, Retrieved


def case(case_id="c", gold=("a",), relevant=None, case_type="golden", locale="en"):
    return Case(case_id, locale, case_type, "query", tuple(gold), relevant)


def results(*ids):
    return tuple(Retrieved(card_id) for card_id in ids)


def test_a_case_with_gold_and_a_result_is_scored():
    outcome = score_run([case(gold=("a", "b"))], {"c": results("a", "x")}, 2)["c"]
    assert outcome == Outcome("en", "golden", True, 2, 0, Triad(1.0, 0.5, outcome.scores.retrieval_ndcg_at_k))
    assert outcome.scores.retrieval_ndcg_at_k == pytest.approx(0.61315, abs=5e-6)


def test_an_adversarial_case_with_gold_is_scored():
    outcome = score_run([case(case_type="adversarial")], {"c": results("a")}, 1)["c"]
    assert outcome == Outcome("en", "adversarial", True, 1, 0, Triad(1.0, 1.0, 1.0))


def test_an_empty_result_is_a_zero_and_a_missing_one_is_not():
    outcomes = score_run([case("empty"), case("missing")], {"empty": ()}, 3)
    assert outcomes == {
        "empty": Outcome("en", "golden", True, 0, 0, Triad(0.0, 0.0, 0.0)),
        "missing": Outcome("en", "golden", True, None, 0, None),
    }


def test_a_case_without_gold_has_an_outcome_and_no_score():
    cases = [case("found", gold=(), case_type="no_match"), case("missing", gold=(), case_type="no_match")]
    assert score_run(cases, {"found": results("a", "a", "b")}, 2) == {
        "found": Outcome("en", "no_match", False, 2, 1, None),
        "missing": Outcome("en", "no_match", False, None, 0, None),
    }


def test_relevant_ids_alone_make_no_case_gold_bearing():
    assert score_run([case(gold=(), relevant=("a",))], {"c": results("a")}, 1)["c"].scores is None


def test_relevant_ids_change_recall_and_ndcg_alone():
    outcome = score_run([case(gold=("a",), relevant=("x", "y"))], {"c": results("x", "y", "z")}, 3)["c"]
    assert outcome.scores == (0.0, 1.0, 1.0)


def test_chunks_count_as_their_cards_and_their_repeats_are_counted():
    chunks = [Retrieved("x@en#0", "x"), Retrieved("x@en#1", "x"), Retrieved("a@en#3", "a"), Retrieved("x@en#2", "x")]
    outcome = score_run([case()], {"c": chunks}, 2)["c"]
    assert (outcome.found, outcome.repeats, outcome.scores) == (2, 1, (1.0, 1.0, 0.6309297535714575))


def test_a_run_keeps_its_own_order_whatever_its_scores():
    ranked = (Retrieved("x", score=0.1), Retrieved("a", score=0.9))
    assert score_run([case()], {"c": ranked}, 1)["c"].scores == (0.0, 0.0, 0.0)


def test_outcomes_come_in_the_order_of_the_cases_and_other_results_are_not_looked_at():
    run = {"stranger": results("a"), "c1": results("a"), "c2": results("a")}
    assert list(score_run([case("c2"), case("c1")], run, 1)) == ["c2", "c1"]


def test_a_cutoff_below_one_is_refused():
    with pytest.raises(ValueError, match="at least 1, not 0"):
        score_run([case()], {"c": results("a")}, 0)
