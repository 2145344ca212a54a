import pytest

from recall_assets.records import Origin
from recall_assets.sources.fields import Fields
from recall_assets.sources.json_lines import RawRecord

KNOWN = ("case_id", "query", "tags")


class Read:
    """Fields of one record at line 3, its `tags` at line 5, and what was said about them."""

    def __init__(self, **values):
        self._problems = []
        self.fields = Fields(RawRecord(values, Origin("f", 3), {"tags": 5}), KNOWN, self._problems)

    @property
    def said(self):
        return [str(problem) for problem in self._problems]


def test_a_text_is_kept_as_written():
    read = Read(query="  a\tb\u2028 ")
    assert read.fields.text("query") == "  a\tb\u2028 "
    assert read.said == []
    assert read.fields.ok


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({}, 'f:3: missing field "query"'),
        ({"query": None}, "f:3: query is empty; write a value"),
        ({"query": ""}, "f:3: query is empty; write something or remove the record"),
        ({"query": " \u2003\n"}, "f:3: query is empty; write something or remove the record"),
        ({"query": 7}, "f:3: query is a number; write a string in quotes"),
        ({"query": 7.5}, "f:3: query is a number; write a string in quotes"),
        ({"query": False}, "f:3: query is true or false; write a string in quotes"),
        ({"query": ["x"]}, "f:3: query is a list; write a string in quotes"),
        ({"query": {}}, "f:3: query is an object; write a string in quotes"),
        ({"query": "a\ud83d"}, "f:3: query holds half of a surrogate pair; write the whole character"),
    ],
)
def test_a_text_that_is_missing_empty_or_no_string_is_one_problem(values, message):
    for take in ("text", "identifier", "locale"):
        read = Read(**values)
        assert getattr(read.fields, take)("query") == "" or take == "text"
        assert read.said == [message]
        assert not read.fields.ok


@pytest.mark.parametrize(
    ("written", "stored"),
    [
        ("  a1 ", "a1"),
        ("\u00a0a1\u3000", "a1"),
        ("cafe\u0301", "caf\u00e9"),
        ("007", "007"),
        ("Abc", "Abc"),
        ("a b", "a b"),
    ],
    ids=["blanks", "wide blanks", "NFC", "digits", "case", "inner blank"],
)
def test_an_id_is_trimmed_and_in_nfc_and_otherwise_as_written(written, stored):
    read = Read(case_id=written, tags=[written])
    assert read.fields.identifier("case_id") == stored
    assert read.fields.identifiers("tags") == (stored,)
    assert read.said == []


@pytest.mark.parametrize("character", ["\n", "\t", "\0", "\x1b", "\x7f"])
def test_an_id_with_a_control_character_is_a_problem(character):
    read = Read(case_id=f"a{character}b", tags=["ok", f"a{character}b"])
    assert read.fields.identifier("case_id") == ""
    assert read.fields.identifiers("tags") == ("ok",)
    assert read.said == [
        "f:3: case_id holds a control character; write the id on one line",
        "f:5: tags[1] holds a control character; write the id on one line",
    ]


@pytest.mark.parametrize(
    ("tags", "message"),
    [
        ("card-1", 'f:5: tags is a string instead of a list; write ["card-1"]'),
        ("", "f:5: tags is a string instead of a list; write [...], or [] for none"),
        (None, "f:5: tags is null instead of a list; write [...], or [] for none"),
        (7, "f:5: tags is a number instead of a list; write [...], or [] for none"),
        ({"a": 1}, "f:5: tags is an object instead of a list; write [...], or [] for none"),
        (["a", ""], "f:5: tags[1] is empty; remove it or write an id"),
        (["a", " \u00a0"], "f:5: tags[1] is empty; remove it or write an id"),
        (["a", 7], "f:5: tags[1] is a number; write the id as a string in quotes"),
        (["a", None], "f:5: tags[1] is null; write the id as a string in quotes"),
        (["a", ["b"]], "f:5: tags[1] is a list; write the id as a string in quotes"),
        (["a", "\udc00"], "f:5: tags holds half of a surrogate pair; write the whole character"),
    ],
)
def test_a_list_of_ids_that_is_no_list_or_holds_no_id_is_a_problem_at_its_line(tags, message):
    read = Read(tags=tags)
    assert read.fields.identifiers("tags") in ((), ("a",))
    assert read.said == [message]
    assert not read.fields.ok


def test_repeated_ids_count_once_in_first_order_also_where_they_differ_only_in_form():
    read = Read(tags=["b", "a", " b", "cafe\u0301", "caf\u00e9"])
    assert read.fields.identifiers("tags") == ("b", "a", "caf\u00e9")
    assert read.said == []


def test_an_absent_list_is_empty_unless_it_is_required():
    assert Read().fields.identifiers("tags") == ()
    read = Read()
    assert read.fields.identifiers("tags", required=True) == ()
    assert read.said == ['f:5: missing field "tags"; write [] if there is none']


def test_an_empty_list_is_a_problem_only_where_one_item_is_wanted():
    assert Read(tags=[]).fields.identifiers("tags", required=True) == ()
    read = Read(tags=[])
    read.fields.identifiers("tags", at_least_one=True)
    assert read.said == ["f:5: tags is empty; leave the field out or name at least one id"]


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("case_ID", '; did you mean "case_id"?'),
        ("qery", '; did you mean "query"?'),
        ("zzz", "; known fields: case_id, query, tags"),
        ("", "; known fields: case_id, query, tags"),
    ],
)
def test_an_unknown_field_is_a_problem_with_a_hint(name, hint):
    read = Read(**{name: 1})
    assert read.said == [f'f:3: unknown field "{name}"{hint}']
    assert not read.fields.ok


@pytest.mark.parametrize(("value", "flag"), [(True, True), (False, False), ("true", True), ("false", False)])
def test_a_flag_is_true_or_false(value, flag):
    read = Read(tags=value)
    assert read.fields.flag("tags") is flag
    assert read.said == []


@pytest.mark.parametrize(
    ("value", "kind"), [("yes", "a string"), (1, "a number"), (None, "null"), ("True", "a string"), ([], "a list")]
)
def test_anything_else_is_no_flag(value, kind):
    read = Read(tags=value)
    assert read.fields.flag("tags") is False
    assert read.said == [f"f:5: tags is {kind}; write true or false"]


def test_an_absent_flag_is_false():
    assert Read().fields.flag("tags") is False


def test_a_locale_becomes_canonical_and_an_unknown_one_is_a_problem():
    assert Read(query=" pt_br ").fields.locale("query") == "pt-BR"
    read = Read(query="klingonish")
    assert read.fields.locale("query") == ""
    assert read.said == ['f:3: unknown locale "klingonish"; write a BCP 47 tag such as en, es-419 or pt-BR']
