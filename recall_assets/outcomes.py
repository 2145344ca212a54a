"""What became of each case: the per-case facts that every aggregate is a fold over.

One outcome a case, with and without gold, with and without a result. The fold is in `recall_assets.slices`; the form
for frames is in `recall_assets.batch_scoring`.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from recall_assets.metrics import Triad, top_k_and_repeats, triad
from recall_assets.records import Case, Retrieved


class Outcome(NamedTuple):
    """What became of one case in one run.

    Attributes:
        locale: Locale of the case.
        case_type: Its type.
        gold_bearing: Whether its label names a gold card.
        found: Distinct cards within the top k; 0 for an empty result, None for a missing one.
        repeats: Repeats dropped on the way to k distinct cards.
        scores: The triad, or None without gold (rule 6) or without a result (rule 7).
    """

    locale: str
    case_type: str
    gold_bearing: bool
    found: int | None
    repeats: int
    scores: Triad | None


def score_run(cases: Iterable[Case], run: Mapping[str, Sequence[Retrieved]], k: int) -> dict[str, Outcome]:
    """The outcome of every case by its id, in the order of the cases.

    Args:
        cases: The case set.
        run: Case id to ranked result; a case that is absent has a missing result. Other ids are not looked at.
        k: The cutoff, at least 1.

    Raises:
        ValueError: k < 1.
    """
    return {case.case_id: _outcome(case, run.get(case.case_id), k) for case in cases}


def _outcome(case: Case, retrieved: Sequence[Retrieved] | None, k: int) -> Outcome:
    about = (case.locale, case.case_type, case.gold_bearing)
    if retrieved is None:
        return Outcome(*about, None, 0, None)
    top, repeats = top_k_and_repeats((result.card_id for result in retrieved), k)
    scores = triad(top, case.must_cite_one_of, k, case.relevant_ids) if case.gold_bearing else None
    return Outcome(*about, len(top), repeats, scores)
