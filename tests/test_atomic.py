import os
import stat
from contextlib import contextmanager
from pathlib import Path

import pytest

from recall_assets.atomic import appears_whole, write_whole


def fail(path, error):
    with appears_whole(path) as beside:
        beside.write_text("half of it")
        raise error


def test_what_was_written_is_at_its_place_and_nothing_beside_it(tmp_path):
    path = tmp_path / "report.md"
    with appears_whole(path) as beside:
        beside.write_text("new")
        assert not path.exists()
        assert beside.parent == tmp_path
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("report.md", "new")]


def test_the_old_file_stays_whole_until_the_new_one_is(tmp_path):
    path = tmp_path / "report.md"
    path.write_text("old")
    with appears_whole(path) as beside:
        beside.write_text("ne")
        assert path.read_text() == "old"
        beside.write_text("new")
    assert path.read_text() == "new"


def test_a_write_that_fails_leaves_the_old_file_and_no_trace(tmp_path):
    path = tmp_path / "report.md"
    path.write_text("old")
    with pytest.raises(OSError, match="disk full"):
        fail(path, OSError("disk full"))
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("report.md", "old")]


def test_a_write_that_fails_before_there_was_a_file_leaves_none(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        fail(tmp_path / "report.md", KeyboardInterrupt())
    assert list(tmp_path.iterdir()) == []


def test_two_writers_of_one_file_do_not_meet(tmp_path):
    path = tmp_path / "report.md"
    with appears_whole(path) as one, appears_whole(path) as two:
        one.write_text("one")
        two.write_text("two")
    # The inner block ends first, so the outer one is the last to replace.
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("report.md", "one")]


def test_a_place_that_cannot_be_replaced_is_an_error_and_leaves_no_trace(tmp_path):
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="folder"), appears_whole(tmp_path / "folder") as beside:
        beside.write_text("x")
    assert [file.name for file in tmp_path.iterdir()] == ["folder"]


# Text files.


def test_a_text_is_written_in_utf8_with_its_line_feeds_as_they_are(tmp_path):
    write_whole(tmp_path / "a.txt", "Maçã\nb\n")
    assert (tmp_path / "a.txt").read_bytes() == b"Ma\xc3\xa7\xc3\xa3\nb\n"
    assert [file.name for file in tmp_path.iterdir()] == ["a.txt"]


def test_the_folder_of_a_text_is_made(tmp_path):
    write_whole(tmp_path / "new" / "folder" / "a.txt", "text")
    assert (tmp_path / "new" / "folder" / "a.txt").read_text() == "text"


def test_a_text_replaces_the_one_that_was_there(tmp_path):
    (tmp_path / "a.txt").write_text("a much longer text that was there before")
    write_whole(tmp_path / "a.txt", "new")
    assert (tmp_path / "a.txt").read_text() == "new"


def test_a_text_that_cannot_be_encoded_leaves_the_old_file_and_no_trace(tmp_path):
    (tmp_path / "a.txt").write_text("old")
    with pytest.raises(UnicodeEncodeError):
        write_whole(tmp_path / "a.txt", "half of it \ud800")
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("a.txt", "old")]


def test_a_text_does_not_become_a_folder(tmp_path):
    (tmp_path / "a.txt").mkdir()
    with pytest.raises(IsADirectoryError):
        write_whole(tmp_path / "a.txt", "text")
    assert [file.name for file in tmp_path.iterdir()] == ["a.txt"]
    assert list((tmp_path / "a.txt").iterdir()) == []


def test_a_folder_that_cannot_be_made_is_an_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(FileExistsError):
        write_whole(tmp_path / "file" / "a.txt", "text")


def test_a_pipe_is_written_to_and_not_replaced(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_whole(pipe, "through the pipe\n")
    assert os.read(reader, 100) == b"through the pipe\n"
    os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert [file.name for file in tmp_path.iterdir()] == ["pipe"]


@contextmanager
def open_pipe():
    """Both ends of a pipe without a name, closed at the end."""
    ends = os.pipe()
    try:
        yield ends
    finally:
        for end in ends:
            os.close(end)


def test_a_device_and_a_descriptor_are_written_to_as_they_are():
    before = Path("/dev/null").stat()
    write_whole(Path("/dev/null"), "into nothing")
    assert (Path("/dev/null").stat().st_ino, Path("/dev/null").stat().st_mode) == (before.st_ino, before.st_mode)
    with open_pipe() as (reader, writer):
        # What /dev/stdout leads to where standard output is piped on.
        write_whole(Path(f"/dev/fd/{writer}"), "to whoever reads")
        assert os.read(reader, 100) == b"to whoever reads"


def test_a_link_is_followed_and_not_replaced(tmp_path):
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    write_whole(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


def test_a_descriptor_that_leads_to_a_file_is_written_to_as_it_is(tmp_path):
    # What /dev/stdout leads to where standard output is redirected to a file.
    with (tmp_path / "out.txt").open("w") as out:
        write_whole(Path(f"/dev/fd/{out.fileno()}"), "redirected")
    assert (tmp_path / "out.txt").read_text() == "redirected"
