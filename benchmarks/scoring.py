"""Scoring from Parquet into slices: seconds and peak memory, beside peers on the same data. See README.md here.

Each measurement is a process of its own. This one stays small and imports nothing heavy: on Linux the peak memory of a
process starts at that of the one it came from.
"""

import argparse
import json
import math
import random
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

K = 10
DEPTH = 100
CORPUS = 1_000_000
SEED = 23
TIMES = 5
DATA = Path(__file__).parent / "data"
TYPES = ("adversarial", "golden")
LOCALES = ("en", "es-419", "pt-BR")

Means = dict[str, tuple[float, float, float]]
"""Slice to the means of hit, recall and nDCG."""


def generate(folder: Path, n: int, repeats: float) -> None:
    """Writes `run.parquet` and `cases.parquet` with the columns of the frames `RUN` and `CASES`.

    Args:
        folder: Where to.
        n: How many cases.
        repeats: The chance that a result is another chunk of the card before it.
    """
    import numpy as np
    import polars as pl

    rng = np.random.default_rng(SEED)
    # Even numbers fill the results, without a repeat within one: the multiples of an odd step modulo a power of two.
    step = rng.integers(0, CORPUS // 4, n)[:, None] * 2 + 1
    filling = (rng.integers(0, CORPUS, n)[:, None] + step * np.arange(DEPTH)) % 2**19 * 2
    # Odd numbers are gold: 1 to 3 a case, each found with chance 0.8, more often near the top.
    gold = rng.integers(0, CORPUS // 6, (n, 3)) * 6 + np.array([1, 3, 5])
    golds = rng.integers(1, 4, n)
    for place in range(3):
        found = np.flatnonzero((rng.random(n) < 0.8) & (place < golds))
        filling[found, (DEPTH * rng.random(len(found)) ** 3).astype(int)] = gold[found, place]
    repeated = rng.random((n, DEPTH)) < repeats
    repeated[:, 0] = False
    cards = np.take_along_axis(filling, np.maximum.accumulate(np.where(repeated, 0, np.arange(DEPTH)), axis=1), axis=1)
    scores = rng.random((n, DEPTH)) * 0.009 + np.linspace(1, 0.01, DEPTH)  # strictly falling

    def lists(values: Any, name: str) -> pl.Series:
        return pl.Series(name, values.ravel()).reshape((n, DEPTH)).arr.to_list()

    numbers = pl.LazyFrame({"card": cards.ravel(), "chunk": np.tile(np.arange(DEPTH), n)})
    card = pl.lit("card-") + pl.col("card").cast(pl.String).str.zfill(7)
    flat = numbers.select(card_id=card, chunk_id=card + "@en#" + pl.col("chunk").cast(pl.String)).collect()
    case_id = pl.Series("case_id", range(n)).cast(pl.String).str.zfill(6)
    nothing = pl.Series([None] * n, dtype=pl.List(pl.String))
    folder.mkdir(parents=True, exist_ok=True)
    pl.DataFrame(
        {
            "case_id": case_id,
            "status": ["retrieved"] * n,
            "error": pl.Series([None] * n, dtype=pl.String),
            "chunk_id": lists(flat["chunk_id"].to_numpy(), "chunk_id"),
            "card_id": lists(flat["card_id"].to_numpy(), "card_id"),
            "score": lists(scores, "score"),
            "exact_card_id": nothing,
            "differs_from_exact": pl.Series([None] * n, dtype=pl.Boolean),
            "fingerprint": ["0" * 64] * n,
        }
    ).write_parquet(folder / "run.parquet")
    pl.DataFrame(
        {
            "case_id": case_id,
            "locale": rng.choice(LOCALES, n),
            "case_type": rng.choice(TYPES, n),
            "query": [f"what about number {number}" for number in range(n)],
            "must_cite_one_of": [
                [f"card-{number:07d}" for number in row[:count]] for row, count in zip(gold, golds, strict=True)
            ],
            "relevant_ids": nothing,
            "tags": pl.Series([[]] * n, dtype=pl.List(pl.String)),
        }
    ).write_parquet(folder / "cases.parquet")


def recall_assets_scanning(folder: Path) -> Means:
    """This project, the run scanned: only what scoring needs is read."""
    import polars as pl

    return _scored(pl.read_parquet(folder / "cases.parquet"), pl.scan_parquet(folder / "run.parquet"))


def recall_assets_reading(folder: Path) -> Means:
    """This project, the whole frame read first, as an asset gets it from its IO manager."""
    import polars as pl

    return _scored(pl.read_parquet(folder / "cases.parquet"), pl.read_parquet(folder / "run.parquet").lazy())


def _scored(cases: Any, run: Any) -> Means:
    from recall_assets.batch_scoring import count_outcomes, first_distinct_cards, score_cases
    from recall_assets.slices import slice_scores

    tops = first_distinct_cards(run, K)
    scores = score_cases(cases, tops, K)
    return {score.slice: tuple(score.means) for score in slice_scores(count_outcomes(cases, tops, scores), K)}


def plain_python(folder: Path) -> Means:
    """Lists, sets and a loop; what the others are checked against. Gives every slice."""
    import polars as pl

    cases = pl.read_parquet(folder / "cases.parquet", columns=["case_id", "locale", "case_type", "must_cite_one_of"])
    run = pl.read_parquet(folder / "run.parquet", columns=["case_id", "card_id"])
    results = dict(zip(run["case_id"].to_list(), run["card_id"].to_list(), strict=True))
    discounts = [1 / math.log2(rank + 1) for rank in range(1, K + 1)]
    scored: dict[str, list[tuple[float, float, float]]] = {}
    for case_id, locale, case_type, gold_ids in cases.iter_rows():
        gold = set(gold_ids)
        top = list(dict.fromkeys(results[case_id]))[:K]
        gains = [discount for card_id, discount in zip(top, discounts, strict=False) if card_id in gold]
        case = (float(bool(gains)), len(gains) / len(gold), sum(gains) / sum(discounts[: min(len(gold), K)]))
        for name in ("overall", f"case_type={case_type}", f"locale={locale}", f"case_type={case_type},locale={locale}"):
            scored.setdefault(name, []).append(case)
    return {
        name: tuple(math.fsum(metric) / len(rows) for metric in zip(*rows, strict=True))
        for name, rows in scored.items()
    }


def pytrec_eval(folder: Path) -> Means:
    """The library form of trec_eval, from the same files. Gives the overall means alone, and knows no repeats."""
    import polars as pl
    import pytrec_eval as peer

    cases = pl.read_parquet(folder / "cases.parquet", columns=["case_id", "must_cite_one_of"])
    run = pl.read_parquet(folder / "run.parquet", columns=["case_id", "card_id", "score"])
    gold = {case_id: dict.fromkeys(card_ids, 1) for case_id, card_ids in cases.iter_rows()}
    results = {case_id: dict(zip(cards, scores, strict=True)) for case_id, cards, scores in run.iter_rows()}
    evaluator = peer.RelevanceEvaluator(gold, {f"success.{K}", f"recall.{K}", f"ndcg_cut.{K}"})
    scored = evaluator.evaluate(results).values()
    measures = (f"success_{K}", f"recall_{K}", f"ndcg_cut_{K}")
    return {"overall": tuple(math.fsum(row[measure] for row in scored) / len(scored) for measure in measures)}


CONTENDERS: dict[str, Callable[[Path], Means]] = {
    "recall-assets, run scanned": recall_assets_scanning,
    "recall-assets, run read whole": recall_assets_reading,
    "plain Python": plain_python,
    "pytrec_eval": pytrec_eval,
}


def measure(name: str, folder: Path) -> dict[str, Any]:
    """Runs a contender in this process; imports count, because a fresh process pays for them."""
    start = time.perf_counter()
    means = CONTENDERS[name](folder)
    seconds = time.perf_counter() - start
    unit = 1024**2 if sys.platform == "darwin" else 1024
    return {"seconds": seconds, "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit, "means": means}


def in_a_process_of_its_own(*arguments: str) -> str:
    """Calls this script again; gives what it printed."""
    command = [sys.executable, __file__, *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def check(means: Means, expected: Means, name: str) -> None:
    """Ends the benchmark if a contender's means are not those of plain Python."""
    if name.startswith("recall-assets") and set(means) != set(expected):
        sys.exit(f"{name} gives other slices than plain Python")
    for slice_name, values in means.items():
        if any(abs(a - b) > 1e-12 for a, b in zip(values, expected[slice_name], strict=True)):
            sys.exit(f"{name}: {slice_name} is {values}, not {expected[slice_name]}")


def compare(title: str, folder: Path, contenders: list[str]) -> None:
    """Measures every contender `TIMES` times, interleaved, and prints a table."""
    runs: dict[str, list[dict[str, Any]]] = {name: [] for name in contenders}
    for _ in range(TIMES):
        for name in random.sample(contenders, len(contenders)):
            runs[name].append(json.loads(in_a_process_of_its_own("--measure", name, str(folder))))
    expected = runs["plain Python"][0]["means"]
    print(f"\n{title}\n{'':32}{'best s':>10}{'median s':>10}{'peak MB':>10}")
    for name, results in runs.items():
        for result in results:
            check(result["means"], expected, name)
        seconds = [result["seconds"] for result in results]
        peak = max(result["peak_mb"] for result in results)
        print(f"{name:32}{min(seconds):10.2f}{statistics.median(seconds):10.2f}{peak:10.0f}")


def main() -> None:
    """Generates what is not there yet, measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=100_000, help="how many cases, each with 100 results")
    parser.add_argument("--measure", nargs=2, metavar=("CONTENDER", "FOLDER"), help="one measurement, as JSON")
    parser.add_argument("--generate", nargs=2, metavar=("FOLDER", "REPEATS"), help="only write the data")
    given = parser.parse_args()
    if given.measure:
        print(json.dumps(measure(given.measure[0], Path(given.measure[1]))))
        return
    if given.generate:
        generate(Path(given.generate[0]), given.cases, float(given.generate[1]))
        return
    size = f"{given.cases:,} cases x {DEPTH} ids, k={K}, Parquet to slices, imports included"
    contenders = [name for name in CONTENDERS if name != "pytrec_eval" or find_spec("pytrec_eval")]
    for label, repeats, names in (
        ("no repeats", 0.0, contenders),
        ("one result in five repeats a card", 0.2, [name for name in contenders if name != "pytrec_eval"]),
    ):
        folder = DATA / f"{given.cases}-{repeats}"
        if not (folder / "cases.parquet").exists():
            print(f"generating {folder}", file=sys.stderr)
            in_a_process_of_its_own("--cases", str(given.cases), "--generate", str(folder), str(repeats))
        compare(f"{size}; {label}", folder, names)


if __name__ == "__main__":
    main()
