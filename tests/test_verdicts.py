from dataclasses import replace

import pytest

from recall_assets.baseline import Fingerprints, labels_fingerprint, write_baseline
from recall_assets.fingerprint import digest
from recall_assets.gate import REGRESSION_RULE, Status, Verdict
from recall_assets.records import Card, Case
from recall_assets.reporting.model import CaseResult, CheckResult
from recall_assets.schemas import (
    CARDS,
    CASES,
    COLLECTION,
    RUN,
    SLICE_SCORES,
    build_frame,
    cards_frame,
    cases_frame,
    empty_frame,
)
from recall_assets.score_frames import case_score_frame, snapshot
from recall_assets.verdicts import SweepFrames, build_report, fingerprints_of, judge, rules_of, verdict_frame
from tests.baselines import FINGERPRINTS, baseline

RULES = ("every_retriever_scored", "hit_floor", "recall_floor", "ndcg_floor", "no_regression")


def row(retriever, means=(0.8, 0.6, 0.7), n=10, missing=0, not_scored=None, name="overall", k=5):
    interval = (None, None) if means[0] is None else (0.49, 0.94)
    return (retriever, k, name, n, *means, *interval, 10 + missing, n, n, 0, missing, 0, 0, not_scored)


def frame(*rows):
    return build_frame(SLICE_SCORES, rows)


def retrievers(*names):
    return {"retrievers": {name: {"kind": "exact", "embedder": "bag"} for name in names}}


@pytest.fixture
def settings_of(make_settings, tmp_path):
    """Makes settings at k 5 with the retrievers `one` and `two`, and an empty folder of baselines."""
    return lambda **changes: make_settings(
        **{"top_k": 5, "baselines": tmp_path / "baselines", **retrievers("one", "two"), **changes}
    )


def figures(slices):
    """A sweep of which only its slice scores are known."""
    return SweepFrames(empty_frame(CARDS), empty_frame(CASES), {}, {}, {}, slices, {})


def verdicts_of(slices, settings):
    return verdict_frame(judge(settings, figures(slices)))


def report_of(slices, settings):
    """The report by the gate's rules alone."""
    judgement = judge(settings, figures(slices))
    return build_report(slices, {}, judgement.rules, judgement.comparisons)


NOTHING = {"means": (None, None, None), "n": 0, "missing": 10, "not_scored": "it was never run"}


def test_every_rule_is_judged_for_every_retriever(settings_of):
    settings = settings_of(gate={"floors": {"hit": 0.8, "recall": 0.61}})
    verdicts = verdicts_of(frame(row("one"), row("two", (0.7, 0.9, 0.5))), settings)
    assert set(verdicts["slice"]) == {"overall"}
    columns = ("retriever", "rule", "status", "threshold", "observed", "n")
    assert verdicts.select(columns).rows() == [
        ("one", "every_retriever_scored", "passed", None, None, 10),
        ("one", "hit_floor", "passed", 0.8, 0.8, 10),
        ("one", "recall_floor", "failed", 0.61, 0.6, 10),
        ("one", "ndcg_floor", "inactive", None, 0.7, 10),
        ("one", "no_regression", "inactive", None, None, 0),
        ("two", "every_retriever_scored", "passed", None, None, 10),
        ("two", "hit_floor", "failed", 0.8, 0.7, 10),
        ("two", "recall_floor", "passed", 0.61, 0.9, 10),
        ("two", "ndcg_floor", "inactive", None, 0.5, 10),
        ("two", "no_regression", "inactive", None, None, 0),
    ]


def test_overall_floors_are_held_against_the_overall_slice_alone(settings_of):
    slices = frame(row("one"), row("one", (0.0, 0.0, 0.0), name="locale=en"))
    settings = settings_of(gate={"floors": {"hit": 0.5}}, **retrievers("one"))
    assert report_of(slices, settings).verdict is Verdict.PASS


