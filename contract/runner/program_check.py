"""Run one program of a phase, and keep the results: violations, misses, differences, leaks."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from fscontract.contract import clock
from fscontract.contract.generate.vectors import Vector, permits, says
from fscontract.contract.models.acceptor import TABLES
from fscontract.contract.models.stream_state import Failure
from fscontract.contract.program.outcome import Kind
from fscontract.contract.program.program import OF_FILE, Program
from fscontract.contract.program.server_faults import clause_of_server
from fscontract.contract.runner.context import RunContext, StopRun
from fscontract.contract.runner.counterexamples import counterexample
from fscontract.contract.runner.crashes import LeftOut
from fscontract.contract.runner.execution import Execution, Violation
from fscontract.contract.runner.executor import Executor
from fscontract.contract.runner.resource_checks import LEAKED, MAX_GROWTH, OUT_OF, REPEATS, grows
from fscontract.contract.runner.result import LEFT, Counterexample
from fscontract.contract.runner.shrink import with_needed_operations
from fscontract.contract.runner.signature import circumstances_of_leak
from fscontract.contract.spec.clauses import Clause

#: Calls after which a file of the target is open, because fsspec closes only its own around it, and
#: that make another filesystem, which may stay connected.
_UNCLOSED = frozenset({"fs_decompress", "fs_pickle"})


def check_program(context: RunContext, item: Program | Vector) -> None:
    """Run a program or an example, and keep the results.

    Raise StopRun at the place where the settings end the run.
    """
    if context.settings.until == (context.phase, context.done):
        raise StopRun
    context.begun, context.item = context.done, item
    program = item.program if isinstance(item, Vector) else item
    executor = context.executor
    left_out = context.settings.crashes and executor.leaves_out(program)
    begun = clock.monotonic()
    execution = executor.run(program, trace=isinstance(item, Vector), resume=True)
    calls = len(program.steps) + program.streams
    context.note_pace(clock.monotonic() - begun, calls)
    context.done += 1
    context.journal.done = context.done
    if left_out:
        _mark_left_out(context, program)
    elif execution.environment is not None:
        clauses = context.settings.clauses
        context.lose_call(str(execution.environment), _exercised_by(item, program, clauses))
    else:
        context.reach()
        _keep_violations(context, item, execution)
        _compare_pair(context, program, execution)
        if execution.refused:
            context.leaks.restart()  # what a failed write of the file leaves
        else:
            _look_for_leaks(context, program)
        context.note_completed(program)


def _exercised_by(
    item: Program | Vector, program: Program, clauses: Sequence[Clause]
) -> frozenset[str]:
    """Return the ids of the clauses that a program, or that of an example, can exercise."""
    checks = [f"model.{op}" for op in ("open", *(step.op for step in program.steps))]
    kinds = {
        "openfile": program.opening is not None,
        "path": program.at is not None,
        "faults": program.faults is not None,
        "servers": program.faults is not None,
        "consistency": any(step.op in OF_FILE for step in program.steps),
        "streams": program.streams > 1,
    }
    prefixes = tuple(f"{kind}." for kind, is_there in kinds.items() if is_there)
    own = {item.clause} if isinstance(item, Vector) else set()
    for step in program.steps:
        own |= TABLES[step.op].all_clauses if step.op in TABLES else set()
    concern = (
        c.id for c in clauses if any(k in checks or k.startswith(prefixes) for k in c.checks)
    )
    return frozenset(own.union(concern))


def _keep_violations(context: RunContext, item: Program | Vector, execution: Execution) -> None:
    counterexamples, violation = context.counterexamples, execution.violation
    for miss in execution.misses:
        context.report(counterexamples.miss(miss))
    if violation is not None:
        context.report(counterexamples.violation(violation))
        for later in execution.later:
            context.report(counterexamples.violation(later, later=True))
        context.mark_example(counterexamples.charged(violation), counterexample(violation))
    elif isinstance(item, Vector):
        # A miss that counts is kept already; at a wrong position none does.
        if all(miss.failure.clause != item.clause for miss in execution.misses):
            context.keep(item.clause, against_vector(context.executor, item, execution))
    elif any(s.stream > 0 for s in item.steps) and item.opening is None:
        context.exercised["open.independent"] += 1


def _compare_pair(context: RunContext, program: Program, execution: Execution) -> None:
    if program.faults is not None and not clause_of_server(program.faults.kinds):
        context.exercised["fault.hang"] += 1
    compared, difference = against_pair(context.executor, program, execution)
    context.exercised[SAME_VALIDATION] += compared
    context.keep(SAME_VALIDATION, difference)


def _mark_left_out(context: RunContext, program: Program) -> None:
    """Note that an example is skipped, because it makes calls that crashed a process."""
    for crash in context.settings.crashes:
        if program in LeftOut([crash, crash]):
            context.mark_example(crash.clause, crash.counterexample)


def _look_for_leaks(context: RunContext, program: Program) -> None:
    if context.left_out.open_streams:
        context.leaks.look_at_kept()
        _stop_if_too_many(context)
        return
    if program.faults is not None and clause_of_server(program.faults.kinds):
        return  # the threads of the server are those of this process, too
    clause = "close.release" if program.faults is None else "fault.release"
    context.exercised[clause] += 1
    skips = context.times.run.is_over or any(step.op in _UNCLOSED for step in program.steps)
    known = LEAKED if skips else leaks_in(context, clause, program)
    again = partial(context.counterexamples.executor.run, program)
    left = context.leaks.left(again, context.sandbox.restore, known)
    _stop_if_too_many(context)
    if left:
        with context.leaks.set_apart():
            program = _shrunk_leak(context, program, left)
        expected, how = ("nothing is left open",), f"{LEFT}{left}"
        identity = "; ".join([how, *circumstances_of_leak(program)])
        leak = Counterexample(program, expected, f"left {left}", how=how, identity=identity)
        context.keep(clause, leak)


def _stop_if_too_many(context: RunContext) -> None:
    if context.leaks.too_many:
        context.counts[f"{OUT_OF}{context.leaks.too_many}"] = 1
        raise StopRun


def _shrunk_leak(context: RunContext, program: Program, left: str) -> Program:
    """Return a program without operations that it does not need to leak the same."""
    others = LEAKED - {left}

    def leaks(shorter: Program) -> bool:
        if context.leaks.growth > MAX_GROWTH // 2:
            return False
        if not context.has_time_for(REPEATS * len(program.steps)):
            return False
        return grows(partial(context.counterexamples.executor.run, shorter), others) == left

    return with_needed_operations(program, leaks)


def leaks_in(context: RunContext, clause: str, program: Program) -> frozenset[str]:
    """Return the resources known to leak in the circumstances of a program, or in fewer."""
    leaks = context.counterexamples.failed.get(clause)
    if not leaks:
        return frozenset()
    given = {*circumstances_of_leak(program)}
    found = (leak.signature.split("; ") for leak in leaks.values())
    return frozenset(how.removeprefix(LEFT) for how, *calls in found if given.issuperset(calls))


#: The clause of values that `opt` and `must` validate alike.
SAME_VALIDATION = "open.opt-same-validation"


def against_vector(
    executor: Executor, vector: Vector, execution: Execution
) -> Counterexample | None:
    """Return a counterexample if the vector does not list the last outcome.

    It says nothing of that if an earlier call could not be made.
    """
    outcomes = [outcome for _, outcome, _ in execution.trace]
    if not outcomes or any(o.kind is Kind.INEXPRESSIBLE for o in outcomes):
        return None
    if any(outcome.lacks_method for outcome in outcomes[:-1]):
        return None
    data, outcome = execution.content, outcomes[-1]
    if data is None:
        data = executor.file(vector.program.length)[1]
    if permits(vector, outcome, data, executor.buffer):
        return None
    last = len(vector.program.steps) - 1
    failure = Failure(vector.clause, "", "value", says(vector))
    step = vector.program.steps[last]
    return counterexample(Violation(vector.program, last, step, outcome, failure))


def against_pair(
    executor: Executor, program: Program, execution: Execution
) -> tuple[bool, Counterexample | None]:
    """Check that a value of the filesystem's own key has the same effect in `opt` and `must`.

    Return whether that could be observed, and the counterexample.
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
