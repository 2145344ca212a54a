"""Reading what a sweep stored, through the IO manager it was stored with. Whether it belongs together: `provenance`."""

from collections.abc import Iterable

import pandera.polars as pa
import polars as pl

from recall_assets.config import Settings
from recall_assets.indexing import known_fingerprints
from recall_assets.resources.embedding import Embedding
from recall_assets.resources.frames import ParquetIOManager
from recall_assets.schemas import CARDS, CASES, CHUNKS, empty_frame
from recall_assets.score_frames import slice_frame
from recall_assets.verdicts import SweepFrames


class StoredFrames:
    """The frames of assets, None where there is none."""

    def __init__(self, settings: Settings) -> None:
        """What the assets of a configuration have stored."""
        self._io = ParquetIOManager.of(settings.storage.path)

    def of(self, asset: str, partition: str | None = None) -> pl.DataFrame | None:
        """The frame of an asset, or of one partition of it."""
        return self._io.stored(asset, partition)

    def by_partition(self, asset: str, partitions: Iterable[str]) -> dict[str, pl.DataFrame]:
        """The frames of those partitions that there are."""
        frames = {partition: self.of(asset, partition) for partition in partitions}
        return {partition: frame for partition, frame in frames.items() if frame is not None}

    def slices(self, settings: Settings, embedding: Embedding) -> pl.DataFrame:
        """The `SLICE_SCORES` frame of what is stored, as the asset would make it."""
        return slice_frame(
            settings,
            self._or_empty("kb_cards", CARDS),
            self._or_empty("kb_chunks", CHUNKS),
            self._or_empty("case_set", CASES),
            known_fingerprints(settings.used_embedders, embedding),
            self.by_partition("kb_collection", settings.used_embedders),
            self.by_partition("retrieval_run", settings.retrievers),
            self.by_partition("case_scores", settings.retrievers),
        )

    def of_sweep(self, settings: Settings, slice_scores: pl.DataFrame, embedding: Embedding) -> SweepFrames:
        """Everything that a judgement on the slice scores of a sweep rests on."""
        return SweepFrames(
            self._or_empty("kb_cards", CARDS),
            self._or_empty("case_set", CASES),
            self.by_partition("kb_collection", settings.used_embedders),
            self.by_partition("retrieval_run", settings.retrievers),
            self.by_partition("case_scores", settings.retrievers),
            slice_scores,
            known_fingerprints(settings.used_embedders, embedding),
        )

    def _or_empty(self, asset: str, schema: pa.DataFrameSchema) -> pl.DataFrame:
        frame = self.of(asset)
        return empty_frame(schema) if frame is None else frame
