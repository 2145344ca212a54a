"""Running jobs in this process on the persistent instance, and saying in the project's words what went wrong.

Which jobs make a sweep is in `recall_assets.sweep`; what a sweep that is over left behind, in `recall_assets.latest`.
"""

import re
import signal
import socket
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

import dagster as dg
from dagster_shared.error import SerializableErrorInfo

_CLASS = re.compile(r"^recall_assets\.[\w.]+: ")
_QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}


@dataclass
class Runner:
    """Runs jobs, one after the other, and collects what went wrong in them.

    Attributes:
        definitions: Where the jobs are.
        instance: The instance they run on.
        tags: Put on every run.
        errors: What went wrong so far, apart from failed checks, each once.
    """

    definitions: dg.Definitions
    instance: dg.DagsterInstance
    tags: Mapping[str, str]
    errors: dict[str, None] = field(default_factory=dict)

    def run(self, job: str, partition: str | None = None) -> dg.ExecuteInProcessResult:
        """Runs a job to its end, whether it succeeds or not.

        Raises:
            KeyboardInterrupt: Someone interrupted it.
        """
        with _signals() as someone_interrupted:
            result = self.definitions.resolve_job_def(job).execute_in_process(
                instance=self.instance, partition_key=partition, tags=self.tags, raise_on_error=False, run_config=_QUIET
            )
            failures = _step_failures(self.instance, result.run_id)
            if _interrupted(failures) or someone_interrupted():
                raise KeyboardInterrupt
        self.errors |= dict.fromkeys(_in_words(failures, job if partition is None else f"{job} {partition}"))
        return result


@contextmanager
def _signals() -> Iterator[Callable[[], bool]]:
    """Gives a function that says whether SIGINT or SIGTERM came while the block ran, whoever handled it.

    Dagster puts handlers of its own in the place of Python's, and forgets what comes between two steps.
    """
    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return
    reader, writer = socket.socketpair()
    with reader, writer:
        reader.setblocking(False)
        writer.setblocking(False)
        before = signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
        try:
            yield lambda: _came(reader)
        finally:
            signal.set_wakeup_fd(before)


def _came(reader: socket.socket) -> bool:
    try:
        return bool({signal.SIGINT, signal.SIGTERM} & set(reader.recv(4096)))  # a byte for each signal, its number
    except BlockingIOError:
        return False


def _step_failures(instance: dg.DagsterInstance, run_id: str) -> list[SerializableErrorInfo]:
    """Why each step of a run that failed did so."""
    events = [entry.dagster_event for entry in instance.all_logs(run_id, of_type=dg.DagsterEventType.STEP_FAILURE)]
    errors = [event.step_failure_data.error for event in events if event is not None]
    return [error for error in errors if error is not None]


def _interrupted(failures: Iterable[SerializableErrorInfo]) -> bool:
    """Whether Dagster turned an interrupt (Ctrl-C, SIGTERM) into the failure of a step, and would have gone on."""
    names = {name for error in failures for name in (error.cls_name, error.cause and error.cause.cls_name)}
    return bool(names & {"DagsterExecutionInterruptedError", "KeyboardInterrupt"})


def _in_words(failures: Iterable[SerializableErrorInfo], where: str) -> Iterator[str]:
    """Failures in the project's words; a failed check is no error, it is listed with the checks."""
    for failure in failures:
        error = failure
        while error.cause is not None and (error.cls_name or "").startswith("Dagster"):
            error = error.cause
        if error.cls_name != "DagsterAssetCheckFailedError":
            message = error.message.strip().partition("\n")[0]
            # Dagster puts the full name of the class in front of what the project's own errors say.
            yield f"{where}: {_CLASS.sub('', message)}"
