from tests.conftest import CASES
from tests.graph import metadata


def test_case_set_holds_every_case_sorted_by_id_and_says_how_many_have_gold(make_graph):
    cases = [CASES[3], CASES[0] | {"relevant_ids": ["apple", "banana"], "tags": ["critical"]}]
    graph = make_graph(cases=cases)
    shown = metadata(graph.run("sweep_ingest"), "case_set")
    assert (shown["dagster/row_count"], shown["gold_bearing"]) == (2, 1)
    assert shown["source"] == str(graph.settings.cases)
    assert graph.frame("case_set").rows() == [
        ("c1", "en", "golden", "red fruit", ["apple"], ["apple", "banana"], ["critical"]),
        ("c4", "en", "no_match", "granite", [], None, []),
    ]


def test_ids_and_locales_are_stored_in_canonical_form(make_graph):
    case = CASES[2] | {"case_id": " 007 ", "locale": "pt_br", "must_cite_one_of": ["apple "]}
    graph = make_graph(cases=[case])
    graph.run("sweep_ingest")
    assert graph.frame("case_set").select("case_id", "locale", "must_cite_one_of").rows() == [
        ("007", "pt-BR", ["apple"])
    ]
