"""Seeded damage: what the gate says when something is really wrong, with the verdict, the exit code and the culprit.

The project is that of `tests.commands`: every gold card at rank 1, and a baseline that says so.
"""

import json
from uuid import uuid4

import chromadb
import dagster as dg
import polars as pl
import pytest
from upath import UPath

from recall_assets.automation import COMMAND_TAG, SWEEP_TAG, stages
from recall_assets.check_results import sweep_evaluations
from recall_assets.gate import Status, Verdict
from recall_assets.latest import judge_latest
from recall_assets.progress import Quiet
from recall_assets.records import MISSING
from recall_assets.resources.frames import ParquetIOManager
from recall_assets.sweep import report_of_sweep, run_sweep
from tests.commands import card, cards, cases, promoted_project, use_instance, use_words
from tests.conftest import WordEmbedding
from tests.graph import Graph, checks, materialized

WORDS = {"embedding": WordEmbedding(), "progress": Quiet()}
OLDER_RUN = "its retrieval_run is older than the knowledge base, the cases or the configuration"


@pytest.fixture
def project(here, tmp_path_factory, monkeypatch):
    use_words(monkeypatch)
    return promoted_project(here, tmp_path_factory.getbasetemp())


@pytest.fixture
def wide(recall, monkeypatch):
    """`recall` with every message on one line, wherever it stands."""
    monkeypatch.setenv("COLUMNS", "1000")
    return recall


@pytest.fixture
def gate(wide, project, monkeypatch):
    """Sweeps and judges."""
    with dg.DagsterInstance.ephemeral() as instance:
        use_instance(monkeypatch, instance)
        yield lambda *arguments: wide("gate", *arguments)


@pytest.fixture
def judged(wide, project, monkeypatch):
    """Judges the sweep that is stored."""
    use_instance(monkeypatch, project.instance)
    return lambda *arguments: wide("gate", "--last", *arguments)


@pytest.fixture
def graph(project):
    """The graph on an instance of its own, as the UI runs it."""
    with dg.DagsterInstance.ephemeral() as instance:
        yield Graph(project.settings, WORDS, instance)


def found(project, check):
    """Status and finding of a check that stands against a pass, in the latest stored report."""
    (reason,) = [reason for reason in project.report()["reasons"] if reason["check"] == check]
    return reason["status"], reason["detail"].split("\n")


def status_of(project, name):
    (check,) = [c for c in project.report()["retrievers"]["words"]["checks"] if c["name"] == name]
    return check["status"]


def means(project, slice_="overall"):
    (row,) = [row for row in project.report()["retrievers"]["words"]["slices"] if row["slice"] == slice_]
    return tuple(row[f"retrieval_{metric}_at_k"] for metric in ("hit", "recall", "ndcg"))


def test_the_project_is_one_in_which_every_gold_card_is_first(project):
    assert project.frame("case_scores/words")["gold_rank"].to_list() == [1] * 50
    assert project.frame("slice_scores")["retrieval_ndcg_at_k"].to_list() == [1.0] * 10
    # Queries for the first and the eighth word, in English.
    assert project.frame("retrieval_run/words")["card_id"][0].to_list() == ["c00", "c19", "c18"]
    assert project.frame("retrieval_run/words")["card_id"][9].to_list() == ["c07", "c06", "c05"]


def test_an_unchanged_rerun_passes_and_no_score_has_changed(gate, project):
    ran = gate()
    assert ran.code == 0, ran.err
    assert ran.out.splitlines()[0] == "Verdict: pass (exit code 0)"
    assert "50 of 50 cases unchanged, 0 added, 0 removed, 0 relabelled\nNo score has changed.\n" in ran.out
    assert status_of(project, "no_regression") == "passed"
    assert project.report()["reasons"] == []


# Texts