def test_a_floor_of_a_slice_is_judged_in_a_row_of_its_own_and_counts_in_the_verdict(settings_of):
    slices = frame(row("one"), row("one", (0.2, 0.2, 0.2), n=4, name="locale=en"), row("two"))
    settings = settings_of(
        gate={
            "slices": {"locale=en": {"hit": 0.1}},
            "retrievers": {"one": {"slices": {"locale=en": {"hit": 0.3, "min_n": 4}}}},
        }
    )
    columns = ("retriever", "slice", "status", "threshold", "observed", "n")
    assert verdicts_of(slices, settings).filter(rule="hit_floor").select(columns).rows() == [
        ("one", "overall", "inactive", None, 0.8, 10),
        ("one", "locale=en", "failed", 0.3, 0.2, 4),
        ("two", "overall", "inactive", None, 0.8, 10),
        ("two", "locale=en", "inconclusive", 0.1, None, 0),
    ]
    report = report_of(slices, settings)
    assert report.verdict is Verdict.FAIL
    assert [(name, check.name) for name, check in report.reasons] == [("one", "hit_floor"), ("two", "hit_floor")]


def test_verdicts_come_back_from_the_frame_as_they_were_judged(settings_of):
    settings = settings_of(gate={"floors": {"hit": 0.8, "min_n": 30}, "slices": {"locale=fr": {"ndcg": 0.5}}})
    judgement = judge(settings, figures(frame(row("one"), row("two", **NOTHING))))
    assert rules_of(verdict_frame(judgement)) == [*judgement.rules["one"], *judgement.rules["two"]]


