from recall_assets.coverage import coverage_table, uncovered_cases
from recall_assets.records import Card, Case
from recall_assets.schemas import cards_frame, cases_frame

CARDS = cards_frame(
    [
        Card("both", "en", "Both", "text"),
        Card("both", "pt-BR", "Both", "text"),
        Card("english", "en", "English", "text"),
        Card("faded", "en", "Faded", "text"),
        Card("faded", "pt-BR", "Faded", "text", retired=True),
    ]
)


def case(case_id, locale, gold, case_type="golden"):
    return Case(case_id, locale, case_type, "query", tuple(gold))


def uncovered(*cases):
    return uncovered_cases(cases_frame(cases), CARDS)


def test_a_case_with_a_gold_text_in_its_locale_is_covered():
    assert uncovered(case("c1", "pt-BR", ["both"]), case("c2", "en", ["english"])) == []


def test_one_of_several_gold_cards_with_a_text_in_the_locale_is_enough():
    assert uncovered(case("c1", "pt-BR", ["english", "both"])) == []


def test_a_case_none_of_whose_gold_cards_has_a_text_in_its_locale_is_not_covered():
    assert uncovered(case("c2", "pt-BR", ["english"]), case("c1", "de", ["both", "english"])) == [
        ("c2", "pt-BR", ["english"]),
        ("c1", "de", ["both", "english"]),
    ]


def test_a_retired_text_covers_nothing():
    assert uncovered(case("c1", "pt-BR", ["faded"])) == [("c1", "pt-BR", ["faded"])]


def test_a_related_locale_covers_nothing():
    assert uncovered(case("c1", "pt", ["both"])) == [("c1", "pt", ["both"])]


def test_a_case_without_gold_needs_no_cover():
    assert uncovered(case("c1", "de", [])) == []


def test_the_table_counts_cases_per_locale_and_case_type_with_gold_and_without():
    cases = [
        case("c1", "pt-BR", ["both"]),
        case("c2", "en", ["both"], "adversarial"),
        case("c3", "en", [], "adversarial"),
        case("c4", "en", ["english"]),
        case("c5", "en", ["both"]),
    ]
    assert coverage_table(cases_frame(cases)) == (
        "| locale | case type | with gold | without gold |\n"
        "| --- | ---: | ---: | ---: |\n"
        "| en | adversarial | 1 | 1 |\n"
        "| en | golden | 2 | 0 |\n"
        "| pt-BR | golden | 1 | 0 |"
    )
