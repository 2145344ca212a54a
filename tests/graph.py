"""Running the graph in tests: stage by stage on an ephemeral instance, over files in a temporary folder."""

from collections.abc import Mapping

import dagster as dg
import polars as pl

from recall_assets.automation import stages
from recall_assets.config import Settings
from recall_assets.definitions import build_defs


class Graph:
    """The definitions of some settings, and an instance to run them on."""

    def __init__(self, settings: Settings, resources: Mapping[str, object], instance: dg.DagsterInstance) -> None:
        self.settings = settings
        self.instance = instance
        self.definitions = build_defs(settings, **resources)

    def run(self, job: str, partition: str | None = None, **tags: str) -> dg.ExecuteInProcessResult:
        """Runs one stage's job, whether it succeeds or not."""
        return self._execute(self.definitions.resolve_job_def(job), partition, tags)

    def materialize(self, job: str, asset: str) -> dg.ExecuteInProcessResult:
        """Materializes one asset of a job alone, from what is stored."""
        only = self.definitions.resolve_job_def(job).get_subset(asset_selection={dg.AssetKey(asset)})
        return self._execute(only, None)

    def sweep(self) -> dict[str, dg.ExecuteInProcessResult]:
        """Runs every stage; the last run of each by the name of its job."""
        return {stage.job: self.run(stage.job, key) for stage in stages(self.settings) for key in stage.runs}

    def check(self, asset: str, name: str, partition: str | None = None) -> dg.AssetCheckEvaluation:
        """Runs one check alone, against what is stored."""
        job = next(stage.job for stage in stages(self.settings) if asset in stage.assets)
        key = dg.AssetCheckKey(dg.AssetKey(asset), name)
        only = self.definitions.resolve_job_def(job).get_subset(asset_selection=set(), asset_check_selection={key})
        result = self._execute(only, partition)
        return checks(result)[name]

    def frame(self, asset: str, partition: str | None = None) -> pl.DataFrame:
        """What is stored of an asset."""
        return pl.read_parquet(self._path(asset, partition))

    def replace_frame(self, asset: str, partition: str | None, frame: pl.DataFrame) -> None:
        """Puts another frame in the place of what is stored of an asset."""
        frame.write_parquet(self._path(asset, partition))

    def stored(self) -> set[str]:
        """The frames that are stored, as `asset` or `asset/partition`."""
        folder = self.settings.storage.path / "frames"
        return {path.relative_to(folder).as_posix().removesuffix(".parquet") for path in folder.rglob("*.parquet")}

    def _path(self, asset, partition):
        name = asset if partition is None else f"{asset}/{partition}"
        return self.settings.storage.path / "frames" / f"{name}.parquet"

    def _execute(self, job, partition, tags=None):
        return job.execute_in_process(instance=self.instance, partition_key=partition, tags=tags, raise_on_error=False)


def checks(result: dg.ExecuteInProcessResult) -> dict[str, dg.AssetCheckEvaluation]:
    """The check evaluations of a run by name."""
    return {evaluation.check_name: evaluation for evaluation in result.get_asset_check_evaluations()}


def materialized(result: dg.ExecuteInProcessResult) -> set[str]:
    """The assets that a run materialized."""
    return {event.asset_key.to_user_string() for event in result.get_asset_materialization_events()}


def metadata(result: dg.ExecuteInProcessResult, asset: str) -> dict[str, object]:
    """The metadata values of an asset that a run materialized."""
    (event,) = result.asset_materializations_for_node(asset)
    return {name: value.value for name, value in event.metadata.items()}
