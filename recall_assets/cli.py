"""The command line `recall`: options, exit codes, and what goes to which stream.

Results go to standard output, everything else to standard error. What a command does is elsewhere, and is imported when
the command runs: `--help`, `validate` and `score` must not pay for Dagster, Chroma or torch.
"""

import io
import json
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from recall_assets.config import Settings
from recall_assets.config_file import CONFIG_VARIABLE, DEFAULT_CONFIG, configured_settings, input_paths, load_settings
from recall_assets.errors import StoreUnavailableError, SweepFailedError
from recall_assets.gate import Verdict
from recall_assets.home import dagster_home
from recall_assets.inputs import Inputs, read_inputs
from recall_assets.problems import InvalidInputError, Problem

if TYPE_CHECKING:
    from recall_assets.reporting.model import Report

INTERRUPTED = 130
OUTPUT_CLOSED = 141  # as a shell reports it of a program whose reader, such as head, has left

_PATH = click.Path(path_type=Path)
Command = Callable[..., Any]


def _option_config(command: Command) -> Command:
    return click.option(
        "--config", type=_PATH, envvar=CONFIG_VARIABLE, default=DEFAULT_CONFIG, show_default=True,
        help="Configuration file.",
    )(command)  # fmt: skip


def _options_inputs(command: Command) -> Command:
    command = click.option("--cases", type=_PATH, help="Case set: a YAML or JSONL file, or a folder.")(command)
    return click.option("--kb", type=_PATH, help="Knowledge base: a folder or a JSONL file.")(command)


def _option_k(command: Command) -> Command:
    return click.option("--k", type=click.IntRange(min=1), help="Cutoff; overrides top_k.")(command)


def _option_json(command: Command) -> Command:
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")(command)


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80})
@click.version_option(package_name="recall-assets")
def cli() -> None:
    """Measure whether retrieval found the right card.

    Exit codes: 0 pass, 1 fail, 2 wrong input, 3 inconclusive.
    """


@cli.command()
@_option_config
@_options_inputs
@click.option("--storage", type=_PATH, help="Folder for all state; overrides storage.path.")
@click.option("--retriever", "retrievers", multiple=True, metavar="NAME", help="Only this retriever; repeatable.")
@_option_k
@_option_json
def sweep(
    config: Path,
    kb: Path | None,
    cases: Path | None,
    storage: Path | None,
    retrievers: tuple[str, ...],
    k: int | None,
    as_json: bool,
) -> None:
    """Ingest, retrieve, score and check every retriever."""
    settings, _ = _valid_input(config, kb, cases, retrievers)
    settings = _overridden(settings, storage=storage, k=k)
    from recall_assets.progress import Progress, kept_stderr
    from recall_assets.resources.embedding import Embedding
    from recall_assets.sweep import check_models, run_sweep

    embedding = Embedding(settings)
    check_models(settings, config, embedding)
    with kept_stderr() as stderr:
        result = run_sweep(settings, progress=Progress(stream=stderr), embedding=embedding)
    for error in result.errors:
        click.echo(error, err=True)
    _finish(result.report, as_json=as_json, stored_at=result.stored_at)


@cli.command()
@_option_config
@_options_inputs
@_option_json
def validate(config: Path, kb: Path | None, cases: Path | None, as_json: bool) -> None:
    """Read configuration, cards and cases, and report every problem."""
    _, inputs = _valid_input(config, kb, cases)
    summary = _summary(inputs)
    if as_json:
        _print_json({"verdict": Verdict.PASS.value, "exit_code": 0, **summary})
    else:
        click.echo("valid: " + ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in summary.items()))


