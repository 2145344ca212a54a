"""From the `SLICE_SCORES` frame to the `VERDICTS` frame and the report. The rules are in `recall_assets.gate`."""

from dataclasses import astuple

import polars as pl

from recall_assets.config import Settings
from recall_assets.gate import RuleResult, judge, verdict_of
from recall_assets.reporting.model import Report, RetrieverReport, check_of_rule
from recall_assets.schemas import VERDICTS, build_frame
from recall_assets.score_frames import reasons_not_scored, slices_by_retriever


def verdict_frame(slice_scores: pl.DataFrame, settings: Settings) -> pl.DataFrame:
    """The `VERDICTS` frame: every rule for every retriever."""
    rules = (rule for results in _judged(slice_scores, settings).values() for rule in results)
    return build_frame(VERDICTS, (astuple(rule) for rule in rules))


def report_of_slices(slice_scores: pl.DataFrame, settings: Settings) -> Report:
    """The report on a `SLICE_SCORES` frame."""
    judged, reasons = _judged(slice_scores, settings), reasons_not_scored(slice_scores)
    retrievers = [
        RetrieverReport(name, slices, [check_of_rule(rule) for rule in judged[name]], reasons.get(name))
        for name, slices in slices_by_retriever(slice_scores).items()
    ]
    verdict = verdict_of((check.name, check.status) for retriever in retrievers for check in retriever.checks)
    return Report(verdict, settings.top_k, retrievers)


def _judged(slice_scores: pl.DataFrame, settings: Settings) -> dict[str, list[RuleResult]]:
    reasons = reasons_not_scored(slice_scores)
    return {
        name: judge(name, slices, settings.gate.floors, reasons.get(name))
        for name, slices in slices_by_retriever(slice_scores).items()
    }
