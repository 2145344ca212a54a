import math

import polars as pl
import pytest

from recall_assets.provenance import chunks_fingerprint, collection_fingerprint, run_fingerprint
from recall_assets.records import Card, Case, Chunk
from recall_assets.schemas import BASELINE, COLLECTION, RUN, build_frame, cards_frame, cases_frame, chunks_frame
from recall_assets.score_frames import (
    case_score_frame,
    reasons_not_scored,
    slice_frame,
    slices_by_retriever,
    snapshot,
    snapshot_frame,
)
from recall_assets.snapshot import ScoredCase, label_of

CARDS = [Card("a", "en", "A", "text"), Card("b", "en", "B", "text")]
CHUNKS = [Chunk("a@en#0", "a", "en", "A\ntext"), Chunk("b@en#0", "b", "en", "B\ntext")]
CASES = [
    Case("c1", "en", "golden", "first", ("a", "b")),
    Case("c2", "pt-BR", "golden", "second", ("b",)),
    Case("c3", "en", "no_match", "third", ()),
]
RETRIEVERS = {name: {"kind": "exact", "embedder": "bag"} for name in ("zeta", "alpha")}
WEIGHTS = {"bag": "weights"}
COLLECTION_DIGEST = collection_fingerprint(CHUNKS, "weights")
COLLECTIONS = {
    "bag": build_frame(COLLECTION, [("bag", "kb-bag-1", 2, 2, COLLECTION_DIGEST, chunks_fingerprint(CHUNKS))])
}


@pytest.fixture
def settings(make_settings):
    return make_settings(top_k=2, retrievers=RETRIEVERS)


def run_of(settings, name, **found):
    """The run of a retriever that found these cards, a list a case; a case that is not named is missing."""
    fingerprint = run_fingerprint(settings.retrievers[name], COLLECTION_DIGEST, CASES, settings.top_k)
    return build_frame(
        RUN,
        [
            (case_id, "retrieved", None, cards, cards, [0.5] * len(cards), None, None, fingerprint)
            for case_id, cards in found.items()
        ],
    )


def folded(settings, runs, scores=None, embedders=WEIGHTS, cards=CARDS, chunks=CHUNKS, refused=None):
    cases = cases_frame(CASES)
    if scores is None:
        scores = {name: case_score_frame(cases, run, settings.top_k) for name, run in runs.items()}
    return slice_frame(
        settings,
        cards_frame(cards),
        chunks_frame(chunks),
        cases,
        embedders,
        COLLECTIONS,
        runs,
        scores,
        refused=refused,
    )


def test_scores_are_of_gold_bearing_cases_with_a_result_and_nothing_else(settings):
    run = run_of(settings, "zeta", c1=["x", "a"], c3=["a"])
    frame = case_score_frame(cases_frame(CASES), run, 2)
    # c1: one of two gold cards, at rank 2; ideal is both at the top. c2 is missing, c3 has no gold.
    ndcg = (1 / math.log2(3)) / (1 + 1 / math.log2(3))
    assert frame.drop("fingerprint").rows() == [("c1", 1.0, 0.5, ndcg, 2)]


def test_scores_say_what_they_were_scored_from(settings):
    run = run_of(settings, "zeta", c1=["a"], c2=["b"], c3=[])
    scores = {k: case_score_frame(cases_frame(CASES), run, k)["fingerprint"].unique().to_list() for k in (1, 2)}
    assert [len(fingerprints) for fingerprints in scores.values()] == [1, 1]
    assert scores[1] != scores[2]


def test_slices_stand_in_the_order_of_the_configuration_overall_first(settings):
    found = {"c1": ["a", "b"], "c2": ["x"], "c3": []}
    frame = folded(settings, {name: run_of(settings, name, **found) for name in ("alpha", "zeta")})
    names = ["overall", "case_type=golden", "locale=en", "locale=pt-BR", "case_type=golden,locale=en"]
    names.append("case_type=golden,locale=pt-BR")
    assert frame.select("retriever", "slice").rows() == [(r, s) for r in ("zeta", "alpha") for s in names]


