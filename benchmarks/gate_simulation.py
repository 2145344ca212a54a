"""How often the regression rule is wrong on simulated sweeps: false alarms, and drops it does not show.

The rule is the package's own, called as the gate calls it. What is printed is the whole page `docs/gate-simulation.md`.
See README.md here.
"""

import argparse
import os
import sys
import textwrap
import time
import zlib
from bisect import bisect
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from itertools import accumulate, product
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

import numpy as np

from recall_assets.config import Regression
from recall_assets.intervals import wilson
from recall_assets.metrics import NDCG, Triad, triad_from_ranks
from recall_assets.pairing import Pair, pair
from recall_assets.regression import Finding, SliceTest, regression_tests
from recall_assets.slice_names import LOCALE, OVERALL, family
from recall_assets.snapshot import ScoredCase

K = 5
SEED = 23
RULE = Regression()
LOCALES = ("en", "es-419", "pt-BR")
SIZES = (29, 60, 200)
CHURNS = (0.05, 0.2, 1.0)
DROPS = (0.05, 0.1, 0.2)
SLIPS = (0.2, 1.0)
SLIPPED_RANKS = 2
DROP_CHURN = 0.05
ADVERSARIAL = 0.18
FIXED_DROP = 0.02
CHUNK = 50
TRIALS = 2000
CORES = 2
OFTEN = 0.8
WIDTH = 120

Ranks = tuple[int, ...]
"""At which ranks within the top 5 the gold cards of a case stand; none for a miss."""

# Every case of the shipped set under its retriever dense-multi, by its number of gold cards: at which ranks, and in how
# many cases.
ONE_GOLD: dict[Ranks, int] = {(1,): 75, (2,): 33, (3,): 17, (4,): 13, (5,): 13, (): 47}
TWO_GOLD: dict[Ranks, int] = {
    (1,): 15,
    (2,): 4,
    (3,): 3,
    (4,): 6,
    (5,): 3,
    (1, 2): 9,
    (1, 3): 7,
    (1, 4): 4,
    (1, 5): 1,
    (2, 3): 3,
    (2, 5): 1,
    (3, 4): 1,
    (): 7,
}
CASES = sum(ONE_GOLD.values()) + sum(TWO_GOLD.values())
TWO_GOLD_SHARE = sum(TWO_GOLD.values()) / CASES
HIT_RATE = 1 - (ONE_GOLD[()] + TWO_GOLD[()]) / CASES


@dataclass(frozen=True)
class Cell:
    """One setting that is simulated many times.

    Attributes:
        n: Gold-bearing cases of each locale.
        churn: Chance of a case to be retrieved anew.
        retrievers: In the sweep, independent of each other.
        harmed: Locales that get worse.
        drop: By how much hit@5 of a harmed locale falls, in expectation.
        slips: Chance of a found case of a harmed locale to slip within the top 5.
    """

    n: int
    churn: float
    retrievers: int = 1
    harmed: tuple[str, ...] = ()
    drop: float = 0.0
    slips: float = 0.0


class Trial(NamedTuple):
    """What came of one simulated sweep.

    Attributes:
        failed: Whether the rule found a regression in any slice, metric and retriever.
        located: Whether it found one in the slice of a harmed locale, or of a case type in it.
        by_ndcg: Whether it found one, and in nDCG@5 alone.
        too_few: Whether it found none, and said of a harmed locale that too few cases changed to tell.
        fixed: Whether hit@5 fell by more than 0.02, overall or in a locale.
    """

    failed: bool
    located: bool
    by_ndcg: bool
    too_few: bool
    fixed: bool


