"""What is wrong with an input, as values: readers collect problems, one edge turns them into exit code 2.

Nothing here prints, and nothing here decides what is a problem; the readers in `recall_assets.sources` and
`recall_assets.config` do that.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from recall_assets.text import printable


@dataclass(frozen=True, order=True)
class Problem:
    """One thing to mend in one place of one file.

    Attributes:
        file: The file or folder, as the user named it.
        line: Line in that file, from 1; 1 also where the whole file is meant.
        what: What is wrong, and after a semicolon what to write instead.
        column: Column from 1, where it is known (YAML), else None.
    """

    file: str
    line: int
    what: str
    column: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "file", printable(self.file))
        object.__setattr__(self, "what", printable(self.what))

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}" if self.column is None else f"{self.file}:{self.line}:{self.column}"
        return f"{where}: {self.what}"


class InvalidInputError(Exception):
    """Configuration or data that cannot be used; carries every problem found, in file and line order.

    Attributes:
        problems: At least one problem.
    """

    def __init__(self, problems: Iterable[Problem]) -> None:
        """Keeps the problems sorted by file, line and text."""
        self.problems = sorted(problems, key=lambda p: (p.file, p.line, p.what))
        super().__init__("\n".join(map(str, self.problems)))


def whole_file(path: Path, what: str) -> Problem:
    """A problem of a file or folder as a whole."""
    return Problem(str(path), 1, what)
