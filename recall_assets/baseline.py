"""The committed baseline of a retriever: its file, how it is written, and how a file that cannot be used is told apart.

What a baseline is compared with is in `recall_assets.comparison`; promoting one is the asset `recall_baseline`.

The file is for review in a pull request: keys in a fixed order, cases sorted, one a line. It carries a digest of its
own content, because scores that someone typed in or a merge put together were never measured.
"""

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from recall_assets.atomic import write_whole
from recall_assets.fingerprint import digest
from recall_assets.metrics import Triad
from recall_assets.problems import Problem
from recall_assets.snapshot import ScoredCase
from recall_assets.sources.files import read_text
from recall_assets.text import some

FORMAT = 1


@dataclass(frozen=True)
class Fingerprints:
    """What a run was made from, as digests.

    Attributes:
        knowledge_base: The texts as they are embedded.
        case_labels: Ids, queries, locales and labels of the scored cases.
        retriever: The retriever's configuration.
        embedder: Options and weights of its embedder.
    """

    knowledge_base: str
    case_labels: str
    retriever: str
    embedder: str

    def changed_since(self, other: "Fingerprints") -> tuple[str, ...]:
        """In words, what differs from another's."""
        words = {
            "knowledge_base": "knowledge base",
            "case_labels": "case labels",
            "retriever": "retriever configuration",
            "embedder": "embedder",
        }
        mine, theirs = asdict(self), asdict(other)
        return tuple(word for name, word in words.items() if mine[name] != theirs[name])


@dataclass(frozen=True)
class Baseline:
    """A promoted snapshot.

    Attributes:
        retriever: Its name.
        date: When its scores were measured: UTC, ISO 8601, to the second.
        top_k: The cutoff k.
        fingerprints: What it was made from.
        cases: Every scored case, sorted by id.
    """

    retriever: str
    date: str
    top_k: int
    fingerprints: Fingerprints
    cases: tuple[ScoredCase, ...]


@dataclass(frozen=True)
class UnusableBaseline:
    """A baseline file that cannot be compared with.

    Attributes:
        invalid: Whether the file is damaged or edited, and must be mended; if not, it is of another format.
        problem: What is wrong, where, and what to do.
    """

    invalid: bool
    problem: Problem


def labels_fingerprint(cases: Iterable[ScoredCase]) -> str:
    """Digest of which cases were scored and how they were labelled."""
    return digest(sorted((case.case_id, case.label) for case in cases))


def baseline_path(folder: Path, retriever: str) -> Path:
    """The file of a retriever's baseline."""
    return folder / f"{retriever}.json"


def write_baseline(folder: Path, baseline: Baseline) -> Path:
    """Writes the file, whole or not at all, and gives its path.

    What a promotion that was killed left beside it is removed: the folder is under version control.
    """
    path = baseline_path(folder, baseline.retriever)
    for left_behind in folder.glob(f".{path.name}.{'[0-9a-f]' * 32}"):
        left_behind.unlink(missing_ok=True)
    write_whole(path, baseline_text(baseline))
    return path


def baseline_text(baseline: Baseline) -> str:
    """The content of the file."""
    document = _document(baseline)
    cases = ",\n".join(f"    {_json(case)}" for case in document.pop("cases"))
    head = json.dumps(document, indent=2, ensure_ascii=False).removesuffix("\n}")
    return f'{head},\n  "cases": [\n{cases}\n  ]\n}}\n'


def read_baseline(path: Path) -> Baseline | UnusableBaseline | None:
    """The baseline in a file, None where there is no file."""
    if not path.exists():
        return None
    problems: list[Problem] = []
    text = read_text(path, problems)
    return UnusableBaseline(True, problems[0]) if text is None else _parsed(path, text)


def committed_baseline(folder: Path, retriever: str) -> Baseline | UnusableBaseline | None:
    """The baseline of a retriever among the committed ones, None where it has none."""
    path = baseline_path(folder, retriever)
    baseline = read_baseline(path)
    if isinstance(baseline, Baseline) and baseline.retriever != retriever:
        return _damaged(path, f'it is the baseline of "{baseline.retriever}", under the name of another retriever')
    return baseline


def retrievers_with_baseline(folder: Path) -> list[str]:
    """The names under which baselines lie in a folder, sorted."""
    return sorted(path.stem for path in folder.glob("*.json") if not path.name.startswith("."))


