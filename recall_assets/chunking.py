"""Cutting cards into the chunks that are embedded."""

from collections.abc import Iterable

from recall_assets.config import Chunking
from recall_assets.records import Card, Chunk


def chunk_cards(cards: Iterable[Card], chunking: Chunking | None) -> list[Chunk]:
    """The chunks of every live card, in the order of the cards.

    Each chunk's text is the title, a newline and a piece of the text, so that no piece loses its subject. Pieces end at
    Markdown sections, paragraphs, sentences or words, the largest that fits.

    Args:
        cards: Cards; retired ones give no chunk.
        chunking: Limits of a piece, or None for one chunk a card.
    """
    live = (card for card in cards if not card.retired)
    return [
        Chunk(f"{card.card_id}@{card.locale}#{ordinal}", card.card_id, card.locale, f"{card.title}\n{piece}")
        for card in live
        for ordinal, piece in enumerate(_pieces(card.text, chunking))
    ]


def _pieces(text: str, chunking: Chunking | None) -> list[str]:
    if chunking is None or len(text) <= chunking.max_chars:
        return [text]
    from semantic_text_splitter import MarkdownSplitter  # compiled; not needed where no text is long

    return MarkdownSplitter(chunking.max_chars, overlap=chunking.overlap_chars).chunks(text)
