"""`recall sweep` and `recall gate`: running a sweep, judging one, and what a build wants to know of it."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from recall_assets.atomic import write_whole
from recall_assets.commands.shared import (
    PATH,
    Given,
    finish,
    option_json,
    options_floors,
    options_sweep,
    print_json,
)
from recall_assets.config import Settings
from recall_assets.gate import Verdict
from recall_assets.inputs import Inputs
from recall_assets.problems import InvalidInputError

if TYPE_CHECKING:
    from recall_assets.sweep import SweepResult


@click.command()
@options_sweep
@options_floors
@option_json
def sweep(given: Given, *, as_json: bool) -> None:
    """Ingest, retrieve, score and check every retriever.

    With --cases or --k, and without --baselines, nothing is compared: the committed baselines are of other cases or
    another cutoff. `recall gate` compares in any case.
    """
    settings, inputs = given.read()
    if given.baselines is None and (given.cases, given.k) != (None, None):
        settings = settings.without_comparison()
    result = _run(settings, inputs, given.config, last=False)
    finish(result.report, as_json=as_json, stored_at=result.stored_at)


@click.command()
@options_sweep
@options_floors
@click.option("--last", is_flag=True, help="Judge the latest sweep instead of running one.")
@click.option("--power", is_flag=True, help="Print what the gate could see with these cases, and run nothing.")
@click.option("--junit", type=PATH, metavar="FILE", help="Also write the result as JUnit XML.")
@click.option("--summary", type=PATH, metavar="FILE", help="Also write a short Markdown summary.")
@option_json
def gate(given: Given, *, last: bool, power: bool, junit: Path | None, summary: Path | None, as_json: bool) -> None:
    """Sweep, and hold the result against floors and baselines.

    Exit codes: 0 pass, 1 fail, 2 wrong input, 3 inconclusive.
    """
    if power:
        if last or junit or summary:
            raise click.UsageError("--power runs and judges nothing; leave out --last, --junit and --summary")
        settings, inputs = given.read()
        _check_baselines(settings)
        _print_power(settings, inputs, as_json=as_json)
        return
    _check_targets(junit, summary)
    with _written_without_figures(junit, summary):
        settings, inputs = given.read()
        _check_baselines(settings)
        result = _run(settings, inputs, given.config, last=last)
    unwritten = list(_unwritten(result, junit, summary))
    for error in unwritten:
        click.echo(f"not written: {error}", err=True)
    report = result.report
    if unwritten and report.verdict is Verdict.PASS:  # a failure stays one, whoever was to read it
        report = replace(report, verdict=Verdict.INCONCLUSIVE, errors=(*report.errors, *map(str, unwritten)))
    finish(report, as_json=as_json, stored_at=result.stored_at)


def _check_targets(junit: Path | None, summary: Path | None) -> None:
    """What could never be written need not wait for a sweep to be told."""
    for option, path in (("--junit", junit), ("--summary", summary)):
        if path is not None and path.is_dir():
            raise click.UsageError(f"{option} {path} is a folder; name a file")
    if junit is not None and junit == summary:
        raise click.UsageError(f"--junit and --summary are both {junit}; name two files")


def _unwritten(result: "SweepResult", junit: Path | None, summary: Path | None) -> Iterator[OSError]:
    """Writes both files, and gives the errors of those that cannot be."""
    from recall_assets.reporting.junit import junit_xml
    from recall_assets.reporting.markdown import summary_markdown

    texts = {}
    if junit is not None:
        texts[junit] = junit_xml(result.report, result.cases)
    if summary is not None:
        texts[summary] = summary_markdown(result.report)
    for path, text in texts.items():
        try:
            write_whole(path, text)
        except OSError as error:
            yield error


def _run(settings: Settings, inputs: Inputs, config: Path, *, last: bool) -> "SweepResult":
    from recall_assets.latest import judge_latest
    from recall_assets.progress import Progress, kept_stderr
    from recall_assets.resources.embedding import Embedding
    from recall_assets.sweep import check_models, run_sweep

    embedding = Embedding(settings)
    check_models(settings, config, embedding)
    with kept_stderr() as stderr:
        progress = Progress(stream=stderr)
        if last:
            result = judge_latest(settings, inputs, embedding=embedding, progress=progress)
        else:
            result = run_sweep(settings, embedding=embedding, progress=progress)
    for error in result.errors:
        click.echo(error, err=True)
    return result


def _check_baselines(settings: Settings) -> None:
    """A baseline that was damaged or edited is wrong input, and need not wait for a sweep to be told.

    Raises:
        InvalidInputError: Each of them.
    """
    from recall_assets.baseline import UnusableBaseline, committed_baseline

    if not settings.gate.regression.compare:
        return
    read = [committed_baseline(settings.baselines, name) for name in settings.retrievers]
    problems = [found.problem for found in read if isinstance(found, UnusableBaseline) and found.invalid]
    if problems:
        raise InvalidInputError(problems)


@contextmanager
def _written_without_figures(junit: Path | None, summary: Path | None) -> Iterator[None]:
    """Writes the files where the block ends without figures: those of an earlier build must not pass for this one's."""
    try:
        yield
    except (Exception, KeyboardInterrupt) as error:
        verdict = Verdict.INVALID if isinstance(error, InvalidInputError) else Verdict.INCONCLUSIVE
        problems = str(error).splitlines() or ["interrupted" if isinstance(error, KeyboardInterrupt) else repr(error)]
        with suppress(OSError):  # what went wrong first is what must be told
            if junit is not None:
                from recall_assets.reporting.junit import no_figures_junit

                write_whole(junit, no_figures_junit(verdict, problems))
            if summary is not None:
                from recall_assets.reporting.markdown import no_figures_markdown

                write_whole(summary, no_figures_markdown(verdict, problems))
        raise


def _print_power(settings: Settings, inputs: Inputs, *, as_json: bool) -> None:
    from recall_assets.power import power
    from recall_assets.reporting.power_form import power_json, print_power

    outlook = power(settings, inputs.cases)
    if as_json:
        print_json(power_json(outlook))
    else:
        print_power(outlook)
