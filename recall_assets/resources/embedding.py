"""The configured embedders of one process: each loaded once, only when it is asked for, and no query embedded twice."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from recall_assets.atomic import appears_whole
from recall_assets.config import Settings
from recall_assets.fingerprint import digest
from recall_assets.progress import Progress
from recall_assets.resources.embedders import EmbeddingModel, Vectors, embedder_fingerprint, load_embedder


class Embedding:
    """Vectors by name of embedder."""

    def __init__(self, settings: Settings) -> None:
        """Loads nothing yet."""
        self._configs = settings.embedders
        self._folder = settings.storage.path / "query_vectors"
        self._models: dict[str, EmbeddingModel] = {}
        self._fingerprints: dict[str, str] = {}

    def fingerprint(self, name: str) -> str:
        """Digest of an embedder's options and weights.

        Raises:
            ModelUnavailableError: Its weights cannot be found.
        """
        if name not in self._fingerprints:
            self._fingerprints[name] = embedder_fingerprint(self._configs[name])
        return self._fingerprints[name]

    def documents(self, name: str, texts: Sequence[str], progress: Progress) -> Vectors:
        """One row of unit length per text of the knowledge base.

        Raises:
            ModelUnavailableError: The embedder cannot be loaded.
        """
        return _each_once(texts, lambda distinct: self._model(name).documents(distinct, progress))

    def queries(self, name: str, texts: Sequence[str], progress: Progress) -> Vectors:
        """One row of unit length per query; kept, so that a sweep over the same queries loads no model.

        Raises:
            ModelUnavailableError: The embedder cannot be loaded.
        """
        key = digest({"embedder": self.fingerprint(name), "queries": list(texts)})
        path = self._folder / f"{name}-{key[:32]}.npy"
        kept = _kept(path, len(texts))
        if kept is not None:
            return kept
        vectors = _each_once(texts, lambda distinct: self._model(name).queries(distinct, progress))
        self._folder.mkdir(parents=True, exist_ok=True)
        with appears_whole(path) as beside, beside.open("wb") as file:
            np.save(file, vectors, allow_pickle=False)
        return vectors

    def _model(self, name: str) -> EmbeddingModel:
        if name not in self._models:
            self._models[name] = load_embedder(self._configs[name])
        return self._models[name]


def _each_once(texts: Sequence[str], embed: Callable[[list[str]], Vectors]) -> Vectors:
    """Embeds each distinct text once: in another batch the same text gets other last bits, and its ties would break."""
    distinct = list(dict.fromkeys(texts))
    place = {text: row for row, text in enumerate(distinct)}
    return embed(distinct)[[place[text] for text in texts]]


def _kept(path: Path, rows: int) -> Vectors | None:
    """The vectors kept in a file; None if there is none, or it is damaged and they are to be made again."""
    try:
        vectors: Vectors = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError):
        return None
    usable = vectors.ndim == 2 and len(vectors) == rows and bool(np.isfinite(vectors).all())
    return vectors if usable else None
