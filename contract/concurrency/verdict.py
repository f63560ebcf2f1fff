"""Judge a schedule: find a call that no serial order explains, and show the calls as lines.

The clause depends on the operations involved, so schedules are shrunk first. In this order:

- each thread has a stream: open.independent;
- threads that wait for each other and never end: model.pread-thread-safe;
- only vectored reads are left: read-vectored.multiple; some are beside other calls:
  read-vectored.concurrent;
- a stream operation is wrong: pread.isolation;
- a positioned read holds bytes of a range that another positioned read asked for: pread.buffers;
- a positioned read is wrong beside stream operations: pread.serializable;
- a positioned read is wrong beside others of its kind: model.pread-thread-safe.
"""

from __future__ import annotations

from typing import NamedTuple

from fscontract.contract.concurrency.execution import Execution
from fscontract.contract.concurrency.scheduler import Entry
from fscontract.contract.models.serializability import POSITIONED, Observed, find_serial_order
from fscontract.contract.models.stream_state import opened
from fscontract.contract.program.outcome import FILL, Outcome
from fscontract.contract.program.program import Step

VECTORED = "read_vectored"
#: The clause of threads each of which has a stream.
APART = "open.independent"
#: Clauses whose violations these checks can find.
CLAUSES = frozenset(
    {
        APART,
        "model.pread-thread-safe",
        "pread.buffers",
        "pread.isolation",
        "pread.serializable",
        "read-vectored.concurrent",
        "read-vectored.multiple",
    }
)


#: The signature of calls that fit no serial order.
NO_ORDER = "threads: no serial order"
#: Clauses in which one race may show, by the operations that race. A call that holds bytes of
#: another positioned read may have met that one or a stream operation.
_RACES = (
    frozenset({"model.pread-thread-safe", "pread.buffers"}),
    frozenset({"pread.buffers", "pread.isolation", "pread.serializable"}),
    frozenset({"read-vectored.concurrent", "read-vectored.multiple"}),
)


class Fault(NamedTuple):
    """A fault of an execution: of a call of a thread, or (-1, -1) if the threads hung."""

    thread: int
    call: int
    expected: tuple[str, ...]
    actual: str
    reason: str = ""


class Span(NamedTuple):
    """The duration of a call, as positions in the log."""

    start: int
    end: int


def faults(execution: Execution, features: frozenset[str]) -> tuple[Fault, ...]:
    """Return every call that fits no serial order, by the time of its end."""
    if execution.hang:
        return (Fault(-1, -1, ("every call ends",), "hang"),)
    observed, start = _observed(execution), opened(execution.data)
    if execution.schedule.apart:
        alone = [find_serial_order([calls], start, features).unexplained for calls in observed]
        wrong = [u._replace(thread=thread) for thread, some in enumerate(alone) for u in some]
        wrong.sort(key=lambda u: observed[u.thread][u.call].ended)
    else:
        wrong = [*find_serial_order(observed, start, features).unexplained]
    reason = "another stream disturbs it" if execution.schedule.apart else "no serial order fits"
    return tuple(
        Fault(u.thread, u.call, u.expected, str(execution.outcomes[u.thread][u.call]), reason)
        for u in wrong
    )


def first_fault(execution: Execution, features: frozenset[str]) -> Fault | None:
    """Return the first fault, if there is one."""
    return next(iter(faults(execution, features)), None)


def attribute(execution: Execution, fault: Fault) -> str:
    """Return the clause that the fault violates."""
    if execution.schedule.apart:
        return APART
    if fault.thread < 0:
        return "model.pread-thread-safe"
    ops = _involved(execution, fault)
    if VECTORED in ops:
        return "read-vectored.multiple" if ops == {VECTORED} else "read-vectored.concurrent"
    if execution.steps[fault.thread][fault.call].op not in POSITIONED:
        return "pread.isolation"
    if _holds_bytes_of_others(execution, fault):
        return "pread.buffers"
    return "model.pread-thread-safe" if ops <= POSITIONED else "pread.serializable"


def _involved(execution: Execution, fault: Fault) -> set[str]:
    """Return the operations that may have disturbed the failed call, and its own.

    Of free threads, which may not fail again while they are shrunk, these are the calls during it.
    A stream operation shows what happened since the thread's previous one began, which was right.
    """
    ops = {s.op for steps in execution.steps for s in steps}
    if not execution.schedule.free:
        return ops
    spans = spans_of(execution)
    own = execution.steps[fault.thread][fault.call].op
    previous = (fault.thread, fault.call - (own not in POSITIONED | {VECTORED}))
    start, end = spans.get(previous, Span(0, 0)).start, spans[fault.thread, fault.call].end
    during = {
        execution.steps[thread][call].op
        for (thread, call), span in spans.items()
        if thread != fault.thread and span.start < end and start < span.end
    }
    return {own} | during if during else ops


def are_of_one_race(clause: str, other: str) -> bool:
    """Return whether the same operations race in both clauses.

    Which of them fails depends on the schedule, and on which call the threads disturb first.
    """
    return any({clause, other} <= race for race in _RACES)


def victim(execution: Execution, fault: Fault) -> str:
    """Return the kind of the failed call: "stream", "positioned", "vectored"; or "hang"."""
    if fault.thread < 0:
        return "hang"
    return kind_of(execution.steps[fault.thread][fault.call].op)


