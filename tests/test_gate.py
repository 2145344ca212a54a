import pytest

from recall_assets.gate import RULES, Status, Verdict, status_weight, verdict_of, verdict_weight, worst

STATUSES = {
    "passed": True,
    "inactive": True,
    "untested": True,
    "failed": False,
    "warning": False,
    "invalid": False,
    "inconclusive": False,
}


def test_the_rules_are_whether_all_was_scored_then_the_floors_then_the_comparison():
    assert RULES == ("every_retriever_scored", "hit_floor", "recall_floor", "ndcg_floor", "no_regression")


def test_what_passes_in_dagster_is_what_held_is_inactive_or_had_too_little_to_go_on():
    assert {status.value: status.passes for status in Status} == STATUSES


WORST_FIRST = ["invalid", "failed", "inconclusive", "warning", "untested", "passed", "inactive"]


def test_statuses_are_ordered_from_the_worst_to_what_says_the_least():
    assert sorted(Status, key=status_weight) == WORST_FIRST


@pytest.mark.parametrize("place", range(len(WORST_FIRST)))
def test_the_worst_status_speaks_for_several_whatever_their_order(place):
    those = [Status(word) for word in WORST_FIRST[place:]]
    assert worst(those) is worst(those[::-1]) is Status(WORST_FIRST[place])


def test_the_status_of_no_result_is_inactive():
    assert worst([]) is Status.INACTIVE


@pytest.mark.parametrize(
    ("verdict", "word", "exit_code"),
    [
        (Verdict.PASS, "pass", 0),
        (Verdict.FAIL, "fail", 1),
        (Verdict.INVALID, "invalid", 2),
        (Verdict.INCONCLUSIVE, "inconclusive", 3),
    ],
)
def test_each_verdict_has_its_exit_code(verdict, word, exit_code):
    assert (verdict.value, verdict.exit_code) == (word, exit_code)


@pytest.mark.parametrize(
    ("name", "verdict"),
    [
        ("cards_valid", Verdict.INVALID),
        ("cases_valid", Verdict.INVALID),
        ("gold_ids_resolve", Verdict.INVALID),
        ("collection_complete", Verdict.INCONCLUSIVE),
        ("every_case_retrieved", Verdict.INCONCLUSIVE),
        ("hit_floor", Verdict.FAIL),
        ("recall_floor", Verdict.FAIL),
        ("ndcg_floor", Verdict.FAIL),
        ("no_regression", Verdict.FAIL),
    ],
)
def test_a_failed_check_means_what_is_wrong(name, verdict):
    assert verdict_of([("another", Status.PASSED), (name, Status.FAILED)]) is verdict


@pytest.mark.parametrize("name", ["hit_floor", "cases_valid", "every_retriever_scored"])
def test_what_could_not_be_evaluated_is_inconclusive_whatever_the_check(name):
    assert verdict_of([(name, Status.INCONCLUSIVE)]) is Verdict.INCONCLUSIVE


@pytest.mark.parametrize("name", ["no_regression", "cases_valid", "every_retriever_scored"])
def test_what_is_invalid_is_wrong_input_whatever_the_check(name):
    assert verdict_of([("hit_floor", Status.FAILED), (name, Status.INVALID)]) is Verdict.INVALID


@pytest.mark.parametrize("status", [Status.PASSED, Status.WARNING, Status.INACTIVE, Status.UNTESTED])
def test_passed_warnings_untested_and_inactive_checks_leave_a_pass(status):
    assert verdict_of([("index_matches_exact", status), ("hit_floor", status)]) is Verdict.PASS


def test_wrong_input_outweighs_a_failure_which_outweighs_what_was_not_evaluated():
    invalid, failed = ("gold_ids_resolve", Status.FAILED), ("hit_floor", Status.FAILED)
    unknown = ("every_case_retrieved", Status.FAILED)
    assert verdict_of([unknown, failed, invalid]) is Verdict.INVALID
    assert verdict_of([unknown, failed]) is Verdict.FAIL
    assert verdict_of([unknown, ("hit_floor", Status.INACTIVE)]) is Verdict.INCONCLUSIVE
    assert verdict_of([("hit_floor", Status.INCONCLUSIVE), ("no_regression", Status.UNTESTED)]) is Verdict.INCONCLUSIVE


def test_verdicts_are_ordered_by_what_outweighs_what():
    ordered = [Verdict.INVALID, Verdict.FAIL, Verdict.INCONCLUSIVE, Verdict.PASS]
    assert sorted(Verdict, key=verdict_weight) == ordered


def test_without_any_check_there_is_nothing_against_a_pass():
    assert verdict_of([]) is Verdict.PASS
