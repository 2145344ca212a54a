import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from recall_assets.sources import yaml_nodes
from recall_assets.sources.yaml_nodes import parse_yaml


def parsed(text, **options):
    problems = []
    document = parse_yaml(text, "f.yaml", problems, **options)
    return document and document.value, [str(problem) for problem in problems]


def test_keys_and_items_know_their_line_and_column():
    document = parse_yaml("a:\n  - x\n  - b: 1\n    c: [p, q]\n", "f.yaml", [])
    assert document.value == {"a": ["x", {"b": 1, "c": ["p", "q"]}]}
    assert document.positions == {
        (): (1, 1),
        ("a",): (1, 1),
        ("a", 0): (2, 5),
        ("a", 1): (3, 5),
        ("a", 1, "b"): (3, 5),
        ("a", 1, "c"): (4, 5),
        ("a", 1, "c", 0): (4, 9),
        ("a", 1, "c", 1): (4, 12),
    }


def test_positions_count_from_where_the_text_stands_in_its_file():
    document = parse_yaml("a: 1", "f.yaml", [], first_line=7)
    assert document.positions["a",] == (7, 1)
    assert parsed("a: [", first_line=7)[1][0].startswith("f.yaml:7:")


def test_as_text_every_scalar_keeps_its_spelling():
    text = "[007, 1e3, 0x1F, 1:30, no, Yes, 2024-01-02, .nan, '~', 1_000, -0.10]"
    assert parsed(text, scalars_as_text=True) == (
        ["007", "1e3", "0x1F", "1:30", "no", "Yes", "2024-01-02", ".nan", "~", "1_000", "-0.10"],
        [],
    )


def test_as_text_null_is_none_and_a_quoted_one_is_a_word():
    assert parsed("[null, ~, '', 'null']", scalars_as_text=True)[0] == [None, None, "", "null"]


def test_as_values_scalars_have_their_types_and_keys_stay_words():
    assert parsed("{1: 5, no: true, null: 0.5, x: ~, y: -3, z: 0}")[0] == {
        "1": 5,
        "no": True,
        "null": 0.5,
        "x": None,
        "y": -3,
        "z": 0,
    }


@pytest.mark.parametrize("text", ["", "\n\n", "# only a remark\n", "---\n"])
def test_an_empty_document_is_no_problem(text):
    assert parsed(text) == (None, [])


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\x85", "\r"])
def test_only_lf_ends_a_line(separator):
    text = f"- 'x{separator}y'\n- z\n"
    document = parse_yaml(text, "f.yaml", [])
    assert document.value == [f"x{separator}y", "z"]
    assert document.positions[1,] == (2, 3)


@pytest.mark.parametrize("character", ["\uf8e0", "\ue000", "\ufffd", "\U000f0000", "\U0001f600"])
def test_private_use_and_astral_characters_are_kept(character):
    assert parsed(f"a{character}: b{character}") == ({f"a{character}": f"b{character}"}, [])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: b: c", "f.yaml:1:5: not YAML: mapping values are not allowed in this context"),
        ("x:\n\t- y", "f.yaml:2:1: not YAML: while scanning for the next token, found character that cannot start"
         " any token"),
        ("a: 'x", "f.yaml:1:6: not YAML: while scanning a quoted scalar, found unexpected end of stream"),
        ("a: 1\n---\nb: 2", "f.yaml:2:1: not YAML: expected a single document in the stream, but found another"
         " document"),
        ("a: *x", "f.yaml:1:4: not YAML: found undefined alias"),
        ('a: "\\ud800"', "f.yaml:1:7: not YAML: while parsing a quoted scalar, found invalid Unicode character escape"
         " code"),
        ("a: 1\nb: \x07", "f.yaml:2: not YAML: control character U+0007; remove it"),
        ("é: é\n\nb: \0", "f.yaml:3: not YAML: control character U+0000; remove it"),
        ("? [a]\n: b", "f.yaml:1:3: a key must be a plain word"),
        ("[" * 5000, "f.yaml:1:1001: not YAML: while increasing flow level, exceeded maximum nesting depth"),
    ],
    ids=["colon", "tab", "quote", "two documents", "alias", "surrogate", "bell", "null byte", "key", "deep"],
)  # fmt: skip
def test_what_is_not_yaml_is_one_problem_at_its_place(text, message):
    assert parsed(text) == (None, [message])