def test_two_swapped_texts_that_several_cases_ask_for_are_a_regression_of_their_slices(gate, project):
    project.swap("en", 3, 10)
    ran = gate()
    assert (ran.code, ran.out.splitlines()[0]) == (1, "Verdict: fail (exit code 1)")
    status, lines = found(project, "no_regression")
    assert status == "failed"
    # Six golden cases in English, and no other, so there is one test: p = 0.5 ** 6.
    assert lines[0] == (
        "locale=en: regressed: hit@3 1.0000 -> 0.7500 (6 lost, 0 gained of 24; p 0.0156, 0.0156 corrected), so are "
        "recall@3 and nDCG@3; lost: en-03 (#1 -> MISS, now first: Leaflet 10), en-03b (#1 -> MISS, now first: Leaflet "
        "10), en-03c (#1 -> MISS, now first: Leaflet 10) and 3 more"
    )
    assert [line.partition(": ")[0] for line in lines[:3]] == [
        "locale=en",
        "case_type=golden,locale=en",
        "case_type=golden",
    ]
    assert lines[3].startswith("regressed: hit@3 1.0000 -> 0.8800 (6 lost, 0 gained of 50; ")
    assert len(lines) == 4
    assert (
        ran.out.splitlines()[1].strip().startswith("words: no_regression: locale=en: regressed: hit@3 1.0000 -> 0.75")
    )
    for line in ("en-10: #1 -> MISS, now first: Leaflet 03", "en-10c: #1 -> MISS, now first: Leaflet 03"):
        assert f"  {line}\n" in ran.out
    assert "Changed since the baseline: knowledge base.\n" in ran.out


def test_a_critical_case_fails_alone_where_too_few_cases_changed(gate, project):
    project.swap("en", 7, 15)
    ran = gate()
    assert ran.code == 1
    status, lines = found(project, "no_regression")
    assert (status, lines) == (
        "failed",
        [
            "1 critical case lost: en-07 (#1 -> MISS, now first: Leaflet 15); too few changes to tell (needs 5): "
            "hit@3 1.0000 -> 0.9600 (2 lost, 0 gained of 50)"
        ],
    )
    assert "\nLost (2):\n  en-07 (critical): #1 -> MISS, now first: Leaflet 15\n  en-15: #1 -> MISS, " in ran.out


def test_too_few_lost_cases_pass_and_say_how_many_it_would_take(gate, project):
    project.swap("en", 12, 16)
    ran = gate()
    assert ran.code == 0
    assert status_of(project, "no_regression") == "untested"
    assert (
        "\nToo few changes to tell (needs 5): overall hit@3 (changed 2 of 50), case_type=golden hit@3 (changed"
        in ran.out
    )
    assert "  en-12: #1 -> MISS, now first: Leaflet 16\n" in ran.out


def test_a_locale_whose_texts_are_nonsense_fails_and_is_named_with_its_lost_cases(gate, project):
    project.write_text("es", dict.fromkeys(range(20), "lorem ipsum dolor"))
    ran = gate()
    assert ran.code == 1
    status, lines = found(project, "no_regression")
    assert status == "failed"
    # All are equally far, so the smallest ids come first: es-00, es-01 and es-02 still find their card.
    (spanish,) = [line for line in lines if line.startswith("locale=es: ")]
    assert spanish == (
        "locale=es: regressed: hit@3 1.0000 -> 0.1500 (17 lost, 0 gained of 20; p <0.0001, <0.0001 corrected), so are "
        "recall@3 and nDCG@3; lost: es-03 (#1 -> MISS, now first: Folleto 00), es-04 (#1 -> MISS, now first: Folleto "
        "00), es-05 (#1 -> MISS, now first: Folleto 00) and 14 more"
    )
    assert not any(name in line for line in lines for name in ("locale=en", "locale=pt-BR"))
    assert "  es-19: #1 -> MISS, now first: Folleto 00\n" in ran.out
    assert (
        "\nSlipped (2):\n  es-01: #1 -> #2, now first: Folleto 00\n  es-02: #1 -> #3, now first: Folleto 00\n"
        in ran.out
    )


def test_a_locale_whose_texts_are_empty_is_wrong_input_line_by_line(gate, project):
    project.write_text("es", dict.fromkeys(range(20), ""))
    ran = gate()
    assert ran.code == 2
    # The cards in es are lines 21 to 40.
    assert [line.partition(" ")[0] for line in ran.err.splitlines()] == [f"cards.jsonl:{n}:" for n in range(21, 41)]
    assert "text is empty" in ran.err


# Cards and labels


