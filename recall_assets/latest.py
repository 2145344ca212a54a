"""What can be done with a sweep that is over: judge it again, and promote it to a baseline.

Either is refused where the sweep is not of the knowledge base, cases and configuration that are on disk now: its
figures would answer a question that nobody asks any more.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from uuid import uuid4

import dagster as dg

from recall_assets.automation import COMMAND_TAG, PROMOTION, SWEEP_TAG, failed_in_sweep, runs_of_sweep
from recall_assets.baseline import Baseline, committed_baseline, usable
from recall_assets.config import Settings
from recall_assets.definitions import build_defs
from recall_assets.errors import NotPromotedError, SweepFailedError
from recall_assets.home import dagster_home
from recall_assets.indexing import known_fingerprints
from recall_assets.inputs import Inputs
from recall_assets.occupancy import occupied
from recall_assets.provenance import why_inputs_unusable, why_not_scored, why_run_unusable
from recall_assets.resources.embedding import Embedding
from recall_assets.runs import Runner
from recall_assets.schemas import cards_of, cases_of
from recall_assets.stored import StoredFrames
from recall_assets.sweep import SweepResult, result_of
from recall_assets.text import some
from recall_assets.verdicts import Judgement, judge

_AGAIN = "run it again: recall sweep"


@dataclass(frozen=True)
class Promotion:
    """One baseline that was written.

    Attributes:
        before: What the file held, None where it held nothing usable.
        after: What it holds now.
    """

    before: Baseline | None
    after: Baseline


def judge_latest(settings: Settings, inputs: Inputs, *, embedding: Embedding, **resources: object) -> SweepResult:
    """Judges the latest sweep by the configuration, floors and baselines of now: its last stage runs again, alone.

    Args:
        settings: With at least one retriever.
        inputs: Cards and cases as they are on disk.
        embedding: Where embedders come from.
        **resources: Resources to use instead of the configured ones, as in `build_defs`.

    Raises:
        SweepFailedError: There is none, it has not ended, it is older than what is on disk, or another one is running.
    """
    with _latest(settings, inputs, embedding, resources) as runner:
        return result_of(settings, runner, runner.run("sweep_report"), embedding)


def promote(settings: Settings, inputs: Inputs, *, embedding: Embedding, **resources: object) -> list[Promotion]:
    """Makes what the latest sweep stored the baseline of each retriever; commit the files to put them in force.

    Args:
        settings: With the retrievers to promote.
        inputs: Cards and cases as they are on disk.
        embedding: Where embedders come from.
        **resources: Resources to use instead of the configured ones, as in `build_defs`.

    Raises:
        SweepFailedError: As for `judge_latest`.
        NotPromotedError: What was stored of a retriever makes no baseline; those before it are promoted.
    """
    promotions = []
    with _latest(settings, inputs, embedding, resources) as latest:
        runner = Runner(latest.definitions, latest.instance, {COMMAND_TAG: uuid4().hex[:12]})
        for name in settings.retrievers:
            before = usable(committed_baseline(settings.baselines, name))
            result = runner.run(PROMOTION, name)
            after = usable(committed_baseline(settings.baselines, name))
            if not result.success or after is None:
                raise NotPromotedError("\n".join(runner.errors) or f"{name}: no baseline was written")
            promotions.append(Promotion(before, after))
    return promotions


def compare_latest(settings: Settings, inputs: Inputs, *, embedding: Embedding, **resources: object) -> Judgement:
    """What the latest sweep stored beside the baselines, without running anything.

    Args:
        settings: With at least one retriever.
        inputs: Cards and cases as they are on disk.
        embedding: Where embedders come from.
        **resources: Resources to use instead of the configured ones, as in `build_defs`.

    Raises:
        SweepFailedError: As for `judge_latest`.
    """
    with _latest(settings, inputs, embedding, resources):
        # Not from the stored slice scores, which may be of some of the retrievers only.
        stored = StoredFrames(settings)
        return judge(settings, stored.of_sweep(settings, stored.slices(settings, embedding), embedding))


@contextmanager
def _latest(settings: Settings, inputs: Inputs, embedding: Embedding, resources: dict[str, object]) -> Iterator[Runner]:
    """A runner that carries on the latest sweep, which is over and belongs to what is on disk."""
    definitions = build_defs(settings, embedding=embedding, **resources)
    home = dagster_home(settings.storage.path)
    with dg.DagsterInstance.from_config(str(home)) as instance, occupied(settings.storage.path, instance):
        run = _newest_sweep(instance)
        reasons = list(_why_outdated(settings, inputs, StoredFrames(settings), embedding))
        failed = failed_in_sweep(settings, instance, run)
        reasons = reasons or [f"the latest sweep has no result: {why}; {_AGAIN}" for why in failed.values()]
        if reasons:
            raise SweepFailedError("\n".join(reasons))
        tags = {key: run.tags[key] for key in (SWEEP_TAG, COMMAND_TAG) if key in run.tags}
        # A command's run in any case, so that its books can be closed should it be killed.
        yield Runner(definitions, instance, {COMMAND_TAG: uuid4().hex[:12], **tags})


def _newest_sweep(instance: dg.DagsterInstance) -> dg.DagsterRun:
    """The first run of the newest sweep.

    Raises:
        SweepFailedError: There is no sweep, or it is not over.
    """
    ingests = instance.get_runs(dg.RunsFilter(job_name="sweep_ingest"))
    newest = next((run for run in ingests if {SWEEP_TAG, COMMAND_TAG} & run.tags.keys()), None)
    if newest is None:
        raise SweepFailedError("there is no sweep to go by yet; run one: recall sweep")
    runs = runs_of_sweep(instance, newest)
    if not any(run.job_name == "sweep_report" for run in runs) or not all(run.is_finished for run in runs):
        raise SweepFailedError(f"the latest sweep did not end with a report, or is still running; {_AGAIN}")
    return newest


def _why_outdated(settings: Settings, inputs: Inputs, stored: StoredFrames, embedding: Embedding) -> Iterator[str]:
    cards, chunks, cases = (stored.of(asset) for asset in ("kb_cards", "kb_chunks", "case_set"))
    if cards is None or chunks is None or cases is None:
        yield f"the latest sweep left no cards, chunks or cases; {_AGAIN}"
        return
    older = [
        *_differing(
            "knowledge base",
            [(f"{c.card_id}@{c.locale}", c) for c in cards_of(cards)],
            [(f"{c.card_id}@{c.locale}", c) for c in inputs.cards or []],
        ),
        *_differing("case set", [(c.case_id, c) for c in cases_of(cases)], [(c.case_id, c) for c in inputs.cases]),
    ]
    if older:
        yield from older
        return
    embedders = known_fingerprints(settings.used_embedders, embedding)
    unusable = why_inputs_unusable(cards, chunks, cases, settings.chunking)
    for name, retriever in settings.retrievers.items():
        run, embedder = stored.of("retrieval_run", name), retriever.embedder
        reason = unusable or why_run_unusable(
            retriever, settings.top_k, chunks, cases, embedders.get(embedder), stored.of("kb_collection", embedder), run
        )
        if reason is None and run is not None:
            reason = why_not_scored(cases, run, stored.of("case_scores", name), settings.top_k)
        if reason is not None:
            yield f"the latest sweep is no answer for {name}: {reason}; {_AGAIN}"


def _differing(what: str, stored: list[tuple[str, object]], on_disk: list[tuple[str, object]]) -> Iterator[str]:
    before, now = dict(stored), dict(on_disk)
    ids = sorted(key for key in before.keys() | now.keys() if before.get(key) != now.get(key))
    if ids:
        yield f"the latest sweep is older than the {what} on disk: {len(ids)} differ ({some(ids)}); {_AGAIN}"
