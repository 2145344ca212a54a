import json

import dagster as dg
import pytest

from tests.conftest import CASES
from tests.graph import checks, materialized

ERROR = dg.AssetCheckSeverity.ERROR
FLOORS = ("hit_floor", "recall_floor", "ndcg_floor")
TWO = {
    "words": {"kind": "dense", "embedder": "bag"},
    "everywhere": {"kind": "exact", "embedder": "bag", "locale_filter": False},
}
# c1 has two gold cards of which one is found: hit 1, recall 1/2, nDCG 1 at k 1. c2 misses, c3 hits.
# So the means are hit 2/3, recall 1/2, nDCG 2/3.
TWO_GOLDS = [CASES[0] | {"must_cite_one_of": ["apple", "carrot"]}, *CASES[1:]]
MEANS = {"hit_floor": 2 / 3, "recall_floor": 0.5, "ndcg_floor": 2 / 3}


def gate(**floors):
    return {"floors": {name.removesuffix("_floor"): value for name, value in floors.items()}}


def rows(check):
    """The rows of a gate check's table."""
    return [row.data for row in check.metadata["results"].records]


def test_a_floor_that_is_not_set_passes_and_says_inactive_with_the_figure_n_and_interval(make_graph):
    result = make_graph(cases=TWO_GOLDS).sweep()["sweep_report"]
    assert result.success
    for name in FLOORS:
        check = checks(result)[name]
        assert (check.passed, check.severity, check.blocking) == (True, ERROR, True)
        assert check.description.startswith("words: inactive: no floor is set; observed ")
        assert check.metadata["status"].value == "inactive"
        assert check.metadata["words/observed"].value == MEANS[name]
        (row,) = rows(check)
        assert (row["retriever"], row["status"], row["threshold"], row["n"]) == ("words", "inactive", None, 3)
        assert row["observed"] == MEANS[name]
        assert 0.0 < row["low"] < row["observed"] < row["high"] < 1.0


def test_the_interval_of_an_inactive_hit_floor_is_wilsons(make_graph):
    (row,) = rows(checks(make_graph().sweep()["sweep_report"])["hit_floor"])
    # 2 of 3 at 95%: centre (2/3 + z2/6) / (1 + z2/3), spread z * sqrt(2/27 + z2/36) / (1 + z2/3), z2 = 1.95996**2.
    assert (row["low"], row["high"]) == pytest.approx((0.20766, 0.93851), abs=5e-6)


@pytest.mark.parametrize("name", FLOORS)
def test_a_mean_equal_to_its_floor_passes(make_graph, name):
    result = make_graph(cases=TWO_GOLDS, gate=gate(**{name: MEANS[name]})).sweep()["sweep_report"]
    assert result.success
    check = checks(result)[name]
    assert check.passed
    assert rows(check)[0]["status"] == "passed"
    assert check.metadata["status"].value == "passed"


@pytest.mark.parametrize("name", FLOORS)
def test_a_mean_below_its_floor_fails_the_run_and_costs_no_one_the_report(make_graph, name):
    # What rounds to the same four decimals is still below.
    graph = make_graph(cases=TWO_GOLDS, gate=gate(**{name: MEANS[name] + 1e-9}))
    result = graph.sweep()["sweep_report"]
    assert not result.success
    assert materialized(result) == {"slice_scores", "recall_report", "gate_verdict"}
    assert {check.check_name for check in checks(result).values() if not check.passed} == {name}
    check = checks(result)[name]
    assert (check.severity, check.blocking) == (ERROR, True)
    said = f"words: 1e-09 below the floor {MEANS[name] + 1e-9}: observed {MEANS[name]:.4f}, n 3"
    assert check.description.startswith(said)
    report = graph.settings.storage.path / "reports" / result.run_id / "report.json"
    assert json.loads(report.read_text())["verdict"] == "fail"


def test_one_retriever_below_the_floor_fails_the_check_and_stands_first_in_it(make_graph):
    # The query word for word in another locale: only the retriever without a locale filter is led astray.
    cards = [
        {"card_id": "apple", "locale": "en", "title": "Apple", "text": "red fruit from a tree"},
        {"card_id": "banana", "locale": "en", "title": "Banana", "text": "yellow fruit"},
        {"card_id": "decoy", "locale": "pt-BR", "title": "red", "text": "fruit"},
    ]
    graph = make_graph(cards=cards, cases=CASES[:1], retrievers=TWO, gate=gate(hit=1.0))
    check = checks(graph.sweep()["sweep_report"])["hit_floor"]
    assert not check.passed
    assert [(row["retriever"], row["status"], row["observed"]) for row in rows(check)] == [
        ("words", "passed", 1.0),
        ("everywhere", "failed", 0.0),
    ]
    assert [line.split(":")[0] for line in check.description.split("\n")] == ["everywhere", "words"]
    assert check.metadata["status"].value == "failed, passed"


def test_every_retriever_scored_passes_with_the_number_of_cases(make_graph):
    check = checks(make_graph(retrievers=TWO).sweep()["sweep_report"])["every_retriever_scored"]
    assert (check.passed, check.severity, check.blocking) == (True, ERROR, True)
    assert check.description == (
        "words: every case has a result; 3 gold-bearing cases scored\n"
        "everywhere: every case has a result; 3 gold-bearing cases scored"
    )


def test_a_retriever_that_never_ran_fails_every_retriever_scored_and_is_named(make_graph):
    graph = make_graph(retrievers=TWO)
    graph.run("sweep_ingest")
    graph.run("sweep_index", "bag")
    graph.run("sweep_retrieve", "everywhere")
    result = graph.run("sweep_report")
    assert not result.success
    check = checks(result)["every_retriever_scored"]
    assert (check.passed, check.severity, check.blocking) == (False, ERROR, True)
    assert check.description.split("\n") == [
        "words: it was never run",
        "everywhere: every case has a result; 3 gold-bearing cases scored",
    ]
    assert (graph.settings.storage.path / "reports" / result.run_id / "report.md").exists()


def test_a_case_set_without_any_gold_fails_every_retriever_scored(make_graph):
    result = make_graph(cases=CASES[3:], gate=gate(hit=0.0)).sweep()["sweep_report"]
    failed = {name: check.description for name, check in checks(result).items() if not check.passed}
    assert failed == {
        "every_retriever_scored": "words: no case has gold, so nothing was measured",
        "hit_floor": "words: floor 0.0; nothing was scored",
    }


def test_an_inactive_floor_over_a_retriever_that_was_not_scored_has_no_observed_value(make_graph):
    graph = make_graph()
    graph.run("sweep_ingest")
    check = checks(graph.run("sweep_report"))["hit_floor"]
    assert check.passed
    (row,) = rows(check)
    assert (row["status"], row["observed"], row["low"], row["high"], row["n"]) == ("inactive", None, None, None, 0)
    assert check.description == "words: inactive: no floor is set; nothing was scored"
    assert "words/observed" not in check.metadata


def test_what_the_gate_stores_is_plain_data(make_graph):
    for check in checks(make_graph(gate=gate(hit=0.9, recall=0.1)).sweep()["sweep_report"]).values():
        assert type(check.passed) is bool
        cells = [value for row in rows(check) for value in row.values()]
        assert {type(value) for value in cells} <= {str, int, float, type(None)}
