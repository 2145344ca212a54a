import numpy as np
import pytest

from recall_assets.progress import Quiet
from recall_assets.resources import embedding as module
from recall_assets.resources.embedding import Embedding


class Counting:
    """A model that counts how often it is loaded and asked, and gives each text its length."""

    def __init__(self):
        self.loaded, self.asked = [], []

    def load(self, config):
        self.loaded.append(config)
        return self

    def documents(self, texts, progress):
        return self._vectors("documents", texts)

    def queries(self, texts, progress):
        return self._vectors("queries", texts)

    def _vectors(self, what, texts):
        self.asked.append((what, list(texts)))
        return np.array([[len(text)] for text in texts], dtype=np.float32)


@pytest.fixture
def model(monkeypatch):
    counting = Counting()
    monkeypatch.setattr(module, "load_embedder", counting.load)
    monkeypatch.setattr(module, "embedder_fingerprint", lambda config: f"weights-{config.kind}-{config.batch_size}")
    return counting


@pytest.fixture
def make_embedding(make_settings):
    """Each is what another process would have."""
    return lambda batch_size=32: Embedding(
        make_settings(embedders={name: {"kind": "usem3", "batch_size": batch_size} for name in ("bag", "other")})
    )


def test_no_model_is_loaded_before_one_is_needed(model, make_embedding):
    make_embedding().fingerprint("bag")
    assert model.loaded == []


def test_a_model_is_loaded_once_for_documents_and_queries(model, make_embedding):
    embedding = make_embedding()
    embedding.documents("bag", ["a"], Quiet())
    embedding.queries("bag", ["bb"], Quiet())
    embedding.documents("bag", ["ccc"], Quiet())
    assert len(model.loaded) == 1


def test_query_vectors_are_kept_so_that_the_next_process_loads_no_model(model, make_embedding):
    first = make_embedding().queries("bag", ["a", "bb"], Quiet())
    second = make_embedding().queries("bag", ["a", "bb"], Quiet())
    assert second.tolist() == first.tolist() == [[1.0], [2.0]]
    assert second.dtype == np.float32
    assert model.asked == [("queries", ["a", "bb"])]


@pytest.mark.parametrize(
    ("name", "queries", "batch_size"),
    [
        pytest.param("bag", ["a", "bbb"], 32, id="another query"),
        pytest.param("bag", ["bb", "a"], 32, id="another order"),
        pytest.param("bag", ["a"], 32, id="fewer queries"),
        pytest.param("other", ["a", "bb"], 32, id="another embedder"),
        pytest.param("bag", ["a", "bb"], 16, id="another fingerprint"),
    ],
)
def test_vectors_are_kept_for_exactly_these_queries_and_this_model(model, make_embedding, name, queries, batch_size):
    make_embedding().queries("bag", ["a", "bb"], Quiet())
    vectors = make_embedding(batch_size).queries(name, queries, Quiet())
    assert vectors.tolist() == [[float(len(query))] for query in queries]
    assert len(model.asked) == 2


def test_vectors_of_the_knowledge_base_are_not_kept_beside_the_store(model, make_embedding):
    for _ in range(2):
        make_embedding().documents("bag", ["a"], Quiet())
    assert len(model.asked) == 2


def test_a_write_that_is_interrupted_leaves_nothing_that_a_later_process_would_read(
    model, make_embedding, tmp_path, monkeypatch
):
    def half(file, vectors, **_):
        file.write(b"\x93NUMPY")
        raise OSError("no space left on device")

    monkeypatch.setattr(np, "save", half)
    with pytest.raises(OSError, match="no space left"):
        make_embedding().queries("bag", ["a"], Quiet())
    assert list((tmp_path / "state" / "query_vectors").iterdir()) == []


def test_a_text_that_stands_twice_is_embedded_once_so_that_its_vectors_are_equal_to_the_last_bit(model, make_embedding):
    embedding = make_embedding()
    assert embedding.documents("bag", ["a", "bb", "a"], Quiet()).tolist() == [[1.0], [2.0], [1.0]]
    assert embedding.queries("bag", ["bb", "bb"], Quiet()).tolist() == [[2.0], [2.0]]
    assert model.asked == [("documents", ["a", "bb"]), ("queries", ["bb"])]


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda path: path.write_bytes(b"junk"), id="no array"),
        pytest.param(lambda path: path.write_bytes(b""), id="empty"),
        pytest.param(lambda path: path.write_bytes(path.read_bytes()[:-2]), id="cut off"),
        pytest.param(lambda path: np.save(path, np.ones((1, 1), dtype=np.float32)), id="too few rows"),
        pytest.param(lambda path: np.save(path, np.array([[np.nan], [1.0]], dtype=np.float32)), id="not a number"),
    ],
)
def test_kept_vectors_that_are_damaged_are_made_again(model, make_embedding, make_settings, damage):
    make_embedding().queries("bag", ["a", "bb"], Quiet())
    (kept,) = (make_settings().storage.path / "query_vectors").iterdir()
    damage(kept)
    for _ in range(2):
        assert make_embedding().queries("bag", ["a", "bb"], Quiet()).tolist() == [[1.0], [2.0]]
    assert len(model.asked) == 2  # once before the damage and once after it
