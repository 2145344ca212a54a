"""Running a sweep on the persistent Dagster instance, and reading back what its checks said.

The stages are those of `recall_assets.automation`; what the assets do is theirs. Verdicts are decided by the check
evaluations that Dagster recorded; an expected check without one is inconclusive. Judging a sweep that is over is in
`recall_assets.latest`.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from uuid import uuid4

import dagster as dg
import polars as pl

from recall_assets.automation import COMMAND_TAG, stages
from recall_assets.check_results import Evaluations, data_checks, gate_rules, sweep_evaluations
from recall_assets.comparison import Comparison
from recall_assets.config import Settings
from recall_assets.definitions import build_defs
from recall_assets.errors import ModelUnavailableError, SweepFailedError
from recall_assets.gate import Verdict
from recall_assets.home import dagster_home
from recall_assets.occupancy import occupied
from recall_assets.problems import InvalidInputError, whole_file
from recall_assets.reporting.model import CaseResult, Report
from recall_assets.resources.embedding import Embedding
from recall_assets.resources.report_store import ReportStore
from recall_assets.runs import Runner
from recall_assets.stored import StoredFrames
from recall_assets.verdicts import build_report, judge


@dataclass(frozen=True)
class SweepResult:
    """What a sweep came to.

    Attributes:
        report: Figures, checks and verdict.
        stored_at: The stored report.
        errors: What went wrong in runs, apart from failed checks, each once.
        cases: By retriever, what became of every case.
    """

    report: Report
    stored_at: Path | None
    errors: list[str]
    cases: dict[str, list[CaseResult]]


def run_sweep(settings: Settings, *, embedding: Embedding | None = None, **resources: object) -> SweepResult:
    """Runs every stage of a sweep and reports. A retriever whose run fails is not scored; the others go on.

    Args:
        settings: With at least one retriever.
        embedding: Where embedders come from; None for those that are configured.
        **resources: Resources to use instead of the configured ones, as in `build_defs`.

    Raises:
        SweepFailedError: The sweep ended before there were figures, or another one is running in the same storage.
        KeyboardInterrupt: Someone interrupted it.
    """
    embedding = embedding or Embedding(settings)
    definitions = build_defs(settings, embedding=embedding, **resources)
    home = dagster_home(settings.storage.path)
    with dg.DagsterInstance.from_config(str(home)) as instance, occupied(settings.storage.path, instance):
        runner = Runner(definitions, instance, {COMMAND_TAG: uuid4().hex[:12]})
        for job, partition in [(stage.job, partition) for stage in stages(settings) for partition in stage.runs]:
            result = runner.run(job, partition)
            if job == "sweep_ingest" and not result.success:
                break
        return result_of(settings, runner, result, embedding)


def result_of(settings: Settings, runner: Runner, last: dg.ExecuteInProcessResult, embedding: Embedding) -> SweepResult:
    """What a sweep came to, from its last run.

    Args:
        settings: The configuration in force.
        runner: That ran it.
        last: The run of the last stage, or that with which the sweep ended.
        embedding: Where embedders come from.

    Raises:
        SweepFailedError: There are no figures.
    """
    evaluations = sweep_evaluations(runner.instance, last.dagster_run)
    figures = _figures(last)
    if figures is None:
        findings = [evaluation.description or "" for evaluation in evaluations.values() if not evaluation.passed]
        raise SweepFailedError(
            "\n".join(dict.fromkeys([*runner.errors, *findings])) or "the sweep ended without figures"
        )
    judgement = judge(settings, StoredFrames(settings).of_sweep(settings, figures, embedding))
    report = report_of_sweep(settings, figures, evaluations, judgement.comparisons)
    report = replace(report, errors=tuple(runner.errors))
    if runner.errors and report.verdict is Verdict.PASS:  # whatever went wrong, it was not all of a sweep
        report = replace(report, verdict=Verdict.INCONCLUSIVE)
    stored_at = ReportStore(settings.storage.path).of_run(last.run_id)
    return SweepResult(report, stored_at, list(runner.errors), judgement.cases)


def report_of_sweep(
    settings: Settings, slice_scores: pl.DataFrame, evaluations: Evaluations, comparisons: dict[str, Comparison]
) -> Report:
    """The report on a sweep's figures and on what its checks said.

    Args:
        settings: The configuration in force.
        slice_scores: The `SLICE_SCORES` frame.
        evaluations: What Dagster recorded; it alone decides the verdict.
        comparisons: By retriever, its run beside its baseline, for the words.
    """
    checks = {name: data_checks(settings, name, evaluations) for name in settings.retrievers}
    rules = {name: gate_rules(name, evaluations) for name in settings.retrievers}
    return build_report(slice_scores, checks, rules, comparisons)


def _figures(result: dg.ExecuteInProcessResult) -> pl.DataFrame | None:
    """The `slice_scores` of this very run; the file of an earlier sweep would not do."""
    if result.dagster_run.job_name != "sweep_report" or not result.is_node_success("slice_scores"):
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