@dataclass
class Tally:
    """How many of the trials of a cell came out how."""

    trials: int = 0
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(Trial._fields, 0))

    def add(self, trials: Iterable[Trial]) -> None:
        """Counts more trials."""
        for trial in trials:
            self.trials += 1
            for name, value in trial._asdict().items():
                self.counts[name] += value

    def rate(self, name: str) -> float:
        """The share of trials in which `name`, a field of `Trial`, is true."""
        return self.counts[name] / self.trials

    def low(self, name: str) -> float:
        """The lower end of the rate's interval."""
        return wilson(self.counts[name], self.trials).low

    def shown(self, name: str) -> str:
        """The rate with its interval."""
        low, high = wilson(self.counts[name], self.trials)
        return f"{self.rate(name):.3f} ({low:.3f}-{high:.3f})"


Tallies = Mapping[Cell, Tally]


def null_cells() -> list[Cell]:
    """Where nothing got worse."""
    return [Cell(n, churn, count) for count, churn, n in product((1, 2), CHURNS, SIZES)]


def drop_cells() -> list[Cell]:
    """Where hits are lost, in one locale or in all."""
    return [Cell(n, DROP_CHURN, 1, harmed, drop) for harmed, drop, n in product((LOCALES[-1:], LOCALES), DROPS, SIZES)]


def slip_cells() -> list[Cell]:
    """Where only ranks fall, in one locale."""
    return [Cell(n, DROP_CHURN, 1, LOCALES[-1:], slips=share) for share, n in product(SLIPS, SIZES)]


def all_cells() -> list[Cell]:
    """Every setting."""
    return [*null_cells(), *drop_cells(), *slip_cells()]


def simulated(cell: Cell, trial: int) -> Trial:
    """One sweep, which depends on the cell and the trial's number alone."""
    key = zlib.crc32(repr(cell).encode())
    rng = np.random.default_rng(np.random.SeedSequence(SEED, spawn_key=(key, trial)))
    return judged(cell, regression_tests(sweep(cell, rng), RULE))


def sweep(cell: Cell, rng: np.random.Generator) -> dict[str, list[Pair]]:
    """By retriever, its pairs; all retrievers answer the same cases."""
    adversarial = round(cell.n * ADVERSARIAL)
    labels = [
        (locale, "adversarial" if number < adversarial else "golden", number)
        for locale in LOCALES
        for number in range(cell.n)
    ]
    golds = [1 + two for two in (rng.random(len(labels)) < TWO_GOLD_SHARE).tolist()]
    return {f"retriever-{number}": _pairs(cell, labels, golds, rng) for number in range(cell.retrievers)}


def judged(cell: Cell, tests: Mapping[str, Sequence[SliceTest]]) -> Trial:
    """What the rule and the fixed rule say of a sweep."""
    flat = [test for those in tests.values() for test in those]
    regressed = [test for test in flat if test.finding is Finding.REGRESSED]
    own = {f"{LOCALE}={locale}" for locale in cell.harmed}
    return Trial(
        failed=bool(regressed),
        located=any(own & set(test.slice.split(",")) for test in regressed),
        by_ndcg=bool(regressed) and all(test.metric == NDCG for test in regressed),
        too_few=not regressed and any(test.slice in own and test.finding is Finding.TOO_FEW for test in flat),
        fixed=any(_fell_by_more(test) for test in flat),
    )


def slipped(ranks: Ranks) -> Ranks:
    """Every card two ranks further down, as far as all stay within the top 5."""
    last = range(K - len(ranks) + 1, K + 1)
    return tuple(min(rank + SLIPPED_RANKS, most) for rank, most in zip(ranks, last, strict=True))


def _fell_by_more(test: SliceTest) -> bool:
    # Counts, because 4 of 200 lost is 0.02 to the letter, and the difference of two rounded means is not.
    wide = family(test.slice) in (OVERALL, LOCALE)
    return test.is_hit and wide and test.fell - test.rose > round(FIXED_DROP * test.n, 9)


