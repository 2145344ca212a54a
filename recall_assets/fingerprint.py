"""Digests that say whether two inputs, models or results are the same."""

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl


def digest(value: Any) -> str:
    """SHA-256, in hexadecimal, of a JSON-serializable value; mappings are sorted by key, floats at full precision."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def digest_frame(frame: "pl.DataFrame") -> str:
    """SHA-256 of a polars frame: names, types, and values at full precision, in the order of its rows."""
    # As text, because Arrow's bytes also follow from how a frame came about: what lies under its nulls, for one.
    return hashlib.sha256(f"{frame.schema}\n{frame.write_ndjson()}".encode()).hexdigest()


def digest_files(paths: Iterable[Path]) -> str:
    """SHA-256 over the names and contents of files, in the order given."""
    total = hashlib.sha256()
    for path in paths:
        with path.open("rb") as file:
            total.update(f"{path.name}\0{hashlib.file_digest(file, 'sha256').hexdigest()}\0".encode())
    return total.hexdigest()
