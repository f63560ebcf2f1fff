"""Outcomes that the model permits, and that are wrong beside something else."""

from __future__ import annotations

from collections.abc import Sequence

from fscontract.contract.generate.vectors import Vector, permits, says
from fscontract.contract.models.stream_state import Failure
from fscontract.contract.program.outcome import Kind, Outcome
from fscontract.contract.program.program import Program
from fscontract.contract.runner.counterexamples import counterexample
from fscontract.contract.runner.execution import Execution, Violation
from fscontract.contract.runner.executor import Executor
from fscontract.contract.runner.result import Counterexample

#: The clause of values that `opt` and `must` treat alike.
SAME_VALIDATION = "open.opt-same-validation"


def against_vector(
    executor: Executor, vector: Vector, outcomes: Sequence[Outcome]
) -> Counterexample | None:
    """A counterexample if the last outcome is none of those that the vector lists."""
    if not outcomes or any(o.kind is Kind.INEXPRESSIBLE for o in outcomes):
        return None
    data, outcome = executor.file(vector.program.length)[1], outcomes[-1]
    if permits(vector, outcome, data, executor.buffer):
        return None
    last = len(vector.program.steps) - 1
    failure = Failure(vector.clause, "", "value", says(vector))
    step = vector.program.steps[last]
    return counterexample(Violation(vector.program, last, step, outcome, failure))


def against_pair(
    executor: Executor, program: Program, execution: Execution
) -> tuple[bool, Counterexample | None]:
    """A value of the filesystem's own key ends the open alike, set by `opt` or by `must`.

    Returns whether that could be seen, and the counterexample if it does not.
    """
    pair = executor.openings and executor.openings.own_pair(program)
    if not pair or execution.violation is not None or not execution.trace:
        return False, None
    other = executor.run(pair)
    ways = [trace[-1] for e in (execution, other) if (trace := e.trace)]
    (step, outcome, _), (_, expected, _) = ways[0], ways[-1]
    if outcome.kind is expected.kind:
        return True, None
    how = f"{step.op}: {outcome.kind.value}"
    alike = f"as with {pair.opening}: {expected}"
    return True, Counterexample(program, (alike,), f"{step.op}: {outcome}", how=how)