def _pairs(
    cell: Cell, labels: Sequence[tuple[str, str, int]], golds: Sequence[int], rng: np.random.Generator
) -> list[Pair]:
    before, after = [], []
    for (locale, case_type, number), gold, chances in zip(
        labels, golds, rng.random((len(golds), 4)).tolist(), strict=True
    ):
        old, new = _before_and_after(cell, locale, gold, chances)
        case_id = f"{locale}-{case_type}-{number:03d}"
        before.append(_scored(case_id, locale, case_type, gold, old))
        after.append(_scored(case_id, locale, case_type, gold, new))
    return pair(before, after).pairs


def _before_and_after(cell: Cell, locale: str, gold: int, chances: Sequence[float]) -> tuple[Ranks, Ranks]:
    first, anew, second, harm = chances
    before = _drawn(gold, first)
    after = _drawn(gold, second) if anew < cell.churn else before
    if after and locale in cell.harmed:
        if harm < cell.drop / HIT_RATE:
            after = ()
        elif harm < cell.slips:
            after = slipped(after)
    return before, after


def _drawn(gold: int, chance: float) -> Ranks:
    ranks, shares = _SHARES[gold]
    return ranks[bisect(shares, chance)]


def _cumulated(counts: Mapping[Ranks, int]) -> tuple[list[Ranks], list[float]]:
    total = sum(counts.values())
    return list(counts), [count / total for count in accumulate(counts.values())]


_SHARES = {1: _cumulated(ONE_GOLD), 2: _cumulated(TWO_GOLD)}
_TRIADS: dict[tuple[int, Ranks], Triad] = {}


def _scored(case_id: str, locale: str, case_type: str, gold: int, ranks: Ranks) -> ScoredCase:
    if (gold, ranks) not in _TRIADS:
        _TRIADS[gold, ranks] = triad_from_ranks(ranks, ranks, gold, K)
    return ScoredCase(case_id, locale, case_type, False, "", ranks[0] if ranks else None, _TRIADS[gold, ranks])


def run(cells: Sequence[Cell], trials: int) -> dict[Cell, Tally]:
    """Simulates every cell on two cores; says on standard error how far it is."""
    # Two processes share two cores; more threads in each would only wait for each other.
    os.environ["OMP_NUM_THREADS"] = "1"
    chunks = [(cell, start, min(start + CHUNK, trials)) for cell in cells for start in range(0, trials, CHUNK)]
    tallies: dict[Cell, Tally] = defaultdict(Tally)
    started = time.perf_counter()
    with ProcessPoolExecutor(CORES, mp_context=get_context("spawn")) as pool:
        for (cell, _, end), results in zip(chunks, pool.map(_simulated_chunk, chunks), strict=True):
            tallies[cell].add(results)
            if end == trials:
                print(f"{len(tallies)} of {len(cells)}, {time.perf_counter() - started:.0f} s: {cell}", file=sys.stderr)
    return dict(tallies)


def _simulated_chunk(chunk: tuple[Cell, int, int]) -> list[Trial]:
    cell, start, end = chunk
    return [simulated(cell, trial) for trial in range(start, end)]


def page(tallies: Tallies, trials: int) -> str:
    """The page of the documentation, in Markdown."""
    parts = [
        "# How often the regression rule is wrong",
        *_introduction(trials),
        "## What was found",
        _listed([_false_alarms(tallies), *_power(tallies), *_of_ranks(tallies), _of_the_fixed_rule(tallies)]),
        "## Nothing got worse",
        _table(_NULL_COLUMNS, null_cells(), tallies),
        "- retrieved anew: the chance of a case to be\n"
        "- false alarms: the share of sweeps with a regression in any slice, metric or retriever",
        "## Hits are lost",
        _filled(
            f"{DROP_CHURN:.0%} of the cases are retrieved anew; on top of that, hits are lost with the chance that "
            "makes hit@5 of the locale fall by so much in expectation. One retriever."
        ),
        _table(_DROP_COLUMNS, drop_cells(), tallies),
        "- fails: the share of sweeps with a regression in any slice or metric\n"
        "- in the locale: with one in a slice of a locale that got worse\n"
        "- nDCG alone: with one in nDCG@5, and none in hit@5 or recall@5\n"
        "- too few changes: without one, but a locale that got worse is reported as having too few changes to tell",
        "## Only ranks fall",
        _filled(
            f"{DROP_CHURN:.0%} of the cases are retrieved anew; on top of that, found cases of one locale slip two "
            "ranks, though never out of the top 5, with the given chance. No case is lost by it. One retriever; "
            "columns as above."
        ),
        _table(_SLIP_COLUMNS, slip_cells(), tallies),
    ]
    return "\n\n".join(parts) + "\n"


