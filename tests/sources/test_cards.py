import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recall_assets.records import Card, Origin
from recall_assets.sources.cards import read_cards
from tests.conftest import CARDS, write_jsonl

FRONT = "---\ntitle: A title\n---\n"
NO_FRONT = "1: malformed front matter: start the file with a line ---, then `title: ...`, then another line ---"


def said(path):
    return [str(problem) for problem in read_cards(Path(path))[1]]


def write(path, content):
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(content if isinstance(content, bytes) else content.encode())
    return target


def misplaced(field, place):
    return f'"{field}" does not belong in front matter: it is {place}; remove it'


def card(**changes):
    return {"card_id": "a", "locale": "en", "title": "T", "text": "x"} | changes


def test_a_markdown_card_has_its_id_from_the_file_and_its_locale_from_the_folder(here):
    write("kb/pt_br/007.md", "---\ntitle: 'Não: sim'\ntags: [a, 'b c']\nretired: true\n---\n\n# Head\n\nBody\n\n")
    write("kb/pt_br/live.md", FRONT + "x")
    cards, problems = read_cards(Path("kb"))
    assert problems == []
    assert cards == [
        Card("007", "pt-BR", "Não: sim", "# Head\n\nBody", ("a", "b c"), retired=True),
        Card("live", "pt-BR", "A title", "x"),
    ]
    assert cards[0].origin == Origin("kb/pt_br/007.md", 1)


def test_markdown_may_have_a_byte_order_mark_crlf_blanks_after_the_fences_and_rules_in_its_body(here):
    write("kb/en/a.md", b"\xef\xbb\xbf---  \r\ntitle: T\r\ntags:\r\n---\t\r\none\r\n\r\n---\r\ntwo\r\n")
    assert read_cards(Path("kb")) == ([Card("a", "en", "T", "one\n\n---\ntwo")], [])


def test_scalars_of_front_matter_are_never_numbers_dates_or_truth_values(here):
    write("kb/no/a.md", "---\ntitle: 2024-01-02\ntags: [007, no]\n---\nx")
    assert read_cards(Path("kb")) == ([Card("a", "no", "2024-01-02", "x", ("007", "no"))], [])


def test_json_lines_and_locale_folders_may_stand_side_by_side_and_come_sorted_by_id_and_locale(here):
    write_jsonl(Path("cards.jsonl"), CARDS)
    write("kb/en/b.md", FRONT + "x")
    write("kb/es-419/a.md", FRONT + "x")
    write("kb/README.md", "About this folder")
    write("kb/.git/x", "")
    write("kb/en/.b.md.swp", "")
    Path("cards.jsonl").rename("kb/more.jsonl")
    cards, problems = read_cards(Path("kb"))
    assert problems == []
    assert [(found.card_id, found.locale) for found in cards] == [
        ("a", "es-419"),
        ("apple", "en"),
        ("apple", "pt-BR"),
        ("b", "en"),
        ("banana", "en"),
        ("carrot", "en"),
    ]


