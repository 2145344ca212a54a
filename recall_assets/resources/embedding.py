"""The configured embedders of one process, each loaded once and only when it is asked for."""

from recall_assets.config import Settings
from recall_assets.resources.embedders import EmbeddingModel, embedder_fingerprint, load_embedder


class Embedding:
    """Models by name of embedder."""

    def __init__(self, settings: Settings) -> None:
        """Loads nothing yet."""
        self._configs = settings.embedders
        self._models: dict[str, EmbeddingModel] = {}
        self._fingerprints: dict[str, str] = {}

    def model(self, name: str) -> EmbeddingModel:
        """The loaded model of an embedder.

        Raises:
            ModelUnavailableError: It cannot be loaded.
        """
        if name not in self._models:
            self._models[name] = load_embedder(self._configs[name])
        return self._models[name]

    def fingerprint(self, name: str) -> str:
        """Digest of an embedder's options and weights.

        Raises:
            ModelUnavailableError: Its weights cannot be found.
        """
        if name not in self._fingerprints:
            self._fingerprints[name] = embedder_fingerprint(self._configs[name])
        return self._fingerprints[name]
