"""Which clause a failing program breaks: the call that noticed, or one before it.

A wrong position shows in whatever call comes next. To tell the two apart, the last call of the
shrunk program is replaced by a witness, another way to see the same thing, and run again.
"""

from __future__ import annotations

from collections.abc import Callable

from fscontract.contract.models.reading import READS
from fscontract.contract.outcome import Outcome
from fscontract.contract.program import Program, Step
from fscontract.contract.suite.execute import Violation

_POSITION = Step("get_pos")
_BYTE = Step("read_byte")
_INTO = Step("read_into", (4, 0, 4))
_PYTHON_POSITION = Step("py_tell")
_PYTHON_READ = Step("py_read", (2,))
#: What a program of the rest of the API sees the position with.
_OBSERVERS = frozenset({"get_pos", "py_tell"})


def blame(
    violation: Violation,
    fails: Callable[[Program], bool],
    observe: Callable[[Program], list[Outcome]],
) -> str:
    """The id of the broken clause.

    `fails` runs a program and says whether its last call fails; `observe` runs one to its end,
    unjudged.
    """
    failure, program = violation.failure, violation.program
    if len({s.stream for s in program.steps}) > 1:
        return "open.independent"
    cause = failure.cause
    if not cause or cause == failure.clause:
        return failure.clause

    def witness(step: Step) -> bool:
        return fails(program.with_steps((*program.steps[:-1], step)))

    op = violation.step.op
    if failure.aspect == "returns":
        seen = observe(program.with_steps((*program.steps, _PYTHON_POSITION)))[-2:]
        return failure.clause if seen[0].value != seen[1].value else cause
    python = op.startswith("py_")
    if cause == "close.state":
        return cause if witness(_INTO if op == "read_byte" else _BYTE) else failure.clause
    if op in _OBSERVERS:
        return cause if witness(_PYTHON_READ if python else _BYTE) else failure.clause
    if failure.aspect == "raised":
        other = _other_read(op)
        return cause if witness(other) else failure.clause
    if cause == "open.state":
        return cause if witness(_PYTHON_POSITION if python else _POSITION) else failure.clause
    if violation.origin in READS and op in READS and violation.origin != op:
        if witness(_POSITION) or witness(_BYTE if op == "read_into" else _INTO):
            return cause
        return "read.same-data"
    return cause


def _other_read(op: str) -> Step:
    if op.startswith("py_"):
        return _PYTHON_POSITION if op == "py_read" else _PYTHON_READ
    return _INTO if op == "read_byte" else _BYTE
