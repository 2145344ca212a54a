"""`recall gate`: its forms, its files, and what it does without a sweep. What it finds: `tests.test_gate_damage`."""

import json
from xml.etree import ElementTree

import pytest

from tests.commands import cases

KEYS = ["verdict", "exit_code", "top_k", "retrievers", "reasons", "problems"]


def pass_(project):
    pass


def fail(project):
    project.reverse_runs()


def break_a_label(project):
    broken = cases()
    broken[2]["must_cite_one_of"] = ["c99"]
    project.write(cases=broken)


def make_it_older(project):
    project.swap("en", 3, 10)


PROBLEM = 'cases.jsonl:3: case "en-02": gold id "c99" is no card of the knowledge base'
OLDER = "the latest sweep is older than the knowledge base on disk: 2 differ (c03@en, c10@en)"


@pytest.mark.parametrize(
    ("damage", "code", "verdict", "said"),
    [
        pytest.param(pass_, 0, "pass", "every active rule holds: no_regression", id="pass"),
        pytest.param(fail, 1, "fail", "nDCG@3 1.0000 -> 0.5000", id="fail"),
        pytest.param(break_a_label, 2, "invalid", PROBLEM, id="invalid"),
        pytest.param(make_it_older, 3, "inconclusive", OLDER, id="inconclusive"),
    ],
)
def test_junit_and_summary_are_written_whatever_happens_and_into_a_new_folder(
    recall, project, damage, code, verdict, said
):
    damage(project)
    ran = recall("gate", "--last", "--junit", "build/a/junit.xml", "--summary", "build/b/summary.md")
    assert ran.code == code, ran.err
    summary = (project.folder / "build/b/summary.md").read_text(encoding="utf-8")
    assert summary.startswith(f"**Retrieval gate: {verdict}** (exit code {code})")
    assert said in summary
    document = ElementTree.parse(project.folder / "build/a/junit.xml")  # noqa: S314
    tests = document.findall(".//testcase")
    failed = {test.get("name") for test in tests if test.find("failure") is not None}
    errors = {test.get("name") for test in tests if test.find("error") is not None}
    if code in (0, 1):
        assert len([test for test in tests if test.get("name").startswith(("en-", "es-", "pt-BR-"))]) == 50
        assert errors == set()
        assert ("no_regression overall" in failed, "en-07" in failed) == (code == 1, code == 1)
        assert bool(failed) == (code == 1)
    else:
        (test,) = tests
        assert test.get("name") == "sweep"
        error = test.find("error")
        assert error.get("message") == verdict
        assert error.text.startswith(said)


def test_a_failed_summary_has_the_reason_in_its_first_line_and_the_cases_below(recall, project):
    fail(project)
    assert recall("gate", "--last", "--summary", "summary.md").code == 1
    lines = (project.folder / "summary.md").read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith("**Retrieval gate: fail** (exit code 1): words: no_regression ")
    assert "- en-07 (critical): #1 -> #3, now first: Leaflet 05" in lines


def test_json_has_the_same_keys_with_and_without_figures(recall, project):
    fail(project)
    ran = recall("gate", "--last", "--json")
    document = json.loads(ran.out)
    assert (ran.code, document["verdict"], document["exit_code"]) == (1, "fail", 1)
    assert list(document) == KEYS
    ((reason),) = document["reasons"]
    assert list(reason) == ["retriever", "check", "status", "detail"]
    assert (reason["retriever"], reason["check"], reason["status"]) == ("words", "no_regression", "failed")
    assert list(document["retrievers"]) == ["words"]
    compared = document["retrievers"]["words"]["baseline"]
    assert (compared["cases"], compared["unchanged_cases"], len(compared["slipped"])) == (50, 50, 50)
    assert compared["slipped"][0] == {
        "case_id": "en-07",
        "critical": True,
        "rank_before": 1,
        "rank_after": 3,
        "now_first": "Leaflet 05",
    }
    make_it_older(project)
    document = json.loads(recall("gate", "--last", "--json").out)
    assert [key for key in KEYS if key not in document] == []
    assert (document["verdict"], document["retrievers"], document["reasons"]) == ("inconclusive", {}, [])
    assert document["problems"] == [f"{OLDER}; run it again: recall sweep"]


