import math

import pytest

from recall_assets.errors import NotPromotedError
from recall_assets.promotion import promoted
from recall_assets.provenance import chunks_fingerprint, collection_fingerprint, run_fingerprint
from recall_assets.records import Card, Case, Chunk
from recall_assets.schemas import COLLECTION, RUN, build_frame, cards_frame, cases_frame, chunks_frame
from recall_assets.score_frames import case_score_frame

CARDS = [Card("a", "en", "A", "text"), Card("b", "en", "B", "text")]
CHUNKS = [Chunk("a@en#0", "a", "en", "A\ntext"), Chunk("b@en#0", "b", "en", "B\ntext")]
CASES = [
    Case("c2", "pt-BR", "golden", "second", ("b",), tags=("critical", "slow")),
    Case("c1", "en", "golden", "first", ("a", "b")),
    Case("c3", "en", "no_match", "third", ()),
]
FOUND = {"c1": ["b", "a"], "c2": ["a"], "c3": []}
COLLECTION_DIGEST = collection_fingerprint(CHUNKS, "weights")
MEASURED_AT = 1_767_323_045.9  # 2026-01-02T03:04:05.9Z


def run_of(settings, cases, found):
    """The run of the retriever `words` that found these cards; a case that is not named is missing."""
    fingerprint = run_fingerprint(settings.retrievers["words"], COLLECTION_DIGEST, cases, settings.top_k)
    return build_frame(
        RUN,
        [
            (case_id, "retrieved", None, cards, cards, [0.5] * len(cards), None, None, fingerprint)
            for case_id, cards in found.items()
        ],
    )


@pytest.fixture
def promote(make_settings):
    """Promotes the results of a sweep over `CARDS` and `CASES`, any part of which can be another one."""
    settings = make_settings(top_k=2)

    def make(cases=CASES, found=FOUND, scored_of=None, scored_at=2, **others):
        run = run_of(settings, cases, found)
        scores = case_score_frame(cases_frame(scored_of or cases), run, scored_at)
        frames = {
            "cards": cards_frame(CARDS),
            "chunks": chunks_frame(CHUNKS),
            "cases": cases_frame(cases),
            "embedder": "weights",
            "collection": build_frame(
                COLLECTION, [("bag", "kb-bag-1", 2, 2, COLLECTION_DIGEST, chunks_fingerprint(CHUNKS))]
            ),
            "run": run,
            "scores": scores,
            "measured_at": MEASURED_AT,
        }
        return promoted(settings, "words", **(frames | others))

    return make


def refused(promote, **others):
    with pytest.raises(NotPromotedError) as error:
        promote(**others)
    return str(error.value)


def test_a_baseline_holds_every_scored_case_sorted_with_its_rank_and_scores(promote):
    baseline = promote()
    assert [(case.case_id, case.locale, case.case_type, case.critical, case.gold_rank) for case in baseline.cases] == [
        ("c1", "en", "golden", False, 1),
        ("c2", "pt-BR", "golden", True, None),
    ]
    assert [case.scores for case in baseline.cases] == [(1.0, 1.0, 1.0), (0.0, 0.0, 0.0)]


def test_scores_are_taken_over_at_full_precision(promote):
    baseline = promote(found={"c1": ["x", "b"], "c2": ["b"], "c3": []})
    # Rank 2 of two gold cards: 1 / log2(3) of 1 + 1 / log2(3).
    assert baseline.cases[0].scores.retrieval_ndcg_at_k == (1 / math.log2(3)) / (1 + 1 / math.log2(3))
    assert (baseline.cases[0].gold_rank, baseline.cases[1].gold_rank) == (2, 1)


def test_a_baseline_says_whose_it_is_when_it_was_measured_and_at_which_k(promote):
    baseline = promote()
    assert (baseline.retriever, baseline.date, baseline.top_k) == ("words", "2026-01-02T03:04:05Z", 2)


def test_a_baseline_says_what_it_was_made_from(promote):
    prints = promote().fingerprints
    assert prints.knowledge_base == chunks_fingerprint(CHUNKS)
    assert prints.embedder == "weights"
    labels = [(case.case_id, case.label) for case in promote().cases]
    assert [case_id for case_id, _ in labels] == ["c1", "c2"]
    assert len({prints.case_labels, prints.retriever, prints.knowledge_base}) == 3


def test_the_same_results_make_the_same_baseline(promote):
    assert promote() == promote()


def test_another_label_makes_other_fingerprints_and_another_tag_does_not(promote):
    cases = [CASES[0], Case("c1", "en", "golden", "first", ("a",)), CASES[2]]
    assert promote(cases=cases).fingerprints.case_labels != promote().fingerprints.case_labels
    retagged = [CASES[0], Case("c1", "en", "golden", "first", ("a", "b"), tags=("critical",)), CASES[2]]
    assert promote(cases=retagged).fingerprints == promote().fingerprints
    assert [case.critical for case in promote(cases=retagged).cases] == [True, True]


def test_a_sweep_with_a_missing_case_is_not_promoted(promote):
    assert refused(promote, found={"c1": ["a"], "c2": ["a"]}) == (
        "words: not promoted: 1 of 3 cases have no result: c3; run the sweep again: recall sweep"
    )


def test_a_run_at_another_k_is_not_promoted(promote, make_settings):
    run = run_of(make_settings(top_k=5), CASES, FOUND)
    assert refused(promote, run=run) == (
        "words: not promoted: its retrieval_run is older than the knowledge base, the cases or the configuration; "
        "run the sweep again: recall sweep"
    )


@pytest.mark.parametrize(
    "others",
    [
        pytest.param({"scored_at": 1}, id="another k"),
        pytest.param({"scored_of": [CASES[0], Case("c1", "en", "golden", "first", ("a",)), CASES[2]]}, id="labels"),
    ],
)
def test_scores_of_something_else_are_not_promoted(promote, others):
    assert refused(promote, **others) == (
        "words: not promoted: its case_scores are older than its run, the labels or top_k; "
        "run the sweep again: recall sweep"
    )


def test_texts_that_are_not_those_of_the_cards_are_not_promoted(promote):
    cards = cards_frame([CARDS[0], Card("b", "en", "B", "another text")])
    assert refused(promote, cards=cards) == (
        "words: not promoted: kb_chunks is older than kb_cards or the configured chunking; "
        "run the sweep again: recall sweep"
    )


@pytest.mark.parametrize(
    ("embedder", "why"),
    [
        (None, 'the embedder "bag" cannot be found, so nothing says that kb_collection is its own'),
        ("others", 'kb_collection of the embedder "bag" was built with other options or weights'),
    ],
)
def test_vectors_of_another_embedder_are_not_promoted(promote, embedder, why):
    assert refused(promote, embedder=embedder) == f"words: not promoted: {why}; run the sweep again: recall sweep"


def test_where_no_case_has_gold_nothing_is_promoted_and_what_is_missing_is_named(promote):
    # Another sweep alone would end in the same place.
    message = refused(promote, cases=CASES[2:], found={"c3": ["a"]})
    assert message.startswith("words: not promoted: no case has gold, so there is nothing to compare with later; ")
    assert "must_cite_one_of" in message
