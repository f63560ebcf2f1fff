"""Tests of contract/runner/merged_result.py: one result of several files."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fscontract.contract.runner.merged_result import merged
from fscontract.contract.runner.result import NotSetUp, PhaseShare, RunResult, RunVerdict, Verdict
from tests.contract.conftest import MakeResult, MakeRun


@pytest.fixture
def of(make_run: MakeRun, make_result: MakeResult) -> MakeRun:
    """Return a factory of runs whose clauses have these outcomes."""

    def make(*outcomes: Verdict, size: int = 9, **more: str) -> RunResult:
        results = [make_result(o, f"demo.{n}", **more) for n, o in enumerate(outcomes)]
        return replace(make_run(*results), sizes=(size,))

    return make


@pytest.mark.parametrize(
    ("one", "other", "both"),
    [
        (Verdict.PASS, Verdict.FAIL, Verdict.FAIL),
        (Verdict.FAIL, Verdict.CRASH, Verdict.CRASH),
        (Verdict.PASS, Verdict.ERROR, Verdict.ERROR),
        (Verdict.UNEXERCISED, Verdict.PASS, Verdict.PASS),
        (Verdict.KNOWN, Verdict.FIXED, Verdict.KNOWN),
        (Verdict.FIXED, Verdict.PASS, Verdict.FIXED),
        (Verdict.INHERITED, Verdict.PASS, Verdict.INHERITED),
    ],
)
def test_a_clause_has_its_worst_outcome(
    one: Verdict, other: Verdict, both: Verdict, of: MakeRun
) -> None:
    for entries in ([of(one), of(other)], [of(other), of(one)]):
        result = merged(entries)
        assert isinstance(result, RunResult)
        assert [c.outcome for c in result.clauses] == [both]
        assert result.clauses[0].exercised == 6


def test_distinct_failures_of_all_files_are_kept(of: MakeRun) -> None:
    first = of(Verdict.FAIL, how="seek: returned")
    again = of(Verdict.FAIL, how="seek: returned")
    other = of(Verdict.FAIL, how="read: raised")
    result = merged([first, again, other])
    assert isinstance(result, RunResult)
    signatures = [failure.signature for failure in result.clauses[0].counterexamples]
    assert signatures == ["seek: returned", "read: raised"]


def test_sizes_counts_and_times_are_those_of_all_files(of: MakeRun) -> None:
    cut = replace(of(Verdict.PASS, size=5), cut_short=(PhaseShare("seeded", 3, 10),))
    result = merged([of(Verdict.PASS), cut, cut])
    assert isinstance(result, RunResult)
    assert result.sizes == (9, 5, 5)
    assert result.counts == {"programs": 36, "operations": 120}
    assert result.seconds == pytest.approx(3.75)
    assert result.cut_short == (PhaseShare("seeded", 6, 20),)


def test_a_file_that_can_not_be_read_makes_the_result_incomplete(of: MakeRun) -> None:
    broken = NotSetUp("memory", "memory: file not found")
    result = merged([of(Verdict.PASS), broken])
    assert isinstance(result, RunResult)
    assert (result.verdict, result.incomplete) == (
        RunVerdict.INCOMPLETE,
        "memory: file not found",
    )
    assert merged([of(Verdict.FAIL), broken]).verdict is RunVerdict.DOES_NOT_CONFORM
    assert merged([broken, broken]) is broken
