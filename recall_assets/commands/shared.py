"""What commands share: options, reading configuration and data with every problem, and printing a result.

The commands import what they do when they run: `--help`, `validate` and `score` must not pay for Dagster, Chroma or
torch.
"""

import functools
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from recall_assets.config import Floors, Settings
from recall_assets.config_file import CONFIG_VARIABLE, DEFAULT_CONFIG, input_paths, load_settings
from recall_assets.inputs import Inputs, read_inputs
from recall_assets.problems import InvalidInputError, Problem

if TYPE_CHECKING:
    from recall_assets.reporting.model import Report

PATH = click.Path(path_type=Path)
Command = Callable[..., Any]


class _Share(click.FloatRange):
    """A number from 0 to 1; NaN, which no comparison excludes, is none."""

    name = "share"

    def __init__(self) -> None:
        super().__init__(0.0, 1.0)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number = float(super().convert(value, param, ctx))
        return number if number == number else self.fail(f"{value} is no number from 0 to 1", param, ctx)  # noqa: PLR0124


def option_config(command: Command) -> Command:
    """`--config`."""
    return click.option(
        "--config", type=PATH, envvar=CONFIG_VARIABLE, default=DEFAULT_CONFIG, show_default=True,
        help="Configuration file.",
    )(command)  # fmt: skip


def options_inputs(command: Command) -> Command:
    """`--kb` and `--cases`."""
    command = click.option("--cases", type=PATH, help="Case set: a YAML or JSONL file, or a folder.")(command)
    return click.option("--kb", type=PATH, help="Knowledge base: a folder or a JSONL file.")(command)


@dataclass(frozen=True)
class Given:
    """What a sweep is of, where it is kept and what it is held against, as far as the command line says so."""

    config: Path
    kb: Path | None
    cases: Path | None
    storage: Path | None
    baselines: Path | None
    retrievers: tuple[str, ...]
    k: int | None
    floor_hit: float | None = None
    floor_recall: float | None = None
    floor_ndcg: float | None = None

    def read(self) -> tuple[Settings, Inputs]:
        """The settings with what was given in the place of what the file says, and cards and cases.

        Raises:
            InvalidInputError: Every problem in all of them.
        """
        settings, inputs = valid_input(self.config, self.kb, self.cases, self.retrievers)
        changes: dict[str, Any] = {}
        if self.storage is not None:
            changes["storage"] = settings.storage.model_copy(update={"path": self.storage})
        if self.baselines is not None:
            changes["baselines"] = self.baselines
        floors = Floors(hit=self.floor_hit, recall=self.floor_recall, ndcg=self.floor_ndcg)
        return overridden(settings.model_copy(update=changes), k=self.k).with_floors(floors), inputs


def options_sweep(command: Command) -> Command:
    """The options that make up a `Given`, which becomes the command's first argument."""

    @functools.wraps(command)
    def with_given(**options: Any) -> Any:
        given = {field.name: options.pop(field.name) for field in fields(Given) if field.name in options}
        return command(Given(**given), **options)

    wrapped = option_k(with_given)
    wrapped = option_retriever(wrapped)
    wrapped = option_baselines(wrapped)
    wrapped = click.option("--storage", type=PATH, help="Folder for all state; overrides storage.path.")(wrapped)
    return option_config(options_inputs(wrapped))


def option_baselines(command: Command) -> Command:
    """`--baselines`."""
    return click.option("--baselines", type=PATH, help="Folder of the committed baselines.")(command)


def option_retriever(command: Command) -> Command:
    """`--retriever`, repeatable."""
    return click.option(
        "--retriever", "retrievers", multiple=True, metavar="NAME", help="Only this retriever; repeatable."
    )(command)


def options_floors(command: Command) -> Command:
    """`--floor-hit`, `--floor-recall`, `--floor-ndcg`."""
    for metric in ("ndcg", "recall", "hit"):
        help_ = f"Least overall {metric}@k, 0 to 1; overrides gate.floors.{metric}."
        command = click.option(f"--floor-{metric}", type=_Share(), metavar="X", help=help_)(command)
    return command


def option_k(command: Command) -> Command:
    """`--k`."""
    return click.option("--k", type=click.IntRange(min=1), help="Cutoff; overrides top_k.")(command)


def option_json(command: Command) -> Command:
    """`--json`."""
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")(command)


def valid_input(
    config: Path, kb: Path | None, cases: Path | None, retrievers: tuple[str, ...] = ()
) -> tuple[Settings, Inputs]:
    """Configuration, cards and cases, or every problem in all of them.

    Raises:
        InvalidInputError: With every problem.
    """
    problems: list[Problem] = []
    found_kb, found_cases = input_paths(config)
    settings = Settings(kb=found_kb, cases=found_cases)
    with collected(problems):
        settings = load_settings(config)
        settings = settings.with_retrievers(retrievers or tuple(settings.retrievers))
    settings = overridden(settings, kb, cases)
    inputs = Inputs(None, [])
    with collected(problems):
        inputs = read_inputs(settings.kb, settings.cases)
    if problems:
        raise InvalidInputError(problems)
    return settings, inputs


@contextmanager
def collected(problems: list[Problem]) -> Iterator[None]:
    """Adds the problems that the block ends with to the others, so that all are reported in one go."""
    try:
        yield
    except InvalidInputError as error:
        problems += error.problems


def overridden(settings: Settings, kb: Path | None = None, cases: Path | None = None, k: int | None = None) -> Settings:
    """The settings with what was given on the command line in the place of what the file says."""
    given = {"kb": kb, "cases": cases, "top_k": k}
    return settings.model_copy(update={name: value for name, value in given.items() if value is not None})


def finish(report: "Report", *, as_json: bool, stored_at: Path | None) -> NoReturn:
    """Prints a report and ends the command with the exit code of its verdict."""
    if as_json:
        from recall_assets.reporting.json_form import report_json

        print_json(report_json(report))
    else:
        from recall_assets.reporting.terminal import print_report

        print_report(report, stored_at=None if stored_at is None else str(stored_at))
    raise click.exceptions.Exit(report.verdict.exit_code)


def print_json(document: dict[str, Any]) -> None:
    """Prints a JSON object on standard output."""
    click.echo(json.dumps(document, indent=2, allow_nan=False))
