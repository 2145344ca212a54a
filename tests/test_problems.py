from pathlib import Path

import pytest

from recall_assets.problems import InvalidInputError, Problem, whole_file


def test_a_problem_reads_file_line_and_what_with_the_column_where_it_is_known():
    assert str(Problem("kb/a.jsonl", 12, "what; how")) == "kb/a.jsonl:12: what; how"
    assert str(Problem("recall.yaml", 12, "what; how", 5)) == "recall.yaml:12:5: what; how"


def test_a_problem_of_a_whole_file_stands_at_its_first_line():
    assert str(whole_file(Path("kb/en"), "empty")) == "kb/en:1: empty"


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("a\nb", "a\\nb"),
        ("a\r\tb", "a\\r\\tb"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("\x7f\x85\x9b", "\\x7f\\x85\\x9b"),
        ("a\u2028b\u2029", "a\\u2028b\\u2029"),
        ("\ud800x\udfff", "\\ud800x\\udfff"),
        ("Maçã \U0001f600 \\n", "Maçã \U0001f600 \\n"),
    ],
    ids=["lf", "cr and tab", "escape", "c1", "separators", "surrogates", "printable"],
)
def test_a_problem_is_one_line_that_any_utf8_stream_can_take(raw, shown):
    problem = Problem(raw, 1, raw)
    assert str(problem) == f"{shown}:1: {shown}"
    str(problem).encode()


def test_the_error_holds_every_problem_in_file_and_line_order():
    error = InvalidInputError(
        [Problem("b", 2, "x"), Problem("a", 10, "x"), Problem("a", 9, "z", 7), Problem("a", 9, "y", None)]
    )
    assert str(error) == "a:9: y\na:9:7: z\na:10: x\nb:2: x"
    assert [problem.line for problem in error.problems] == [9, 9, 10, 2]
