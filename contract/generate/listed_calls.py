"""Programs from lists of calls, without the operations that an API lacks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import cycle, islice
from typing import TypeAlias

from fscontract.contract.program.arguments import Argument
from fscontract.contract.program.program import Program, Step

#: An operation with its arguments.
Call: TypeAlias = tuple[str, tuple[Argument, ...]]


def program_of(length: int, calls: Iterable[Call]) -> Program:
    """Return a program of these calls on a file of `length` bytes."""
    return Program(length, tuple(Step(op, args) for op, args in calls))


def repeated(length: int, calls: Iterable[Call], count: int) -> Program:
    """Return a program of `count` calls, which repeats these in turn."""
    steps = [Step(op, args) for op, args in calls]
    return Program(length, tuple(islice(cycle(steps), count)))


def expressible(programs: Iterable[Program], operations: frozenset[str]) -> Iterator[Program]:
    """Yield the programs, each of them once, without operations that are not among these.

    Programs without any other call are left out.
    """
    known: set[Program] = set()
    for program in programs:
        steps = tuple(step for step in program.steps if step.op in operations)
        possible = program.with_steps(steps)
        if steps and possible not in known:
            known.add(possible)
            yield possible
