from recall_assets.sweep import run_sweep


def test_a_sweep_reports_every_slice_of_every_retriever(make_settings, test_resources):
    result = run_sweep(make_settings(), **test_resources)
    slices = {s.slice: (s.n, s.means.retrieval_hit_at_k) for s in result.report.retrievers[0].slices}
    assert slices == {
        "overall": (3, 2 / 3),
        "case_type=adversarial": (1, 0.0),
        "case_type=golden": (2, 1.0),
        "locale=en": (2, 0.5),
        "locale=pt-BR": (1, 1.0),
        "case_type=adversarial,locale=en": (1, 0.0),
        "case_type=golden,locale=en": (1, 1.0),
        "case_type=golden,locale=pt-BR": (1, 1.0),
    }
