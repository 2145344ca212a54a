"""One sweep at a time in a storage folder, and what a sweep that was killed leaves in Dagster's books."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import dagster as dg
from filelock import FileLock, Timeout

from recall_assets.automation import COMMAND_TAG
from recall_assets.errors import SweepFailedError

_UNFINISHED = [dg.DagsterRunStatus.STARTING, dg.DagsterRunStatus.STARTED, dg.DagsterRunStatus.CANCELING]


@contextmanager
def occupied(storage: Path, instance: dg.DagsterInstance) -> Iterator[None]:
    """Holds a storage folder for a sweep, after closing the books of sweeps whose process is gone.

    The operating system lets go of the lock when a process ends in whatever way, so whoever holds it knows that no
    other sweep from the command line is running. A run left open would count against Dagster's limit of concurrent runs
    for ever, and every scheduled sweep would wait behind it.

    Raises:
        SweepFailedError: Another sweep is running there.
    """
    try:
        with FileLock(storage / "sweep.lock", timeout=0):
            close_dead_runs(instance)
            yield
    except Timeout as error:
        what = f"another sweep is running in {storage}; wait for it, or give this one its own --storage"
        raise SweepFailedError(what) from error


def close_dead_runs(instance: dg.DagsterInstance) -> None:
    """Marks the unfinished runs of earlier sweeps from the command line as failed; call it while holding the lock."""
    for run in instance.get_runs(dg.RunsFilter(statuses=_UNFINISHED)):
        if COMMAND_TAG in run.tags:
            instance.report_run_failed(run, "The process of this sweep ended before the sweep did.")
