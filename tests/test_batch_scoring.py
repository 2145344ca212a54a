from collections import Counter
from random import Random

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall_assets.batch_scoring import count_outcomes, first_distinct_cards, score_cases
from recall_assets.metrics import METRICS
from recall_assets.outcomes import score_run
from recall_assets.records import MISSING, RETRIEVED, Case, Retrieved
from recall_assets.schemas import cases_frame
from recall_assets.slices import slice_scores

RUN_COLUMNS = {"case_id": pl.String, "status": pl.String, "card_id": pl.List(pl.String)}
ABSENT = "absent"

card_ids = st.sampled_from("abcdefgh")
# A short alphabet and long lists: most results repeat a card, many of them before the cut.
some_results = st.lists(card_ids, max_size=14)
labels = st.lists(card_ids, max_size=5)


def run_frame(*rows):
    return pl.DataFrame(rows, schema=RUN_COLUMNS, orient="row")


def case(case_id, gold, relevant=None, locale="en", case_type="golden"):
    relevant = None if relevant is None else tuple(relevant)
    return Case(case_id, locale, case_type, "query", tuple(gold), relevant)


def batch(cases, run, k):
    """Case id to scores, in row order, and the outcomes with their counts."""
    frame, tops = cases_frame(cases), first_distinct_cards(run.lazy(), k)
    scores = score_cases(frame, tops, k)
    return {row[0]: row[1:4] for row in scores.iter_rows()}, count_outcomes(frame, tops, scores)


def gold_ranks(cases, run, k):
    """Case id to the rank of the first gold card."""
    scores = score_cases(cases_frame(cases), first_distinct_cards(run.lazy(), k), k)
    return dict(scores.select("case_id", "gold_rank").iter_rows())


def assert_equal_to_the_single_form(cases, run, k):
    scores, counted = batch(cases, run, k)
    retrieved = {
        case_id: [Retrieved(f"chunk{place}", card_id) for place, card_id in enumerate(cards)]
        for case_id, status, cards in run.iter_rows()
        if status == RETRIEVED
    }
    single = score_run(cases, retrieved, k)
    expected = {case_id: outcome.scores for case_id, outcome in single.items() if outcome.scores is not None}
    assert list(scores.items()) == list(expected.items())
    assert counted == Counter(single.values())
    assert slice_scores(counted, k) == slice_scores(Counter(single.values()), k)


@st.composite
def cases_and_runs(draw):
    cases, rows = [], []
    for number in range(draw(st.integers(0, 10))):
        case_id, locale = f"c{number}", draw(st.sampled_from(["en", "es-419"]))
        case_type = draw(st.sampled_from(["golden", "adversarial"]))
        cases.append(case(case_id, draw(labels), draw(st.none() | labels), locale, case_type))
        result = draw(st.sampled_from([ABSENT, MISSING]) | some_results | some_results)
        if result != ABSENT:
            rows.append((case_id, MISSING, []) if result == MISSING else (case_id, RETRIEVED, result))
    return draw(st.permutations(cases)), run_frame(*draw(st.permutations(rows)))


@given(cases_and_runs(), st.integers(1, 9))
def test_the_batch_form_equals_the_single_form_to_the_last_bit(cases_and_run, k):
    assert_equal_to_the_single_form(*cases_and_run, k)


@pytest.mark.parametrize("k", [1, 5, 10])
def test_the_batch_form_equals_the_single_form_over_thousands_of_cases(k):
    random = Random(23)  # noqa: S311
    cards = [f"card{number}" for number in range(30)]
    cases, rows = [], []
    for number in range(5000):
        gold = random.sample(cards, random.randint(0, 4))
        relevant = random.sample(cards, random.randint(1, 12)) if random.random() < 0.2 else None
        cases.append(case(f"c{number}", gold, relevant, random.choice(["en", "pt-BR"]), random.choice("xyz")))
        if random.random() < 0.95:
            rows.append((f"c{number}", RETRIEVED, random.choices(cards, k=random.randint(0, 25))))
    random.shuffle(cases)
    random.shuffle(rows)
    assert_equal_to_the_single_form(cases, run_frame(*rows), k)


# The rules by literal values.


@pytest.mark.parametrize(
    ("ranked", "k", "top", "repeats"),
    [
        pytest.param(["a", "b", "c"], 2, ["a", "b"], 0, id="no repeat"),
        pytest.param(["a", "a", "b", "a", "c", "c"], 3, ["a", "b", "c"], 2, id="later ones are not counted"),
        pytest.param(["a", "a", "b", "a", "c", "c"], 4, ["a", "b", "c"], 3, id="k is never reached"),
        pytest.param(["a", "b", "b"], 2, ["a", "b"], 0, id="a repeat right after the k-th"),
        pytest.param(["b", "a", "b", "a", "b", "c"], 3, ["b", "a", "c"], 3, id="first occurrence wins"),
        pytest.param([], 3, [], 0, id="an empty result"),
    ],
)
def test_repeats_are_dropped_before_the_cut_and_counted(ranked, k, top, repeats):
    tops = first_distinct_cards(run_frame(("c", RETRIEVED, ranked)).lazy(), k)
    assert tops.rows(named=True) == [{"case_id": "c", "top": top, "found": len(top), "repeats": repeats}]