@pytest.mark.parametrize(
    ("change", "why"),
    [
        pytest.param(lambda one: None, "is no card of the knowledge base", id="removed"),
        pytest.param(lambda one: one | {"retired": True}, "is retired", id="retired"),
    ],
)
def test_a_gold_card_that_is_gone_is_a_label_error_at_the_cases_that_name_it(gate, project, change, why):
    changed = [change(one) if one["card_id"] == "c07" else one for one in cards()]
    project.write(cards=[one for one in changed if one is not None])
    ran = gate()
    assert ran.code == 2
    # en-07 is on line 8, es-07 on line 24 + 8; no case in pt-BR asks for c07.
    first, second = ran.err.splitlines()
    assert first.startswith(f'cases.jsonl:8: case "en-07": gold id "c07" {why}')
    assert second.startswith(f'cases.jsonl:32: case "es-07": gold id "c07" {why}')


def test_a_card_retired_in_one_locale_alone_is_a_lost_case(gate, project):
    gone = ("c07", "en")
    project.write(cards=[one | {"retired": (one["card_id"], one["locale"]) == gone} for one in cards()])
    assert gate().code == 1
    _, lines = found(project, "no_regression")
    assert lines[0].startswith("1 critical case lost: en-07 (#1 -> MISS, now first: Leaflet 06); too few changes ")


def test_a_label_that_names_no_card_is_wrong_input_with_file_and_line(gate, project):
    broken = cases()
    broken[2]["must_cite_one_of"] = ["c99"]
    project.write(cases=broken)
    ran = gate()
    assert ran.code == 2
    assert ran.err.startswith('cases.jsonl:3: case "en-02": gold id "c99" is no card of the knowledge base')


def test_a_label_that_was_changed_is_reported_and_not_compared(gate, project):
    changed = cases()
    changed[2]["must_cite_one_of"] = ["c12"]  # which is not found: it would be a lost case
    project.write(cases=changed)
    ran = gate()
    assert ran.code == 0, ran.err
    assert means(project)[0] == 0.98
    assert "49 of 50 cases unchanged, 0 added, 0 removed, 1 relabelled\n" in ran.out
    assert "\nRelabelled, so not compared: en-02.\n" in ran.out
    assert "\nNo score has changed.\n" in ran.out
    assert "Lost" not in ran.out
    assert "Changed since the baseline: case labels.\n" in ran.out


# The store


def collection(project):
    """The project's collection in Chroma."""
    settings = chromadb.config.Settings(anonymized_telemetry=False)
    client = chromadb.PersistentClient(path=str(project.folder / ".recall" / "chroma"), settings=settings)
    return client.get_collection(project.frame("kb_collection/bag")["collection"].item(), embedding_function=None)


def test_gold_cards_that_are_not_in_the_index_make_it_incomplete_and_the_gate_inconclusive(gate, project):
    stored = collection(project)
    kept = stored.get(ids=["c08@en#0"], include=["embeddings", "metadatas", "documents"])
    stored.delete(ids=["c07@en#0"])
    # Another vector in its place: whoever only counts sees nothing.
    stored.add(**{name: kept[name] for name in ("embeddings", "metadatas", "documents")}, ids=["stray@en#0"])
    ran = gate()
    assert (ran.code, ran.out.splitlines()[0]) == (3, "Verdict: inconclusive (exit code 3)")
    status, (line,) = found(project, "collection_complete")
    assert status == "failed"
    name = stored.name
    assert line == (
        f"1 chunks are not in {name}, the first c07@en#0; 1 vectors in {name} belong to no chunk, the first stray@en#0"
    )
    assert any("words: collection_complete: 1 chunks are not in " in line for line in ran.out.splitlines()[1:4])
    assert found(project, "no_regression") == (
        "inconclusive",
        ["not scored: sweep_index did not succeed in this sweep for bag"],
    )


def test_vectors_that_were_deleted_are_put_back_by_the_next_sweep(gate, project):
    collection(project).delete(ids=["c07@en#0", "c07@es#0"])
    assert gate().code == 0
    assert collection(project).count() == 60


def test_a_store_that_is_down_is_inconclusive_and_named(gate, project):
    config = project.folder / "recall.yaml"
    down = ", chroma: {kind: http, host: 127.0.0.1, port: 9}}"
    config.write_text(config.read_text().rstrip().removesuffix("}") + down)
    ran = gate()
    assert ran.code == 3
    assert "Chroma at 127.0.0.1:9 cannot be used" in ran.err
    assert found(project, "every_retriever_scored")[0] == "inconclusive"
    assert found(project, "no_regression")[0] == "inconclusive"


