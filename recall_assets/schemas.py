"""The frames of the project: one pandera schema each, the single definition of columns and types.

Also the way from records to frames and back. Validation is eager: pandera checks only types on a LazyFrame.
"""

from collections.abc import Iterable, Sequence

import pandera.polars as pa
import polars as pl

from recall_assets.metrics import METRICS
from recall_assets.records import MISSING, RETRIEVED, Card, Case, Chunk

_Text = pl.String
_Texts = pl.List(pl.String)


def _text(description: str, *, unique: bool = False) -> pa.Column:
    return pa.Column(_Text, pa.Check.str_length(min_value=1, error="not empty"), unique=unique, description=description)


def _count(description: str) -> pa.Column:
    return pa.Column(pl.Int64, pa.Check.ge(0, error="0 or more"), description=description)


def _share(description: str, *, nullable: bool = False) -> pa.Column:
    return pa.Column(
        pl.Float64, pa.Check.in_range(0.0, 1.0, error="0 to 1"), nullable=nullable, description=description
    )


def _gold_rank() -> pa.Column:
    return pa.Column(
        pl.Int64,
        pa.Check.ge(1, error="1 or more"),
        nullable=True,
        description="Rank of the first gold card; null: a miss",
    )


CARDS = pa.DataFrameSchema(
    {
        "card_id": _text("Identity of the card, the same in every locale"),
        "locale": _text("BCP 47 tag of this text"),
        "title": _text("Title in this locale"),
        "text": _text("Body in this locale, Markdown"),
        "tags": pa.Column(_Texts, description="The team's own words"),
        "retired": pa.Column(pl.Boolean, description="Kept for history; not searchable, and no gold"),
    },
    unique=["card_id", "locale"],
    strict=True,
    name="cards",
)

CHUNKS = pa.DataFrameSchema(
    {
        "chunk_id": _text("card_id@locale#ordinal", unique=True),
        "card_id": _text("Parent card"),
        "locale": _text("BCP 47 tag of the text"),
        "text": _text("What is embedded: title, newline, piece of the text"),
    },
    strict=True,
    name="chunks",
)

COLLECTION = pa.DataFrameSchema(
    {
        "embedder": _text("Name of the embedder in the configuration"),
        "collection": _text("Name of the Chroma collection"),
        "count": _count("Vectors in the collection"),
        "dimension": _count("Length of a vector"),
        "fingerprint": _text("Digest of chunks, embedder and its weights"),
        "chunks_fingerprint": _text("Digest of the chunks alone"),
    },
    strict=True,
    name="collection",
)

CASES = pa.DataFrameSchema(
    {
        "case_id": _text("Identity of the case", unique=True),
        "locale": _text("BCP 47 tag of the query"),
        "case_type": _text("golden, adversarial, capability, no_match, or the team's own word"),
        "query": _text("What the user asks"),
        "must_cite_one_of": pa.Column(_Texts, description="Gold card ids, disjunctive; empty: not scored"),
        "relevant_ids": pa.Column(_Texts, nullable=True, description="Ids for recall and nDCG, where given"),
        "tags": pa.Column(_Texts, description="The team's own words"),
    },
    strict=True,
    name="cases",
)

RUN = pa.DataFrameSchema(
    {
        "case_id": _text("Identity of the case", unique=True),
        "status": pa.Column(
            _Text,
            pa.Check.isin([RETRIEVED, MISSING], error=f"{RETRIEVED} or {MISSING}"),
            description="missing: no result came back",
        ),
        "error": pa.Column(_Text, nullable=True, description="Why the result is missing"),
        "chunk_id": pa.Column(_Texts, description="Retrieved chunks in rank order"),
        "card_id": pa.Column(_Texts, description="Parent of each, or its own id where it has no parent"),
        "score": pa.Column(pl.List(pl.Float64), description="Score of each, higher is better"),
        "exact_card_id": pa.Column(
            _Texts, nullable=True, description="Top k of exact search, for an approximate index"
        ),
        "differs_from_exact": pa.Column(pl.Boolean, nullable=True, description="The index lost or misplaced a card"),
        "fingerprint": _text("Digest of everything this result depends on"),
    },
    strict=True,
    name="run",
)

CASE_SCORES = pa.DataFrameSchema(
    {
        "case_id": _text("Identity of the gold-bearing case", unique=True),
        **{metric: _share(f"{metric} of this case") for metric in METRICS},
        "gold_rank": _gold_rank(),
        "fingerprint": _text("Digest of the run that was scored"),
    },
    strict=True,
    name="case_scores",
)

