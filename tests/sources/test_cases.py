import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recall_assets.records import Card, Case, Origin
from recall_assets.sources.cases import read_cases, unresolved_labels
from tests.conftest import write_jsonl

YAML_CASE = "- case_id: {}\n  locale: en\n  case_type: golden\n  query: q\n  must_cite_one_of: [a]\n"


def said(path="cases.yaml"):
    return [str(problem) for problem in read_cases(Path(path))[1]]


def case(**changes):
    return {"case_id": "c", "locale": "en", "case_type": "golden", "query": "q", "must_cite_one_of": ["a"]} | changes


def test_a_yaml_case_has_every_field_and_knows_its_line(here):
    Path("cases.yaml").write_text(
        "# the team's cases\n"
        "- case_id: c1\n"
        "  locale: pt_br\n"
        "  case_type: mixed-case_2.0\n"
        "  query: |\n"
        "    two\n"
        "    lines\n"
        "  must_cite_one_of: [a, b, a]\n"
        "  relevant_ids:\n"
        "    - a\n"
        "    - c\n"
        "  tags: [critical]\n"
        "- {case_id: c0, locale: EN, case_type: no_match, query: 'x: y', must_cite_one_of: []}\n"
    )
    cases, problems = read_cases(Path("cases.yaml"))
    assert problems == []
    assert cases == [
        Case("c0", "en", "no_match", "x: y", ()),
        Case("c1", "pt-BR", "mixed-case_2.0", "two\nlines\n", ("a", "b"), ("a", "c"), ("critical",)),
    ]
    assert [found.origin for found in cases] == [Origin("cases.yaml", 13), Origin("cases.yaml", 2)]


def test_in_yaml_an_id_of_digits_and_the_locale_no_stay_what_was_written(here):
    Path("cases.yaml").write_text(
        "- {case_id: 007, locale: no, case_type: yes, query: 1e3, must_cite_one_of: [007, 0o7, 1.50, on],"
        " tags: [2024-01-02]}\n"
    )
    assert read_cases(Path("cases.yaml")) == (
        [Case("007", "no", "yes", "1e3", ("007", "0o7", "1.50", "on"), None, ("2024-01-02",))],
        [],
    )


def test_in_json_lines_an_id_of_digits_stays_a_string_and_a_number_is_a_problem(here):
    write_jsonl(Path("cases.jsonl"), [case(case_id="007", must_cite_one_of=["007", "7"]), case(case_id=7)])
    cases, problems = read_cases(Path("cases.jsonl"))
    assert [(found.case_id, found.must_cite_one_of) for found in cases] == [("007", ("007", "7"))]
    assert [str(problem) for problem in problems] == ["cases.jsonl:2: case_id is a number; write a string in quotes"]


def test_ids_are_trimmed_and_in_nfc_and_a_query_is_kept_as_written(here):
    write_jsonl(Path("c.jsonl"), [case(case_id=" x ", query=" cafe\u0301\u2028 ", must_cite_one_of=["cafe\u0301 "])])
    assert read_cases(Path("c.jsonl")) == ([Case("x", "en", "golden", " cafe\u0301\u2028 ", ("caf\u00e9",))], [])