# Ranking


def test_rankings_reversed_below_rank_1_are_a_regression_of_ndcg_alone(judged, project):
    project.reverse_runs(below=1)
    ran = judged()
    assert ran.code == 1
    # Only the second gold card of the ten adversarial cases moves, from #2 to #3: (1 + 1/2) / (1 + 1/log2(3)).
    assert means(project, "case_type=adversarial") == pytest.approx((1.0, 1.0, 0.9197207891481876), abs=1e-15)
    assert means(project)[:2] == (1.0, 1.0)
    _, lines = found(project, "no_regression")
    assert [line.partition(": ")[0] for line in lines] == [
        *("case_type=adversarial", "case_type=adversarial,locale=es", "locale=es", "regressed"),
    ]
    said = (
        "case_type=adversarial: regressed: nDCG@3 1.0000 -> 0.9197 (10 fell, 0 rose of 10; p 0.0010, 0.0010 corrected)"
    )
    assert lines[0].startswith(f"{said}; fell: es-10 (")
    # Something must say what fell: the place of the first gold card has not changed.
    assert "es-10 (#1 -> #1)" not in lines[0]


def test_rankings_reversed_altogether_are_a_regression_of_ndcg_alone(judged, project):
    project.reverse_runs()
    ran = judged()
    assert ran.code == 1
    hit, recall_, ndcg = means(project)
    assert (hit, recall_) == (1.0, 1.0)
    # 40 cases from #1 to #3, 1/2 each; ten with gold at #1 and #2 to #3 and #2, (1/2 + 1/log2(3)) / (1 + 1/log2(3)).
    assert ndcg == pytest.approx((40 * 0.5 + 10 * 0.6934264036172708) / 50, abs=1e-12)
    _, lines = found(project, "no_regression")
    (overall,) = [line for line in lines if line.startswith("regressed: ")]
    assert overall == (
        "regressed: nDCG@3 1.0000 -> 0.5387 (50 fell, 0 rose of 50; p <0.0001, <0.0001 corrected); fell: en-07 (#1 -> "
        "#3, now first: Leaflet 05), en-00 (#1 -> #3, now first: Leaflet 18), en-01 (#1 -> #3, now first: Leaflet 19) "
        "and 47 more"
    )
    assert "hit@3 1.0000 -> " not in "\n".join(lines)
    assert "Slipped (50; the first 20, all are in the report):\n  en-07 (critical): #1 -> #3, now first: " in ran.out


# Fewer cases, fewer results, another k


def test_results_that_are_missing_for_half_of_the_cases_are_no_answer(judged, project):
    miss_every_second(project)
    ran = judged()
    assert (ran.code, ran.out) == (3, "")
    assert ran.err == (
        "inconclusive: the latest sweep is no answer for words: 25 of 50 cases have no result: en-01, en-03, "
        "en-03c, en-05, en-07 and 20 more; run it again: recall sweep\n"
    )


def test_a_report_over_missing_results_is_inconclusive_and_fails_the_run(graph, project):
    graph.sweep()
    miss_every_second(project)
    result = graph.run("sweep_report")
    assert not result.success
    assert project.report()["verdict"] == "inconclusive"
    reason = "25 of 50 cases have no result: en-01, en-03, en-03c, en-05, en-07 and 20 more"
    assert found(project, "every_retriever_scored") == ("inconclusive", [reason])
    assert found(project, "no_regression") == ("inconclusive", [f"not scored: {reason}"])


def miss_every_second(project):
    # Cases are sorted by id.
    missing = pl.int_range(pl.len()) % 2 == 1
    run = project.frame("retrieval_run/words")
    project.replace_run(
        run.with_columns(
            pl.when(missing).then(pl.lit(MISSING)).otherwise("status").alias("status"),
            *(pl.when(missing).then([]).otherwise(name).alias(name) for name in ("chunk_id", "card_id", "score")),
        )
    )


