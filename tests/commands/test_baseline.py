"""`recall baseline`: what each command prints, its exit codes, and that a file is whole whenever a promotion ends."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from recall_assets.baseline import Baseline, read_baseline, write_baseline
from recall_assets.config import Floors
from recall_assets.config_file import load_settings
from recall_assets.progress import Quiet
from recall_assets.sweep import run_sweep
from tests.baselines import DATE, baseline, ranked, scored
from tests.conftest import ROOT, WordEmbedding


def measured(project):
    return json.loads(project.baseline.read_text(encoding="utf-8"))["date"]


# promote


def test_promote_says_where_the_file_is_what_it_holds_and_how_it_differs(recall, project):
    project.reverse_runs()
    date = measured(project)
    ran = recall("baseline", "promote")
    assert (ran.code, ran.err) == (0, "Commit the files to put them in force.\n")
    assert ran.out == (
        f"baselines/words.json: 50 cases, hit@3 1.000, measured {date}; 0 lost and 0 gained since {date}\n"
    )
    assert {case.gold_rank for case in read_baseline(project.baseline).cases} == {2, 3}


def test_promote_where_there_was_no_baseline_compares_with_none(recall, project):
    date = measured(project)
    before = project.baseline.read_bytes()
    project.baseline.unlink()
    ran = recall("baseline", "promote", "--json")
    assert ran.code == 0
    assert json.loads(ran.out) == {
        "promoted": {"words": {"date": date, "top_k": 3, "cases": 50, "replaced": None, "lost": [], "gained": []}}
    }
    assert project.baseline.read_bytes() == before


def test_promote_puts_a_damaged_baseline_right(recall, project):
    before = project.baseline.read_bytes()
    project.baseline.write_text("<<<<<<< HEAD\n")
    assert recall("baseline", "promote").code == 0
    assert project.baseline.read_bytes() == before


def test_promote_refuses_a_sweep_that_is_older_than_the_cards_and_touches_nothing(recall, project):
    before = project.baseline.read_bytes()
    project.swap("en", 3, 10)
    ran = recall("baseline", "promote", "--json")
    older = "the latest sweep is older than the knowledge base on disk: 2 differ (c03@en, c10@en)"
    reason = f"{older}; run it again: recall sweep"
    assert (ran.code, ran.err) == (3, f"inconclusive: {reason}\n")
    assert json.loads(ran.out)["problems"] == [reason]
    assert project.baseline.read_bytes() == before


def test_promote_of_an_unknown_retriever_is_wrong_input(recall, project):
    before = project.baseline.read_bytes()
    ran = recall("baseline", "promote", "--retriever", "wrods")
    assert (ran.code, ran.err) == (2, '--retriever:1: no retriever named "wrods"; did you mean "words"?\n')
    assert project.baseline.read_bytes() == before


CHILD = """\
import json, os, signal, sys
from pathlib import Path
import recall_assets.latest
from recall_assets import atomic, cli
from tests.conftest import WordEmbedding
import recall_assets.resources.embedding as resources

resources.Embedding = lambda settings: WordEmbedding()
path = Path("baselines/words.json")
die = lambda: os.kill(os.getpid(), signal.SIGKILL)
replace, write_text = os.replace, Path.write_text

def before_the_rename(beside, target):
    if Path(target) == path.resolve():
        die()
    replace(beside, target)

def after_the_rename(beside, target):
    replace(beside, target)
    if Path(target) == path.resolve():
        die()

