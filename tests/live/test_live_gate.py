"""The shipped knowledge base through the real assets: real embedders, a temporary Chroma, the shipped recall.yaml."""

import polars as pl
import pytest

from recall_assets.config import Storage
from recall_assets.config_file import load_settings
from recall_assets.gate import Status, Verdict
from recall_assets.progress import Quiet
from recall_assets.resources.vector_store import VectorStore
from recall_assets.sweep import run_sweep
from tests.conftest import ROOT

# Observed hit@5 and the floor, with the cases that may be lost before the floor is missed. The slack of five cases in
# some 88 is for other versions of the libraries and for labels that are corrected; a broken chunking, prompt, locale
# filter or index costs far more.
FLOORS = [
    ("dense-en", "en", 0.77),  # observed 72 of 87: 0.828, slack 0.058 (5 cases)
    ("dense-en", "es-419", 0.36),  # observed 37 of 88: 0.420, slack 0.060 (5 cases)
    ("dense-en", "pt-BR", 0.41),  # observed 41 of 87: 0.471, slack 0.061 (5 cases)
    ("dense-multi", "en", 0.77),  # observed 72 of 87: 0.828, slack 0.058 (5 cases)
    ("dense-multi", "es-419", 0.73),  # observed 70 of 88: 0.795, slack 0.065 (5 cases)
    ("dense-multi", "pt-BR", 0.70),  # observed 66 of 87: 0.759, slack 0.059 (5 cases)
]
CHECKS = [
    "cards_valid",
    "cases_valid",
    "gold_ids_resolve",
    "locale_coverage",
    "collection_complete",
    "every_case_retrieved",
    "index_matches_exact",
    "every_retriever_scored",
]
FLOOR_RULES = ["hit_floor", "recall_floor", "ndcg_floor"]


@pytest.fixture(scope="module")
def storage(tmp_path_factory):
    return tmp_path_factory.mktemp("state")


@pytest.fixture(scope="module")
def result(storage):
    settings = load_settings(ROOT / "recall.yaml")
    return run_sweep(settings.model_copy(update={"storage": Storage(path=storage)}), progress=Quiet())


def slices(result, retriever):
    """Slice name to slice, of one retriever."""
    (report,) = (report for report in result.report.retrievers if report.name == retriever)
    return {score.slice: score for score in report.slices}


@pytest.mark.parametrize(("retriever", "locale", "floor"), FLOORS)
def test_hit_at_5_is_above_the_floor_of_its_locale(result, retriever, locale, floor):
    assert result.report.top_k == 5
    assert slices(result, retriever)[f"locale={locale}"].means.retrieval_hit_at_k >= floor


@pytest.mark.parametrize("retriever", ["dense-en", "dense-multi"])
def test_the_case_set_is_too_hard_for_any_retriever_to_be_always_right(result, retriever):
    wholes = [score for name, score in slices(result, retriever).items() if "case_type" not in name]
    assert [score.slice for score in wholes] == ["overall", "locale=en", "locale=es-419", "locale=pt-BR"]
    assert {score.slice: score.means for score in wholes if max(score.means) >= 1.0} == {}


def test_the_pooled_figure_hides_that_the_english_embedder_does_not_carry_the_other_locales(result):
    by_slice = slices(result, "dense-en")
    hits = {name: by_slice[name].means.retrieval_hit_at_k for name in ("overall", "locale=en", "locale=es-419")}
    # Observed 0.573, 0.828 and 0.420: the pooled figure is 0.25 off for the one and 0.15 for the other.
    assert hits["locale=en"] - 0.15 > hits["overall"] > hits["locale=es-419"] + 0.05


def test_every_check_passes_and_only_the_floors_are_inactive(result):
    for report in result.report.retrievers:
        statuses = {check.name: check.status for check in report.checks}
        # With other versions of the libraries a case or two may change, which is too few to tell.
        assert statuses.pop("no_regression") in (Status.PASSED, Status.UNTESTED)
        assert statuses == dict.fromkeys(CHECKS, Status.PASSED) | dict.fromkeys(FLOOR_RULES, Status.INACTIVE)
        assert all(check.passed for check in report.checks)
    assert result.report.verdict is Verdict.PASS
    assert result.errors == []


def test_the_committed_baselines_are_of_the_shipped_knowledge_base_cases_and_configuration(result):
    for report in result.report.retrievers:
        comparison = report.comparison
        assert (comparison.not_comparable, comparison.baseline.retriever) == (None, report.name)
        assert (comparison.pairing.added, comparison.pairing.removed, comparison.pairing.relabelled) == ([], [], [])
        assert len(comparison.pairing.pairs) == report.overall.n
        # The weights are a package's, which another version of it may change.
        assert set(comparison.changed) <= {"embedder"}


@pytest.mark.parametrize("retriever", ["dense-en", "dense-multi"])
def test_every_case_is_accounted_for_and_finds_five_cards(result, retriever):
    overall = slices(result, retriever)["overall"]
    ledger = overall.ledger
    assert ledger.scored == ledger.gold_bearing == overall.n
    assert ledger.cases - ledger.gold_bearing >= 3 * 25  # the least: 5 adversarial, 10 capability, 10 no_match
    assert (ledger.empty_result, ledger.missing, ledger.short_result) == (0, 0, 0)


def test_every_text_of_the_knowledge_base_is_in_the_temporary_chroma_under_each_embedder(result, storage):
    texts = {f"{path.stem}@{path.parent.name}" for path in (ROOT / "kb").glob("*/*.md")}
    collections = pl.read_parquet(storage / "frames" / "kb_collection" / "*.parquet")
    assert sorted(collections["embedder"]) == ["minilm", "use-multi"]
    store = VectorStore(Storage(path=storage))
    for name, count in collections.select("collection", "count").iter_rows():
        chunk_ids = store.chunk_ids(name)
        assert {chunk_id.rpartition("#")[0] for chunk_id in chunk_ids} == texts
        assert len(chunk_ids) == count > len(texts)


def test_the_report_is_in_the_storage_folder(result, storage):
    assert result.stored_at.is_relative_to(storage / "reports")
    assert result.stored_at.read_text(encoding="utf-8").count("dense-multi") > 0
