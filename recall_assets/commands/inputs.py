"""`recall validate` and `recall score`: what needs neither store nor model, and loads no Dagster."""

from pathlib import Path

import click

from recall_assets.commands.shared import (
    PATH,
    collected,
    finish,
    option_config,
    option_json,
    option_k,
    options_inputs,
    overridden,
    print_json,
    valid_input,
)
from recall_assets.config_file import configured_settings
from recall_assets.gate import Verdict
from recall_assets.inputs import Inputs, read_inputs
from recall_assets.problems import InvalidInputError


@click.command()
@option_config
@options_inputs
@option_json
def validate(config: Path, kb: Path | None, cases: Path | None, as_json: bool) -> None:
    """Read configuration, cards and cases, and report every problem."""
    _, inputs = valid_input(config, kb, cases)
    summary = _summary(inputs)
    if as_json:
        print_json({"verdict": Verdict.PASS.value, "exit_code": 0, **summary})
    else:
        click.echo("valid: " + ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in summary.items()))


@click.command()
@click.option("--cases", type=PATH, required=True, help="Case set: a YAML or JSONL file, or a folder.")
@click.option("--run", type=PATH, required=True, help="Captured run: JSONL with case_id and retrieved.")
@click.option("--kb", type=PATH, help="Knowledge base, to resolve the labels against.")
@option_k
@option_json
def score(cases: Path, run: Path, kb: Path | None, k: int | None, as_json: bool) -> None:
    """Score a captured run: no store and no model is loaded.

    The floors, and the cutoff without --k, are those of recall.yaml where there is one.
    """
    from recall_assets.captured_scoring import score_captured
    from recall_assets.sources.captured import read_captured_run

    captured, problems = read_captured_run(run)
    with collected(problems):
        settings = overridden(configured_settings(), k=k)
    with collected(problems):
        inputs = read_inputs(kb, cases)
    if problems:
        raise InvalidInputError(problems)
    unknown = sorted(set(captured) - {case.case_id for case in inputs.cases})
    if unknown:
        from recall_assets.text import some

        what = f"{len(unknown)} results are for cases that the case set does not have, not scored: {some(unknown)}"
        click.echo(f"note: {run}: {what}", err=True)
    report = score_captured(inputs.cases, captured, settings, labels_resolved=kb is not None)
    finish(report, as_json=as_json, stored_at=None)


def _summary(inputs: Inputs) -> dict[str, int]:
    cards = inputs.cards or []
    return {
        "cards": len({card.card_id for card in cards}),
        "card_texts": len(cards),
        "locales": len({card.locale for card in cards}),
        "cases": len(inputs.cases),
        "gold_bearing_cases": sum(case.gold_bearing for case in inputs.cases),
    }
