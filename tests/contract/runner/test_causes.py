"""Failures that one defect makes are shown as one cause, those of two defects as two.

`python -m tests.contract.runner.test_causes` counts the causes of every mutant, and of pairs.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping

import pytest

from fscontract.contract.runner.causes import groups
from fscontract.contract.runner.result import Cause, ClauseResult, RunResult, causes_of
from fscontract.contract.runner.runner import check
from fscontract.contract.runner.settings import Settings
from fscontract.contract.spec.clauses import clauses
from fscontract.fakes.mutants.registry import Mutant, mutant_named, mutants

_STREAMS = ("fsdatainputstream", "python-file", "openfile")
#: Mutants that violate several clauses.
SEVERAL = (
    "close.state-NeverCloses",
    "seek.lax-eof-RaisesBeyond",
    "open.cost-buffered-ByteByByte",
)
#: The part of all mutants whose failures have to be of one cause.
_ONE_CAUSE = 0.95
#: Pairs of mutants whose failures have nothing in common.
PAIRS = [
    ("seek.negative-NegativeIsZero", "read-byte.value-SignedByte"),
]


def checked(mutant: Mutant, *documents: str) -> RunResult:
    judged = tuple(
        clause
        for clause in clauses().values()
        if clause.document in (documents or _STREAMS)
        and clause.testable
        and not any(check.startswith("concurrency.") for check in clause.checks)
    )
    return check(mutant.binding(), Settings(mutant.profile(), judged))


def test_failures_with_a_common_trait_are_of_one_cause() -> None:
    """Directly, or through another failure."""
    assert groups([{"a"}, {"b"}, {"c"}, {"b", "a"}]) == [[0, 1, 3], [2]]


def test_failures_without_traits_are_of_causes_of_their_own() -> None:
    assert groups([set(), set()]) == [[0], [1]]


@pytest.mark.parametrize("name", SEVERAL)
def test_the_failures_of_one_defect_are_of_one_cause(name: str) -> None:
    mutant = mutant_named(name)
    (cause,) = checked(mutant, mutant.document).causes
    assert cause.others


@pytest.mark.deep
def test_at_least_95_of_100_mutants_have_one_cause() -> None:
    """Of those whose clauses a run of all clauses finds violated."""
    runs = _runs()
    several = {name: [c.ids for c in run.causes] for name, run in runs.items() if run.causes[1:]}
    print(f"{len(runs) - len(several)} of {len(runs)} mutants have one cause; not: {several}")
    assert len(several) <= (1 - _ONE_CAUSE) * len(runs), several


def _of_both(first: RunResult, second: RunResult) -> list[ClauseResult]:
    return [r for run in (first, second) for cause in run.causes for r in _results(cause)]


def _results(cause: Cause) -> Iterator[ClauseResult]:
    yield cause.clause
    yield from cause.others


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_the_failures_of_two_defects_are_of_two_causes(first: str, second: str) -> None:
    both = mutant_named(first), mutant_named(second)
    runs = [checked(mutant, mutant.document) for mutant in both]
    assert len(causes_of(_of_both(*runs))) == 2


def _runs() -> Mapping[str, RunResult]:
    """Return the runs on all mutants that show something, by the name of the mutant."""
    runs = {str(mutant): checked(mutant) for mutant in mutants(*_STREAMS)}
    return {name: run for name, run in runs.items() if run.causes}


def main(pairs: int, seed: int) -> None:
    """Count the causes of each mutant, and of pairs of mutants."""
    runs = _runs()
    for name, run in runs.items():
        if len(run.causes) > 1:
            print(f"{name}: {[cause.ids for cause in run.causes]}", flush=True)
    one = sum(len(run.causes) == 1 for run in runs.values())
    print(f"{one} of {len(runs)} mutants have one cause")
    chosen = random.Random(seed)
    mixed = 0
    for _ in range(pairs):
        first, second = chosen.sample(sorted(runs), 2)
        of_both = causes_of(_of_both(runs[first], runs[second]))
        mixed += len(of_both) < len(runs[first].causes) + len(runs[second].causes)
    print(f"{pairs - mixed} of {pairs} pairs of mutants are told apart, seed {seed}")


if __name__ == "__main__":
    main(3_000, 1)
