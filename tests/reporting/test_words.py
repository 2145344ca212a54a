import pytest

from recall_assets.intervals import Interval
from recall_assets.reporting import words


@pytest.mark.parametrize(
    ("value", "text"),
    [(2 / 3, "0.667"), (0.0004, "0.000"), (0.0006, "0.001"), (1.0, "1.000"), (0.0, "0.000"), (None, "-")],
)
def test_a_score_has_three_decimals_and_none_is_a_dash(value, text):
    assert words.figure(value) == text


def test_an_interval_has_two_decimals_and_none_is_a_dash():
    assert words.interval(Interval(0.20766, 0.93851)) == "0.21-0.94"
    assert words.interval(None) == "-"


def test_a_row_is_slice_n_hit_its_interval_recall_and_ndcg(report):
    overall, _, all_missing, _ = report.retrievers[0].slices
    assert words.slice_row(overall) == ("overall", "3", "0.667", "0.21-0.94", "0.500", "0.613")
    assert words.slice_row(all_missing) == ("locale=pt-BR", "0", "-", "-", "-", "-")


def test_the_headings_name_the_cutoff():
    assert words.headings(10) == ("slice", "n", "hit@10", "95% CI", "recall@10", "nDCG@10")


def test_the_ledger_of_the_overall_slice_in_a_sentence(report):
    assert words.ledger_sentence(report.retrievers[0], 5) == (
        "7 cases, 5 with gold, 3 scored; results: 1 empty, 2 missing, 2 short (fewer than 5 cards); "
        "4 duplicates dropped."
    )