def _introduction(trials: int) -> list[str]:
    totals = ", ".join(f"{len(LOCALES) * n} for n = {n}" for n in SIZES)
    return [
        _filled(
            f"The rule `no_regression` with its default settings (alpha {RULE.alpha}, tolerance {RULE.tolerance:g}), "
            f"on {trials:,} simulated sweeps in each of {len(all_cells())} settings: how often it fails a sweep in "
            "which nothing got worse, and how often one in which something did. The script calls the rule itself and "
            "prints this page, the figures in its sentences too:"
        ),
        "```\n.venv/bin/python benchmarks/gate_simulation.py --write docs/gate-simulation.md\n```",
        _filled(
            f"A simulated case set has n gold-bearing cases **in each of three locales** ({', '.join(LOCALES)}), three "
            f"times n in all: {totals}. {ADVERSARIAL:.0%} of them are adversarial, the others golden, and "
            f"{TWO_GOLD_SHARE:.0%} have two gold cards. Where gold stands in the top 5 is drawn from the {CASES} "
            f"gold-bearing cases of the shipped set under dense-multi (hit@5 is {HIT_RATE:.2f}), for every locale and "
            "type alike. A case that is retrieved anew is drawn once more, whatever it was before: before and after "
            "are exchangeable, nothing got worse. Two retrievers answer the same cases and are drawn independently."
        ),
        _filled(
            "Rates have their 95% interval (Wilson) in brackets. Beside the rule, on the same sweeps, a fixed one: "
            f"hit@5 fell by more than {FIXED_DROP}, overall or in any locale, for any retriever."
        ),
    ]


def _false_alarms(tallies: Tallies) -> str:
    cells = null_cells()
    most = max(cells, key=lambda cell: tallies[cell].rate("failed"))
    above = [cell for cell in cells if tallies[cell].rate("failed") > RULE.alpha]
    beyond = [cell for cell in above if tallies[cell].low("failed") > RULE.alpha]
    retrievers = "1 retriever" if most.retrievers == 1 else f"{most.retrievers} retrievers"
    text = (
        f"Where nothing got worse, the rule fails {_range(tallies, cells, 'failed')} of the sweeps, the most "
        f"({tallies[most].shown('failed')}) at n = {most.n} with {most.churn:.0%} retrieved anew and {retrievers}. "
    )
    if beyond:
        return f"{text}In {len(beyond)} of {len(cells)} settings that is more than alpha, beyond the interval."
    if above:
        return f"{text}In {len(above)} of {len(cells)} settings that is more than alpha, within the interval."
    return f"{text}In none of {len(cells)} settings is that more than alpha."


def _power(tallies: Tallies) -> Iterator[str]:
    for harmed, where in ((LOCALES[-1:], "one locale"), (LOCALES, "all locales")):
        falls = [
            _seen_from(drop, [cell for cell in drop_cells() if (cell.harmed, cell.drop) == (harmed, drop)], tallies)
            for drop in DROPS
        ]
        yield f"A fall of hit@5 in {where} fails {OFTEN:.0%} of the sweeps or more {'; '.join(falls)}."


def _seen_from(drop: float, cells: Sequence[Cell], tallies: Tallies) -> str:
    enough = [cell.n for cell in cells if tallies[cell].rate("failed") >= OFTEN]
    if enough:
        return f"from n = {min(enough)} on if it is {drop:.2f}"
    most = max(cells, key=lambda cell: tallies[cell].rate("failed"))
    return f"at no n here if it is {drop:.2f} ({tallies[most].rate('failed'):.0%} at n = {most.n})"


