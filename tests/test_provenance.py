import polars as pl
import pytest

from recall_assets.config import Chunking, DenseRetriever
from recall_assets.fingerprint import digest, digest_frame
from recall_assets.provenance import (
    chunks_fingerprint,
    collection_fingerprint,
    run_fingerprint,
    scores_fingerprint,
    why_inputs_unusable,
    why_not_scored,
    why_run_unusable,
)
from recall_assets.records import Card, Case, Chunk
from recall_assets.schemas import (
    CASE_SCORES,
    COLLECTION,
    RUN,
    build_frame,
    cards_frame,
    cases_frame,
    chunks_frame,
)

RETRIEVER = DenseRetriever(kind="dense", embedder="bag")
CHUNKS = [Chunk("a@en#0", "a", "en", "A\ntext"), Chunk("b@en#0", "b", "en", "B\ntext")]
CASES = [Case("c1", "en", "golden", "first", ("a",)), Case("c2", "en", "golden", "second", ("b",))]
WEIGHTS = "digest of options and weights"


def collection_of(chunks, weights=WEIGHTS):
    fingerprints = collection_fingerprint(chunks, weights), chunks_fingerprint(chunks)
    return build_frame(COLLECTION, [("bag", "kb-bag-1", len(chunks), 2, *fingerprints)])


def run_of(cases=CASES, retriever=RETRIEVER, k=5, chunks=CHUNKS, weights=WEIGHTS, missing=()):
    """The run that a retriever makes of these cases, `a` found for each."""
    fingerprint = run_fingerprint(retriever, collection_fingerprint(chunks, weights), cases, k)
    return build_frame(
        RUN,
        [
            (case.case_id, "missing", "timed out", [], [], [], None, None, fingerprint)
            if case.case_id in missing
            else (case.case_id, "retrieved", None, ["a@en#0"], ["a"], [0.5], None, None, fingerprint)
            for case in cases
        ],
    )


def scores_of(cases=CASES, run=None, k=5):
    fingerprint = scores_fingerprint(cases_frame(cases), run_of(cases) if run is None else run, k)
    return build_frame(CASE_SCORES, [(case.case_id, 1.0, 1.0, 1.0, 1, fingerprint) for case in cases])


def why_unusable(collection, run, *, retriever=RETRIEVER, k=5, chunks=CHUNKS, cases=CASES, weights=WEIGHTS):
    return why_run_unusable(retriever, k, chunks_frame(chunks), cases_frame(cases), weights, collection, run)


def test_the_order_of_chunks_does_not_change_their_fingerprint_and_everything_else_does():
    assert chunks_fingerprint(CHUNKS[::-1]) == chunks_fingerprint(CHUNKS)
    assert chunks_fingerprint([Chunk("a@en#0", "a", "en", "A\nother"), CHUNKS[1]]) != chunks_fingerprint(CHUNKS)
    assert chunks_fingerprint([Chunk("a@en#0", "b", "en", "A\ntext"), CHUNKS[1]]) != chunks_fingerprint(CHUNKS)
    assert chunks_fingerprint(CHUNKS[:1]) != chunks_fingerprint(CHUNKS)


CARDS = [Card("a", "en", "A", "text"), Card("b", "en", "B", "text"), Card("old", "en", "Old", "text", retired=True)]
OLD_CHUNKS = "kb_chunks is older than kb_cards or the configured chunking"


def inputs_unusable(cards=CARDS, chunks=CHUNKS, cases=CASES, chunking=None):
    return why_inputs_unusable(cards_frame(cards), chunks_frame(chunks), cases_frame(cases), chunking)


def test_chunks_and_labels_of_these_cards_can_be_used():
    assert inputs_unusable() is None
    assert inputs_unusable(chunks=CHUNKS[::-1]) is None