def half_way(beside, text, **options):
    if path.name not in beside.name:
        return write_text(beside, text, **options)
    with beside.open("w", encoding="utf-8") as file:
        file.write(text[: len(text) // 2])
        file.flush()
        die()

def at_call(number):
    def count(frame, event, argument):
        nonlocal number
        number -= event == "call"
        if not number:
            die()
    sys.setprofile(count)

moments = {
    "before the rename": lambda: setattr(os, "replace", before_the_rename),
    "after the rename": lambda: setattr(os, "replace", after_the_rename),
    "half way through the file": lambda: setattr(Path, "write_text", half_way),
    **{f"at call {number}": lambda number=number: at_call(number) for number in (20_000, 100_000)},
    "never": lambda: None,
}
# Everything is imported and nothing has been run yet, so that a fork stands for a process of its own.
for name, prepare in moments.items():
    child = os.fork()
    if not child:
        os.dup2(2, 1)
        prepare()
        os._exit(cli._run(["baseline", "promote"]))
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    print(json.dumps([name, status, path.read_text(encoding="utf-8")]), flush=True)
"""


def test_a_promotion_that_is_killed_leaves_one_baseline_or_the_other_and_the_next_one_works(project, monkeypatch):
    old = project.baseline.read_text(encoding="utf-8")
    monkeypatch.undo()  # processes of their own need an instance on disk
    monkeypatch.chdir(project.folder)
    run_sweep(project.settings, embedding=WordEmbedding(), progress=Quiet())
    project.reverse_runs()
    done = subprocess.run(  # noqa: S603 - fixed words
        [sys.executable, "-c", CHILD],
        cwd=project.folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    ended = {name: (status, text) for name, status, text in map(json.loads, done.stdout.splitlines())}
    assert len(ended) == 6
    status, new = ended.pop("never")
    assert status == 0, done.stderr
    assert new == project.baseline.read_text(encoding="utf-8") != old
    assert {case.gold_rank for case in read_baseline(project.baseline).cases} == {2, 3}
    assert {name: status for name, (status, _) in ended.items()} == dict.fromkeys(ended, -9)
    kept = {name: text == old for name, (_, text) in ended.items()}
    assert (kept["half way through the file"], kept["before the rename"]) == (False, True)
    assert ended["after the rename"][1] == new
    assert {text for _, text in ended.values()} <= {old, new}


# show


def test_show_prints_head_and_slices(recall, project):
    ran = recall("baseline", "show")
    lines = ran.out.splitlines()
    assert (ran.code, ran.err) == (0, "")
    assert lines[:2] == ["Baseline of words", f"measured {measured(project)}, k = 3, 50 cases, 1 critical"]
    assert "embedder: words-bag" in lines
    rows = [line.split() for line in lines]
    assert ["overall", "50", "1.000", "0.93-1.00", "1.000", "1.000"] in rows
    assert ["locale=pt-BR", "6", "1.000", "0.61-1.00", "1.000", "1.000"] in rows


def test_show_as_json_has_full_precision_and_the_critical_cases(recall, project):
    third = baseline([scored("c1", 1, critical=True), scored("c2", 2), scored("c3", None)], top_k=3)
    write_baseline(project.folder / "baselines", third)
    ran = recall("baseline", "show", "--json")
    shown = json.loads(ran.out)["baselines"]["words"]
    assert (ran.code, shown["date"], shown["top_k"], shown["cases"]) == (0, DATE, 3, 3)
    assert shown["critical_cases"] == ["c1"]
    assert shown["fingerprints"] == {
        "knowledge_base": "kb-1",
        "case_labels": "labels-1",
        "retriever": "retriever-1",
        "embedder": "embedder-1",
    }
    overall = shown["slices"][0]
    assert (overall["slice"], overall["n"], overall["retrieval_hit_at_k"]) == ("overall", 3, 2 / 3)
    assert overall["retrieval_ndcg_at_k"] == pytest.approx((1 + 0.6309297535714575) / 3, abs=1e-15)


@pytest.mark.parametrize("command", ["show", "suggest-floors"])
def test_a_baseline_that_is_not_there_or_damaged_is_wrong_input(recall, project, command):
    project.baseline.write_text("{}")
    ran = recall("baseline", command)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(
        "baselines/words.json:1: no baseline: it has no `format`; restore it from version control"
    )
    project.baseline.unlink()
    ran = recall("baseline", command)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == "baselines/words.json:1: no such baseline; recall baseline promote makes one\n"


# diff


def test_diff_of_the_latest_sweep_says_what_moved_and_exits_as_the_gate_would(recall, project):
    ran = recall("baseline", "diff")
    assert (ran.code, "No score has changed.\n" in ran.out) == (0, True)
    project.reverse_runs()
    ran = recall("baseline", "diff")
    assert (ran.code, ran.err) == (1, "")
    assert ran.out.startswith(f"words against its baseline of {measured(project)[:10]}: 50 of 50 cases unchanged, ")
    assert "  en-07 (critical): #1 -> #3, now first: Leaflet 05\n" in ran.out
    document = json.loads(recall("baseline", "diff", "--json").out)
    assert (document["verdict"], document["exit_code"]) == ("fail", 1)
    assert len(document["retrievers"]["words"]["slipped"]) == 50


def test_diff_where_there_is_no_baseline_says_so_and_passes(recall, project):
    project.baseline.unlink()
    ran = recall("baseline", "diff")
    assert ran.code == 0
    assert ran.out.splitlines() == [
        "words: inactive: no baseline at baselines/words.json; recall baseline promote makes one",
        "Verdict: pass (exit code 0)",
    ]


def test_diff_with_an_edited_baseline_is_wrong_input(recall, project):
    project.baseline.write_text(project.baseline.read_text().replace('"rank": 1', '"rank": 2', 1))
    ran = recall("baseline", "diff")
    assert ran.code == 2
    assert ran.out.startswith("words: baselines/words.json:1: its content does not match its digest, ")


BEFORE = baseline(ranked([1] * 10))


def write(name: str, one: Baseline) -> Path:
    """Writes a baseline under any name, in the working folder."""
    path = write_baseline(Path("files"), one)
    return path.rename(path.with_name(name))


@pytest.mark.parametrize(
    ("after", "code", "said"),
    [
        pytest.param(BEFORE, 0, "10 of 10 cases unchanged, 0 added, 0 removed, 0 relabelled\nNo score", id="the same"),
        # Five lost of ten: 0.5 ** 5 = 0.03125 is below 0.05, and hit, recall and nDCG are one test.
        pytest.param(
            baseline(ranked([1] * 5 + [None] * 5)), 1, "Lost (5):\n  c0005: #1 -> MISS\n  c0006: ", id="five lost"
        ),
        pytest.param(
            baseline(ranked([1] * 6 + [None] * 4)),
            0,
            "Too few changes to tell (needs 5): overall hit@5",
            id="four lost",
        ),
        pytest.param(
            baseline(ranked([1] * 10), top_k=3),
            3,
            "Not comparable: the baseline is at k = 5, this sweep at k = 3",
            id="k",
        ),
        pytest.param(
            baseline(ranked([1] * 4)),
            3,
            "Not comparable: of 10 cases in the baseline and 4 in this sweep",
            id="under half",
        ),
        pytest.param(baseline(ranked([1] * 5)), 0, "5 of 10 cases unchanged, 0 added, 5 removed", id="half"),
    ],
)
def test_diff_of_two_files_exits_as_the_gate_would(recall, here, after, code, said):
    ran = recall("baseline", "diff", write("old.json", BEFORE), write("new.json", after))
    assert (ran.code, ran.err) == (code, "")
    assert said in ran.out


def test_diff_of_two_files_needs_no_configuration_and_no_storage(recall, here):
    ran = recall("baseline", "diff", write("old.json", BEFORE), write("new.json", BEFORE), "--json")
    document = json.loads(ran.out)
    assert (ran.code, document["verdict"], document["retrievers"]["words"]["unchanged_cases"]) == (0, "pass", 10)
    assert [path.name for path in here.iterdir()] == ["files"]


def test_diff_of_two_files_finds_other_fingerprints_and_reads_the_rule_from_the_configuration(recall, project):
    other = replace(BEFORE.fingerprints, embedder="embedder-2")
    files = write("old.json", BEFORE), write("new.json", baseline(ranked([1] * 5 + [None] * 5), fingerprints=other))
    ran = recall("baseline", "diff", *files)
    assert (ran.code, "Changed since the baseline: embedder.\n" in ran.out) == (1, True)
    project.configure("gate: {regression: {alpha: 0.01}}\n")
    assert recall("baseline", "diff", *files).code == 0


def test_diff_of_files_that_cannot_be_read_is_wrong_input_with_all_of_them(recall, here):
    good = write("good.json", BEFORE)
    damaged = write("damaged.json", BEFORE)
    damaged.write_text(damaged.read_text().replace("c0003", "c0033"))
    ran = recall("baseline", "diff", damaged, "files/none.json", "--json")
    assert ran.code == 2
    first, second = ran.err.splitlines()
    assert first.startswith(
        "files/damaged.json:1: its content does not match its digest, so it was edited or merged by"
    )
    assert second == "files/none.json:1: no such file"
    assert json.loads(ran.out)["problems"] == [first, second]
    assert recall("baseline", "diff", good, "files/none.json").code == 2


def test_diff_of_one_file_or_three_is_a_usage_error(recall, here):
    good = write("good.json", BEFORE)
    for files in ([good], [good] * 3):
        ran = recall("baseline", "diff", *files)
        assert (ran.code, f"give two files, before and after, or none; not {len(files)}" in ran.err) == (2, True)


# suggest-floors


def test_suggested_floors_are_the_lower_wilson_ends_rounded_down(recall, project):
    ran = recall("baseline", "suggest-floors", "--json")
    suggested = json.loads(ran.out)["suggested"]["words"]
    # At mean 1 the lower end is n / (n + 1.95996 ** 2): 50/53.841, 24/27.841, 20/23.841, 6/9.841.
    lower = {name: (one["n"], one["floors"]["hit"]) for name, one in suggested.items()}
    assert lower["overall"] == (50, 0.928)
    assert (lower["locale=en"], lower["locale=es"], lower["locale=pt-BR"]) == ((24, 0.862), (20, 0.838), (6, 0.609))
    assert lower["case_type=golden"] == (40, 0.912)
    assert len(suggested) == 6
    assert suggested["overall"]["observed"] == {"hit": 1.0, "recall": 1.0, "ndcg": 1.0}


def test_suggested_floors_can_be_pasted_into_the_configuration_and_the_same_sweep_passes(recall, project):
    ran = recall("baseline", "suggest-floors")
    assert (ran.code, ran.err) == (0, "")
    project.configure(ran.out)
    floors = load_settings(Path("recall.yaml")).gate.floors_of("words")
    assert floors["overall"] == Floors(hit=0.928, recall=0.928, ndcg=0.928)
    assert floors["locale=pt-BR"] == Floors(hit=0.609, recall=0.609, ndcg=0.609)
    ran = recall("gate", "--last", "--json")
    assert ran.code == 0
    statuses = {check["name"]: check["status"] for check in json.loads(ran.out)["retrievers"]["words"]["checks"]}
    assert {statuses[name] for name in ("hit_floor", "recall_floor", "ndcg_floor", "no_regression")} == {"passed"}


@pytest.mark.parametrize("name", ["no", "007", "1e3", "null", "2026-01-01", "0x1F"])
def test_a_name_that_yaml_would_misread_is_quoted(recall, project, name):
    more = f'embedders: {{bag: {{kind: usem3}}}}\nretrievers: {{"{name}": {{kind: exact, embedder: bag}}}}\n'
    Path("recall.yaml").write_text(more)
    write_baseline(Path("baselines"), baseline([scored("c1", 1), scored("c2", None)], name))
    ran = recall("baseline", "suggest-floors")
    assert ran.code == 0, ran.err
    Path("recall.yaml").write_text(more + ran.out)
    # 1 of 2: the lower end is 0.0945.
    assert load_settings(Path("recall.yaml")).gate.retrievers[name].floors.hit == 0.094