@cli.command()
@click.option("--cases", type=_PATH, required=True, help="Case set: a YAML or JSONL file, or a folder.")
@click.option("--run", type=_PATH, required=True, help="Captured run: JSONL with case_id and retrieved.")
@click.option("--kb", type=_PATH, help="Knowledge base, to resolve the labels against.")
@_option_k
@_option_json
def score(cases: Path, run: Path, kb: Path | None, k: int | None, as_json: bool) -> None:
    """Score a captured run: no store and no model is loaded.

    The floors, and the cutoff without --k, are those of recall.yaml where there is one.
    """
    from recall_assets.captured_scoring import score_captured
    from recall_assets.sources.captured import read_captured_run

    captured, problems = read_captured_run(run)
    with _collected(problems):
        settings = _overridden(configured_settings(), k=k)
    with _collected(problems):
        inputs = read_inputs(kb, cases)
    if problems:
        raise InvalidInputError(problems)
    unknown = sorted(set(captured) - {case.case_id for case in inputs.cases})
    if unknown:
        from recall_assets.text import some

        what = f"{len(unknown)} results are for cases that the case set does not have, not scored: {some(unknown)}"
        click.echo(f"note: {run}: {what}", err=True)
    report = score_captured(inputs.cases, captured, settings, labels_resolved=kb is not None)
    _finish(report, as_json=as_json, stored_at=None)


@cli.command()
@_option_config
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


def main() -> None:
    """Runs the command line; every way out has an exit code that says what it means."""
    _open_standard_streams()
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

        _print_json(no_figures_json(verdict, problems))
    return verdict.exit_code


def _explain(error: Exception) -> None:
    if isinstance(error, SweepFailedError | StoreUnavailableError | OSError):
        click.echo(f"inconclusive: {error}", err=True)
    else:
        traceback.print_exception(error)


def _valid_input(
    config: Path, kb: Path | None, cases: Path | None, retrievers: tuple[str, ...] = ()
) -> tuple[Settings, Inputs]:
    """Configuration, cards and cases, or every problem in all of them.

    Raises:
        InvalidInputError: With every problem.
    """
    problems: list[Problem] = []
    found_kb, found_cases = input_paths(config)
    settings = Settings(kb=found_kb, cases=found_cases)
    with _collected(problems):
        settings = load_settings(config)
        settings = settings.with_retrievers(retrievers or tuple(settings.retrievers))
    settings = _overridden(settings, kb, cases)
    inputs = Inputs(None, [])
    with _collected(problems):
        inputs = read_inputs(settings.kb, settings.cases)
    if problems:
        raise InvalidInputError(problems)
    return settings, inputs


@contextmanager
def _collected(problems: list[Problem]) -> Iterator[None]:
    """Adds the problems that the block ends with to the others, so that all are reported in one go."""
    try:
        yield
    except InvalidInputError as error:
        problems += error.problems


def _overridden(
    settings: Settings,
    kb: Path | None = None,
    cases: Path | None = None,
    storage: Path | None = None,
    k: int | None = None,
) -> Settings:
    given = {"kb": kb, "cases": cases, "top_k": k}
    changes: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    if storage is not None:
        changes["storage"] = settings.storage.model_copy(update={"path": storage})
    return settings.model_copy(update=changes)


def _summary(inputs: Inputs) -> dict[str, int]:
    cards = inputs.cards or []
    return {
        "cards": len({card.card_id for card in cards}),
        "card_texts": len(cards),
        "locales": len({card.locale for card in cards}),
        "cases": len(inputs.cases),
        "gold_bearing_cases": sum(case.gold_bearing for case in inputs.cases),
    }


def _finish(report: "Report", *, as_json: bool, stored_at: Path | None) -> None:
    if as_json:
        from recall_assets.reporting.json_form import report_json

        _print_json(report_json(report))
    else:
        from recall_assets.reporting.terminal import print_report

        print_report(report, stored_at=None if stored_at is None else str(stored_at))
    raise click.exceptions.Exit(report.verdict.exit_code)


def _print_json(document: dict[str, Any]) -> None:
    click.echo(json.dumps(document, indent=2, allow_nan=False))
