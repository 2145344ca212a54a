"""The case set."""

from collections.abc import Iterator
from typing import Any

import dagster as dg
import polars as pl

from recall_assets.assets.metadata import column_schema, frame_output
from recall_assets.checks.inputs import validity_result, validity_spec
from recall_assets.config import Settings
from recall_assets.schemas import CASES, cards_of, cases_frame
from recall_assets.sources.cases import read_cases, unresolved_labels


@dg.asset(
    group_name="cases",
    kinds={"yaml", "polars"},
    code_version="1",
    metadata=column_schema(CASES),
    output_required=False,
    check_specs=[validity_spec("cases_valid", "case_set"), validity_spec("gold_ids_resolve", "case_set")],
)
def case_set(settings: dg.ResourceParam[Settings], kb_cards: pl.DataFrame) -> Iterator[Any]:
    """Every case, its labels resolved against the cards; nothing is written unless all are valid."""
    cases, problems = read_cases(settings.cases)
    # Labels of cases that could not be read are not known to resolve either.
    unresolved = unresolved_labels(cases, cards_of(kb_cards)) + problems
    yield validity_result("cases_valid", "case_set", problems, f"{len(cases)} cases are valid")
    yield validity_result("gold_ids_resolve", "case_set", unresolved, "every gold and relevant id is a live card")
    if not unresolved:
        gold_bearing = sum(case.gold_bearing for case in cases)
        yield frame_output(cases_frame(cases), source=str(settings.cases), gold_bearing=gold_bearing)
