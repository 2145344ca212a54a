import json

import dagster as dg
import pytest

from tests.conftest import CARDS, CASES
from tests.graph import checks, materialized

ERROR, WARN = dg.AssetCheckSeverity.ERROR, dg.AssetCheckSeverity.WARN


def changed(records, number, **fields):
    """The records with some fields of one of them changed."""
    return [record | fields if index == number else record for index, record in enumerate(records)]


def findings(evaluation):
    """The rows of a check's table of problems."""
    return [(row.data["where"].rpartition("/")[2], row.data["what"]) for row in evaluation.metadata["details"].records]


def test_valid_input_passes_every_check_and_says_how_much_was_read(make_graph):
    result = make_graph().run("sweep_ingest")
    assert result.success
    assert {name: (check.passed, check.severity, check.description) for name, check in checks(result).items()} == {
        "cards_valid": (True, ERROR, "4 card texts are valid"),
        "cases_valid": (True, ERROR, "4 cases are valid"),
        "gold_ids_resolve": (True, ERROR, "every gold and relevant id is a live card"),
        "locale_coverage": (True, WARN, "every gold-bearing case has a gold card with a text in its locale"),
    }


@pytest.mark.parametrize(
    ("cards", "where", "what"),
    [
        pytest.param([*CARDS, CARDS[0]], "cards.jsonl:5", 'card "apple" has a second text for en', id="duplicate"),
        pytest.param(changed(CARDS, 1, text=""), "cards.jsonl:2", "text", id="empty text"),
        pytest.param(changed(CARDS, 2, locale="zz-99"), "cards.jsonl:3", 'unknown locale "zz-99"', id="unknown locale"),
        pytest.param([], "cards.jsonl:1", "no card at all", id="no card at all"),
    ],
)
def test_an_invalid_card_fails_cards_valid_and_stops_everything_after_it(make_graph, cards, where, what):
    graph = make_graph(cards=cards)
    result = graph.run("sweep_ingest")
    assert not result.success
    assert materialized(result) == set()
    assert graph.stored() == set()
    (check,) = checks(result).values()
    assert (check.check_name, check.passed, check.severity, check.blocking) == ("cards_valid", False, ERROR, True)
    assert check.metadata["problems"].value == 1
    ((place, finding),) = findings(check)
    assert place == where
    assert what in finding
    assert finding in check.description


def test_every_problem_is_in_the_table_of_the_check_and_the_first_in_its_sentence(make_graph):
    cards = changed(changed(CARDS, 0, title=""), 3, locale="zz-99")
    check = checks(make_graph(cards=cards).run("sweep_ingest"))["cards_valid"]
    assert [place for place, _ in findings(check)] == ["cards.jsonl:1", "cards.jsonl:4"]
    assert check.description.startswith("2 problems, the first: ")
    assert "cards.jsonl:1: title" in check.description


@pytest.mark.parametrize(
    ("cases", "where", "what"),
    [
        pytest.param([*CASES, CASES[1]], "cases.jsonl:5", 'case_id "c2" is taken by', id="duplicate"),
        pytest.param(changed(CASES, 0, query=" "), "cases.jsonl:1", "query", id="empty query"),
        pytest.param(changed(CASES, 3, must_cite_one_of="apple"), "cases.jsonl:4", "must_cite_one_of", id="no list"),
        pytest.param([], "cases.jsonl:1", "no case at all", id="no case at all"),
    ],
)
def test_an_invalid_case_fails_cases_valid_and_no_case_is_written(make_graph, cases, where, what):
    graph = make_graph(cases=cases)
    result = graph.run("sweep_ingest")
    assert not result.success
    assert materialized(result) == {"kb_cards", "kb_chunks"}
    evaluated = checks(result)
    assert {name: check.passed for name, check in evaluated.items()} == {
        "cards_valid": True,
        "cases_valid": False,
        "gold_ids_resolve": False,
    }
    # Labels of a case that cannot be read are not known to resolve: the same problem, in both checks.
    for name in ("cases_valid", "gold_ids_resolve"):
        assert (evaluated[name].severity, evaluated[name].blocking) == (ERROR, True)
        ((place, finding),) = findings(evaluated[name])
        assert place == where
        assert what in finding


