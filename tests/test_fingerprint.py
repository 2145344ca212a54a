import hashlib
import math

import polars as pl
import pytest

from recall_assets.fingerprint import digest, digest_files, digest_frame


def test_a_digest_is_the_sha256_of_compact_json_with_sorted_keys():
    assert digest({"b": 1, "a": "é"}) == hashlib.sha256('{"a":"é","b":1}'.encode()).hexdigest()


def test_the_order_of_keys_does_not_matter_and_the_order_of_a_list_does():
    assert digest({"a": 1, "b": {"c": 2, "d": 3}}) == digest({"b": {"d": 3, "c": 2}, "a": 1})
    assert digest(["a", "b"]) != digest(["b", "a"])


@pytest.mark.parametrize(
    ("one", "other"),
    [("1", 1), (1, 1.0), (None, "null"), ([], None), (["ab"], ["a", "b"]), (0.1 + 0.2, 0.3), ("a ", "a"), (True, 1)],
)
def test_different_values_have_different_digests(one, other):
    assert digest(one) != digest(other)


def test_a_value_that_json_cannot_hold_has_no_digest():
    with pytest.raises(ValueError, match="Out of range float"):
        digest(math.nan)
    with pytest.raises(TypeError, match="not JSON serializable"):
        digest({"a": object()})


FRAME = pl.DataFrame({"id": ["x", "y"], "ids": [["a", "b"], None], "score": [0.1 + 0.2, None]})


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(FRAME.rename({"id": "case_id"}), id="a name"),
        pytest.param(FRAME.with_columns(pl.col("id").cast(pl.Categorical)), id="a type"),
        pytest.param(FRAME.with_columns(score=pl.Series([0.3, None])), id="the last bit of a number"),
        pytest.param(FRAME.with_columns(score=pl.Series([0.1 + 0.2, 0.0])), id="zero for nothing"),
        pytest.param(FRAME.with_columns(ids=pl.Series([["a", "b"], []])), id="an empty list for nothing"),
        pytest.param(FRAME.with_columns(ids=pl.Series([["b", "a"], None])), id="the order in a list"),
        pytest.param(FRAME.with_columns(ids=pl.Series([["a,b"], None])), id="one text for two"),
        pytest.param(FRAME.reverse(), id="the order of rows"),
        pytest.param(FRAME.select("score", "id", "ids"), id="the order of columns"),
        pytest.param(FRAME.drop("score"), id="a column less"),
        pytest.param(FRAME.head(1), id="a row less"),
    ],
)
def test_the_digest_of_a_frame_follows_names_types_values_and_order(other):
    assert digest_frame(other) != digest_frame(FRAME)


def test_frames_without_rows_differ_by_their_columns():
    empty = FRAME.clear()
    assert digest_frame(empty) == digest_frame(FRAME.filter(pl.col("id") == "z"))
    assert digest_frame(empty) != digest_frame(empty.drop("score"))


def test_the_digest_of_a_frame_does_not_depend_on_how_it_came_about(tmp_path):
    FRAME.write_parquet(tmp_path / "frame.parquet")
    longer = pl.DataFrame({"id": ["w", "x", "y"], "ids": [["c"], ["a", "b"], ["c"]], "score": [0.5, 0.1 + 0.2, 0.7]})
    hidden = pl.when(pl.col("id") != "y")  # what it leaves out may still lie in memory, under the null
    same = {
        "filtered": longer.with_columns(hidden.then("ids").alias("ids"), hidden.then("score").alias("score")).filter(
            pl.col("id") != "w"
        ),
        "sliced": pl.concat([FRAME.tail(1), FRAME])[1:],
        "in two chunks": pl.concat([FRAME.head(1), FRAME.tail(1)], rechunk=False),
        "joined": FRAME.select("id").join(FRAME, on="id", how="left", maintain_order="left"),
        "sorted": FRAME.reverse().sort("id"),
        "from parquet": pl.read_parquet(tmp_path / "frame.parquet"),
        "by rows": pl.DataFrame(FRAME.rows(), schema=FRAME.schema, orient="row"),
    }
    assert {name: digest_frame(frame) for name, frame in same.items()} == dict.fromkeys(same, digest_frame(FRAME))


def test_the_digest_of_files_covers_names_contents_and_order(tmp_path):
    a, b, c = (tmp_path / name for name in "abc")
    a.write_bytes(b"1")
    b.write_bytes(b"2")
    c.write_bytes(b"1")
    content = hashlib.sha256(b"1").hexdigest()
    assert digest_files([a]) == hashlib.sha256(f"a\0{content}\0".encode()).hexdigest()
    assert len({digest_files(files) for files in ([a, b], [b, a], [a], [c], [])}) == 5


def test_the_digest_of_files_does_not_depend_on_their_folder(tmp_path):
    (tmp_path / "x").mkdir()
    for folder in (tmp_path, tmp_path / "x"):
        (folder / "weights").write_bytes(b"1")
    assert digest_files([tmp_path / "weights"]) == digest_files([tmp_path / "x" / "weights"])
