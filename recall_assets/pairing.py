"""Which cases of a baseline and of a run are the same question, and how each came out.

Pairs are made by case id, never by position, and only where query, locale and labels are unchanged. Whether a change
shows a regression is in `recall_assets.regression`.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from recall_assets.metrics import METRICS, SAME_SCORE
from recall_assets.slice_names import slices_of
from recall_assets.snapshot import ScoredCase


@dataclass(frozen=True)
class Pair:
    """One case before and after.

    Attributes:
        before: As the baseline has it.
        after: As the run has it; its locale, type and tags are those that count.
    """

    before: ScoredCase
    after: ScoredCase

    @property
    def case_id(self) -> str:
        """The case's identity."""
        return self.after.case_id

    def drop(self, metric: int) -> float:
        """How far one score of the triad fell; negative where it rose."""
        return self.before.scores[metric] - self.after.scores[metric]

    @property
    def critical(self) -> bool:
        """Whether its loss fails by itself; a tag that was taken off since the baseline counts still."""
        return self.before.critical or self.after.critical

    @property
    def lost(self) -> bool:
        """Whether gold was in the top k before, and is not now."""
        return self.before.gold_rank is not None and self.after.gold_rank is None

    @property
    def gained(self) -> bool:
        """Whether gold is in the top k now, and was not before."""
        return self.before.gold_rank is None and self.after.gold_rank is not None

    @property
    def slipped(self) -> bool:
        """Whether some score fell although gold was neither lost nor gained."""
        return (
            not self.lost and not self.gained and any(self.drop(metric) > SAME_SCORE for metric in range(len(METRICS)))
        )

    @property
    def slices(self) -> tuple[str, ...]:
        """The slices it is in."""
        return slices_of(self.after.case_type, self.after.locale)


@dataclass(frozen=True)
class Pairing:
    """A baseline beside a run.

    Attributes:
        pairs: Unchanged cases, sorted by id.
        added: Ids of the cases that only the run has, sorted.
        removed: Ids of the cases that only the baseline has.
        relabelled: Ids of the cases that both have, with another query, locale, gold or relevant ids.
    """

    pairs: list[Pair]
    added: list[str]
    removed: list[str]
    relabelled: list[str]

    @cached_property
    def lost(self) -> list[Pair]:
        """Pairs that lost their gold, critical ones first, then the best former rank."""
        return sorted((pair for pair in self.pairs if pair.lost), key=_by_urgency)

    @cached_property
    def gained(self) -> list[Pair]:
        """Pairs that gained gold."""
        return [pair for pair in self.pairs if pair.gained]

    @cached_property
    def slipped(self) -> list[Pair]:
        """Pairs with a lower score that neither lost nor gained their gold."""
        return sorted((pair for pair in self.pairs if pair.slipped), key=_by_urgency)

    @property
    def fell(self) -> list[Pair]:
        """Pairs with a lower score, lost ones first."""
        return [*self.lost, *self.slipped]

    @property
    def shared(self) -> float:
        """Pairs as a share of the larger of the two case sets, 0.0 where both are empty."""
        larger = len(self.pairs) + len(self.relabelled) + max(len(self.added), len(self.removed))
        return len(self.pairs) / larger if larger else 0.0


def pair(before: Iterable[ScoredCase], after: Iterable[ScoredCase]) -> Pairing:
    """Pairs two snapshots.

    Args:
        before: The baseline's cases.
        after: The run's.
    """
    old = {case.case_id: case for case in before}
    new = {case.case_id: case for case in after}
    both = sorted(old.keys() & new.keys())
    return Pairing(
        pairs=[Pair(old[case_id], new[case_id]) for case_id in both if old[case_id].label == new[case_id].label],
        added=sorted(new.keys() - old.keys()),
        removed=sorted(old.keys() - new.keys()),
        relabelled=[case_id for case_id in both if old[case_id].label != new[case_id].label],
    )


def _by_urgency(pair: Pair) -> tuple[bool, int, str]:
    return not pair.critical, pair.before.gold_rank or 0, pair.case_id
