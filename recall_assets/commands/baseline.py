"""`recall baseline promote|show|diff|suggest-floors`."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from recall_assets.commands.shared import (
    PATH,
    Given,
    option_baselines,
    option_config,
    option_json,
    option_retriever,
    options_sweep,
    print_json,
)
from recall_assets.config import Settings
from recall_assets.config_file import load_settings
from recall_assets.gate import REGRESSION_RULE, verdict_of
from recall_assets.problems import InvalidInputError, whole_file
from recall_assets.slice_names import OVERALL

if TYPE_CHECKING:
    from recall_assets.baseline import Baseline
    from recall_assets.comparison import Comparison
    from recall_assets.gate import RuleResult


@click.group()
def baseline() -> None:
    """Promote, show and compare the committed baselines."""


@baseline.command()
@options_sweep
@option_json
def promote(given: Given, *, as_json: bool) -> None:
    """Make the latest sweep the baseline of each retriever, or of those named."""
    from recall_assets.latest import promote as promote_latest
    from recall_assets.reporting.baseline_form import promotion_json, promotion_lines
    from recall_assets.resources.embedding import Embedding
    from recall_assets.sweep import check_models

    settings, inputs = given.read()
    embedding = Embedding(settings)
    check_models(settings, given.config, embedding)
    promotions = promote_latest(settings, inputs, embedding=embedding)
    if as_json:
        print_json({"promoted": {p.after.retriever: promotion_json(p) for p in promotions}})
        return
    for line in promotion_lines(promotions, settings.baselines):
        click.echo(line)
    click.echo("Commit the files to put them in force.", err=True)


@baseline.command()
@option_config
@option_baselines
@option_retriever
@option_json
def show(config: Path, baselines: Path | None, retrievers: tuple[str, ...], *, as_json: bool) -> None:
    """Print what the committed baselines hold."""
    from recall_assets.reporting.baseline_form import baseline_json, print_baseline

    found = _committed(config, baselines, retrievers)
    if as_json:
        print_json({"baselines": {one.retriever: baseline_json(one) for one in found}})
        return
    for one in found:
        print_baseline(one)


@baseline.command()
@options_sweep
@click.argument("files", nargs=-1, type=PATH)
@option_json
def diff(given: Given, *, files: tuple[Path, ...], as_json: bool) -> None:
    """Compare the latest sweep with the baselines, or the second of two files with the first.

    Exit codes are those of the gate's comparison: 1 for a regression that is shown, 3 where nothing can be compared.
    """
    from recall_assets.reporting.json_form import comparison_json
    from recall_assets.reporting.terminal import print_comparisons

    if files:
        comparisons, results = _compared_files(given.config, files)
    else:
        from recall_assets.latest import compare_latest
        from recall_assets.resources.embedding import Embedding

        settings, inputs = given.read()
        judgement = compare_latest(settings, inputs, embedding=Embedding(settings))
        comparisons = judgement.comparisons
        results = [rule for rules in judgement.rules.values() for rule in rules if rule.rule == REGRESSION_RULE]
    verdict = verdict_of((result.rule, result.status) for result in results)
    if as_json:
        compared = {name: comparison_json(comparison) for name, comparison in comparisons.items()}
        print_json({"verdict": verdict.value, "exit_code": verdict.exit_code, "retrievers": compared})
    else:
        print_comparisons(comparisons)
        for result in results:
            if result.retriever not in comparisons or not result.status.passes:
                where = "" if result.slice == OVERALL else f" {result.slice}"
                click.echo(f"{result.retriever}{where}: {result.detail}")
        click.echo(f"Verdict: {verdict.value} (exit code {verdict.exit_code})")
    raise click.exceptions.Exit(verdict.exit_code)


@baseline.command()
@option_config
@option_baselines
@option_retriever
@option_json
def suggest_floors(config: Path, baselines: Path | None, retrievers: tuple[str, ...], *, as_json: bool) -> None:
    """Print floors that the baselines justify, as YAML for recall.yaml.

    A floor is the observed mean less the slack that n cases call for: the lower end of its 95% Wilson interval.
    """
    from recall_assets.reporting.baseline_form import floors_json, floors_yaml

    found = _committed(config, baselines, retrievers)
    if as_json:
        print_json({"suggested": floors_json(found)})
    else:
        click.echo(floors_yaml(found))


def _committed(config: Path, baselines: Path | None, retrievers: tuple[str, ...]) -> "list[Baseline]":
    """The committed baselines of the retrievers, or of all that have one.

    Raises:
        InvalidInputError: One cannot be read, or there is none.
    """
    from recall_assets.baseline import UnusableBaseline, baseline_path, committed_baseline

    settings = load_settings(config)
    folder = baselines or settings.baselines
    chosen = settings.with_retrievers(retrievers or tuple(settings.retrievers))
    read = {name: committed_baseline(folder, name) for name in chosen.retrievers}
    problems = [found.problem for found in read.values() if isinstance(found, UnusableBaseline)]
    problems += [
        whole_file(baseline_path(folder, name), "no such baseline; recall baseline promote makes one")
        for name, found in read.items()
        if found is None and (retrievers or not any(read.values()))
    ]
    if problems:
        raise InvalidInputError(problems)
    return [found for found in read.values() if found is not None and not isinstance(found, UnusableBaseline)]


def _compared_files(config: Path, files: tuple[Path, ...]) -> "tuple[dict[str, Comparison], list[RuleResult]]":
    from recall_assets.baseline import Baseline, read_baseline
    from recall_assets.comparison import compare_baselines

    if len(files) != 2:
        raise click.UsageError(f"give two files, before and after, or none; not {len(files)}")
    settings = load_settings(config) if config.exists() else Settings()
    read = [read_baseline(file) for file in files]
    problems = [
        whole_file(file, "no such file") if found is None else found.problem
        for file, found in zip(files, read, strict=True)
        if not isinstance(found, Baseline)
    ]
    if problems:
        raise InvalidInputError(problems)
    before, after = (found for found in read if isinstance(found, Baseline))
    return compare_baselines(before, after, settings.gate.regression)