@pytest.mark.parametrize(
    "now",
    [
        pytest.param({"cards": [Card("a", "en", "A", "other"), *CARDS[1:]]}, id="a text"),
        pytest.param({"cards": [*CARDS, Card("c", "en", "C", "text")]}, id="a card more"),
        pytest.param({"cards": [*CARDS[:1], Card("b", "en", "B", "text", retired=True)]}, id="a card retired"),
        pytest.param({"chunks": CHUNKS[:1]}, id="a chunk less"),
        pytest.param({"chunks": []}, id="no chunk at all"),
    ],
)
def test_chunks_that_the_cards_and_the_chunking_do_not_give_are_refused(now):
    assert inputs_unusable(**now) == OLD_CHUNKS


def test_chunks_of_another_chunking_are_refused():
    cards = [Card("a", "en", "A", "red " * 20), CARDS[1]]  # 80 characters
    whole = [Chunk("a@en#0", "a", "en", "A\n" + "red " * 20), CHUNKS[1]]
    assert inputs_unusable(cards, whole) is None
    assert inputs_unusable(cards, whole, chunking=Chunking(max_chars=50, overlap_chars=0)) == OLD_CHUNKS
    assert inputs_unusable(cards, whole, chunking=Chunking(max_chars=100, overlap_chars=0)) is None


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(Case("c1", "en", "golden", "first", ("a", "gone")), id="gold that is no card"),
        pytest.param(Case("c1", "en", "golden", "first", ("a",), ("a", "gone")), id="a relevant id that is no card"),
        pytest.param(Case("c1", "en", "golden", "first", ("old",)), id="gold that is retired"),
    ],
)
def test_labels_that_name_no_live_card_are_refused_with_their_number(case):
    reason = "case_set was not read against this knowledge base: 1 labels name no live card"
    assert inputs_unusable(cases=[case, CASES[1]]) == reason


def test_a_run_over_these_chunks_cases_and_settings_can_be_used():
    assert why_unusable(collection_of(CHUNKS), run_of()) is None


def test_other_labels_leave_a_run_usable():
    relabelled = [Case("c1", "en", "golden", "first", ("b",), ("a", "b")), CASES[1]]
    assert why_unusable(collection_of(CHUNKS), run_of(), cases=relabelled) is None


OTHER_CHUNKS = [Chunk("a@en#0", "a", "en", "A\nother"), CHUNKS[1]]
OLD_COLLECTION = 'kb_collection of the embedder "bag" is older than the knowledge base'
OLD_RUN = "its retrieval_run is older than the knowledge base, the cases or the configuration"


@pytest.mark.parametrize(
    ("collection", "run", "now", "reason"),
    [
        pytest.param(None, None, {}, 'kb_collection of the embedder "bag" was never built', id="no collection"),
        pytest.param(
            None, run_of(), {}, 'kb_collection of the embedder "bag" was never built', id="a run without a collection"
        ),
        pytest.param(collection_of(CHUNKS), run_of(), {"chunks": OTHER_CHUNKS}, OLD_COLLECTION, id="other texts"),
        pytest.param(
            collection_of(CHUNKS),
            run_of(),
            {"weights": "other weights"},
            'kb_collection of the embedder "bag" was built with other options or weights',
            id="other weights",
        ),
        pytest.param(
            collection_of(CHUNKS),
            run_of(),
            {"weights": None},
            'the embedder "bag" cannot be found, so nothing says that kb_collection is its own',
            id="no weights",
        ),
        pytest.param(collection_of(CHUNKS), None, {}, "it was never run", id="no run"),
        pytest.param(
            collection_of(OTHER_CHUNKS), run_of(), {"chunks": OTHER_CHUNKS}, OLD_RUN, id="a run over the old texts"
        ),
        pytest.param(
            collection_of(CHUNKS, "new"), run_of(), {"weights": "new"}, OLD_RUN, id="a run over the old weights"
        ),
        pytest.param(collection_of(CHUNKS), run_of(), {"k": 3}, OLD_RUN, id="another k"),
        pytest.param(collection_of(CHUNKS), run_of()[:0], {}, OLD_RUN, id="a run without a row"),
        pytest.param(collection_of(CHUNKS), pl.concat([run_of()[:1], run_of(k=3)[1:]]), {}, OLD_RUN, id="two runs"),
        pytest.param(collection_of(CHUNKS), run_of(), {"cases": CASES[:1]}, OLD_RUN, id="a case less"),
        pytest.param(
            collection_of(CHUNKS),
            run_of(),
            {"cases": [Case("c1", "en", "golden", "another query", ("a",)), CASES[1]]},
            OLD_RUN,
            id="another query",
        ),
        pytest.param(
            collection_of(CHUNKS),
            run_of(),
            {"cases": [Case("c1", "pt-BR", "golden", "first", ("a",)), CASES[1]]},
            OLD_RUN,
            id="another locale",
        ),
        pytest.param(
            collection_of(CHUNKS),
            run_of(),
            {"retriever": DenseRetriever(kind="dense", embedder="bag", locale_filter=False)},
            OLD_RUN,
            id="another option of the retriever",
        ),
    ],
)
def test_a_run_of_other_things_than_the_present_ones_is_refused_with_the_reason(collection, run, now, reason):
    assert why_unusable(collection, run, **now) == reason


