"""JSONL: one object a line, with the line it came from."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from recall_assets.problems import Problem
from recall_assets.records import Origin
from recall_assets.sources.files import lines


@dataclass(frozen=True)
class RawRecord:
    """An object of an input file before its fields are checked.

    Attributes:
        values: Field name to value, as JSON types.
        origin: Where the record starts.
        lines: Line of each field where it differs from the record's (YAML).
    """

    values: dict[str, Any]
    origin: Origin
    lines: dict[str, int] = field(default_factory=dict)

    def line(self, name: str) -> int:
        """The line of a field, or of the record where the field has none of its own."""
        return self.lines.get(name, self.origin.line)


def parse_json_lines(text: str, file: str, problems: list[Problem]) -> Iterator[RawRecord]:
    """The objects of a JSONL text; blank lines are allowed, anything else that is no object is a problem."""
    for number, line in lines(text):
        if not line.strip():
            continue
        try:
            value = json.loads(
                line, object_pairs_hook=_unique_keys, parse_constant=_no_constant, parse_int=_whole_number
            )
        except json.JSONDecodeError as error:
            problems.append(Problem(file, number, f"not JSON: {error.msg} at column {error.colno}", error.colno))
        except ValueError as error:
            problems.append(Problem(file, number, f"not usable JSON: {error}"))
        except RecursionError:
            problems.append(Problem(file, number, "not usable JSON: nested too deeply; write one flat object a line"))
        else:
            if isinstance(value, dict):
                yield RawRecord(value, Origin(file, number))
            else:
                problems.append(Problem(file, number, f"{json_type(value)} instead of an object {{...}}"))


def json_type(value: object) -> str:
    """What a JSON value is, in words for an error message."""
    match value:
        case None:
            return "null"
        case bool():
            return "true or false"
        case int() | float():
            return "a number"
        case str():
            return "a string"
        case list():
            return "a list"
        case _:
            return "an object"


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for key, value in pairs:
        if key in values:
            raise ValueError(f'the key "{key}" stands twice; keep one')
        values[key] = value
    return values


def _whole_number(digits: str) -> int:
    try:
        return int(digits)
    except ValueError:  # Python's limit on digits, which its own message tells how to lift
        raise ValueError(f"a number of {len(digits)} digits; write ids in quotes") from None


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON; write a number or leave the field out")
