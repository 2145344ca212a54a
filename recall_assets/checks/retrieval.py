"""Checks on the collection and the runs: `collection_complete`, `every_case_retrieved`, `index_matches_exact`."""

import dagster as dg
import polars as pl

from recall_assets.indexing import collection_faults
from recall_assets.partitions import Partitions
from recall_assets.provenance import missing_cases
from recall_assets.resources.vector_store import VectorStore
from recall_assets.schemas import chunks_of
from recall_assets.text import some, without_result


def collection_complete(partitions: Partitions) -> dg.AssetChecksDefinition:
    """The check `collection_complete`, one result an embedder."""

    @dg.asset_check(
        name="collection_complete",
        asset="kb_collection",
        blocking=True,
        additional_ins={"kb_chunks": dg.AssetIn()},
        partitions_def=partitions.embedders,
    )
    def check(
        kb_collection: pl.DataFrame, kb_chunks: pl.DataFrame, store: dg.ResourceParam[VectorStore]
    ) -> dg.AssetCheckResult:
        """Chunk ids and fingerprint in Chroma equal those of `kb_chunks`."""
        faults = collection_faults(kb_collection, chunks_of(kb_chunks), store)
        return dg.AssetCheckResult(
            passed=not faults,
            severity=dg.AssetCheckSeverity.ERROR,
            description="; ".join(faults) or f"all {kb_chunks.height} chunks are in the collection, and nothing else",
            metadata={"chunks": kb_chunks.height, "faults": faults},
        )

    return check


def every_case_retrieved(partitions: Partitions) -> dg.AssetChecksDefinition:
    """The check `every_case_retrieved`, one result a retriever."""

    @dg.asset_check(
        name="every_case_retrieved",
        asset="retrieval_run",
        blocking=True,
        additional_ins={"case_set": dg.AssetIn()},
        partitions_def=partitions.retrievers,
    )
    def check(retrieval_run: pl.DataFrame, case_set: pl.DataFrame) -> dg.AssetCheckResult:
        """Every case has a result. An empty list is a result; a missing one is no zero and must not be scored."""
        missing = missing_cases(case_set, retrieval_run)
        errors = retrieval_run.filter(pl.col("error").is_not_null())["error"].unique(maintain_order=True).to_list()
        blame = "".join(f"; {error}" for error in errors[:1])
        return dg.AssetCheckResult(
            passed=not missing,
            severity=dg.AssetCheckSeverity.ERROR,
            description=without_result(missing, case_set.height) + blame if missing else "every case has a result",
            metadata={"missing": len(missing), "missing_case_ids": missing, "errors": errors},
        )

    return check


def index_matches_exact(partitions: Partitions) -> dg.AssetChecksDefinition:
    """The check `index_matches_exact`, one result a retriever."""

    @dg.asset_check(
        name="index_matches_exact", asset="retrieval_run", blocking=False, partitions_def=partitions.retrievers
    )
    def check(retrieval_run: pl.DataFrame) -> dg.AssetCheckResult:
        """The approximate index gives the top k of exact search: what it loses is no fault of the embedder. Warns."""
        compared = retrieval_run.filter(pl.col("differs_from_exact").is_not_null())
        differing = compared.filter("differs_from_exact")["case_id"].to_list()
        share = len(differing) / compared.height if compared.height else 0.0
        if not compared.height:
            description = "inactive: this retriever uses no approximate index"
        elif differing:
            description = f"{len(differing)} of {compared.height} cases get a worse top k: {some(differing)}"
        else:
            description = f"the top k of all {compared.height} cases is that of exact search"
        return dg.AssetCheckResult(
            passed=not differing,
            severity=dg.AssetCheckSeverity.WARN,
            description=description,
            metadata={
                "status": "active" if compared.height else "inactive",
                "compared": compared.height,
                "differing": len(differing),
                "share_differing": share,
                "differing_case_ids": differing,
            },
        )

    return check
