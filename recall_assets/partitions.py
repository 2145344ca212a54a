"""How the graph is partitioned: embedders, retrievers, and which retriever uses which embedder."""

from dataclasses import dataclass

import dagster as dg

from recall_assets.config import Settings


@dataclass(frozen=True)
class Partitions:
    """The partitions of one configuration.

    Attributes:
        embedders: One partition an embedder that is used.
        retrievers: One partition a retriever.
        users: From an embedder to the retrievers that use it.
    """

    embedders: dg.StaticPartitionsDefinition
    retrievers: dg.StaticPartitionsDefinition
    users: dg.StaticPartitionMapping

    @classmethod
    def of(cls, settings: Settings) -> "Partitions":
        """The partitions that a configuration calls for."""
        users = {
            embedder: {name for name, retriever in settings.retrievers.items() if retriever.embedder == embedder}
            for embedder in settings.used_embedders
        }
        return cls(
            dg.StaticPartitionsDefinition(list(settings.used_embedders)),
            dg.StaticPartitionsDefinition(list(settings.retrievers)),
            dg.StaticPartitionMapping(users),
        )
