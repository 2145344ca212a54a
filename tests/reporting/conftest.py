"""Two small reports, written out by hand, that every form of it is tested with."""

import pytest

from recall_assets.comparison import Comparison
from recall_assets.gate import Status, Verdict
from recall_assets.intervals import Interval
from recall_assets.metrics import HIT, NDCG, RECALL, Triad
from recall_assets.paired import PValue
from recall_assets.pairing import Pair, Pairing
from recall_assets.regression import Finding, SliceTest
from recall_assets.reporting.model import CheckResult, Report, RetrieverReport
from recall_assets.slices import Ledger, SliceScore
from tests.baselines import baseline, scored

LONGEST = "case_type=adversarial,locale=es-419"

SLICES = [
    SliceScore("overall", 3, Triad(2 / 3, 0.5, 0.61315), Interval(0.20766, 0.93851), Ledger(7, 5, 3, 1, 2, 2, 4)),
    SliceScore("case_type=golden", 2, Triad(1.0, 0.75, 0.9999), Interval(0.34238, 1.0), Ledger(2, 2, 2, 0, 0, 1, 4)),
    SliceScore("locale=pt-BR", 0, None, None, Ledger(2, 2, 0, 0, 2, 0, 0)),
    SliceScore(LONGEST, 1, Triad(0.0, 0.0, 0.0), Interval(0.0, 0.79345), Ledger(1, 1, 1, 1, 0, 1, 0)),
]
CHECKS = [
    CheckResult("every_case_retrieved", Status.FAILED, blocking=True, detail="2 of 7 cases have no result: c1, c2"),
    CheckResult("index_matches_exact", Status.WARNING, blocking=False, detail="1 of 5 top lists differs"),
    CheckResult("hit_floor", Status.INACTIVE, blocking=True, detail="inactive: no floor is set; observed 0.6667, n 3"),
    CheckResult("cases_valid", Status.PASSED, blocking=True, detail="7 cases"),
]


@pytest.fixture
def report():
    """One retriever with two missing cases: inconclusive."""
    return Report(Verdict.INCONCLUSIVE, 5, [RetrieverReport("dense-en", SLICES, CHECKS)])


# Six English cases lost, one slipped; one Portuguese case gained, one as it was.
RANKS = {
    "en-1": (3, None),
    "en-2": (1, None),
    "en-3": (2, None),
    "en-4": (1, None),
    "en-5": (4, None),
    "en-6": (5, None),
    "en-7": (1, 3),
    "pt-1": (None, 2),
    "pt-2": (1, 1),
}
FIRST_NOW = {"en-1": "Refunds", "en-2": "Fees", "en-7": "Limits | <b>"}
PAIRS = [
    Pair(
        *(
            scored(case_id, rank, locale=case_id.replace("pt", "pt-BR")[:-2], critical=case_id == "en-5")
            for rank in ranks
        )
    )
    for case_id, ranks in RANKS.items()
]
# Three tests could come out, so that a p-value must be below 0.05 / 3: six changes, all for the worse.
FAMILY = {"threshold": 0.05 / 3, "needs": 6}
TESTS = [
    # P(at least 6 of 7 changes are losses) = 8 / 128.
    SliceTest("overall", HIT, 9, 8 / 9, 3 / 9, 6, 1, Finding.NOT_SHOWN, **FAMILY, p=PValue(*[0.0625] * 3),
              adjusted=0.0625, cases_needed=14),
    SliceTest("overall", RECALL, 9, 8 / 9, 3 / 9, 6, 1, Finding.NOT_SHOWN, **FAMILY, p=PValue(*[0.0625] * 3),
              adjusted=0.0625, cases_needed=14),
    SliceTest("overall", NDCG, 9, 0.6, 0.25, 7, 1, Finding.NOT_SHOWN, **FAMILY, p=PValue(0.0301, 0.0299, 0.0303),
              adjusted=0.0602, at_edge=True),
    SliceTest("locale=en", HIT, 7, 1.0, 1 / 7, 6, 0, Finding.REGRESSED, **FAMILY, p=PValue(*[1 / 64] * 3),
              adjusted=3 / 64),
    SliceTest("locale=pt-BR", HIT, 2, 0.5, 1.0, 0, 1, Finding.NO_DROP, **FAMILY),
    SliceTest("case_type=golden,locale=pt-BR", NDCG, 2, 0.9, 0.8, 1, 0, Finding.TOO_FEW, **FAMILY),
]  # fmt: skip
BEFORE = baseline(
    [*(pair.before for pair in PAIRS), scored("gone-1", 1), scored("new-label", 1)],
    "dense-en",
    date="2026-09-01T02:03:04Z",
)
COMPARISON = Comparison(
    BEFORE, 5, ("embedder",), Pairing(PAIRS, ["added-1"], ["gone-1"], ["new-label"]), FIRST_NOW, None, TESTS
)
REGRESSED = (
    "locale=en: regressed: hit@5 1.0000 -> 0.1429 (6 lost, 0 gained of 7; p 0.0156, 0.0469 corrected)\n"
    "overall: and another line"
)


@pytest.fixture
def compared():
    """One retriever that lost cases since its baseline, and has two missing ones: fail."""
    checks = [*CHECKS, CheckResult("no_regression", Status.FAILED, blocking=True, detail=REGRESSED)]
    return Report(Verdict.FAIL, 5, [RetrieverReport("dense-en", SLICES, checks, comparison=COMPARISON)])
