"""What threads did, one after the other, in a lane for each of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

#: A line such as `3  T1 seek(0)  starts`, or `thread 1: seek(0)`.
_LINE = re.compile(r"\s*(?:(\d+)\s+T(\d+)|thread (\d+):)\s+(.*)", re.DOTALL)
#: More threads than a schedule may have.
_MOST = 16


class Event(NamedTuple):
    """One line; `thread` is None for one that is of no thread.

    `lanes` says of each thread whether it runs, waits in the midst of a call, or is idle.
    """

    number: str
    thread: int | None
    text: str
    lanes: tuple[str, ...]
    last: bool


class Lanes(NamedTuple):
    """The lines of an interleaving; `threads` are the numbers of its threads."""

    threads: tuple[int, ...]
    events: tuple[Event, ...]


def lanes(lines: Sequence[str]) -> Lanes | None:
    """The lanes of an interleaving, None if it is no such thing."""
    found = [_LINE.fullmatch(line) for line in lines]
    numbers = {int(m[2] or m[3]) for m in found if m}
    if not numbers or max(numbers) >= _MOST:
        return None
    threads = tuple(range(max(numbers) + 1))
    busy: set[int] = set()
    events = []
    for index, (line, match) in enumerate(zip(lines, found, strict=True), 1):
        last = index == len(lines)
        if match is None:
            events.append(Event("", None, line.strip(), _states(threads, None, busy), last))
            continue
        thread, text = int(match[2] or match[3]), match[4].strip()
        states = _states(threads, thread, busy)
        events.append(Event(match[1] or "", thread, text, states, last))
        if text.endswith("starts"):
            busy.add(thread)
        elif not re.match(r"(paused|goes on|blocked|waits)\b", text):
            busy.discard(thread)
    return Lanes(threads, tuple(events))


def _states(threads: tuple[int, ...], running: int | None, busy: set[int]) -> tuple[str, ...]:
    return tuple("runs" if t == running else "waits" if t in busy else "idle" for t in threads)
