from dataclasses import replace

import pytest

from recall_assets.records import Case, Origin
from recall_assets.snapshot import label_of

CASE = Case("c1", "en", "golden", "how do I pay", ("pay", "card"), ("pay", "card", "fees"), ("slow",))


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"query": "how do I pay?"}, id="query"),
        pytest.param({"locale": "pt-BR"}, id="locale"),
        pytest.param({"must_cite_one_of": ("pay",)}, id="gold removed"),
        pytest.param({"must_cite_one_of": ("pay", "card", "fees")}, id="gold added"),
        pytest.param({"relevant_ids": None}, id="no relevant ids"),
        pytest.param({"relevant_ids": ("pay", "card")}, id="relevant id removed"),
    ],
)
def test_a_label_changes_with_whatever_a_score_depends_on(change):
    assert label_of(replace(CASE, **change)) != label_of(CASE)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"case_id": "c2"}, id="id"),
        pytest.param({"case_type": "adversarial"}, id="case type"),
        pytest.param({"tags": ("critical",)}, id="tags"),
        pytest.param({"origin": Origin("cases.yaml", 7)}, id="place in a file"),
        pytest.param({"must_cite_one_of": ("card", "pay")}, id="order of the gold"),
        pytest.param({"relevant_ids": ("fees", "card", "pay")}, id="order of the relevant ids"),
    ],
)
def test_a_label_does_not_change_with_anything_else(change):
    assert label_of(replace(CASE, **change)) == label_of(CASE)


def test_moving_an_id_from_gold_to_relevant_is_another_label():
    one = replace(CASE, must_cite_one_of=("a", "b"), relevant_ids=("c",))
    other = replace(CASE, must_cite_one_of=("a",), relevant_ids=("b", "c"))
    assert label_of(one) != label_of(other)


def test_a_label_is_the_start_of_the_digest_of_its_canonical_json():
    # sha256 of {"gold":["ação"],"locale":"pt-BR","query":"o que é?","relevant":null} in UTF-8.
    case = Case("c1", "pt-BR", "golden", "o que é?", ("ação",))
    assert label_of(case) == "591d121170ae92e7"
