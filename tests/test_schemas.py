import pandera.errors
import polars as pl
import pytest

from recall_assets.records import Card, Case, Chunk, Origin
from recall_assets.schemas import (
    BASELINE,
    CARDS,
    CASE_SCORES,
    CASES,
    CHUNKS,
    COLLECTION,
    RUN,
    SLICE_SCORES,
    VERDICTS,
    build_frame,
    cards_frame,
    cards_of,
    cases_frame,
    cases_of,
    chunks_frame,
    chunks_of,
    empty_frame,
    validated,
)

CARD = ("apple", "en", "Apple", "red fruit", ["food"], False)
CHUNK = ("apple@en#0", "apple", "en", "Apple\nred fruit")
CASE = ("c1", "en", "golden", "red fruit", ["apple"], None, [])
RESULT = ("c1", "retrieved", None, ["apple@en#0"], ["apple"], [0.5], None, None, "f1")
SCORES = ("c1", 1.0, 0.5, 0.25, 2, "f1")
PROMOTED = ("c1", "en", "golden", False, "label", 1.0, 0.5, 0.25, 2)
VERDICT = ("words", "hit_floor", "overall", "failed", 0.9, 0.5, 2, 0.1, 0.9, "below the floor 0.9")


def replaced(row, position, value):
    return (*row[:position], value, *row[position + 1 :])


def test_cards_survive_the_way_to_a_frame_and_back():
    cards = [
        Card("007", "en", "Seven", "text", ("a", "b"), retired=True),
        Card("é", "pt-BR", "É", "texto", origin=Origin("cards.jsonl", 2)),
    ]
    assert cards_of(cards_frame(cards)) == cards
    assert cards_frame(cards)["card_id"].to_list() == ["007", "é"]


def test_chunks_survive_the_way_to_a_frame_and_back():
    chunks = [Chunk("a@en#0", "a", "en", "A\ntext"), Chunk("a@en#1", "a", "en", "A\nmore")]
    assert chunks_of(chunks_frame(chunks)) == chunks


def test_cases_survive_the_way_to_a_frame_and_back_also_without_gold_or_relevant_ids():
    cases = [
        Case("c1", "en", "golden", "query", ("a", "b"), ("a",), ("critical",)),
        Case("c2", "en", "no_match", "query", ()),
    ]
    assert cases_of(cases_frame(cases)) == cases
    assert cases_frame(cases)["relevant_ids"].to_list() == [["a"], None]


@pytest.mark.parametrize(
    "schema",
    [CARDS, CHUNKS, COLLECTION, CASES, RUN, CASE_SCORES, SLICE_SCORES, BASELINE, VERDICTS],
    ids=lambda s: s.name,
)
def test_an_empty_frame_has_every_column_with_its_type(schema):
    frame = empty_frame(schema)
    assert frame.height == 0
    assert dict(frame.schema) == {name: column.dtype.type for name, column in schema.columns.items()}


