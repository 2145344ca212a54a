import json

import pytest

from recall_assets.power import Power, SlicePower
from recall_assets.reporting.power_form import power_json, print_power

POWER = Power(
    alpha=0.05,
    needed=5,
    tests=12,
    needed_at_worst=8,
    retrievers={
        "words": [SlicePower("overall", 14, 5, 5 / 14, 0.4567), SlicePower("locale=pt-BR", 4, 5, None, None)],
        "letters": [SlicePower("overall", 2000, 5, 0.0025, 0.00336)],
    },
    without_baseline=("letters",),
    notes=("words will not be compared: its baseline is at k = 5, not 10.",),
)


@pytest.fixture(autouse=True)
def on_a_pipe(monkeypatch):
    """Output has the width it has on a pipe, whatever terminal the tests are run from."""
    for variable in ("COLUMNS", "FORCE_COLOR"):
        monkeypatch.delenv(variable, raising=False)


def test_power_is_printed_with_a_table_a_retriever_and_how_to_read_it(capsys):
    print_power(POWER)
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert [line for line in lines if line and not set(line) <= {"─", "-", " "}] == [
        "words: what the gate could see",
        "slice n lost cases as a drop 4 in 5",
        "overall 14 5 0.357 0.457",
        "locale=pt-BR 4 too few - -",
        "letters: what the gate could see (no baseline yet, so nothing is compared)",
        "slice n lost cases as a drop 4 in 5",
        "overall 2000 5 0.003 0.003",
        "words will not be compared: its baseline is at k = 5, not 10.",
        "lost cases: the fewest lost, with none gained, that are a regression where nothing else changes, at",
        "alpha 0.05; as a drop: of hit@k; 4 in 5: the true drop that is shown four times in five.",
        "All 12 tests of a sweep share alpha. Tests that could come out cost the others: where all of them",
        "could, 8 lost cases are needed instead of 5.",
    ]


def test_power_is_printed_within_the_width_of_a_pipe(capsys):
    print_power(POWER)
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 100


def test_json_of_power_is_every_figure_at_full_precision():
    assert json.loads(json.dumps(power_json(POWER))) == {
        "alpha": 0.05,
        "needed": 5,
        "tests": 12,
        "needed_at_worst": 8,
        "retrievers": {
            "words": [
                {"slice": "overall", "n": 14, "needed": 5, "smallest_drop": 5 / 14, "seen_drop": 0.4567},
                {"slice": "locale=pt-BR", "n": 4, "needed": 5, "smallest_drop": None, "seen_drop": None},
            ],
            "letters": [{"slice": "overall", "n": 2000, "needed": 5, "smallest_drop": 0.0025, "seen_drop": 0.00336}],
        },
        "without_baseline": ["letters"],
        "notes": ["words will not be compared: its baseline is at k = 5, not 10."],
    }