def test_a_retriever_that_was_not_scored_is_inconclusive_with_its_reason(settings_of):
    settings = settings_of(gate={"floors": {"hit": 0.5}}, **retrievers("one"))
    verdicts = verdicts_of(frame(row("one", **NOTHING)), settings)
    assert verdicts.select("rule", "status").rows() == [
        ("every_retriever_scored", "inconclusive"),
        ("hit_floor", "inconclusive"),
        ("recall_floor", "inactive"),
        ("ndcg_floor", "inactive"),
        ("no_regression", "inactive"),
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
def test_the_verdict_is_over_all_retrievers(settings_of, rows, floor, verdict):
    assert report_of(frame(*rows), settings_of(gate={"floors": {"hit": floor}})).verdict is verdict


def test_the_report_has_each_retriever_with_its_slices_rules_and_reason(settings_of):
    rows = row("one", k=7), row("one", (1.0, 1.0, 1.0), name="locale=en", k=7), row("two", **NOTHING, k=7)
    slices = frame(*rows)
    report = report_of(slices, settings_of(top_k=7))
    assert report.top_k == 7
    one, two = report.retrievers
    assert (one.name, one.not_scored, two.name, two.not_scored) == ("one", None, "two", "it was never run")
    assert [(s.slice, s.n, s.means) for s in one.slices] == [
        ("overall", 10, (0.8, 0.6, 0.7)),
        ("locale=en", 10, (1.0, 1.0, 1.0)),
    ]
    assert two.overall.means is None
    assert [(check.name, check.blocking) for check in one.checks] == [(rule, True) for rule in RULES]
    assert [check.status for check in two.checks] == [Status.INCONCLUSIVE, *[Status.INACTIVE] * 4]
    assert [(rule.rule, rule.slice) for rule in one.rules] == [(rule, "overall") for rule in RULES]
    assert (one.comparison, two.comparison) == (None, None)


@pytest.mark.parametrize(
    ("check", "verdict"),
    [
        pytest.param(CheckResult("cards_valid", Status.FAILED, blocking=True), Verdict.INVALID, id="wrong input"),
        pytest.param(CheckResult("collection_complete", Status.FAILED, blocking=True), Verdict.INCONCLUSIVE, id="data"),
        pytest.param(CheckResult("locale_coverage", Status.WARNING, blocking=False), Verdict.PASS, id="a warning"),
    ],
)
def test_checks_on_data_count_in_the_verdict_and_are_listed_before_the_rules(settings_of, check, verdict):
    slices = frame(row("one"), row("two"))
    judgement = judge(settings_of(), figures(slices))
    report = build_report(slices, {"two": [check]}, judgement.rules, judgement.comparisons)
    assert report.verdict is verdict
    assert [[given.name for given in retriever.checks] for retriever in report.retrievers] == [
        [*RULES],
        [check.name, *RULES],
    ]


def test_figures_at_another_cutoff_than_the_configured_make_every_retriever_inconclusive(settings_of):
    slices = frame(row("one", k=5), row("two", k=5))
    settings = settings_of(top_k=7)
    outdated = "slice_scores are at k = 5, the configuration says 7; run the sweep again"
    scored = verdicts_of(slices, settings).filter(rule="every_retriever_scored")
    assert scored.select("retriever", "status", "detail").rows() == [
        ("one", "inconclusive", outdated),
        ("two", "inconclusive", outdated),
    ]
    report = report_of(slices, settings)
    assert (report.verdict, report.top_k) == (Verdict.INCONCLUSIVE, 5)


def test_a_retriever_that_was_configured_since_the_figures_is_inconclusive_and_in_the_report(settings_of):
    settings = settings_of(**retrievers("one", "new"))
    slices = frame(row("one"), row("gone"))
    scored = verdicts_of(slices, settings).filter(rule="every_retriever_scored")
    assert scored.select("retriever", "status", "detail").rows() == [
        ("one", "passed", "every case has a result; 10 gold-bearing cases scored"),
        (
            "new",
            "inconclusive",
            "slice_scores is older than the configuration, which has this retriever; run the sweep again",
        ),
    ]
    report = report_of(slices, settings)
    assert report.verdict is Verdict.INCONCLUSIVE
    assert [(retriever.name, retriever.overall.n) for retriever in report.retrievers] == [("one", 10), ("new", 0)]


# Beside the baselines.

CARDS_NOW = [
    Card("pay", "en", "Payments", "text"),
    Card("pay", "pt-BR", "Pagamentos", "texto"),
    Card("fees", "en", "Fees", "text"),
]
ASKED = [
    *(Case(f"en-{number}", "en", "golden", f"query {number}", ("pay",)) for number in range(1, 8)),
    Case("pt-1", "pt-BR", "golden", "pergunta", ("fees",)),
    Case("none", "en", "no_match", "granite", ()),
]
COLLECTIONS = {"bag": build_frame(COLLECTION, [("bag", "kb-bag-1", 3, 2, "of all", "of the texts")])}


def run_of(found, cases=ASKED):
    """The run that found these cards, a list a case, and `pay` for every other case."""
    return build_frame(
        RUN,
        [
            (case.case_id, "retrieved", None, cards, cards, [0.5] * len(cards), None, None, "of one run")
            for case in cases
            for cards in (found.get(case.case_id, ["pay"]),)
        ],
    )


def swept(cases=ASKED, **found):
    """A sweep of `one` in which each retriever's cases found these cards, named by retriever."""
    labelled, runs = cases_frame(cases), {name: run_of(cards, cases) for name, cards in found.items()}
    scores = {name: case_score_frame(labelled, run, 5) for name, run in runs.items()}
    slices = frame(*(row(name) for name in found))
    return SweepFrames(cards_frame(CARDS_NOW), labelled, COLLECTIONS, runs, scores, slices, {"bag": "weights"})


def promoted(settings, frames, name="one", fingerprints=FINGERPRINTS):
    """Commits what a sweep has of a retriever as its baseline, and gives it."""
    cases = snapshot(frames.cases, frames.scores[name])
    made = baseline(cases, name, top_k=settings.top_k, fingerprints=fingerprints)
    write_baseline(settings.baselines, made)
    return made


def lost(count):
    return {f"en-{number}": ["fees"] for number in range(1, count + 1)}


def compared(judgement, name="one"):
    """Slice, status and n of the comparison."""
    return {rule.slice: (rule.status.value, rule.n) for rule in judgement.rules[name] if rule.rule == REGRESSION_RULE}


@pytest.fixture
def settings(settings_of):
    return settings_of(**retrievers("one"))


def test_a_sweep_that_is_as_its_baseline_passes_in_every_slice(settings):
    frames = swept(one={})
    promoted(settings, frames)
    assert compared(judge(settings, frames)) == {
        "overall": ("passed", 8),
        "case_type=golden": ("passed", 8),
        "locale=en": ("passed", 7),
        "locale=pt-BR": ("passed", 1),
        "case_type=golden,locale=en": ("passed", 7),
        "case_type=golden,locale=pt-BR": ("passed", 1),
    }


def test_a_sweep_that_lost_enough_of_its_baseline_fails_in_the_slices_that_lost(settings):
    promoted(settings, swept(one={}))
    judgement = judge(settings, swept(one=lost(5)))
    # Five losses and no gain: p = 0.5 ** 5 = 0.03125, below 0.05; the same changes in every slice are one test.
    assert compared(judgement) == {
        "overall": ("failed", 8),
        "case_type=golden": ("failed", 8),
        "locale=en": ("failed", 7),
        "case_type=golden,locale=en": ("failed", 7),
        "locale=pt-BR": ("passed", 1),
        "case_type=golden,locale=pt-BR": ("passed", 1),
    }
    report = build_report(swept(one={}).slices, {}, judgement.rules, judgement.comparisons)
    assert report.verdict is Verdict.FAIL
    assert report.retrievers[0].comparison is judgement.comparisons["one"]


def test_a_sweep_that_lost_too_few_cases_to_tell_says_so_and_passes(settings):
    promoted(settings, swept(one={}))
    judgement = judge(settings, swept(one=lost(4)))
    assert compared(judgement)["overall"] == ("untested", 8)
    report = build_report(swept(one={}).slices, {}, judgement.rules, judgement.comparisons)
    assert report.verdict is Verdict.PASS
    assert [pair.case_id for pair in judgement.comparisons["one"].pairing.lost] == ["en-1", "en-2", "en-3", "en-4"]


def test_a_critical_case_that_is_lost_fails_by_itself(settings):
    critical = [replace(ASKED[0], tags=("critical",)), *ASKED[1:]]
    promoted(settings, swept(critical, one={}))
    rules = {
        r.slice: r for r in judge(settings, swept(critical, one=lost(1))).rules["one"] if r.rule == REGRESSION_RULE
    }
    assert rules["overall"].status is Status.FAILED
    assert rules["overall"].detail.startswith("1 critical case lost: en-1 (#1 -> MISS, now first: Fees); ")


def test_the_title_of_what_is_first_now_is_in_the_locale_of_the_case_where_the_card_has_one(settings):
    frames = swept(one={"en-1": ["pay"], "pt-1": ["pay"], "en-2": ["fees"], "en-3": []})
    promoted(settings, frames)
    titles = judge(settings, frames).comparisons["one"].first_titles
    assert {case: titles.get(case) for case in ("en-1", "pt-1", "en-2", "en-3")} == {
        "en-1": "Payments",
        "pt-1": "Pagamentos",
        "en-2": "Fees",
        "en-3": None,
    }


def test_a_card_without_a_text_in_the_locale_of_the_case_is_named_by_another_title(settings):
    frames = swept(one={"pt-1": ["fees"], "en-1": ["unknown"]})
    promoted(settings, frames)
    titles = judge(settings, frames).comparisons["one"].first_titles
    assert (titles["pt-1"], titles["en-1"]) == ("Fees", "unknown")


def test_a_comparison_says_what_the_run_was_made_from_that_the_baseline_was_not(settings):
    frames = swept(one={})
    cases = snapshot(frames.cases, frames.scores["one"])
    now = Fingerprints(
        knowledge_base="of the texts",
        case_labels=labels_fingerprint(cases),
        retriever=digest({"kind": "exact", "embedder": "bag", "locale_filter": True}),
        embedder="weights",
    )
    assert fingerprints_of(settings, "one", COLLECTIONS["bag"], "weights", cases) == now
    promoted(settings, frames, fingerprints=now)
    assert judge(settings, frames).comparisons["one"].changed == ()
    promoted(settings, frames, fingerprints=replace(now, knowledge_base="another", embedder="another"))
    assert judge(settings, frames).comparisons["one"].changed == ("knowledge base", "embedder")


def test_what_became_of_every_case_is_listed_in_the_order_of_the_cases(settings):
    cases = judge(settings, swept(one={"en-2": ["fees", "pay"], **lost(1)})).cases["one"]
    assert cases == [
        CaseResult("en-1", "case_type=golden,locale=en", True, True, None),
        CaseResult("en-2", "case_type=golden,locale=en", True, True, 2),
        *(CaseResult(f"en-{number}", "case_type=golden,locale=en", True, True, 1) for number in range(3, 8)),
        CaseResult("pt-1", "case_type=golden,locale=pt-BR", True, True, None),
        CaseResult("none", "case_type=no_match,locale=en", False, False, None),
    ]


def test_of_a_retriever_that_was_not_scored_no_case_was_and_nothing_is_compared(settings):
    promoted(settings, swept(one={}))
    frames = replace(swept(one={}), slices=frame(row("one", **NOTHING)))
    judgement = judge(settings, frames)
    (rule,) = [rule for rule in judgement.rules["one"] if rule.rule == REGRESSION_RULE]
    assert (rule.status, rule.detail) == (Status.INCONCLUSIVE, "not scored: it was never run")
    assert judgement.comparisons == {}
    assert {(case.scored, case.gold_rank) for case in judgement.cases["one"]} == {(False, None)}
    assert len(judgement.cases["one"]) == len(ASKED)


def test_figures_whose_run_is_not_there_are_not_compared(settings):
    promoted(settings, swept(one={}))
    (rule,) = [r for r in judge(settings, figures(frame(row("one")))).rules["one"] if r.rule == REGRESSION_RULE]
    assert (rule.status, rule.detail) == (
        Status.INCONCLUSIVE,
        "not scored: its run or its scores are not there",
    )


def damage(path):
    path.write_text(path.read_text().replace('"rank": 1', '"rank": 2', 1))


def of_another_format(path):
    path.write_text(path.read_text().replace('"format": 1', '"format": 99'))


@pytest.mark.parametrize(
    ("spoil", "status", "verdict", "says"),
    [
        pytest.param(damage, "invalid", Verdict.INVALID, "its content does not match its digest", id="edited"),
        pytest.param(of_another_format, "inconclusive", Verdict.INCONCLUSIVE, "is of format 99", id="another format"),
    ],
)
def test_a_baseline_that_cannot_be_used_is_no_pass_and_names_its_file(settings, spoil, status, verdict, says):
    frames = swept(one={})
    promoted(settings, frames)
    spoil(settings.baselines / "one.json")
    judgement = judge(settings, frames)
    assert compared(judgement) == {"overall": (status, 0)}
    (rule,) = [rule for rule in judgement.rules["one"] if rule.rule == REGRESSION_RULE]
    assert rule.detail.startswith(f"{settings.baselines / 'one.json'}:1: ")
    assert says in rule.detail
    assert build_report(frames.slices, {}, judgement.rules, judgement.comparisons).verdict is verdict


def test_a_retriever_without_a_baseline_is_inactive_or_where_one_is_required_inconclusive(settings_of):
    frames = swept(one={})
    settings = settings_of(**retrievers("one"))
    missing = f"no baseline at {settings.baselines / 'one.json'}; "
    required = settings_of(gate={"regression": {"require_baseline": True}}, **retrievers("one"))
    for each, status, detail in ((settings, "inactive", f"inactive: {missing}"), (required, "inconclusive", missing)):
        (rule,) = [rule for rule in judge(each, frames).rules["one"] if rule.rule == REGRESSION_RULE]
        assert rule.status == status
        assert rule.detail.startswith(detail)


def test_where_nothing_is_to_be_compared_no_baseline_is_read(settings_of):
    settings = settings_of(gate={"regression": {"compare": False}}, **retrievers("one"))
    promoted(settings, swept(one={}))
    damage(settings.baselines / "one.json")
    judgement = judge(settings, swept(one=lost(7)))
    assert (compared(judgement), judgement.comparisons) == ({"overall": ("inactive", 0)}, {})


def test_all_retrievers_of_a_sweep_share_one_chance_of_a_false_alarm(settings_of):
    settings = settings_of()
    for name in ("one", "two"):
        promoted(settings, swept(one={}, two={}), name)
    # p = 0.03125 is below 0.05, and not below 0.05 / 2.
    alone = judge(settings, swept(one=lost(5), two={}))
    assert (compared(alone)["overall"], compared(alone, "two")["overall"]) == (("failed", 8), ("passed", 8))
    together = judge(settings, swept(one=lost(5), two=lost(5)))
    assert [compared(together, name)["overall"] for name in ("one", "two")] == [("untested", 8)] * 2