@pytest.mark.parametrize(
    ("cards", "cases", "finding"),
    [
        pytest.param(
            CARDS,
            changed(CASES, 1, must_cite_one_of=["bananas"]),
            'case "c2": gold id "bananas" is no card of the knowledge base; did you mean "banana"?',
            id="unknown gold",
        ),
        pytest.param(
            CARDS,
            changed(CASES, 1, relevant_ids=["banana", "carrots"]),
            'case "c2": relevant id "carrots" is no card of the knowledge base; did you mean "carrot"?',
            id="unknown relevant",
        ),
        pytest.param(
            changed(CARDS, 1, retired=True),
            CASES,
            'case "c2": gold id "banana" is retired; correct it or add the card',
            id="retired gold",
        ),
    ],
)
def test_a_label_that_is_no_live_card_fails_gold_ids_resolve_and_no_case_is_written(make_graph, cards, cases, finding):
    graph = make_graph(cards=cards, cases=cases)
    result = graph.run("sweep_ingest")
    assert not result.success
    assert graph.stored() == {"kb_cards", "kb_chunks"}
    check = checks(result)["gold_ids_resolve"]
    assert (check.passed, check.severity, check.blocking) == (False, ERROR, True)
    assert findings(check) == [("cases.jsonl:2", finding)]
    assert checks(result)["cases_valid"].passed


def test_labels_that_dangle_and_cases_that_cannot_be_read_are_reported_together(make_graph):
    cases = changed(changed(CASES, 1, must_cite_one_of=["bananas"]), 0, query="")
    evaluated = checks(make_graph(cases=cases).run("sweep_ingest"))
    assert [place for place, _ in findings(evaluated["cases_valid"])] == ["cases.jsonl:1"]
    assert {place for place, _ in findings(evaluated["gold_ids_resolve"])} == {"cases.jsonl:1", "cases.jsonl:2"}


def test_wrong_input_leaves_the_frames_of_the_last_good_input_in_place(make_graph):
    make_graph().run("sweep_ingest")
    broken = make_graph(cards=changed(CARDS, 0, text=""), cases=changed(CASES, 0, query=""))
    broken.run("sweep_ingest")
    assert broken.frame("kb_cards").height == 4
    assert broken.frame("case_set")["query"].to_list() == ["red fruit", "orange", "fruta", "granite"]


def test_a_case_whose_gold_has_no_text_in_its_locale_is_a_warning_that_stops_nothing(make_graph):
    cases = changed(CASES, 2, must_cite_one_of=["banana", "carrot"])
    result = make_graph(cases=cases).run("sweep_ingest")
    assert result.success
    check = checks(result)["locale_coverage"]
    assert (check.passed, check.severity, check.blocking) == (False, WARN, False)
    assert check.description == (
        "1 gold-bearing cases have no gold card with a text in their locale, the first: "
        "c3 (pt-BR; banana, carrot); a locale filter makes these misses"
    )
    assert check.metadata["uncovered"].value == 1
    assert [row.data for row in check.metadata["details"].records] == [
        {"case_id": "c3", "locale": "pt-BR", "gold": "banana, carrot"}
    ]


def test_locale_coverage_shows_the_number_of_cases_of_each_type_in_each_locale(make_graph):
    table = checks(make_graph().run("sweep_ingest"))["locale_coverage"].metadata["cases"]
    assert isinstance(table, dg.MarkdownMetadataValue)
    assert table.value.splitlines()[2:] == [
        "| en | adversarial | 1 | 0 |",
        "| en | golden | 1 | 0 |",
        "| en | no_match | 0 | 1 |",
        "| pt-BR | golden | 1 | 0 |",
    ]


def test_what_the_checks_store_is_plain_data(make_graph):
    cases = changed(CASES, 2, must_cite_one_of=["banana"])
    for check in checks(make_graph(cases=cases).run("sweep_ingest")).values():
        assert type(check.passed) is bool
        for value in check.metadata.values():
            rows = [row.data for row in value.records] if isinstance(value, dg.TableMetadataValue) else value.value
            assert json.loads(json.dumps(rows)) == rows
