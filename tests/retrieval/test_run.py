import numpy as np
import pytest

from recall_assets.config import DenseRetriever, ExactRetriever, Storage
from recall_assets.errors import StoreUnavailableError
from recall_assets.indexing import ensure_collection
from recall_assets.progress import Quiet
from recall_assets.records import Case, Chunk
from recall_assets.resources.vector_store import VectorStore
from recall_assets.retrieval.expansion import nearest_cards
from recall_assets.retrieval.run import IndexSearch, run_vector_retriever
from tests.conftest import WordEmbedding

DENSE = DenseRetriever(kind="dense", embedder="bag")
EXACT = ExactRetriever(kind="exact", embedder="bag")


def chunk(card_id, text, locale="en", ordinal=0):
    return Chunk(f"{card_id}@{locale}#{ordinal}", card_id, locale, text)


def case(case_id, query, locale="en", gold=()):
    return Case(case_id, locale, "golden", query, tuple(gold))


CHUNKS = [
    chunk("fruit", "red fruit"),
    chunk("fruit", "red fruit again", ordinal=1),
    chunk("tree", "green tree"),
    chunk("tree", "red fruit tree", "pt"),
]


@pytest.fixture
def run(tmp_path):
    """Runs a retriever over cases and chunks, in a store of its own."""
    store = VectorStore(Storage(path=tmp_path / "state"))

    def of(retriever, cases, k, chunks=CHUNKS):
        collection, _ = ensure_collection("bag", chunks, WordEmbedding(), store, Quiet())
        return run_vector_retriever(retriever, cases, collection, WordEmbedding(), store, k, Quiet())

    return of


@pytest.mark.parametrize("retriever", [DENSE, EXACT], ids=lambda retriever: retriever.kind)
def test_a_run_lists_chunks_parents_and_scores_down_to_the_kth_card(run, retriever):
    row = run(retriever, [case("c1", "red fruit")], k=2).row(0, named=True)
    assert (row["case_id"], row["status"], row["error"]) == ("c1", "retrieved", None)
    assert row["chunk_id"] == ["fruit@en#0", "fruit@en#1", "tree@en#0"]
    assert row["card_id"] == ["fruit", "fruit", "tree"]
    # cosines: the same words; two of three words; no word in common
    assert row["score"] == pytest.approx([1.0, 2 / 6**0.5, 0.0], abs=1e-6)


def test_without_a_locale_filter_every_locale_is_searched(run):
    everywhere = EXACT.model_copy(update={"locale_filter": False})
    result = run(everywhere, [case("c1", "red fruit tree")], k=1)
    assert result["chunk_id"].to_list() == [["tree@pt#0"]]
    assert run(EXACT, [case("c1", "red fruit tree")], k=1)["chunk_id"].to_list() == [["fruit@en#0"]]


def test_every_case_has_a_row_in_the_order_of_the_cases_also_without_gold_or_texts_in_its_locale(run):
    result = run(DENSE, [case("c3", "red"), case("c1", "green", gold=["tree"]), case("c2", "red", "de")], k=1)
    assert result["case_id"].to_list() == ["c3", "c1", "c2"]
    assert result["card_id"].to_list() == [["fruit"], ["tree"], []]
    assert set(result["status"]) == {"retrieved"}


def test_a_dense_run_holds_the_cards_of_exact_search_beside_its_own(run):
    result = run(DENSE, [case("c1", "red fruit"), case("c2", "green")], k=2)
    assert result["exact_card_id"].to_list() == [["fruit", "tree"], ["tree", "fruit"]]
    assert result["differs_from_exact"].to_list() == [False, False]


def test_an_exact_run_has_nothing_to_compare_with(run):
    result = run(EXACT, [case("c1", "red fruit")], k=2)
    assert result["exact_card_id"].to_list() == [None]
    assert result["differs_from_exact"].to_list() == [None]


def test_exact_equals_dense_on_small_data_and_a_plain_computation(run):
    rng = np.random.default_rng(7)
    words = [f"w{number}" for number in range(30)]
    texts = {f"card{number:02}": " ".join(rng.choice(words, 8)) for number in range(60)}
    chunks = [chunk(card_id, text) for card_id, text in texts.items()]
    cases = [case(f"c{number:02}", " ".join(rng.choice(words, 4))) for number in range(40)]
    dense, exact = run(DENSE, cases, 5, chunks), run(EXACT, cases, 5, chunks)
    assert not any(dense["differs_from_exact"])
    assert dense["exact_card_id"].to_list() == exact["card_id"].to_list()
    vectors = WordEmbedding().documents("bag", list(texts.values()), Quiet()).astype(np.float64)
    queries = WordEmbedding().queries("bag", [c.query for c in cases], Quiet()).astype(np.float64)
    for cosines, dense_scores, exact_scores in zip(queries @ vectors.T, dense["score"], exact["score"], strict=True):
        best = np.sort(cosines)[::-1][:5]
        assert exact_scores.to_list() == pytest.approx(best, abs=1e-6)
        assert dense_scores.to_list() == pytest.approx(best, abs=1e-6)


