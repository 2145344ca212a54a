"""What Dagster recorded of a sweep's checks, in the form in which reports list them.

An expected check without an evaluation is inconclusive: a gate must not be green because nothing was measured.
"""

from collections.abc import Mapping
from typing import Any

import dagster as dg

from recall_assets.automation import partition_of, runs_of_sweep
from recall_assets.config import Settings
from recall_assets.gate import RULES, RuleResult, Status
from recall_assets.reporting.model import CheckResult
from recall_assets.slice_names import OVERALL

Evaluations = dict[tuple[str, str | None], dg.AssetCheckEvaluation]
"""By name of check and partition key; None for a check without partition."""


def sweep_evaluations(instance: dg.DagsterInstance, run: dg.DagsterRun) -> Evaluations:
    """The latest evaluation of each check in the sweep that a run belongs to; empty for a run of no sweep.

    The gate's rules count from that run alone: an earlier judgement was by other floors or another baseline.
    """
    evaluations: Evaluations = {}
    for other in reversed(runs_of_sweep(instance, run)):  # oldest first, so that the newest stays
        for entry in instance.all_logs(other.run_id, of_type=dg.DagsterEventType.ASSET_CHECK_EVALUATION):
            if entry.dagster_event is not None:
                evaluation = entry.dagster_event.asset_check_evaluation_data
                if evaluation.check_name not in RULES or other.run_id == run.run_id:
                    evaluations[evaluation.check_name, partition_of(other)] = evaluation
    return evaluations


def data_checks(settings: Settings, retriever: str, evaluations: Evaluations) -> list[CheckResult]:
    """The checks on inputs, collection and run that concern a retriever."""
    embedder = settings.retrievers[retriever].embedder
    return [
        *(_check(name, evaluations.get((name, None)), blocking=True) for name in _VALIDITY),
        _check("locale_coverage", evaluations.get(("locale_coverage", None)), blocking=False),
        _check("collection_complete", evaluations.get(("collection_complete", embedder)), blocking=True),
        _check("every_case_retrieved", evaluations.get(("every_case_retrieved", retriever)), blocking=True),
        _check("index_matches_exact", evaluations.get(("index_matches_exact", retriever)), blocking=False),
    ]


def gate_rules(retriever: str, evaluations: Evaluations) -> list[RuleResult]:
    """The gate's rules as their checks were evaluated for a retriever; one that did not run is inconclusive."""
    return [result for rule in RULES for result in _rule(rule, retriever, evaluations.get((rule, None)))]


_VALIDITY = ("cards_valid", "cases_valid", "gold_ids_resolve")


def _check(name: str, evaluation: dg.AssetCheckEvaluation | None, *, blocking: bool) -> CheckResult:
    if evaluation is None:
        return CheckResult(name, Status.INCONCLUSIVE, blocking, "did not run")
    if not evaluation.passed:
        status = Status.WARNING if evaluation.severity is dg.AssetCheckSeverity.WARN else Status.FAILED
    else:
        said = evaluation.metadata.get("status")
        status = Status.INACTIVE if said is not None and said.value == Status.INACTIVE else Status.PASSED
    return CheckResult(name, status, blocking, evaluation.description or "")


def _rule(rule: str, retriever: str, evaluation: dg.AssetCheckEvaluation | None) -> list[RuleResult]:
    """A gate check is one evaluation over all retrievers; its metadata has the rows of each."""
    table = None if evaluation is None else evaluation.metadata["results"]
    rows = [record.data for record in table.records] if isinstance(table, dg.TableMetadataValue) else []
    results = [_rule_result(rule, row) for row in rows if row["retriever"] == retriever]
    return results or [
        RuleResult(retriever, rule, OVERALL, Status.INCONCLUSIVE, None, None, 0, None, None, "did not run")
    ]


def _rule_result(rule: str, row: Mapping[str, Any]) -> RuleResult:
    empty = dict.fromkeys(("threshold", "observed", "low", "high"))  # left out of a table in which no row has them
    return RuleResult(**{**empty, **row, "rule": rule, "status": Status(str(row["status"]))})
