"""Making a baseline of what a sweep stored for one retriever. The file is `recall_assets.baseline`'s."""

from datetime import UTC, datetime

import polars as pl

from recall_assets.baseline import Baseline
from recall_assets.config import Settings
from recall_assets.errors import NotPromotedError
from recall_assets.provenance import why_inputs_unusable, why_not_scored, why_run_unusable
from recall_assets.score_frames import snapshot
from recall_assets.verdicts import fingerprints_of


def promoted(
    settings: Settings,
    retriever: str,
    cards: pl.DataFrame,
    chunks: pl.DataFrame,
    cases: pl.DataFrame,
    embedder: str | None,
    collection: pl.DataFrame,
    run: pl.DataFrame,
    scores: pl.DataFrame,
    measured_at: float,
) -> Baseline:
    """The baseline that stored results make, if they belong together and every case has one.

    Args:
        settings: The configuration in force.
        retriever: Its name.
        cards: The `CARDS` frame.
        chunks: The `CHUNKS` frame.
        cases: The `CASES` frame.
        embedder: Digest of its embedder's options and weights, None if they cannot be found.
        collection: The `COLLECTION` frame of its embedder.
        run: Its `RUN` frame.
        scores: Its `CASE_SCORES` frame.
        measured_at: When the scores were measured, in seconds since 1970.

    Raises:
        NotPromotedError: They do not, or nothing was scored; says why.
    """
    k, configured = settings.top_k, settings.retrievers[retriever]
    reason = (
        why_inputs_unusable(cards, chunks, cases, settings.chunking)
        or why_run_unusable(configured, k, chunks, cases, embedder, collection, run)
        or why_not_scored(cases, run, scores, k)
    )
    if reason is not None or embedder is None:
        raise NotPromotedError(f"{retriever}: not promoted: {reason}; run the sweep again: recall sweep")
    if scores.is_empty():
        what = "no case has gold, so there is nothing to compare with later; give cases must_cite_one_of"
        raise NotPromotedError(f"{retriever}: not promoted: {what}")
    snapped = snapshot(cases, scores)
    date = datetime.fromtimestamp(measured_at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    fingerprints = fingerprints_of(settings, retriever, collection, embedder, snapped)
    return Baseline(retriever, date, k, fingerprints, tuple(snapped))
