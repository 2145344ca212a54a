import json

import dagster as dg
import polars as pl
import pytest

from recall_assets.baseline import write_baseline
from recall_assets.metrics import METRICS
from recall_assets.score_frames import snapshot
from tests.baselines import baseline
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
        assert check.description.startswith("- words: inactive: no floor is set; observed ")
        assert check.metadata["status"].value == "inactive"
        assert check.metadata["words/observed"].value == MEANS[name]
        (row,) = rows(check)
        assert (row["retriever"], row["slice"], row["status"]) == ("words", "overall", "inactive")
        assert ("threshold" in row, row["n"]) == (False, 3)  # a column of nothing is left out
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
    said = f"- words: 1e-09 below the floor {MEANS[name] + 1e-9}: observed {MEANS[name]:.4f}, n 3"
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
        ("everywhere", "failed", 0.0),
        ("words", "passed", 1.0),
    ]
    assert [line.split(":")[0] for line in check.description.split("\n")] == ["- everywhere", "- words"]
    assert check.metadata["status"].value == "failed, passed"


def test_every_retriever_scored_passes_with_the_number_of_cases(make_graph):
    check = checks(make_graph(retrievers=TWO).sweep()["sweep_report"])["every_retriever_scored"]
    assert (check.passed, check.severity, check.blocking) == (True, ERROR, True)
    assert check.description == (
        "- words: every case has a result; 3 gold-bearing cases scored\n"
        "- everywhere: every case has a result; 3 gold-bearing cases scored"
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
        "- words: it was never run",
        "- everywhere: every case has a result; 3 gold-bearing cases scored",
    ]
    assert (graph.settings.storage.path / "reports" / result.run_id / "report.md").exists()


def test_a_case_set_without_any_gold_fails_every_retriever_scored(make_graph):
    result = make_graph(cases=CASES[3:], gate=gate(hit=0.0)).sweep()["sweep_report"]
    failed = {name: check.description for name, check in checks(result).items() if not check.passed}
    assert failed == {
        "every_retriever_scored": "- words: no case has gold, so nothing was measured",
        "hit_floor": "- words: floor 0.0; nothing was scored",
    }


def test_an_inactive_floor_over_a_retriever_that_was_not_scored_has_no_observed_value(make_graph):
    graph = make_graph()
    graph.run("sweep_ingest")
    check = checks(graph.run("sweep_report"))["hit_floor"]
    assert check.passed
    (row,) = rows(check)
    assert (row["status"], row["n"]) == ("inactive", 0)
    assert {"threshold", "observed", "low", "high"}.isdisjoint(row)  # a column of nothing is left out
    assert check.description == "- words: inactive: no floor is set; nothing was scored"
    assert "words/observed" not in check.metadata


# Floors of other slices.


def sliced(make_graph, slices, floors=None):
    """The hit floor's check of a sweep with floors on slices; hit is 2/3 overall, 1/2 in English, 1 in Portuguese."""
    graph = make_graph(gate={"floors": floors or {}, "slices": slices})
    result = graph.sweep()["sweep_report"]
    check = checks(result)["hit_floor"]
    assert result.success == check.passed
    return check


def statuses(check):
    return {row["slice"]: row["status"] for row in rows(check)}


def test_a_slice_with_a_floor_has_a_row_of_its_own_with_its_own_figure_n_and_interval(make_graph):
    check = sliced(make_graph, {"locale=en": {"hit": 0.5}})
    assert check.passed
    english, overall = rows(check)  # an active floor says more than an inactive one
    assert (overall["slice"], overall["status"], overall["observed"], overall["n"]) == ("overall", "inactive", 2 / 3, 3)
    assert (english["slice"], english["status"], english["observed"], english["n"]) == ("locale=en", "passed", 0.5, 2)
    assert english["threshold"] == 0.5
    # 1 of 2 at 95%: 1/2 -+ z * sqrt(1/8 + z2/16) / (1 + z2/2), z2 = 1.95996**2.
    assert (english["low"], english["high"]) == pytest.approx((0.09453, 0.90547), abs=5e-6)


def test_a_slice_below_its_floor_fails_the_check_although_the_whole_holds_and_stands_first_in_it(make_graph):
    slices = {"locale=en": {"hit": 0.51}, "locale=pt-BR": {"hit": 1.0}}
    check = sliced(make_graph, slices, floors={"hit": 0.5})
    assert (check.passed, check.severity, check.blocking) == (False, ERROR, True)
    assert statuses(check) == {"overall": "passed", "locale=en": "failed", "locale=pt-BR": "passed"}
    assert check.description.startswith("- words: locale=en: 0.01 below the floor 0.51: observed 0.5000, n 2, ")
    assert check.metadata["status"].value == "failed, passed"


