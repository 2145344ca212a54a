"""Files that appear whole or not at all: written beside their place, then renamed onto it."""

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
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
