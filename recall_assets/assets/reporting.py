"""The report over all retrievers, and the verdict as an asset that checks can fail."""

import dagster as dg
import polars as pl

from recall_assets.assets.metadata import column_schema, frame_output
from recall_assets.check_results import data_checks, sweep_evaluations
from recall_assets.config import Settings
from recall_assets.fingerprint import digest
from recall_assets.reporting.json_form import stored_json
from recall_assets.reporting.markdown import report_markdown
from recall_assets.reporting.model import CheckResult
from recall_assets.resources.report_store import ReportStore
from recall_assets.schemas import VERDICTS
from recall_assets.verdicts import build_report, rule_checks, verdict_frame

GROUP = "reporting"


@dg.asset(group_name=GROUP, kinds={"markdown", "json"}, code_version="1")
def recall_report(
    context: dg.AssetExecutionContext,
    slice_scores: pl.DataFrame,
    settings: dg.ResourceParam[Settings],
    reports: dg.ResourceParam[ReportStore],
) -> dg.MaterializeResult[None]:
    """One report over all retrievers, verdict included, as Markdown and JSON."""
    report = build_report(slice_scores, _checks(context, slice_scores, settings))
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
    return frame_output(verdict_frame(slice_scores, settings))


def _checks(
    context: dg.AssetExecutionContext, slice_scores: pl.DataFrame, settings: Settings
) -> dict[str, list[CheckResult]]:
    """By retriever: what the sweep's checks said so far, if the run belongs to a sweep, and the gate's rules."""
    evaluations = sweep_evaluations(context.instance, context.run)
    rules = rule_checks(slice_scores, settings)
    if not evaluations:
        return rules
    return {name: data_checks(settings, name, evaluations) + checks for name, checks in rules.items()}
