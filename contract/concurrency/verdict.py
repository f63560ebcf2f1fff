"""Judge a schedule: find a call that no serial order explains, and show the calls as lines.

Which clause is a matter of who was there, so schedules are made small first. In this order:

- threads that wait for each other for ever: model.pread-thread-safe;
- only vectored reads are left: read-vectored.multiple; some are beside other calls:
  read-vectored.concurrent;
- a stream operation is wrong: pread.isolation;
- a positioned read holds bytes of a range that another positioned read asked for: pread.buffers;
- a positioned read is wrong beside stream operations: pread.serializable;
- a positioned read is wrong beside others of its kind: model.pread-thread-safe.
"""

from __future__ import annotations

from typing import NamedTuple

from fscontract.contract.concurrency.execution import Trial
from fscontract.contract.models.serializability import POSITIONED, Observed, find_serial_order
from fscontract.contract.models.stream_state import opened
from fscontract.contract.program.outcome import FILL, Outcome
from fscontract.contract.program.program import Step

VECTORED = "read_vectored"
#: Clauses whose violations these checks can find.
CLAUSES = frozenset(
    {
        "model.pread-thread-safe",
        "pread.buffers",
        "pread.isolation",
        "pread.serializable",
        "read-vectored.concurrent",
        "read-vectored.multiple",
    }
)


class Fault(NamedTuple):
    """What was wrong with a trial: a call of a thread, or (-1, -1) if the threads hung."""

    thread: int
    call: int
    expected: tuple[str, ...]
    actual: str
    reason: str = "no serial order fits"


class Span(NamedTuple):
    """When a call was under way, as places in the log."""

    start: int
    end: int


def faults(trial: Trial, features: frozenset[str]) -> tuple[Fault, ...]:
    """Every call that fits into no serial order, first ended first."""
    if trial.hang:
        return (Fault(-1, -1, ("every call ends",), "hang"),)
    found = find_serial_order(_observed(trial), opened(trial.data), features)
    return tuple(
        Fault(u.thread, u.call, u.expected, str(trial.outcomes[u.thread][u.call]))
        for u in found.unexplained
    )


def judge_trial(trial: Trial, features: frozenset[str]) -> Fault | None:
    """What is wrong first, if anything is."""
    return next(iter(faults(trial, features)), None)


def attribute(trial: Trial, fault: Fault) -> str:
    """The clause that the fault breaks."""
    if fault.thread < 0:
        return "model.pread-thread-safe"
    ops = {s.op for steps in trial.steps for s in steps}
    if VECTORED in ops:
        return "read-vectored.multiple" if ops == {VECTORED} else "read-vectored.concurrent"
    if trial.steps[fault.thread][fault.call].op not in POSITIONED:
        return "pread.isolation"
    if _holds_bytes_of_others(trial, fault):
        return "pread.buffers"
    return "model.pread-thread-safe" if ops <= POSITIONED else "pread.serializable"


def victim(trial: Trial, fault: Fault) -> str:
    """What kind of call went wrong: "stream", "positioned", "vectored"; or "hang"."""
    if fault.thread < 0:
        return "hang"
    op = trial.steps[fault.thread][fault.call].op
    return "positioned" if op in POSITIONED else "vectored" if op == VECTORED else "stream"


def overlapping(trial: Trial) -> bool:
    """Whether calls of two threads were under way at the same time."""
    spans = sorted((span, key[0]) for key, span in spans_of(trial).items())
    latest: dict[int, int] = {}
    for span, thread in spans:
        if any(end > span.start for other, end in latest.items() if other != thread):
            return True
        latest[thread] = span.end
    return False


def spans_of(trial: Trial) -> dict[tuple[int, int], Span]:
    """When each call, by thread and place, was under way; to the end of the log if it hung."""
    starts: dict[tuple[int, int], int] = {}
    spans: dict[tuple[int, int], Span] = {}
    for moment, entry in enumerate(trial.log):
        key = (entry.thread, entry.call)
        if entry.what == "starts":
            starts[key] = moment
            spans[key] = Span(moment, len(trial.log))
        elif entry.what == "returned":
            spans[key] = Span(starts[key], moment)
    return spans


def _observed(trial: Trial) -> list[list[Observed]]:
    spans = spans_of(trial)
    moving = [
        (key[0], span)
        for key, span in spans.items()
        if trial.steps[key[0]][key[1]].op in POSITIONED | {VECTORED}
    ]
    observed = []
    for thread, outcomes in enumerate(trial.outcomes):
        calls = []
        for number, outcome in enumerate(outcomes):
            step, span = trial.steps[thread][number], spans[thread, number]
            # Intermediate positions may be visible while a positioned call is under way (F14).
            judged = step.op != "get_pos" or not any(
                other != thread and span.start < o.end and o.start < span.end for other, o in moving
            )
            calls.append(Observed(step.op, step.args, outcome, span.end, judged))
        observed.append(calls)
    return observed


def _holds_bytes_of_others(trial: Trial, fault: Fault) -> bool:
    step = trial.steps[fault.thread][fault.call]
    outcome = trial.outcomes[fault.thread][fault.call]
    others = [
        _asked(trial.data, s)
        for thread, steps in enumerate(trial.steps)
        for s in steps
        if thread != fault.thread and s.op in POSITIONED
    ]
    return any(run in other for run in _wrong_runs(trial.data, step, outcome) for other in others)


def _asked(data: bytes, step: Step) -> bytes:
    """The bytes that a positioned read asks for."""
    position, size, offset, length = _request(step)
    return data[position : position + min(length, size - offset)]


def _wrong_runs(data: bytes, step: Step, outcome: Outcome) -> list[bytes]:
    """The runs of bytes in the buffer that should not be there."""
    if outcome.buffer is None:
        return []
    offset = _request(step)[2]
    right = bytearray([FILL]) * len(outcome.buffer)
    wanted = _asked(data, step)
    right[offset : offset + len(wanted)] = wanted
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


#: Lines shown of a long trial: those before the fault.
_MOST = 40


def render(trial: Trial, fault: Fault | None) -> tuple[str, ...]:
    """The log in lines such as `3  T1 paused at memory.py:120`, up to the faulty call's end."""
    lines = []
    for entry in trial.log:
        text = f"T{entry.thread} {_happening(trial, fault, entry.what, entry.thread, entry.call)}"
        lines.append(text + (f" at {entry.where}" if entry.where else ""))
        if fault and (entry.what, *entry[1:3]) == ("returned", fault.thread, fault.call):
            break
    if fault is not None and fault.thread < 0:
        lines.append("no thread comes to an end")
    first = max(0, len(lines) - _MOST)
    width = len(str(len(lines)))
    return tuple(f"{n:>{width}}  {line}" for n, line in enumerate(lines, 1) if n > first)


def _happening(trial: Trial, fault: Fault | None, what: str, thread: int, call: int) -> str:
    step = trial.steps[thread][call]
    if what == "starts":
        return f"{step}  starts"
    if what != "returned":
        return {"resumes": "goes on"}.get(what, what)
    if call >= len(trial.outcomes[thread]):
        return f"{step} ended"
    outcome = trial.outcomes[thread][call]
    ending = f"{step} {'raised ' if outcome.raised else ''}{outcome}"
    if fault is None or (thread, call) != (fault.thread, fault.call):
        return ending
    return f"{ending}, expected {' or '.join(fault.expected)} ({fault.reason})"
