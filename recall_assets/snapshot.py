"""A retriever's per-case scores as they can be compared later: each with what the case asked and how it was labelled.

A promoted snapshot is a baseline (`recall_assets.baseline`, which has the file); two snapshots are compared in
`recall_assets.pairing`. From and to frames: `recall_assets.score_frames`.
"""

from dataclasses import dataclass

from recall_assets.fingerprint import digest
from recall_assets.metrics import Triad
from recall_assets.records import Case

CRITICAL = "critical"
"""The tag of a case whose loss fails by itself."""


@dataclass(frozen=True)
class ScoredCase:
    """One gold-bearing case and its scores.

    Attributes:
        case_id: Its identity.
        locale: Its locale.
        case_type: Its type.
        critical: Whether its loss fails by itself.
        label: Digest of what a score depends on apart from the retriever: query, locale, gold and relevant ids.
        gold_rank: Rank of the first gold card within the top k, or None for a miss.
        scores: The triad.
    """

    case_id: str
    locale: str
    case_type: str
    critical: bool
    label: str
    gold_rank: int | None
    scores: Triad


def label_of(case: Case) -> str:
    """The digest of a case's query, locale and labels; the order of the ids, type and tags do not matter."""
    relevant = None if case.relevant_ids is None else sorted(case.relevant_ids)
    asked = {"query": case.query, "locale": case.locale, "gold": sorted(case.must_cite_one_of), "relevant": relevant}
    return digest(asked)[:16]
