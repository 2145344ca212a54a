"""Reading a captured run: what a live assistant retrieved, one case a line, in its own order.

`{"case_id": "...", "retrieved": [...]}`, whose items are ids or `{"chunk_id", "parent_id"?, "score"?}`. The order is
kept as it stands; scores never reorder a captured run.
"""

import math
from pathlib import Path

from recall_assets.problems import Problem, whole_file
from recall_assets.records import Origin, Retrieved
from recall_assets.sources.fields import Fields
from recall_assets.sources.files import data_files, read_text
from recall_assets.sources.json_lines import RawRecord, json_type, parse_json_lines

Run = dict[str, tuple[Retrieved, ...]]
_FIELDS = ("case_id", "retrieved")
_ITEM_FIELDS = ("chunk_id", "parent_id", "score")


def read_captured_run(path: Path) -> tuple[Run, list[Problem]]:
    """Case id to ranked result, in file order, and every problem."""
    problems: list[Problem] = []
    run: Run = {}
    first_seen: dict[str, Origin] = {}
    for file in data_files(path, (".jsonl",), problems):
        text = read_text(file, problems)
        for record in parse_json_lines(text or "", str(file), problems):
            fields = Fields(record, _FIELDS, problems)
            case_id = fields.identifier("case_id")
            retrieved = _results(fields, problems)
            if not fields.ok:
                continue
            if case_id in run:
                fields.problem("case_id", f'case "{case_id}" already has a result at {first_seen[case_id]}; keep one')
                continue
            run[case_id] = retrieved
            first_seen[case_id] = record.origin
    if not run and not problems:
        problems.append(whole_file(path, "no result at all; write one object a line"))
    return run, problems


def _results(fields: Fields, problems: list[Problem]) -> tuple[Retrieved, ...]:
    name = "retrieved"
    if name not in fields.record.values:
        fields.problem(name, 'missing field "retrieved"; write [] for an empty result, no line for a failed retrieval')
        return ()
    items = fields.record.values[name]
    if not isinstance(items, list):
        fields.problem(name, f"retrieved is {json_type(items)} instead of a list; write [] for an empty result")
        return ()
    results = [_item(fields, index, item, problems) for index, item in enumerate(items)]
    return tuple(result for result in results if result is not None)


def _item(fields: Fields, index: int, item: object, problems: list[Problem]) -> Retrieved | None:
    where = f"retrieved[{index}]"
    if isinstance(item, str):
        chunk_id = fields.id_item("retrieved", index, item)
        return Retrieved(chunk_id) if chunk_id else None
    if not isinstance(item, dict):
        fields.problem("retrieved", f'{where} is {json_type(item)}; write an id in quotes or {{"chunk_id": ...}}')
        return None
    found: list[Problem] = []
    inner = Fields(RawRecord(item, fields.record.origin), _ITEM_FIELDS, found)
    chunk_id = inner.identifier("chunk_id")
    parent_id = None if item.get("parent_id") is None else inner.identifier("parent_id")
    score = _score(inner)
    if found:
        fields.ok = False
        problems.extend(Problem(p.file, p.line, f"{where}: {p.what}") for p in found)
        return None
    return Retrieved(chunk_id, parent_id, score)


def _score(fields: Fields) -> float | None:
    value = fields.record.values.get("score")
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        fields.problem("score", f"score is {json_type(value)}; write a number or leave it out")
        return None
    try:
        score = float(value)
    except OverflowError:
        score = math.inf
    if not math.isfinite(score):
        fields.problem("score", "score is too large for a number; leave it out")
    return score
