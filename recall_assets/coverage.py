"""How the case set covers locales and case types, and where a gold card lacks a text in the case's locale."""

import polars as pl

from recall_assets.reporting.markdown import table


def uncovered_cases(cases: pl.DataFrame, cards: pl.DataFrame) -> list[tuple[str, str, list[str]]]:
    """Gold-bearing cases none of whose gold cards has a live text in the case's locale.

    Args:
        cases: The `CASES` frame.
        cards: The `CARDS` frame.

    Returns:
        Case id, locale and gold ids of each, in the order of the cases.
    """
    live = set(cards.filter(~pl.col("retired")).select("card_id", "locale").iter_rows())
    return [
        (case_id, locale, gold)
        for case_id, locale, gold in cases.select("case_id", "locale", "must_cite_one_of").iter_rows()
        if gold and not any((card_id, locale) in live for card_id in gold)
    ]


def coverage_table(cases: pl.DataFrame) -> str:
    """Markdown: per locale and case type the number of cases, with gold and without."""
    counts = (
        cases.group_by("locale", "case_type")
        .agg(
            with_gold=(pl.col("must_cite_one_of").list.len() > 0).sum(),
            without_gold=(pl.col("must_cite_one_of").list.len() == 0).sum(),
        )
        .sort("locale", "case_type")
    )
    return table(
        ("locale", "case type", "with gold", "without gold"),
        ([str(cell) for cell in row] for row in counts.iter_rows()),
    )