def test_of_several_slices_below_their_floor_the_furthest_speaks_and_the_others_are_counted(make_graph):
    slices = {"locale=en": {"hit": 0.6}, "case_type=adversarial": {"hit": 0.9}}
    check = sliced(make_graph, slices, floors={"hit": 0.7})
    assert check.description.startswith("- words: case_type=adversarial: 0.9 below the floor 0.9: observed 0.0000, ")
    assert check.description.endswith(" (and 2 more slices)")
    assert set(statuses(check).values()) == {"failed"}


def test_the_figure_that_plots_is_that_of_the_whole(make_graph):
    check = sliced(make_graph, {"locale=en": {"hit": 0.5}})
    assert check.metadata["words/observed"].value == 2 / 3


def test_a_floor_of_a_slice_that_does_not_exist_is_inconclusive_and_fails_the_check(make_graph):
    check = sliced(make_graph, {"locale=fr": {"hit": 0.0}})
    assert not check.passed
    assert statuses(check) == {"overall": "inactive", "locale=fr": "inconclusive"}
    assert check.description == "- words: locale=fr: floor 0.0; no gold-bearing case is in this slice"


@pytest.mark.parametrize(
    ("min_n", "status"),
    [pytest.param(2, "passed", id="enough"), pytest.param(3, "inconclusive", id="one case short")],
)
def test_a_floor_over_fewer_cases_than_min_n_is_inconclusive_and_fails_the_check(make_graph, min_n, status):
    check = sliced(make_graph, {"locale=en": {"hit": 0.1, "min_n": min_n}})
    assert (check.passed, statuses(check)["locale=en"]) == (status == "passed", status)
    if not check.passed:
        said = "- words: locale=en: n 2 is below min_n 3, so the floor 0.1 says nothing: observed 0.5000, n 2, "
        assert check.description.startswith(said)


def test_a_floor_of_one_retriever_goes_before_that_for_all(make_graph):
    graph = make_graph(retrievers=TWO, gate={"floors": {"hit": 0.9}, "retrievers": {"words": {"floors": {"hit": 0.1}}}})
    check = checks(graph.sweep()["sweep_report"])["hit_floor"]
    assert {row["retriever"]: row["threshold"] for row in rows(check)} == {"words": 0.1, "everywhere": 0.9}


# The comparison with a baseline; what else it comes to is in `test_no_regression`.


def test_a_regression_that_is_shown_fails_the_check_and_names_figures_and_cases(make_graph, tmp_path):
    cases = [CASES[0] | {"case_id": f"c{number}"} for number in range(8)]
    graph = make_graph(cases=cases, baselines=tmp_path / "baselines")
    graph.sweep()
    scores = graph.frame("case_scores", "words")
    write_baseline(graph.settings.baselines, baseline(snapshot(graph.frame("case_set"), scores), "words", top_k=1))
    found = pl.int_range(pl.len()) >= 5
    worse = [pl.when(found).then(pl.col(name)).otherwise(0.0).alias(name) for name in METRICS]
    graph.replace_frame("case_scores", "words", scores.with_columns(*worse, pl.when(found).then("gold_rank")))
    result = graph.run("sweep_report")
    assert not result.success
    check = checks(result)["no_regression"]
    assert (check.severity, check.blocking, check.passed) == (ERROR, True, False)
    assert check.metadata["status"].value == "failed"
    # Five losses and no gain: p = 0.5 ** 5; the same in every slice and metric, so one test.
    assert check.description == (
        "- words: regressed: hit@1 1.0000 -> 0.3750 (5 lost, 0 gained of 8; p 0.0312, 0.0312 corrected), so are "
        "recall@1 and nDCG@1; lost: c0 (#1 -> MISS, now first: Apple), c1 (#1 -> MISS, now first: Apple), "
        "c2 (#1 -> MISS, now first: Apple) and 2 more (and 3 more slices)"
    )
    slices = ("overall", "case_type=golden", "locale=en", "case_type=golden,locale=en")
    assert {row["slice"]: (row["status"], row["n"]) for row in rows(check)} == dict.fromkeys(slices, ("failed", 8))
    assert "words/observed" not in check.metadata


def test_what_the_gate_stores_is_plain_data(make_graph):
    settings = {"floors": {"hit": 0.9, "recall": 0.1}, "slices": {"locale=en": {"hit": 0.1}}}
    for check in checks(make_graph(gate=settings).sweep()["sweep_report"]).values():
        assert type(check.passed) is bool
        cells = [value for row in rows(check) for value in row.values()]
        assert {type(value) for value in cells} <= {str, int, float, type(None)}