def _of_ranks(tallies: Tallies) -> Iterator[str]:
    for share in SLIPS:
        cells = [cell for cell in slip_cells() if cell.slips == share]
        rates = ", ".join(f"{tallies[cell].rate('failed'):.3f} at n = {cell.n}" for cell in cells)
        yield f"Where {share:.0%} of the found cases of one locale slip two ranks, the rule fails {rates}."


def _of_the_fixed_rule(tallies: Tallies) -> str:
    alike = [cell for cell in null_cells() if (cell.churn, cell.retrievers) == (DROP_CHURN, 1)]
    return (
        f"The fixed rule fails {_range(tallies, null_cells(), 'fixed')} of the sweeps in which nothing got worse; what "
        "it finds of real drops must be read beside that. Where only ranks fall it fails "
        f"{_range(tallies, slip_cells(), 'fixed')}, and without that fall {_range(tallies, alike, 'fixed')}: it cannot "
        "see ranks."
    )


def _range(tallies: Tallies, cells: Sequence[Cell], name: str) -> str:
    rates = [tallies[cell].rate(name) for cell in cells]
    return f"{min(rates):.3f} to {max(rates):.3f}"


Column = Callable[[Cell, Tally], str]

_NULL_COLUMNS: dict[str, Column] = {
    "n per locale": lambda cell, _: str(cell.n),
    "retrieved anew": lambda cell, _: f"{cell.churn:.0%}",
    "retrievers": lambda cell, _: str(cell.retrievers),
    "false alarms": lambda _, tally: tally.shown("failed"),
    "fixed rule": lambda _, tally: tally.shown("fixed"),
}
_OUTCOMES: dict[str, Column] = {
    "fails": lambda _, tally: tally.shown("failed"),
    "in the locale": lambda _, tally: tally.shown("located"),
    "nDCG alone": lambda _, tally: tally.shown("by_ndcg"),
    "too few changes": lambda _, tally: tally.shown("too_few"),
    "fixed rule": lambda _, tally: tally.shown("fixed"),
}
_DROP_COLUMNS: dict[str, Column] = {
    "fall of hit@5": lambda cell, _: f"{cell.drop:.2f}",
    "in": lambda cell, _: "all locales" if cell.harmed == LOCALES else "one locale",
    "n per locale": lambda cell, _: str(cell.n),
    **_OUTCOMES,
}
_SLIP_COLUMNS: dict[str, Column] = {
    "of the found slip": lambda cell, _: f"{cell.slips:.0%}",
    "n per locale": lambda cell, _: str(cell.n),
    **_OUTCOMES,
}


def _table(columns: Mapping[str, Column], cells: Sequence[Cell], tallies: Tallies) -> str:
    rows = [list(columns)]
    rows += [[shown(cell, tallies[cell]) for shown in columns.values()] for cell in cells]
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([lines[0], "|---" * len(columns) + "|", *lines[1:]])


def _filled(text: str, width: int = WIDTH) -> str:
    return textwrap.fill(text, width, break_on_hyphens=False, break_long_words=False)


def _listed(texts: Iterable[str]) -> str:
    return "\n".join(
        textwrap.fill(text, WIDTH, initial_indent="- ", subsequent_indent="  ", break_on_hyphens=False)
        for text in texts
    )


def main() -> None:
    """Simulates every cell and prints the page, or writes it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=TRIALS, help="simulated sweeps in each setting")
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the page there instead of printing it")
    given = parser.parse_args()
    if given.trials < 1:
        parser.error("--trials must be at least 1")
    text = page(run(all_cells(), given.trials), given.trials)
    if given.write:
        given.write.write_text(text, encoding="utf-8")
    else:
        print(text, end="")


if __name__ == "__main__":
    main()
