"""The records of the project: card, chunk, case, and what a retriever returned for one case.

Plain frozen values. How they are read is in `recall_assets.sources`; their frames are in `recall_assets.schemas`.
"""

from dataclasses import dataclass, field

# Status of a case in a run.
RETRIEVED = "retrieved"
MISSING = "missing"


@dataclass(frozen=True)
class Origin:
    """Where a record was read: file as the user named it, and line from 1."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True)
class Card:
    """One locale's text of one knowledge base entry; `(card_id, locale)` is unique in a knowledge base."""

    card_id: str
    locale: str
    title: str
    text: str
    tags: tuple[str, ...] = ()
    retired: bool = False
    origin: Origin = field(default=Origin("", 0), compare=False)


@dataclass(frozen=True)
class Chunk:
    """A piece of one card's text in one locale, as it is embedded.

    Attributes:
        chunk_id: `card_id@locale#ordinal`, ordinal from 0.
        card_id: The parent card.
        locale: The locale of the text.
        text: Title, newline, piece of the card's text.
    """

    chunk_id: str
    card_id: str
    locale: str
    text: str


@dataclass(frozen=True)
class Case:
    """One evaluation query.

    Attributes:
        must_cite_one_of: The gold card ids, disjunctive; empty for a case without gold.
        relevant_ids: Ids that recall and nDCG use instead of the gold, or None to use the gold.
    """

    case_id: str
    locale: str
    case_type: str
    query: str
    must_cite_one_of: tuple[str, ...]
    relevant_ids: tuple[str, ...] | None = None
    tags: tuple[str, ...] = ()
    origin: Origin = field(default=Origin("", 0), compare=False)

    @property
    def gold_bearing(self) -> bool:
        """Whether the label names any gold card; the case type has no say in it (ADR-0023, C)."""
        return bool(self.must_cite_one_of)


@dataclass(frozen=True)
class Retrieved:
    """One item of a ranked result.

    Attributes:
        chunk_id: What was retrieved: a chunk, or a card where the retriever works on whole cards.
        parent_id: The card the chunk belongs to, or None if the retriever does not say.
        score: The retriever's own score, or None; never used to reorder a captured run.
    """

    chunk_id: str
    parent_id: str | None = None
    score: float | None = None

    @property
    def card_id(self) -> str:
        """The parent id where present, otherwise the chunk id (ADR-0023, decision)."""
        return self.parent_id or self.chunk_id
