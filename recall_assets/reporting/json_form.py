"""The report as JSON: the object of `--json`, and the fuller one that is stored with a sweep."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from recall_assets.gate import Verdict
from recall_assets.metrics import METRICS, Triad
from recall_assets.reporting.model import Report, RetrieverReport
from recall_assets.slices import SliceScore

if TYPE_CHECKING:
    from recall_assets.comparison import Comparison
    from recall_assets.pairing import Pair
    from recall_assets.regression import SliceTest


def report_json(report: Report) -> dict[str, Any]:
    """The object that `--json` prints: verdict, exit code, cutoff, per retriever figures and findings, and reasons.

    Full precision; a slice in which nothing was scored has null scores and n 0.
    """
    return {
        "verdict": report.verdict.value,
        "exit_code": report.verdict.exit_code,
        "top_k": report.top_k,
        "retrievers": {retriever.name: _retriever(retriever) for retriever in report.retrievers},
        "reasons": [
            {"retriever": name, "check": check.name, "status": check.status.value, "detail": check.detail}
            for name, check in report.reasons
        ],
        "problems": list(report.errors),
    }


def stored_json(report: Report) -> dict[str, Any]:
    """As `report_json`, and for every slice the hit@k interval and its own ledger."""
    document = report_json(report)
    for retriever in report.retrievers:
        for entry, score in zip(document["retrievers"][retriever.name]["slices"], retriever.slices, strict=True):
            entry["retrieval_hit_at_k_interval"] = None if score.hit_interval is None else list(score.hit_interval)
            entry["ledger"] = asdict(score.ledger)
    return document


def no_figures_json(verdict: Verdict, problems: Sequence[str]) -> dict[str, Any]:
    """The object that `--json` prints where there are no figures: the same keys, no retriever, and the problems."""
    return {
        "verdict": verdict.value,
        "exit_code": verdict.exit_code,
        "top_k": None,
        "retrievers": {},
        "reasons": [],
        "problems": list(problems),
    }


def comparison_json(comparison: "Comparison") -> dict[str, Any]:
    """A run beside its baseline: what changed, every case that moved, and every test."""
    pairing = comparison.pairing
    return {
        "date": comparison.baseline.date,
        "top_k": comparison.baseline.top_k,
        "cases": len(comparison.baseline.cases),
        "unchanged_cases": len(pairing.pairs),
        "added": pairing.added,
        "removed": pairing.removed,
        "relabelled": pairing.relabelled,
        "changed": list(comparison.changed),
        "not_comparable": comparison.not_comparable,
        **{
            name: _moves(pairs, comparison)
            for name, pairs in (("lost", pairing.lost), ("gained", pairing.gained), ("slipped", pairing.slipped))
        },
        "tests": [_test(test) for test in comparison.tests],
    }


def _moves(pairs: "Iterable[Pair]", comparison: "Comparison") -> list[dict[str, Any]]:
    return [
        {
            "case_id": pair.case_id,
            "critical": pair.critical,
            "rank_before": pair.before.gold_rank,
            "rank_after": pair.after.gold_rank,
            "now_first": (comparison.first_titles or {}).get(pair.case_id),
        }
        for pair in pairs
    ]


def _test(test: "SliceTest") -> dict[str, Any]:
    from recall_assets.paired import two_sided  # loads numpy, which a captured run is scored without

    p = test.p
    return {
        "slice": test.slice,
        "metric": test.metric,
        "n": test.n,
        "before": test.before,
        "after": test.after,
        "fell": test.fell,
        "rose": test.rose,
        "finding": test.finding.value,
        "p": None if p is None else p.p,
        "p_two_sided": two_sided(test.fell, test.rose) if test.is_hit and p is not None else None,
        "p_exact": None if p is None else p.exact,
        "p_corrected": test.adjusted,
        "at_the_edge": test.at_edge,
        "changes_needed": test.needs,
        "smallest_drop": test.smallest_drop,
        "cases_needed": test.cases_needed,
    }


def _retriever(retriever: RetrieverReport) -> dict[str, Any]:
    return {
        "slices": [_slice(score) for score in retriever.slices],
        "ledger": asdict(retriever.overall.ledger),
        "checks": [
            {"name": check.name, "status": check.status.value, "passed": check.passed, "blocking": check.blocking}
            for check in retriever.checks
        ],
        "baseline": None if retriever.comparison is None else comparison_json(retriever.comparison),
    }


def _slice(score: SliceScore) -> dict[str, Any]:
    means: Triad | tuple[None, None, None] = score.means or (None, None, None)
    return {"slice": score.slice, "n": score.n, **dict(zip(METRICS, means, strict=True))}
