"""One small report, written out by hand, that every form of it is tested with."""

import pytest

from recall_assets.gate import Status, Verdict
from recall_assets.intervals import Interval
from recall_assets.metrics import Triad
from recall_assets.reporting.model import CheckResult, Report, RetrieverReport
from recall_assets.slices import Ledger, SliceScore

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