@pytest.mark.parametrize(
    ("schema", "rows"),
    [
        pytest.param(CARDS, [CARD, replaced(CARD, 2, "again")], id="a second text of a card in a locale"),
        pytest.param(CARDS, [replaced(CARD, 0, "")], id="an empty card id"),
        pytest.param(CARDS, [replaced(CARD, 3, "")], id="an empty text"),
        pytest.param(CARDS, [replaced(CARD, 1, None)], id="no locale"),
        pytest.param(CHUNKS, [CHUNK, replaced(CHUNK, 3, "again")], id="a chunk id twice"),
        pytest.param(CASES, [CASE, replaced(CASE, 3, "again")], id="a case id twice"),
        pytest.param(CASES, [replaced(CASE, 3, "")], id="an empty query"),
        pytest.param(CASES, [replaced(CASE, 4, None)], id="no list of gold"),
        pytest.param(RUN, [RESULT, RESULT], id="a case twice in a run"),
        pytest.param(RUN, [replaced(RESULT, 1, "failed")], id="an unknown status"),
        pytest.param(RUN, [replaced(RESULT, 8, "")], id="a result of unknown origin"),
        pytest.param(CASE_SCORES, [replaced(SCORES, 1, 1.5)], id="a score above 1"),
        pytest.param(CASE_SCORES, [replaced(SCORES, 2, -0.1)], id="a score below 0"),
        pytest.param(CASE_SCORES, [replaced(SCORES, 3, float("nan"))], id="a score that is no number"),
        pytest.param(CASE_SCORES, [replaced(SCORES, 1, None)], id="no score"),
        pytest.param(CASE_SCORES, [replaced(SCORES, 4, 0)], id="a rank below 1"),
        pytest.param(BASELINE, [PROMOTED, replaced(PROMOTED, 1, "pt-BR")], id="a case twice in a baseline"),
        pytest.param(BASELINE, [replaced(PROMOTED, 3, None)], id="neither critical nor not"),
        pytest.param(BASELINE, [replaced(PROMOTED, 4, "")], id="a case without a digest of its labels"),
        pytest.param(BASELINE, [replaced(PROMOTED, 8, 0)], id="a promoted rank below 1"),
        pytest.param(VERDICTS, [VERDICT, replaced(VERDICT, 3, "passed")], id="a rule twice for a slice"),
        pytest.param(VERDICTS, [replaced(VERDICT, 2, "")], id="a verdict on no slice"),
        pytest.param(VERDICTS, [replaced(VERDICT, 3, "warning")], id="a status that no rule comes to"),
        pytest.param(VERDICTS, [replaced(VERDICT, 9, "")], id="a verdict without a word"),
    ],
)
def test_a_frame_that_breaks_a_rule_is_refused(schema, rows):
    with pytest.raises(pandera.errors.SchemaErrors):
        build_frame(schema, rows)


@pytest.mark.parametrize(
    ("schema", "row"),
    [
        pytest.param(CARDS, CARD, id="card"),
        pytest.param(CHUNKS, CHUNK, id="chunk"),
        pytest.param(CASES, CASE, id="case"),
        pytest.param(CASES, replaced(CASE, 4, []), id="case without gold"),
        pytest.param(RUN, RESULT, id="result"),
        pytest.param(RUN, ("c1", "missing", "timed out", [], [], [], None, None, "f1"), id="missing result"),
        pytest.param(CASE_SCORES, SCORES, id="scores"),
        pytest.param(CASE_SCORES, ("c1", 0.0, 1.0, 0.0, None, "f1"), id="scores at both ends, and no rank"),
        pytest.param(BASELINE, PROMOTED, id="promoted case"),
        pytest.param(BASELINE, replaced(PROMOTED, 8, None), id="promoted miss"),
        *(
            pytest.param(VERDICTS, replaced(VERDICT, 3, status), id=f"verdict {status}")
            for status in ("passed", "failed", "inactive", "untested", "invalid", "inconclusive")
        ),
        pytest.param(
            VERDICTS,
            ("words", "no_regression", "overall", "inactive", None, None, 0, None, None, "inactive: no baseline"),
            id="verdict without a figure",
        ),
    ],
)
def test_a_frame_that_follows_the_rules_is_built_as_given(schema, row):
    assert build_frame(schema, [row]).rows() == [row]


def test_a_rule_is_judged_for_several_slices_of_one_retriever():
    rows = [VERDICT, replaced(VERDICT, 2, "locale=en"), replaced(VERDICT, 0, "other")]
    assert build_frame(VERDICTS, rows).rows() == rows


def test_every_violation_is_reported_not_only_the_first():
    with pytest.raises(pandera.errors.SchemaErrors) as raised:
        build_frame(CARDS, [replaced(CARD, 0, ""), replaced(CARD, 3, "")])
    assert {failure["column"] for failure in raised.value.failure_cases.to_dicts()} >= {"card_id", "text"}


def test_a_column_too_many_is_refused():
    frame = cards_frame([Card("a", "en", "A", "text")]).with_columns(extra=pl.lit(1))
    with pytest.raises(pandera.errors.SchemaErrors, match="extra"):
        validated(CARDS, frame)


def test_an_id_that_became_a_number_is_refused():
    frame = chunks_frame([Chunk("7", "7", "en", "text")]).with_columns(card_id=pl.lit(7))
    with pytest.raises(pandera.errors.SchemaErrors, match="card_id"):
        validated(CHUNKS, frame)