def test_a_json_card_keeps_its_text_as_written_and_knows_its_line(here):
    write("kb.jsonl", "\n" + json.dumps(card(card_id=" cafe\u0301 ", locale="PT_br", text=" x\u2028y ", tags=["t"])))
    assert read_cards(Path("kb.jsonl")) == ([Card("caf\u00e9", "pt-BR", "T", " x\u2028y ", ("t",))], [])
    assert read_cards(Path("kb.jsonl"))[0][0].origin == Origin("kb.jsonl", 2)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"card_id": ""}, "card_id is empty; write something or remove the record"),
        ({"card_id": 7}, "card_id is a number; write a string in quotes"),
        ({"title": " "}, "title is empty; write something or remove the record"),
        ({"text": ""}, "text is empty; write something or remove the record"),
        ({"text": None}, "text is empty; write a value"),
        ({"locale": "xx"}, 'unknown locale "xx"; write a BCP 47 tag such as en, es-419 or pt-BR'),
        ({"locale": "419"}, 'unknown locale "419"; write a BCP 47 tag such as en, es-419 or pt-BR'),
        ({"tags": "t"}, 'tags is a string instead of a list; write ["t"]'),
        ({"retired": "maybe"}, "retired is a string; write true or false"),
        ({"txt": "x"}, 'unknown field "txt"; did you mean "text"?'),
        ({"title": "\ud800"}, "title holds half of a surrogate pair; write the whole character"),
    ],
)
def test_each_wrong_field_of_a_json_card_is_a_problem(here, changes, message):
    lines = [json.dumps(card(card_id="fine")), json.dumps(card(**changes))]
    write("kb.jsonl", "\n".join(lines))
    cards, problems = read_cards(Path("kb.jsonl"))
    assert [found.card_id for found in cards] == ["fine"]
    assert [str(problem) for problem in problems] == [f"kb.jsonl:2: {message}"]


def test_each_missing_field_of_a_json_card_is_a_problem(here):
    write("kb.jsonl", "{}")
    assert said("kb.jsonl") == [
        f'kb.jsonl:1: missing field "{name}"' for name in ("locale", "card_id", "title", "text")
    ]


@pytest.mark.parametrize(
    ("content", "messages"),
    [
        ("title: x\n", [NO_FRONT]),
        ("", [NO_FRONT]),
        ("---\ntitle: x\n", [NO_FRONT]),
        ("\n---\ntitle: x\n---\nx", [NO_FRONT]),
        ("---\n- a\n---\nx", ["2: malformed front matter: write `title: ...` and its like, one a line"]),
        ("---\ntitle: a: b\n---\nx", ["2:9: not YAML: mapping values are not allowed in this context"]),
        ("---\n\ntitle: \x07\n---\nx", ["3: not YAML: control character U+0007; remove it"]),
        ("---\ntitle: a\ntitle: b\n---\nx", ['3:1: the key "title" stands twice; keep one']),
        ("---\n---\nx", ['1: missing field "title"']),
        ("---\ntitle:\n---\nx", ["2: title is empty; write a value"]),
        (FRONT, ["3: text is empty; write something or remove the record"]),
        (FRONT + "\n \n", ["3: text is empty; write something or remove the record"]),
        ("---\ntitle: a\ntags: b\n---\nx", ['3: tags is a string instead of a list; write ["b"]']),
        ("---\ntitle: a\nretired: 1\n---\nx", ["3: retired is a string; write true or false"]),
        ("---\ntitel: a\n---\nx", ['2: unknown field "titel"; did you mean "title"?', '1: missing field "title"']),
        ("---\ntitle: a\nowner: b\n---\nx", ['3: unknown field "owner"; known fields: title, tags, retired']),
        ("---\ntitle: a\ncard_id: b\n---\nx", ["3: " + misplaced("card_id", "the file's name")]),
        ("---\ntitle: a\nlocale: en\n---\nx", ["3: " + misplaced("locale", "the folder's name")]),
        ("---\ntext: a\ntitle: a\n---\nx", ["2: " + misplaced("text", "below the second line ---")]),
        (FRONT.encode() + b"caf\xe9", ["4: byte 0xe9 is not UTF-8; save the file as UTF-8"]),
    ],
)  # fmt: skip
def test_each_fault_of_a_markdown_card_is_a_problem_at_its_line(here, content, messages):
    write("kb/en/a.md", content)
    write("kb/en/fine.md", FRONT + "x")
    cards, problems = read_cards(Path("kb"))
    assert [found.card_id for found in cards] == ["fine"]
    assert [str(problem) for problem in problems] == [f"kb/en/a.md:{message}" for message in messages]


