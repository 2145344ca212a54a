import numpy as np
import pytest

from recall_assets.retrieval.search import (
    ExactSearch,
    card_similarities,
    differs_from_exact,
    in_rank_order,
)
from recall_assets.vectors import Candidate, VectorTable
from tests.vectors import QUERY, TABLE


def ids(candidates):
    return [candidate.chunk_id for candidate in candidates]


def test_the_higher_score_ranks_first_and_equal_scores_rank_by_chunk_id():
    candidates = [
        Candidate("b", "b", 0.5),
        Candidate("c", "c", 0.9),
        Candidate("a", "a", 0.5),
        Candidate("B", "B", 0.5),
    ]
    assert ids(in_rank_order(candidates)) == ["c", "B", "a", "b"]


def test_exact_search_gives_the_best_chunks_with_parent_and_cosine():
    (found,) = ExactSearch(TABLE).nearest(QUERY, depth=3, locale=None)
    assert [(c.chunk_id, c.card_id) for c in found] == [("a@en#0", "a"), ("b@en#0", "b"), ("a@en#1", "a")]
    assert [c.score for c in found] == pytest.approx([1.0, 0.8, 0.6])


def test_exact_search_in_a_locale_sees_no_other():
    search = ExactSearch(TABLE)
    assert search.table is TABLE
    assert [ids(found) for found in search.nearest(np.array([[0.0, 1.0], [1.0, 0.0]]), 5, "pt")] == [
        ["c@pt#0"],
        ["c@pt#0"],
    ]
    assert search.nearest(QUERY, 5, "de") == [[]]


def test_exact_search_answers_every_query_in_its_own_row():
    found = ExactSearch(TABLE).nearest(np.array([[0.0, 1.0], [1.0, 0.0], [0.8, -0.6]]), 1, None)
    assert [ids(row) for row in found] == [["c@pt#0"], ["a@en#0"], ["b@en#0"]]


@pytest.mark.parametrize("width", [2, 37, 384])
def test_exact_search_ranks_equal_vectors_by_id(width):
    rng = np.random.default_rng(width)
    same, others = rng.normal(size=width), rng.normal(size=(3, width))
    names = [f"{number:03}" for number in range(260)]
    table = VectorTable(names, names, ["en"] * 260, np.concatenate([np.tile(same, (257, 1)), others]))
    for found in ExactSearch(table).nearest(rng.normal(size=(100, width)) * 0.1 + same, 260, None):
        assert [chunk_id for chunk_id in ids(found) if chunk_id < "257"] == names[:257]


def test_a_cards_similarity_is_that_of_its_best_chunk_in_the_locale():
    table = VectorTable(
        chunk_ids=["a@en#0", "a@en#1", "a@pt#0", "b@pt#0"],
        card_ids=["a", "a", "a", "b"],
        locales=["en", "en", "pt", "pt"],
        vectors=np.array([[0.0, 1.0], [0.6, 0.8], [0.8, 0.6], [1.0, 0.0]]),
    )
    (row,) = table.similarities(QUERY)
    assert card_similarities(table, row, "en", ["a"]) == pytest.approx({"a": 0.6})
    assert card_similarities(table, row, "pt", ["a", "b"]) == pytest.approx({"a": 0.8, "b": 1.0})
    assert card_similarities(table, row, None, ["a", "b"]) == pytest.approx({"a": 0.8, "b": 1.0})


def test_only_the_cards_asked_for_have_a_similarity():
    (row,) = TABLE.similarities(QUERY)
    assert card_similarities(TABLE, row, None, {"a", "c"}) == pytest.approx({"a": 1.0, "c": 0.0})
    assert card_similarities(TABLE, row, None, set()) == {}


def test_a_card_with_only_negative_similarity_has_it():
    (row,) = TABLE.similarities(-QUERY)
    assert card_similarities(TABLE, row, None, ["b"]) == pytest.approx({"b": -0.8})


@pytest.mark.parametrize(
    ("found", "exact", "differs"),
    [
        pytest.param(["a", "b"], ["a", "b"], False, id="the same"),
        pytest.param(["b", "a"], ["a", "b"], True, id="a better card further down"),
        pytest.param(["a", "c"], ["a", "b"], True, id="a card is lost"),
        pytest.param(["a"], ["a", "b"], True, id="too few"),
        pytest.param(["a", "b2"], ["a", "b"], False, id="as good up to rounding"),
        pytest.param([], [], False, id="nothing to find"),
    ],
)
def test_an_index_differs_where_a_card_at_some_rank_is_worse(found, exact, differs):
    similarity = {"a": 0.9, "b": 0.5, "b2": 0.5 - 1e-7, "c": 0.5 - 1e-5}
    assert differs_from_exact(found, exact, similarity) is differs
