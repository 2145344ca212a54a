"""Taking typed fields out of a raw record, with a problem for each that is missing, unknown or of the wrong kind.

The vocabulary of rules shared by cards, cases and captured runs; which fields a record has is said in those modules.
"""

import re
from collections.abc import Sequence
from typing import Any

from recall_assets.problems import Problem
from recall_assets.sources.json_lines import RawRecord, json_type
from recall_assets.text import canonical_locale, did_you_mean, normal_id

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


class Fields:
    """The fields of one record; every rule that does not hold adds one problem at the field's line."""

    def __init__(self, record: RawRecord, known: Sequence[str], problems: list[Problem]) -> None:
        """Starts on a record, and reports the fields that are not among the known ones."""
        self.record = record
        self._problems = problems
        self.ok = True
        for name in record.values:
            if name not in known:
                hint = did_you_mean(name, known) or f"; known fields: {', '.join(known)}"
                self.problem(name, f'unknown field "{name}"{hint}')

    def problem(self, name: str, what: str) -> None:
        """Adds a problem at the line of a field, and marks the record as not usable."""
        self.ok = False
        self._problems.append(Problem(self.record.origin.file, self.record.line(name), what))

    def text(self, name: str) -> str:
        """A required string with something in it; returned as written."""
        value = self._required(name)
        if value is None:
            return ""
        if not isinstance(value, str):
            self.problem(name, f"{name} is {json_type(value)}; write a string in quotes")
            return ""
        if not value.strip():
            self.problem(name, f"{name} is empty; write something or remove the record")
        return self._encodable(name, value)

    def identifier(self, name: str) -> str:
        """A required id: normalised, not empty, one line without control characters."""
        value = self.text(name)
        return self._checked_id(name, value) if value.strip() else ""

    def locale(self, name: str) -> str:
        """A required language tag, in canonical form."""
        value = self.text(name)
        return self.canonical(name, value) if value.strip() else ""

    def canonical(self, name: str, tag: str) -> str:
        """The canonical form of a language tag; an unknown one is a problem."""
        known = canonical_locale(tag)
        if known is None:
            self.problem(name, f'unknown locale "{tag}"; write a BCP 47 tag such as en, es-419 or pt-BR')
        return known or ""

    def identifiers(self, name: str, *, required: bool = False, at_least_one: bool = False) -> tuple[str, ...]:
        """A list of ids, in order, repeats removed; an absent optional one is empty."""
        items = self._list(name, required)
        ids = [self.id_item(name, index, item) for index, item in enumerate(items)]
        if at_least_one and self.record.values.get(name) == []:
            self.problem(name, f"{name} is empty; leave the field out or name at least one id")
        return tuple(dict.fromkeys(item for item in ids if item))

    def flag(self, name: str) -> bool:
        """An optional true or false, false where absent; YAML spellings true and false are accepted."""
        value = self.record.values.get(name, False)
        if isinstance(value, str) and value in ("true", "false"):
            return value == "true"
        if not isinstance(value, bool):
            self.problem(name, f"{name} is {json_type(value)}; write true or false")
            return False
        return value

    def id_item(self, name: str, index: int, item: object) -> str:
        """One item of a list of ids, normalised; empty, with a problem, if it is no id."""
        where = f"{name}[{index}]"
        if not isinstance(item, str):
            self.problem(name, f"{where} is {json_type(item)}; write the id as a string in quotes")
            return ""
        if not item.strip():
            self.problem(name, f"{where} is empty; remove it or write an id")
            return ""
        return self._checked_id(where, self._encodable(name, item), field=name)

    def _required(self, name: str) -> Any:
        if name not in self.record.values:
            self.problem(name, f'missing field "{name}"')
            return None
        value = self.record.values[name]
        if value is None:
            self.problem(name, f"{name} is empty; write a value")
        return value

    def _list(self, name: str, required: bool) -> list[Any]:
        if name not in self.record.values:
            if required:
                self.problem(name, f'missing field "{name}"; write [] if there is none')
            return []
        value = self.record.values[name]
        if isinstance(value, list):
            return value
        example = f'["{value}"]' if isinstance(value, str) and value.strip() else "[...], or [] for none"
        self.problem(name, f"{name} is {json_type(value)} instead of a list; write {example}")
        return []

    def _checked_id(self, label: str, value: str, field: str | None = None) -> str:
        identifier = normal_id(value)
        if _CONTROL.search(identifier):
            self.problem(field or label, f"{label} holds a control character; write the id on one line")
            return ""
        return identifier

    def _encodable(self, name: str, value: str) -> str:
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:
            self.problem(name, f"{name} holds half of a surrogate pair; write the whole character")
            return ""
        return value
