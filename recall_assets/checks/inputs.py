"""Checks on what was read: `cards_valid`, `cases_valid`, `gold_ids_resolve`, and the warning `locale_coverage`.

The first three are evaluated inside their assets, which write nothing when they fail.
"""

from collections.abc import Sequence

import dagster as dg
import polars as pl

from recall_assets.coverage import coverage_table, uncovered_cases
from recall_assets.problems import Problem

_DESCRIPTIONS = {
    "cards_valid": "Every card is readable, has an id unique in its locale, a title, a text and a known locale.",
    "cases_valid": "Every case is readable and has a unique id, a known locale, a query and a list of gold ids.",
    "gold_ids_resolve": "Every gold and relevant id is a live card, so that a label error cannot pass for a miss.",
}


def validity_spec(name: str, asset: str) -> dg.AssetCheckSpec:
    """The specification of one of the blocking checks that are evaluated while reading."""
    return dg.AssetCheckSpec(name, asset=asset, blocking=True, description=_DESCRIPTIONS[name])


def validity_result(name: str, asset: str, problems: Sequence[Problem], when_valid: str) -> dg.AssetCheckResult:
    """The result of such a check: passed without problems, otherwise failed with all of them."""
    first = f"{len(problems)} problems, the first: {problems[0]}" if problems else when_valid
    return dg.AssetCheckResult(
        asset_key=asset,
        check_name=name,
        passed=not problems,
        severity=dg.AssetCheckSeverity.ERROR,
        description=first,
        metadata={"problems": len(problems), "details": _problem_table(problems)},
    )


@dg.asset_check(asset="case_set", blocking=False, additional_ins={"kb_cards": dg.AssetIn()})
def locale_coverage(case_set: pl.DataFrame, kb_cards: pl.DataFrame) -> dg.AssetCheckResult:
    """Each case's gold has a text in the case's locale; shows n per locale and case type. Warns only."""
    uncovered = uncovered_cases(case_set, kb_cards)
    if uncovered:
        case_id, locale, cards = uncovered[0]
        description = (
            f"{len(uncovered)} gold-bearing cases have no gold card with a text in their locale, the first: "
            f"{case_id} ({locale}; {', '.join(cards)}); a locale filter makes these misses"
        )
    else:
        description = "every gold-bearing case has a gold card with a text in its locale"
    records = [dg.TableRecord({"case_id": c, "locale": tag, "gold": ", ".join(g)}) for c, tag, g in uncovered]
    columns = [dg.TableColumn("case_id"), dg.TableColumn("locale"), dg.TableColumn("gold")]
    return dg.AssetCheckResult(
        passed=not uncovered,
        severity=dg.AssetCheckSeverity.WARN,
        description=description,
        metadata={
            "uncovered": len(uncovered),
            "cases": dg.MetadataValue.md(coverage_table(case_set)),
            "details": dg.MetadataValue.table(records, dg.TableSchema(columns)),
        },
    )


def _problem_table(problems: Sequence[Problem]) -> dg.TableMetadataValue:
    records = [dg.TableRecord({"where": f"{p.file}:{p.line}", "what": p.what}) for p in problems]
    columns = [dg.TableColumn("where"), dg.TableColumn("what")]
    return dg.MetadataValue.table(records, dg.TableSchema(columns))
