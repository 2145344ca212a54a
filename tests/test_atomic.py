import pytest

from recall_assets.atomic import appears_whole


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
