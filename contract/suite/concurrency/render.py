"""A trial as numbered lines that a person can follow."""

from __future__ import annotations

from fscontract.contract.suite.concurrency.judging import Fault
from fscontract.contract.suite.concurrency.trial import Trial

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
