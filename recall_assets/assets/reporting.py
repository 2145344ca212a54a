"""The report over all retrievers, and the verdict as an asset that checks can fail."""

from collections.abc import Mapping

import dagster as dg
import polars as pl

from recall_assets.assets.metadata import column_schema, frame_output
from recall_assets.check_results import data_checks, sweep_evaluations
from recall_assets.config import Settings
from recall_assets.fingerprint import digest
from recall_assets.indexing import known_fingerprints
from recall_assets.reporting.json_form import stored_json
from recall_assets.reporting.markdown import report_markdown
from recall_assets.resources.embedding import Embedding
from recall_assets.resources.frames import ALL_PARTITIONS
from recall_assets.resources.report_store import ReportStore
from recall_assets.schemas import VERDICTS
from recall_assets.verdicts import SweepFrames, build_report, judge, verdict_frame

GROUP = "reporting"
_EVERY_PARTITION = {
    name: dg.AssetIn(metadata=ALL_PARTITIONS) for name in ("kb_collection", "retrieval_run", "case_scores")
}


@dg.asset(group_name=GROUP, kinds={"markdown", "json"}, code_version="2", ins=_EVERY_PARTITION)
def recall_report(
    context: dg.AssetExecutionContext,
    kb_cards: pl.DataFrame,
    case_set: pl.DataFrame,
    kb_collection: Mapping[str, pl.DataFrame],
    retrieval_run: Mapping[str, pl.DataFrame],
    case_scores: Mapping[str, pl.DataFrame],
    slice_scores: pl.DataFrame,
    settings: dg.ResourceParam[Settings],
    embedding: dg.ResourceParam[Embedding],
    reports: dg.ResourceParam[ReportStore],
) -> dg.MaterializeResult[None]:
    """One report over all retrievers, verdict included, as Markdown and JSON."""
    embedders = known_fingerprints(settings.used_embedders, embedding)
    frames = SweepFrames(kb_cards, case_set, kb_collection, retrieval_run, case_scores, slice_scores, embedders)
    judgement = judge(settings, frames)
    # What the sweep's checks said so far; a run of no sweep has the gate's rules alone.
    evaluations = sweep_evaluations(context.instance, context.run)
    checks = {name: data_checks(settings, name, evaluations) for name in judgement.rules} if evaluations else {}
    report = build_report(slice_scores, checks, judgement.rules, judgement.comparisons)
    path = reports.write(report, context.run.run_id)
    return dg.MaterializeResult(
        metadata={
            "report": dg.MetadataValue.md(report_markdown(report)),
            "verdict": report.verdict.value,
            "path": dg.MetadataValue.path(path),
        },
        data_version=dg.DataVersion(digest(stored_json(report))),
    )


@dg.asset(group_name=GROUP, kinds={"polars"}, code_version="2", ins=_EVERY_PARTITION, metadata=column_schema(VERDICTS))
def gate_verdict(
    kb_cards: pl.DataFrame,
    case_set: pl.DataFrame,
    kb_collection: Mapping[str, pl.DataFrame],
    retrieval_run: Mapping[str, pl.DataFrame],
    case_scores: Mapping[str, pl.DataFrame],
    slice_scores: pl.DataFrame,
    settings: dg.ResourceParam[Settings],
    embedding: dg.ResourceParam[Embedding],
) -> dg.Output[pl.DataFrame]:
    """The verdict per retriever and rule. A leaf: its blocking checks fail the run, and cost no one the report."""
    embedders = known_fingerprints(settings.used_embedders, embedding)
    frames = SweepFrames(kb_cards, case_set, kb_collection, retrieval_run, case_scores, slice_scores, embedders)
    return frame_output(verdict_frame(judge(settings, frames)))
