import pytest

from recall_assets.gate import Status, Verdict
from recall_assets.reporting.model import CheckResult
from recall_assets.schemas import SLICE_SCORES, build_frame
from recall_assets.verdicts import build_report, rule_checks, verdict_frame

RULES = ("every_retriever_scored", "hit_floor", "recall_floor", "ndcg_floor")


def row(retriever, means=(0.8, 0.6, 0.7), n=10, missing=0, not_scored=None, name="overall", k=5):
    interval = (None, None) if means[0] is None else (0.49, 0.94)
    return (retriever, k, name, n, *means, *interval, 10 + missing, n, n, 0, missing, 0, 0, not_scored)


def frame(*rows):
    return build_frame(SLICE_SCORES, rows)


def report_of(slices, settings):
    """The report by the gate's rules alone."""
    return build_report(slices, rule_checks(slices, settings))


NOTHING = {"means": (None, None, None), "n": 0, "missing": 10, "not_scored": "it was never run"}


def test_every_rule_is_judged_for_every_retriever(make_settings):
    settings = make_settings(top_k=5, gate={"floors": {"hit": 0.8, "recall": 0.61}})
    verdicts = verdict_frame(frame(row("one"), row("two", (0.7, 0.9, 0.5))), settings)
    columns = ("retriever", "rule", "status", "threshold", "observed", "n")
    assert verdicts.select(columns).rows() == [
        ("one", "every_retriever_scored", "passed", None, None, 10),
        ("one", "hit_floor", "passed", 0.8, 0.8, 10),
        ("one", "recall_floor", "failed", 0.61, 0.6, 10),
        ("one", "ndcg_floor", "inactive", None, 0.7, 10),
        ("two", "every_retriever_scored", "passed", None, None, 10),
        ("two", "hit_floor", "failed", 0.8, 0.7, 10),
        ("two", "recall_floor", "passed", 0.61, 0.9, 10),
        ("two", "ndcg_floor", "inactive", None, 0.5, 10),
    ]


def test_only_the_overall_slice_is_judged(make_settings):
    slices = frame(row("one"), row("one", (0.0, 0.0, 0.0), name="locale=en"))
    settings = make_settings(top_k=5, gate={"floors": {"hit": 0.5}})
    assert report_of(slices, settings).verdict is Verdict.PASS


def test_a_retriever_that_was_not_scored_is_inconclusive_with_its_reason(make_settings):
    settings = make_settings(top_k=5, gate={"floors": {"hit": 0.5}})
    verdicts = verdict_frame(frame(row("one", **NOTHING)), settings)
    assert verdicts.select("rule", "status").rows() == [
        ("every_retriever_scored", "inconclusive"),
        ("hit_floor", "inconclusive"),
        ("recall_floor", "inactive"),
        ("ndcg_floor", "inactive"),
    ]
    assert verdicts["detail"][0] == "it was never run"


@pytest.mark.parametrize(
    ("rows", "floor", "verdict"),
    [
        pytest.param([row("one"), row("two")], None, Verdict.PASS, id="no floor"),
        pytest.param([row("one"), row("two")], 0.8, Verdict.PASS, id="all at the floor"),
        pytest.param([row("one"), row("two", (0.7, 0.6, 0.7))], 0.8, Verdict.FAIL, id="one below"),
        pytest.param([row("one"), row("two", **NOTHING)], None, Verdict.INCONCLUSIVE, id="one not scored"),
        pytest.param([row("one", (0.7, 0.6, 0.7)), row("two", **NOTHING)], 0.8, Verdict.FAIL, id="both"),
    ],
)
def test_the_verdict_is_over_all_retrievers(make_settings, rows, floor, verdict):
    assert report_of(frame(*rows), make_settings(top_k=5, gate={"floors": {"hit": floor}})).verdict is verdict


def test_the_report_has_each_retriever_with_its_slices_rules_and_reason(make_settings):
    rows = row("one", k=7), row("one", (1.0, 1.0, 1.0), name="locale=en", k=7), row("two", **NOTHING, k=7)
    slices = frame(*rows)
    report = report_of(slices, make_settings(top_k=7))
    assert report.top_k == 7
    one, two = report.retrievers
    assert (one.name, one.not_scored, two.name, two.not_scored) == ("one", None, "two", "it was never run")
    assert [(s.slice, s.n, s.means) for s in one.slices] == [
        ("overall", 10, (0.8, 0.6, 0.7)),
        ("locale=en", 10, (1.0, 1.0, 1.0)),
    ]
    assert two.overall.means is None
    assert [(check.name, check.blocking) for check in one.checks] == [(rule, True) for rule in RULES]
    assert [check.status for check in two.checks] == [Status.INCONCLUSIVE, *[Status.INACTIVE] * 3]


@pytest.mark.parametrize(
    ("check", "verdict"),
    [
        pytest.param(CheckResult("cards_valid", Status.FAILED, blocking=True), Verdict.INVALID, id="wrong input"),
        pytest.param(CheckResult("collection_complete", Status.FAILED, blocking=True), Verdict.INCONCLUSIVE, id="data"),
        pytest.param(CheckResult("locale_coverage", Status.WARNING, blocking=False), Verdict.PASS, id="a warning"),
    ],
)
def test_checks_on_data_count_in_the_verdict_and_are_listed_as_given(make_settings, check, verdict):
    slices = frame(row("one"), row("two"))
    rules = rule_checks(slices, make_settings(top_k=5))
    report = build_report(slices, rules | {"two": [check, *rules["two"]]})
    assert report.verdict is verdict
    assert [[given.name for given in retriever.checks] for retriever in report.retrievers] == [
        [*RULES],
        [check.name, *RULES],
    ]


def test_figures_at_another_cutoff_than_the_configured_make_every_retriever_inconclusive(make_settings):
    slices = frame(row("one", k=5), row("two", k=5))
    settings = make_settings(top_k=7)
    outdated = "slice_scores are at k = 5, the configuration says 7; run the sweep again"
    scored = verdict_frame(slices, settings).filter(rule="every_retriever_scored")
    assert scored.select("retriever", "status", "detail").rows() == [
        ("one", "inconclusive", outdated),
        ("two", "inconclusive", outdated),
    ]
    report = report_of(slices, settings)
    assert (report.verdict, report.top_k) == (Verdict.INCONCLUSIVE, 5)