def test_a_baseline_of_which_exactly_half_the_cases_are_left_is_compared(gate, project):
    project.write(cases=cases()[:25])
    ran = gate()
    assert ran.code == 0, ran.err
    assert "25 of 50 cases unchanged, 0 added, 25 removed, 0 relabelled\n" in ran.out
    assert status_of(project, "no_regression") == "passed"


def test_a_baseline_of_which_under_half_the_cases_are_left_is_not_comparable(gate, project):
    project.write(cases=cases()[:24])
    ran = gate()
    assert ran.code == 3
    reason = (
        "of 50 cases in the baseline and 24 in this sweep, 24 are the same, under 50% of the larger set (0 added, 26 "
        "removed, 0 relabelled); promote a baseline on these cases"
    )
    assert found(project, "no_regression") == ("inconclusive", [reason])
    assert f"\nNot comparable: {reason}.\n" in ran.out


def test_another_k_is_not_comparable_and_both_are_said(gate, project):
    ran = gate("--k", 2)
    assert ran.code == 3
    assert found(project, "no_regression") == (
        "inconclusive",
        [
            "the baseline is at k = 3, this sweep at k = 2; sweep at the same k, or promote a baseline at the new one",
        ],
    )


# A sweep that is no answer any more


class OtherWeights(WordEmbedding):
    """The same words from other weights."""

    def fingerprint(self, name):
        return f"other-{name}"


def edit_a_card(project, monkeypatch):
    project.write_text("en", {7: card(7, "en")["text"] + " more"})


def edit_a_case(project, monkeypatch):
    edited = cases()
    edited[7]["query"] += " please"
    project.write(cases=edited)


def edit_a_tag(project, monkeypatch):
    edited = cases()
    edited[8]["tags"] = ["critical"]
    project.write(cases=edited)


def edit_top_k(project, monkeypatch):
    project.configure(top_k=2)


def edit_chunking(project, monkeypatch):
    project.configure("chunking: {max_chars: 50, overlap_chars: 0}\n")


def edit_the_embedder(project, monkeypatch):
    use_words(monkeypatch, OtherWeights())


@pytest.mark.parametrize(
    ("edit", "reason"),
    [
        (edit_a_card, "is older than the knowledge base on disk: 1 differ (c07@en)"),
        (edit_a_case, "is older than the case set on disk: 1 differ (en-07)"),
        (edit_a_tag, "is older than the case set on disk: 1 differ (en-08)"),
        (edit_top_k, f"is no answer for words: {OLDER_RUN}"),
        (edit_chunking, "is no answer for words: kb_chunks is older than kb_cards or the configured chunking"),
        (
            edit_the_embedder,
            'is no answer for words: kb_collection of the embedder "bag" was built with other options or weights',
        ),
    ],
)
def test_a_sweep_that_is_older_than_what_is_configured_is_not_judged(judged, project, monkeypatch, edit, reason):
    edit(project, monkeypatch)
    ran = judged()
    assert (ran.code, ran.out) == (3, "")
    assert ran.err == f"inconclusive: the latest sweep {reason}; run it again: recall sweep\n"


def test_where_there_is_no_sweep_nothing_is_judged(gate):
    ran = gate("--last")
    assert (ran.code, ran.out) == (3, "")
    assert ran.err == "inconclusive: there is no sweep to go by yet; run one: recall sweep\n"


class Interrupting(WordEmbedding):
    """Someone presses Ctrl-C while queries are embedded."""

    def queries(self, name, texts, progress):
        raise KeyboardInterrupt


NOT_ENDED = "the latest sweep did not end with a report, or is still running; run it again: recall sweep"


def test_a_sweep_that_was_interrupted_is_not_judged_nor_the_one_before_it(gate, project):
    assert gate().code == 0
    with pytest.raises(KeyboardInterrupt):
        run_sweep(project.settings, embedding=Interrupting(), progress=Quiet())
    ran = gate("--last")
    assert (ran.code, ran.out, ran.err) == (3, "", f"inconclusive: {NOT_ENDED}\n")


def test_a_scheduled_sweep_that_is_still_running_is_not_judged(wide, project, monkeypatch):
    night = {"sweep_ingest": dg.DagsterRunStatus.SUCCESS, "sweep_report": dg.DagsterRunStatus.STARTED}
    with dg.DagsterInstance.ephemeral() as instance:
        use_instance(monkeypatch, instance)
        for job, status in night.items():
            instance.add_run(dg.DagsterRun(job, run_id=str(uuid4()), status=status, tags={SWEEP_TAG: "night"}))
        ran = wide("gate", "--last")
    assert (ran.code, ran.out, ran.err) == (3, "", f"inconclusive: {NOT_ENDED}\n")


