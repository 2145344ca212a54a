"""Reading and validating everything a sweep starts from, with every problem of every file in one go."""

from dataclasses import dataclass
from pathlib import Path

from recall_assets.problems import InvalidInputError
from recall_assets.records import Card, Case
from recall_assets.sources.cards import read_cards_and_names
from recall_assets.sources.cases import read_cases_and_faulty, unresolved_labels


@dataclass(frozen=True)
class Inputs:
    """A valid knowledge base and case set.

    Attributes:
        cards: Sorted by id and locale; None where no knowledge base was given.
        cases: Sorted by id.
    """

    cards: list[Card] | None
    cases: list[Case]


def read_inputs(kb: Path | None, cases_path: Path) -> Inputs:
    """Reads cards and cases, and resolves the labels.

    Args:
        kb: The knowledge base, or None to leave labels unresolved.
        cases_path: The case set.

    Raises:
        InvalidInputError: Every problem in both.
    """
    cards, problems, names = (None, [], set[str]()) if kb is None else read_cards_and_names(kb)
    cases, case_problems, faulty = read_cases_and_faulty(cases_path)
    problems = problems + case_problems
    # Against a knowledge base of which nothing could be read every label would dangle: noise, not news.
    if cards:
        names -= {card.card_id for card in cards}
        problems += unresolved_labels([*cases, *faulty], cards, faulty_cards=names)
    if problems:
        raise InvalidInputError(problems)
    return Inputs(cards, cases)
