"""From the `SLICE_SCORES` frame to the `VERDICTS` frame and the report. The rules are in `recall_assets.gate`."""

from collections.abc import Mapping, Sequence
from dataclasses import astuple

import polars as pl

from recall_assets.config import Settings
from recall_assets.gate import RuleResult, judge, verdict_of
from recall_assets.reporting.model import CheckResult, Report, RetrieverReport, check_of_rule
from recall_assets.schemas import VERDICTS, build_frame
from recall_assets.score_frames import reasons_not_scored, slices_by_retriever


def verdict_frame(slice_scores: pl.DataFrame, settings: Settings) -> pl.DataFrame:
    """The `VERDICTS` frame: every rule for every retriever."""
    rules = (rule for results in _judged(slice_scores, settings).values() for rule in results)
    return build_frame(VERDICTS, (astuple(rule) for rule in rules))


def rule_checks(slice_scores: pl.DataFrame, settings: Settings) -> dict[str, list[CheckResult]]:
    """By retriever, the gate's rules in the form in which reports list checks."""
    judged = _judged(slice_scores, settings)
    return {name: [check_of_rule(rule) for rule in rules] for name, rules in judged.items()}


def build_report(slice_scores: pl.DataFrame, checks: Mapping[str, Sequence[CheckResult]]) -> Report:
    """The report on a `SLICE_SCORES` frame.

    Args:
        slice_scores: The frame, of at least one retriever.
        checks: By retriever, every check that concerns it; they decide the verdict.
    """
    reasons = reasons_not_scored(slice_scores)
    retrievers = [
        RetrieverReport(name, slices, list(checks[name]), reasons.get(name))
        for name, slices in slices_by_retriever(slice_scores).items()
    ]
    verdict = verdict_of((check.name, check.status) for retriever in retrievers for check in retriever.checks)
    return Report(verdict, slice_scores["top_k"][0], retrievers)


def _judged(slice_scores: pl.DataFrame, settings: Settings) -> dict[str, list[RuleResult]]:
    reasons = reasons_not_scored(slice_scores)
    k = slice_scores["top_k"][0]
    if k != settings.top_k:
        outdated = f"slice_scores are at k = {k}, the configuration says {settings.top_k}; run the sweep again"
        reasons = dict.fromkeys(slice_scores["retriever"], outdated)
    return {
        name: judge(name, slices, settings.gate.floors, reasons.get(name))
        for name, slices in slices_by_retriever(slice_scores).items()
    }
