"""Judging, comparing and promoting a sweep that is over."""

from datetime import UTC, datetime

import dagster as dg
import pytest

from recall_assets.automation import COMMAND_TAG, SWEEP_TAG, stages
from recall_assets.baseline import read_baseline
from recall_assets.errors import ModelUnavailableError, NotPromotedError, SweepFailedError
from recall_assets.gate import Status, Verdict
from recall_assets.inputs import read_inputs
from recall_assets.latest import compare_latest, judge_latest, promote
from recall_assets.occupancy import occupied
from recall_assets.sweep import run_sweep
from tests.commands import use_instance
from tests.conftest import CARDS, CASES, WordEmbedding
from tests.graph import Graph

TWO = {"retrievers": {name: {"kind": "exact", "embedder": "bag"} for name in ("one", "two")}}
OTHER_TEXT = [CARDS[0] | {"text": "green leaf"}, *CARDS[1:]]
# c1 finds banana now, which has fruit in it and is not its gold.


class Latest:
    """Settings that can be changed between a sweep and what is done with it, all on one instance in memory."""

    def __init__(self, make_settings, resources, instance):
        self.instance = instance
        self.resources = resources
        self._make = make_settings
        self._changes = {}
        self.change()

    def change(self, **changes):
        self._changes |= changes
        self.settings = self._make(**self._changes)
        self.settings = self.settings.model_copy(update={"baselines": self.settings.storage.path.parent / "baselines"})

    def file(self, name="words"):
        return self.settings.baselines / f"{name}.json"

    def sweep(self, **resources):
        return run_sweep(self.settings, **self.resources | resources)

    def _do(self, what, settings=None, **resources):
        settings = settings or self.settings
        return what(settings, read_inputs(settings.kb, settings.cases), **self.resources | resources)

    def judge(self, **resources):
        return self._do(judge_latest, **resources)

    def compare(self):
        return self._do(compare_latest)

    def promote(self, *names):
        return self._do(promote, self.settings.with_retrievers(names or tuple(self.settings.retrievers)))

    def jobs(self):
        return [run.job_name for run in reversed(self.instance.get_runs())]


@pytest.fixture
def latest(make_settings, test_resources, monkeypatch):
    with dg.DagsterInstance.ephemeral() as instance:
        use_instance(monkeypatch, instance)
        yield Latest(make_settings, test_resources, instance)


class NoModel(WordEmbedding):
    """An embedder whose weights are known and cannot be loaded any more."""

    def documents(self, name, texts, progress):
        raise ModelUnavailableError(f"{name}: no such model")

    queries = documents


# Promotion


def test_only_the_retrievers_that_are_named_are_promoted(latest):
    latest.change(**TWO)
    latest.sweep()
    (promotion,) = latest.promote("two")
    assert (promotion.before, promotion.after.retriever) == (None, "two")
    assert [path.name for path in latest.settings.baselines.iterdir()] == ["two.json"]
    assert [one.after.retriever for one in latest.promote()] == ["one", "two"]


def test_a_promoted_baseline_holds_every_scored_case_with_its_rank(latest):
    latest.sweep()
    (promotion,) = latest.promote()
    assert read_baseline(latest.file()) == promotion.after
    assert promotion.after.top_k == 1
    # c4 has no gold.
    assert [(case.case_id, case.gold_rank, case.scores.retrieval_hit_at_k) for case in promotion.after.cases] == [
        ("c1", 1, 1.0),
        ("c2", None, 0.0),
        ("c3", 1, 1.0),
    ]


def test_promoting_the_same_sweep_twice_gives_the_same_bytes(latest):
    latest.sweep()
    latest.promote()
    first = latest.file().read_bytes()
    (promotion,) = latest.promote()
    assert latest.file().read_bytes() == first
    assert promotion.before == promotion.after


def test_the_date_of_a_baseline_is_when_its_scores_were_measured(latest):
    latest.sweep()
    latest.judge()
    (promotion,) = latest.promote()
    (record,) = latest.instance.fetch_materializations(dg.AssetKey("case_scores"), limit=10).records
    assert promotion.after.date == f"{datetime.fromtimestamp(int(record.timestamp), UTC):%Y-%m-%dT%H:%M:%SZ}"


def refused(latest, error=SweepFailedError):
    """Why nothing is promoted, after making sure that the old baseline is as it was."""
    before = latest.file().read_bytes() if latest.file().exists() else None
    with pytest.raises(error) as raised:
        latest.promote()
    assert (latest.file().read_bytes() if latest.file().exists() else None) == before
    return str(raised.value)


def test_where_there_is_no_sweep_nothing_is_promoted(latest):
    assert refused(latest) == "there is no sweep to go by yet; run one: recall sweep"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"cards": OTHER_TEXT}, "the latest sweep is older than the knowledge base on disk: 1 differ (apple@en)"),
        ({"cases": CASES[1:]}, "the latest sweep is older than the case set on disk: 1 differ (c1)"),
        (
            {"top_k": 2},
            "the latest sweep is no answer for words: its retrieval_run is older than the knowledge base, the cases or "
            "the configuration",
        ),
        (
            {"retrievers": {"words": {"kind": "dense", "embedder": "bag", "locale_filter": False}}},
            "the latest sweep is no answer for words: its retrieval_run is older than the knowledge base, the cases or "
            "the configuration",
        ),
    ],
)
def test_a_sweep_that_is_older_than_what_is_on_disk_is_not_promoted(latest, changes, reason):
    latest.sweep()
    latest.promote()
    latest.change(**changes)
    assert refused(latest) == f"{reason}; run it again: recall sweep"


