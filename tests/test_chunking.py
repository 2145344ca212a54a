import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall_assets.chunking import chunk_cards
from recall_assets.config import Chunking
from recall_assets.records import Card, Chunk


def card(text, card_id="a", locale="en", **changes):
    return Card(card_id, locale, "Title", text, **changes)


def pieces(text, **limits):
    chunks = chunk_cards([card(text)], Chunking(**limits))
    assert [chunk.chunk_id for chunk in chunks] == [f"a@en#{ordinal}" for ordinal in range(len(chunks))]
    assert all(chunk.text.startswith("Title\n") for chunk in chunks)
    return [chunk.text.removeprefix("Title\n") for chunk in chunks]


def test_a_short_text_is_one_chunk_with_its_title_and_its_parent():
    cards = [card("x"), card("y", card_id="b@x#1", locale="pt-BR")]
    assert chunk_cards(cards, Chunking()) == [
        Chunk("a@en#0", "a", "en", "Title\nx"),
        Chunk("b@x#1@pt-BR#0", "b@x#1", "pt-BR", "Title\ny"),
    ]


def test_without_chunking_a_long_text_is_one_chunk_as_written():
    text = "word " * 5000
    assert chunk_cards([card(text)], None) == [Chunk("a@en#0", "a", "en", f"Title\n{text}")]


def test_a_retired_card_gives_no_chunk_in_its_locale_alone():
    cards = [card("x", retired=True), card("y", locale="pt-BR")]
    assert [chunk.chunk_id for chunk in chunk_cards(cards, Chunking())] == ["a@pt-BR#0"]


def test_a_text_of_exactly_the_limit_is_not_cut_and_one_character_more_is():
    # The splitter would trim the blank, which is part of the text as written.
    assert pieces("é" * 49 + " ", max_chars=50, overlap_chars=0) == ["é" * 49 + " "]
    assert pieces("é" * 51, max_chars=50, overlap_chars=0) == ["é" * 50, "é"]


def test_a_text_is_cut_between_sections_before_paragraphs_and_between_paragraphs_before_sentences():
    first, second, third = "Alpha beta gamma delta.", "Epsilon zeta. Eta theta.", "# Head\n\nIota kappa."
    assert pieces(f"{first}\n\n{second}\n\n{third}", max_chars=50, overlap_chars=0) == [f"{first}\n\n{second}", third]
    assert pieces(f"{first} {second} More words follow here.", max_chars=50, overlap_chars=0) == [
        f"{first} {second}",
        "More words follow here.",
    ]


def test_the_next_piece_repeats_the_end_of_the_one_before_up_to_the_overlap():
    sentences = [f"Sentence number {number:02}." for number in range(8)]
    found = pieces(" ".join(sentences), max_chars=70, overlap_chars=25)
    assert len(found) > 2
    for one, other in itertools.pairwise(found):
        assert other.startswith(one[-len(sentences[0]) :])


_MARKDOWN = st.lists(
    st.sampled_from(["word ", "\n\n", "# ", "- ", "```\n", "é. ", "\U0001f600", "> ", "|"]), min_size=30, max_size=150
).map("".join)
# Without control characters: Python and the splitter differ on which of them are white space.
_PLAIN = st.text(st.characters(exclude_categories=["Cs", "Cc"]) | st.just("\n"), min_size=1, max_size=400)
_TEXTS = (_PLAIN | _MARKDOWN).filter(str.strip)


@given(_TEXTS, st.integers(50, 120))
def test_without_overlap_the_pieces_are_the_text_but_for_white_space_where_it_was_cut(text, max_chars):
    found = pieces(text, max_chars=max_chars, overlap_chars=0)
    assert "".join("".join(found).split()) == "".join(text.split())


@given(_TEXTS, st.integers(50, 120), st.integers(0, 49))
def test_every_piece_is_a_part_of_the_text_with_something_in_it_and_within_the_limit(text, max_chars, overlap_chars):
    for piece in pieces(text, max_chars=max_chars, overlap_chars=overlap_chars):
        assert piece in text
        assert piece.strip()
        assert len(piece) <= max_chars


@pytest.mark.parametrize("locale", ["en", "pt-BR"])
def test_the_same_cards_give_the_same_chunks(locale):
    cards = [card("One two three. " * 40, locale=locale)]
    assert chunk_cards(cards, Chunking(max_chars=60, overlap_chars=10)) == chunk_cards(
        cards, Chunking(max_chars=60, overlap_chars=10)
    )
