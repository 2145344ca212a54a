"""Scoring whole runs as frames: the batch form of `recall_assets.outcomes`, equal to it to the last bit.

Polars finds the ranks at which gold stands; the triad of each distinct pattern of ranks comes from
`recall_assets.metrics`, so there is one place where a score is computed.
"""

import polars as pl

from recall_assets.metrics import METRICS, Triad, triad_from_ranks
from recall_assets.outcomes import Outcome
from recall_assets.records import RETRIEVED

_PATTERN = ("hit_ranks", "relevant_ranks", "n_relevant")
_NO_RANKS = pl.lit([], dtype=pl.List(pl.Int64))


def first_distinct_cards(run: pl.LazyFrame, k: int) -> pl.DataFrame:
    """The first k distinct cards of every result (rule 1).

    Args:
        run: `case_id`, `status` and `card_id` as in `RUN`.
        k: The cutoff, at least 1.

    Returns:
        One row for each case with a result: `case_id`, `top` (distinct cards in rank order), `found` (how many) and
        `repeats` (dropped before the k-th distinct card; later ones cannot change a score).

    Raises:
        ValueError: k < 1.
    """
    if k < 1:
        raise ValueError(f"the cutoff k must be at least 1, not {k}")
    results = run.filter(pl.col("status") == RETRIEVED).select("case_id", "card_id", top=pl.col("card_id").list.head(k))
    repeated = pl.col("top").list.n_unique() < pl.col("top").list.len()
    # Most results repeat nothing near the top; only the others are worth looking through to the end.
    plain = results.filter(~repeated).select("case_id", "top", found=_length("top"), repeats=pl.lit(0, pl.Int64))
    return pl.concat([plain, _without_repeats(results.filter(repeated), k)]).collect(engine="streaming")


def _without_repeats(results: pl.LazyFrame, k: int) -> pl.LazyFrame:
    first_places = pl.element().is_first_distinct().arg_true()
    places, found = pl.col("places"), _length("places")
    looked_at = pl.when(found == k).then(places.list.last().cast(pl.Int64) + 1).otherwise(_length("card_id"))
    return results.with_columns(places=pl.col("card_id").list.eval(first_places).list.head(k)).select(
        "case_id", top=pl.col("card_id").list.gather(places), found=found, repeats=looked_at - found
    )


def _length(column: str) -> pl.Expr:
    return pl.col(column).list.len().cast(pl.Int64)


def score_cases(cases: pl.DataFrame, tops: pl.DataFrame, k: int) -> pl.DataFrame:
    """The triad of every gold-bearing case that has a result, in the order of the cases.

    Args:
        cases: `case_id`, `must_cite_one_of` and `relevant_ids` as in `CASES`.
        tops: From `first_distinct_cards` with the same k.
        k: The cutoff.

    Returns:
        `case_id`, the three metrics, and `gold_rank`, the rank of the first gold card, null where none is in the top k.
        No row for a case without gold (rule 6) or without a result (rule 7).
    """
    ranked = (
        tops.lazy()
        .select("case_id", card_id="top", rank=pl.int_ranges(1, pl.col("top").list.len() + 1))
        .explode("card_id", "rank")
    )
    labelled = cases.lazy().filter(pl.col("must_cite_one_of").list.len() > 0)
    own = pl.col("relevant_ids").list.len() > 0  # null counts as no
    scored = (
        labelled.join(tops.lazy().select("case_id"), on="case_id", maintain_order="left")
        .select(
            "case_id",
            own=own,
            n_relevant=pl.when(own).then("relevant_ids").otherwise("must_cite_one_of").list.n_unique(),
        )
        .join(_ranks(ranked, labelled, "must_cite_one_of"), on="case_id", how="left", maintain_order="left")
        .join(_ranks(ranked, labelled.filter(own), "relevant_ids"), on="case_id", how="left", maintain_order="left")
        .with_columns(pl.col("must_cite_one_of", "relevant_ids").fill_null(_NO_RANKS))
        .select(
            "case_id",
            "n_relevant",
            hit_ranks="must_cite_one_of",
            relevant_ranks=pl.when("own").then("relevant_ids").otherwise("must_cite_one_of"),
        )
        .collect()
    )
    patterns = scored.select(_PATTERN).unique()
    triads = [triad_from_ranks(hits, relevant, n, k) for hits, relevant, n in patterns.iter_rows()]
    columns = pl.DataFrame(triads, schema=dict.fromkeys(METRICS, pl.Float64), orient="row")
    gold_rank = pl.col("hit_ranks").list.first().alias("gold_rank")
    return scored.join(patterns.hstack(columns), on=_PATTERN, maintain_order="left").select(
        "case_id", *METRICS, gold_rank
    )


def count_outcomes(cases: pl.DataFrame, tops: pl.DataFrame, scores: pl.DataFrame) -> dict[Outcome, int]:
    """How many cases had each outcome: what `recall_assets.slices.slice_scores` folds over.

    Args:
        cases: `case_id`, `locale`, `case_type` and `must_cite_one_of` as in `CASES`.
        tops: `case_id`, `found` and `repeats`, one row for each case with a result.
        scores: `case_id` and the three metrics, one row for each scored case.
    """
    keys = ("locale", "case_type", "gold_bearing", "found", "repeats", *METRICS)
    counted = (
        cases.lazy()
        .with_columns(gold_bearing=pl.col("must_cite_one_of").list.len() > 0)
        .join(tops.lazy().select("case_id", "found", "repeats"), on="case_id", how="left")
        .join(scores.lazy(), on="case_id", how="left")
        .group_by(keys)
        .len()
        .sort(keys)
        .collect()
    )
    outcomes = {}
    for locale, case_type, gold_bearing, found, repeats, *scored, count in counted.iter_rows():
        triad = None if scored[0] is None else Triad(*scored)
        outcomes[Outcome(locale, case_type, gold_bearing, found, repeats or 0, triad)] = count
    return outcomes


def _ranks(ranked: pl.LazyFrame, labelled: pl.LazyFrame, label: str) -> pl.LazyFrame:
    """`case_id` and, under the label's name, the ranks of its cards; no row where none is found."""
    cards = labelled.select("case_id", card_id=label).explode("card_id")
    return (
        ranked.join(cards, on=["case_id", "card_id"], how="semi")
        .group_by("case_id")
        .agg(pl.col("rank").sort().alias(label))
    )