def test_cards_and_cases_that_both_differ_are_both_said(latest):
    latest.sweep()
    latest.change(cards=OTHER_TEXT, cases=CASES[1:])
    assert len(refused(latest).splitlines()) == 2


def test_a_sweep_that_failed_over_unchanged_inputs_does_not_promote_the_one_before_it(latest):
    latest.sweep()
    latest.promote()
    latest.sweep(embedding=NoModel())
    assert refused(latest) == (
        "the latest sweep has no result: sweep_retrieve did not succeed in this sweep for words; run it again: recall "
        "sweep"
    )


def test_a_retriever_that_was_not_in_the_sweep_is_not_promoted(latest):
    latest.change(**TWO)
    one = latest.settings.with_retrievers(("one",))
    run_sweep(one, **latest.resources)
    with pytest.raises(SweepFailedError) as raised:
        latest.promote()
    assert "no answer for two: it was never run" in str(raised.value)
    assert "one" not in str(raised.value)
    assert [p.after.retriever for p in latest.promote("one")] == ["one"]


def test_a_case_set_without_gold_makes_no_baseline(latest):
    latest.change(cases=CASES[3:])
    latest.sweep()
    reason = refused(latest, NotPromotedError)
    assert "words: not promoted: no case has gold, so there is nothing to compare with later" in reason


def test_while_another_sweep_runs_nothing_is_promoted(latest):
    latest.sweep()
    with occupied(latest.settings.storage.path, latest.instance):
        assert "another sweep is running in" in refused(latest)


# Judging


def test_judging_runs_the_last_stage_alone_in_the_same_sweep(latest):
    first = latest.sweep()
    again = latest.judge()
    assert latest.jobs() == ["sweep_ingest", "sweep_index", "sweep_retrieve", "sweep_report", "sweep_report"]
    assert len({run.tags[COMMAND_TAG] for run in latest.instance.get_runs()}) == 1
    assert (again.report, again.errors) == (first.report, [])
    assert again.stored_at != first.stored_at


def test_judging_holds_the_sweep_against_the_floors_of_now(latest):
    latest.sweep()
    latest.change(gate={"floors": {"hit": 0.9}})
    assert latest.judge().report.verdict is Verdict.FAIL
    latest.change(gate={"floors": {"hit": 0.6}})
    assert latest.judge().report.verdict is Verdict.PASS


def test_judging_holds_the_sweep_against_the_baseline_of_now(latest):
    critical = [CASES[0] | {"tags": ["critical"]}, *CASES[1:]]
    latest.change(cases=critical)
    latest.sweep()
    latest.promote()
    latest.change(cards=OTHER_TEXT)
    latest.sweep()
    result = latest.judge()
    assert result.report.verdict is Verdict.FAIL
    ((_, check),) = result.report.reasons
    assert check.detail.startswith("1 critical case lost: c1 (#1 -> MISS, now first: Banana); too few changes to tell ")
    latest.promote()
    assert latest.judge().report.verdict is Verdict.PASS


def test_judging_gives_every_case_for_the_files_of_a_build(latest):
    latest.sweep()
    assert latest.judge().cases == {
        "words": [
            ("c1", "case_type=golden,locale=en", True, True, 1),
            ("c2", "case_type=adversarial,locale=en", True, True, None),
            ("c3", "case_type=golden,locale=pt-BR", True, True, 1),
            ("c4", "case_type=no_match,locale=en", False, False, None),
        ]
    }


def test_judging_a_scheduled_sweep_carries_that_sweep_on(latest):
    graph = Graph(latest.settings, latest.resources, latest.instance)
    for stage in stages(latest.settings):
        for partition in stage.runs:
            graph.run(stage.job, partition, **{SWEEP_TAG: "night"})
    result = latest.judge()
    assert (result.report.verdict, result.errors) == (Verdict.PASS, [])
    newest = latest.instance.get_runs(limit=1)[0]
    assert (newest.job_name, newest.tags[SWEEP_TAG]) == ("sweep_report", "night")
    assert COMMAND_TAG in newest.tags


# Comparing


def test_comparing_runs_nothing_and_says_what_moved(latest):
    latest.sweep()
    latest.promote()
    latest.change(cards=OTHER_TEXT)
    latest.sweep()
    before = latest.jobs()
    judgement = latest.compare()
    assert latest.jobs() == before
    comparison = judgement.comparisons["words"]
    assert [pair.case_id for pair in comparison.pairing.lost] == ["c1"]
    assert comparison.first_titles["c1"] == "Banana"
    assert comparison.changed == ("knowledge base",)
    (overall,) = [rule for rule in judgement.rules["words"] if rule.rule == "no_regression" and rule.slice == "overall"]
    assert (overall.status, overall.n) == (Status.UNTESTED, 3)


def test_comparing_without_a_baseline_is_inactive(latest):
    latest.sweep()
    judgement = latest.compare()
    assert judgement.comparisons == {}
    (rule,) = [rule for rule in judgement.rules["words"] if rule.rule == "no_regression"]
    assert rule.status is Status.INACTIVE
