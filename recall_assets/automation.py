"""The stages of a sweep as jobs, the nightly schedule, and the sensor that carries a sweep from stage to stage.

One run has one partition, and the aggregates need all of them, so a sweep is several runs: ingest once, then one run an
embedder, then one a retriever, then the report. The command line walks the same stages (`recall_assets.sweep`).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import dagster as dg

from recall_assets.config import Settings

if TYPE_CHECKING:  # what define_asset_job gives, which Dagster does not export
    from dagster._core.definitions.unresolved_asset_job_definition import UnresolvedAssetJobDefinition

_PARTITION_TAG = "dagster/partition"  # Dagster's own
SWEEP_TAG = "recall/sweep"
"""On every run of a scheduled sweep; the sensor carries these on."""
COMMAND_TAG = "recall/command"
"""On every run from the command line; the sweep that a run belongs to, where it has no `SWEEP_TAG`."""


@dataclass(frozen=True)
class Stage:
    """One stage of a sweep.

    Attributes:
        job: Name of its job.
        assets: The assets its runs materialize.
        partitions: The partition keys, one run each; None for a single run without partition.
    """

    job: str
    assets: tuple[str, ...]
    partitions: tuple[str, ...] | None = None

    @property
    def runs(self) -> tuple[str | None, ...]:
        """The partition key of each of its runs."""
        return self.partitions or (None,)


def stages(settings: Settings) -> list[Stage]:
    """The stages of a sweep, in order."""
    return [
        Stage("sweep_ingest", ("kb_cards", "kb_chunks", "case_set")),
        Stage("sweep_index", ("kb_collection",), settings.used_embedders),
        Stage("sweep_retrieve", ("retrieval_run", "case_scores"), tuple(settings.retrievers)),
        Stage("sweep_report", ("slice_scores", "recall_report", "gate_verdict")),
    ]


def jobs(settings: Settings) -> "dict[str, UnresolvedAssetJobDefinition]":
    """One job a stage, by name."""
    return {
        stage.job: dg.define_asset_job(stage.job, selection=dg.AssetSelection.assets(*stage.assets))
        for stage in stages(settings)
    }


PROMOTION = "promote_baseline"
"""Name of the job that no sweep starts."""


def promotion_job() -> "UnresolvedAssetJobDefinition":
    """The job that makes a baseline of what the last sweep stored, one run a retriever."""
    return dg.define_asset_job(PROMOTION, selection=dg.AssetSelection.assets("recall_baseline"))


def nightly(settings: Settings) -> dg.ScheduleDefinition:
    """Starts a sweep every night; stopped until someone starts it in Dagster."""

    @dg.schedule(
        name="nightly_sweep",
        job_name="sweep_ingest",
        cron_schedule=settings.schedule.cron,
        execution_timezone=settings.schedule.timezone,
        default_status=dg.DefaultScheduleStatus.STOPPED,
        description="Reads cards and cases once; the sensor sweep_stages then starts a run per embedder and retriever.",
    )
    def schedule(context: dg.ScheduleEvaluationContext) -> dg.RunRequest:
        sweep = context.scheduled_execution_time.strftime("%Y%m%dT%H%M%S")
        return dg.RunRequest(run_key=sweep, tags={SWEEP_TAG: sweep})

    return schedule


def stage_sensor(settings: Settings, stage_jobs: "dict[str, UnresolvedAssetJobDefinition]") -> dg.SensorDefinition:
    """Starts the next stage of the newest scheduled sweep once the one before it has ended.

    It looks only at runs that carry the tag of a scheduled sweep, so that it can be on by default.
    """
    order = stages(settings)

    @dg.sensor(
        name="sweep_stages",
        jobs=[stage_jobs[stage.job] for stage in order[1:]],
        minimum_interval_seconds=30,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Carries a scheduled sweep from one stage to the next.",
    )
    def sensor(context: dg.SensorEvaluationContext) -> Iterator[dg.RunRequest | dg.SkipReason]:
        first_runs = context.instance.get_runs(dg.RunsFilter(job_name=order[0].job), limit=50)
        sweep = next((run.tags[SWEEP_TAG] for run in first_runs if SWEEP_TAG in run.tags), None)
        if sweep is None:
            yield dg.SkipReason("no scheduled sweep yet")
            return
        runs = context.instance.get_runs(dg.RunsFilter(tags={SWEEP_TAG: sweep}))
        for stage, partition in next_runs(order, runs):
            yield dg.RunRequest(
                run_key=f"{sweep}:{stage.job}:{partition}",
                job_name=stage.job,
                partition_key=partition,
                tags={SWEEP_TAG: sweep},
            )

    return sensor


def next_runs(order: Sequence[Stage], runs: Sequence[dg.DagsterRun]) -> list[tuple[Stage, str | None]]:
    """What a sweep should start next: the runs of the first stage that is not complete, if the one before it is.

    A stage has ended when each of its runs has. The first must succeed, because without cards and cases there is
    nothing to measure; a retriever that fails does not cost the others the report, which says that it is missing.

    Args:
        order: The stages of a sweep.
        runs: The runs so far of one sweep, newest first as an instance gives them: a repeated run counts as its newest.
    """
    latest = {(run.job_name, partition_of(run)): run for run in reversed(runs)}
    for position, stage in enumerate(order):
        done = [latest.get((stage.job, partition)) for partition in stage.runs]
        to_start = [(stage, partition) for partition, run in zip(stage.runs, done, strict=True) if run is None]
        if to_start:
            return to_start
        if not all(run.is_finished for run in done if run is not None):
            return []
        if position == 0 and not all(run.is_success for run in done if run is not None):
            return []
    return []


def partition_of(run: dg.DagsterRun) -> str | None:
    """The partition key of a run, None if it has none."""
    return run.tags.get(_PARTITION_TAG)


def runs_of_sweep(instance: dg.DagsterInstance, run: dg.DagsterRun) -> Sequence[dg.DagsterRun]:
    """Every run of the sweep that a run belongs to, itself included, newest first; none if it belongs to none."""
    # A command that judges a scheduled sweep carries that sweep on: its tag goes before that of the command.
    tag = next((key for key in (SWEEP_TAG, COMMAND_TAG) if key in run.tags), None)
    return [] if tag is None else instance.get_runs(dg.RunsFilter(tags={tag: run.tags[tag]}))


def failed_in_sweep(settings: Settings, instance: dg.DagsterInstance, run: dg.DagsterRun) -> dict[str, str]:
    """The retrievers that have no new result in the sweep a run belongs to, and why; none outside of a sweep.

    What an earlier sweep left may still fit by its fingerprint, but it says nothing about now: the store may be down.
    """
    runs = runs_of_sweep(instance, run)
    if not runs:
        return {}
    succeeded = {(other.job_name, partition_of(other)) for other in runs if other.is_success}
    return {
        name: f"{job} did not succeed in this sweep for {partition}"
        for name, retriever in settings.retrievers.items()
        for job, partition in (("sweep_retrieve", name), ("sweep_index", retriever.embedder))
        if (job, partition) not in succeeded
    }