def test_a_missing_result_has_no_row_and_an_empty_one_has():
    run = run_frame(("empty", RETRIEVED, []), ("missing", MISSING, []))
    assert first_distinct_cards(run.lazy(), 3)["case_id"].to_list() == ["empty"]


def test_scores_are_those_of_the_gold_bearing_cases_with_a_result_in_the_order_of_the_cases():
    cases = [
        case("z", ["a", "b"]),
        case("no gold", []),
        case("missing", ["a"]),
        case("absent", ["a"]),
        case("e", ["a"]),
    ]
    run = run_frame(
        ("e", RETRIEVED, []), ("no gold", RETRIEVED, ["a"]), ("missing", MISSING, []), ("z", RETRIEVED, ["x", "b", "x"])
    )
    scores, _ = batch(cases, run, 2)
    # z: one of two at rank 2: 0.63093 / 1.63093.
    assert list(scores) == ["z", "e"]
    assert scores == {"z": (1.0, 0.5, pytest.approx(0.38685, abs=5e-6)), "e": (0.0, 0.0, 0.0)}


@pytest.mark.parametrize(
    ("gold", "relevant", "expected"),
    [
        pytest.param(["x"], ["a", "b"], (0.0, 1.0, 1.0), id="relevant ids are used by recall and nDCG alone"),
        pytest.param(["a"], ["x", "y"], (1.0, 0.0, 0.0), id="hit stays on the gold"),
        pytest.param(["a", "x"], [], (1.0, 0.5, pytest.approx(0.61315, abs=5e-6)), id="empty ones are none"),
        pytest.param(["a", "a"], None, (1.0, 1.0, 1.0), id="gold named twice counts once"),
    ],
)
def test_labels_are_read_as_in_the_single_form(gold, relevant, expected):
    scores, _ = batch([case("c", gold, relevant)], run_frame(("c", RETRIEVED, ["a", "b"])), 2)
    assert scores == {"c": expected}


@pytest.mark.parametrize(
    ("gold", "relevant", "ranked", "rank"),
    [
        pytest.param(["a"], None, ["a", "b", "c"], 1, id="at the top"),
        pytest.param(["c"], None, ["a", "b", "c"], 3, id="at the cut"),
        pytest.param(["d"], None, ["a", "b", "c", "d"], None, id="below the cut"),
        pytest.param(["z"], None, [], None, id="an empty result"),
        pytest.param(["c", "b"], None, ["a", "b", "c"], 2, id="of several the first that is found"),
        pytest.param(["c"], None, ["a", "a", "b", "a", "c"], 3, id="among distinct cards"),
        pytest.param(["c"], ["a"], ["a", "b", "c"], 3, id="of the gold, not of the relevant ids"),
        pytest.param(["z"], ["a"], ["a", "b", "c"], None, id="a relevant card is no gold"),
        pytest.param(["b"], ["z"], ["a", "b", "c"], 2, id="whether a relevant card is found or not"),
    ],
)
def test_the_rank_of_the_gold_is_that_of_the_first_gold_card_in_the_top_k_or_null(gold, relevant, ranked, rank):
    assert gold_ranks([case("c", gold, relevant)], run_frame(("c", RETRIEVED, ranked)), 3) == {"c": rank}


@given(cases_and_runs(), st.integers(1, 9))
def test_a_case_has_a_rank_just_where_it_is_a_hit(cases_and_run, k):
    cases, run = cases_and_run
    scores = score_cases(cases_frame(cases), first_distinct_cards(run.lazy(), k), k)
    hits = scores.select("retrieval_hit_at_k", "gold_rank").iter_rows()
    assert all((hit == 1.0) == (rank is not None and 1 <= rank <= k) for hit, rank in hits)


def test_a_result_of_no_case_is_not_looked_at():
    scores, counted = batch([case("c", ["a"])], run_frame(("c", RETRIEVED, ["a"]), ("other", RETRIEVED, ["a"])), 1)
    assert list(scores) == ["c"]
    assert sum(counted.values()) == 1


def test_scores_have_the_columns_of_the_triad_at_full_precision():
    run = run_frame(("c", RETRIEVED, ["a"]))
    tops = first_distinct_cards(run.lazy(), 3)
    scores = score_cases(cases_frame([case("c", ["a", "b", "z"])]), tops, 3)
    assert scores.schema == {"case_id": pl.String, **dict.fromkeys(METRICS, pl.Float64), "gold_rank": pl.Int64}
    assert scores["retrieval_recall_at_k"].item() == 1 / 3


def test_frames_are_left_as_they_were():
    cases, run = cases_frame([case("c", ["a"], ["b"])]), run_frame(("c", RETRIEVED, ["a", "a", "b"]))
    before = cases.clone(), run.clone()
    tops = first_distinct_cards(run.lazy(), 2)
    count_outcomes(cases, tops, score_cases(cases, tops, 2))
    assert cases.equals(before[0])
    assert run.equals(before[1])


@pytest.mark.parametrize("k", [0, -1])
def test_a_cutoff_below_one_is_refused(k):
    with pytest.raises(ValueError, match=f"at least 1, not {k}"):
        first_distinct_cards(run_frame(("c", RETRIEVED, ["a"])).lazy(), k)
