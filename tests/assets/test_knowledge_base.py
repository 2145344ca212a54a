import dagster as dg
import pytest

from tests.conftest import CARDS
from tests.graph import materialized, metadata


def data_version(result, asset):
    (event,) = result.asset_materializations_for_node(asset)
    return event.tags["dagster/data_version"]


def test_kb_cards_holds_every_text_sorted_and_says_how_many_cards_they_are(make_graph):
    graph = make_graph()
    shown = metadata(graph.run("sweep_ingest"), "kb_cards")
    assert (shown["dagster/row_count"], shown["cards"]) == (4, 3)
    assert shown["source"] == str(graph.settings.kb)
    assert graph.frame("kb_cards").select("card_id", "locale", "title", "retired").rows() == [
        ("apple", "en", "Apple", False),
        ("apple", "pt-BR", "Maçã", False),
        ("banana", "en", "Banana", False),
        ("carrot", "en", "Carrot", False),
    ]


def test_kb_chunks_holds_title_and_text_of_every_live_card_under_its_parent(make_graph):
    graph = make_graph(cards=[CARDS[0] | {"retired": True}, *CARDS[1:]], cases=[])
    shown = metadata(graph.run("sweep_ingest"), "kb_chunks")
    assert graph.frame("kb_chunks").rows() == [
        ("apple@pt-BR#0", "apple", "pt-BR", "Maçã\nfruta vermelha de uma árvore"),
        ("banana@en#0", "banana", "en", "Banana\nyellow fruit with a peel"),
        ("carrot@en#0", "carrot", "en", "Carrot\norange root vegetable"),
    ]
    assert (shown["dagster/row_count"], shown["longest_text"]) == (3, 33)


def test_a_long_card_becomes_numbered_chunks_that_all_carry_its_title(make_graph):
    card = {"card_id": "long", "locale": "en", "title": "Long", "text": "first part. " * 4 + "second part. " * 4}
    graph = make_graph(cards=[card], cases=[], chunking={"max_chars": 50, "overlap_chars": 0})
    graph.run("sweep_ingest")
    chunks = graph.frame("kb_chunks")
    assert chunks["chunk_id"].to_list() == [f"long@en#{number}" for number in range(chunks.height)]
    assert chunks.height >= 2
    assert all(text.startswith("Long\n") and len(text) <= 55 for text in chunks["text"])


def test_kb_collection_names_what_is_in_chroma(make_graph):
    graph = make_graph()
    graph.run("sweep_ingest")
    shown = metadata(graph.run("sweep_index", "bag"), "kb_collection")
    (row,) = graph.frame("kb_collection", "bag").to_dicts()
    assert (row["embedder"], row["count"], row["dimension"]) == ("bag", 4, 512)
    assert row["collection"] == f"kb-bag-{row['fingerprint'][:16]}"
    assert {name: shown[name] for name in ("dagster/row_count", "collection", "vectors", "fingerprint", "built")} == {
        "dagster/row_count": 1,
        "collection": row["collection"],
        "vectors": 4,
        "fingerprint": row["fingerprint"],
        "built": True,
    }
    assert type(shown["built"]) is bool


def test_an_unchanged_knowledge_base_is_not_built_again_and_keeps_every_data_version(make_graph):
    graph = make_graph()
    first = graph.run("sweep_ingest"), graph.run("sweep_index", "bag")
    second = graph.run("sweep_ingest"), graph.run("sweep_index", "bag")
    assert metadata(second[1], "kb_collection")["built"] is False
    for run, asset in ((0, "kb_cards"), (0, "kb_chunks"), (0, "case_set"), (1, "kb_collection")):
        assert data_version(first[run], asset) == data_version(second[run], asset)


@pytest.mark.parametrize(
    ("changes", "unchanged"),
    [
        pytest.param({"cards": [CARDS[0] | {"text": "green fruit"}, *CARDS[1:]]}, set(), id="text"),
        pytest.param({"cards": [CARDS[0] | {"tags": ["fruit"]}, *CARDS[1:]]}, {"kb_chunks"}, id="tag"),
        pytest.param({"cards": CARDS[::-1]}, {"kb_cards", "kb_chunks"}, id="order of the file"),
    ],
)
def test_a_data_version_changes_only_with_what_the_asset_holds(make_graph, changes, unchanged):
    before = make_graph().run("sweep_ingest")
    after = make_graph(**changes).run("sweep_ingest")
    same = {asset for asset in ("kb_cards", "kb_chunks") if data_version(before, asset) == data_version(after, asset)}
    assert same == unchanged


def test_other_texts_go_to_another_collection(make_graph):
    make_graph().sweep()
    graph = make_graph(cards=[CARDS[0] | {"text": "green fruit"}, *CARDS[1:]])
    before = graph.frame("kb_collection", "bag")["collection"].item()
    graph.run("sweep_ingest")
    assert metadata(graph.run("sweep_index", "bag"), "kb_collection")["built"] is True
    assert graph.frame("kb_collection", "bag")["collection"].item() != before


def test_a_store_that_is_not_there_leaves_no_collection_frame(make_graph):
    graph = make_graph()
    graph.run("sweep_ingest")
    (graph.settings.storage.path / "chroma").write_text("a file where the folder should be")
    result = graph.run("sweep_index", "bag")
    assert not result.success
    assert materialized(result) == set()
    (failure,) = [event for event in result.all_events if event.event_type is dg.DagsterEventType.STEP_FAILURE]
    cause = failure.step_failure_data.error.cause
    assert cause.cls_name == "StoreUnavailableError"
    assert f"Chroma in {graph.settings.storage.path / 'chroma'} cannot be used" in cause.message
