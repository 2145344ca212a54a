"""YAML with positions: the value of a document, and line and column of every key and item in it.

Scalars keep their spelling on request, so that an id `007` stays `007` and a locale `no` does not become false. What
the values must be is checked by whoever reads them (`config`, `cases`, `cards`).
"""

import re
from dataclasses import dataclass, field
from typing import Any

import yaml

from recall_assets.problems import Problem

Path = tuple[str | int, ...]
_Loader: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

# YAML 1.1 ends a line at these; here only LF does, so they travel through the parser as code points that Unicode
# promises never to give a meaning.
_NOT_LINE_ENDS = {"\r": "\U0001fffe", "\x85": "\U0001ffff", "\u2028": "\U0002fffe", "\u2029": "\U0002ffff"}
_HIDE = str.maketrans(_NOT_LINE_ENDS)
_SHOW = str.maketrans({hidden: shown for shown, hidden in _NOT_LINE_ENDS.items()})

# No input of this project nests deeper than a handful; Python's own limit depends on who calls.
_DEEPEST = 50
_TOO_DEEP = "nested too deeply; write it flat"
# YAML 1.1 reads 010 as 8, 1:30 as 90 and 1_0 as 10, which no one means here.
_ODD_NUMBER = re.compile(r"[-+]?0[0-9bx].*|.*[:_].*", re.IGNORECASE)


@dataclass
class Document:
    """A parsed document.

    Attributes:
        value: Dicts with string keys, lists, and scalars; None for an empty document.
        positions: Line and column, from 1, of what stands at a path of keys and indices; `()` is the document.
        faulty: The top-level keys or indices under which something was reported, and whose value is not to be used.
    """

    value: Any
    positions: dict[Path, tuple[int, int]] = field(default_factory=dict)
    faulty: set[str | int] = field(default_factory=set)


def parse_yaml(
    text: str, file: str, problems: list[Problem], *, first_line: int = 1, scalars_as_text: bool = False
) -> Document | None:
    """Parses one YAML document; None, and a problem with its position, if nothing of it can be used.

    Args:
        text: The document, LF line ends.
        file: Name for problems.
        problems: Problems are added here: syntax, repeated keys, anchors and aliases (not supported, because a value
            should stand where it is read).
        first_line: Line of the file at which `text` starts.
        scalars_as_text: Keep every scalar as the string that was written, null as None.
    """
    try:
        root = yaml.compose(text.translate(_HIDE), Loader=_Loader)
    except yaml.reader.ReaderError as error:
        code = _code(error.character)
        line = text.count("\n", 0, text.find(chr(code))) + first_line  # error.position may count bytes
        problems.append(Problem(file, line, f"not YAML: control character U+{code:04X}; remove it"))
        return None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line, mark.column + 1) if mark else (0, 1)
        if line > text.count("\n"):  # the end of the text, given as a line after its last
            line, column = text.count("\n"), len(text) - text.rfind("\n")
        what = ", ".join(part for part in (error.context, error.problem) if part)
        problems.append(Problem(file, line + first_line, f"not YAML: {what.translate(_SHOW)}", column))
        return None
    except RecursionError:  # the parser in C has a limit of its own, the one in Python has not
        problems.append(Problem(file, first_line, f"not YAML: {_TOO_DEEP}"))
        return None
    if root is None:
        return Document(None, {(): (first_line, 1)})
    reader = _Reader(file, problems, first_line, scalars_as_text)
    value = reader.value(root, ())
    return Document(value, reader.positions, reader.faulty) if not reader.hopeless else None


class _Reader:
    def __init__(self, file: str, problems: list[Problem], first_line: int, scalars_as_text: bool) -> None:
        self.file = file
        self.problems = problems
        self.first_line = first_line
        self.scalars_as_text = scalars_as_text
        self.positions: dict[Path, tuple[int, int]] = {}
        self.seen: set[int] = set()
        self.faulty: set[str | int] = set()
        self.hopeless = False
        self.scalars = yaml.SafeLoader("")

    def value(self, node: yaml.Node, path: Path) -> Any:
        position = (node.start_mark.line + self.first_line, node.start_mark.column + 1)
        self.positions.setdefault(path, position)
        if id(node) in self.seen:  # an alias is the anchored node itself; following it could also go round for ever
            self._problem(node, path, "anchors and aliases are not supported; write the value out")
            return None
        self.seen.add(id(node))
        if len(path) > _DEEPEST:
            self._problem(node, path, _TOO_DEEP)
            return None
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, path)
        if isinstance(node, yaml.SequenceNode):
            return [self.value(item, (*path, index)) for index, item in enumerate(node.value)]
        return self._scalar(node, path)

    def _mapping(self, node: yaml.MappingNode, path: Path) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                self._problem(key_node, path, "a key must be a plain word")
                continue
            key = str(key_node.value).translate(_SHOW)
            if key in values:
                self._problem(key_node, (*path, key), f'the key "{key}" stands twice; keep one')
                continue
            self.positions[(*path, key)] = (key_node.start_mark.line + self.first_line, key_node.start_mark.column + 1)
            values[key] = self.value(value_node, (*path, key))
        return values

    def _scalar(self, node: yaml.Node, path: Path) -> Any:
        text = str(node.value).translate(_SHOW)
        if node.tag == "tag:yaml.org,2002:null":
            return None
        if self.scalars_as_text or node.tag == "tag:yaml.org,2002:str":
            return text
        kind = node.tag.rpartition(":")[2]
        try:
            if kind not in ("int", "float") or not _ODD_NUMBER.fullmatch(text):
                return self.scalars.construct_object(node)
        except (yaml.YAMLError, ValueError, LookupError, AttributeError):  # a tag that the text does not fit
            pass
        self._problem(node, path, f"cannot be read as {kind}; write it plainly or put it in quotes")
        return None

    def _problem(self, node: yaml.Node, path: Path, what: str) -> None:
        self.faulty.update(path[:1])
        self.hopeless = self.hopeless or not path
        mark = node.start_mark
        self.problems.append(Problem(self.file, mark.line + self.first_line, what, mark.column + 1))


def _code(character: int | str) -> int:
    return ord(character) if isinstance(character, str) else character
