import dataclasses

import pytest

from recall_assets.records import Card, Case, Origin, Retrieved


@pytest.mark.parametrize(
    ("retrieved", "card_id"),
    [
        pytest.param(Retrieved("pix@pt-BR#0", "pix"), "pix", id="parent id where present"),
        pytest.param(Retrieved("pix"), "pix", id="chunk id where there is no parent"),
        pytest.param(Retrieved("pix@pt-BR#0"), "pix@pt-BR#0", id="the chunk id is not taken apart"),
        pytest.param(Retrieved("pix", ""), "pix", id="an empty parent id is none"),
    ],
)
def test_the_card_of_a_result_is_its_parent_or_else_itself(retrieved, card_id):
    assert retrieved.card_id == card_id


@pytest.mark.parametrize("case_type", ["golden", "adversarial", "capability", "no_match", "of_our_own"])
def test_the_label_and_not_the_case_type_decides_whether_a_case_is_gold_bearing(case_type):
    assert Case("c", "en", case_type, "query", ("card",)).gold_bearing
    assert not Case("c", "en", case_type, "query", ()).gold_bearing
    assert not Case("c", "en", case_type, "query", (), relevant_ids=("card",)).gold_bearing


def test_where_a_record_was_read_does_not_make_it_another_record():
    assert str(Origin("cases/en.yaml", 41)) == "cases/en.yaml:41"
    case = Case("c", "en", "golden", "query", ("card",))
    assert dataclasses.replace(case, origin=Origin("cases/en.yaml", 41)) == case
    card = Card("card", "en", "Title", "text")
    assert dataclasses.replace(card, origin=Origin("kb/en/card.md", 1)) == card
