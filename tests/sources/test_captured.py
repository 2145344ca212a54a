import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recall_assets.records import Retrieved
from recall_assets.sources.captured import read_captured_run


def read(*lines):
    Path("run.jsonl").write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines))
    run, problems = read_captured_run(Path("run.jsonl"))
    return run, [str(problem) for problem in problems]


def test_items_are_ids_or_objects_and_keep_the_order_of_the_run_whatever_their_scores(here):
    items = ["z", {"chunk_id": "b#1", "parent_id": "b", "score": 0.1}, {"chunk_id": "a", "score": 9}, "z"]
    assert read({"case_id": "c2", "retrieved": items}, {"case_id": "c1", "retrieved": []}) == (
        {"c2": (Retrieved("z"), Retrieved("b#1", "b", 0.1), Retrieved("a", None, 9.0), Retrieved("z")), "c1": ()},
        [],
    )
    assert list(read_captured_run(Path("run.jsonl"))[0]) == ["c2", "c1"]


def test_ids_are_trimmed_and_in_nfc_and_digits_stay_a_string(here):
    items = [" 007 ", {"chunk_id": "cafe\u0301#0", "parent_id": " cafe\u0301"}]
    assert read({"case_id": " 01", "retrieved": items}) == (
        {"01": (Retrieved("007"), Retrieved("caf\u00e9#0", "caf\u00e9"))},
        [],
    )


def test_parent_and_score_may_be_null(here):
    assert read({"case_id": "c", "retrieved": [{"chunk_id": "a", "parent_id": None, "score": None}]}) == (
        {"c": (Retrieved("a"),)},
        [],
    )


def test_byte_order_mark_crlf_and_blank_lines_are_accepted(here):
    Path("run.jsonl").write_bytes(
        b'\xef\xbb\xbf{"case_id": "c", "retrieved": ["a"]}\r\n\r\n{"case_id": "d", "retrieved": []}\r\n'
    )
    assert read_captured_run(Path("run.jsonl")) == ({"c": (Retrieved("a"),), "d": ()}, [])


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({"retrieved": []}, 'missing field "case_id"'),
        ({"case_id": "c"}, 'missing field "retrieved"; write [] for an empty result, no line for a failed retrieval'),
        ({"case_id": "c", "retrieved": None}, "retrieved is null instead of a list; write [] for an empty result"),
        ({"case_id": "c", "retrieved": "a"}, "retrieved is a string instead of a list; write [] for an empty result"),
        ({"case_id": 7, "retrieved": []}, "case_id is a number; write a string in quotes"),
        ({"case_id": "", "retrieved": []}, "case_id is empty; write something or remove the record"),
        ({"case_id": "c", "retreived": [], "retrieved": []}, 'unknown field "retreived"; did you mean "retrieved"?'),
        ('{"case_id": "c", "retrieved": [NaN]}', "not usable JSON: NaN is not JSON; write a number or leave the field"
         " out"),
        ("[]", "a list instead of an object {...}"),
    ],
)  # fmt: skip
def test_a_line_that_is_no_result_is_a_problem(here, line, message):
    assert read(line) == ({}, [f"run.jsonl:1: {message}"])


@pytest.mark.parametrize(
    ("item", "message"),
    [
        (7, 'retrieved[1] is a number; write an id in quotes or {"chunk_id": ...}'),
        (None, 'retrieved[1] is null; write an id in quotes or {"chunk_id": ...}'),
        (["b"], 'retrieved[1] is a list; write an id in quotes or {"chunk_id": ...}'),
        (" ", "retrieved[1] is empty; remove it or write an id"),
        ("\udc00", "retrieved holds half of a surrogate pair; write the whole character"),
        ({}, 'retrieved[1]: missing field "chunk_id"'),
        ({"parent_id": "b"}, 'retrieved[1]: missing field "chunk_id"'),
        ({"chunk_id": 7}, "retrieved[1]: chunk_id is a number; write a string in quotes"),
        ({"chunk_id": "b", "parent_id": ""}, "retrieved[1]: parent_id is empty; write something or remove the record"),
        ({"chunk_id": "b", "parent_id": 7}, "retrieved[1]: parent_id is a number; write a string in quotes"),
        ({"chunk_id": "b", "scores": 1}, 'retrieved[1]: unknown field "scores"; did you mean "score"?'),
        ({"chunk_id": "b", "score": "1"}, "retrieved[1]: score is a string; write a number or leave it out"),
        ({"chunk_id": "b", "score": True}, "retrieved[1]: score is true or false; write a number or leave it out"),
        ({"chunk_id": "b", "score": 10**400}, "retrieved[1]: score is too large for a number; leave it out"),
    ],
)
def test_an_item_that_is_no_id_and_no_object_with_one_is_a_problem_and_the_line_is_not_used(here, item, message):
    assert read({"case_id": "c", "retrieved": ["a", item]}) == ({}, [f"run.jsonl:1: {message}"])


