import dagster as dg
import pytest

from recall_assets.automation import COMMAND_TAG
from recall_assets.errors import SweepFailedError
from recall_assets.occupancy import occupied

STARTED = dg.DagsterRunStatus.STARTED


def open_run(instance, **tags):
    """A run that says it is going on."""
    run = dg.DagsterRun(job_name="sweep_index", run_id=dg._core.utils.make_new_run_id(), status=STARTED, tags=tags)
    return instance.add_run(run).run_id


def test_a_storage_folder_is_for_one_sweep_at_a_time(tmp_path):
    with (
        dg.DagsterInstance.ephemeral() as instance,
        occupied(tmp_path, instance),
        pytest.raises(SweepFailedError) as refused,
        occupied(tmp_path, instance),
    ):
        pass
    assert str(refused.value) == (
        f"another sweep is running in {tmp_path}; wait for it, or give this one its own --storage"
    )


def test_a_folder_is_free_again_after_a_sweep_that_failed(tmp_path):
    with dg.DagsterInstance.ephemeral() as instance:
        with pytest.raises(RuntimeError), occupied(tmp_path, instance):
            raise RuntimeError
        with occupied(tmp_path, instance):
            pass


def test_runs_that_a_killed_sweep_left_open_are_closed_and_those_of_dagster_are_not(tmp_path):
    with dg.DagsterInstance.ephemeral() as instance:
        killed, scheduled = open_run(instance, **{COMMAND_TAG: "a"}), open_run(instance)
        with occupied(tmp_path, instance):
            pass
        assert instance.get_run_by_id(killed).status is dg.DagsterRunStatus.FAILURE
        assert instance.get_run_by_id(scheduled).status is STARTED
