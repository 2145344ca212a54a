"""`recall score` on a captured run, process start included, beside plain Python. See README.md here."""

import argparse
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

K = 10
SEED = 23
TIMES = 15
CRANFIELD = Path(__file__).parents[2] / "shared" / "data" / "cranfield" / "cases.jsonl"

# What the rival does: reads both files with the standard library, scores, prints the three means. It validates nothing,
# has no slices, no intervals and no ledger.
PLAIN = """\
import json, math, sys
cases, run, k = sys.argv[1], sys.argv[2], int(sys.argv[3])
results = {}
for line in open(run, encoding="utf-8"):
    record = json.loads(line)
    results[record["case_id"]] = record["retrieved"]
discounts = [1 / math.log2(rank + 1) for rank in range(1, k + 1)]
hits = recalls = ndcgs = n = 0
for line in open(cases, encoding="utf-8"):
    case = json.loads(line)
    gold = set(case["must_cite_one_of"])
    if gold:
        top = list(dict.fromkeys(results[case["case_id"]]))[:k]
        gains = [discount for card_id, discount in zip(top, discounts) if card_id in gold]
        n += 1
        hits += bool(gains)
        recalls += len(gains) / len(gold)
        ndcgs += sum(gains) / sum(discounts[: len(gold)])
print(json.dumps([hits / n, recalls / n, ndcgs / n]))
"""


def captured_run(cases: list[dict[str, object]], depth: int, path: Path) -> Path:
    """Writes a run of `depth` distinct ids a case: each gold id with chance 0.6, the others anything."""
    rng = random.Random(SEED)  # noqa: S311 - not for secrets
    ids = sorted({card_id for case in cases for card_id in case["must_cite_one_of"]})
    ids += [f"other-{number}" for number in range(1000)]
    with path.open("w", encoding="utf-8") as lines:
        for case in cases:
            found = [card_id for card_id in case["must_cite_one_of"] if rng.random() < 0.6]
            retrieved = list(dict.fromkeys(found + rng.sample(ids, depth)))[:depth]
            rng.shuffle(retrieved)
            lines.write(json.dumps({"case_id": case["case_id"], "retrieved": retrieved}) + "\n")
    return path


def timed(command: list[str], folder: Path) -> tuple[list[float], str]:
    """Seconds of each of `TIMES` processes, and what the last one printed."""
    seconds = []
    for _ in range(TIMES):
        start = time.perf_counter()
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, cwd=folder)
        seconds.append(time.perf_counter() - start)
    return seconds, done.stdout


def main() -> None:
    """Measures both on runs of 10 and of 100 ids and prints a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="?", type=Path, default=CRANFIELD, help="a case set as JSONL")
    path = parser.parse_args().cases.resolve()
    cases = [json.loads(line) for line in path.open(encoding="utf-8")]
    recall = str(Path(sys.executable).with_name("recall"))
    print(f"{len(cases)} cases, k={K}, process start included\n{'':32}{'best s':>10}{'median s':>10}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for depth in (10, 100):
            run = captured_run(cases, depth, folder / f"run-{depth}.jsonl")
            score = [recall, "score", "--cases", str(path), "--run", str(run), "--k", str(K), "--json"]
            plain = [sys.executable, "-c", PLAIN, str(path), str(run), str(K)]
            means = {}
            for label, command in (("recall score", score), ("plain Python", plain)):
                seconds, means[label] = timed(command, folder)
                print(f"{f'{label}, {depth} ids':32}{min(seconds):10.3f}{statistics.median(seconds):10.3f}")
            overall = json.loads(means["recall score"])["retrievers"]["captured"]["slices"][0]
            ours = [overall[f"retrieval_{metric}_at_k"] for metric in ("hit", "recall", "ndcg")]
            if any(abs(a - b) > 1e-12 for a, b in zip(ours, json.loads(means["plain Python"]), strict=True)):
                sys.exit(f"recall score gives {ours}, plain Python {means['plain Python']}")


if __name__ == "__main__":
    main()
