from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recall_assets.sources.files import data_files, lines, read_text, visible_entries


def said(problems):
    return [str(problem) for problem in problems]


def test_a_byte_order_mark_and_crlf_leave_no_trace_in_the_text(here):
    Path("f").write_bytes(b"\xef\xbb\xbfone\r\ntwo\r\n")
    assert read_text(Path("f"), []) == "one\ntwo\n"


def test_a_byte_order_mark_inside_a_text_and_a_lone_cr_stay(here):
    Path("f").write_bytes("a\ufeffb\rc".encode())
    assert read_text(Path("f"), []) == "a\ufeffb\rc"


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c", "\r"])
def test_only_lf_ends_a_line(separator):
    assert list(lines(f"a{separator}b\nc")) == [(1, f"a{separator}b"), (2, "c")]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"ok\nok\ncaf\xe9\n", "f:3: byte 0xe9 is not UTF-8; save the file as UTF-8"),
        ("caf\xe9".encode("utf-16"), "f:1: byte 0xff is not UTF-8; save the file as UTF-8"),
        (b"a\n\xed\xa0\x80", "f:2: byte 0xed is not UTF-8; save the file as UTF-8"),
    ],
    ids=["latin-1", "utf-16", "encoded surrogate"],
)
def test_a_file_that_is_not_utf8_is_a_problem_at_the_line_of_the_first_bad_byte(here, data, message):
    Path("f").write_bytes(data)
    problems = []
    assert read_text(Path("f"), problems) is None
    assert said(problems) == [message]


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("none", "none:1: no such file or folder"),
        ("folder", "folder:1: cannot be read (Is a directory)"),
        ("file/below", "file/below:1: cannot be read (Not a directory)"),
        ("x" * 300, f"{'x' * 300}:1: cannot be read (File name too long)"),
        ("a\0b", "a\\x00b:1: cannot be read (embedded null byte)"),
    ],
    ids=["missing", "folder", "below a file", "too long", "null byte"],
)
def test_a_file_that_cannot_be_read_is_a_problem_and_no_crash(here, path, message):
    Path("folder").mkdir()
    Path("file").touch()
    problems = []
    assert read_text(Path(path), problems) is None
    assert said(problems) == [message]
    again = []
    assert [read_text(file, again) for file in data_files(Path(path), (".jsonl",), again)] in ([None], [])
    assert len(again) == 1


def test_a_folder_gives_its_files_of_the_right_kinds_sorted_without_hidden_ones_and_readme(here):
    folder = Path("cases")
    folder.mkdir()
    for name in ("b.jsonl", "a.yaml", "C.YML", ".hidden.yaml", ".git", "README.md"):
        (folder / name).touch()
    problems = []
    assert [file.name for file in data_files(folder, (".jsonl", ".yaml", ".yml"), problems)] == [
        "C.YML",
        "a.yaml",
        "b.jsonl",
    ]
    assert problems == []


def test_what_would_not_be_read_in_a_folder_is_a_problem_and_not_skipped_in_silence(here):
    folder = Path("cases")
    (folder / "sub.jsonl").mkdir(parents=True)
    for name in ("a.jsonl", "b.json", "c.jsonl.bak"):
        (folder / name).touch()
    problems = []
    assert data_files(folder, (".jsonl",), problems) == [folder / "a.jsonl"]
    assert said(problems) == [
        "cases/b.json:1: not read: expected only .jsonl files here; move it or rename it",
        "cases/c.jsonl.bak:1: not read: expected only .jsonl files here; move it or rename it",
        "cases/sub.jsonl:1: not read: expected only .jsonl files here; move it or rename it",
    ]


def test_a_folder_without_a_file_of_the_right_kind_is_a_problem(here):
    Path("cases").mkdir()
    problems = []
    assert data_files(Path("cases"), (".jsonl", ".yaml"), problems) == []
    assert said(problems) == ["cases:1: the folder holds no .jsonl, .yaml file"]


def test_a_folder_that_may_not_be_listed_is_a_problem(here, monkeypatch):
    # Whoever runs the tests may be root, whom no mode bit keeps out.
    def refuse(self):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "iterdir", refuse)
    problems = []
    assert visible_entries(here, problems) is None
    assert data_files(Path(), (".jsonl",), problems) == []
    assert said(problems) == [
        f"{here}:1: cannot be listed (Permission denied)",
        ".:1: cannot be listed (Permission denied)",
    ]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.binary(max_size=200) | st.text(max_size=100).map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_any_bytes_are_a_text_or_one_problem_with_a_line_of_the_file(tmp_path, data):
    path = tmp_path / "f"
    path.write_bytes(data)
    problems = []
    text = read_text(path, problems)
    if text is None:
        assert [problem.file for problem in problems] == [str(path)]
        assert 1 <= problems[0].line <= data.count(b"\n") + 1
    else:
        assert problems == []
        assert len(list(lines(text))) == data.count(b"\n") + 1