@pytest.mark.parametrize("name", ["c.jsonl", "c.yaml"])
def test_byte_order_mark_crlf_and_line_separators_are_read_alike_in_both_forms(here, name):
    line = json.dumps(case(query="a\u2028b"), ensure_ascii=False)
    other = json.dumps(case(case_id="d"))
    text = f"{line}\r\n{other}\r\n" if name == "c.jsonl" else f"- {line}\r\n- {other}\r\n"
    Path(name).write_bytes(b"\xef\xbb\xbf" + text.encode())
    cases, problems = read_cases(Path(name))
    assert problems == []
    assert [(found.case_id, found.query, found.origin.line) for found in cases] == [("c", "a\u2028b", 1), ("d", "q", 2)]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"case_id": " "}, "case_id is empty; write something or remove the record"),
        ({"query": ""}, "query is empty; write something or remove the record"),
        ({"query": 7}, "query is a number; write a string in quotes"),
        ({"locale": "xx-YY"}, 'unknown locale "xx-YY"; write a BCP 47 tag such as en, es-419 or pt-BR'),
        ({"locale": "pt-ZZZ"}, 'unknown locale "pt-ZZZ"; write a BCP 47 tag such as en, es-419 or pt-BR'),
        ({"case_type": "two words"}, 'case_type "two words" is not one word; use letters, digits, "_", "-" and "."'),
        ({"case_type": "a,b=c"}, 'case_type "a,b=c" is not one word; use letters, digits, "_", "-" and "."'),
        ({"case_type": ""}, "case_type is empty; write something or remove the record"),
        ({"must_cite_one_of": "a"}, 'must_cite_one_of is a string instead of a list; write ["a"]'),
        ({"must_cite_one_of": None}, "must_cite_one_of is null instead of a list; write [...], or [] for none"),
        ({"must_cite_one_of": ["a", 7]}, "must_cite_one_of[1] is a number; write the id as a string in quotes"),
        ({"must_cite_one_of": [""]}, "must_cite_one_of[0] is empty; remove it or write an id"),
        ({"relevant_ids": []}, "relevant_ids is empty; leave the field out or name at least one id"),
        ({"relevant_ids": "a"}, 'relevant_ids is a string instead of a list; write ["a"]'),
        ({"tags": {}}, "tags is an object instead of a list; write [...], or [] for none"),
        ({"must_cite": ["a"]}, 'unknown field "must_cite"; did you mean "must_cite_one_of"?'),
    ],
)
def test_each_wrong_field_of_a_case_is_a_problem(here, changes, message):
    write_jsonl(Path("cases.jsonl"), [case(case_id="fine"), case(**changes)])
    cases, problems = read_cases(Path("cases.jsonl"))
    assert [found.case_id for found in cases] == ["fine"]
    assert [str(problem) for problem in problems] == [f"cases.jsonl:2: {message}"]


def test_each_missing_field_of_a_case_is_a_problem_and_gold_must_be_said_to_be_none(here):
    write_jsonl(Path("cases.jsonl"), [{}])
    assert said("cases.jsonl") == [
        'cases.jsonl:1: missing field "case_id"',
        'cases.jsonl:1: missing field "locale"',
        'cases.jsonl:1: missing field "case_type"',
        'cases.jsonl:1: missing field "query"',
        'cases.jsonl:1: missing field "must_cite_one_of"; write [] if there is none',
    ]


def test_in_yaml_each_problem_stands_at_the_line_of_its_field(here):
    Path("cases.yaml").write_text(
        "- case_id: c1\n"
        "  locale: xx\n"
        "  case_type: golden\n"
        "  query:\n"
        "  must_cite_one_of: a\n"
        "  extra: 1\n"
        "- just text\n"
        "-\n"
        "- [c2]\n"
    )
    assert said() == [
        'cases.yaml:6: unknown field "extra"; known fields: case_id, locale, case_type, query, must_cite_one_of, '
        "relevant_ids, tags",
        'cases.yaml:2: unknown locale "xx"; write a BCP 47 tag such as en, es-419 or pt-BR',
        "cases.yaml:4: query is empty; write a value",
        'cases.yaml:5: must_cite_one_of is a string instead of a list; write ["a"]',
        "cases.yaml:7: case 2 is a string instead of fields",
        "cases.yaml:8: case 3 is null instead of fields",
        "cases.yaml:9: case 4 is a list instead of fields",
    ]


def test_a_repeated_key_in_one_yaml_case_does_not_hide_the_problems_of_the_others(here):
    text = YAML_CASE.format("c1") + "  query: other\n" + YAML_CASE.format("''") + YAML_CASE.format("c3")
    Path("cases.yaml").write_text(text)
    assert said() == [
        'cases.yaml:6:3: the key "query" stands twice; keep one',
        "cases.yaml:7: case_id is empty; write something or remove the record",
    ]
    assert [found.case_id for found in read_cases(Path("cases.yaml"))[0]] == ["c3"]