def test_a_score_beyond_the_floats_is_a_problem_also_where_json_writes_it_with_an_exponent(here):
    line = '{"case_id": "c", "retrieved": [{"chunk_id": "b", "score": -1e999}]}'
    assert read(line) == ({}, ["run.jsonl:1: retrieved[0]: score is too large for a number; leave it out"])


def test_every_bad_item_and_every_bad_line_is_reported(here):
    lines = [{"case_id": "c", "retrieved": [1, "ok", 2]}, "nonsense", {"case_id": "d", "retrieved": ["ok"]}]
    assert read(*lines) == (
        {"d": (Retrieved("ok"),)},
        [
            'run.jsonl:1: retrieved[0] is a number; write an id in quotes or {"chunk_id": ...}',
            'run.jsonl:1: retrieved[2] is a number; write an id in quotes or {"chunk_id": ...}',
            "run.jsonl:2:1: not JSON: Expecting value at column 1",
        ],
    )


def test_a_second_result_for_a_case_is_a_problem_and_does_not_replace_the_first(here):
    lines = [
        {"case_id": "c", "retrieved": ["a"]},
        {"case_id": "d", "retrieved": []},
        {"case_id": " c", "retrieved": []},
    ]
    assert read(*lines) == (
        {"c": (Retrieved("a"),), "d": ()},
        ['run.jsonl:3: case "c" already has a result at run.jsonl:1; keep one'],
    )


def test_a_run_may_be_a_folder_of_files(here):
    Path("run").mkdir()
    Path("run/a.jsonl").write_text('{"case_id": "c", "retrieved": ["a"]}')
    Path("run/b.jsonl").write_text('{"case_id": "c", "retrieved": ["b"]}')
    run, problems = read_captured_run(Path("run"))
    assert run == {"c": (Retrieved("a"),)}
    assert [str(problem) for problem in problems] == [
        'run/b.jsonl:1: case "c" already has a result at run/a.jsonl:1; keep one'
    ]


@pytest.mark.parametrize("content", ["", "\n \n"])
def test_a_run_without_any_result_is_a_problem(here, content):
    assert read(content) == ({}, ["run.jsonl:1: no result at all; write one object a line"])


def test_a_run_that_does_not_exist_is_a_problem(here):
    run, problems = read_captured_run(Path("none.jsonl"))
    assert run == {}
    assert [str(problem) for problem in problems] == ["none.jsonl:1: no such file or folder"]


_ITEM = st.one_of(
    st.text(max_size=3),
    st.dictionaries(
        st.sampled_from(["chunk_id", "parent_id", "score", "x"]), st.none() | st.integers() | st.text(max_size=2)
    ),
    st.none() | st.booleans() | st.integers() | st.floats(),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(_ITEM, max_size=3) | _ITEM, min_size=1, max_size=4))
def test_any_results_are_read_or_a_problem_at_their_line(tmp_path, results):
    path = tmp_path / "run.jsonl"
    path.write_text("\n".join(json.dumps({"case_id": str(n), "retrieved": r}) for n, r in enumerate(results, start=1)))
    run, problems = read_captured_run(path)
    assert {problem.line for problem in problems}.isdisjoint(map(int, run))
    assert {problem.line for problem in problems} | set(map(int, run)) == set(range(1, len(results) + 1))
