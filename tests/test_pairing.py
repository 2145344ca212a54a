from dataclasses import replace

import pytest

from recall_assets.pairing import Pair, pair
from tests.baselines import ranked, scored


def ids(pairs):
    return [one.case_id for one in pairs]


def test_pairs_are_made_by_case_id_whatever_the_order():
    before = [scored("a", 1), scored("b", 2), scored("c", None)]
    after = [scored("c", 3), scored("a", None), scored("b", 2)]
    pairing = pair(before, after)
    assert [(one.case_id, one.before.gold_rank, one.after.gold_rank) for one in pairing.pairs] == [
        ("a", 1, None),
        ("b", 2, 2),
        ("c", None, 3),
    ]
    assert (ids(pairing.lost), ids(pairing.gained)) == (["a"], ["c"])


def test_as_many_cases_with_other_ids_make_no_pair():
    pairing = pair(ranked([1] * 20), ranked([1] * 20, prefix="d"))
    assert (pairing.pairs, pairing.shared) == ([], 0.0)
    assert (len(pairing.added), len(pairing.removed)) == (20, 20)


def test_an_id_in_another_case_is_another_id():
    assert pair([scored("Refund", 1)], [scored("refund", 1)]).pairs == []


def test_added_removed_and_relabelled_cases_are_named_and_not_paired():
    before = [scored("kept", 1), scored("gone-b", 1), scored("gone-a", 1), scored("asked-anew", 1, label="old")]
    after = [scored("new-b", None), scored("new-a", None), scored("asked-anew", None, label="new"), scored("kept", 1)]
    pairing = pair(before, after)
    assert ids(pairing.pairs) == ["kept"]
    assert pairing.added == ["new-a", "new-b"]
    assert pairing.removed == ["gone-a", "gone-b"]
    assert pairing.relabelled == ["asked-anew"]
    assert pairing.lost == []


def test_another_type_or_tag_leaves_a_case_the_same_and_the_run_says_its_slice():
    before, after = scored("a", 1, case_type="golden"), scored("a", None, case_type="adversarial", critical=True)
    (one,) = pair([before], [after]).pairs
    assert one.slices == ("overall", "case_type=adversarial", "locale=en", "case_type=adversarial,locale=en")
    assert one.after.critical


@pytest.mark.parametrize(
    ("before", "after", "what"),
    [
        (1, None, "lost"),
        (5, None, "lost"),
        (None, 1, "gained"),
        (None, 5, "gained"),
        (3, 9, "slipped"),
        (1, 2, "slipped"),
        (9, 3, ""),
        (2, 2, ""),
        (None, None, ""),
    ],
)
def test_what_became_of_a_case_follows_from_its_ranks(before, after, what):
    one = Pair(scored("a", before), scored("a", after))
    assert {name for name in ("lost", "gained", "slipped") if getattr(one, name)} == ({what} if what else set())


def test_a_case_that_kept_its_rank_and_lost_other_gold_has_slipped():
    before = scored("a", 1, scores=(1.0, 1.0, 1.0))
    after = scored("a", 1, scores=(1.0, 0.5, 0.6131))
    pairing = pair([before], [after])
    assert (ids(pairing.lost), ids(pairing.slipped), ids(pairing.fell)) == ([], ["a"], ["a"])


def test_lost_cases_come_critical_first_then_by_their_former_rank_then_by_id():
    before = [
        scored("z-first", 1),
        scored("b-third", 3),
        scored("a-third", 3),
        scored("critical", 5, critical=True),
        scored("kept", 1),
    ]
    after = [replace(scored(case.case_id, None), critical=case.critical) for case in before[:-1]]
    pairing = pair(before, [*after, scored("kept", 2)])
    assert ids(pairing.lost) == ["critical", "z-first", "a-third", "b-third"]
    assert ids(pairing.fell) == ["critical", "z-first", "a-third", "b-third", "kept"]


@pytest.mark.parametrize(
    ("before", "after", "shared"),
    [
        pytest.param(range(10), range(10), 1.0, id="all"),
        pytest.param(range(50), range(200), 0.25, id="grown"),
        pytest.param(range(200), range(50), 0.25, id="shrunk"),
        pytest.param(range(20), range(10, 30), 0.5, id="half replaced"),
        pytest.param([], range(5), 0.0, id="nothing before"),
        pytest.param([], [], 0.0, id="nothing at all"),
    ],
)
def test_what_is_shared_is_a_share_of_the_larger_set(before, after, shared):
    pairing = pair([scored(f"c{n}", 1) for n in before], [scored(f"c{n}", 1) for n in after])
    assert pairing.shared == shared


def test_a_relabelled_case_is_not_shared():
    before = [*ranked([1] * 3), scored("x", 1, label="old")]
    assert pair(before, [*ranked([1] * 3), scored("x", 1, label="new")]).shared == 0.75


def test_a_score_that_another_machine_rounds_in_another_way_has_not_slipped():
    before = scored("a", 2, scores=(1.0, 1.0, 0.6309297535714575))
    after = scored("a", 2, scores=(1.0, 1.0, 0.6309297535714573))
    assert pair([before], [after]).fell == []
