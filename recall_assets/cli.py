"""The command line `recall`: exit codes, and what goes to which stream. The commands are in `recall_assets.commands`.

Results go to standard output, everything else to standard error.
"""

import io
import os
import signal
import sys
import traceback

import click

from recall_assets.commands.baseline import baseline
from recall_assets.commands.inputs import score, validate
from recall_assets.commands.shared import print_json
from recall_assets.commands.sweep import gate, sweep
from recall_assets.commands.ui import ui
from recall_assets.errors import NotPromotedError, StoreUnavailableError, SweepFailedError
from recall_assets.gate import Verdict
from recall_assets.problems import InvalidInputError

INTERRUPTED = 130
OUTPUT_CLOSED = 141  # as a shell reports it of a program whose reader, such as head, has left


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80})
@click.version_option(package_name="recall-assets")
def cli() -> None:
    """Measure whether retrieval found the right card.

    Exit codes: 0 pass, 1 fail, 2 wrong input, 3 inconclusive.
    """


for command in (sweep, gate, baseline, score, validate, ui):
    cli.add_command(command)


def main() -> None:
    """Runs the command line; every way out has an exit code that says what it means."""
    _open_standard_streams()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends as an interrupt does
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # an old encoding must not cost anyone the result
    try:
        code = _run(sys.argv[1:])
    except OSError:  # of writing what went wrong, to a full disk for one; 1 would mean that retrieval got worse
        code = Verdict.INCONCLUSIVE.exit_code
    sys.exit(code)


def _open_standard_streams() -> None:
    """Gives a process that was started with a stream closed an open one, before some other file takes its place."""
    for descriptor, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(descriptor)
        except OSError:
            opened = os.open(os.devnull, os.O_RDWR)  # the lowest free descriptor, which is this one
            setattr(sys, name, os.fdopen(opened, "r" if descriptor == 0 else "w", encoding="utf-8"))


def _run(arguments: list[str]) -> int:
    as_json = "--json" in arguments
    try:
        # Without standalone mode click gives back the code of its Exit, and None where a command just ended.
        return int(cli.main(arguments, standalone_mode=False) or 0)
    except click.ClickException as error:
        error.show()
        return _refused(Verdict.INVALID, [error.format_message()], as_json=as_json)
    except InvalidInputError as error:
        click.echo(str(error), err=True)
        return _refused(Verdict.INVALID, [str(problem) for problem in error.problems], as_json=as_json)
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except SystemExit:  # what click and rich make of a closed pipe
        return OUTPUT_CLOSED
    except Exception as error:  # noqa: BLE001 - reported in full; 1 would tell a build that retrieval got worse
        _explain(error)
        return _refused(Verdict.INCONCLUSIVE, str(error).splitlines() or [type(error).__name__], as_json=as_json)


def _refused(verdict: Verdict, problems: list[str], *, as_json: bool) -> int:
    if as_json:
        from recall_assets.reporting.json_form import no_figures_json

        print_json(no_figures_json(verdict, problems))
    return verdict.exit_code


def _explain(error: Exception) -> None:
    if isinstance(error, SweepFailedError | NotPromotedError | StoreUnavailableError | OSError):
        click.echo(f"inconclusive: {error}", err=True)
    else:
        traceback.print_exception(error)
