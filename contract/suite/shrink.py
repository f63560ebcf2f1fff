"""Making a failing program small: fewer calls first, then smaller files and arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from fscontract.contract.anchors import Argument
from fscontract.contract.faults import smaller
from fscontract.contract.program import Program, Step
from fscontract.contract.suite.plainer import plainer, smaller_numbers

#: Runs that one shrinking may take.
ATTEMPTS = 500
_LENGTHS = (0, 1, 2, 3, 5, 8, 16, 64, 300, 1024)


def shrink(
    program: Program, fails: Callable[[Program], bool], same_length: bool = False
) -> Program:
    """The smallest program found for which `fails` is still true; deterministic.

    `same_length` keeps the file as it is, for a target whose file is given.
    """
    left = ATTEMPTS

    def smaller(candidates: Iterator[Program]) -> Program | None:
        nonlocal left
        for candidate in candidates:
            if left == 0:
                return None
            left -= 1
            if fails(candidate):
                return candidate
        return None

    passes = [_with_fewer_faults, _without_calls, _without_steps, _with_one_stream]
    if not same_length:
        passes.append(_with_shorter_file)
    passes += [_with_smaller_arguments, _with_plainer_calls]
    improved = True
    while improved and left:
        improved = False
        for candidates in passes:
            while (better := smaller(candidates(program))) is not None:
                program, improved = better, True
    return program


def _without_steps(program: Program) -> Iterator[Program]:
    steps = program.steps
    size = max(1, len(steps) // 2)
    while size >= 1:
        for start in range(0, len(steps), size):
            rest = steps[:start] + steps[start + size :]
            if rest or program.opening is not None:
                yield program.with_steps(rest)
        size //= 2


def _with_fewer_faults(program: Program) -> Iterator[Program]:
    if program.faults is not None:
        yield replace(program, faults=None)
        yield from (replace(program, faults=plan) for plan in smaller(program.faults))


def _without_calls(program: Program) -> Iterator[Program]:
    """Fewer calls of the builder, or none and no builder at all."""
    opening = program.opening
    if opening is None:
        return
    if opening.scene == "file" and program.steps:
        yield replace(program, opening=None)
    if opening.scene == "late":
        yield replace(program, opening=replace(opening, scene="file"))
    for index in range(len(opening.calls)):
        rest = opening.calls[:index] + opening.calls[index + 1 :]
        yield replace(program, opening=replace(opening, calls=rest))


def _with_plainer_calls(program: Program) -> Iterator[Program]:
    opening = program.opening
    if opening is not None:
        for calls in plainer(opening.calls):
            yield replace(program, opening=replace(opening, calls=calls))


def _with_one_stream(program: Program) -> Iterator[Program]:
    if program.streams > 1:
        steps = tuple(replace(s, stream=0) for s in program.steps)
        yield replace(program, steps=steps, streams=1)
        if all(s.stream < program.streams - 1 for s in program.steps):
            yield replace(program, streams=program.streams - 1)


def _with_shorter_file(program: Program) -> Iterator[Program]:
    for length in _LENGTHS:
        if length < program.length:
            yield replace(program, length=length)


def _with_smaller_arguments(program: Program) -> Iterator[Program]:
    for index, step in enumerate(program.steps):
        for place, value in enumerate(step.args):
            for simpler in _simpler(value):
                args = (*step.args[:place], simpler, *step.args[place + 1 :])
                changed = Step(step.op, args, step.stream)
                yield program.with_steps(
                    (*program.steps[:index], changed, *program.steps[index + 1 :])
                )


def _simpler(value: Argument) -> Iterator[Argument]:
    """Values that read more easily than this one; each chain of them is finite."""
    if isinstance(value, tuple) and value and isinstance(value[0], tuple):
        yield from (value[:i] + value[i + 1 :] for i in range(len(value)) if len(value) > 1)
    else:
        yield from smaller_numbers(value)
