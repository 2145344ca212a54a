"""Retrieval recall measurement: whether retrieval found the right card, apart from what was then done with it.

For a team's own eval runner: `RetrievalRecallScorer`, the functions under it, and `mean_scores`. Importing this package
loads neither Dagster nor torch nor Chroma.
"""

from recall_assets.metrics import hit_at_k, ndcg_at_k, recall_at_k, triad
from recall_assets.records import Case, Retrieved
from recall_assets.scorer import RetrievalRecallScorer, mean_scores

__all__ = [
    "Case",
    "RetrievalRecallScorer",
    "Retrieved",
    "hit_at_k",
    "mean_scores",
    "ndcg_at_k",
    "recall_at_k",
    "triad",
]
