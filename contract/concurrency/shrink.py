"""Shrink a failing schedule: fewer threads, fewer calls, fewer switches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from fscontract.contract.concurrency.schedule import Schedule, Switch

#: Runs that one schedule may take.
ATTEMPTS = 200


def shrink(
    schedule: Schedule, fails: Callable[[Schedule], bool], attempts: int = ATTEMPTS
) -> Schedule:
    """Return the smallest schedule found for which `fails` is still true."""
    remaining = attempts
    improved = True
    while improved:
        improved = False
        for candidate in _smaller(schedule):
            if remaining == 0:
                return schedule
            remaining -= 1
            if fails(candidate):
                schedule, improved = candidate, True
                break
    return schedule


def _smaller(schedule: Schedule) -> Iterator[Schedule]:
    count = len(schedule.threads)
    if count > 2:
        for thread in range(count):
            for successor in range(count):
                if successor != thread:
                    fewer = _without_thread(schedule, thread, successor)
                    yield from (fewer, _reversed(fewer))
    for thread, steps in enumerate(schedule.threads):
        for start, end in _parts(len(steps)):
            yield _without_calls(schedule, thread, start, end)
    for start, end in _parts(len(schedule.switches)):
        switches = schedule.switches[:start] + schedule.switches[end:]
        if switches:
            fewer = replace(schedule, switches=switches)
            yield from (fewer, _reversed(fewer))


def _reversed(schedule: Schedule) -> Schedule:
    """The last thread starts first."""
    last = len(schedule.threads) - 1
    switches = tuple(
        Switch(last - s.thread, s.call, s.event, last - s.to) for s in schedule.switches
    )
    return replace(schedule, threads=schedule.threads[::-1], switches=switches)


def _parts(size: int) -> Iterator[tuple[int, int]]:
    """Parts to leave out, great ones first; never everything."""
    part = size // 2
    while part >= 1:
        for start in range(0, size, part):
            yield start, min(start + part, size)
        part //= 2


def _without_thread(schedule: Schedule, gone: int, instead: int) -> Schedule:
    """Without a thread; those that made way for it make way for another."""
    switches = []
    for s in schedule.switches:
        to = instead if s.to == gone else s.to
        if gone != s.thread != to:
            switches.append(Switch(s.thread - (s.thread > gone), s.call, s.event, to - (to > gone)))
    threads = schedule.threads[:gone] + schedule.threads[gone + 1 :]
    return replace(schedule, threads=threads, switches=tuple(switches))


def _without_calls(schedule: Schedule, thread: int, start: int, end: int) -> Schedule:
    switches = []
    for s in schedule.switches:
        if s.thread != thread or s.call < start:
            switches.append(s)
        elif s.call >= end:
            switches.append(s._replace(call=s.call - (end - start)))
    steps = schedule.threads[thread][:start] + schedule.threads[thread][end:]
    threads = (*schedule.threads[:thread], steps, *schedule.threads[thread + 1 :])
    return replace(schedule, threads=threads, switches=tuple(switches))
