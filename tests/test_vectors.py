import numpy as np
import pytest

from recall_assets.vectors import VectorTable
from tests.vectors import QUERY, TABLE


def test_similarity_is_the_cosine_whatever_the_lengths():
    assert TABLE.similarities(QUERY * 7).tolist() == [pytest.approx([1.0, 0.6, 0.8, 0.0])]


def test_single_precision_queries_are_compared_in_double_precision():
    similarities = TABLE.similarities(np.array([[0.1, 0.3]], dtype=np.float32))
    assert similarities.dtype == np.float64
    assert similarities[0, 0] == pytest.approx(0.1 / np.hypot(0.1, 0.3), abs=1e-8)


def test_members_are_the_chunks_of_a_locale_or_all():
    assert TABLE.members("en").tolist() == [0, 1, 2]
    assert TABLE.members("pt").tolist() == [3]
    assert TABLE.members("de").tolist() == []
    assert TABLE.members(None).tolist() == [0, 1, 2, 3]


def test_the_rows_of_a_card_are_those_of_the_locale_or_all():
    assert TABLE.rows_of_cards("en") == {"a": [0, 1], "b": [2]}
    assert TABLE.rows_of_cards("pt") == {"c": [3]}
    assert TABLE.rows_of_cards("de") == {}
    assert TABLE.rows_of_cards(None) == {"a": [0, 1], "b": [2], "c": [3]}


def test_members_ascend_also_where_the_chunks_of_two_cards_alternate():
    # The card "a@f" stands between the locales of the card "a".
    ids, cards = ["a@en#0", "a@f@en#0", "a@pt#0"], ["a", "a@f", "a"]
    table = VectorTable(ids, cards, ["en", "en", "pt"], np.ones((3, 2)))
    assert table.rows_of_cards(None) == {"a": [0, 2], "a@f": [1]}
    assert (table.rows_of_cards("en"), table.rows_of_cards("pt")) == ({"a": [0], "a@f": [1]}, {"a": [2]})
    assert table.members(None).tolist() == [0, 1, 2]


@pytest.mark.parametrize("width", [2, 37, 384])
def test_equal_vectors_are_equally_similar_to_the_last_bit(width):
    # A matrix product alone gives equal rows sums that can differ in the last bit, depending on where they stand; with
    # OpenBLAS it does so from some hundred rows and queries on.
    rng = np.random.default_rng(width)
    same, others = rng.normal(size=width), rng.normal(size=(3, width))
    names = [f"{number:03}" for number in range(260)]
    table = VectorTable(names, names, ["en"] * 260, np.concatenate([np.tile(same, (257, 1)), others]))
    for row in table.similarities(rng.normal(size=(100, width)) * 0.1 + same):
        assert len(set(row[:257])) == 1
