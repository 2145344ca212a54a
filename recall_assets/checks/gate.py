"""The gate's checks on `gate_verdict`: whether every retriever was scored, the floors, and no regression.

The rules themselves are in `recall_assets.floors` and `recall_assets.comparison`.
"""

from collections.abc import Sequence
from dataclasses import asdict
from itertools import groupby
from typing import Any

import dagster as dg
import polars as pl

from recall_assets.gate import REGRESSION_RULE, SCORED_RULE, RuleResult, status_weight
from recall_assets.reporting.model import check_of_rules
from recall_assets.slice_names import OVERALL
from recall_assets.verdicts import rules_of

_DESCRIPTIONS = {
    SCORED_RULE: "Every retriever has a result for every case, from this knowledge base, case set and configuration.",
    "hit_floor": "Mean hit@k is at or above its floor. Inactive until a floor is set.",
    "recall_floor": "Mean recall@k is at or above its floor. Inactive until a floor is set.",
    "ndcg_floor": "Mean nDCG@k is at or above its floor. Inactive until a floor is set.",
    REGRESSION_RULE: "No slice is shown to be worse than in the baseline, and no critical case is lost. Inactive until "
    "a baseline exists.",
}
_COLUMN_TYPES = {
    "retriever": "string",
    "slice": "string",
    "status": "string",
    "threshold": "float",
    "observed": "float",
    "n": "int",
    "low": "float",
    "high": "float",
    "detail": "string",
}


def gate_check(rule: str) -> dg.AssetChecksDefinition:
    """The blocking check of one rule over all retrievers."""

    @dg.asset_check(name=rule, asset="gate_verdict", blocking=True, description=_DESCRIPTIONS[rule])
    def check(gate_verdict: pl.DataFrame) -> dg.AssetCheckResult:
        results = rules_of(gate_verdict.filter(pl.col("rule") == rule))
        return dg.AssetCheckResult(
            passed=bool(results) and all(result.status.passes for result in results),
            severity=dg.AssetCheckSeverity.ERROR,
            description=_description(results),
            metadata=_metadata(results),
        )

    return check


def _description(results: Sequence[RuleResult]) -> str:
    """A Markdown list, worst first: of each retriever the worst slice, because the table below has all."""
    by_retriever = [
        (name, check) for name, those in groupby(results, key=lambda r: r.retriever) for check in check_of_rules(those)
    ]
    worst_first = sorted(by_retriever, key=lambda found: status_weight(found[1].status))
    return "\n".join(f"- {name}: {check.headline}" for name, check in worst_first) or "no retriever was judged"


def _metadata(results: Sequence[RuleResult]) -> dict[str, Any]:
    worst_first = sorted(results, key=lambda result: status_weight(result.status))
    rows = [{**asdict(result), "status": result.status.value} for result in worst_first]
    # A column in which nothing stands would only take the room from the finding.
    columns = [name for name in _COLUMN_TYPES if any(row[name] is not None for row in rows)]
    schema = dg.TableSchema([dg.TableColumn(name, _COLUMN_TYPES[name]) for name in columns])
    records = [dg.TableRecord({name: row[name] for name in columns}) for row in rows]
    statuses = {result.status for result in results}
    metadata: dict[str, Any] = {
        "status": ", ".join(sorted(statuses)),
        "results": dg.MetadataValue.table(records, schema),
    }
    return metadata | {
        f"{result.retriever}/observed": result.observed
        for result in results
        if result.slice == OVERALL and result.observed is not None
    }