SLICE_SCORES = pa.DataFrameSchema(
    {
        "retriever": _text("Name of the retriever"),
        "top_k": _count("The cutoff k"),
        "slice": _text("overall, case_type=..., locale=..., or case_type=...,locale=..."),
        "n": _count("Scored gold-bearing cases"),
        **{metric: _share("Mean over n; null where n is 0", nullable=True) for metric in METRICS},
        "hit_low": _share("Wilson 95% lower bound of hit@k", nullable=True),
        "hit_high": _share("Wilson 95% upper bound of hit@k", nullable=True),
        "cases": _count("Cases in the slice, with and without gold"),
        "gold_bearing": _count("Cases with gold"),
        "scored": _count("Gold-bearing cases with a score"),
        "empty_result": _count("Cases whose result list is empty"),
        "missing": _count("Cases without a result"),
        "short_result": _count("Cases with fewer than k cards found, empty ones included"),
        "duplicates_dropped": _count("Repeats dropped on the way to k distinct cards"),
        "not_scored": pa.Column(_Text, nullable=True, description="Why the retriever was not scored; null if it was"),
    },
    unique=["retriever", "slice"],
    strict=True,
    name="slice_scores",
)

BASELINE = pa.DataFrameSchema(
    {
        "case_id": _text("Identity of the gold-bearing case", unique=True),
        "locale": _text("BCP 47 tag of the query"),
        "case_type": _text("Case type"),
        "critical": pa.Column(pl.Boolean, description="Tagged critical: a loss fails by itself"),
        "label": _text("Digest of query, locale, gold and relevant ids"),
        **{metric: _share(f"{metric} of this case") for metric in METRICS},
        "gold_rank": _gold_rank(),
    },
    strict=True,
    name="baseline",
)

_STATUSES = ["inactive", "passed", "untested", "failed", "invalid", "inconclusive"]

VERDICTS = pa.DataFrameSchema(
    {
        "retriever": _text("Name of the retriever"),
        "rule": _text("Name of the rule"),
        "slice": _text("The slice that was judged"),
        "status": pa.Column(_Text, pa.Check.isin(_STATUSES, error=" or ".join(_STATUSES))),
        "threshold": _share("The floor; null where inactive", nullable=True),
        "observed": _share("Mean of the slice at full precision; null where nothing was scored", nullable=True),
        "n": _count("Scored gold-bearing cases"),
        "low": _share("Lower end of the 95% interval", nullable=True),
        "high": _share("Upper end of the 95% interval", nullable=True),
        "detail": _text("The rule's finding in words"),
    },
    unique=["retriever", "rule", "slice"],
    strict=True,
    name="verdicts",
)


def build_frame(schema: pa.DataFrameSchema, rows: Iterable[Sequence[object]]) -> pl.DataFrame:
    """A validated frame of the schema's columns from rows in column order.

    Raises:
        pandera.errors.SchemaErrors: With every failure, not only the first.
    """
    dtypes = {name: column.dtype.type for name, column in schema.columns.items()}
    return validated(schema, pl.DataFrame(list(rows), schema=dtypes, orient="row"))


def empty_frame(schema: pa.DataFrameSchema) -> pl.DataFrame:
    """A frame of the schema's columns without rows."""
    return build_frame(schema, [])


def validated(schema: pa.DataFrameSchema, frame: pl.DataFrame) -> pl.DataFrame:
    """The frame itself, if it follows the schema.

    Raises:
        pandera.errors.SchemaErrors: With every failure, not only the first.
    """
    return schema.validate(frame, lazy=True)


def cards_frame(cards: Iterable[Card]) -> pl.DataFrame:
    """Cards as a `CARDS` frame."""
    return build_frame(CARDS, ((c.card_id, c.locale, c.title, c.text, list(c.tags), c.retired) for c in cards))


def cards_of(frame: pl.DataFrame) -> list[Card]:
    """The records of a `CARDS` frame (their place in a file is not kept)."""
    return [Card(**{**row, "tags": tuple(row["tags"])}) for row in frame.iter_rows(named=True)]


def chunks_frame(chunks: Iterable[Chunk]) -> pl.DataFrame:
    """Chunks as a `CHUNKS` frame."""
    return build_frame(CHUNKS, ((c.chunk_id, c.card_id, c.locale, c.text) for c in chunks))


def chunks_of(frame: pl.DataFrame) -> list[Chunk]:
    """The records of a `CHUNKS` frame."""
    return [Chunk(**row) for row in frame.iter_rows(named=True)]


def cases_frame(cases: Iterable[Case]) -> pl.DataFrame:
    """Cases as a `CASES` frame."""
    return build_frame(
        CASES,
        (
            (
                c.case_id,
                c.locale,
                c.case_type,
                c.query,
                list(c.must_cite_one_of),
                None if c.relevant_ids is None else list(c.relevant_ids),
                list(c.tags),
            )
            for c in cases
        ),
    )


def cases_of(frame: pl.DataFrame) -> list[Case]:
    """The records of a `CASES` frame (their place in a file is not kept)."""
    return [
        Case(
            row["case_id"],
            row["locale"],
            row["case_type"],
            row["query"],
            tuple(row["must_cite_one_of"]),
            None if row["relevant_ids"] is None else tuple(row["relevant_ids"]),
            tuple(row["tags"]),
        )
        for row in frame.iter_rows(named=True)
    ]
