"""Figures and ledgers in words, shared by the Markdown and the terminal form. The only place that rounds."""

from recall_assets.intervals import Interval
from recall_assets.reporting.model import RetrieverReport
from recall_assets.slices import SliceScore

NOTHING = "-"


def figure(value: float | None) -> str:
    """A score with three decimals, or a dash where there is none."""
    return NOTHING if value is None else f"{value:.3f}"


def interval(value: Interval | None) -> str:
    """An interval with two decimals, or a dash where there is none."""
    return NOTHING if value is None else f"{value.low:.2f}-{value.high:.2f}"


def slice_row(score: SliceScore) -> tuple[str, str, str, str, str, str]:
    """Slice, n, hit@k, its interval, recall@k and nDCG@k as text."""
    hit, recall, ndcg = score.means or (None, None, None)
    return score.slice, str(score.n), figure(hit), interval(score.hit_interval), figure(recall), figure(ndcg)


def headings(k: int) -> tuple[str, str, str, str, str, str]:
    """The headings of `slice_row`'s columns."""
    return "slice", "n", f"hit@{k}", "95% CI", f"recall@{k}", f"nDCG@{k}"


def ledger_sentence(retriever: RetrieverReport, k: int) -> str:
    """Where the cases of a retriever went."""
    ledger = retriever.overall.ledger
    return (
        f"{ledger.cases} cases, {ledger.gold_bearing} with gold, {ledger.scored} scored; results: "
        f"{ledger.empty_result} empty, {ledger.missing} missing, {ledger.short_result} short (fewer than {k} cards); "
        f"{ledger.duplicates_dropped} duplicates dropped."
    )