@pytest.mark.parametrize("retriever", [DENSE, EXACT], ids=lambda retriever: retriever.kind)
def test_a_tie_at_the_cut_off_goes_to_the_smaller_id(run, retriever):
    chunks = [chunk(card_id, "the very same words") for card_id in ("delta", "alpha", "charlie", "Bravo", "echo")]
    result = run(retriever, [case("c1", "same words")], 3, chunks)
    assert result["card_id"].to_list() == [["Bravo", "alpha", "charlie"]]


@pytest.mark.parametrize("retriever", [DENSE, EXACT], ids=lambda retriever: retriever.kind)
def test_more_equal_chunks_than_are_fetched_at_first_still_rank_by_id(run, retriever):
    chunks = [chunk(f"{number:02}", "the very same words") for number in reversed(range(50))]
    result = run(retriever, [case("c1", "same words")], 2, chunks)
    assert result["card_id"].to_list() == [["00", "01"]]


def test_the_fingerprint_is_one_for_the_whole_run_and_follows_what_the_run_depends_on(run):
    cases = [case("c1", "red fruit"), case("c2", "green")]

    def fingerprint(*arguments, **options):
        (only,) = set(run(*arguments, **options)["fingerprint"])
        return only

    seen = {
        fingerprint(DENSE, cases, k=2),
        fingerprint(EXACT, cases, k=2),
        fingerprint(DENSE.model_copy(update={"locale_filter": False}), cases, k=2),
        fingerprint(DENSE, cases, k=1),
        fingerprint(DENSE, cases[:1], k=2),
        fingerprint(DENSE, [case("c1", "red fruit", "pt"), cases[1]], k=2),
        fingerprint(DENSE, cases, k=2, chunks=CHUNKS[:3]),
    }
    assert len(seen) == 7
    relabelled = [case("c1", "red fruit", gold=["tree"]), cases[1]]
    assert fingerprint(DENSE, relabelled, k=2) == fingerprint(DENSE, cases, k=2)


def test_a_batch_of_queries_may_need_more_rows_than_one_statement_of_sqlite_can_bind(tmp_path):
    # 4 cards of 100 chunks stand around the circle in this order, so the first chunk of d is the 301st of every query.
    chunks = [chunk(card_id, "text", ordinal=number) for card_id in "abcd" for number in range(100)]
    angles = np.radians([20 * card + number / 10 for card in range(4) for number in range(100)])
    queries = np.radians(np.arange(100) / -100)
    vectors, questions = (np.stack([np.cos(a), np.sin(a)], axis=1).astype(np.float32) for a in (angles, queries))
    store = VectorStore(Storage(path=tmp_path / "state"))
    store.build("kb-bag-1", "f1", chunks, vectors)
    search = IndexSearch(store, "kb-bag-1", store.table("kb-bag-1"))
    found = nearest_cards(
        search, questions, ["en"] * 100, 5, lambda _: None
    )  # in the end all 400 chunks for 100 queries
    assert {tuple(candidate.card_id for candidate in result) for result in found} == {
        ("a",) * 100 + ("b",) * 100 + ("c",) * 100 + ("d",)
    }


@pytest.mark.parametrize("retriever", [DENSE, EXACT], ids=lambda retriever: retriever.kind)
@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda client, chroma: client.delete_collection(chroma.name), id="gone"),
        pytest.param(lambda client, chroma: chroma.delete(ids=["fruit@en#0"]), id="a vector less"),
        pytest.param(lambda client, chroma: chroma.add(ids=["stray"], embeddings=[[1.0] * 512]), id="a vector more"),
        pytest.param(lambda client, chroma: chroma.modify(metadata={"fingerprint": "other"}), id="another build"),
    ],
)
def test_a_collection_that_is_not_what_was_built_is_refused_with_what_to_do(tmp_path, retriever, damage):
    store = VectorStore(Storage(path=tmp_path / "state"))
    collection, _ = ensure_collection("bag", CHUNKS, WordEmbedding(), store, Quiet())
    name = collection["collection"].item()
    damage(store._client, store._client.get_collection(name))
    with pytest.raises(StoreUnavailableError) as raised:
        run_vector_retriever(retriever, [case("c1", "red")], collection, WordEmbedding(), store, 1, Quiet())
    assert str(raised.value) == f"the collection {name} is not what kb_collection built; materialize it again"
