import json
from pathlib import Path

import pytest

from recall_assets.gate import Verdict
from recall_assets.intervals import Interval
from recall_assets.metrics import Triad
from recall_assets.reporting.model import Report, RetrieverReport
from recall_assets.resources.report_store import ReportStore
from recall_assets.slices import Ledger, SliceScore

LEDGER = Ledger(cases=3, gold_bearing=3, scored=3, empty_result=0, missing=0, short_result=0, duplicates_dropped=0)
OVERALL = SliceScore("overall", 3, Triad(2 / 3, 0.5, 1 / 3), Interval(0.2, 0.9), LEDGER)
REPORT = Report(Verdict.PASS, 5, [RetrieverReport("coração", [OVERALL])])
OTHER = Report(Verdict.FAIL, 5, [RetrieverReport("coração", [OVERALL])])


@pytest.fixture
def reports(tmp_path):
    return ReportStore(tmp_path / "state")


def test_a_report_is_stored_under_its_run_and_as_the_latest(reports, tmp_path):
    assert reports.write(REPORT, "run-1") == tmp_path / "state" / "reports" / "run-1" / "report.md"
    for folder in ("run-1", "latest"):
        stored = tmp_path / "state" / "reports" / folder
        assert sorted(path.name for path in stored.iterdir()) == ["report.json", "report.md"]
        assert (stored / "report.md").read_text(encoding="utf-8").startswith("# Retrieval recall: pass\n")
        document = json.loads((stored / "report.json").read_text(encoding="utf-8"))
        assert document["retrievers"]["coração"]["slices"][0]["retrieval_hit_at_k"] == 2 / 3


def test_the_latest_is_replaced_and_earlier_runs_are_kept(reports, tmp_path):
    reports.write(REPORT, "run-1")
    reports.write(OTHER, "run-2")
    verdicts = {
        folder: json.loads((tmp_path / "state" / "reports" / folder / "report.json").read_text())["verdict"]
        for folder in ("run-1", "run-2", "latest")
    }
    assert verdicts == {"run-1": "pass", "run-2": "fail", "latest": "fail"}


def test_a_report_is_found_by_its_run(reports):
    path = reports.write(REPORT, "run-1")
    assert reports.of_run("run-1") == path
    assert reports.of_run("run-2") is None


def test_a_write_that_fails_half_way_leaves_the_latest_report_as_it_was(reports, tmp_path, monkeypatch):
    def half(self, text, **_):
        self.write_bytes(text[:10].encode())
        raise OSError("no space left on device")

    reports.write(REPORT, "run-1")
    monkeypatch.setattr(Path, "write_text", half)
    with pytest.raises(OSError, match="no space left"):
        reports.write(OTHER, "run-2")
    latest = tmp_path / "state" / "reports" / "latest"
    assert json.loads((latest / "report.json").read_text(encoding="utf-8"))["verdict"] == "pass"
    assert list((tmp_path / "state" / "reports" / "run-2").iterdir()) == []