def test_what_would_not_be_read_in_a_knowledge_base_is_a_problem_and_not_skipped_in_silence(here):
    write("kb/a.md", FRONT + "x")
    write("kb/en/fine.md", FRONT + "x")
    write("kb/en/notes.txt", "x")
    write("kb/en/B.MD", FRONT + "x")
    write("kb/en/sub/b.md", FRONT + "x")
    write("kb/english/c.md", FRONT + "x")
    Path("kb/es").mkdir()
    assert said("kb") == [
        "kb/a.md:1: not read: cards stand in <locale>/<card_id>.md or in a .jsonl file; move it or rename it",
        "kb/en/B.MD:1: not read: a locale folder holds only <card_id>.md files; move it",
        "kb/en/notes.txt:1: not read: a locale folder holds only <card_id>.md files; move it",
        "kb/en/sub:1: not read: a locale folder holds only <card_id>.md files; move it",
        'kb/english:1: unknown locale "english"; name the folder by a BCP 47 tag such as en, es-419 or pt-BR',
        "kb/es:1: the folder is empty; remove it or put <card_id>.md files in it",
    ]


def test_a_second_text_of_a_card_in_one_locale_is_a_problem_wherever_it_stands(here):
    write("kb/pt-BR/a.md", FRONT + "x")
    write("kb/pt_br/a.md", FRONT + "y")
    write_jsonl(Path("kb/z.jsonl"), [card(locale="pt-br"), card(), card(card_id=" a")])
    assert said("kb") == [
        'kb/pt_br/a.md:1: card "a" has a second text for pt-BR; the first is at kb/pt-BR/a.md:1',
        'kb/z.jsonl:1: card "a" has a second text for pt-BR; the first is at kb/pt-BR/a.md:1',
        'kb/z.jsonl:3: card "a" has a second text for en; the first is at kb/z.jsonl:2',
    ]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: None, "kb:1: no such file or folder"),
        (lambda: Path("kb").mkdir(), "kb:1: the folder is empty; put cards in <locale>/<card_id>.md or a .jsonl file"),
        (lambda: write("kb/README.md", "x"), "kb:1: no card at all; a knowledge base needs at least one"),
        (lambda: write("kb", ""), "kb:1: no card at all; write one object a line"),
        (lambda: write("kb/a.jsonl", "\n\n"), "kb/a.jsonl:1: no card at all; write one object a line"),
        (
            lambda: write_jsonl(Path("kb"), [card(retired=True)]),
            "kb:1: every card is retired; a knowledge base needs at least one live card",
        ),
    ],
    ids=["missing", "empty folder", "only a readme", "empty file", "blank file", "all retired"],
)
def test_a_knowledge_base_without_a_live_card_is_a_problem(here, make, message):
    make()
    assert said("kb") == [message]


def test_a_file_name_that_is_not_utf8_is_a_problem_that_can_be_printed(here):
    folder = here / "kb" / "en"
    folder.mkdir(parents=True)
    (folder / "a\udcff.md").write_text(FRONT + "x")
    assert said("kb") == ["kb/en/a\\udcff.md:1: card_id holds half of a surrogate pair; write the whole character"]


_MARKDOWN = st.lists(
    st.sampled_from(
        ["---", "\n", "title", ": ", "tags", "[", "]", "x", "'", "card_id", "retired", "true", "é", "\0", "&a", "*a"]
    ),
    max_size=30,
).map("".join)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.binary(max_size=80) | st.text(max_size=80).map(str.encode) | _MARKDOWN.map(lambda text: b"---\n" + text.encode())
)
def test_any_bytes_in_a_knowledge_base_are_cards_or_problems_at_a_line_of_their_file(tmp_path, data):
    for name in ("kb/en/a.md", "kb/b.jsonl"):
        write(tmp_path / name, data)
    cards, problems = read_cards(tmp_path / "kb")
    read = {found.origin.file for found in cards} | {problem.file for problem in problems}
    assert read == {str(tmp_path / "kb/en/a.md"), str(tmp_path / "kb/b.jsonl")}
    assert all(1 <= problem.line <= data.count(b"\n") + 1 for problem in problems)