def test_the_verdict_and_its_reason_stand_at_the_top_and_no_line_is_wider_than_80(recall, project, monkeypatch):
    fail(project)
    monkeypatch.setenv("COLUMNS", "80")
    # A relative path, so that the line with the report's is short; judging opens no store.
    ran = recall("gate", "--last", "--storage", ".recall")
    lines = ran.out.splitlines()
    assert (ran.code, lines[0]) == (1, "Verdict: fail (exit code 1)")
    top = " ".join(" ".join(lines[:15]).split())
    assert "words: no_regression: case_type=golden: regressed: nDCG@3 1.0000 -> 0.5000 (40 fell, 0 rose of 40" in top
    assert "en-07 (#1 -> #3, now first: Leaflet 05)" in top
    assert [line for line in lines if len(line) > 80] == []


def test_power_says_what_could_be_seen_runs_nothing_and_leaves_no_storage(recall, project):
    ran = recall("gate", "--power", "--storage", "elsewhere", "--json")
    assert ran.code == 0
    assert not (project.folder / "elsewhere").exists()
    outlook = json.loads(ran.out)
    # Ten slices of three metrics; 0.5 ** 6 is below 0.05 / 3, and 0.5 ** 10 below 0.05 / 30.
    assert (outlook["alpha"], outlook["needed"], outlook["tests"], outlook["needed_at_worst"]) == (0.05, 6, 30, 10)
    assert outlook["without_baseline"] == []
    rows = {row["slice"]: row for row in outlook["retrievers"]["words"]}
    assert (rows["locale=en"]["n"], rows["locale=en"]["smallest_drop"]) == (24, 6 / 24)
    assert len(rows) == 10


def test_power_counts_only_cases_that_are_in_the_baseline_unchanged(recall, project):
    changed = cases()
    changed[2]["query"] += " please"
    project.write(cases=changed[:48])
    rows = json.loads(recall("gate", "--power", "--json").out)["retrievers"]["words"]
    found = {row["slice"]: (row["n"], row["smallest_drop"]) for row in rows}
    assert found["overall"] == (47, 6 / 47)
    assert found["locale=en"] == (23, 6 / 23)
    assert found["locale=pt-BR"] == (4, None)


def test_power_says_in_the_table_where_no_baseline_is_and_which_slices_are_too_small(recall, project):
    project.baseline.unlink()
    project.write(cases=cases()[:48])
    ran = recall("gate", "--power")
    assert ran.code == 0
    assert ran.out.startswith("words: what the gate could see (no baseline yet, so nothing is compared)\n")
    rows = {
        line.split()[0]: line.split()[1:] for line in ran.out.splitlines() if line.startswith(("locale", "overall"))
    }
    assert rows["locale=pt-BR"] == ["4", "too", "few", "-", "-"]
    assert rows["overall"][:3] == ["48", "6", "0.125"]


def test_a_floor_on_the_command_line_holds_for_the_latest_sweep(recall, project):
    fail(project)
    project.baseline.unlink()
    ran = recall("gate", "--last", "--floor-ndcg", 0.6, "--json")
    (reason,) = json.loads(ran.out)["reasons"]
    assert (ran.code, reason["check"]) == (1, "ndcg_floor")
    assert reason["detail"].startswith("0.0613 below the floor 0.6: observed 0.5387, n 50, ")


@pytest.mark.parametrize(("option", "path"), [("--junit", "build"), ("--summary", "build")])
def test_a_folder_as_a_file_to_write_is_refused_before_anything_runs(recall, project, option, path):
    (project.folder / "build").mkdir()
    ran = recall("gate", option, path, "--storage", "elsewhere")
    assert (ran.code, f"{option} build is a folder; name a file" in ran.err) == (2, True)
    assert not (project.folder / "elsewhere").exists()


def test_one_file_for_both_is_refused(recall, project):
    ran = recall("gate", "--last", "--junit", "a", "--summary", "a")
    assert (ran.code, "--junit and --summary are both a; name two files" in ran.err) == (2, True)


@pytest.mark.parametrize(("damage", "code"), [(pass_, 3), (fail, 1)])
def test_a_file_that_cannot_be_written_hides_no_failure_and_costs_no_one_the_other(recall, project, damage, code):
    damage(project)
    ran = recall("gate", "--last", "--junit", "/dev/full", "--summary", "summary.md")
    assert ran.code == code
    assert "not written: [Errno 28] No space left on device" in ran.err
    assert ran.out.startswith(f"Verdict: {'fail' if code == 1 else 'inconclusive'} (exit code {code})\n")
    assert (project.folder / "summary.md").exists()


def test_where_nothing_is_compared_an_edited_baseline_is_not_looked_at(recall, project):
    project.baseline.write_text(project.baseline.read_text().replace('"rank": 1', '"rank": 2', 1))
    assert recall("gate", "--last").code == 2
    project.configure("gate: {regression: {compare: false}}")
    assert recall("gate", "--last").code == 0
