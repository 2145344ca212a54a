"""The report over all retrievers, and the verdict as an asset that checks can fail."""

import dagster as dg
import polars as pl

from recall_assets.assets.metadata import column_schema, frame_output
from recall_assets.config import Settings
from recall_assets.fingerprint import digest
from recall_assets.judgement import report_of_slices, verdict_frame
from recall_assets.reporting.json_form import stored_json
from recall_assets.reporting.markdown import report_markdown
from recall_assets.resources.report_store import ReportStore
from recall_assets.schemas import VERDICTS

GROUP = "reporting"


@dg.asset(group_name=GROUP, kinds={"markdown", "json"}, code_version="1")
def recall_report(
    context: dg.AssetExecutionContext,
    slice_scores: pl.DataFrame,
    settings: dg.ResourceParam[Settings],
    reports: dg.ResourceParam[ReportStore],
) -> dg.MaterializeResult[None]:
    """One report over all retrievers, verdict included, as Markdown and JSON."""
    report = report_of_slices(slice_scores, settings)
    path = reports.write(report, context.run.run_id)
    return dg.MaterializeResult(
        metadata={
            "report": dg.MetadataValue.md(report_markdown(report)),
            "verdict": report.verdict.value,
            "path": dg.MetadataValue.path(path),
        },
        data_version=dg.DataVersion(digest(stored_json(report))),
    )


@dg.asset(group_name=GROUP, kinds={"polars"}, code_version="1", metadata=column_schema(VERDICTS))
def gate_verdict(slice_scores: pl.DataFrame, settings: dg.ResourceParam[Settings]) -> dg.Output[pl.DataFrame]:
    """The verdict per retriever and rule. A leaf: its blocking checks fail the run, and cost no one the report."""
    verdicts = verdict_frame(slice_scores, settings)
    return frame_output(verdicts, verdict=report_of_slices(slice_scores, settings).verdict.value)
