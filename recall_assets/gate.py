"""Statuses, verdicts and rule results: what every rule of the gate comes to, and what all of them come to together.

The rules are in `recall_assets.floors` and `recall_assets.comparison`. Where verdicts become exit codes is the command
line; where they become failed checks is `recall_assets.checks.gate`.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class Status(StrEnum):
    """Outcome of one rule or check.

    `untested` is a rule that had too little to go on, and says what it would need: it neither holds nor fails.
    """

    PASSED = "passed"
    FAILED = "failed"
    WARNING = "warning"
    INACTIVE = "inactive"
    UNTESTED = "untested"
    INVALID = "invalid"
    INCONCLUSIVE = "inconclusive"

    @property
    def passes(self) -> bool:
        """Whether a check of this outcome passes in Dagster, where there is nothing but passed and failed."""
        return self in (Status.PASSED, Status.INACTIVE, Status.UNTESTED)


# Worst first: in this order findings are listed, and the first there is speaks for several.
_BY_WEIGHT = (
    Status.INVALID,
    Status.FAILED,
    Status.INCONCLUSIVE,
    Status.WARNING,
    Status.UNTESTED,
    Status.PASSED,
    Status.INACTIVE,
)


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
    """One rule, judged for one slice of one retriever.

    Attributes:
        retriever: Its name.
        rule: Name of the rule, which is the name of its asset check.
        slice: Name of the slice; `overall` where a rule concerns the retriever as a whole.
        status: `inactive` where nothing is set that could fail.
        threshold: The floor, or None.
        observed: Mean of the slice at full precision, or None where nothing was scored or no mean is judged.
        n: Scored gold-bearing cases; for `no_regression`, paired ones.
        low: Lower end of the 95% interval of `observed`, or None.
        high: Upper end, or None.
        detail: The finding in words.
    """

    retriever: str
    rule: str
    slice: str
    status: Status
    threshold: float | None
    observed: float | None
    n: int
    low: float | None
    high: float | None
    detail: str


SCORED_RULE = "every_retriever_scored"
FLOOR_RULES = ("hit_floor", "recall_floor", "ndcg_floor")
REGRESSION_RULE = "no_regression"
RULES = (SCORED_RULE, *FLOOR_RULES, REGRESSION_RULE)

# What a failed check means for the whole; one that is not named here shows a failure.
_MEANING = {
    "cards_valid": Verdict.INVALID,
    "cases_valid": Verdict.INVALID,
    "gold_ids_resolve": Verdict.INVALID,
    "collection_complete": Verdict.INCONCLUSIVE,
    "every_case_retrieved": Verdict.INCONCLUSIVE,
}


def worst(statuses: Iterable[Status]) -> Status:
    """The status that speaks for several; `inactive` for none."""
    return min(statuses, key=status_weight, default=Status.INACTIVE)


def status_weight(status: Status) -> int:
    """For sorting: the worse a status, the smaller."""
    return _BY_WEIGHT.index(status)


def verdict_of(checks: Iterable[tuple[str, Status]]) -> Verdict:
    """The verdict over every check, by name and status.

    Wrong input outweighs all, because no figure on it means anything; then a shown failure outweighs what could not be
    evaluated. Warnings, untested and inactive checks change nothing.
    """
    return min((_meaning(name, status) for name, status in checks), key=verdict_weight, default=Verdict.PASS)


def verdict_weight(verdict: Verdict) -> int:
    """For sorting: the more a verdict outweighs others, the smaller."""
    return (Verdict.INVALID, Verdict.FAIL, Verdict.INCONCLUSIVE, Verdict.PASS).index(verdict)


def _meaning(name: str, status: Status) -> Verdict:
    if status is Status.FAILED:
        return _MEANING.get(name, Verdict.FAIL)
    return {Status.INVALID: Verdict.INVALID, Status.INCONCLUSIVE: Verdict.INCONCLUSIVE}.get(status, Verdict.PASS)
