import io
import os
import pty
import sys

import pytest

from recall_assets.progress import Progress, Quiet, kept_stderr


@pytest.fixture(autouse=True)
def ordinary_environment(monkeypatch):
    """No variable decides in the place of the stream what is a terminal."""
    for name in ("FORCE_COLOR", "NO_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")


class Terminal(io.StringIO):
    def isatty(self):
        return True


def advance_in(progress, steps, total, label="retrieving"):
    with progress.track(label, total) as advance:
        for units in steps:
            advance(units)


def test_without_a_terminal_a_step_writes_a_plain_line_a_quarter_to_standard_error(capsys):
    advance_in(Progress("dense-en"), [1] * 8, 8)
    captured = capsys.readouterr()
    assert captured.err.splitlines() == [
        "dense-en: retrieving: 2 of 8",
        "dense-en: retrieving: 4 of 8",
        "dense-en: retrieving: 6 of 8",
        "dense-en: retrieving: 8 of 8",
    ]
    assert captured.out == ""


def test_one_large_step_writes_one_line(capsys):
    advance_in(Progress(), [1000], 1000)
    assert capsys.readouterr().err == "retrieving: 1000 of 1000\n"


def test_a_step_without_units_writes_nothing(capsys):
    advance_in(Progress(), [], 0)
    advance_in(Progress(), [0], 0)
    assert capsys.readouterr().err == ""


def test_a_label_is_written_as_it_is(capsys):
    advance_in(Progress("[bold]name[/bold]"), [1], 1, "x" * 200)
    assert capsys.readouterr().err == f"[bold]name[/bold]: {'x' * 200}: 1 of 1\n"


def test_another_subject_is_reported_in_the_same_place():
    stream = io.StringIO()
    advance_in(Progress(stream=stream).of("minilm"), [1], 1)
    assert stream.getvalue() == "minilm: retrieving: 1 of 1\n"


def test_on_a_terminal_a_step_shows_a_bar_with_its_count():
    stream = Terminal()
    advance_in(Progress("dense-en", stream), [3, 4], 7)
    shown = stream.getvalue()
    assert "dense-en: retrieving" in shown
    assert "7/7" in shown
    assert "\x1b[" in shown
    assert "7 of 7" not in shown


def test_quiet_progress_writes_nothing(capsys):
    advance_in(Quiet().of("minilm"), [1], 1)
    assert capsys.readouterr() == ("", "")


def test_the_kept_standard_error_is_where_it_was_before_it_was_led_elsewhere(tmp_path, monkeypatch):
    with (tmp_path / "terminal").open("w") as before, (tmp_path / "capture").open("w") as capture:
        monkeypatch.setattr(sys, "stderr", before)
        with kept_stderr() as kept:
            os.dup2(capture.fileno(), before.fileno())
            kept.write("seen\n")
    assert (tmp_path / "terminal").read_text() == "seen\n"
    assert (tmp_path / "capture").read_text() == ""


def test_a_kept_terminal_is_a_terminal(monkeypatch):
    controller, terminal = pty.openpty()
    with os.fdopen(controller, "rb"), os.fdopen(terminal, "w") as stream:
        monkeypatch.setattr(sys, "stderr", stream)
        with kept_stderr() as kept:
            assert kept.isatty()


def test_a_standard_error_without_a_descriptor_is_kept_as_it_is(monkeypatch):
    stand_in = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stand_in)
    with kept_stderr() as kept:
        assert kept is stand_in
