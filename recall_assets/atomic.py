"""Files that appear whole or not at all: written beside their place, then renamed onto it."""

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


@contextmanager
def appears_whole(path: Any) -> Iterator[Any]:
    """Yields a path to write to; if the block succeeds, what was written replaces the file at `path`.

    Args:
        path: A `pathlib.Path` or a local universal path; its folder must exist.
    """
    beside = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    try:
        yield beside
        os.replace(beside, path)  # noqa: PTH105 - takes universal paths too, and is atomic over an existing file
    finally:
        beside.unlink(missing_ok=True)


def write_whole(path: Path, text: str) -> None:
    """Writes a text file, whole or not at all, UTF-8 with LF; its folder is made if it is not there.

    A link is followed. What is no file of its own, such as a pipe or `/dev/stdout`, is written to as it is.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    belongs_to_the_system = path.parent.resolve().parts[1:2] in (("dev",), ("proc",))
    if path.exists() and (belongs_to_the_system or not path.is_file()):
        path.write_text(text, encoding="utf-8", newline="\n")
        return
    with appears_whole(path.resolve()) as beside:
        beside.write_text(text, encoding="utf-8", newline="\n")