def test_a_case_id_that_is_taken_is_a_problem_also_across_files_and_spellings(here):
    Path("cases").mkdir()
    Path("cases/a.yaml").write_text(YAML_CASE.format("c1") + YAML_CASE.format("caf\u00e9"))
    write_jsonl(Path("cases/b.jsonl"), [case(case_id="C1"), case(case_id="cafe\u0301"), case(case_id="c1 ")])
    assert said("cases") == [
        'cases/b.jsonl:2: case_id "caf\u00e9" is taken by cases/a.yaml:6; give each case its own',
        'cases/b.jsonl:3: case_id "c1" is taken by cases/a.yaml:1; give each case its own',
    ]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("cases.yaml", None, "cases.yaml:1: no such file or folder"),
        ("cases.yaml", "", "cases.yaml:1: no case at all in this file"),
        ("cases.yaml", "[]", "cases.yaml:1: no case at all in this file"),
        ("cases.jsonl", "\n", "cases.jsonl:1: no case at all in this file"),
        ("cases/a.yml", "# none yet", "cases/a.yml:1: no case at all in this file"),
        ("cases/README.md", "x", "cases:1: the folder holds no .jsonl, .yaml, .yml file"),
        ("cases.yaml", "cases:\n- x", "cases.yaml:1: expected a list of cases, each starting with `- case_id:`"),
        ("cases.yaml", "# hi\n\nword", "cases.yaml:3: expected a list of cases, each starting with `- case_id:`"),
        ("cases.yaml", "- a: 'x\n", "cases.yaml:2:1: not YAML: while scanning a quoted scalar, found unexpected end of"
         " stream"),
        ("cases.yaml", "[" * 900, "cases.yaml:1:901: not YAML: while parsing a flow node, did not find expected node"
         " content"),
        ("cases.jsonl", "x", "cases.jsonl:1:1: not JSON: Expecting value at column 1"),
    ],
)  # fmt: skip
def test_a_case_set_without_a_case_is_a_problem(here, name, content, message):
    if content is not None:
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(content)
    assert said(name.partition("/")[0]) == [message]


CARDS = [
    Card("refund", "en", "T", "x"),
    Card("transfer", "en", "T", "x", retired=True),
    Card("transfer", "pt-BR", "T", "x"),
    Card("fees", "en", "T", "x", retired=True),
]


def labels(gold=(), relevant=None, line=4):
    return Case("c", "en", "golden", "q", gold, relevant, origin=Origin("c.jsonl", line))


def test_an_id_is_live_if_any_locale_of_the_card_is():
    assert unresolved_labels([labels(("refund", "transfer"), ("transfer",)), labels()], CARDS) == []


@pytest.mark.parametrize(
    ("case", "message"),
    [
        (labels(("refnud",)), 'case "c": gold id "refnud" is no card of the knowledge base; did you mean "refund"?'),
        (labels(("Refund",)), 'case "c": gold id "Refund" is no card of the knowledge base; did you mean "refund"?'),
        (labels(("zz",)), 'case "c": gold id "zz" is no card of the knowledge base; correct it or add the card'),
        (labels(("fees",)), 'case "c": gold id "fees" is retired; correct it or add the card'),
        (
            labels(("refund",), ("transfers",)),
            'case "c": relevant id "transfers" is no card of the knowledge base; did you mean "transfer"?',
        ),
    ],
    ids=["misspelt", "other case", "unlike any", "retired", "relevant"],
)
def test_a_label_that_is_no_live_card_is_a_problem_with_the_nearest_id(case, message):
    assert [str(problem) for problem in unresolved_labels([case], CARDS)] == [f"c.jsonl:4: {message}"]


def test_every_unresolved_label_of_every_case_is_reported():
    problems = unresolved_labels([labels(("q1", "refund", "q2"), ("q3",)), labels(("q4",), line=9)], CARDS)
    assert [(problem.line, problem.what.split('"')[3]) for problem in problems] == [
        (4, "q1"),
        (4, "q2"),
        (4, "q3"),
        (9, "q4"),
    ]


_WORDS = st.text(st.sampled_from("aé7 -:'{,"), max_size=4)
_VALUES = st.one_of(st.none(), st.booleans(), st.integers(), _WORDS, st.lists(_WORDS, max_size=2), st.just("en"))
_NAMES = st.sampled_from(["case_id", "locale", "case_type", "query", "must_cite_one_of", "relevant_ids", "tags", "x"])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.dictionaries(_NAMES, _VALUES), max_size=3), st.sampled_from([".jsonl", ".yaml"]))
def test_any_records_become_cases_or_problems_with_their_line(tmp_path, records, suffix):
    lines = [json.dumps(record, ensure_ascii=False) for record in records]
    path = tmp_path / f"cases{suffix}"
    path.write_text("".join(f"{line}\n" if suffix == ".jsonl" else f"- {line}\n" for line in lines))
    cases, problems = read_cases(path)
    places = {found.origin.line for found in cases} | {problem.line for problem in problems}
    assert places == set(range(1, max(len(records), 1) + 1))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=80) | st.text(max_size=80).map(str.encode), st.sampled_from([".yaml", ".jsonl"]))
def test_any_bytes_are_cases_or_a_problem_with_a_line_of_the_file(tmp_path, data, suffix):
    path = tmp_path / f"cases{suffix}"
    path.write_bytes(data)
    cases, problems = read_cases(path)
    assert cases == []
    assert problems
    assert all(problem.file == str(path) and 1 <= problem.line <= data.count(b"\n") + 1 for problem in problems)
