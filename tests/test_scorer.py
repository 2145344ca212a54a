from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import recall_assets
from recall_assets import Case, RetrievalRecallScorer, Retrieved, mean_scores
from recall_assets.metrics import HIT, NDCG, RECALL
from recall_assets.problems import InvalidInputError

GOLD_A_OR_B = {"must_cite_one_of": ["a", "b"]}
NOTHING_FOUND = {HIT: 0.0, RECALL: 0.0, NDCG: 0.0}


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """A working folder without a configuration, and no variable that names one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RECALL_CONFIG", raising=False)
    return tmp_path


def test_the_package_offers_the_scorer_the_functions_under_it_and_the_mean():
    for name in ("RetrievalRecallScorer", "mean_scores", "hit_at_k", "recall_at_k", "ndcg_at_k", "triad", "Case"):
        assert name in recall_assets.__all__
        assert hasattr(recall_assets, name)


def test_a_case_with_gold_gets_the_three_keys():
    scores = RetrievalRecallScorer(top_k=3).score(GOLD_A_OR_B, ["x", "a", "y"])
    # One of two at rank 2: recall 1/2, nDCG 0.63093 / 1.63093.
    assert scores == {HIT: 1.0, RECALL: 0.5, NDCG: pytest.approx(0.38685, abs=5e-6)}
    assert list(scores) == ["retrieval_hit_at_k", "retrieval_recall_at_k", "retrieval_ndcg_at_k"]


@pytest.mark.parametrize(
    "case",
    [
        pytest.param({"must_cite_one_of": []}, id="empty"),
        pytest.param({"must_cite_one_of": None}, id="null"),
        pytest.param({"must_cite_one_of": [], "relevant_ids": ["a"]}, id="empty, with relevant ids"),
        pytest.param(Case("c", "en", "golden", "query", ()), id="a record of type golden"),
    ],
)
def test_a_case_without_gold_gets_no_key_at_all(case):
    assert RetrievalRecallScorer(top_k=3).score(case, ["a"]) == {}


def test_an_adversarial_case_with_gold_is_scored():
    case = Case("c", "en", "adversarial", "query", ("a",))
    assert RetrievalRecallScorer(top_k=3).score(case, ["a"]) == {HIT: 1.0, RECALL: 1.0, NDCG: 1.0}


def test_an_empty_result_scores_zero():
    assert RetrievalRecallScorer(top_k=3).score(GOLD_A_OR_B, []) == NOTHING_FOUND


def test_relevant_ids_are_used_by_recall_and_ndcg_alone():
    case = Case("c", "en", "golden", "query", ("a",), relevant_ids=("b", "c"))
    assert RetrievalRecallScorer(top_k=3).score(case, ["b", "c"]) == {HIT: 0.0, RECALL: 1.0, NDCG: 1.0}
    mapping = {"must_cite_one_of": ["a"], "relevant_ids": ["b", "c"]}
    assert RetrievalRecallScorer(top_k=3).score(mapping, ["a"]) == {HIT: 1.0, RECALL: 0.0, NDCG: 0.0}


@pytest.mark.parametrize(
    "item",
    [
        pytest.param("a", id="id"),
        pytest.param(" a ", id="id with white space around it"),
        pytest.param({"chunk_id": "a"}, id="mapping without parent"),
        pytest.param({"chunk_id": "a#0", "parent_id": "a", "score": 0.1}, id="mapping with parent"),
        pytest.param({"chunk_id": "a", "parent_id": None}, id="mapping whose parent is null"),
        pytest.param({"chunk_id": "a", "parent_id": ""}, id="mapping whose parent is empty"),
        pytest.param(Retrieved("a#0", "a"), id="record with parent"),
        pytest.param(SimpleNamespace(chunk_id="a#0", parent_id="a"), id="object of the runner's own"),
        pytest.param(SimpleNamespace(chunk_id="a"), id="object that knows no parent"),
    ],
)
def test_a_result_stands_for_its_parent_or_else_for_itself(item):
    assert RetrievalRecallScorer(top_k=1).score({"must_cite_one_of": ["a"]}, [item])[HIT] == 1.0


def test_a_chunk_with_a_parent_does_not_stand_for_its_own_id():
    item = {"chunk_id": "a", "parent_id": "other"}
    assert RetrievalRecallScorer(top_k=1).score({"must_cite_one_of": ["a"]}, [item])[HIT] == 0.0


def test_chunks_of_one_card_take_one_place_of_the_top_k():
    chunks = [{"chunk_id": f"x#{ordinal}", "parent_id": "x"} for ordinal in range(9)]
    scores = RetrievalRecallScorer(top_k=2).score({"must_cite_one_of": ["a"]}, [*chunks, "a"])
    assert scores == {HIT: 1.0, RECALL: 1.0, NDCG: 0.6309297535714575}


def test_what_was_cited_plays_no_part():
    case = {"must_cite_one_of": ["a"], "cited": ["a"], "citations": ["a"]}
    assert RetrievalRecallScorer(top_k=3).score(case, [{"chunk_id": "x", "cited": "a"}]) == NOTHING_FOUND


def test_scores_of_results_do_not_reorder_them():
    results = [{"chunk_id": "x", "score": 0.1}, {"chunk_id": "a", "score": 0.9}]
    assert RetrievalRecallScorer(top_k=1).score({"must_cite_one_of": ["a"]}, results) == NOTHING_FOUND


def test_ids_are_compared_after_nfc_and_trimming_with_case():
    scorer = RetrievalRecallScorer(top_k=1)
    assert scorer.score({"must_cite_one_of": [" cafe\u0301"]}, ["caf\u00e9 "])[HIT] == 1.0
    assert scorer.score({"must_cite_one_of": ["Pix"]}, ["pix"])[HIT] == 0.0


@pytest.mark.parametrize(
    ("case", "retrieved", "message"),
    [
        pytest.param({"must_cite_one_of": "abc"}, ["a"], "must_cite_one_of must be a list", id="gold is a string"),
        pytest.param({"must_cite_one_of": 7}, ["a"], "must_cite_one_of must be a list", id="gold is a number"),
        pytest.param({"must_cite_one_of": [7]}, ["7"], "must_cite_one_of must hold ids", id="a gold id is a number"),
        pytest.param({"must_cite_one_of": [" "]}, ["a"], "must_cite_one_of must hold ids", id="a gold id is blank"),
        pytest.param(GOLD_A_OR_B | {"relevant_ids": "a"}, ["a"], "relevant_ids must be a list", id="relevant ids"),
        pytest.param(GOLD_A_OR_B, "a", "retrieved must be a list of results, not 'a'", id="results are a string"),
        pytest.param(GOLD_A_OR_B, {"a": 0.9}, "retrieved must be a list of results", id="results are a mapping"),
        pytest.param(GOLD_A_OR_B, {"a"}, r"retrieved must be a list of results, not \{'a'\}", id="results are a set"),
        pytest.param(GOLD_A_OR_B, frozenset("a"), "retrieved must be a list of results", id="a frozen set"),
        pytest.param(GOLD_A_OR_B, {"a": 1}.keys(), "retrieved must be a list of results", id="keys of a mapping"),
        pytest.param(GOLD_A_OR_B, None, "retrieved must be a list of results, not None", id="no results"),
        pytest.param(GOLD_A_OR_B, [7], "must be an id or have a chunk_id, not 7", id="a result is a number"),
        pytest.param(GOLD_A_OR_B, [{"id": "a"}], "must be an id or have a chunk_id", id="a result without an id"),
        pytest.param(GOLD_A_OR_B, [{"chunk_id": 7}], "chunk_id of a retrieved item", id="a chunk id is a number"),
        pytest.param(
            GOLD_A_OR_B, [{"chunk_id": "a", "parent_id": 7}], "parent_id of a retrieved item", id="a parent is a number"
        ),
    ],
)
def test_what_is_of_another_form_is_refused_instead_of_scored(case, retrieved, message):
    with pytest.raises(TypeError, match=message):
        RetrievalRecallScorer(top_k=3).score(case, retrieved)


# The cutoff.


def test_the_cutoff_is_top_k_of_the_configuration_here(elsewhere):
    (elsewhere / "recall.yaml").write_text("top_k: 2\n", encoding="utf-8")
    assert RetrievalRecallScorer().top_k == 2
    assert RetrievalRecallScorer().score({"must_cite_one_of": ["c"]}, ["a", "b", "c"]) == NOTHING_FOUND


def test_the_environment_names_another_configuration(elsewhere, monkeypatch):
    (elsewhere / "recall.yaml").write_text("top_k: 2\n", encoding="utf-8")
    (elsewhere / "other.yaml").write_text("top_k: 9\n", encoding="utf-8")
    monkeypatch.setenv("RECALL_CONFIG", str(elsewhere / "other.yaml"))
    assert RetrievalRecallScorer().top_k == 9


def test_the_argument_overrides_the_configuration(elsewhere):
    (elsewhere / "recall.yaml").write_text("top_k: 2\n", encoding="utf-8")
    assert RetrievalRecallScorer(top_k=3).score({"must_cite_one_of": ["c"]}, ["a", "b", "c"])[HIT] == 1.0


@pytest.mark.parametrize("variable", [None, ""])
def test_without_a_configuration_the_cutoff_is_the_default(elsewhere, monkeypatch, variable):
    if variable is not None:
        monkeypatch.setenv("RECALL_CONFIG", variable)
    assert RetrievalRecallScorer().top_k == 5


def test_a_configuration_that_is_named_but_absent_or_wrong_is_an_error(elsewhere, monkeypatch):
    monkeypatch.setenv("RECALL_CONFIG", "absent.yaml")
    with pytest.raises(InvalidInputError, match=r"absent\.yaml"):
        RetrievalRecallScorer()
    monkeypatch.delenv("RECALL_CONFIG")
    (elsewhere / "recall.yaml").write_text("top_k: 0\n", encoding="utf-8")
    with pytest.raises(InvalidInputError, match=r"recall\.yaml:1:\d+: top_k"):
        RetrievalRecallScorer()


@pytest.mark.parametrize("top_k", [0, -3])
def test_a_cutoff_below_one_is_refused(top_k):
    with pytest.raises(ValueError, match=f"top_k must be at least 1, not {top_k}"):
        RetrievalRecallScorer(top_k=top_k)


@pytest.mark.parametrize("top_k", [True, 5.0, "5"])
def test_a_cutoff_that_is_no_int_is_refused(top_k):
    with pytest.raises(TypeError, match="top_k must be an int"):
        RetrievalRecallScorer(top_k=top_k)


# The mean.


def test_the_mean_is_over_the_cases_that_have_the_key_and_returns_means_only():
    scores = [{HIT: 1.0, RECALL: 0.5, NDCG: 0.25}, {}, {HIT: 0.0, RECALL: 1.0, NDCG: 0.75}, {}, {}]
    assert mean_scores(scores) == {HIT: 0.5, RECALL: 0.75, NDCG: 0.5}


def test_a_case_without_gold_changes_no_mean():
    scorer = RetrievalRecallScorer(top_k=1)
    scored = [scorer.score({"must_cite_one_of": [gold]}, ["a"]) for gold in ("a", "a", "b")]
    without_gold = scorer.score({"must_cite_one_of": []}, ["a"])
    two_of_three = {HIT: 2 / 3, RECALL: 2 / 3, NDCG: 2 / 3}
    assert mean_scores([*scored, without_gold, without_gold]) == mean_scores(scored) == two_of_three


def test_without_any_scored_case_there_is_no_mean():
    assert mean_scores([]) == {}
    assert mean_scores([{}, {}]) == {}


def test_a_metric_that_some_cases_lack_is_averaged_over_the_others():
    assert mean_scores([{HIT: 1.0}, {HIT: 0.0, RECALL: 0.5}]) == {HIT: 0.5, RECALL: 0.5}


def test_a_mean_is_summed_exactly_before_it_is_rounded_once():
    # Added one after the other these give 0.6000000000000001 or 0.6, depending on the order.
    forth = [{NDCG: 0.1}, {NDCG: 0.2}, {NDCG: 0.3}]
    assert mean_scores(forth) == mean_scores(forth[::-1]) == {NDCG: 0.6 / 3}


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=30), st.randoms(use_true_random=False))
def test_a_mean_is_the_same_to_the_last_bit_in_every_order(values, random):
    scores = [{NDCG: value} for value in values]
    shuffled = random.sample(scores, len(scores))
    assert mean_scores(shuffled) == mean_scores(scores)


def test_a_case_without_the_gold_field_is_refused_so_that_a_misspelt_key_drops_no_case_from_the_mean():
    with pytest.raises(TypeError, match="the case has no must_cite_one_of"):
        RetrievalRecallScorer(top_k=5).score({"must_site_one_of": ["a"]}, ["a"])
