"""The check `no_regression` on `gate_verdict`: what it says, and what its rows hold."""

import dagster as dg
import pytest

from tests.conftest import CARDS, CASES
from tests.graph import checks, materialized

CRITICAL = [CASES[0] | {"tags": ["critical"]}, *CASES[1:]]
OTHER_TEXT = [CARDS[0] | {"text": "green leaf"}, *CARDS[1:]]  # c1 finds banana now


@pytest.fixture
def graph_of(make_graph, tmp_path):
    return lambda **settings: make_graph(baselines=tmp_path / "baselines", **settings)


def promoted(graph):
    graph.sweep()
    assert graph.run("promote_baseline", "words").success


def judged(graph):
    """The run of the last stage, and the check."""
    result = graph.sweep()["sweep_report"]
    return result, checks(result)["no_regression"]


def rows(check):
    return [row.data for row in check.metadata["results"].records]


def test_without_a_baseline_it_passes_and_says_inactive(graph_of, tmp_path):
    result, check = judged(graph_of())
    assert result.success
    assert (check.passed, check.blocking, check.severity) == (True, True, dg.AssetCheckSeverity.ERROR)
    assert check.metadata["status"].value == "inactive"
    assert "words: inactive: no baseline at " in check.description
    (row,) = rows(check)
    assert (row["retriever"], row["slice"], row["status"], row["n"]) == ("words", "overall", "inactive", 0)
    assert row["detail"].startswith(f"inactive: no baseline at {tmp_path}/baselines/words.json")


def test_a_required_baseline_that_is_not_there_fails_the_run_as_inconclusive(graph_of):
    result, check = judged(graph_of(gate={"regression": {"require_baseline": True}}))
    assert (result.success, check.passed, check.metadata["status"].value) == (False, False, "inconclusive")


def test_an_unchanged_sweep_passes_with_a_row_a_slice(graph_of):
    graph = graph_of()
    promoted(graph)
    result, check = judged(graph)
    assert (result.success, check.passed, check.metadata["status"].value) == (True, True, "passed")
    assert {row["slice"]: (row["status"], row["n"]) for row in rows(check)} == {
        "overall": ("passed", 3),
        "case_type=adversarial": ("passed", 1),
        "case_type=golden": ("passed", 2),
        "locale=en": ("passed", 2),
        "locale=pt-BR": ("passed", 1),
        "case_type=adversarial,locale=en": ("passed", 1),
        "case_type=golden,locale=en": ("passed", 1),
        "case_type=golden,locale=pt-BR": ("passed", 1),
    }
    (overall,) = [row for row in rows(check) if row["slice"] == "overall"]
    assert overall["detail"] == "no case changed: hit@1 0.6667 -> 0.6667 (0 lost, 0 gained of 3)"


def test_too_few_changes_pass_as_untested_and_say_what_they_would_need(graph_of):
    promoted(graph_of())
    result, check = judged(graph_of(cards=OTHER_TEXT))
    assert (result.success, check.passed) == (True, True)
    assert check.metadata["status"].value == "passed, untested"
    found = {row["slice"]: row["status"] for row in rows(check)}
    assert {name for name, status in found.items() if status == "untested"} == {
        *("overall", "case_type=golden", "locale=en", "case_type=golden,locale=en"),
    }
    assert "too few changes to tell (needs 5): hit@1 1.0000 -> 0.0000 (1 lost, 0 gained of 1)" in check.description


def test_a_lost_critical_case_fails_the_run_and_costs_no_one_the_report(graph_of):
    promoted(graph_of(cases=CRITICAL))
    result, check = judged(graph_of(cases=CRITICAL, cards=OTHER_TEXT))
    assert not result.success
    assert materialized(result) == {"slice_scores", "recall_report", "gate_verdict"}
    assert (check.passed, check.blocking, check.severity) == (False, True, dg.AssetCheckSeverity.ERROR)
    first = rows(check)[0]
    assert (first["retriever"], first["slice"], first["status"], first["n"]) == ("words", "overall", "failed", 3)
    said = "1 critical case lost: c1 (#1 -> MISS, now first: Banana); too few changes to tell (needs 5): "
    assert first["detail"] == f"{said}hit@1 0.6667 -> 0.3333 (1 lost, 0 gained of 3)"
    assert f"words: {said}" in check.description


def test_one_retriever_that_lost_a_critical_case_fails_it_for_all_and_is_named_first(graph_of):
    two = {"retrievers": {name: {"kind": "exact", "embedder": "bag"} for name in ("one", "two")}, "cases": CRITICAL}
    graph = graph_of(**two)
    graph.sweep()
    graph.run("promote_baseline", "two")
    _, check = judged(graph_of(**two, cards=OTHER_TEXT))
    assert not check.passed
    first, second = check.description.split("\n")
    assert "two: 1 critical case lost: c1 " in first
    assert "one: inactive: no baseline at " in second


def test_a_baseline_that_was_edited_fails_it_as_invalid(graph_of, tmp_path):
    graph = graph_of()
    promoted(graph)
    path = tmp_path / "baselines" / "words.json"
    path.write_text(path.read_text().replace('"rank": 1', '"rank": 2', 1))
    result, check = judged(graph)
    assert (result.success, check.passed, check.metadata["status"].value) == (False, False, "invalid")
    assert f"words: {path}:1: its content does not match its digest" in check.description


def test_what_it_stores_is_plain_data(graph_of):
    promoted(graph_of(cases=CRITICAL))
    _, check = judged(graph_of(cases=CRITICAL, cards=OTHER_TEXT))
    assert type(check.passed) is bool
    cells = [value for row in rows(check) for value in row.values()]
    assert {type(value) for value in cells} <= {str, int, float, type(None)}
