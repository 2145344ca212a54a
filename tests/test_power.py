from dataclasses import replace

import pytest

from recall_assets.baseline import write_baseline
from recall_assets.pairing import pair
from recall_assets.power import SlicePower, power
from recall_assets.records import Case
from recall_assets.regression import Finding, regression_tests
from recall_assets.snapshot import label_of
from tests.baselines import baseline, scored

CASES = [
    *(Case(f"en-{n}", "en", "golden", f"query {n}", ("a",)) for n in range(10)),
    *(Case(f"pt-{n}", "pt-BR", "golden", f"pergunta {n}", ("a",)) for n in range(4)),
    *(Case(f"none-{n}", "en", "no_match", f"nothing {n}", ()) for n in range(5)),
]


def seen(**arguments):
    """The rate d at which P(Binomial(n, d) >= needed) is 0.8, by bisection."""
    from scipy.stats import binom

    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        too_few = binom.sf(arguments["needed"] - 1, arguments["n"], middle) < 0.8
        low, high = (middle, high) if too_few else (low, middle)
    return pytest.approx(low, rel=1e-6)


def committed(settings, cases, **changed):
    """Commits a baseline of these cases, labelled as they are unless said otherwise."""
    some = [
        scored(case.case_id, 1, locale=case.locale, label=changed.get(case.case_id, label_of(case))) for case in cases
    ]
    write_baseline(settings.baselines, baseline(some))


@pytest.fixture
def settings(make_settings, tmp_path):
    return make_settings(baselines=tmp_path / "baselines")


def test_without_a_baseline_every_case_with_gold_is_taken_to_be_compared(settings):
    result = power(settings, CASES)
    assert result.without_baseline == ("words",)
    assert {one.slice: one.n for one in result.retrievers["words"]} == {
        "overall": 14,
        "case_type=golden": 14,
        "locale=en": 10,
        "locale=pt-BR": 4,
        "case_type=golden,locale=en": 10,
        "case_type=golden,locale=pt-BR": 4,
    }


def test_slices_are_listed_from_the_widest_to_the_narrowest(settings):
    assert [one.slice for one in power(settings, CASES[::-1]).retrievers["words"]] == [
        "overall",
        "case_type=golden",
        "locale=en",
        "locale=pt-BR",
        "case_type=golden,locale=en",
        "case_type=golden,locale=pt-BR",
    ]


def test_six_lost_are_needed_at_alpha_one_in_twenty_because_they_are_up_to_three_tests(settings):
    # 0.5 ** 6 = 0.0156 is the first below 0.05 / 3 = 0.0167: hit, recall and nDCG of the same losses.
    overall, *_, least = power(settings, CASES).retrievers["words"]
    assert overall == SlicePower("overall", 14, 6, 6 / 14, seen(n=14, needed=6))
    # Four cases cannot show anything, even if all of them are lost.
    assert least == SlicePower("case_type=golden,locale=pt-BR", 4, 6, None, None)


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_as_many_lost_as_are_said_to_be_needed_are_a_regression_wherever_they_stood(settings, rank):
    needed = power(settings, CASES).needed
    before = [scored(f"c{n}", rank) for n in range(20)]
    after = [scored(f"c{n}", None if n < needed else rank) for n in range(20)]
    (tests,) = regression_tests({"r": pair(before, after).pairs}, settings.gate.regression).values()
    assert tests[0].finding is Finding.REGRESSED


def test_what_keeps_a_comparison_from_being_made_is_said(make_settings, tmp_path):
    settings = make_settings(top_k=10, baselines=tmp_path / "b", gate={"regression": {"compare": False}})
    committed(settings, CASES[:10])
    assert power(settings, CASES).notes == (
        "Nothing will be compared: gate.regression.compare is false.",
        "words will not be compared: its baseline is at k = 5, not 10.",
    )


def test_all_slices_metrics_and_retrievers_share_alpha_at_worst(make_settings, tmp_path):
    retriever = {"kind": "dense", "embedder": "bag"}
    one = power(make_settings(baselines=tmp_path / "none"), CASES)
    # 6 slices of 3 metrics; 0.5 ** 9 = 0.00195 is the first below 0.05 / 18 = 0.00278.
    assert (one.alpha, one.needed, one.tests, one.needed_at_worst) == (0.05, 6, 18, 9)
    two = power(make_settings(baselines=tmp_path / "none", retrievers={"x": retriever, "y": retriever}), CASES)
    # 0.5 ** 10 = 0.00098 is the first below 0.05 / 36 = 0.00139.
    assert (two.tests, two.needed_at_worst, list(two.retrievers)) == (36, 10, ["x", "y"])


def test_a_smaller_alpha_needs_more_lost_cases(make_settings, tmp_path):
    result = power(make_settings(baselines=tmp_path, gate={"regression": {"alpha": 0.01}}), CASES)
    assert (result.alpha, result.needed) == (0.01, 9)
    assert result.retrievers["words"][0].smallest_drop == 9 / 14


def test_only_cases_that_are_the_same_in_the_baseline_count(settings):
    committed(settings, CASES[:9], **{"en-0": "asked in other words"})
    result = power(settings, CASES)
    assert result.without_baseline == ()
    # en-0 was relabelled, en-9 and the Portuguese ones are new.
    assert {one.slice: one.n for one in result.retrievers["words"]} == {
        "overall": 8,
        "case_type=golden": 8,
        "locale=en": 8,
        "case_type=golden,locale=en": 8,
    }
    assert result.tests == 12


def test_a_baseline_that_cannot_be_read_is_as_good_as_none(settings):
    settings.baselines.mkdir()
    (settings.baselines / "words.json").write_text("{}")
    assert power(settings, CASES).without_baseline == ("words",)


def test_without_a_case_with_gold_there_is_no_slice_and_no_test(settings):
    result = power(settings, CASES[-5:])
    assert (result.retrievers, result.tests, result.needed_at_worst) == ({"words": []}, 0, 5)


def test_the_type_and_the_tags_of_now_decide_the_slice(settings):
    committed(settings, CASES[:10])
    retyped = [replace(case, case_type="adversarial", tags=("critical",)) for case in CASES[:10]]
    assert [one.slice for one in power(settings, retyped).retrievers["words"]][1] == "case_type=adversarial"
