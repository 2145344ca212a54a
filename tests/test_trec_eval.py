"""The metrics against trec_eval: its library form as oracle on random rankings, and its own expected outputs."""

import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st

from recall_assets.metrics import HIT, NDCG, RECALL, hit_at_k, ndcg_at_k, recall_at_k
from recall_assets.scorer import mean_scores

cards = st.sampled_from([f"card{number}" for number in range(40)])

MEASURES = {
    "recall": (RECALL, recall_at_k, (5, 10, 15, 20, 30, 100, 200, 500, 1000)),
    "success": (HIT, hit_at_k, (1, 5, 10)),
    "ndcg_cut": (NDCG, ndcg_at_k, (5, 10, 15, 20, 30, 100, 200, 500, 1000)),
}
# trec_eval's Makefile: which expected output belongs to which run and options.
OUTPUTS = [
    pytest.param("out.test.aq", "results.test", False, None, id="whole run"),
    pytest.param("out.test.aqc", "results.trunc", True, None, id="queries missing from the run count as 0 (-c)"),
    pytest.param("out.test.aqcM", "results.trunc", True, 100, id="only the first 100 results (-c -M100)"),
]


@given(st.lists(cards, max_size=40, unique=True), st.sets(cards, min_size=1, max_size=12), st.integers(1, 45))
def test_hit_recall_and_ndcg_equal_trec_evals_success_recall_and_ndcg_cut(ranked, gold, k):
    evaluator = pytrec_eval.RelevanceEvaluator(
        {"q": dict.fromkeys(sorted(gold), 1)}, {f"success.{k}", f"recall.{k}", f"ndcg_cut.{k}"}
    )
    # trec_eval orders a run by score: strictly falling scores leave it no tie to break.
    expected = evaluator.evaluate({"q": {card: float(len(ranked) - place) for place, card in enumerate(ranked)}})["q"]
    assert hit_at_k(ranked, gold, k) == expected[f"success_{k}"]
    assert recall_at_k(ranked, gold, k) == pytest.approx(expected[f"recall_{k}"], abs=1e-12)
    assert ndcg_at_k(ranked, gold, k) == pytest.approx(expected[f"ndcg_cut_{k}"], abs=1e-12)


@pytest.mark.parametrize(("output", "run", "all_queries", "depth"), OUTPUTS)
@pytest.mark.parametrize("measure", MEASURES)
def test_per_query_and_mean_equal_trec_evals_own_expected_output(shared_data, measure, output, run, all_queries, depth):
    folder = shared_data / "trec_eval_test" / "test"
    gold, ranked = read_qrels(folder / "qrels.test"), read_run(folder / run)
    queries = sorted(gold if all_queries else gold.keys() & ranked.keys())
    assert all_queries == (queries != sorted(ranked))  # with -c there is a query to count as 0
    metric, function, cutoffs = MEASURES[measure]
    ours = {}
    for k in cutoffs:
        scores = {query: function(ranked.get(query, [])[:depth], gold[query], k) for query in queries}
        scores["all"] = mean_scores({metric: score} for score in scores.values())[metric]
        ours |= {(f"{measure}_{k}", query): f"{score:.4f}" for query, score in scores.items()}
    expected = {key: value for key, value in read_output(folder / output).items() if key in ours}
    # Three queries and their mean at every cutoff: nothing is compared with itself by being absent.
    assert len(expected) == 4 * len(cutoffs)
    assert ours == expected


def read_qrels(path):
    """Query id to its relevant documents, relevance 1 or more."""
    gold = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        query, _, document, relevance = line.split()
        if int(relevance) >= 1:
            gold.setdefault(query, set()).add(document)
    return gold


def read_run(path):
    """Query id to its documents as trec_eval orders them: score, then document id, both descending (rule 8)."""
    scored = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        query, _, document, _, score, *_ = line.split()
        scored.setdefault(query, []).append((float(score), document))
    return {query: [document for _, document in sorted(pairs, reverse=True)] for query, pairs in scored.items()}


def read_output(path):
    """Printed value by measure and query id, `all` for the mean."""
    rows = (line.split() for line in path.read_text(encoding="utf-8").splitlines())
    return {(measure, query): value for measure, query, value in rows}
