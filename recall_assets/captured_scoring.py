"""Scoring captured artefacts: a case set and a run from files, no store, no model and no Dagster."""

from collections import Counter
from collections.abc import Sequence

from recall_assets.config import Settings
from recall_assets.floors import judge_floors
from recall_assets.gate import Status, verdict_of
from recall_assets.outcomes import score_run
from recall_assets.records import Case
from recall_assets.reporting.model import CheckResult, Report, RetrieverReport, check_of_rules
from recall_assets.slices import slice_scores
from recall_assets.sources.captured import Run
from recall_assets.text import without_result

RETRIEVER = "captured"


def score_captured(cases: Sequence[Case], run: Run, settings: Settings, *, labels_resolved: bool) -> Report:
    """The report on a captured run, under the one retriever `captured`.

    Args:
        cases: The case set.
        run: Case id to ranked result; an absent case is missing, which makes the verdict inconclusive.
        settings: For the cutoff and the floors.
        labels_resolved: Whether the labels were checked against a knowledge base; if not, that check is not listed.
    """
    k = settings.top_k
    slices = slice_scores(Counter(score_run(cases, run, k).values()), k)
    missing = [case.case_id for case in cases if case.case_id not in run]
    rules = judge_floors(RETRIEVER, slices, settings.gate.floors_of(RETRIEVER))
    checks = [
        CheckResult("cases_valid", Status.PASSED, blocking=True),
        *([CheckResult("gold_ids_resolve", Status.PASSED, blocking=True)] if labels_resolved else []),
        CheckResult(
            "every_case_retrieved",
            Status.FAILED if missing else Status.PASSED,
            blocking=True,
            detail=without_result(missing, len(cases)) if missing else "",
        ),
        *check_of_rules(rules),
    ]
    verdict = verdict_of((check.name, check.status) for check in checks)
    return Report(verdict, k, [RetrieverReport(RETRIEVER, slices, checks, rules=rules)])
