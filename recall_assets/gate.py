"""Rules and verdicts: what a sweep's figures mean for whoever must act on them.

Statistics of a single rate are in `recall_assets.intervals`. Where verdicts become exit codes is the command line;
where they become failed checks is `recall_assets.checks.gate`.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from recall_assets.config import Floors
from recall_assets.intervals import wilson
from recall_assets.slices import OVERALL, SliceScore


class Status(StrEnum):
    """Outcome of one rule or check."""

    PASSED = "passed"
    FAILED = "failed"
    WARNING = "warning"
    INACTIVE = "inactive"
    INCONCLUSIVE = "inconclusive"


class Verdict(StrEnum):
    """Outcome of a whole sweep."""

    PASS = "pass"  # noqa: S105 - a word, not a password
    FAIL = "fail"
    INVALID = "invalid"
    INCONCLUSIVE = "inconclusive"

    @property
    def exit_code(self) -> int:
        """0, 1, 2 or 3: the command line's answer to a build."""
        return list(Verdict).index(self)


@dataclass(frozen=True)
class RuleResult:
    """One rule, judged for one retriever.

    Attributes:
        retriever: Its name.
        rule: Name of the rule, which is the name of its asset check.
        status: `inactive` where no threshold is set.
        threshold: The floor, or None.
        observed: Mean of the overall slice at full precision, or None where nothing was scored.
        n: Scored gold-bearing cases.
        low: Lower end of the 95% interval of `observed`, or None.
        high: Upper end, or None.
        detail: The finding in words.
    """

    retriever: str
    rule: str
    status: Status
    threshold: float | None
    observed: float | None
    n: int
    low: float | None
    high: float | None
    detail: str


FLOOR_RULES = ("hit_floor", "recall_floor", "ndcg_floor")
SCORED_RULE = "every_retriever_scored"

# What a failed check means for the whole; one that is not named here shows a failure.
_MEANING = {
    "cards_valid": Verdict.INVALID,
    "cases_valid": Verdict.INVALID,
    "gold_ids_resolve": Verdict.INVALID,
    "collection_complete": Verdict.INCONCLUSIVE,
    "every_case_retrieved": Verdict.INCONCLUSIVE,
}


def judge(
    retriever: str, slices: Iterable[SliceScore], floors: Floors, not_scored: str | None = None
) -> list[RuleResult]:
    """Judges one retriever by its slices: whether everything was scored, then each floor.

    A floor fails if the observed mean is below it, unrounded; equal passes. Without a single scored case an active
    floor is inconclusive. The interval is Wilson's; for recall and nDCG, which vary less than a yes or no with the same
    mean, it is wider than it need be.

    Args:
        retriever: Its name.
        slices: Its slices, `overall` among them.
        floors: The configured minima.
        not_scored: Why it was not scored, if it was not.
    """
    overall = next(score for score in slices if score.slice == OVERALL)
    thresholds = (floors.hit, floors.recall, floors.ndcg)
    return [
        _scored(retriever, overall, not_scored),
        *(_floor(retriever, overall, index, floor) for index, floor in enumerate(thresholds)),
    ]


def verdict_of(checks: Iterable[tuple[str, Status]]) -> Verdict:
    """The verdict over every check, by name and status.

    Wrong input outweighs all, because no figure on it means anything; then a shown failure outweighs what could not be
    evaluated. Warnings and inactive checks change nothing.
    """
    meanings = {
        Verdict.INCONCLUSIVE if status is Status.INCONCLUSIVE else _MEANING.get(name, Verdict.FAIL)
        for name, status in checks
        if status in (Status.FAILED, Status.INCONCLUSIVE)
    }
    by_weight = (Verdict.INVALID, Verdict.FAIL, Verdict.INCONCLUSIVE)
    return next((verdict for verdict in by_weight if verdict in meanings), Verdict.PASS)


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
    return RuleResult(retriever, SCORED_RULE, status, None, None, overall.n, None, None, detail)


def _floor(retriever: str, overall: SliceScore, metric: int, floor: float | None) -> RuleResult:
    rule = FLOOR_RULES[metric]
    if overall.means is None:
        status = Status.INACTIVE if floor is None else Status.INCONCLUSIVE
        detail = f"{'inactive: no floor is set' if floor is None else f'floor {floor}'}; nothing was scored"
        return RuleResult(retriever, rule, status, floor, None, 0, None, None, detail)
    observed = overall.means[metric]
    low, high = wilson(observed * overall.n, overall.n)
    seen = f"observed {observed:.4f}, n {overall.n}, 95% interval {low:.4f} to {high:.4f}"
    if floor is None:
        status, detail = Status.INACTIVE, f"inactive: no floor is set; {seen}"
    elif observed < floor:
        status, detail = Status.FAILED, f"{floor - observed:.2g} below the floor {floor}: {seen}"
    else:
        status, detail = Status.PASSED, f"at or above the floor {floor}: {seen}"
    return RuleResult(retriever, rule, status, floor, observed, overall.n, low, high, detail)