def usable(baseline: Baseline | UnusableBaseline | None) -> Baseline | None:
    """The baseline, or None where there is none that can be used."""
    return baseline if isinstance(baseline, Baseline) else None


_AGAIN = "promote one again: recall baseline promote"
_TOO_DEEP = "no JSON that can be read: it is nested too deeply"
_RESTORE = f"restore it from version control, or {_AGAIN}"


class _CaseLine(BaseModel):
    """One case as the file has it."""

    model_config = ConfigDict(extra="forbid", strict=True)
    case_id: str
    locale: str
    case_type: str
    critical: bool
    label: str
    rank: Annotated[int, Field(ge=1)] | None
    hit: Annotated[float, Field(ge=0, le=1)]
    recall: Annotated[float, Field(ge=0, le=1)]
    ndcg: Annotated[float, Field(ge=0, le=1)]


class _FingerprintLines(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    knowledge_base: str
    case_labels: str
    retriever: str
    embedder: str


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    format: int
    retriever: str
    date: str
    top_k: Annotated[int, Field(ge=1)]
    fingerprints: _FingerprintLines
    digest: str
    cases: list[_CaseLine]


def _document(baseline: Baseline) -> dict[str, Any]:
    cases = [
        {
            "case_id": case.case_id,
            "locale": case.locale,
            "case_type": case.case_type,
            "critical": case.critical,
            "label": case.label,
            "rank": case.gold_rank,
            **dict(zip(("hit", "recall", "ndcg"), case.scores, strict=True)),
        }
        for case in sorted(baseline.cases, key=lambda case: case.case_id)
    ]
    content = {
        "format": FORMAT,
        "retriever": baseline.retriever,
        "date": baseline.date,
        "top_k": baseline.top_k,
        "fingerprints": asdict(baseline.fingerprints),
    }
    return {**content, "digest": digest({**content, "cases": cases}), "cases": cases}


def _parsed(path: Path, text: str) -> Baseline | UnusableBaseline:
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        return _damaged(path, f"no JSON: {error.msg}", error.lineno)
    except ValueError as error:  # of a number with thousands of digits
        return _damaged(path, f"no JSON: {error}")
    except RecursionError:
        return _damaged(path, _TOO_DEEP)
    if not isinstance(document, dict) or "format" not in document:
        return _damaged(path, "no baseline: it has no `format`")
    if document["format"] != FORMAT:
        what = f"the baseline is of format {json.dumps(document['format'])}, this version reads {FORMAT}; {_AGAIN}"
        return UnusableBaseline(False, Problem(str(path), 1, what))
    return _checked(path, document)


def _why_not_vouched_for(document: dict[str, Any]) -> str | None:
    """Why the content is not what was once written, None if it is."""
    try:
        expected = digest({key: value for key, value in document.items() if key != "digest"})
    except RecursionError:
        return _TOO_DEEP
    except UnicodeEncodeError:  # half of a surrogate pair, which JSON can spell
        return "it holds text that is no UTF-8"
    except ValueError:  # NaN and infinities, which Python's reader lets pass
        return "it holds a number that is none"
    edited = "its content does not match its digest, so it was edited or merged by hand"
    return None if document.get("digest") == expected else edited


def _checked(path: Path, document: dict[str, Any]) -> Baseline | UnusableBaseline:
    edited = _why_not_vouched_for(document)
    if edited is not None:
        return _damaged(path, edited)
    try:
        file = _File.model_validate(document)
    except ValidationError as error:
        first = error.errors()[0]
        return _damaged(path, f"{'.'.join(map(str, first['loc']))}: {first['msg']}")
    cases = tuple(
        ScoredCase(c.case_id, c.locale, c.case_type, c.critical, c.label, c.rank, Triad(c.hit, c.recall, c.ndcg))
        for c in file.cases
    )
    if repeated := sorted(case_id for case_id, count in Counter(c.case_id for c in cases).items() if count > 1):
        return _damaged(path, f"it has cases more than once: {some(repeated)}")
    return Baseline(file.retriever, file.date, file.top_k, Fingerprints(**file.fingerprints.model_dump()), cases)


def _damaged(path: Path, what: str, line: int = 1) -> UnusableBaseline:
    return UnusableBaseline(True, Problem(str(path), line, f"{what}; {_RESTORE}"))


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
