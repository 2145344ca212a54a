"""What a report says, before it has a form: the forms are in `json_form`, `markdown` and `terminal`."""

from dataclasses import dataclass, field

from recall_assets.gate import RuleResult, Status, Verdict
from recall_assets.slices import OVERALL, SliceScore

RECALL_CAVEAT = (
    "recall@k is a lower bound where gold is disjunctive: finding one of two acceptable cards scores 0.5, "
    "although the contract is met. hit@k is the success figure."
)
LOCALE_NOTE = (
    "Differences between locales are indicative: each locale's cases are authored on their own, so they differ in "
    "difficulty as well."
)


@dataclass(frozen=True)
class CheckResult:
    """One check as it concerns one retriever.

    Attributes:
        name: Name of the asset check.
        status: What it came to; `warning` is a failed check that never blocks.
        blocking: Whether a failure stops what comes after it.
        detail: The finding in words.
    """

    name: str
    status: Status
    blocking: bool
    detail: str = ""

    @property
    def passed(self) -> bool:
        """Whether the check itself passed: also where it is inactive, not where it warns or could not be evaluated."""
        return self.status in (Status.PASSED, Status.INACTIVE)


def check_of_rule(rule: RuleResult) -> CheckResult:
    """A rule's result as reports list it; every rule of the gate blocks."""
    return CheckResult(rule.rule, rule.status, blocking=True, detail=rule.detail)


@dataclass(frozen=True)
class RetrieverReport:
    """One retriever's part of a report.

    Attributes:
        name: Its name.
        slices: Overall first.
        checks: Every check that concerns it.
        not_scored: Why there are no scores, or None.
    """

    name: str
    slices: list[SliceScore]
    checks: list[CheckResult] = field(default_factory=list)
    not_scored: str | None = None

    @property
    def overall(self) -> SliceScore:
        """The slice of all cases."""
        return next(score for score in self.slices if score.slice == OVERALL)


@dataclass(frozen=True)
class Report:
    """Everything one sweep has to say.

    Attributes:
        verdict: Over all retrievers.
        top_k: The cutoff k.
        retrievers: In the order of the configuration.
    """

    verdict: Verdict
    top_k: int
    retrievers: list[RetrieverReport]
