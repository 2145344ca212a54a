"""`recall ui`."""

import os
import sys
from contextlib import suppress
from pathlib import Path

import click

from recall_assets.commands.shared import option_config
from recall_assets.config_file import CONFIG_VARIABLE, load_settings
from recall_assets.errors import SweepFailedError
from recall_assets.home import dagster_home


@click.command()
@option_config
@click.option("--port", type=click.IntRange(1, 65535), default=3000, show_default=True, help="Port on loopback.")
def ui(config: Path, port: int) -> None:
    """Start the Dagster UI on loopback, with the history of earlier sweeps."""
    settings = load_settings(config)
    home = dagster_home(settings.storage.path)
    _close_books(settings.storage.path)
    environment = {
        **os.environ,
        "DAGSTER_HOME": str(home),
        "DAGSTER_DISABLE_TELEMETRY": "yes",
        CONFIG_VARIABLE: str(config.resolve()),
    }
    command = [sys.executable, "-m", "dagster", "dev", "-m", "recall_assets.definitions"]
    command += ["--host", "127.0.0.1", "--port", str(port)]
    click.echo(f"Dagster UI: http://127.0.0.1:{port}", err=True)
    # In its home, so that Dagster does not find a second dagster.yaml in the folder it starts in.
    os.chdir(home)
    os.execve(sys.executable, command, environment)  # noqa: S606 - in its place, so that whoever stops this stops Dagster


def _close_books(storage: Path) -> None:
    """A sweep that was killed must not hold back those that Dagster starts; one that is running may."""
    import dagster as dg

    from recall_assets.occupancy import occupied

    home = str(dagster_home(storage))
    with suppress(SweepFailedError), dg.DagsterInstance.from_config(home) as instance, occupied(storage, instance):
        pass