# The baseline's file


def edit_baseline(project, **values):
    document = json.loads(project.baseline.read_text(encoding="utf-8")) | values
    project.baseline.write_text(json.dumps(document, indent=2), encoding="utf-8")


@pytest.mark.parametrize("last", [True, False])
def test_a_baseline_edited_by_hand_is_wrong_input_and_no_sweep_is_run_for_it(wide, project, last):
    edit_baseline(project, date="2026-01-01T00:00:00Z")
    runs = project.folder / ".recall" / "reports"
    before = sorted(runs.iterdir())
    ran = wide("gate", *["--last"] * last)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == (
        "baselines/words.json:1: its content does not match its digest, so it was edited or merged by hand; restore it "
        "from version control, or promote one again: recall baseline promote\n"
    )
    assert sorted(runs.iterdir()) == before


def test_a_baseline_edited_by_hand_is_wrong_input_for_a_sweep_too(wide, project, monkeypatch):
    edit_baseline(project, date="2026-01-01T00:00:00Z")
    with dg.DagsterInstance.ephemeral() as instance:
        use_instance(monkeypatch, instance)
        assert wide("sweep").code == 2
    status, (line,) = found(project, "no_regression")
    assert status == "invalid"
    assert line.startswith("baselines/words.json:1: its content does not match its digest, ")


def test_a_baseline_of_another_format_is_inconclusive(judged, project):
    edit_baseline(project, format=2)
    assert judged().code == 3
    reason = (
        "baselines/words.json:1: the baseline is of format 2, this version reads 1; promote one again: recall baseline "
        "promote"
    )
    assert found(project, "no_regression") == ("inconclusive", [reason])


@pytest.mark.parametrize(("require", "code", "status"), [("false", 0, "inactive"), ("true", 3, "inconclusive")])
def test_a_missing_baseline_is_inactive_unless_one_is_required(judged, project, require, code, status):
    project.baseline.unlink()
    project.configure(f"gate: {{regression: {{require_baseline: {require}}}}}\n")
    ran = judged()
    assert (ran.code, status_of(project, "no_regression")) == (code, status)
    assert "no baseline at baselines/words.json; recall baseline promote makes one" in ran.out


# Checks that say nothing


def test_a_sweep_whose_check_on_regressions_was_not_evaluated_is_inconclusive(graph, project):
    for stage in stages(project.settings):
        for partition in stage.runs:
            result = graph.run(stage.job, partition, **{COMMAND_TAG: "a"})
    evaluations = sweep_evaluations(graph.instance, result.dagster_run)
    slices = graph.frame("slice_scores")
    assert report_of_sweep(project.settings, slices, evaluations, {}).verdict is Verdict.PASS
    del evaluations["no_regression", None]
    report = report_of_sweep(project.settings, slices, evaluations, {})
    assert report.verdict is Verdict.INCONCLUSIVE
    ((name, check),) = report.reasons
    assert (name, check.name, check.status, check.detail) == (
        "words",
        "no_regression",
        Status.INCONCLUSIVE,
        "did not run",
    )


class NoVerdictStored(ParquetIOManager):
    """A disk that is full when `gate_verdict` is written, so that its checks do not run."""

    def dump_to_path(self, context, obj, path):
        if "gate_verdict" in context.asset_key.path:
            raise OSError("no space left on device")
        super().dump_to_path(context, obj, path)


GATE_CHECKS = ("every_retriever_scored", "hit_floor", "recall_floor", "ndcg_floor", "no_regression")


