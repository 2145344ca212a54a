import os
import signal

import dagster as dg
import pytest
from dagster._utils.interrupts import capture_interrupts

from recall_assets.errors import StoreUnavailableError
from recall_assets.runs import Runner


@dg.asset
def good() -> None:
    """Does nothing."""


@dg.asset(partitions_def=dg.StaticPartitionsDefinition(["en", "es"]))
def partitioned() -> None:
    """Cannot use the store."""
    raise StoreUnavailableError("the store is down\nand more about it")


@dg.asset
def foreign() -> None:
    """Fails with an error that is not the project's."""
    raise ValueError("no number")


@dg.asset
def interrupted() -> None:
    """Someone presses Ctrl-C."""
    raise KeyboardInterrupt


@dg.asset
def ended_between_steps() -> None:
    """Someone ends the process at a moment at which Dagster only takes note, and then forgets."""
    with capture_interrupts():
        os.kill(os.getpid(), signal.SIGTERM)


@dg.asset_check(asset=good, blocking=True)
def held() -> dg.AssetCheckResult:
    """Fails."""
    return dg.AssetCheckResult(passed=False)


@pytest.fixture
def runner():
    assets = [good, partitioned, foreign, interrupted, ended_between_steps]
    jobs = [dg.define_asset_job(f"job_{asset.key.to_user_string()}", [asset]) for asset in assets]
    definitions = dg.Definitions(assets, asset_checks=[held], jobs=jobs, executor=dg.in_process_executor)
    with dg.DagsterInstance.ephemeral() as instance:
        yield Runner(definitions, instance, {"recall/command": "a"})


def test_an_error_is_said_in_its_first_line_with_the_job_and_without_its_class(runner):
    result = runner.run("job_partitioned", "es")
    assert not result.success
    assert list(runner.errors) == ["job_partitioned es: the store is down"]


def test_an_error_that_is_not_the_projects_keeps_its_class(runner):
    runner.run("job_foreign")
    assert list(runner.errors) == ["job_foreign: ValueError: no number"]


def test_errors_of_several_runs_are_collected_in_order_and_each_is_said_once(runner):
    for job, partition in (("job_foreign", None), ("job_partitioned", "en"), ("job_foreign", None)):
        runner.run(job, partition)
    assert list(runner.errors) == ["job_foreign: ValueError: no number", "job_partitioned en: the store is down"]


def test_a_failed_check_fails_the_run_and_is_no_error(runner):
    result = runner.run("job_good")
    assert not result.success
    assert runner.errors == {}


def test_an_interrupt_is_not_turned_into_the_failure_of_a_step(runner):
    with pytest.raises(KeyboardInterrupt):
        runner.run("job_interrupted")


def test_every_run_carries_the_tags_and_its_partition(runner):
    runner.run("job_foreign")
    runner.run("job_partitioned", "en")
    newest, first = runner.instance.get_runs()
    assert [run.tags["recall/command"] for run in (first, newest)] == ["a", "a"]
    assert newest.tags["dagster/partition"] == "en"
    assert "dagster/partition" not in first.tags


def test_a_signal_that_dagster_takes_note_of_and_forgets_ends_the_command_all_the_same(runner):
    before = signal.getsignal(signal.SIGTERM)
    try:
        with pytest.raises(KeyboardInterrupt):
            runner.run("job_ended_between_steps")
        runner.run("job_good")  # one signal ends one run
    finally:
        signal.signal(signal.SIGTERM, before)
