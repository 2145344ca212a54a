"""From bytes to text: which files an input names, UTF-8, and what counts as a line.

Formats (JSONL, YAML, Markdown) are in the modules beside this one.
"""

from collections.abc import Iterator
from pathlib import Path

from recall_assets.problems import Problem, whole_file

BOM = "\ufeff"


def read_text(path: Path, problems: list[Problem]) -> str | None:
    """The text of a file with LF line ends and without a byte order mark; None, and a problem, if it cannot be read."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        problems.append(whole_file(path, "no such file or folder"))
        return None
    except (OSError, ValueError) as error:  # ValueError: a path that no file can have
        problems.append(whole_file(path, f"cannot be read ({getattr(error, 'strerror', None) or error})"))
        return None
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        bad = f"byte 0x{data[error.start]:02x} is not UTF-8; save the file as UTF-8"
        problems.append(Problem(str(path), line, bad))
        return None
    return text.removeprefix(BOM).replace("\r\n", "\n")


def lines(text: str) -> Iterator[tuple[int, str]]:
    """Numbered lines, from 1. Only LF ends a line: U+2028 and its like may stand inside a string."""
    return enumerate(text.split("\n"), start=1)


def is_folder(path: Path) -> bool:
    """Whether a path is a folder; False also where that cannot be found out, and then reading it says why."""
    try:
        return path.is_dir()
    except OSError:
        return False


def visible_entries(folder: Path, problems: list[Problem]) -> list[Path] | None:
    """What stands in a folder, sorted, hidden files left out; None, and a problem, if it cannot be listed."""
    try:
        return [entry for entry in sorted(folder.iterdir()) if not entry.name.startswith(".")]
    except OSError as error:
        problems.append(whole_file(folder, f"cannot be listed ({error.strerror})"))
        return None


def data_files(path: Path, suffixes: tuple[str, ...], problems: list[Problem]) -> list[Path]:
    """The files an input names, sorted: the file itself, or every file with one of the suffixes in the folder.

    A folder without any is a problem, and so is a visible file of another kind in it (a misspelt suffix would
    otherwise drop its records in silence); a README.md is not.
    """
    if not is_folder(path):
        return [path]
    entries = visible_entries(path, problems)
    if entries is None:
        return []
    kinds = ", ".join(suffixes)
    found: list[Path] = []
    for entry in entries:
        if entry.name == "README.md":
            continue
        if is_folder(entry) or entry.suffix.lower() not in suffixes:
            problems.append(whole_file(entry, f"not read: expected only {kinds} files here; move it or rename it"))
        else:
            found.append(entry)
    if not found:
        problems.append(whole_file(path, f"the folder holds no {kinds} file"))
    return found
