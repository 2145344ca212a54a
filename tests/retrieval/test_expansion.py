import numpy as np
import pytest

from recall_assets.retrieval.expansion import QUERY_BATCH, nearest_cards
from recall_assets.retrieval.search import in_rank_order
from recall_assets.vectors import Candidate, VectorTable

QUERY = np.zeros((1, 2))


class Ranking:
    """A search with the same ranked chunks for every query of a locale; remembers how it was asked."""

    def __init__(self, **chunks):
        self.chunks = {locale: in_rank_order(candidates) for locale, candidates in chunks.items()}
        self.asked = []
        held = sorted((c.chunk_id, c.card_id, locale) for locale, candidates in chunks.items() for c in candidates)
        self.table = VectorTable(*map(list, zip(*held, strict=True)), vectors=np.ones((len(held), 2)))

    def nearest(self, vectors, depth, locale):
        self.asked.append((len(vectors), depth, locale))
        return [self._all(locale)[:depth] for _ in vectors]

    def _all(self, locale):
        if locale is None:
            return in_rank_order(candidate for chunks in self.chunks.values() for candidate in chunks)
        return self.chunks.get(locale, [])


def chunks_of(card_id, count, score):
    """Chunks of one card, each a little less near than the one before."""
    return [Candidate(f"{card_id}#{number:02}", card_id, score - number / 1000) for number in range(count)]


def cards(search, k, locales=("en",)):
    vectors = np.zeros((len(locales), 2))
    found = nearest_cards(search, vectors, locales, k, lambda _: None)
    return [[candidate.card_id for candidate in result] for result in found]


def test_a_result_ends_with_the_first_chunk_of_the_kth_card():
    search = Ranking(en=[*chunks_of("a", 2, 0.9), *chunks_of("b", 2, 0.8), *chunks_of("c", 2, 0.7)])
    assert cards(search, 2) == [["a", "a", "b"]]
    assert cards(search, 3) == [["a", "a", "b", "b", "c"]]


def test_one_card_with_many_chunks_does_not_keep_the_next_card_out():
    search = Ranking(en=[*chunks_of("long", 30, 0.9), *chunks_of("next", 1, 0.1)])
    (result,) = cards(search, 2)
    assert result == ["long"] * 30 + ["next"]
    assert [depth for _, depth, _ in search.asked] == [8, 31]


def test_the_search_is_asked_for_more_only_as_long_as_cards_are_wanting():
    search = Ranking(
        en=[*chunks_of("a", 9, 0.9), *[Candidate(f"c{n:03}", f"c{n:03}", 0.5 - n / 1000) for n in range(90)]]
    )
    assert cards(search, 2) == [["a"] * 9 + ["c000"]]
    assert [depth for _, depth, _ in search.asked] == [8, 32]


def test_a_collection_with_fewer_than_k_cards_gives_them_all():
    search = Ranking(en=[*chunks_of("a", 3, 0.9), *chunks_of("b", 1, 0.8)])
    assert cards(search, 5) == [["a", "a", "a", "b"]]


def test_no_more_cards_are_looked_for_than_the_locale_has():
    search = Ranking(
        en=[*chunks_of("a", 20, 0.9), *chunks_of("b", 20, 0.7)],
        pt=[Candidate(f"c{n}", f"c{n}", 0.95) for n in range(5)],
    )
    # Both cards are found with 32 chunks; in search of a third, all 40 would be fetched and kept.
    assert cards(search, 5) == [["a"] * 20 + ["b"]]
    assert search.asked == [(1, 8, "en"), (1, 32, "en")]


def test_a_locale_without_texts_gives_an_empty_result_and_is_not_asked():
    search = Ranking(en=chunks_of("a", 1, 0.9))
    assert cards(search, 1, ["de"]) == [[]]
    assert search.asked == []


def test_each_query_is_answered_in_its_locale_and_at_its_place():
    search = Ranking(en=chunks_of("english", 1, 0.5), pt=chunks_of("portuguese", 1, 0.9))
    assert cards(search, 1, ["pt", "en", None, "pt", "de"]) == [
        ["portuguese"],
        ["english"],
        ["portuguese"],
        ["portuguese"],
        [],
    ]


def test_only_the_queries_that_lack_cards_are_asked_again():
    class Mixed(Ranking):
        """The second query of two finds only chunks of one card near the top."""

        def nearest(self, vectors, depth, locale):
            easy = super().nearest(vectors, depth, locale)
            return [
                found if vector[0] == 0.0 else self.hard[:depth] for vector, found in zip(vectors, easy, strict=True)
            ]

    search = Mixed(en=[Candidate(f"c{n:02}", f"c{n:02}", 0.9 - n / 100) for n in range(30)])
    search.hard = [*chunks_of("long", 29, 0.9), *chunks_of("c29", 1, 0.1)]
    found = nearest_cards(search, np.array([[0.0, 0.0], [1.0, 0.0]]), ["en", "en"], 2, lambda _: None)
    assert [[c.card_id for c in result] for result in found] == [["c00", "c01"], ["long"] * 29 + ["c29"]]
    assert search.asked == [(2, 8, "en"), (1, 30, "en")]


@pytest.mark.parametrize("equal", [5, 40])
def test_a_tie_at_the_cut_off_is_decided_by_id_also_beyond_what_was_fetched_first(equal):
    class TiesInAnyOrder(Ranking):
        """Gives equal scores in the order of insertion, as an approximate index may."""

        def nearest(self, vectors, depth, locale):
            self.asked.append((len(vectors), depth, locale))
            return [self.inserted[:depth] for _ in vectors]

    inserted = [Candidate(f"c{n:02}", f"c{n:02}", 0.5) for n in reversed(range(equal))]
    search = TiesInAnyOrder(en=inserted)
    search.inserted = inserted
    assert cards(search, 1) == [["c00"]]
    assert cards(search, 2) == [["c00", "c01"]]


def test_queries_are_asked_in_batches_and_progress_adds_up():
    search = Ranking(en=chunks_of("a", 1, 0.9), pt=chunks_of("b", 1, 0.9))
    locales = ["en"] * (QUERY_BATCH + 1) + ["pt"] * 3
    done = []
    found = nearest_cards(search, np.zeros((len(locales), 2)), locales, 1, done.append)
    assert [result[0].card_id for result in found] == ["a"] * (QUERY_BATCH + 1) + ["b"] * 3
    assert [(count, locale) for count, _, locale in search.asked] == [(100, "en"), (1, "en"), (3, "pt")]
    assert done == [100, 1, 3]