def test_a_slice_has_means_interval_n_and_ledger(settings):
    runs = {name: run_of(settings, name, c1=["a", "a", "b"], c2=["x"], c3=[]) for name in RETRIEVERS}
    row = folded(settings, runs).row(0, named=True)
    assert (row["n"], row["retrieval_hit_at_k"], row["retrieval_recall_at_k"]) == (2, 0.5, 0.5)
    assert row["retrieval_ndcg_at_k"] == 0.5
    assert (row["hit_low"], row["hit_high"]) == pytest.approx((0.0945, 0.9055), abs=5e-5)
    ledger = ("cases", "gold_bearing", "scored", "empty_result", "missing", "short_result", "duplicates_dropped")
    assert [row[name] for name in ledger] == [3, 2, 2, 1, 0, 2, 1]
    assert (row["top_k"], row["not_scored"]) == (2, None)


def test_slices_come_back_from_the_frame_as_they_went_in(settings):
    runs = {"zeta": run_of(settings, "zeta", c1=["a", "b"], c2=["x"], c3=[])}
    slices = slices_by_retriever(folded(settings, runs))
    assert list(slices) == ["zeta", "alpha"]
    overall, unscored = slices["zeta"][0], slices["alpha"][0]
    assert (overall.slice, overall.n, overall.means) == ("overall", 2, (0.5, 0.5, 0.5))
    assert overall.hit_interval == pytest.approx((0.0945, 0.9055), abs=5e-5)
    assert (overall.ledger.cases, overall.ledger.gold_bearing, overall.ledger.short_result) == (3, 2, 2)
    assert (unscored.n, unscored.means, unscored.hit_interval, unscored.ledger.missing) == (0, None, None, 3)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        pytest.param(lambda run, scores: (None, scores), "it was never run", id="no run"),
        pytest.param(lambda run, scores: (run, None), "its run was never scored", id="no scores"),
        pytest.param(
            lambda run, scores: (run.with_columns(fingerprint=pl.lit("old")), scores),
            "its retrieval_run is older than the knowledge base, the cases or the configuration",
            id="an old run",
        ),
        pytest.param(
            lambda run, scores: (run, scores.with_columns(fingerprint=pl.lit("old"))),
            "its case_scores are older than its run, the labels or top_k",
            id="old scores",
        ),
        pytest.param(lambda run, scores: (run[:2], scores), "1 of 3 cases have no result: c3", id="a missing case"),
    ],
)
def test_a_retriever_whose_results_do_not_belong_here_has_the_reason_and_no_figure(settings, change, reason):
    cases = cases_frame(CASES)
    runs = {name: run_of(settings, name, c1=["a", "b"], c2=["b"], c3=[]) for name in RETRIEVERS}
    scores = {name: case_score_frame(cases, run, 2) for name, run in runs.items()}
    run, scored = change(runs.pop("zeta"), scores.pop("zeta"))
    frame = folded(
        settings,
        runs | ({} if run is None else {"zeta": run}),
        scores | ({} if scored is None else {"zeta": scored}),
    )
    assert reasons_not_scored(frame) == {"zeta": reason}
    refused, other = frame.filter(retriever="zeta"), frame.filter(retriever="alpha")
    assert refused["retrieval_hit_at_k"].to_list() == [None] * refused.height
    assert set(refused["n"]) == {0}
    assert other.row(0, named=True)["retrieval_hit_at_k"] == 1.0


def test_an_old_run_accounts_for_every_case_as_missing(settings):
    run = run_of(settings, "zeta", c1=["a"], c2=[], c3=[]).with_columns(fingerprint=pl.lit("old"))
    row = folded(settings, {"zeta": run}).row(0, named=True)
    assert (row["cases"], row["missing"], row["empty_result"], row["scored"]) == (3, 3, 0, 0)


