"""Rules on a sweep's own figures: whether everything was scored, and the floors. Comparisons are in `comparison`."""

from collections.abc import Iterable, Mapping

from recall_assets.config import Floors
from recall_assets.gate import FLOOR_RULES, SCORED_RULE, RuleResult, Status
from recall_assets.intervals import wilson
from recall_assets.slice_names import OVERALL
from recall_assets.slices import SliceScore


def judge_floors(
    retriever: str, slices: Iterable[SliceScore], floors: Mapping[str, Floors], not_scored: str | None = None
) -> list[RuleResult]:
    """Judges one retriever by its slices: whether everything was scored, then each floor of each slice.

    A floor fails if the observed mean is below it, unrounded; equal passes. With fewer scored cases than `min_n`, or
    none, a floor that is set is inconclusive. The interval is Wilson's; for recall and nDCG, which vary less than a yes
    or no with the same mean, it is wider than it need be.

    Args:
        retriever: Its name.
        slices: Its slices, `overall` among them.
        floors: The minima by slice, `overall` among them; of other slices only those that are set are judged.
        not_scored: Why it was not scored, if it was not.
    """
    by_name = {score.slice: score for score in slices}
    results = [_scored(retriever, by_name[OVERALL], not_scored)]
    for index, rule in enumerate(FLOOR_RULES):
        for name, minima in floors.items():
            floor = (minima.hit, minima.recall, minima.ndcg)[index]
            if floor is not None or name == OVERALL:
                results.append(_floor(retriever, rule, name, by_name.get(name), index, floor, minima.min_n))
    return results


def _scored(retriever: str, overall: SliceScore, not_scored: str | None) -> RuleResult:
    ledger = overall.ledger
    if not_scored is not None:
        status, detail = Status.INCONCLUSIVE, not_scored
    elif ledger.missing:
        status, detail = Status.INCONCLUSIVE, f"{ledger.missing} of {ledger.cases} cases have no result"
    elif not overall.n:
        status, detail = Status.INCONCLUSIVE, "no case has gold, so nothing was measured"
    else:
        status, detail = Status.PASSED, f"every case has a result; {overall.n} gold-bearing cases scored"
    return RuleResult(retriever, SCORED_RULE, OVERALL, status, None, None, overall.n, None, None, detail)


def _floor(
    retriever: str, rule: str, name: str, score: SliceScore | None, metric: int, floor: float | None, min_n: int | None
) -> RuleResult:
    if score is None or score.means is None:
        status = Status.INACTIVE if floor is None else Status.INCONCLUSIVE
        nothing = "nothing was scored" if score is not None else "no gold-bearing case is in this slice"
        detail = f"{'inactive: no floor is set' if floor is None else f'floor {floor}'}; {nothing}"
        return RuleResult(retriever, rule, name, status, floor, None, 0, None, None, detail)
    observed, n = score.means[metric], score.n
    low, high = wilson(observed * n, n)
    seen = f"observed {observed:.4f}, n {n}, 95% interval {low:.4f} to {high:.4f}"
    if floor is None:
        status, detail = Status.INACTIVE, f"inactive: no floor is set; {seen}"
    elif n < (min_n or 1):
        status, detail = Status.INCONCLUSIVE, f"n {n} is below min_n {min_n}, so the floor {floor} says nothing: {seen}"
    elif observed < floor:
        status, detail = Status.FAILED, f"{floor - observed:.3g} below the floor {floor}: {seen}"
    else:
        status, detail = Status.PASSED, f"at or above the floor {floor}: {seen}"
    return RuleResult(retriever, rule, name, status, floor, observed, n, low, high, detail)
