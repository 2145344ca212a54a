"""The report as JUnit XML, for the test view of a CI server.

A suite a slice family. The gate's rules are tests in the family of the slice they judge; the cases are tests in the
narrowest family, in which each is in exactly one slice. A miss is no failed test, because a retriever that finds 80 of
100 is no broken build: a case fails only where it is a reason for a failed verdict.
"""

from collections.abc import Iterable, Mapping, Sequence

from junitparser import Error, Failure, JUnitXml, Skipped, TestCase, TestSuite

from recall_assets.comparison import Comparison, moved
from recall_assets.gate import RULES, Status, Verdict, verdict_of
from recall_assets.metrics import METRICS, SAME_SCORE
from recall_assets.pairing import Pair
from recall_assets.regression import Finding
from recall_assets.reporting.model import CaseResult, CheckResult, Report, RetrieverReport
from recall_assets.slice_names import FAMILIES, OVERALL, family
from recall_assets.text import printable

_RESULTS: dict[Status, type[Error | Failure | Skipped]] = {
    Status.FAILED: Failure,
    Status.INVALID: Error,
    Status.INCONCLUSIVE: Error,
    Status.INACTIVE: Skipped,
}


def junit_xml(report: Report, cases: Mapping[str, Sequence[CaseResult]]) -> str:
    """The document.

    Args:
        report: On the sweep.
        cases: By retriever, what became of every case.
    """
    suites = {name: TestSuite(name) for name in FAMILIES}
    for number, error in enumerate(report.errors, start=1):
        suites[OVERALL].add_testcase(_test(f"error {number}", "sweep", Error, error))
    for retriever in report.retrievers:
        for suite, test in _rule_tests(retriever):
            suites[suite].add_testcase(test)
        reasons = _reasons(retriever.comparison)
        for case in cases.get(retriever.name, ()):
            suites[FAMILIES[-1]].add_testcase(_case_test(retriever.name, case, reasons.get(case.case_id)))
    return _text(suites.values())


def no_figures_junit(verdict: Verdict, problems: Sequence[str]) -> str:
    """The document where there are no figures: one test that could not run, with every problem."""
    suite = TestSuite(OVERALL)
    suite.add_testcase(_test("sweep", "inputs", Error, verdict.value, "\n".join(problems)))
    return _text([suite])


def _rule_tests(retriever: RetrieverReport) -> Iterable[tuple[str, TestCase]]:
    for check in retriever.checks:
        if check.name not in RULES:
            yield OVERALL, _test(check.name, retriever.name, _data_result(check), check.detail)
    for rule in retriever.rules:
        name = f"{rule.rule} {rule.slice}"
        yield family(rule.slice), _test(name, retriever.name, _RESULTS.get(rule.status), rule.detail)


def _data_result(check: CheckResult) -> type[Error | Failure | Skipped] | None:
    """As the verdict has it: wrong data and what could not be evaluated are errors, no failures of retrieval."""
    if check.status is Status.FAILED and verdict_of([(check.name, check.status)]) is not Verdict.FAIL:
        return Error
    return _RESULTS.get(check.status)


def _case_test(retriever: str, case: CaseResult, reason: str | None) -> TestCase:
    where = f"{retriever}.{case.slice}"
    if not case.gold_bearing:
        return _test(case.case_id, where, Skipped, "no gold: not scored")
    if not case.scored:
        return _test(case.case_id, where, Error, "no result, or none that belongs to this sweep")
    if reason is not None:
        return _test(case.case_id, where, Failure, reason)
    return _test(case.case_id, where, None, "MISS" if case.gold_rank is None else f"#{case.gold_rank}")


def _reasons(comparison: Comparison | None) -> dict[str, str]:
    """By case, how it moved, for the cases that stand against a pass."""
    if comparison is None:
        return {}
    regressed = {(test.slice, METRICS.index(test.metric))
                 for test in comparison.tests if test.finding is Finding.REGRESSED}  # fmt: skip
    blamed = [pair for pair in comparison.pairing.fell if (pair.lost and pair.critical) or _is_in(pair, regressed)]
    return {pair.case_id: moved(pair, comparison) for pair in blamed if comparison.not_comparable is None}


def _is_in(pair: Pair, regressed: set[tuple[str, int]]) -> bool:
    return any(name in pair.slices and pair.drop(index) > SAME_SCORE for name, index in regressed)


def _test(
    name: str, where: str, result: type[Error | Failure | Skipped] | None, finding: str, details: str = ""
) -> TestCase:
    test = TestCase(printable(name), printable(where))
    if result is None:
        test.system_out = _lines(finding)
        return test
    outcome = result(printable(finding.partition("\n")[0]))
    outcome.text = _lines(details or finding)
    test.result = [outcome]
    return test


def _lines(text: str) -> str:
    return "\n".join(map(printable, text.splitlines()))


def _text(suites: Iterable[TestSuite]) -> str:
    document = JUnitXml("retrieval recall")
    for suite in suites:
        suite.update_statistics()  # type: ignore[no-untyped-call]
        document.add_testsuite(suite)
    document.update_statistics()  # type: ignore[no-untyped-call]
    xml: bytes = document.tostring()  # type: ignore[no-untyped-call]
    return xml.decode("utf-8")
