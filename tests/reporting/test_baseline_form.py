from pathlib import Path

import pytest
import yaml

from recall_assets.baseline import Baseline
from recall_assets.config import Settings
from recall_assets.latest import Promotion
from recall_assets.reporting.baseline_form import (
    baseline_json,
    floors_json,
    floors_yaml,
    print_baseline,
    promotion_json,
    promotion_lines,
)
from tests.baselines import baseline, scored

TINY = baseline(
    [
        scored("en-1", 3, critical=True),
        scored("en-2", None),
        scored("pt-1", 1, locale="pt-BR"),
        scored("pt-2", 1, locale="pt-BR", case_type="adversarial"),
    ]
)
OLDER = baseline(
    [scored("en-1", None), scored("en-2", 1), scored("pt-1", 1, locale="pt-BR")], date="2025-12-01T00:00:00Z"
)
# Lower Wilson ends: 3 of 4 0.30064, 2.5 of 4 0.21943, 1 of 1 0.20655, 2 of 3 0.20766, 1.5 of 3 0.12533, 1 of 2 0.09453,
# 0.5 of 2 0.02668, 2 of 2 0.34238.


@pytest.fixture(autouse=True)
def on_a_pipe(monkeypatch):
    """Output has the width it has on a pipe, whatever terminal the tests are run from."""
    for variable in ("COLUMNS", "FORCE_COLOR"):
        monkeypatch.delenv(variable, raising=False)


def test_json_of_a_baseline_is_its_head_and_the_means_of_its_slices():
    shown = baseline_json(TINY)
    slices = shown.pop("slices")
    assert shown == {
        "date": "2026-01-02T03:04:05Z",
        "top_k": 5,
        "fingerprints": {
            "knowledge_base": "kb-1",
            "case_labels": "labels-1",
            "retriever": "retriever-1",
            "embedder": "embedder-1",
        },
        "cases": 4,
        "critical_cases": ["en-1"],
    }
    assert slices[0] == {
        "slice": "overall",
        "n": 4,
        "retrieval_hit_at_k": 0.75,
        "retrieval_recall_at_k": 0.75,
        "retrieval_ndcg_at_k": 0.625,
    }
    assert [(one["slice"], one["n"]) for one in slices[1:]] == [
        ("case_type=adversarial", 1),
        ("case_type=golden", 3),
        ("locale=en", 2),
        ("locale=pt-BR", 2),
        ("case_type=adversarial,locale=pt-BR", 1),
        ("case_type=golden,locale=en", 2),
        ("case_type=golden,locale=pt-BR", 1),
    ]


def test_json_of_a_baseline_without_a_case_has_no_slice():
    assert (baseline_json(baseline([]))["cases"], baseline_json(baseline([]))["slices"]) == (0, [])


def test_a_baseline_is_printed_with_its_head_and_its_slices(capsys):
    print_baseline(TINY)
    lines = capsys.readouterr().out.splitlines()
    assert lines[:6] == [
        "Baseline of words",
        "measured 2026-01-02T03:04:05Z, k = 5, 4 cases, 1 critical",
        "knowledge base: kb-1",
        "case labels: labels-1",
        "retriever: retriever-1",
        "embedder: embedder-1",
    ]
    assert lines[6].split() == ["slice", "n", "hit@5", "95%", "CI", "recall@5", "nDCG@5"]
    assert lines[8].split() == ["overall", "4", "0.750", "0.30-0.95", "0.750", "0.625"]


def test_a_first_promotion_says_what_it_holds():
    assert promotion_lines([Promotion(None, TINY)], Path("baselines")) == [
        "baselines/words.json: 4 cases, hit@5 0.750, measured 2026-01-02T03:04:05Z"
    ]
    assert promotion_json(Promotion(None, TINY)) == {
        "date": "2026-01-02T03:04:05Z",
        "top_k": 5,
        "cases": 4,
        "replaced": None,
        "lost": [],
        "gained": [],
    }


def test_a_promotion_over_another_baseline_says_what_was_lost_and_gained():
    assert promotion_lines([Promotion(OLDER, TINY)], Path("baselines")) == [
        "baselines/words.json: 4 cases, hit@5 0.750, measured 2026-01-02T03:04:05Z; 1 lost and 1 gained since "
        "2025-12-01T00:00:00Z"
    ]
    shown = promotion_json(Promotion(OLDER, TINY))
    assert (shown["replaced"], shown["lost"], shown["gained"]) == ("2025-12-01T00:00:00Z", ["en-2"], ["en-1"])


def test_suggested_floors_as_yaml_stand_beside_what_they_come_from():
    assert floors_yaml([TINY]) == "\n".join(
        [
            "# Observed mean less its slack: the lower end of the 95% Wilson interval, rounded down.",
            "gate:",
            "  retrievers:",
            "    words:  # measured 2026-01-02T03:04:05Z, k = 5",
            "      floors: {hit: 0.300, recall: 0.300, ndcg: 0.219}  # observed 0.750, 0.750, 0.625; n 4",
            "      slices:",
            "        case_type=adversarial: {hit: 0.206, recall: 0.206, ndcg: 0.206}"
            "  # observed 1.000, 1.000, 1.000; n 1",
            "        case_type=golden: {hit: 0.207, recall: 0.207, ndcg: 0.125}  # observed 0.667, 0.667, 0.500; n 3",
            "        locale=en: {hit: 0.094, recall: 0.094, ndcg: 0.026}  # observed 0.500, 0.500, 0.250; n 2",
            "        locale=pt-BR: {hit: 0.342, recall: 0.342, ndcg: 0.342}  # observed 1.000, 1.000, 1.000; n 2",
        ]
    )


def test_suggested_floors_as_json_are_by_retriever_and_slice_with_what_they_come_from():
    overall = floors_json([TINY])["words"]["overall"]
    assert overall == {
        "n": 4,
        "observed": {"hit": 0.75, "recall": 0.75, "ndcg": 0.625},
        "floors": {"hit": 0.3, "recall": 0.3, "ndcg": 0.219},
    }
    assert list(floors_json([TINY])["words"]) == [
        "overall",
        "case_type=adversarial",
        "case_type=golden",
        "locale=en",
        "locale=pt-BR",
    ]


@pytest.mark.parametrize("name", ["words", "yes", "null", "007", "1e3", "dense-en.v2", "0x1F", "2026-01-02", "off"])
@pytest.mark.parametrize("case_type", ["golden", "a: b", "it's", "#1", "{x}", "preço", "two words", "a" * 200])
def test_suggested_floors_can_be_pasted_whatever_the_names(name, case_type):
    one = baseline([scored("c1", 1, case_type=case_type), scored("c2", None, case_type=case_type)], name)
    gate = Settings.model_validate(yaml.safe_load(floors_yaml([one]))).gate
    floors = gate.retrievers[name]
    assert (floors.floors.hit, floors.slices[f"case_type={case_type}"].hit) == (0.094, 0.094)


def test_floors_of_several_baselines_are_one_document():
    other = Baseline("letters", TINY.date, 5, TINY.fingerprints, TINY.cases[:1])
    pasted = yaml.safe_load(floors_yaml([TINY, other]))
    assert list(pasted["gate"]["retrievers"]) == ["words", "letters"]


def test_a_baseline_without_a_case_makes_a_document_that_can_be_pasted():
    pasted = yaml.safe_load(floors_yaml([baseline([])]))
    assert pasted == {"gate": {"retrievers": {"words": {"floors": {"hit": 0.0, "recall": 0.0, "ndcg": 0.0}}}}}
