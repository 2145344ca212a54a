"""The gate's checks on `gate_verdict`: whether every retriever was scored, and the floors.

The rules themselves are in `recall_assets.gate`.
"""

from collections.abc import Sequence
from typing import Any

import dagster as dg
import polars as pl

from recall_assets.gate import FLOOR_RULES, SCORED_RULE, Status

_DESCRIPTIONS = {
    SCORED_RULE: "Every retriever has a result for every case, from this knowledge base, case set and configuration.",
    "hit_floor": "Mean hit@k is at or above its floor. Inactive until a floor is set.",
    "recall_floor": "Mean recall@k is at or above its floor. Inactive until a floor is set.",
    "ndcg_floor": "Mean nDCG@k is at or above its floor. Inactive until a floor is set.",
}
RULES = (SCORED_RULE, *FLOOR_RULES)


def gate_check(rule: str) -> dg.AssetChecksDefinition:
    """The blocking check of one rule over all retrievers."""

    @dg.asset_check(name=rule, asset="gate_verdict", blocking=True, description=_DESCRIPTIONS[rule])
    def check(gate_verdict: pl.DataFrame) -> dg.AssetCheckResult:
        rows = gate_verdict.filter(pl.col("rule") == rule).to_dicts()
        return dg.AssetCheckResult(
            passed=bool(rows) and all(row["status"] in (Status.PASSED, Status.INACTIVE) for row in rows),
            severity=dg.AssetCheckSeverity.ERROR,
            description=_description(rows),
            metadata=_metadata(rows),
        )

    return check


def _description(rows: Sequence[dict[str, Any]]) -> str:
    worst_first = sorted(rows, key=lambda row: row["status"] in (Status.PASSED, Status.INACTIVE))
    return "\n".join(f"{row['retriever']}: {row['detail']}" for row in worst_first) or "no retriever was judged"


def _metadata(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    columns = ("retriever", "status", "threshold", "observed", "n", "low", "high", "detail")
    records = [dg.TableRecord({column: row[column] for column in columns}) for row in rows]
    types = ("string", "string", "float", "float", "int", "float", "float", "string")
    schema = dg.TableSchema([dg.TableColumn(name, kind) for name, kind in zip(columns, types, strict=True)])
    statuses = {row["status"] for row in rows}
    metadata: dict[str, Any] = {
        "status": Status.INACTIVE.value if statuses == {Status.INACTIVE} else ", ".join(sorted(statuses)),
        "results": dg.MetadataValue.table(records, schema),
    }
    return metadata | {f"{row['retriever']}/observed": row["observed"] for row in rows if row["observed"] is not None}
