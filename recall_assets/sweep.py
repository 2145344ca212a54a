"""Running a sweep on the persistent Dagster instance, and reading back what its checks said.

The stages are those of `recall_assets.automation`; what the assets do is theirs. Verdicts are decided by the check
evaluations that Dagster recorded; an expected check without one is inconclusive.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from uuid import uuid4

import dagster as dg
import polars as pl
from dagster_shared.error import SerializableErrorInfo

from recall_assets.automation import COMMAND_TAG, Stage, stages
from recall_assets.check_results import Evaluations, data_checks, gate_checks, sweep_evaluations
from recall_assets.config import Settings
from recall_assets.definitions import build_defs
from recall_assets.errors import ModelUnavailableError, SweepFailedError
from recall_assets.gate import Verdict
from recall_assets.home import dagster_home
from recall_assets.occupancy import occupied
from recall_assets.problems import InvalidInputError, whole_file
from recall_assets.reporting.model import Report
from recall_assets.resources.embedding import Embedding
from recall_assets.resources.report_store import ReportStore
from recall_assets.verdicts import build_report

_CLASS = re.compile(r"^recall_assets\.[\w.]+: ")
_QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}


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
        SweepFailedError: The sweep ended before there were figures, or another one is running in the same storage.
        KeyboardInterrupt: Someone interrupted it.
    """
    definitions = build_defs(settings, **resources)
    errors: dict[str, None] = {}
    results: dict[str, dg.ExecuteInProcessResult] = {}
    tags = {COMMAND_TAG: uuid4().hex[:12]}
    home = dagster_home(settings.storage.path)
    with dg.DagsterInstance.from_config(str(home)) as instance, occupied(settings.storage.path, instance):
        order = [(stage, partition) for stage in stages(settings) for partition in stage.runs]
        for stage, partition in order:
            result = definitions.resolve_job_def(stage.job).execute_in_process(
                instance=instance, partition_key=partition, tags=tags, raise_on_error=False, run_config=_QUIET
            )
            results[stage.job] = result
            failures = _step_failures(instance, result.run_id)
            if _interrupted(failures):
                raise KeyboardInterrupt
            errors |= dict.fromkeys(_in_words(failures, stage, partition))
            if stage.job == "sweep_ingest" and not result.success:
                break
        evaluations = sweep_evaluations(instance, result.dagster_run)
    figures = _figures(results.get("sweep_report"))
    if figures is None:
        findings = [evaluation.description or "" for evaluation in evaluations.values() if not evaluation.passed]
        raise SweepFailedError("\n".join(dict.fromkeys([*errors, *findings])) or "the sweep ended without figures")
    report = report_of_sweep(settings, figures, evaluations)
    stored_at = ReportStore(settings.storage.path).of_run(results["sweep_report"].run_id)
    if errors and report.verdict is Verdict.PASS:  # whatever went wrong, it was not all of a sweep
        report = replace(report, verdict=Verdict.INCONCLUSIVE)
    return SweepResult(report, stored_at, list(errors))


def report_of_sweep(settings: Settings, slice_scores: pl.DataFrame, evaluations: Evaluations) -> Report:
    """The report on a sweep's figures and on what its checks said.

    Args:
        settings: The configuration in force.
        slice_scores: The `SLICE_SCORES` frame.
        evaluations: What Dagster recorded.
    """
    names = slice_scores["retriever"].unique()
    checks = {name: data_checks(settings, name, evaluations) + gate_checks(name, evaluations) for name in names}
    return build_report(slice_scores, checks)


def _step_failures(instance: dg.DagsterInstance, run_id: str) -> list[SerializableErrorInfo]:
    """Why each step of a run that failed did so."""
    events = [entry.dagster_event for entry in instance.all_logs(run_id, of_type=dg.DagsterEventType.STEP_FAILURE)]
    errors = [event.step_failure_data.error for event in events if event is not None]
    return [error for error in errors if error is not None]


def _interrupted(failures: Iterable[SerializableErrorInfo]) -> bool:
    """Whether Dagster turned an interrupt (Ctrl-C, SIGTERM) into the failure of a step, and would have gone on."""
    names = {name for error in failures for name in (error.cls_name, error.cause and error.cause.cls_name)}
    return bool(names & {"DagsterExecutionInterruptedError", "KeyboardInterrupt"})


def _in_words(failures: Iterable[SerializableErrorInfo], stage: Stage, partition: str | None) -> Iterator[str]:
    """Failures in the project's words; a failed check is no error, it is listed with the checks."""
    where = stage.job if partition is None else f"{stage.job} {partition}"
    for failure in failures:
        error = failure
        while error.cause is not None and (error.cls_name or "").startswith("Dagster"):
            error = error.cause
        if error.cls_name != "DagsterAssetCheckFailedError":
            message = error.message.strip().partition("\n")[0]
            # Dagster puts the full name of the class in front of what the project's own errors say.
            yield f"{where}: {_CLASS.sub('', message)}"


def _figures(result: dg.ExecuteInProcessResult | None) -> pl.DataFrame | None:
    """The `slice_scores` of this very run; the file of an earlier sweep would not do."""
    if result is None or not result.is_node_success("slice_scores"):
        return None
    frame = result.asset_value("slice_scores")
    return frame if isinstance(frame, pl.DataFrame) else None


def check_models(settings: Settings, config: Path, embedding: Embedding) -> None:
    """Looks for the weights of every embedder in use, without loading any.

    Raises:
        InvalidInputError: Each embedder whose package, path or hub id cannot be found.
    """
    problems = []
    for name in settings.used_embedders:
        try:
            embedding.fingerprint(name)
        except ModelUnavailableError as error:
            problems.append(whole_file(config, f"embedders.{name}: {error}"))
    if problems:
        raise InvalidInputError(problems)
