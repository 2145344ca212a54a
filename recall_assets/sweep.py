"""Running a sweep on the persistent Dagster instance, and reading back what its checks said.

The stages are those of `recall_assets.automation`; what the assets do is theirs. Verdicts are decided by the check
evaluations that Dagster recorded; an expected check without one is inconclusive.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import dagster as dg
import polars as pl

from recall_assets.automation import Stage, stages
from recall_assets.checks.gate import RULES
from recall_assets.config import Settings
from recall_assets.definitions import build_defs
from recall_assets.gate import Status, verdict_of
from recall_assets.home import dagster_home
from recall_assets.problems import InvalidInputError, whole_file
from recall_assets.reporting.model import CheckResult, Report, RetrieverReport
from recall_assets.resources.embedders import ModelUnavailableError, embedder_fingerprint
from recall_assets.resources.report_store import ReportStore
from recall_assets.score_frames import reasons_not_scored, slices_by_retriever

COMMAND_TAG = "recall/command"
Evaluations = dict[tuple[str, str | None], dg.AssetCheckEvaluation]

_QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}


class SweepFailedError(Exception):
    """A sweep that ended without figures; the message says why, a line a cause."""


@dataclass(frozen=True)
class SweepResult:
    """What a sweep came to.

    Attributes:
        report: Figures, checks and verdict.
        stored_at: The stored report.
        errors: What went wrong in runs, apart from failed checks, each once.
    """

    report: Report
    stored_at: Path | None
    errors: list[str]


def run_sweep(settings: Settings, **resources: object) -> SweepResult:
    """Runs every stage of a sweep and reports. A retriever whose run fails is not scored; the others go on.

    Args:
        settings: With at least one retriever.
        **resources: Resources to use instead of the configured ones, as in `build_defs`.

    Raises:
        SweepFailedError: The sweep ended before there were figures.
    """
    definitions = build_defs(settings, **resources)
    evaluations: Evaluations = {}
    errors: dict[str, None] = {}
    results: dict[str, dg.ExecuteInProcessResult] = {}
    tags = {COMMAND_TAG: uuid4().hex[:12]}
    with dg.DagsterInstance.from_config(str(dagster_home(settings.storage.path))) as instance:
        order = [(stage, partition) for stage in stages(settings) for partition in stage.runs]
        for stage, partition in order:
            result = definitions.resolve_job_def(stage.job).execute_in_process(
                instance=instance, partition_key=partition, tags=tags, raise_on_error=False, run_config=_QUIET
            )
            results[stage.job] = result
            evaluations |= _evaluations(instance, result.run_id, partition)
            errors |= dict.fromkeys(_errors(instance, result.run_id, stage, partition))
            if stage.job == "sweep_ingest" and not result.success:
                break
    figures = _figures(results.get("sweep_report"))
    if figures is None:
        findings = [evaluation.description or "" for evaluation in evaluations.values() if not evaluation.passed]
        raise SweepFailedError("\n".join([*errors, *findings]) or "the sweep ended without figures")
    report = report_of_sweep(settings, figures, evaluations)
    stored_at = ReportStore(settings.storage.path).of_run(results["sweep_report"].run_id)
    return SweepResult(report, stored_at, list(errors))


def report_of_sweep(settings: Settings, slice_scores: pl.DataFrame, evaluations: Evaluations) -> Report:
    """The report on a sweep's figures and on what its checks said.

    Args:
        settings: The configuration in force.
        slice_scores: The `SLICE_SCORES` frame.
        evaluations: By name of check and partition key (None for a check without partition).
    """
    reasons = reasons_not_scored(slice_scores)
    retrievers = [
        RetrieverReport(name, slices, list(_checks(settings, name, evaluations)), reasons.get(name))
        for name, slices in slices_by_retriever(slice_scores).items()
    ]
    verdict = verdict_of((check.name, check.status) for retriever in retrievers for check in retriever.checks)
    return Report(verdict, settings.top_k, retrievers)


def _checks(settings: Settings, retriever: str, evaluations: Evaluations) -> Iterator[CheckResult]:
    for name in ("cards_valid", "cases_valid", "gold_ids_resolve"):
        yield _check(name, evaluations.get((name, None)), blocking=True)
    yield _check("locale_coverage", evaluations.get(("locale_coverage", None)), blocking=False)
    embedder = settings.retrievers[retriever].embedder
    yield _check("collection_complete", evaluations.get(("collection_complete", embedder)), blocking=True)
    yield _check("every_case_retrieved", evaluations.get(("every_case_retrieved", retriever)), blocking=True)
    yield _check("index_matches_exact", evaluations.get(("index_matches_exact", retriever)), blocking=False)
    for rule in RULES:
        yield _rule(rule, retriever, evaluations.get((rule, None)))


def _check(name: str, evaluation: dg.AssetCheckEvaluation | None, *, blocking: bool) -> CheckResult:
    if evaluation is None:
        return CheckResult(name, Status.INCONCLUSIVE, blocking, "did not run")
    if not evaluation.passed:
        status = Status.WARNING if evaluation.severity is dg.AssetCheckSeverity.WARN else Status.FAILED
    else:
        said = evaluation.metadata.get("status")
        status = Status.INACTIVE if said is not None and said.value == Status.INACTIVE else Status.PASSED
    return CheckResult(name, status, blocking, evaluation.description or "")


def _rule(rule: str, retriever: str, evaluation: dg.AssetCheckEvaluation | None) -> CheckResult:
    """A gate check is one evaluation over all retrievers; its metadata has a row for each."""
    rows: list[Mapping[str, Any]] = []
    if evaluation is not None:
        table = evaluation.metadata["results"]
        rows = [record.data for record in table.records] if isinstance(table, dg.TableMetadataValue) else []
    for row in rows:
        if row["retriever"] == retriever:
            return CheckResult(rule, Status(row["status"]), blocking=True, detail=str(row["detail"]))
    return CheckResult(rule, Status.INCONCLUSIVE, blocking=True, detail="did not run")


def _evaluations(instance: dg.DagsterInstance, run_id: str, partition: str | None) -> Evaluations:
    entries = instance.all_logs(run_id, of_type=dg.DagsterEventType.ASSET_CHECK_EVALUATION)
    events = [entry.dagster_event for entry in entries if entry.dagster_event is not None]
    evaluations = [event.asset_check_evaluation_data for event in events]
    return {(evaluation.check_name, partition): evaluation for evaluation in evaluations}


def _errors(instance: dg.DagsterInstance, run_id: str, stage: Stage, partition: str | None) -> Iterator[str]:
    """Why steps of a run failed, in the project's words; a failed check is no error, it is listed with the checks."""
    where = stage.job if partition is None else f"{stage.job} {partition}"
    for entry in instance.all_logs(run_id, of_type=dg.DagsterEventType.STEP_FAILURE):
        error = entry.dagster_event.step_failure_data.error if entry.dagster_event else None
        while error is not None and error.cause is not None and (error.cls_name or "").startswith("Dagster"):
            error = error.cause
        if error is not None and error.cls_name != "DagsterAssetCheckFailedError":
            yield f"{where}: {error.message.strip().partition(chr(10))[0]}"


def _figures(result: dg.ExecuteInProcessResult | None) -> pl.DataFrame | None:
    """The `slice_scores` of this very run; the file of an earlier sweep would not do."""
    if result is None or not result.is_node_success("slice_scores"):
        return None
    frame = result.asset_value("slice_scores")
    return frame if isinstance(frame, pl.DataFrame) else None


def check_models(settings: Settings, config: Path) -> None:
    """Looks for the weights of every embedder in use, without loading any.

    Raises:
        InvalidInputError: Each embedder whose package, path or hub id cannot be found.
    """
    problems = []
    for name in settings.used_embedders:
        try:
            embedder_fingerprint(settings.embedders[name])
        except ModelUnavailableError as error:
            problems.append(whole_file(config, f"embedders.{name}: {error}"))
    if problems:
        raise InvalidInputError(problems)
