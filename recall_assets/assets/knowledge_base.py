"""The knowledge base: cards, their chunks, and the Chroma collection of each embedder."""

from collections.abc import Iterator
from typing import Any

import dagster as dg
import polars as pl

from recall_assets.assets.metadata import column_schema, frame_output
from recall_assets.checks.inputs import validity_result, validity_spec
from recall_assets.chunking import chunk_cards
from recall_assets.config import Settings
from recall_assets.indexing import ensure_collection
from recall_assets.partitions import Partitions
from recall_assets.progress import Progress
from recall_assets.resources.embedding import Embedding
from recall_assets.resources.vector_store import VectorStore
from recall_assets.schemas import CARDS, CHUNKS, COLLECTION, cards_frame, cards_of, chunks_frame, chunks_of
from recall_assets.sources.cards import read_cards

GROUP = "knowledge_base"


@dg.asset(
    group_name=GROUP,
    kinds={"markdown", "polars"},
    code_version="1",
    metadata=column_schema(CARDS),
    output_required=False,
    check_specs=[validity_spec("cards_valid", "kb_cards")],
)
def kb_cards(settings: dg.ResourceParam[Settings]) -> Iterator[Any]:
    """Every card of the knowledge base in every locale; nothing is written unless all are valid."""
    cards, problems = read_cards(settings.kb)
    yield validity_result("cards_valid", "kb_cards", problems, f"{len(cards)} card texts are valid")
    if not problems:
        yield frame_output(cards_frame(cards), source=str(settings.kb), cards=len({card.card_id for card in cards}))


@dg.asset(group_name=GROUP, kinds={"polars"}, code_version="1", metadata=column_schema(CHUNKS))
def kb_chunks(settings: dg.ResourceParam[Settings], kb_cards: pl.DataFrame) -> dg.Output[pl.DataFrame]:
    """The pieces of the live cards' texts that are embedded, each with its title and its parent card."""
    chunks = chunks_frame(chunk_cards(cards_of(kb_cards), settings.chunking))
    return frame_output(chunks, longest_text=max(chunks["text"].str.len_chars(), default=0))


def kb_collection(partitions: Partitions) -> dg.AssetsDefinition:
    """The asset `kb_collection` for a configuration's embedders."""

    @dg.asset(
        name="kb_collection",
        group_name=GROUP,
        kinds={"chroma"},
        code_version="1",
        partitions_def=partitions.embedders,
        metadata=column_schema(COLLECTION),
    )
    def asset(
        context: dg.AssetExecutionContext,
        kb_chunks: pl.DataFrame,
        embedding: dg.ResourceParam[Embedding],
        store: dg.ResourceParam[VectorStore],
        progress: dg.ResourceParam[Progress],
    ) -> dg.Output[pl.DataFrame]:
        """The Chroma collection of one embedder; built only when texts, options or weights have changed."""
        embedder = context.partition_key
        collection, built = ensure_collection(embedder, chunks_of(kb_chunks), embedding, store, progress.of(embedder))
        stored = collection.row(0, named=True)
        return frame_output(
            collection,
            collection=stored["collection"],
            vectors=stored["count"],
            fingerprint=stored["fingerprint"],
            built=built,
        )

    return asset
