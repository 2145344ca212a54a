"""What a report says, before it has a form: the forms are in `json_form`, `markdown` and `terminal`."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from recall_assets.gate import REGRESSION_RULE, RuleResult, Status, Verdict, verdict_of, verdict_weight, worst
from recall_assets.slice_names import OVERALL
from recall_assets.slices import SliceScore

if TYPE_CHECKING:  # a captured run is scored without it
    from recall_assets.comparison import Comparison

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
        return self.status.passes

    @property
    def headline(self) -> str:
        """The first line of the finding, and how many slices more there are: the worst slice speaks for them."""
        first, *others = self.detail.splitlines() or [self.status.value]
        return f"{first} (and {len(others)} more slice{'s' if len(others) > 1 else ''})" if others else first


def check_of_rules(rules: Iterable[RuleResult]) -> list[CheckResult]:
    """The results of one retriever's rules as reports list them, one a rule: the worst slice speaks, and comes first.

    Every rule of the gate blocks.
    """
    by_rule: dict[str, list[RuleResult]] = {}
    for rule in rules:
        by_rule.setdefault(rule.rule, []).append(rule)
    return [_check_of(name, results) for name, results in by_rule.items()]


def _check_of(name: str, results: list[RuleResult]) -> CheckResult:
    status = worst(result.status for result in results)
    telling = sorted((result for result in results if result.status is status), key=_above_floor)
    if status in (Status.PASSED, Status.INACTIVE):
        telling = telling[:1]
    detail = "\n".join(r.detail if r.slice == OVERALL else f"{r.slice}: {r.detail}" for r in telling)
    return CheckResult(name, status, blocking=True, detail=detail)


def _above_floor(result: RuleResult) -> float:
    """How far a mean is above its floor; 0.0 where there is none, so that other rules keep their own order."""
    return 0.0 if result.observed is None or result.threshold is None else result.observed - result.threshold


class CaseResult(NamedTuple):
    """What became of one case, for reports that list every case.

    Attributes:
        case_id: Its identity.
        slice: The narrowest slice that it is in.
        gold_bearing: Whether it has gold, and so can be scored.
        scored: Whether it was.
        gold_rank: Rank of the first gold card within the top k, None for a miss.
    """

    case_id: str
    slice: str
    gold_bearing: bool
    scored: bool
    gold_rank: int | None


@dataclass(frozen=True)
class RetrieverReport:
    """One retriever's part of a report.

    Attributes:
        name: Its name.
        slices: Overall first.
        checks: Every check that concerns it.
        not_scored: Why there are no scores, or None.
        rules: Every rule of the gate for every slice it concerns.
        comparison: Its run beside its baseline, where there is one that can be read.
    """

    name: str
    slices: list[SliceScore]
    checks: list[CheckResult] = field(default_factory=list)
    not_scored: str | None = None
    rules: list[RuleResult] = field(default_factory=list)
    comparison: "Comparison | None" = None

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
        errors: What went wrong in the sweep, apart from failed checks.
    """

    verdict: Verdict
    top_k: int
    retrievers: list[RetrieverReport]
    errors: tuple[str, ...] = ()

    @property
    def reasons(self) -> list[tuple[str, CheckResult]]:
        """What stands against a pass: retriever and check; what decides the verdict first, and of that regressions.

        A regression says which cases to look at; a floor only how far away it is.
        """
        against = [
            (retriever.name, check)
            for retriever in self.retrievers
            for check in retriever.checks
            if not check.passed and check.blocking
        ]
        return sorted(against, key=_by_importance)


def _by_importance(reason: tuple[str, CheckResult]) -> tuple[int, bool]:
    check = reason[1]
    regression = check.name == REGRESSION_RULE and check.status is Status.FAILED
    return verdict_weight(verdict_of([(check.name, check.status)])), not regression
