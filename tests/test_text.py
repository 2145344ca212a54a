import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall_assets.text import (
    canonical_locale,
    did_you_mean,
    nearest,
    normal_id,
    printable,
    shortened,
    some,
    without_result,
)


@pytest.mark.parametrize(
    ("written", "stored"),
    [
        ("cafe\u0301", "caf\u00e9"),
        ("\u212b", "\u00c5"),
        ("\u1100\u1161", "\uac00"),
        (" \t\u00a0\u2003a b\u3000\n", "a b"),
        ("007", "007"),
        ("Card-A", "Card-A"),
        ("\ufb01", "\ufb01"),
        (" \u0301a", "\u0301a"),
    ],
    ids=["accent", "angstrom", "hangul", "blanks", "digits", "case", "ligature stays (NFC, not NFKC)", "lone accent"],
)
def test_an_id_is_in_nfc_and_trimmed_and_otherwise_unchanged(written, stored):
    assert normal_id(written) == stored


@given(st.text())
def test_an_id_that_is_normal_stays_as_it_is(text):
    assert normal_id(normal_id(text)) == normal_id(text)


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("a\nb", "a\\nb"),
        ("a\r\tb", "a\\r\\tb"),
        ("\0\x1b[31mred", "\\x00\\x1b[31mred"),
        ("\x7f\x85\x9b", "\\x7f\\x85\\x9b"),
        ("a\u2028b\u2029", "a\\u2028b\\u2029"),
        ("\ud800x\udfff", "\\ud800x\\udfff"),
        ("\ufffea\uffff", "\\ufffea\\uffff"),
        ("Maçã \U0001f600 \\n\u00a0\ufffd", "Maçã \U0001f600 \\n\u00a0\ufffd"),
        ("", ""),
    ],
    ids=["lf", "cr and tab", "escape", "c1", "separators", "surrogates", "no characters in XML", "printable", "empty"],
)
def test_what_would_break_a_line_a_terminal_or_an_encoding_is_shown_as_an_escape(raw, shown):
    assert printable(raw) == shown


@given(st.text(st.characters()))
def test_any_text_becomes_one_printable_line_that_stays_as_it_is(text):
    shown = printable(text)
    assert shown.encode().decode() == shown
    assert len(shown.splitlines()) <= 1
    assert printable(shown) == shown


@pytest.mark.parametrize(
    ("tag", "canonical"),
    [
        ("pt_br", "pt-BR"), ("PT-br", "pt-BR"), (" en ", "en"), ("EN", "en"), ("es_419", "es-419"), ("no", "no"),
        ("zh-hans-cn", "zh-Hans-CN"), ("sr-latn", "sr-Latn"), ("de-1996", "de-1996"), ("iw", "he"), ("fil", "fil"),
        ("en-u-co-phonebk", "en-u-co-phonebk"),
    ],
)  # fmt: skip
def test_a_locale_has_one_canonical_form(tag, canonical):
    assert canonical_locale(tag) == canonical
    assert canonical_locale(canonical) == canonical


@pytest.mark.parametrize(
    "tag",
    [
        "", " ", "-", "en-", "-en", "en--us", "english", "xx", "en-YY", "pt-BRA", "419", "1996", "US", "Latn", "C",
        "en_US.UTF-8", "en us", "e", "en\0", "\ud800", "\uff45\uff4e", "pt\u2013BR", "en-US-US", "en" * 50_000, "en-x",
    ],
)  # fmt: skip
def test_an_unknown_tag_has_no_canonical_form(tag):
    assert canonical_locale(tag) is None


@given(st.text(max_size=12) | st.from_regex(r"[a-zA-Z]{1,4}([-_][a-zA-Z0-9]{1,5}){0,3}", fullmatch=True))
def test_any_text_has_a_stable_canonical_form_or_none(text):
    canonical = canonical_locale(text)
    assert canonical is None or canonical_locale(canonical) == canonical


def test_the_nearest_word_is_given_only_if_it_is_alike():
    assert nearest("refnud", {"refund", "transfer"}) == "refund"
    assert nearest("zzz", {"refund", "transfer"}) is None
    assert nearest("refund", set()) is None
    assert nearest("", {"refund"}) is None


def test_of_equally_near_words_the_first_in_order_is_given():
    assert nearest("fee-c", {"fee-b", "fee-a"}) == "fee-a"


def test_a_hint_is_a_question_or_nothing():
    assert did_you_mean("bm52", ["bm25", "dense"]) == '; did you mean "bm25"?'
    assert did_you_mean("zzz", ["bm25"]) == ""


def test_a_long_list_of_ids_is_cut_and_counted():
    assert some(["a", "b"]) == "a, b"
    assert some(["a", "b", "c", "d", "e"]) == "a, b, c, d, e"
    assert some(["a", "b", "c", "d", "e", "f", "g"]) == "a, b, c, d, e and 2 more"
    assert some(["a", "b", "c"], limit=1) == "a and 2 more"


def test_the_cases_without_a_result_are_counted_and_named():
    assert without_result(["c2", "c7"], 9) == "2 of 9 cases have no result: c2, c7"


def test_a_long_text_is_cut_and_says_so():
    assert shortened("a" * 80) == "a" * 80
    assert shortened("a" * 81) == "a" * 79 + "…"
    assert shortened("word " * 40, 10) == "word word…"
