"""What each retriever returned for every case."""

import dagster as dg
import polars as pl

from recall_assets.assets.metadata import column_schema, frame_output
from recall_assets.config import Settings
from recall_assets.partitions import Partitions
from recall_assets.progress import Progress
from recall_assets.resources.embedding import Embedding
from recall_assets.resources.vector_store import VectorStore
from recall_assets.retrieval.run import run_vector_retriever
from recall_assets.schemas import RUN, cases_of


def retrieval_run(partitions: Partitions) -> dg.AssetsDefinition:
    """The asset `retrieval_run` for a configuration's retrievers."""

    @dg.asset(
        name="retrieval_run",
        group_name="retrieval",
        kinds={"chroma", "polars"},
        code_version="1",
        partitions_def=partitions.retrievers,
        ins={"kb_collection": dg.AssetIn(partition_mapping=partitions.users)},
        metadata=column_schema(RUN),
    )
    def asset(
        context: dg.AssetExecutionContext,
        case_set: pl.DataFrame,
        kb_collection: pl.DataFrame,
        settings: dg.ResourceParam[Settings],
        embedding: dg.ResourceParam[Embedding],
        store: dg.ResourceParam[VectorStore],
        progress: dg.ResourceParam[Progress],
    ) -> dg.Output[pl.DataFrame]:
        """Per case: the ranked results of one retriever, down to the k-th distinct card."""
        retriever = settings.retrievers[context.partition_key]
        run = run_vector_retriever(
            retriever,
            cases_of(case_set),
            kb_collection,
            embedding,
            store,
            settings.top_k,
            progress.of(context.partition_key),
        )
        return frame_output(run, fingerprint=run["fingerprint"][0], results=int(run["card_id"].list.len().sum()))

    return asset
