"""Figures and ledgers in words, shared by the Markdown and the terminal form. The only place that rounds."""

from recall_assets.gate import FLOOR_RULES, REGRESSION_RULE, Status, Verdict
from recall_assets.intervals import Interval
from recall_assets.metrics import METRICS, metric_name
from recall_assets.reporting.model import Report, RetrieverReport
from recall_assets.slices import SliceScore

NOTHING = "-"
_GATED = (*FLOOR_RULES, REGRESSION_RULE)


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
    hit, recall, ndcg = (metric_name(metric, k) for metric in METRICS)
    return "slice", "n", hit, "95% CI", recall, ndcg


def ledger_sentence(retriever: RetrieverReport, k: int) -> str:
    """Where the cases of a retriever went."""
    ledger = retriever.overall.ledger
    return (
        f"{ledger.cases} cases, {ledger.gold_bearing} with gold, {ledger.scored} scored; results: "
        f"{ledger.empty_result} empty, {ledger.missing} missing, {ledger.short_result} short (fewer than {k} cards); "
        f"{ledger.duplicates_dropped} duplicates dropped."
    )


def reason(report: Report) -> str:
    """Why the verdict is what it is, in a sentence: the first thing that stands against a pass, or what held."""
    against = report.reasons
    if against:
        name, check = against[0]
        more = f" (and {len(against) - 1} more, below)" if len(against) > 1 else ""
        return f"{name}: {check.name} {check.status.value}: {check.headline}{more}"
    by_status: dict[Status, dict[str, None]] = {}
    for check in (check for retriever in report.retrievers for check in retriever.checks if check.name in _GATED):
        by_status.setdefault(check.status, {})[check.name] = None
    holding, untested = (", ".join(by_status.get(status, ())) for status in (Status.PASSED, Status.UNTESTED))
    if report.verdict is not Verdict.PASS:
        return f"something went wrong: {report.errors[0]}" if report.errors else "something went wrong in the sweep"
    if not holding and not untested:
        return "every case was measured; no floor is set and nothing is compared, so nothing else could fail"
    held = f"every active rule holds: {holding}" if holding else "no rule fails"
    if untested:
        held += f"; in part with too little to go on: {untested}"
    apart = [retriever.name for retriever in report.retrievers if _not_compared(retriever)]
    return held + (f"; not compared with a baseline: {', '.join(apart)}" if apart else "")


def _not_compared(retriever: RetrieverReport) -> bool:
    return any(check.name == REGRESSION_RULE and check.status is Status.INACTIVE for check in retriever.checks)
