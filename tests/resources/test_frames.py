import dagster as dg
import polars as pl
import pytest
from upath import UPath

from recall_assets.resources.frames import ALL_PARTITIONS, ParquetIOManager

KEYS = dg.StaticPartitionsDefinition(["one", "two.5"])
ONLY = dg.StaticPartitionsDefinition(["one"])
FRAME = pl.DataFrame({"id": ["007", "é"], "ids": [["a"], []]})


@pytest.fixture
def frames(tmp_path):
    return ParquetIOManager(UPath(tmp_path / "frames"))


def store(frames, frame, partition=None):
    context = dg.build_output_context(
        asset_key=["scores"], partition_key=partition, asset_partitions_def=KEYS if partition else None
    )
    frames.handle_output(context, frame)


def load(frames, first=None, last=None, partitions_def=KEYS, metadata=None):
    """Loads the asset `scores`: as a whole, or its partitions from the first to the last."""
    keys = {} if first is None else {"asset_partition_key_range": dg.PartitionKeyRange(first, last or first)}
    context = dg.build_input_context(
        asset_key=dg.AssetKey("scores"),
        definition_metadata=metadata,
        asset_partitions_def=None if first is None else partitions_def,
        **keys,
    )
    return frames.load_input(context)


def test_a_frame_comes_back_as_it_was_stored(frames):
    store(frames, FRAME)
    assert load(frames).equals(FRAME)
    assert load(frames).schema == FRAME.schema


def test_a_partition_is_in_the_path(frames, tmp_path):
    store(frames, FRAME, "two.5")
    assert pl.read_parquet(tmp_path / "frames" / "scores" / "two.5.parquet").equals(FRAME)
    assert load(frames, "two.5").equals(FRAME)


def test_a_second_frame_replaces_the_first(frames):
    store(frames, FRAME)
    store(frames, FRAME[:1])
    assert load(frames).equals(FRAME[:1])


def test_a_write_that_fails_half_way_leaves_the_first_frame_and_no_other_file(frames, tmp_path, monkeypatch):
    def half(self, path, **_):
        path.write_bytes(b"PAR1")
        raise OSError("no space left on device")

    store(frames, FRAME)
    monkeypatch.setattr(pl.DataFrame, "write_parquet", half)
    with pytest.raises(OSError, match="no space left"):
        store(frames, FRAME[:1])
    assert load(frames).equals(FRAME)
    assert [path.name for path in (tmp_path / "frames").iterdir()] == ["scores.parquet"]


def test_a_missing_frame_names_its_path_and_the_asset_to_materialize(frames, tmp_path):
    path = tmp_path / "frames" / "scores.parquet"
    with pytest.raises(FileNotFoundError, match=f"{path} does not exist: materialize scores first"):
        load(frames)


def test_a_missing_partition_is_an_error_too_unless_the_input_allows_it(frames):
    store(frames, FRAME, "one")
    with pytest.raises(FileNotFoundError, match=r"two.5.parquet does not exist: materialize scores first"):
        load(frames, "one", "two.5")


@pytest.mark.parametrize(
    ("partitions_def", "stored"),
    [
        pytest.param(KEYS, ["one", "two.5"], id="both of two"),
        pytest.param(KEYS, ["one"], id="one of two"),
        pytest.param(KEYS, [], id="none of two"),
        pytest.param(ONLY, ["one"], id="the only one"),
        pytest.param(ONLY, [], id="none of one"),
    ],
)
def test_an_input_over_all_partitions_is_always_a_dict_of_those_that_exist(frames, partitions_def, stored):
    for key in stored:
        store(frames, FRAME, key)
    keys = partitions_def.get_partition_keys()
    loaded = load(frames, keys[0], keys[-1], partitions_def, ALL_PARTITIONS)
    assert set(loaded) == set(stored)
    assert all(frame.equals(FRAME) for frame in loaded.values())