@pytest.mark.parametrize(
    ("now", "reason"),
    [
        pytest.param({"embedders": {"bag": "other"}}, "was built with other options or weights", id="another embedder"),
        pytest.param({"embedders": {}}, "cannot be found", id="an embedder that is gone"),
        pytest.param(
            {
                "cards": [Card("a", "en", "A", "new"), CARDS[1]],
                "chunks": [Chunk("a@en#0", "a", "en", "A\nnew"), CHUNKS[1]],
            },
            'kb_collection of the embedder "bag" is older than the knowledge base',
            id="texts",
        ),
        pytest.param(
            {"cards": [Card("a", "en", "A", "new"), CARDS[1]]},
            "kb_chunks is older than kb_cards or the configured chunking",
            id="chunks of other cards",
        ),
        pytest.param(
            {"cards": CARDS[:1], "chunks": CHUNKS[:1]},
            "case_set was not read against this knowledge base: 2 labels name no live card",
            id="a gold card that is gone",
        ),
        pytest.param(
            {"cards": [CARDS[0], Card("b", "en", "B", "text", retired=True)], "chunks": CHUNKS[:1]},
            "case_set was not read against this knowledge base: 2 labels name no live card",
            id="a gold card that is retired",
        ),
    ],
)
def test_results_over_a_collection_of_other_things_are_not_scored(settings, now, reason):
    runs = {name: run_of(settings, name, c1=["a", "b"], c2=["b"], c3=[]) for name in RETRIEVERS}
    reasons = reasons_not_scored(folded(settings, runs, **now))
    assert set(reasons) == {"zeta", "alpha"}
    assert all(reason in text for text in reasons.values())


def test_results_that_fit_are_not_scored_where_the_sweep_refuses_them(settings):
    runs = {name: run_of(settings, name, c1=["a", "b"], c2=["b"], c3=[]) for name in RETRIEVERS}
    frame = folded(settings, runs, refused={"zeta": "it failed in this sweep"})
    assert reasons_not_scored(frame) == {"zeta": "it failed in this sweep"}
    assert frame.filter(slice="overall").select("retriever", "n", "retrieval_hit_at_k").rows() == [
        ("zeta", 0, None),
        ("alpha", 2, 1.0),
    ]


def test_a_case_without_any_result_is_the_reason_before_the_sweep_that_refuses(settings):
    run = run_of(settings, "zeta", c1=["a"], c2=["b"])
    frame = folded(settings, {"zeta": run}, refused={"zeta": "it failed in this sweep"})
    assert reasons_not_scored(frame) == {
        "zeta": "1 of 3 cases have no result: c3",
        "alpha": "it was never run",
    }


# Snapshots.


LABELLED = [
    Case("z", "pt-BR", "golden", "first", ("b",), tags=("slow", "critical")),
    Case("a", "en", "adversarial", "second", ("b", "a"), ("a",)),
    Case("m", "en", "golden", "third", ("a",), tags=("Critical",)),
    Case("none", "en", "no_match", "fourth", ()),
]


def snapped(**found):
    """The snapshot at k 2 of a run that found these cards, a list a case."""
    rows = [(case, "retrieved", None, c, c, [0.5] * len(c), None, None, "of one run") for case, c in found.items()]
    cases = cases_frame(LABELLED)
    return snapshot(cases, case_score_frame(cases, build_frame(RUN, rows), 2))


def test_a_snapshot_has_every_scored_case_by_id_with_label_rank_and_scores():
    first, second, third = LABELLED[:3]
    # a: hit and one relevant card, both at rank 1; m: gold at rank 2 of 2.
    assert snapped(none=["a"], z=["x"], a=["a"], m=["x", "a"]) == [
        ScoredCase("a", "en", "adversarial", False, label_of(second), 1, (1.0, 1.0, 1.0)),
        ScoredCase("m", "en", "golden", False, label_of(third), 2, (1.0, 1.0, 1 / math.log2(3))),
        ScoredCase("z", "pt-BR", "golden", True, label_of(first), None, (0.0, 0.0, 0.0)),
    ]


def test_a_case_without_a_score_is_in_no_snapshot():
    assert [case.case_id for case in snapped(m=["a"], none=[])] == ["m"]
    assert snapped() == []


def test_a_snapshot_as_a_frame_has_the_same_cases_at_full_precision():
    cases = snapped(z=["x"], m=["x", "a"])
    frame = snapshot_frame(cases)
    assert frame.columns == list(BASELINE.columns)
    assert frame.rows() == [
        ("m", "en", "golden", False, label_of(LABELLED[2]), 1.0, 1.0, 1 / math.log2(3), 2),
        ("z", "pt-BR", "golden", True, label_of(LABELLED[0]), 0.0, 0.0, 0.0, None),
    ]
    assert snapshot_frame([]).height == 0
