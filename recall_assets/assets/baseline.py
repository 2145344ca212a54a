"""The promoted snapshot of each retriever, and its file among the committed baselines."""

import dagster as dg
import polars as pl

from recall_assets.assets.metadata import column_schema, frame_output
from recall_assets.baseline import write_baseline
from recall_assets.config import Settings
from recall_assets.indexing import known_fingerprints
from recall_assets.partitions import Partitions
from recall_assets.promotion import promoted
from recall_assets.resources.embedding import Embedding
from recall_assets.schemas import BASELINE
from recall_assets.score_frames import snapshot_frame


def recall_baseline(partitions: Partitions) -> dg.AssetsDefinition:
    """The asset `recall_baseline` for a configuration's retrievers."""

    @dg.asset(
        name="recall_baseline",
        group_name="baseline",
        kinds={"json"},
        code_version="1",
        partitions_def=partitions.retrievers,
        ins={"kb_collection": dg.AssetIn(partition_mapping=partitions.users)},
        metadata=column_schema(BASELINE),
    )
    def asset(
        context: dg.AssetExecutionContext,
        kb_cards: pl.DataFrame,
        kb_chunks: pl.DataFrame,
        case_set: pl.DataFrame,
        kb_collection: pl.DataFrame,
        retrieval_run: pl.DataFrame,
        case_scores: pl.DataFrame,
        settings: dg.ResourceParam[Settings],
        embedding: dg.ResourceParam[Embedding],
    ) -> dg.Output[pl.DataFrame]:
        """The scores that later sweeps are compared with, also as a file to commit. Materialized only when asked."""
        name = context.partition_key
        embedder = settings.retrievers[name].embedder
        baseline = promoted(
            settings,
            name,
            kb_cards,
            kb_chunks,
            case_set,
            known_fingerprints([embedder], embedding).get(embedder),
            kb_collection,
            retrieval_run,
            case_scores,
            _measured_at(context),
        )
        path = write_baseline(settings.baselines, baseline)
        return frame_output(snapshot_frame(baseline.cases), file=dg.MetadataValue.path(path), measured=baseline.date)

    return asset


def _measured_at(context: dg.AssetExecutionContext) -> float:
    """When this partition's scores were materialized, so that the same scores always make the same file."""
    wanted = dg.AssetRecordsFilter(dg.AssetKey("case_scores"), asset_partitions=[context.partition_key])
    records = context.instance.fetch_materializations(wanted, limit=1).records
    return float(records[0].timestamp)
