"""Reading a knowledge base: `kb/<locale>/<card_id>.md` with front matter, or JSONL."""

from pathlib import Path

from recall_assets.problems import Problem, whole_file
from recall_assets.records import Card, Origin
from recall_assets.sources.fields import Fields
from recall_assets.sources.files import is_folder, read_text, visible_entries
from recall_assets.sources.json_lines import RawRecord, parse_json_lines
from recall_assets.sources.yaml_nodes import parse_yaml
from recall_assets.text import canonical_locale, normal_id

_JSON_FIELDS = ("card_id", "locale", "title", "text", "tags", "retired")
_FRONT_FIELDS = ("title", "tags", "retired")
_FROM_ELSEWHERE = {"card_id": "the file's name", "locale": "the folder's name", "text": "below the second line ---"}
_FENCE = "---"


def read_cards(path: Path) -> tuple[list[Card], list[Problem]]:
    """Every readable card of a knowledge base, sorted by id and locale, and every problem in it.

    Args:
        path: A JSONL file, or a folder with one folder per locale and JSONL files directly in it, either or both.
    """
    cards, problems, _ = read_cards_and_names(path)
    return cards, problems


def read_cards_and_names(path: Path) -> tuple[list[Card], list[Problem], set[str]]:
    """As `read_cards`, with the id of every card that is there, readable or not.

    A gold id whose card has a fault of its own is not to be called unknown.
    """
    problems: list[Problem] = []
    names: set[str] = set()
    cards = _read_folder(path, problems, names) if is_folder(path) else _read_json_lines(path, problems, names)
    unique: dict[tuple[str, str], Card] = {}
    for card in cards:
        first = unique.setdefault((card.card_id, card.locale), card)
        if first is not card:
            what = f'card "{card.card_id}" has a second text for {card.locale}; the first is at {first.origin}'
            problems.append(Problem(card.origin.file, card.origin.line, what))
    if not unique and not problems:
        problems.append(whole_file(path, "no card at all; a knowledge base needs at least one"))
    if unique and not problems and all(card.retired for card in unique.values()):
        problems.append(whole_file(path, "every card is retired; a knowledge base needs at least one live card"))
    return [unique[key] for key in sorted(unique)], problems, names


def _read_folder(path: Path, problems: list[Problem], names: set[str]) -> list[Card]:
    cards: list[Card] = []
    entries = visible_entries(path, problems)
    if entries is None:
        return []
    if not entries:
        problems.append(whole_file(path, "the folder is empty; put cards in <locale>/<card_id>.md or a .jsonl file"))
    for entry in entries:
        if is_folder(entry):
            cards += _read_locale_folder(entry, problems, names)
        elif entry.suffix.lower() == ".jsonl":
            cards += _read_json_lines(entry, problems, names)
        elif entry.name != "README.md":
            what = "not read: cards stand in <locale>/<card_id>.md or in a .jsonl file; move it or rename it"
            problems.append(whole_file(entry, what))
    return cards


def _read_locale_folder(folder: Path, problems: list[Problem], names: set[str]) -> list[Card]:
    locale = canonical_locale(folder.name)
    if locale is None:
        what = f'unknown locale "{folder.name}"; name the folder by a BCP 47 tag such as en, es-419 or pt-BR'
        problems.append(whole_file(folder, what))
    cards: list[Card] = []
    entries = visible_entries(folder, problems)
    if entries is None:
        return []
    if not entries:
        problems.append(whole_file(folder, "the folder is empty; remove it or put <card_id>.md files in it"))
    for entry in entries:
        if is_folder(entry) or entry.suffix != ".md":
            problems.append(whole_file(entry, "not read: a locale folder holds only <card_id>.md files; move it"))
            continue
        names.add(normal_id(entry.stem))
        card = _read_markdown(entry, locale or "", problems)
        if card is not None and locale is not None:
            cards.append(card)
    return cards


def _read_markdown(path: Path, locale: str, problems: list[Problem]) -> Card | None:
    text = read_text(path, problems)
    if text is None:
        return None
    head, *rest = text.split("\n")
    fence = next((index for index, line in enumerate(rest) if line.rstrip() == _FENCE), None)
    if head.rstrip() != _FENCE or fence is None:
        what = "malformed front matter: start the file with a line ---, then `title: ...`, then another line ---"
        problems.append(whole_file(path, what))
        return None
    body = "\n".join(rest[fence + 1 :])
    document = parse_yaml("\n".join(rest[:fence]), str(path), problems, first_line=2, scalars_as_text=True)
    if document is None or document.faulty:
        return None
    if document.value is not None and not isinstance(document.value, dict):
        problems.append(Problem(str(path), 2, "malformed front matter: write `title: ...` and its like, one a line"))
        return None
    front: dict[str, object] = document.value or {}
    if front.get("tags", "") is None:
        del front["tags"]  # `tags:` with nothing after it
    values = {name: value for name, value in front.items() if name not in _FROM_ELSEWHERE}
    positions = {str(key[0]): position[0] for key, position in document.positions.items() if len(key) == 1}
    fields = Fields(RawRecord(values, Origin(str(path), 1), {"text": fence + 2, **positions}), _FRONT_FIELDS, problems)
    for name in filter(_FROM_ELSEWHERE.get, front):
        fields.problem(name, f'"{name}" does not belong in front matter: it is {_FROM_ELSEWHERE[name]}; remove it')
    values |= {"card_id": path.stem, "text": body.strip("\n")}
    card = _card(fields, locale)
    return card if fields.ok else None


def _read_json_lines(path: Path, problems: list[Problem], names: set[str]) -> list[Card]:
    text = read_text(path, problems)
    if text is None:
        return []
    before = len(problems)
    cards = []
    for record in parse_json_lines(text, str(path), problems):
        fields = Fields(record, _JSON_FIELDS, problems)
        card = _card(fields, fields.locale("locale"))
        names.add(card.card_id)
        if fields.ok:
            cards.append(card)
    if not cards and len(problems) == before:
        problems.append(whole_file(path, "no card at all; write one object a line"))
    return cards


def _card(fields: Fields, locale: str) -> Card:
    return Card(
        card_id=fields.identifier("card_id"),
        locale=locale,
        title=fields.text("title"),
        text=fields.text("text"),
        tags=fields.identifiers("tags"),
        retired=fields.flag("retired"),
        origin=fields.record.origin,
    )
