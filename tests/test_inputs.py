import json
from pathlib import Path

import pytest

from recall_assets.inputs import read_inputs
from recall_assets.problems import InvalidInputError
from tests.conftest import CARDS, CASES, write_jsonl


def said(kb, cases):
    with pytest.raises(InvalidInputError) as caught:
        read_inputs(kb and Path(kb), Path(cases))
    return [str(problem) for problem in caught.value.problems]


def test_valid_input_comes_sorted_by_id(here):
    inputs = read_inputs(write_jsonl(Path("kb.jsonl"), CARDS[::-1]), write_jsonl(Path("cases.jsonl"), CASES[::-1]))
    assert [(card.card_id, card.locale) for card in inputs.cards] == [
        ("apple", "en"),
        ("apple", "pt-BR"),
        ("banana", "en"),
        ("carrot", "en"),
    ]
    assert [case.case_id for case in inputs.cases] == ["c1", "c2", "c3", "c4"]


def test_without_a_knowledge_base_labels_are_not_resolved(here):
    case = {**CASES[0], "must_cite_one_of": ["nowhere"]}
    inputs = read_inputs(None, write_jsonl(Path("cases.jsonl"), [case]))
    assert inputs.cards is None
    assert inputs.cases[0].must_cite_one_of == ("nowhere",)


def test_every_problem_of_every_file_is_reported_in_one_go_in_file_and_line_order(here):
    (here / "kb" / "en").mkdir(parents=True)
    Path("kb/en/apple.md").write_text("---\ntitle: Apple\n---\nred\n")
    Path("kb/en/banana.md").write_text("---\ntitel: Banana\n---\n")
    Path("kb/en/latin.md").write_bytes(b"---\ntitle: T\n---\ncaf\xe9")
    lines = [json.dumps(CARDS[2]), json.dumps(CARDS[2]), "{", json.dumps({**CARDS[2], "locale": "xx"})]
    Path("kb/more.jsonl").write_text("\n".join(lines))
    Path("cases").mkdir()
    write_jsonl(
        Path("cases/a.jsonl"),
        [CASES[0], {**CASES[1], "query": ""}, {**CASES[2], "must_cite_one_of": ["aple", "carrot", "carot"]}],
    )
    Path("cases/b.yaml").write_text("- case_id: c1\n  locale: en\n  case_type: golden\n  query: q\n"
                                    "  must_cite_one_of: apple\n")  # fmt: skip
    assert said("kb", "cases") == [
        "cases/a.jsonl:2: query is empty; write something or remove the record",
        'cases/a.jsonl:3: case "c3": gold id "aple" is no card of the knowledge base; did you mean "apple"?',
        'cases/a.jsonl:3: case "c3": gold id "carot" is no card of the knowledge base; did you mean "carrot"?',
        'cases/b.yaml:1: case_id "c1" is taken by cases/a.jsonl:1; give each case its own',
        'cases/b.yaml:5: must_cite_one_of is a string instead of a list; write ["apple"]',
        'kb/en/banana.md:1: missing field "title"',
        'kb/en/banana.md:2: unknown field "titel"; did you mean "title"?',
        "kb/en/banana.md:3: text is empty; write something or remove the record",
        "kb/en/latin.md:4: byte 0xe9 is not UTF-8; save the file as UTF-8",
        'kb/more.jsonl:2: card "carrot" has a second text for en; the first is at kb/more.jsonl:1',
        "kb/more.jsonl:3:2: not JSON: Expecting property name enclosed in double quotes at column 2",
        'kb/more.jsonl:4: unknown locale "xx"; write a BCP 47 tag such as en, es-419 or pt-BR',
    ]


def test_against_a_knowledge_base_without_a_readable_card_no_label_is_called_dangling(here):
    write_jsonl(Path("cases.jsonl"), CASES)
    assert said("none", "cases.jsonl") == ["none:1: no such file or folder"]


def test_missing_cards_and_missing_cases_are_both_reported(here):
    Path("kb").mkdir()
    assert said("kb", "cases") == [
        "cases:1: no such file or folder",
        "kb:1: the folder is empty; put cards in <locale>/<card_id>.md or a .jsonl file",
    ]


def test_ids_meet_whatever_form_they_are_written_in(here):
    write_jsonl(Path("kb.jsonl"), [{**CARDS[0], "card_id": " cafe\u0301"}, {**CARDS[0], "card_id": "007"}])
    Path("cases.yaml").write_text(
        "- {case_id: c, locale: en, case_type: golden, query: q, must_cite_one_of: [caf\u00e9, 007]}", encoding="utf-8"
    )
    assert read_inputs(Path("kb.jsonl"), Path("cases.yaml")).cases[0].must_cite_one_of == ("caf\u00e9", "007")


def test_ids_that_differ_in_case_or_in_leading_zeros_are_different_cards(here):
    write_jsonl(Path("kb.jsonl"), [{**CARDS[0], "card_id": "Card-7"}])
    write_jsonl(Path("cases.jsonl"), [{**CASES[0], "must_cite_one_of": ["card-7", "Card-07"]}])
    assert said("kb.jsonl", "cases.jsonl") == [
        'cases.jsonl:1: case "c1": gold id "Card-07" is no card of the knowledge base; did you mean "Card-7"?',
        'cases.jsonl:1: case "c1": gold id "card-7" is no card of the knowledge base; did you mean "Card-7"?',
    ]


def test_a_gold_card_that_is_there_with_a_fault_of_its_own_is_not_called_unknown(here):
    for folder in ("en", "zz1"):
        (here / "kb" / folder).mkdir(parents=True)
    Path("kb/en/apple.md").write_text("---\ntitle: Apple\n---\nred\n")
    Path("kb/en/broken.md").write_text("no front matter")
    Path("kb/zz1/elsewhere.md").write_text("---\ntitle: T\n---\ntext\n")
    write_jsonl(Path("kb/more.jsonl"), [{"card_id": "untitled", "locale": "en", "text": "x"}])
    gold = ["apple", "broken", "elsewhere", "untitled", "nowhere"]
    write_jsonl(Path("cases.jsonl"), [{**CASES[0], "must_cite_one_of": gold}])
    labels = [line for line in said("kb", "cases.jsonl") if line.startswith("cases")]
    assert labels == [
        'cases.jsonl:1: case "c1": gold id "nowhere" is no card of the knowledge base; correct it or add the card'
    ]


def test_a_case_with_a_fault_keeps_its_id_and_its_labels_in_the_checks(here):
    kb = write_jsonl(Path("kb.jsonl"), CARDS)
    write_jsonl(
        Path("cases.jsonl"),
        [{**CASES[0], "locale": "klingon", "must_cite_one_of": ["nowhere"]}, CASES[0]],
    )
    assert said(kb, "cases.jsonl") == [
        'cases.jsonl:1: case "c1": gold id "nowhere" is no card of the knowledge base; correct it or add the card',
        'cases.jsonl:1: unknown locale "klingon"; write a BCP 47 tag such as en, es-419 or pt-BR',
        'cases.jsonl:2: case_id "c1" is taken by cases.jsonl:1; give each case its own',
    ]
