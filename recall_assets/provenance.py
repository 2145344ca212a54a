"""Whether stored results belong together: the chain from texts over vectors, run and scores, by fingerprints.

A run that starts in the middle of the graph does not repeat the checks before it, and a partition that failed leaves
the files of an earlier sweep behind. So whoever aggregates asks here first.
"""

from collections.abc import Iterable, Sequence
from dataclasses import astuple

import polars as pl

from recall_assets.chunking import chunk_cards
from recall_assets.config import Chunking, Retriever
from recall_assets.fingerprint import digest, digest_frame
from recall_assets.records import RETRIEVED, Case, Chunk
from recall_assets.schemas import cards_of, cases_of, chunks_of
from recall_assets.sources.cases import unresolved_labels
from recall_assets.text import without_result

# What a row of scores holds; a change makes stored scores of an earlier form outdated.
_SCORES_FORM = 2


def chunks_fingerprint(chunks: Iterable[Chunk]) -> str:
    """Digest of chunks, whatever their order."""
    return digest(sorted(astuple(chunk) for chunk in chunks))


def collection_fingerprint(chunks: Iterable[Chunk], embedder: str) -> str:
    """Digest of what a collection holds.

    Args:
        chunks: What is embedded.
        embedder: Digest of the embedder's options and weights.
    """
    return digest({"chunks": chunks_fingerprint(chunks), "embedder": embedder})


def run_fingerprint(retriever: Retriever, collection_fingerprint: str, cases: Sequence[Case], k: int) -> str:
    """Digest of everything a run depends on: retriever, collection (texts and weights), cases and cutoff.

    Labels are left out: correcting one changes scores, not what was retrieved.
    """
    queries = [(case.case_id, case.locale, case.query) for case in cases]
    return digest(
        {"retriever": retriever.model_dump(mode="json"), "collection": collection_fingerprint, "k": k, "cases": queries}
    )


def scores_fingerprint(cases: pl.DataFrame, run: pl.DataFrame, k: int) -> str:
    """Digest of what scores depend on: the run as it came back, the labels and the cutoff."""
    labels = cases.select("case_id", "must_cite_one_of", "relevant_ids").sort("case_id")
    results = run.select("case_id", "status", "card_id")
    return digest({"form": _SCORES_FORM, "run": digest_frame(results), "labels": digest_frame(labels), "k": k})


def why_inputs_unusable(
    cards: pl.DataFrame, chunks: pl.DataFrame, cases: pl.DataFrame, chunking: Chunking | None
) -> str | None:
    """Why texts and labels do not belong to the cards, or None if they do.

    Args:
        cards: The `CARDS` frame.
        chunks: The `CHUNKS` frame.
        cases: The `CASES` frame.
        chunking: The configured limits of a piece.
    """
    records = cards_of(cards)
    if chunks_fingerprint(chunks_of(chunks)) != chunks_fingerprint(chunk_cards(records, chunking)):
        return "kb_chunks is older than kb_cards or the configured chunking"
    dangling = unresolved_labels(cases_of(cases), records)
    if dangling:
        return f"case_set was not read against this knowledge base: {len(dangling)} labels name no live card"
    return None


def why_run_unusable(
    retriever: Retriever,
    k: int,
    chunks: pl.DataFrame,
    cases: pl.DataFrame,
    embedder: str | None,
    collection: pl.DataFrame | None,
    run: pl.DataFrame | None,
) -> str | None:
    """Why a retriever's run does not belong to these texts, cases and settings, or None if it does.

    Args:
        retriever: Its configuration.
        k: The cutoff in force.
        chunks: The `CHUNKS` frame.
        cases: The `CASES` frame.
        embedder: Digest of its embedder's options and weights as they are now, None if they cannot be found.
        collection: The `COLLECTION` frame of its embedder, None if there is none.
        run: Its `RUN` frame, None if there is none.
    """
    outdated = _why_collection_unusable(retriever.embedder, chunks, embedder, collection)
    if outdated is not None or collection is None:
        return outdated
    if run is None:
        return "it was never run"
    expected = run_fingerprint(retriever, collection["fingerprint"].item(), cases_of(cases), k)
    if set(run["fingerprint"]) != {expected}:
        return "its retrieval_run is older than the knowledge base, the cases or the configuration"
    return None


def _why_collection_unusable(
    name: str, chunks: pl.DataFrame, embedder: str | None, collection: pl.DataFrame | None
) -> str | None:
    if collection is None:
        return f'kb_collection of the embedder "{name}" was never built'
    if collection["chunks_fingerprint"].item() != chunks_fingerprint(chunks_of(chunks)):
        return f'kb_collection of the embedder "{name}" is older than the knowledge base'
    if embedder is None:
        return f'the embedder "{name}" cannot be found, so nothing says that kb_collection is its own'
    if collection["fingerprint"].item() != collection_fingerprint(chunks_of(chunks), embedder):
        return f'kb_collection of the embedder "{name}" was built with other options or weights'
    return None


def missing_cases(cases: pl.DataFrame, run: pl.DataFrame) -> list[str]:
    """Ids of the cases without a result in a run, sorted; an empty list is a result.

    Args:
        cases: The `CASES` frame.
        run: The `RUN` frame.
    """
    return sorted(set(cases["case_id"]) - set(run.filter(pl.col("status") == RETRIEVED)["case_id"]))


def why_not_scored(cases: pl.DataFrame, run: pl.DataFrame, scores: pl.DataFrame | None, k: int) -> str | None:
    """Why a usable run has no scores that can be reported, or None if it has.

    Args:
        cases: The `CASES` frame.
        run: The retriever's `RUN` frame.
        scores: Its `CASE_SCORES` frame, None if there is none.
        k: The cutoff in force.
    """
    missing = missing_cases(cases, run)
    if missing:
        return without_result(missing, cases.height)
    if scores is None:
        return "its run was never scored"
    # Without a gold-bearing case there are no scores, and so no fingerprint to compare.
    expected = {scores_fingerprint(cases, run, k)} if cases["must_cite_one_of"].list.len().sum() else set()
    if set(scores["fingerprint"]) != expected:
        return "its case_scores are older than its run, the labels or top_k"
    return None
