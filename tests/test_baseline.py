import hashlib
import json
from dataclasses import replace
from pathlib import Path

import pytest

from recall_assets import atomic
from recall_assets.baseline import (
    Baseline,
    Fingerprints,
    UnusableBaseline,
    baseline_path,
    baseline_text,
    committed_baseline,
    labels_fingerprint,
    read_baseline,
    retrievers_with_baseline,
    usable,
    write_baseline,
)
from tests.baselines import FINGERPRINTS, baseline, ranked, scored

TINY = baseline(
    [
        scored("pt-ação", None, locale="pt-BR", label="b2"),
        scored("en-1", 3, critical=True, label="a1"),
    ]
)
# The digest is the SHA-256 of the same content as JSON with sorted keys, without spaces and without the digest itself.
TEXT = """\
{
  "format": 1,
  "retriever": "words",
  "date": "2026-01-02T03:04:05Z",
  "top_k": 5,
  "fingerprints": {
    "knowledge_base": "kb-1",
    "case_labels": "labels-1",
    "retriever": "retriever-1",
    "embedder": "embedder-1"
  },
  "digest": "7d0d314cb4f267c22c37c705ef608b41f164b2da398cf2a27de238a2a6b8c7f5",
  "cases": [
    {"case_id": "en-1", "locale": "en", "case_type": "golden", "critical": true, "label": "a1", "rank": 3, \
"hit": 1.0, "recall": 1.0, "ndcg": 0.5},
    {"case_id": "pt-ação", "locale": "pt-BR", "case_type": "golden", "critical": false, "label": "b2", "rank": null, \
"hit": 0.0, "recall": 0.0, "ndcg": 0.0}
  ]
}
"""
SORTED = replace(TINY, cases=TINY.cases[::-1])
RESTORE = "; restore it from version control, or promote one again: recall baseline promote"
EDITED = f"words.json:1: its content does not match its digest, so it was edited or merged by hand{RESTORE}"


@pytest.fixture
def file(here):
    """Writes a file of bytes or text and gives what the reader makes of it."""

    def write(content):
        path = Path("words.json")
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return committed_baseline(Path(), "words")

    return write


def invalid(found):
    """What is said about a file that must be mended."""
    assert isinstance(found, UnusableBaseline)
    assert found.invalid
    assert usable(found) is None
    return str(found.problem)


def sealed(**changes):
    """The text of the file with other content, and the digest that this content has."""
    content = {key: value for key, value in {**json.loads(TEXT), **changes}.items() if key != "digest"}
    canonical = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return json.dumps({**content, "digest": hashlib.sha256(canonical.encode()).hexdigest()})


def cases(*changes):
    """The cases of the file, the first ones with changes."""
    lines = json.loads(TEXT)["cases"]
    return [{**line, **change} for line, change in zip(lines, [*changes, {}, {}], strict=False)]


def test_the_file_has_a_case_a_line_sorted_and_keys_in_a_fixed_order():
    assert baseline_text(TINY) == TEXT


def test_the_file_is_written_in_utf8_with_lf_under_the_name_of_its_retriever(tmp_path):
    path = write_baseline(tmp_path / "deep" / "baselines", TINY)
    assert path == tmp_path / "deep" / "baselines" / "words.json"
    assert path.read_bytes() == TEXT.encode("utf-8")


def test_what_was_written_is_read_back(tmp_path):
    write_baseline(tmp_path, TINY)
    assert committed_baseline(tmp_path, "words") == SORTED
    assert usable(SORTED) is SORTED


def test_scores_keep_every_bit(tmp_path):
    third = scored("c", 2, scores=(1.0, 1 / 3, 0.1 + 0.2))
    write_baseline(tmp_path, baseline([third]))
    assert committed_baseline(tmp_path, "words").cases == (third,)


@pytest.mark.parametrize(
    "case_id",
    ['quote"and\\slash', "line\nbreak", "line\u2028separator", "nul\0", "emoji 🍎", " spaced ", "007", "null", "</x>"],
)
def test_any_id_is_read_back_and_its_case_stays_one_line(tmp_path, case_id):
    one = scored(case_id, 1)
    path = write_baseline(tmp_path, baseline([one]))
    assert committed_baseline(tmp_path, "words").cases == (one,)
    assert path.read_bytes().count(b"\n") == TEXT.count("\n") - 1


