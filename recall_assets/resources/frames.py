"""Storing frames between assets: Parquet files, one a partition, that appear whole or not at all."""

from pathlib import Path
from typing import Any

import dagster as dg
import polars as pl
from upath import UPath

from recall_assets.atomic import appears_whole

ALL_PARTITIONS = {"every_partition": True, "allow_missing_partitions": True}
"""Input metadata: load a dict of partition key to frame, without the partitions that do not exist."""


class ParquetIOManager(dg.UPathIOManager):
    """Frames as Parquet, the partition in the path; a missing file is an error unless the input allows it."""

    extension = ".parquet"

    @classmethod
    def of(cls, storage: Path) -> "ParquetIOManager":
        """That of a storage folder."""
        return cls(UPath(storage / "frames"))

    def stored(self, asset: str, partition: str | None = None) -> pl.DataFrame | None:
        """What is stored of an asset, or of one partition of it, None where nothing is: outside of a run."""
        path = self._base_path.joinpath(*(part for part in (asset, partition) if part is not None))
        file: Any = path.with_name(path.name + self.extension)
        return pl.read_parquet(file) if file.exists() else None

    def dump_to_path(self, context: dg.OutputContext, obj: pl.DataFrame, path: Any) -> None:
        """Writes beside the target, then renames onto it."""
        with appears_whole(path) as beside:
            obj.write_parquet(beside)

    def load_from_path(self, context: dg.InputContext, path: Any) -> pl.DataFrame:
        """Reads one frame.

        Raises:
            FileNotFoundError: There is none; names the asset to materialize.
        """
        if not path.exists():
            raise FileNotFoundError(f"{path} does not exist: materialize {context.asset_key.to_user_string()} first")
        return pl.read_parquet(path)

    def load_partitions(self, context: dg.InputContext) -> Any:
        """One frame, or with `ALL_PARTITIONS` always a dict, also where there is only one partition."""
        loaded = super().load_partitions(context)
        if not (context.definition_metadata or {}).get("every_partition") or isinstance(loaded, dict):
            return loaded
        return {} if loaded is None else {context.asset_partition_keys[0]: loaded}
