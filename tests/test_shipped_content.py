import re
import unicodedata
from collections import Counter, defaultdict

import pytest

from recall_assets.inputs import read_inputs
from recall_assets.sources.cards import read_cards
from recall_assets.sources.cases import read_cases
from tests.conftest import ROOT

LOCALES = ["en", "es-419", "pt-BR"]

# Function words of three letters and more. Whatever is not here counts as content, so a short list is the strict one.
STOP_WORDS = {
    "en": """all and any are been but can cant could did does dont for from get got had has have her him his how its
        just may not now off our out over she should that the their them then there these they this too was were what
        when where which while who why will with would you your""",
    "es-419": """algo alla ante aqui aun cada como con cual cuando cuanto cuyo del desde donde ella ellos entre era esa
        ese eso esta estan estas este esto estos fue han hasta hay las les los mas mis muy nos para pero por porque que
        quien sea ser sin sobre son soy sus tambien tan tengo tiene todo tus una uno unos""",
    "pt-BR": """ainda algo ante aos aquela aquele aqui ate cada com como cuja cujo das dela dele depois desde dos ela
        ele eles entre era essa esse esta estao estas este estou foi for isso isto lhe mais mas meu mesmo meus minha
        muito nao nas nem nos num numa para pela pelo pois por porque pra qual quando quanto que quem sao sem ser seu
        seus sob sobre sua suas tambem tem tenho todo tudo uma uns voce""",
}


@pytest.fixture(scope="module")
def cards():
    """Locale to card id to card."""
    by_locale = defaultdict(dict)
    read, problems = read_cards(ROOT / "kb")
    assert problems == []
    for card in read:
        by_locale[card.locale][card.card_id] = card
    return by_locale


@pytest.fixture(scope="module")
def cases():
    """Locale to its cases."""
    by_locale = defaultdict(list)
    read, problems = read_cases(ROOT / "cases")
    assert problems == []
    for case in read:
        by_locale[case.locale].append(case)
    return by_locale


def golden(cases, locale):
    return [case for case in cases[locale] if case.case_type == "golden"]


def folded(text):
    """Without case and without accents."""
    decomposed = unicodedata.normalize("NFD", text.casefold())
    return "".join(character for character in decomposed if not unicodedata.combining(character))


def stems(text, locale):
    """The content words of a text, each cut to its first five letters."""
    words = re.findall(r"[a-z]{3,}", folded(text))
    return {word[:5] for word in words if word not in STOP_WORDS[locale].split()}


def words_in(text):
    """Words and numbers; Markdown's own marks are neither."""
    return len(re.findall(r"\w+(?:[.,:'-]\w+)*", text))


def test_the_shipped_knowledge_base_and_case_set_are_valid_together():
    inputs = read_inputs(ROOT / "kb", ROOT / "cases")
    assert len(inputs.cards) == 3 * 38


def test_the_same_38_cards_stand_in_each_of_the_three_locales(cards):
    assert sorted(cards) == LOCALES
    assert len(cards["en"]) == 38
    assert set(cards["en"]) == set(cards["es-419"]) == set(cards["pt-BR"])
    assert not any(card.retired for locale in LOCALES for card in cards[locale].values())


@pytest.mark.parametrize("locale", LOCALES)
def test_cards_have_80_to_250_words_and_at_least_six_have_400_or_more(cards, locale):
    lengths = {card_id: words_in(card.text) for card_id, card in cards[locale].items()}
    long = [card_id for card_id, length in lengths.items() if length >= 400]
    assert len(long) >= 6
    assert {card_id: n for card_id, n in lengths.items() if card_id not in long and not 80 <= n <= 250} == {}


@pytest.mark.parametrize(
    ("locale", "rails"),
    [("en", ["ACH", "FedNow", "IRS"]), ("es-419", ["SPEI", "PSE", "CVU", "CCI"]), ("pt-BR", ["Pix", "TED", "CPF"])],
)
def test_cards_speak_of_the_rails_and_papers_of_their_own_region(cards, locale, rails):
    mentioned = {word for card in cards[locale].values() for word in re.findall(r"\w+", card.text)}
    assert set(rails) <= mentioned


def test_no_text_stands_in_two_locales(cards):
    everything = [part for locale in LOCALES for card in cards[locale].values() for part in (card.title, card.text)]
    assert len(set(everything)) == len(everything)


@pytest.mark.parametrize("locale", LOCALES)
def test_each_locale_has_enough_cases_of_each_type_with_and_without_gold(cases, locale):
    counts = Counter((case.case_type, case.gold_bearing) for case in cases[locale])
    least = {
        ("golden", True): 60,
        ("adversarial", True): 15,
        ("adversarial", False): 5,
        ("capability", False): 10,
        ("no_match", False): 10,
    }
    assert set(counts) == set(least)
    assert {kind: counts[kind] for kind, n in least.items() if counts[kind] < n} == {}


@pytest.mark.parametrize("locale", LOCALES)
def test_a_quarter_of_the_golden_cases_have_two_or_three_golds_and_none_has_more(cases, locale):
    golds = [len(set(case.must_cite_one_of)) for case in golden(cases, locale)]
    assert max(golds) <= 3
    assert sum(n >= 2 for n in golds) >= len(golds) / 4


@pytest.mark.parametrize("locale", LOCALES)
def test_every_card_is_gold_in_a_golden_case(cards, cases, locale):
    assert set(cards[locale]) == {card_id for case in golden(cases, locale) for card_id in case.must_cite_one_of}


@pytest.mark.parametrize("locale", LOCALES)
def test_a_third_of_the_golden_queries_share_no_content_word_with_the_title_of_any_gold(cards, cases, locale):
    def shared(case):
        titles = " ".join(cards[locale][card_id].title for card_id in case.must_cite_one_of)
        return stems(case.query, locale) & stems(titles, locale)

    unlike = [case.case_id for case in golden(cases, locale) if not shared(case)]
    assert len(unlike) >= len(golden(cases, locale)) / 3


def test_a_shared_content_word_is_seen_through_case_accents_and_endings():
    assert stems("Transferências?", "pt-BR") & stems("minha transferencia", "pt-BR") == {"trans"}
    assert stems("The CARDS of this", "en") == {"cards"}


@pytest.mark.parametrize("locale", LOCALES)
def test_queries_are_as_people_type_them_from_keywords_to_stories(cases, locale):
    lengths = [len(case.query.split()) for case in cases[locale] if case.gold_bearing]
    assert sum(n <= 3 for n in lengths) >= 3
    assert sum(n >= 40 for n in lengths) >= 3


def test_no_query_stands_twice_in_one_locale_or_in_two(cases):
    places = defaultdict(list)
    for locale in LOCALES:
        for case in cases[locale]:
            places[" ".join(re.findall(r"\w+", folded(case.query)))].append(case.case_id)
    assert {query: ids for query, ids in places.items() if len(ids) > 1} == {}
