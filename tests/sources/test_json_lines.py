import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall_assets.sources.json_lines import parse_json_lines


def parsed(text):
    problems = []
    records = [(record.origin.line, record.values) for record in parse_json_lines(text, "f.jsonl", problems)]
    return records, [str(problem) for problem in problems]


def test_each_line_is_an_object_and_keeps_its_line_number():
    assert parsed('{"a": 1}\n\n  \t\n{"b": "x"}\n') == ([(1, {"a": 1}), (4, {"b": "x"})], [])


def test_a_line_separator_inside_a_string_does_not_end_the_line():
    assert parsed('{"a": "x\u2028y\u2029z\x85"}\n{"b": 2}') == ([(1, {"a": "x\u2028y\u2029z\x85"}), (2, {"b": 2})], [])


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"a": 1', "f.jsonl:1:8: not JSON: Expecting ',' delimiter at column 8"),
        ("{'a': 1}", "f.jsonl:1:2: not JSON: Expecting property name enclosed in double quotes at column 2"),
        ('{"a": 1} {"b": 2}', "f.jsonl:1:10: not JSON: Extra data at column 10"),
        ('{"a": "x\ty"}', "f.jsonl:1:9: not JSON: Invalid control character at at column 9"),
        ("# remark", "f.jsonl:1:1: not JSON: Expecting value at column 1"),
        ("[1]", "f.jsonl:1: a list instead of an object {...}"),
        ('"x"', "f.jsonl:1: a string instead of an object {...}"),
        ("7", "f.jsonl:1: a number instead of an object {...}"),
        ("1.5", "f.jsonl:1: a number instead of an object {...}"),
        ("true", "f.jsonl:1: true or false instead of an object {...}"),
        ("null", "f.jsonl:1: null instead of an object {...}"),
        ('{"a": 1, "a": 2}', 'f.jsonl:1: not usable JSON: the key "a" stands twice; keep one'),
        ('{"a": {"b": 1, "b": 2}}', 'f.jsonl:1: not usable JSON: the key "b" stands twice; keep one'),
        ('{"a": NaN}', "f.jsonl:1: not usable JSON: NaN is not JSON; write a number or leave the field out"),
        (
            '{"a": -Infinity}',
            "f.jsonl:1: not usable JSON: -Infinity is not JSON; write a number or leave the field out",
        ),
        ('{"a": ' + "7" * 5000 + "}", "f.jsonl:1: not usable JSON: a number of 5000 digits; write ids in quotes"),
        ('{"a": ' + "[" * 100_000, "f.jsonl:1: not usable JSON: nested too deeply; write one flat object a line"),
    ],
)
def test_a_line_that_is_no_usable_object_is_a_problem(line, message):
    assert parsed(line) == ([], [message])


def test_a_bad_line_costs_no_other_line():
    records, problems = parsed('{"a": 1}\nnot json\n{"b": 2}\n[]\n{"c": 3}')
    assert records == [(1, {"a": 1}), (3, {"b": 2}), (5, {"c": 3})]
    assert problems == [
        "f.jsonl:2:1: not JSON: Expecting value at column 1",
        "f.jsonl:4: a list instead of an object {...}",
    ]


def test_a_key_that_would_break_the_message_is_shown_escaped_on_one_line():
    assert parsed('{"a\\n\\u001b[31m\\ud800": 1, "a\\n\\u001b[31m\\ud800": 2}')[1] == [
        'f.jsonl:1: not usable JSON: the key "a\\n\\x1b[31m\\ud800" stands twice; keep one'
    ]


def test_huge_numbers_that_python_can_hold_are_kept():
    assert parsed('{"a": ' + "9" * 400 + ', "b": 1e999}') == ([(1, {"a": int("9" * 400), "b": float("inf")})], [])


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.lists(st.dictionaries(st.text(), _JSON, max_size=4), max_size=5))
def test_whatever_json_writes_one_object_a_line_is_read_back(objects):
    text = "\n".join(json.dumps(value, ensure_ascii=False) for value in objects)
    assert parsed(text) == ([(line, value) for line, value in enumerate(objects, start=1)], [])


_PIECES = st.sampled_from(
    [
        '{"a":',
        "}",
        "[",
        "]",
        '"x"',
        '"\\ud800"',
        '"\\',
        ",",
        ":",
        "1",
        "-",
        "1e9999",
        "NaN",
        "\n",
        "\r",
        "\ufeff",
        "\0",
        "é",
    ]
)


@given(st.text(max_size=60) | st.lists(_PIECES, max_size=25).map("".join))
def test_any_text_gives_a_record_or_a_problem_for_each_line_with_something_on_it(text):
    problems = []
    records = list(parse_json_lines(text, "f.jsonl", problems))
    found = sorted([record.origin.line for record in records] + [problem.line for problem in problems])
    assert found == [number for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
    for problem in problems:
        assert len(str(problem).encode().splitlines()) == 1