def kind_of(op: str) -> str:
    """Return the kind of an operation: "stream", "positioned" or "vectored"."""
    return "positioned" if op in POSITIONED else "vectored" if op == VECTORED else "stream"


def overlapping(execution: Execution) -> bool:
    """Return whether calls of two threads overlapped."""
    spans = sorted((span, key[0]) for key, span in spans_of(execution).items())
    latest: dict[int, int] = {}
    for span, thread in spans:
        if any(end > span.start for other, end in latest.items() if other != thread):
            return True
        latest[thread] = span.end
    return False


def spans_of(execution: Execution) -> dict[tuple[int, int], Span]:
    """Return the span of each call, by thread and index; up to the end of the log if it hung."""
    starts: dict[tuple[int, int], int] = {}
    spans: dict[tuple[int, int], Span] = {}
    for moment, entry in enumerate(execution.log):
        key = (entry.thread, entry.call)
        if entry.event == "starts":
            starts[key] = moment
            spans[key] = Span(moment, len(execution.log))
        elif entry.event == "returned":
            spans[key] = Span(starts[key], moment)
    return spans


def _observed(execution: Execution) -> list[list[Observed]]:
    spans = spans_of(execution)
    moving = [
        (key[0], span)
        for key, span in spans.items()
        if execution.steps[key[0]][key[1]].op in POSITIONED | {VECTORED}
    ]
    if execution.schedule.apart:
        moving = []  # no call moves the stream of another thread
    observed = []
    for thread, outcomes in enumerate(execution.outcomes):
        calls = []
        for number, outcome in enumerate(outcomes):
            step, span = execution.steps[thread][number], spans[thread, number]
            # Intermediate positions may be visible during a positioned call (F14).
            judged = step.op != "get_pos" or not any(
                other != thread and span.start < o.end and o.start < span.end for other, o in moving
            )
            calls.append(Observed(step.op, step.args, outcome, span.end, judged))
        observed.append(calls)
    return observed


def _holds_bytes_of_others(execution: Execution, fault: Fault) -> bool:
    step = execution.steps[fault.thread][fault.call]
    outcome = execution.outcomes[fault.thread][fault.call]
    others = [
        _requested_bytes(execution.data, s)
        for thread, steps in enumerate(execution.steps)
        for s in steps
        if thread != fault.thread and s.op in POSITIONED
    ]
    return any(
        run in other for run in _wrong_runs(execution.data, step, outcome) for other in others
    )


def _requested_bytes(data: bytes, step: Step) -> bytes:
    """Return the bytes that a positioned read requests."""
    position, size, offset, length = _request(step)
    return data[position : position + min(length, size - offset)]


def _wrong_runs(data: bytes, step: Step, outcome: Outcome) -> list[bytes]:
    """Return the runs of unexpected bytes in the buffer."""
    if outcome.buffer is None:
        return []
    offset = _request(step)[2]
    right = bytearray([FILL]) * len(outcome.buffer)
    requested = _requested_bytes(data, step)
    right[offset : offset + len(requested)] = requested
    runs, run = [], bytearray()
    for got, expected in zip(outcome.buffer, right, strict=False):
        if got not in (expected, FILL):
            run.append(got)
        elif run:
            runs.append(bytes(run))
            run.clear()
    return [*runs, bytes(run)] if run else runs


def _request(step: Step) -> tuple[int, int, int, int]:
    if step.op in ("pread", "read_fully"):
        position, size, offset, length = step.args
        return position, size or 0, offset, length
    position, size = step.args[:2]
    start, limit = (step.args[2], step.args[3]) if len(step.args) > 2 else (0, size)
    end = (size or 0) if limit is None else limit
    return position, size or 0, start, end - start


#: Lines shown of a long execution: those before the fault.
_MAX_LINES = 40


def trace(execution: Execution, fault: Fault | None) -> tuple[str, ...]:
    """Return the log up to the end of the failed call.

    Its lines are like `3 T1 paused at memory.py:120`.
    """
    lines = []
    for entry in execution.log:
        text = f"T{entry.thread} {_event_text(execution, fault, entry)}"
        lines.append(text + (f" at {entry.where}" if entry.where else ""))
        if fault and entry[:3] == ("returned", fault.thread, fault.call):
            break
    if fault is not None and fault.thread < 0:
        lines.append("all threads hang")
    first = max(0, len(lines) - _MAX_LINES)
    width = len(str(len(lines)))
    return tuple(f"{n:>{width}}  {line}" for n, line in enumerate(lines, 1) if n > first)


def _event_text(execution: Execution, fault: Fault | None, entry: Entry) -> str:
    event, thread, call, _ = entry
    step: object = execution.steps[thread][call]
    if execution.schedule.apart:
        step = f"f{thread + 1}.{step}"
    if event == "starts":
        return f"{step}  starts"
    if event != "returned":
        return {"resumes": "continues"}.get(event, event)
    if call >= len(execution.outcomes[thread]):
        return f"{step} ended"
    outcome = execution.outcomes[thread][call]
    ending = f"{step} {'raised ' if outcome.raised else ''}{outcome}"
    if fault is None or (thread, call) != (fault.thread, fault.call):
        return ending
    return f"{ending}, expected {' or '.join(fault.expected)} ({fault.reason})"
