"""A second bug is seen beside a first one that is listed as known.

`python -m tests.fakes.test_pairs_of_mutants COUNT SEED` tries a sample of pairs, and prints those
whose second bug is not seen, unless no call ends otherwise because of it.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations

import pytest

from fscontract.contract.program.program import Program
from fscontract.contract.runner.execution import Execution
from fscontract.contract.runner.executor import Executor
from fscontract.contract.runner.result import VIOLATED, RunResult
from fscontract.contract.runner.runner import check
from fscontract.contract.runner.settings import Settings
from fscontract.contract.spec.clauses import Level, clauses
from fscontract.contract.spec.known_failures import Known, failures
from fscontract.fakes.mutants.registry import Mutant, mutant_named, mutants

#: Checks that take longer than the rest, and whose mutants are tried elsewhere.
_LEFT_OUT = ("concurrency.", "consistency.")

#: Pairs of one clause, or of clauses that the same calls are about.
PAIRS = [
    ("pread.pos-unchanged-FailureMoves", "pread.pos-unchanged-PreadMoves"),
    ("read-vectored.exact-end-EndIsOutside", "read-vectored.data-MixesUpRanges"),
    ("read-byte.value-SignedByte", "read-byte.eof-ZeroAtEnd"),
    ("bytebuffer.count-BufferCountsRemaining", "bytebuffer.data-BufferReverses"),
    (
        "bytebuffer-read-fully.data-FullBufferReverses",
        "bytebuffer-read-fully.rest-untouched-FullBufferClearsFront",
    ),
    ("read-fully.space-FullyCut", "read-fully.space-ShortBufferIsFilled"),
    ("seek.past-eof-PastEndIsIllegal", "seek.past-eof-SeeksWithInt"),
    ("seek.zero-NoZeroInEmpty", "seek.zero-NoWayBack"),
    ("seek.negative-NegativeIsZero", "seek.past-eof-BeyondIsEnd"),
    ("read-vectored.data-OneOfAPair", "read-vectored.zero-length-NoEmptyRange"),
    ("skip.advance-SkipsLess", "skip.advance-SkipsBackUnseen"),
    ("unbuffer.pos-UnbufferLosesReadAhead", "unbuffer.pos-UnbufferGoesHome"),
    ("open.name-Strips", "open.name-DropsFragment"),
    ("read-vectored.remaining-WholeAllocation", "read-vectored.data-NumberInAByte"),
    ("read-into.rest-untouched-ClearsRest", "read-into.rest-untouched-ReadClearsAtEnd"),
    ("close.release-PreadOpensItsOwn", "close.release-FailedSeekReconnects"),
]


def _checked(mutant: Mutant, known: tuple[Known, ...] = ()) -> RunResult:
    judged = tuple(
        clause
        for clause in clauses().values()
        if clause.document == mutant.document
        and clause.testable
        and not any(check.startswith(_LEFT_OUT) for check in clause.checks)
    )
    return check(mutant.binding(), Settings(mutant.profile(), judged, known=known))


def _known(mutant: Mutant) -> tuple[Known, ...]:
    return failures(_checked(mutant), "the first bug")


def new_failures(first: Mutant, second: Mutant) -> list[str]:
    """Return the signatures that a run shows of both bugs, the first of which is known."""
    both = first.combined(second)
    assert both is not None
    result = _checked(both, _known(first))
    return [
        f"{one.clause.id}: {failure.signature}"
        for one in result.clauses
        if one.outcome in VIOLATED
        for failure in one.counterexamples
        if not failure.known
    ]


@pytest.mark.usefixtures("programs")
@pytest.mark.parametrize(
    ("first", "second"),
    [PAIRS[0], *(pytest.param(*pair, marks=pytest.mark.deep) for pair in PAIRS[1:])],
)
def test_a_second_bug_is_seen_beside_a_known_one(first: str, second: str) -> None:
    assert new_failures(mutant_named(first), mutant_named(second))


@pytest.mark.usefixtures("programs")
@pytest.mark.parametrize("name", ["read-byte.value-SignedByte", "seek.pos-SeeksToBlock"])
def test_a_known_failure_has_the_same_signature_with_another_seed(name: str) -> None:
    """So a run that is repeated conforms."""
    mutant = mutant_named(name)
    judged = (clauses()[mutant.clause],)
    settings = Settings(mutant.profile(), judged)
    known = failures(check(mutant.binding(), settings), "known")
    again = check(mutant.binding(), replace(settings, seed=7, known=known))
    assert again.conforms


def _pairs() -> Iterator[tuple[Mutant, Mutant]]:
    of_streams = [
        m for m in mutants("fsdatainputstream") if clauses()[m.clause].level is not Level.SHOULD
    ]
    for first, second in permutations(of_streams, 2):
        group = first.clause.partition(".")[0]
        if second.clause.startswith(f"{group}.") and first.combined(second) is not None:
            yield first, second


def _outcomes(mutant: Mutant) -> dict[Program, int]:
    """Return a digest of the outcomes of the calls of each program of a run."""
    seen: dict[Program, int] = {}
    run = Executor.run

    def recorded(
        self: Executor, program: Program, trace: bool = False, resume: bool = False
    ) -> Execution:
        execution = run(self, program, trace=True, resume=resume)
        outcomes = [outcome[:3] for _, outcome, _ in execution.trace]
        seen.setdefault(program, hash(repr(outcomes)))
        return execution

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Executor, "run", recorded)
        _checked(mutant)
    return seen


def _differ(first: Mutant, second: Mutant) -> bool:
    """Return whether a call of a program ends otherwise if the second bug is there, too."""
    both = first.combined(second)
    assert both is not None
    alone, together = _outcomes(first), _outcomes(both)
    return any(together[program] != alone[program] for program in together.keys() & alone.keys())


def main(count: int, seed: int) -> None:
    """Try a sample of the pairs of mutants of one group of clauses."""
    pairs = list(_pairs())
    sample = random.Random(seed).sample(pairs, min(count, len(pairs)))
    unseen = masked = 0
    for number, (first, second) in enumerate(sample, 1):
        if new_failures(first, second):
            continue
        if _differ(first, second):
            unseen += 1
            print(f"{number}: not seen: {second} beside {first}", flush=True)
        else:
            masked += 1
            print(f"{number}: no call ends otherwise: {second} beside {first}", flush=True)
    tried = len(sample) - masked
    print(f"{tried - unseen} of {tried} second bugs seen, of {len(pairs)} pairs")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