def test_a_control_character_is_found_by_line_also_after_letters_of_several_bytes():
    assert parsed("é" * 60 + ": 1\nb: 2\nc: \x07\nd: 3\ne: 4")[1] == [
        "f.yaml:3: not YAML: control character U+0007; remove it"
    ]


@pytest.mark.parametrize("text", ["[" * 900 + "]" * 900, "{a: " * 900 + "}" * 900, "- " * 900])
def test_a_deeply_nested_document_is_a_problem_and_no_crash(text):
    said = parsed(text)[1]
    assert len(said) == 1
    assert said[0].endswith(": nested too deeply; write it flat")


def test_a_deeply_nested_document_is_a_problem_also_for_the_parser_in_python(monkeypatch):
    monkeypatch.setattr(yaml_nodes, "_Loader", yaml.SafeLoader)
    assert parsed("[" * 5000 + "]" * 5000) == (None, ["f.yaml:1: not YAML: nested too deeply; write it flat"])


@pytest.mark.parametrize(
    ("scalar", "kind"),
    [
        ("010", "int"), ("1:30", "int"), ("0x1F", "int"), ("1_000", "int"), ("1_0.5", "float"), ("!!int ''", "int"),
        ("!!int '+'", "int"), ("!!float ''", "float"), ("!!bool maybe", "bool"), ("!!timestamp soon", "timestamp"),
        ("2024-13-45", "timestamp"), ("!!binary é", "binary"), ("!secret x", "!secret"), ("<<", "merge"),
        ("!!python/name:os.system x", "os.system"), ("9" * 5000, "int"),
    ],
)  # fmt: skip
def test_a_value_that_is_not_what_it_looks_like_is_a_problem(scalar, kind):
    assert parsed(f"a: {scalar}")[1] == [f"f.yaml:1:4: cannot be read as {kind}; write it plainly or put it in quotes"]


def test_a_repeated_key_an_alias_and_a_complex_key_are_all_reported_and_mark_their_top_level_part():
    text = "a: {x: 1, x: 2}\nb: &p 1\nc: 3\nd: [*p]\nc: 4\ne: {? [q] : 1}\nf: 5\n"
    problems = []
    document = parse_yaml(text, "f.yaml", problems)
    assert [str(problem) for problem in problems] == [
        'f.yaml:1:11: the key "x" stands twice; keep one',
        "f.yaml:2:4: anchors and aliases are not supported; write the value out",
        'f.yaml:5:1: the key "c" stands twice; keep one',
        "f.yaml:6:7: a key must be a plain word",
    ]
    assert document.faulty == {"a", "c", "d", "e"}
    assert document.value["f"] == 5


def test_an_alias_that_contains_itself_ends():
    assert parsed("&x [*x]")[1] == ["f.yaml:1:1: anchors and aliases are not supported; write the value out"]


_TEXT = st.text(st.sampled_from("-:?[]{},&*!|>'\"%@#ab0 \n\t\r\u2028é.~<=\ufeff\x07"), max_size=40) | st.text(
    max_size=40
)


@given(_TEXT, st.booleans())
def test_any_text_gives_a_document_or_a_problem_and_every_problem_has_a_line_of_the_text(text, as_text):
    problems = []
    document = parse_yaml(text, "f.yaml", problems, scalars_as_text=as_text)
    assert document is not None or problems
    assert all(1 <= problem.line <= text.count("\n") + 1 for problem in problems)
