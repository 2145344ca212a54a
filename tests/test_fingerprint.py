import hashlib
import math

import pytest

from recall_assets.fingerprint import digest, digest_files


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
