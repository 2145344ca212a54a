"""Reading the case set (YAML or JSONL), and resolving its labels against a knowledge base."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from recall_assets.problems import Problem, whole_file
from recall_assets.records import Card, Case, Origin
from recall_assets.sources.fields import Fields
from recall_assets.sources.files import data_files, read_text
from recall_assets.sources.json_lines import RawRecord, json_type, parse_json_lines
from recall_assets.sources.yaml_nodes import parse_yaml
from recall_assets.text import did_you_mean

_FIELDS = ("case_id", "locale", "case_type", "query", "must_cite_one_of", "relevant_ids", "tags")
_SUFFIXES = (".jsonl", ".yaml", ".yml")
# A slice is written `case_type=golden,locale=en`: its parts must not hold the separators.
_WORD = re.compile(r"[\w.-]+")


def read_cases(path: Path) -> tuple[list[Case], list[Problem]]:
    """Every readable case, sorted by id, and every problem.

    Args:
        path: A JSONL or YAML file, or a folder of them.
    """
    cases, problems, _ = read_cases_and_faulty(path)
    return cases, problems


def read_cases_and_faulty(path: Path) -> tuple[list[Case], list[Problem], list[Case]]:
    """As `read_cases`, with the cases that have a fault, as far as they can be read: their labels are still labels."""
    problems: list[Problem] = []
    unique: dict[str, Case] = {}
    faulty: list[Case] = []
    for file in data_files(path, _SUFFIXES, problems):
        for case, ok in _read_file(file, problems):
            first = unique.setdefault(case.case_id, case) if case.case_id else case
            if first is not case:
                what = f'case_id "{case.case_id}" is taken by {first.origin}; give each case its own'
                problems.append(Problem(case.origin.file, case.origin.line, what))
            if not ok:
                faulty.append(case)
    if not unique and not problems:
        problems.append(whole_file(path, "no case at all; a case set needs at least one"))
    known_faulty = set(map(id, faulty))
    usable = [unique[case_id] for case_id in sorted(unique) if id(unique[case_id]) not in known_faulty]
    return usable, problems, faulty


def unresolved_labels(cases: Iterable[Case], cards: Iterable[Card], faulty_cards: Iterable[str] = ()) -> list[Problem]:
    """One problem for each gold or relevant id that is no live card, with the nearest id as a hint.

    An id is live if at least one locale's text of the card is not retired.

    Args:
        cases: Whose labels to resolve.
        cards: The knowledge base.
        faulty_cards: Ids of cards that are there and could not be read; a label may name them.
    """
    everything = list(cards)
    live = {card.card_id for card in everything if not card.retired} | set(faulty_cards)
    retired = {card.card_id for card in everything} - live
    problems = []
    for case in cases:
        labels = [("gold", case.must_cite_one_of), ("relevant", case.relevant_ids or ())]
        for kind, ids in labels:
            for card_id in ids:
                if card_id in live:
                    continue
                why = "is retired" if card_id in retired else "is no card of the knowledge base"
                hint = did_you_mean(card_id, live) or "; correct it or add the card"
                what = f'case "{case.case_id}": {kind} id "{card_id}" {why}{hint}'
                problems.append(Problem(case.origin.file, case.origin.line, what))
    return problems


def _read_file(path: Path, problems: list[Problem]) -> list[tuple[Case, bool]]:
    text = read_text(path, problems)
    if text is None:
        return []
    before = len(problems)
    parse = _yaml_records if path.suffix.lower() in (".yaml", ".yml") else parse_json_lines
    cases = [_case(record, problems) for record in parse(text, str(path), problems)]
    if not cases and len(problems) == before:
        problems.append(whole_file(path, "no case at all in this file"))
    return cases


def _yaml_records(text: str, file: str, problems: list[Problem]) -> Iterator[RawRecord]:
    document = parse_yaml(text, file, problems, scalars_as_text=True)
    if document is None or document.value is None:
        return
    if not isinstance(document.value, list):
        what = "expected a list of cases, each starting with `- case_id:`"
        problems.append(Problem(file, document.positions[()][0], what))
        return
    for index, item in enumerate(document.value):
        if index in document.faulty:
            continue
        line = document.positions[(index,)][0]
        if not isinstance(item, dict):
            problems.append(Problem(file, line, f"case {index + 1} is {json_type(item)} instead of fields"))
            continue
        yield RawRecord(item, Origin(file, line), {key: document.positions[(index, key)][0] for key in item})


def _case(record: RawRecord, problems: list[Problem]) -> tuple[Case, bool]:
    """A case as far as it can be read, and whether it can be used."""
    fields = Fields(record, _FIELDS, problems)
    case = Case(
        case_id=fields.identifier("case_id"),
        locale=fields.locale("locale"),
        case_type=_word(fields, "case_type"),
        query=fields.text("query"),
        must_cite_one_of=fields.identifiers("must_cite_one_of", required=True),
        relevant_ids=fields.identifiers("relevant_ids", at_least_one=True) or None,
        tags=fields.identifiers("tags"),
        origin=record.origin,
    )
    return case, fields.ok


def _word(fields: Fields, name: str) -> str:
    value = fields.identifier(name)
    if value and not _WORD.fullmatch(value):
        fields.problem(name, f'{name} "{value}" is not one word; use letters, digits, "_", "-" and "."')
    return value
