"""The persistent Dagster instance under the storage folder: where it is and how it is configured.

Imports no Dagster.
"""

from pathlib import Path

from recall_assets.atomic import write_whole

_INSTANCE = """\
# Written by recall; edits are kept.
telemetry:
  enabled: false
concurrency:  # a Chroma folder is for one process at a time
  runs:
    max_concurrent_runs: 1
nux:  # the newsletter form that Dagster would show first
  enabled: false
"""


def dagster_home(storage: Path) -> Path:
    """The absolute DAGSTER_HOME of a storage folder, made if it is not there."""
    home = (storage / "dagster").resolve()
    home.mkdir(parents=True, exist_ok=True)
    config = home / "dagster.yaml"
    if not config.exists():
        write_whole(config, _INSTANCE)
    return home
