"""The frames of scores: `CASE_SCORES` of one run, `BASELINE` snapshots, `SLICE_SCORES` over every retriever and back.

The maths is in `recall_assets.batch_scoring`, the fold in `recall_assets.slices`; whether stored frames belong together
is decided in `recall_assets.provenance`.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import astuple, fields
from typing import Any

import polars as pl

from recall_assets.batch_scoring import count_outcomes, first_distinct_cards, score_cases
from recall_assets.config import Settings
from recall_assets.intervals import Interval
from recall_assets.metrics import METRICS, Triad
from recall_assets.provenance import scores_fingerprint, why_inputs_unusable, why_not_scored, why_run_unusable
from recall_assets.schemas import (
    BASELINE,
    CASE_SCORES,
    RUN,
    SLICE_SCORES,
    build_frame,
    cases_of,
    empty_frame,
    validated,
)
from recall_assets.slices import Ledger, SliceScore, slice_scores
from recall_assets.snapshot import CRITICAL, ScoredCase, label_of

Frames = Mapping[str, pl.DataFrame]


def case_score_frame(cases: pl.DataFrame, run: pl.DataFrame, k: int) -> pl.DataFrame:
    """The `CASE_SCORES` frame of one run: the triad of every gold-bearing case that has a result.

    Args:
        cases: The `CASES` frame.
        run: The `RUN` frame.
        k: The cutoff, at least 1.
    """
    scores = score_cases(cases, first_distinct_cards(run.lazy(), k), k)
    return validated(CASE_SCORES, scores.with_columns(fingerprint=pl.lit(scores_fingerprint(cases, run, k))))


def slice_frame(
    settings: Settings,
    cards: pl.DataFrame,
    chunks: pl.DataFrame,
    cases: pl.DataFrame,
    embedders: Mapping[str, str],
    collections: Frames,
    runs: Frames,
    scores: Frames,
    *,
    refused: Mapping[str, str] | None = None,
) -> pl.DataFrame:
    """The `SLICE_SCORES` frame over every configured retriever, in the order of the configuration.

    A retriever whose stored results do not belong to these chunks, cases and settings is shown with every case missing
    and the reason in `not_scored`, never with the figures of another sweep.

    Args:
        settings: The configuration in force.
        cards: The `CARDS` frame.
        chunks: The `CHUNKS` frame.
        cases: The `CASES` frame.
        embedders: Digest of options and weights by embedder, where they can be found.
        collections: `COLLECTION` frame by embedder, where there is one.
        runs: `RUN` frame by retriever, where there is one.
        scores: `CASE_SCORES` frame by retriever, where there is one.
        refused: Why a retriever's stored results are not to be used whatever they are, by retriever.
    """

    def rows() -> Iterator[tuple[object, ...]]:
        k = settings.top_k
        inputs_unusable = why_inputs_unusable(cards, chunks, cases, settings.chunking)
        for name, retriever in settings.retrievers.items():
            run = runs.get(name)
            embedder, collection = embedders.get(retriever.embedder), collections.get(retriever.embedder)
            reason = inputs_unusable or why_run_unusable(retriever, k, chunks, cases, embedder, collection, run)
            if reason is not None or run is None:
                run = empty_frame(RUN)
            scored = scores.get(name)
            reason = reason or why_not_scored(cases, run, scored, k) or (refused or {}).get(name)
            if reason is not None or scored is None:
                scored = empty_frame(CASE_SCORES)
            outcomes = count_outcomes(cases, first_distinct_cards(run.lazy(), k), scored)
            for score in slice_scores(outcomes, k):
                yield (name, k, *_row(score), reason)

    return build_frame(SLICE_SCORES, rows())


def slices_by_retriever(frame: pl.DataFrame) -> dict[str, list[SliceScore]]:
    """The slices of each retriever in a `SLICE_SCORES` frame, in its order."""
    slices: dict[str, list[SliceScore]] = {}
    for row in frame.iter_rows(named=True):
        slices.setdefault(row["retriever"], []).append(_slice_score(row))
    return slices


def reasons_not_scored(frame: pl.DataFrame) -> dict[str, str]:
    """Why a retriever in a `SLICE_SCORES` frame was not scored, for those that were not."""
    unscored = frame.filter(pl.col("not_scored").is_not_null())
    return dict(unscored.select("retriever", "not_scored").unique(maintain_order=True).iter_rows())


def snapshot(cases: pl.DataFrame, scores: pl.DataFrame) -> list[ScoredCase]:
    """Every scored case, sorted by id.

    Args:
        cases: The `CASES` frame.
        scores: The `CASE_SCORES` frame of one retriever over these cases.
    """
    by_id = {case.case_id: case for case in cases_of(cases)}
    return [
        ScoredCase(
            case.case_id,
            case.locale,
            case.case_type,
            CRITICAL in case.tags,
            label_of(case),
            row["gold_rank"],
            Triad(*(row[metric] for metric in METRICS)),
        )
        for row in scores.sort("case_id").iter_rows(named=True)
        for case in (by_id[row["case_id"]],)
    ]


def snapshot_frame(cases: Iterable[ScoredCase]) -> pl.DataFrame:
    """The `BASELINE` frame of a snapshot."""
    rows = ((c.case_id, c.locale, c.case_type, c.critical, c.label, *c.scores, c.gold_rank) for c in cases)
    return build_frame(BASELINE, rows)


def _row(score: SliceScore) -> tuple[object, ...]:
    means = score.means or (None, None, None)
    interval = score.hit_interval or (None, None)
    return (score.slice, score.n, *means, *interval, *astuple(score.ledger))


def _slice_score(row: Mapping[str, Any]) -> SliceScore:
    scored = row["n"] > 0
    return SliceScore(
        row["slice"],
        row["n"],
        Triad(*(row[metric] for metric in METRICS)) if scored else None,
        Interval(row["hit_low"], row["hit_high"]) if scored else None,
        Ledger(**{field.name: row[field.name] for field in fields(Ledger)}),
    )
