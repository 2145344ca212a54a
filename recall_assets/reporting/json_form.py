"""The report as JSON: the object of `--json`, and the fuller one that is stored with a sweep."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from recall_assets.gate import Verdict
from recall_assets.metrics import METRICS, Triad
from recall_assets.reporting.model import Report, RetrieverReport
from recall_assets.slices import SliceScore


def report_json(report: Report) -> dict[str, Any]:
    """The object that `--json` prints: verdict, exit code, cutoff, and per retriever slices, ledger and checks.

    Full precision; a slice in which nothing was scored has null scores and n 0.
    """
    return {
        "verdict": report.verdict.value,
        "exit_code": report.verdict.exit_code,
        "top_k": report.top_k,
        "retrievers": {retriever.name: _retriever(retriever) for retriever in report.retrievers},
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
        "problems": list(problems),
    }


def _retriever(retriever: RetrieverReport) -> dict[str, Any]:
    return {
        "slices": [_slice(score) for score in retriever.slices],
        "ledger": asdict(retriever.overall.ledger),
        "checks": [
            {"name": check.name, "status": check.status.value, "passed": check.passed, "blocking": check.blocking}
            for check in retriever.checks
        ],
    }


def _slice(score: SliceScore) -> dict[str, Any]:
    means: Triad | tuple[None, None, None] = score.means or (None, None, None)
    return {"slice": score.slice, "n": score.n, **dict(zip(METRICS, means, strict=True))}