def test_a_baseline_without_a_case_is_read_back(tmp_path):
    write_baseline(tmp_path, baseline([]))
    assert committed_baseline(tmp_path, "words") == baseline([])


def test_the_same_scores_always_make_the_same_bytes(tmp_path):
    some = ranked([1, 3, None, 2] * 25)
    first = write_baseline(tmp_path, baseline(some)).read_bytes()
    assert write_baseline(tmp_path, baseline(some[::-1])).read_bytes() == first
    again = committed_baseline(tmp_path, "words")
    assert write_baseline(tmp_path, again).read_bytes() == first


@pytest.mark.parametrize(
    "other",
    [
        replace(TINY, date="2026-01-02T03:04:06Z"),
        replace(TINY, top_k=6),
        replace(TINY, fingerprints=replace(FINGERPRINTS, embedder="embedder-2")),
        replace(TINY, cases=(TINY.cases[0], replace(TINY.cases[1], gold_rank=2))),
        replace(TINY, cases=TINY.cases[:1]),
    ],
)
def test_other_content_has_another_digest(other):
    assert json.loads(baseline_text(other))["digest"] != json.loads(TEXT)["digest"]


def test_where_there_is_no_file_there_is_no_baseline(here):
    assert committed_baseline(Path("baselines"), "words") is None
    assert read_baseline(Path("words.json")) is None
    assert usable(None) is None


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(TEXT.encode(), id="as written"),
        pytest.param(TEXT.replace("\n", "\r\n").encode(), id="CRLF"),
        pytest.param(b"\xef\xbb\xbf" + TEXT.encode(), id="BOM"),
        pytest.param(b"\xef\xbb\xbf" + TEXT.replace("\n", "\r\n").encode(), id="BOM and CRLF"),
        pytest.param(json.dumps(json.loads(TEXT)).encode(), id="in one line, escaped"),
        pytest.param(json.dumps(json.loads(TEXT), sort_keys=True, indent=4).encode(), id="keys in another order"),
    ],
)
def test_a_file_that_says_the_same_in_another_form_is_accepted(file, content):
    assert file(content) == SORTED


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param('"ndcg": 0.5', '"ndcg": 0.6', id="score"),
        pytest.param('"rank": 3', '"rank": 2', id="rank"),
        pytest.param('"hit": 1.0, "recall": 1.0', '"hit": 1, "recall": 1.0', id="1 for 1.0"),
        pytest.param('"critical": true', '"critical": false', id="critical"),
        pytest.param('"top_k": 5', '"top_k": 10', id="k"),
        pytest.param('"retriever": "words"', '"retriever": "word"', id="retriever"),
        pytest.param("7d0d314c", "8d0d314c", id="digest"),
        pytest.param(
            '  "digest": "7d0d314cb4f267c22c37c705ef608b41f164b2da398cf2a27de238a2a6b8c7f5",\n', "", id="none"
        ),
    ],
)
def test_a_value_that_was_changed_by_hand_is_found(file, old, new):
    assert TEXT.count(old) == 1
    assert invalid(file(TEXT.replace(old, new))) == EDITED


def test_a_case_that_was_taken_out_is_found(file):
    lines = TEXT.splitlines(keepends=True)
    assert '"en-1"' in lines[13]
    assert invalid(file("".join(lines[:13] + lines[14:]))) == EDITED


def test_a_merge_conflict_is_named_at_its_line(file):
    lines = TEXT.splitlines(keepends=True)
    conflict = ["<<<<<<< HEAD\n", lines[13], "=======\n", lines[13].replace("0.5", "0.6"), ">>>>>>> other\n"]
    found = invalid(file("".join(lines[:13] + conflict + lines[14:])))
    assert found == f"words.json:14: no JSON: Expecting value{RESTORE}"


@pytest.mark.parametrize(
    ("kept", "line", "what"),
    [
        pytest.param(0, 1, "Expecting value", id="empty"),
        pytest.param(1, 1, "Expecting property name enclosed in double quotes", id="after the first brace"),
        pytest.param(len(TEXT) - 4, 16, "Expecting ',' delimiter", id="before the end"),
        pytest.param(TEXT.index("ação"), 15, "Unterminated string starting at", id="within a word"),
    ],
)
def test_a_file_that_was_cut_off_is_named_at_its_last_line(file, kept, line, what):
    assert invalid(file(TEXT[:kept])) == f"words.json:{line}: no JSON: {what}{RESTORE}"


