"""Where reports are kept: one folder a run, and the latest beside them."""

import json
from pathlib import Path

from recall_assets.atomic import write_whole
from recall_assets.reporting.json_form import stored_json
from recall_assets.reporting.markdown import report_markdown
from recall_assets.reporting.model import Report


class ReportStore:
    """Reports under `<storage>/reports`."""

    def __init__(self, storage: Path) -> None:
        """Reports of the given storage folder."""
        self.folder = storage / "reports"

    def write(self, report: Report, run_id: str) -> Path:
        """Stores a report as `<run_id>/report.md` and `.json`, and again under `latest/`; gives the first.

        Each file appears whole or not at all.
        """
        forms = {
            "report.md": report_markdown(report),
            "report.json": json.dumps(stored_json(report), indent=2, ensure_ascii=False, allow_nan=False) + "\n",
        }
        for folder in (self.folder / run_id, self.folder / "latest"):
            for name, text in forms.items():
                write_whole(folder / name, text)
        return self.folder / run_id / "report.md"

    def of_run(self, run_id: str) -> Path | None:
        """The Markdown report of a run, or None if it wrote none."""
        path = self.folder / run_id / "report.md"
        return path if path.exists() else None
