"""The scorer for a team's own eval runner, and the means over its scores.

ADR-0023. The maths is in `recall_assets.metrics`; scoring whole frames is in `recall_assets.batch_scoring`.
"""

import math
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any

from recall_assets.metrics import METRICS, triad
from recall_assets.records import Case
from recall_assets.text import normal_id


class RetrievalRecallScorer:
    """Scores one case by what was retrieved for it, never by what was cited.

    Stateless and deterministic; safe to share.

    Attributes:
        top_k: The cutoff k.
    """

    def __init__(self, top_k: int | None = None) -> None:
        """Sets the cutoff.

        Args:
            top_k: The cutoff k, at least 1. None takes `top_k` of the configuration: the file that the environment
                variable RECALL_CONFIG names, or `recall.yaml` here, or where there is none, the default.

        Raises:
            ValueError: top_k < 1.
            TypeError: top_k is not an int.
            InvalidInputError: The configuration is not valid.
        """
        if top_k is None:
            from recall_assets.config_file import configured_settings  # reads a file, so only where it is asked for

            top_k = configured_settings().top_k
        if isinstance(top_k, bool) or not isinstance(top_k, int):
            raise TypeError(f"top_k must be an int, not {top_k!r}")
        if top_k < 1:
            raise ValueError(f"top_k must be at least 1, not {top_k}")
        self.top_k = top_k

    def score(self, case: Case | Mapping[str, Any], retrieved: Sequence[Any]) -> dict[str, float]:
        """The three scores of a case, or `{}` if it has no gold (ADR-0023, B).

        Args:
            case: A `Case`, or a mapping with `must_cite_one_of` and optionally `relevant_ids`.
            retrieved: In rank order: card or chunk ids, or mappings or objects with `chunk_id` and optionally
                `parent_id`. An empty list scores 0.0 on all three.

        Raises:
            TypeError: case, gold, retrieved, or one of its items, is not of the described form.
        """
        gold = _ids(_gold_of(case), "must_cite_one_of")
        if not gold:
            return {}
        relevant = _ids(_field(case, "relevant_ids"), "relevant_ids")
        if isinstance(retrieved, str | Mapping | Set) or not isinstance(retrieved, Iterable):
            raise TypeError(f"retrieved must be a list of results, not {retrieved!r}")
        ranked = [_card_id(item) for item in retrieved]
        return triad(ranked, gold, self.top_k, relevant)._asdict()


def mean_scores(scores: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """The mean of each metric over the cases that have it; a metric that no case has is left out.

    Means only: n, the number of score mappings that are not empty, is for whoever reports to count (ADR-0023). The sum
    is exact before the one rounding (`math.fsum`), so that the order of the cases cannot change a bit.
    """
    present = [score for score in scores if score]
    columns = {metric: [score[metric] for score in present if metric in score] for metric in METRICS}
    return {metric: math.fsum(values) / len(values) for metric, values in columns.items() if values}


def _gold_of(case: Case | Mapping[str, Any]) -> Any:
    # A misspelt key must not pass for a case without gold, which would drop out of every mean unseen.
    if isinstance(case, Mapping) and "must_cite_one_of" not in case:
        raise TypeError(f"the case has no must_cite_one_of, which is [] for a case without gold: {dict(case)!r}")
    return _field(case, "must_cite_one_of")


def _field(case: Case | Mapping[str, Any], name: str) -> Any:
    return case.get(name) if isinstance(case, Mapping) else getattr(case, name, None)


def _ids(value: Any, name: str) -> frozenset[str]:
    if value is None:
        return frozenset()
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise TypeError(f"{name} must be a list of ids, not {value!r}")
    ids = list(value)
    for card_id in ids:
        if not isinstance(card_id, str) or not card_id.strip():
            raise TypeError(f"{name} must hold ids, not {card_id!r}")
    return frozenset(map(normal_id, ids))


def _card_id(item: Any) -> str:
    if isinstance(item, str):
        return normal_id(item)
    for name in ("parent_id", "chunk_id"):
        value = item.get(name) if isinstance(item, Mapping) else getattr(item, name, None)
        if isinstance(value, str) and value.strip():
            return normal_id(value)
        if value is not None and not isinstance(value, str):
            raise TypeError(f"{name} of a retrieved item must be a string, not {value!r}")
    raise TypeError(f"a retrieved item must be an id or have a chunk_id, not {item!r}")