def test_bytes_that_are_not_utf8_are_named_at_their_line(file):
    found = invalid(file(TEXT.encode("latin-1")))
    assert found == "words.json:15: byte 0xe7 is not UTF-8; save the file as UTF-8"


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_a_number_that_is_none_is_refused(file, number):
    found = invalid(file(TEXT.replace('"ndcg": 0.5', f'"ndcg": {number}')))
    assert found == f"words.json:1: it holds a number that is none{RESTORE}"


@pytest.mark.parametrize("content", ["[]", "1", "null", '"words"', "{}", '{"retriever": "words"}'])
def test_what_has_no_format_is_no_baseline(file, content):
    assert invalid(file(content)) == f"words.json:1: no baseline: it has no `format`{RESTORE}"


@pytest.mark.parametrize(
    ("text", "where"),
    [
        pytest.param(sealed(note="ours"), "note", id="unknown key"),
        pytest.param(sealed(cases=cases({"note": "ours"})), "cases.0.note", id="unknown key of a case"),
        pytest.param(sealed(cases=cases({}, {"ndcg": 1.5})), "cases.1.ndcg", id="above 1"),
        pytest.param(sealed(cases=cases({"hit": -0.1})), "cases.0.hit", id="below 0"),
        pytest.param(sealed(cases=cases({"rank": 0})), "cases.0.rank", id="rank 0"),
        pytest.param(sealed(cases=cases({"rank": 1.5})), "cases.0.rank", id="half a rank"),
        pytest.param(sealed(cases=cases({"case_id": 7})), "cases.0.case_id", id="an id that is a number"),
        pytest.param(sealed(cases=cases({"critical": "yes"})), "cases.0.critical", id="critical yes"),
        pytest.param(sealed(cases={}), "cases", id="cases no list"),
        pytest.param(sealed(top_k=0), "top_k", id="k 0"),
        pytest.param(sealed(top_k="5"), "top_k", id="k as text"),
        pytest.param(sealed(fingerprints={}), "fingerprints.knowledge_base", id="no fingerprints"),
        pytest.param(sealed(format=True), "format", id="format true"),
    ],
)
def test_what_does_not_follow_the_format_is_named_even_under_a_right_digest(file, text, where):
    found = invalid(file(text))
    assert found.startswith(f"words.json:1: {where}: ")
    assert found.endswith(RESTORE)


def test_a_missing_key_is_named_even_under_a_right_digest(file):
    line = {key: value for key, value in cases()[0].items() if key != "label"}
    assert invalid(file(sealed(cases=[line]))) == f"words.json:1: cases.0.label: Field required{RESTORE}"


def test_a_case_that_is_there_twice_is_refused_and_named(file):
    found = invalid(file(sealed(cases=cases({}, {"case_id": "en-1"}))))
    assert found.startswith("words.json:1: it has ")
    assert "more than once: en-1" in found
    assert "en-1" in found


@pytest.mark.parametrize("version", ["2", '"1"', "null", "1.5", "[]"])
def test_another_format_cannot_be_compared_but_is_not_damaged(file, version):
    found = file(TEXT.replace('"format": 1', f'"format": {version}'))
    assert isinstance(found, UnusableBaseline)
    assert not found.invalid
    assert str(found.problem) == (
        f"words.json:1: the baseline is of format {version}, this version reads 1; promote one again: "
        "recall baseline promote"
    )


def test_another_format_is_recognized_whatever_else_it_holds(file):
    assert not file('{"format": 2, "scores": {}}').invalid


def test_the_file_of_another_retriever_is_refused(file):
    found = invalid(file(sealed(retriever="letters")))
    assert found == (f'words.json:1: it is the baseline of "letters", under the name of another retriever{RESTORE}')


def test_a_folder_in_the_place_of_the_file_is_named(here):
    Path("words.json").mkdir()
    assert invalid(committed_baseline(Path(), "words")).startswith("words.json:1: cannot be read (Is a directory)")


def test_deep_nesting_is_refused_at_any_depth(file):
    # Between the depth that is read and the one that is not lies one at which only the digest fails.
    for depth in (*range(800, 1000), 100_000):
        found = invalid(file(f'{{"format": 1, "cases": {"[" * depth}{"]" * depth}}}'))
        assert found.startswith("words.json:1: ")
        assert found.endswith(RESTORE)


