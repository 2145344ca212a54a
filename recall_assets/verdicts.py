"""From a sweep's frames to its judgement: the `VERDICTS` frame, the comparisons with the baselines, and the report.

The rules are in `recall_assets.floors` and `recall_assets.comparison`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass

import polars as pl

from recall_assets.baseline import Fingerprints, committed_baseline, labels_fingerprint
from recall_assets.comparison import Comparison, Current, compare, judge_regression
from recall_assets.config import Settings
from recall_assets.fingerprint import digest
from recall_assets.floors import judge_floors
from recall_assets.gate import RuleResult, Status, verdict_of
from recall_assets.reporting.model import CaseResult, CheckResult, Report, RetrieverReport, check_of_rules
from recall_assets.schemas import VERDICTS, build_frame
from recall_assets.score_frames import Frames, reasons_not_scored, slices_by_retriever, snapshot
from recall_assets.slice_names import OVERALL, slices_of
from recall_assets.slices import Ledger, SliceScore
from recall_assets.snapshot import ScoredCase
from recall_assets.text import printable, shortened


@dataclass(frozen=True)
class SweepFrames:
    """The frames of a sweep that its judgement rests on.

    Attributes:
        cards: The `CARDS` frame.
        cases: The `CASES` frame.
        collections: `COLLECTION` frame by embedder, where there is one.
        runs: `RUN` frame by retriever, where there is one.
        scores: `CASE_SCORES` frame by retriever, where there is one.
        slices: The `SLICE_SCORES` frame, which says whose results belong to this sweep.
        embedders: Digest of options and weights by embedder, where they can be found.
    """

    cards: pl.DataFrame
    cases: pl.DataFrame
    collections: Frames
    runs: Frames
    scores: Frames
    slices: pl.DataFrame
    embedders: Mapping[str, str]


@dataclass(frozen=True)
class Judgement:
    """What the gate makes of a sweep.

    Attributes:
        rules: By retriever, every rule for every slice it concerns.
        comparisons: By retriever, its run beside its baseline, where there is one that can be read.
        cases: By retriever, what became of every case.
    """

    rules: dict[str, list[RuleResult]]
    comparisons: dict[str, Comparison]
    cases: dict[str, list[CaseResult]]


def judge(settings: Settings, frames: SweepFrames) -> Judgement:
    """Judges every configured retriever, the baselines read from where they are committed."""
    names = list(settings.retrievers)
    slices = _slices(frames.slices, names)
    reasons = _reasons(settings, frames.slices)
    rule = settings.gate.regression
    baselines = {name: committed_baseline(settings.baselines, name) if rule.compare else None for name in names}
    current = {name: _current(settings, name, frames, reasons.get(name)) for name in names}
    comparisons = compare(current, baselines, rule)
    rules = {
        name: [
            *judge_floors(name, slices[name], settings.gate.floors_of(name), reasons.get(name)),
            *judge_regression(name, current[name], baselines[name], comparisons.get(name), settings.baselines, rule),
        ]
        for name in names
    }
    cases = {name: _case_results(frames.cases, run.cases) for name, run in current.items()}
    return Judgement(rules, comparisons, cases)


def verdict_frame(judgement: Judgement) -> pl.DataFrame:
    """The `VERDICTS` frame of a judgement."""
    return build_frame(VERDICTS, (astuple(rule) for rules in judgement.rules.values() for rule in rules))


def rules_of(verdicts: pl.DataFrame) -> list[RuleResult]:
    """The rule results of a `VERDICTS` frame, in its order."""
    return [RuleResult(**{**row, "status": Status(row["status"])}) for row in verdicts.iter_rows(named=True)]


def build_report(
    slice_scores: pl.DataFrame,
    checks: Mapping[str, Sequence[CheckResult]],
    rules: Mapping[str, Sequence[RuleResult]],
    comparisons: Mapping[str, Comparison],
) -> Report:
    """The report on a sweep.

    Args:
        slice_scores: The `SLICE_SCORES` frame, of at least one retriever.
        checks: By retriever, the checks on its inputs and its run.
        rules: By retriever, the gate's rules as they were judged; with the checks they decide the verdict.
        comparisons: By retriever, its run beside its baseline, where there is one.
    """
    reasons, slices = reasons_not_scored(slice_scores), _slices(slice_scores, rules)
    retrievers = [
        RetrieverReport(
            name,
            slices[name],
            [*checks.get(name, ()), *check_of_rules(judged)],
            reasons.get(name),
            list(judged),
            comparisons.get(name),
        )
        for name, judged in rules.items()
    ]
    verdict = verdict_of((check.name, check.status) for retriever in retrievers for check in retriever.checks)
    return Report(verdict, slice_scores["top_k"][0], retrievers)


def fingerprints_of(
    settings: Settings, retriever: str, collection: pl.DataFrame, embedder: str, cases: Sequence[ScoredCase]
) -> Fingerprints:
    """What a retriever's scores were made from.

    Args:
        settings: The configuration in force.
        retriever: Its name.
        collection: The `COLLECTION` frame of its embedder.
        embedder: Digest of the embedder's options and weights.
        cases: Every scored case.
    """
    return Fingerprints(
        knowledge_base=collection["chunks_fingerprint"].item(),
        case_labels=labels_fingerprint(cases),
        retriever=digest(settings.retrievers[retriever].model_dump(mode="json")),
        embedder=embedder,
    )


def _slices(slice_scores: pl.DataFrame, retrievers: Iterable[str]) -> dict[str, list[SliceScore]]:
    """The slices of each retriever; of one that the frame does not know, `overall` without a case."""
    known = slices_by_retriever(slice_scores)
    nothing = [SliceScore(OVERALL, 0, None, None, Ledger(0, 0, 0, 0, 0, 0, 0))]
    return {name: known.get(name, nothing) for name in retrievers}


def _reasons(settings: Settings, slice_scores: pl.DataFrame) -> dict[str, str]:
    """By retriever, why it has no scores that can be judged, for those that have none."""
    k = slice_scores["top_k"][0]
    if k != settings.top_k:
        outdated = f"slice_scores are at k = {k}, the configuration says {settings.top_k}; run the sweep again"
        return dict.fromkeys(settings.retrievers, outdated)
    unknown = settings.retrievers.keys() - set(slice_scores["retriever"])
    older = "slice_scores is older than the configuration, which has this retriever; run the sweep again"
    return reasons_not_scored(slice_scores) | dict.fromkeys(unknown, older)


def _current(settings: Settings, name: str, frames: SweepFrames, not_scored: str | None) -> Current:
    run, scores = frames.runs.get(name), frames.scores.get(name)
    if not_scored is not None or run is None or scores is None:
        return Current(settings.top_k, [], not_scored=not_scored or "its run or its scores are not there")
    cases = snapshot(frames.cases, scores)
    embedder = settings.retrievers[name].embedder
    fingerprints = fingerprints_of(settings, name, frames.collections[embedder], frames.embedders[embedder], cases)
    return Current(settings.top_k, cases, fingerprints, _first_titles(frames.cards, frames.cases, run))


def _first_titles(cards: pl.DataFrame, cases: pl.DataFrame, run: pl.DataFrame) -> dict[str, str]:
    """By case, the title of the card that is first, in the case's locale where the card has one in it."""
    titles = cards.select("card_id", "locale", "title").iter_rows()
    by_locale = {(card, locale): shortened(printable(title)) for card, locale, title in titles}
    any_locale = {card: title for (card, _), title in reversed(by_locale.items())}
    locales = dict(cases.select("case_id", "locale").iter_rows())
    first = run.select("case_id", pl.col("card_id").list.first()).drop_nulls().iter_rows()
    return {
        case_id: by_locale.get((card, locales[case_id])) or any_locale.get(card, card)
        for case_id, card in first
        if case_id in locales
    }


def _case_results(cases: pl.DataFrame, scored: Sequence[ScoredCase]) -> list[CaseResult]:
    by_id = {case.case_id: case for case in scored}
    rows = cases.select("case_id", "case_type", "locale", pl.col("must_cite_one_of").list.len() > 0).iter_rows()
    return [
        CaseResult(
            case_id,
            slices_of(case_type, locale)[-1],
            gold_bearing,
            case_id in by_id,
            by_id[case_id].gold_rank if case_id in by_id else None,
        )
        for case_id, case_type, locale, gold_bearing in rows
    ]
