"""Whether stored results belong together: the chain from texts over vectors, run and scores, by fingerprints.

A run that starts in the middle of the graph does not repeat the checks before it, and a partition that failed leaves the
files of an earlier sweep behind. So whoever aggregates asks here first.
"""

import polars as pl

from recall_assets.config import Retriever
from recall_assets.fingerprint import digest
from recall_assets.records import MISSING
from recall_assets.retrieval.run import run_fingerprint
from recall_assets.schemas import cases_of


def chunks_fingerprint(chunks: pl.DataFrame) -> str:
    """Digest of a `CHUNKS` frame, whatever the order of its rows."""
    return digest(sorted(chunks.rows()))


def collection_fingerprint(chunks: pl.DataFrame, embedder: str) -> str:
    """Digest of what a collection holds.

    Args:
        chunks: A `CHUNKS` frame.
        embedder: Digest of the embedder's options and weights.
    """
    return digest({"chunks": chunks_fingerprint(chunks), "embedder": embedder})


def scores_fingerprint(cases: pl.DataFrame, run: pl.DataFrame, k: int) -> str:
    """Digest of what scores depend on: the run as it came back, the labels and the cutoff."""
    labels = cases.select("case_id", "must_cite_one_of", "relevant_ids").rows()
    return digest({"run": run.select("case_id", "status", "card_id").rows(), "labels": sorted(labels), "k": k})


def why_not_usable(  # noqa: PLR0913 - the links of the chain
    retriever: Retriever,
    k: int,
    chunks: pl.DataFrame,
    cases: pl.DataFrame,
    collection: pl.DataFrame | None,
    run: pl.DataFrame | None,
    scores: pl.DataFrame | None,
) -> str | None:
    """Why a retriever's scores must not be reported for these texts and cases, or None if they may be.

    Args:
        retriever: Its configuration.
        k: The cutoff in force.
        chunks: The `CHUNKS` frame.
        cases: The `CASES` frame.
        collection: The `COLLECTION` frame of its embedder, None if there is none.
        run: Its `RUN` frame, None if there is none.
        scores: Its `CASE_SCORES` frame, None if there is none.
    """
    if collection is None:
        return f'kb_collection of the embedder "{retriever.embedder}" was never built'
    if collection["chunks_fingerprint"].item() != chunks_fingerprint(chunks):
        return f'kb_collection of the embedder "{retriever.embedder}" is older than the knowledge base'
    if run is None:
        return "it was never run"
    if run["fingerprint"][0] != run_fingerprint(retriever, collection["fingerprint"].item(), cases_of(cases), k):
        return "its retrieval_run is older than the knowledge base, the cases or the configuration"
    missing = run.filter(pl.col("status") == MISSING)
    if len(missing):
        return f"{len(missing)} cases have no result: {_some(missing['case_id'].to_list())}"
    if scores is None:
        return "its run was never scored"
    if len(scores) and scores["fingerprint"][0] != scores_fingerprint(cases, run, k):
        return "its case_scores are older than its run, the labels or top_k"
    return None


def _some(ids: list[str], limit: int = 5) -> str:
    more = f" and {len(ids) - limit} more" if len(ids) > limit else ""
    return ", ".join(ids[:limit]) + more