@pytest.mark.parametrize(
    "content",
    [
        pytest.param('{"format": NaN}', id="a format that is no number"),
        pytest.param('{"format": 1, "top_k": ' + "9" * 5000 + "}", id="a number of 5000 digits"),
        pytest.param('{"format": ' + "9" * 5000 + "}", id="a format of 5000 digits"),
        pytest.param('{"format": "\\ud800"}', id="a format that is half a character"),
    ],
)
def test_whatever_is_in_the_file_is_a_finding_and_no_crash(file, content):
    found = file(content)
    assert isinstance(found, UnusableBaseline)
    assert str(found.problem).startswith("words.json:1: ")


def test_half_a_character_is_not_called_a_number(file):
    found = invalid(file(TEXT.replace('"a1"', '"\\ud800"')))
    assert found.startswith("words.json:1: ")
    assert "number" not in found


def test_a_write_that_fails_half_way_leaves_the_old_file(tmp_path, monkeypatch):
    path = write_baseline(tmp_path, TINY)

    def full(source, target):
        assert Path(source).parent == tmp_path
        raise OSError("disk full")

    monkeypatch.setattr(atomic.os, "replace", full)
    with pytest.raises(OSError, match="disk full"):
        write_baseline(tmp_path, baseline(ranked([1, 2, 3])))
    assert [(entry.name, entry.read_text("utf-8")) for entry in tmp_path.iterdir()] == [(path.name, TEXT)]


def test_a_baseline_that_no_file_can_hold_leaves_the_old_file(tmp_path):
    path = write_baseline(tmp_path, TINY)
    for impossible in (scored("\ud800", 1), scored("c", 1, scores=(1.0, 1.0, float("nan")))):
        with pytest.raises(ValueError, match=r"surrogate|JSON compliant"):
            write_baseline(tmp_path, baseline([impossible]))
    assert [(entry.name, entry.read_text("utf-8")) for entry in tmp_path.iterdir()] == [(path.name, TEXT)]


def test_a_second_write_replaces_the_first_and_leaves_nothing_beside_it(tmp_path):
    write_baseline(tmp_path, TINY)
    path = write_baseline(tmp_path, baseline(ranked([1])))
    assert list(tmp_path.iterdir()) == [path]
    assert committed_baseline(tmp_path, "words") == baseline(ranked([1]))


def test_the_file_of_a_retriever_is_found_by_its_name():
    assert baseline_path(Path("baselines"), "dense-en.v2") == Path("baselines/dense-en.v2.json")


def test_the_retrievers_with_a_baseline_are_those_with_a_file(tmp_path):
    assert retrievers_with_baseline(tmp_path / "none") == []
    for name in ("words.json", "dense-en.v2.json", ".words.json.0a1b", "README.md"):
        (tmp_path / name).touch()
    assert retrievers_with_baseline(tmp_path) == ["dense-en.v2", "words"]


def test_what_changed_between_fingerprints_is_said_in_words_in_a_fixed_order():
    other = Fingerprints("kb-2", "labels-2", "retriever-2", "embedder-2")
    assert other.changed_since(FINGERPRINTS) == (
        "knowledge base",
        "case labels",
        "retriever configuration",
        "embedder",
    )
    assert FINGERPRINTS.changed_since(FINGERPRINTS) == ()
    assert replace(FINGERPRINTS, retriever="retriever-2").changed_since(FINGERPRINTS) == ("retriever configuration",)


def test_the_fingerprint_of_labels_is_of_ids_and_labels_alone_in_any_order():
    some = [scored("a", 1, label="x"), scored("b", None, label="y")]
    expected = hashlib.sha256(b'[["a","x"],["b","y"]]').hexdigest()
    assert labels_fingerprint(some) == labels_fingerprint(some[::-1]) == expected
    assert labels_fingerprint([scored("a", None, label="x"), scored("b", 1, label="y", critical=True)]) == expected
    assert labels_fingerprint([scored("a", 1, label="x"), scored("b", None, label="z")]) != expected


def test_a_baseline_is_a_value():
    assert isinstance(SORTED, Baseline)
    assert hash(SORTED) == hash(replace(SORTED))