def test_scores_of_this_run_and_these_labels_can_be_reported():
    assert why_not_scored(cases_frame(CASES), run_of(), scores_of(), 5) is None


def test_a_case_set_without_gold_has_no_score_and_that_is_no_reason_against_it():
    cases = [Case("c1", "en", "no_match", "first", ())]
    assert why_not_scored(cases_frame(cases), run_of(cases), scores_of([], run_of(cases)), 5) is None


def test_scores_from_before_any_case_had_gold_are_refused():
    before = scores_of([], run_of())
    assert "its case_scores are older" in why_not_scored(cases_frame(CASES), run_of(), before, 5)


def test_scores_survive_another_order_of_the_cases():
    assert why_not_scored(cases_frame(CASES[::-1]), run_of(), scores_of(), 5) is None


def test_scores_of_an_earlier_form_without_the_rank_of_the_gold_are_refused():
    # The digest as it was made before a row of scores had a rank.
    run, labels = run_of(), cases_frame(CASES).select("case_id", "must_cite_one_of", "relevant_ids").sort("case_id")
    results = run.select("case_id", "status", "card_id")
    earlier = digest({"run": digest_frame(results), "labels": digest_frame(labels), "k": 5})
    scores = scores_of().drop("gold_rank").with_columns(fingerprint=pl.lit(earlier))
    reason = "its case_scores are older than its run, the labels or top_k"
    assert why_not_scored(cases_frame(CASES), run, scores, 5) == reason


def test_a_missing_result_is_named_before_anything_else():
    reason = "1 of 2 cases have no result: c2"
    assert why_not_scored(cases_frame(CASES), run_of(missing=["c2"]), scores_of(), 5) == reason
    assert why_not_scored(cases_frame(CASES), run_of(CASES[:1]), None, 5) == reason


def test_a_run_that_was_never_scored_is_said_to_be_so():
    assert why_not_scored(cases_frame(CASES), run_of(), None, 5) == "its run was never scored"


@pytest.mark.parametrize(
    ("cases", "run", "k"),
    [
        pytest.param([Case("c1", "en", "golden", "first", ("b",)), CASES[1]], run_of(), 5, id="other gold"),
        pytest.param(
            [Case("c1", "en", "golden", "first", ("a",), ("a", "b")), CASES[1]], run_of(), 5, id="relevant ids"
        ),
        pytest.param([Case("c1", "en", "golden", "first", ()), CASES[1]], run_of(), 5, id="gold taken away"),
        pytest.param(CASES, run_of().with_columns(card_id=pl.lit(["b"])), 5, id="another result"),
        pytest.param(CASES, run_of(), 4, id="another k"),
    ],
)
def test_scores_of_another_run_or_other_labels_are_refused(cases, run, k):
    reason = "its case_scores are older than its run, the labels or top_k"
    assert why_not_scored(cases_frame(cases), run, scores_of(), k) == reason
