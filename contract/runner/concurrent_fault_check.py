"""Check that concurrent positioned reads fail independently (fault.preads)."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import NamedTuple

from fscontract.contract.binding import Injector, Opened
from fscontract.contract.models.acceptor import judge_all
from fscontract.contract.models.stream_state import opened
from fscontract.contract.program.faults import Fault, FaultPlan
from fscontract.contract.program.outcome import IO_KINDS, Kind, Outcome
from fscontract.contract.program.program import Program, Step
from fscontract.contract.runner.executor import Executor
from fscontract.contract.runner.result import Counterexample
from fscontract.contract.runner.timeouts import beat

CLAUSE = "fault.preads"
#: Threads on one stream, positioned reads of each, and the requests that a fault strikes in turn.
_THREADS = 4
_READS = 6
_STRIKES = 12
_LENGTH = 300
#: Kinds that strike one request and leave the store intact, the simplest first.
_KINDS = ("reset", "timeout", "throttle", "range")
#: Repeats of the fault, more than any client retries, so that one read fails.
_TIMES = 16
_FAILED = IO_KINDS | {Kind.ENVIRONMENT}


class CheckedReads(NamedTuple):
    """The number of judged reads, and the first set of failures."""

    exercised: int = 0
    counterexample: Counterexample | None = None


def check_preads(executor: Executor, injector: Injector) -> CheckedReads:
    """Read at several places of one stream concurrently, while requests fail one by one.

    Return no failure if there is no positioned read, or no fault of a single request.
    """
    kinds = [kind for kind in _KINDS if kind in injector.kinds]
    if "pread" not in executor.binding.operations or not kinds:
        return CheckedReads()
    judged = 0
    for at in range(2, 2 + _STRIKES):  # the first request may be the open
        plan = FaultPlan((Fault(kinds[0], at, _TIMES),))
        checked = _trial(executor, injector, plan)
        judged += checked.exercised
        if checked.counterexample is not None:
            return CheckedReads(judged, checked.counterexample)
    return CheckedReads(judged)


def _trial(executor: Executor, injector: Injector, plan: FaultPlan) -> CheckedReads:
    path, data, _ = executor.file(_LENGTH)
    length = len(data)
    reads = [_steps(thread, length) for thread in range(_THREADS)]
    steps = tuple(step for own in reads for step in own)
    program = Program(_LENGTH, steps, faults=plan)
    if executor.leaves_out(program):
        return CheckedReads()
    beat(program)
    with injector.attached(plan):
        try:
            stream = executor.binding.open(path)
        except Exception:  # other clauses judge opens
            return CheckedReads()
        try:
            outcomes = _run(executor, stream, reads)
        finally:
            executor.compile(_LENGTH, Step("close")).action(stream)
        fired = injector.fired
    failed = sum(outcome.kind in _FAILED for outcome in outcomes)
    wrong = [o for s, o in zip(steps, outcomes, strict=True) if not _right(executor, s, o, data)]
    expected = (f"at most {fired} of {len(steps)} reads fail, the others are right",)
    if wrong:
        return CheckedReads(len(steps), _failure(program, expected, f"one read {wrong[0]}"))
    if failed > fired:
        return CheckedReads(len(steps), _failure(program, expected, f"{failed} reads failed"))
    return CheckedReads(len(steps))


def _steps(thread: int, length: int) -> list[Step]:
    """Return reads whose ranges do not overlap between threads, if the file is long enough."""
    places = (7 + (thread + _THREADS * n) * 11 for n in range(_READS))
    return [Step("pread", (position % max(length - 9, 1), 9, 0, 9)) for position in places]


def _run(executor: Executor, stream: Opened, reads: Sequence[Sequence[Step]]) -> list[Outcome]:
    ready = Barrier(len(reads))
    actions = [[executor.compile(_LENGTH, step).action for step in own] for own in reads]

    def work(number: int) -> list[Outcome]:
        ready.wait()
        return [action(stream) for action in actions[number]]

    with ThreadPoolExecutor(len(reads)) as pool:
        return [outcome for own in pool.map(work, range(len(reads))) for outcome in own]


def _right(executor: Executor, step: Step, outcome: Outcome, data: bytes) -> bool:
    if outcome.kind in _FAILED:
        return outcome.kind is not Kind.EOF
    features = executor.acceptor.features
    return judge_all(step.op, step.args, (opened(data),), features, outcome).failure is None


def _failure(program: Program, expected: tuple[str, ...], actual: str) -> Counterexample:
    return Counterexample(program, expected, actual, how="threads: reads fail together")
