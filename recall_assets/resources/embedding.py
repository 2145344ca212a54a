"""The configured embedders of one process: each loaded once, only when it is asked for, and no query embedded twice."""

from collections.abc import Sequence

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
        return self._model(name).documents(texts, progress)

    def queries(self, name: str, texts: Sequence[str], progress: Progress) -> Vectors:
        """One row of unit length per query; kept, so that a sweep over the same queries loads no model.

        Raises:
            ModelUnavailableError: The embedder cannot be loaded.
        """
        key = digest({"embedder": self.fingerprint(name), "queries": list(texts)})
        path = self._folder / f"{name}-{key[:32]}.npy"
        if path.exists():
            kept: Vectors = np.load(path, allow_pickle=False)
            return kept
        vectors = self._model(name).queries(texts, progress)
        self._folder.mkdir(parents=True, exist_ok=True)
        with appears_whole(path) as beside, beside.open("wb") as file:
            np.save(file, vectors, allow_pickle=False)
        return vectors

    def _model(self, name: str) -> EmbeddingModel:
        if name not in self._models:
            self._models[name] = load_embedder(self._configs[name])
        return self._models[name]