@pytest.mark.parametrize("last", [False, True])
def test_a_verdict_that_cannot_be_stored_leaves_its_checks_out_and_is_inconclusive(gate, project, last):
    project.configure("gate: {floors: {hit: 1.0, min_n: 51}}\n")
    assert gate().code == 3
    # What was said under another configuration does not stand in for what is not said under this one.
    project.configure()
    full = NoVerdictStored(UPath(project.folder / ".recall" / "frames"))
    if last:
        result = judge_latest(project.settings, project.inputs, **WORDS, io_manager=full)
    else:
        result = run_sweep(project.settings, **WORDS, io_manager=full)
    assert result.report.verdict is Verdict.INCONCLUSIVE
    (error,) = result.errors
    assert "no space left on device" in error
    assert {check.name: check.detail for _, check in result.report.reasons} == dict.fromkeys(GATE_CHECKS, "did not run")


# Floors


@pytest.mark.parametrize(
    ("floors", "code", "finding"),
    [
        pytest.param(
            'slices: {"locale=pt-BR": {ndcg: 0.6}}',
            1,
            ("failed", "locale=pt-BR: 0.1 below the floor 0.6: observed 0.5000, n 6, 95% interval 0.1876 to 0.8124"),
            id="of a slice",
        ),
        pytest.param(
            "floors: {ndcg: 0.5}, retrievers: {words: {floors: {ndcg: 0.6}}}",
            1,
            ("failed", "0.0613 below the floor 0.6: observed 0.5387, n 50, 95% interval 0.4027 to 0.6691"),
            id="of a retriever",
        ),
        pytest.param(
            'floors: {ndcg: 0.5}, slices: {"locale=pt-BR": {ndcg: 0.4, min_n: 7}}',
            3,
            (
                "inconclusive",
                "locale=pt-BR: n 6 is below min_n 7, so the floor 0.4 says nothing: observed 0.5000, n 6, 95% interval "
                "0.1876 to 0.8124",
            ),
            id="on too few cases",
        ),
    ],
)
def test_a_floor_that_does_not_hold_is_named_with_its_slice(judged, project, floors, code, finding):
    project.baseline.unlink()
    project.reverse_runs()
    project.configure(f"gate: {{{floors}}}\n")
    ran = judged()
    assert ran.code == code, ran.err
    status, lines = found(project, "ndcg_floor")
    assert (status, *lines) == finding
    assert f"words: ndcg_floor: {finding[1]}" in ran.out


def test_floors_that_hold_in_their_slices_pass(judged, project):
    project.baseline.unlink()
    project.configure('gate: {floors: {hit: 1.0, min_n: 50}, slices: {"locale=pt-BR": {ndcg: 1.0, min_n: 6}}}\n')
    ran = judged()
    assert ran.code == 0, ran.out
    assert (status_of(project, "hit_floor"), status_of(project, "ndcg_floor")) == ("passed", "passed")


# Runs of the graph


def test_a_regression_fails_the_run_and_leaves_the_report_with_verdict_and_lost_cases(graph, project):
    project.swap("en", 3, 10)
    result = graph.sweep()["sweep_report"]
    assert not result.success
    assert materialized(result) == {"slice_scores", "recall_report", "gate_verdict"}
    failed = {check.check_name for check in result.get_asset_check_evaluations() if not check.passed}
    assert failed == {"no_regression"}
    (event,) = result.asset_materializations_for_node("recall_report")
    assert event.metadata["verdict"].value == "fail"
    assert "- en-03b: #1 -> MISS, now first: Leaflet 10\n" in event.metadata["report"].value
    assert project.report()["verdict"] == "fail"
    moved = project.report()["retrievers"]["words"]["baseline"]["lost"]
    assert [move["case_id"] for move in moved] == ["en-03", "en-03b", "en-03c", "en-10", "en-10b", "en-10c"]


def test_the_verdict_materialized_alone_fails_on_the_same_regression(graph, project):
    graph.sweep()
    project.reverse_runs()
    # The means are those of the stored slices still; the pairs are those of the stored scores.
    result = graph.materialize("sweep_report", "gate_verdict")
    assert not result.success
    assert materialized(result) == {"gate_verdict"}
    check = checks(result)["no_regression"]
    assert (check.passed, check.blocking, check.severity) == (False, True, dg.AssetCheckSeverity.ERROR)
    (overall,) = [row.data for row in check.metadata["results"].records if row.data["slice"] == "overall"]
    assert (overall["retriever"], overall["status"], overall["n"]) == ("words", "failed", 50)
    assert overall["detail"].startswith("regressed: nDCG@3 1.0000 -> 0.5387 (50 fell, 0 rose of 50; ")
