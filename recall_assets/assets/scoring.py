"""Scores per case, and their aggregates per slice."""

from collections.abc import Mapping

import dagster as dg
import polars as pl

from recall_assets.assets.metadata import column_schema, frame_output, slice_metadata
from recall_assets.automation import failed_in_sweep
from recall_assets.config import Settings
from recall_assets.indexing import known_fingerprints
from recall_assets.partitions import Partitions
from recall_assets.resources.embedding import Embedding
from recall_assets.resources.frames import ALL_PARTITIONS
from recall_assets.schemas import CASE_SCORES, SLICE_SCORES
from recall_assets.score_frames import case_score_frame, slice_frame, slices_by_retriever

GROUP = "scoring"


def case_scores(partitions: Partitions) -> dg.AssetsDefinition:
    """The asset `case_scores` for a configuration's retrievers."""

    @dg.asset(
        name="case_scores",
        group_name=GROUP,
        kinds={"polars"},
        code_version="2",
        partitions_def=partitions.retrievers,
        metadata=column_schema(CASE_SCORES),
    )
    def asset(
        case_set: pl.DataFrame, retrieval_run: pl.DataFrame, settings: dg.ResourceParam[Settings]
    ) -> dg.Output[pl.DataFrame]:
        """The triad for every gold-bearing case of one retriever; a case without gold has no row."""
        return frame_output(case_score_frame(case_set, retrieval_run, settings.top_k))

    return asset


@dg.asset(
    group_name=GROUP,
    kinds={"polars"},
    code_version="1",
    ins={name: dg.AssetIn(metadata=ALL_PARTITIONS) for name in ("kb_collection", "retrieval_run", "case_scores")},
    metadata=column_schema(SLICE_SCORES),
)
def slice_scores(
    context: dg.AssetExecutionContext,
    kb_cards: pl.DataFrame,
    kb_chunks: pl.DataFrame,
    case_set: pl.DataFrame,
    kb_collection: Mapping[str, pl.DataFrame],
    retrieval_run: Mapping[str, pl.DataFrame],
    case_scores: Mapping[str, pl.DataFrame],
    settings: dg.ResourceParam[Settings],
    embedding: dg.ResourceParam[Embedding],
) -> dg.Output[pl.DataFrame]:
    """Means, intervals, n and ledger per retriever and slice; results that do not belong together are not scored."""
    embedders = known_fingerprints(settings.used_embedders, embedding)
    refused = failed_in_sweep(settings, context.instance, context.run)
    frame = slice_frame(
        settings, kb_cards, kb_chunks, case_set, embedders, kb_collection, retrieval_run, case_scores, refused=refused
    )
    return frame_output(frame, **slice_metadata(slices_by_retriever(frame), settings.top_k))
