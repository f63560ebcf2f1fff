"""A run in parts comes to the verdicts of a run in one process."""

from __future__ import annotations

import re
from typing import Any

import pytest

from fscontract.contract.runner.events import ViolationFound
from fscontract.contract.runner.result import RunResult, Verdict
from fscontract.contract.spec.profiles import load_profile
from tests.contract.distributed.conftest import Bench, MakeBench, options

#: Names of files, which are other ones in each run.
_PATHS = re.compile(r"/fscontract-[\w-]+/\w+")
#: Mutants, and the clauses that are looked at: threads, misses, files that change, opens, Python.
MUTANTS = [
    ("seek.negative-NegativeIsZero", ("seek", "read-byte")),
    ("pread.full-PreadHalf", ("pread.full", "read-fully")),
    ("pread.isolation-SeekReadSeek", ("pread.isolation", "pread.serializable", "pread.buffers")),
    ("consistency.length-EndsWhenChanged", ("consistency", "read-into.eof")),
    ("open.std-must-ok-DemandsFailLater", ("open.std-must-ok", "open.failure-stage")),
    ("python.tell.stays-TellMoves", ("python.tell", "python.seek")),
    ("open.cost-unread-ReadsAtOnce", ("open.cost-*",)),
]


def verdicts(result: RunResult) -> dict[str, tuple[Any, ...]]:
    """What a run says of each clause, counterexamples and reasons included."""
    return {
        c.clause.id: (
            c.outcome,
            _PATHS.sub("...", str(c.counterexample)),
            c.reason,
            c.exercised > 0,
        )
        for c in result.clauses
    }


@pytest.mark.parametrize(("mutant", "clauses"), MUTANTS, ids=[name for name, _ in MUTANTS])
def test_a_mutant_is_seen_as_by_one_process(
    mutant: str, clauses: tuple[str, ...], bench: MakeBench
) -> None:
    """Whatever the number of parts, with the same counterexample; it is told when it is found."""
    made = bench(mutant, clauses=clauses)
    whole = made.whole()
    assert {c.outcome for c in whole.clauses} & {Verdict.FAIL, Verdict.LAX}
    bad = {c.clause.id for c in whole.clauses if c.outcome is Verdict.FAIL}
    for count in (1, 3, 7):
        assert verdicts(made.parts(count)) == verdicts(whole)
        assert {e.clause for e in made.events if isinstance(e, ViolationFound)} >= bad
        made.events.clear()


def test_what_conforms_does_so_in_parts(bench: MakeBench) -> None:
    """All clauses of streams on the filesystem in memory."""
    made = bench()
    whole = made.whole()
    assert whole.conforms
    assert verdicts(made.parts(3)) == verdicts(whole)


@pytest.mark.deep
@pytest.mark.parametrize("count", [1, 3, 7])
def test_all_programs_in_parts_come_to_the_same(count: int) -> None:
    """None is left out here."""
    made = Bench("memory", options(), load_profile("reference"))
    assert verdicts(made.parts(count)) == verdicts(made.whole())
