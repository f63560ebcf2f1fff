"""Schedules as data: the calls of each thread, and the switches between threads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, NamedTuple

from fscontract.contract.program.arguments import ProgramError
from fscontract.contract.program.program import OF_FILE, Step

_MAX_THREADS = 16
_KEYS = frozenset({"length", "threads", "switches", "opcodes", "mode", "seed", "streams"})
#: What threads may share: one stream, or the file only.
_STREAMS = ("one", "each")


class Switch(NamedTuple):
    """At the given event of a given call (from 0) of `thread`, `to` continues instead.

    Event 0 is before the call; the others are the lines (or opcodes) of the target's own code.
    """

    thread: int
    call: int
    event: int
    to: int


@dataclass(frozen=True)
class Schedule:
    """Threads that share one stream of a file of `length` bytes, and the switches between them.

    With `apart`, each thread has a stream, and they share the file only.
    Threads start in their order, each when the previous one ends or yields. `opcodes` means that
    events are bytecode instructions, whose numbers depend on the version of Python. `free` threads
    are scheduled by the operating system, without switches.
    """

    length: int
    threads: tuple[tuple[Step, ...], ...]
    switches: tuple[Switch, ...] = ()
    opcodes: bool = False
    free: bool = False
    seed: int = 0
    apart: bool = False

    @property
    def calls(self) -> int:
        """The number of calls of all threads."""
        return sum(map(len, self.threads))

    def to_json(self) -> dict[str, Any]:
        """Return the schedule as a JSON object."""
        return {
            "length": self.length,
            "mode": "free" if self.free else "controlled",
            "threads": [[s.to_json() for s in steps] for steps in self.threads],
            "switches": [list(s) for s in self.switches],
            "opcodes": self.opcodes,
            "seed": self.seed,
            **({"streams": _STREAMS[True]} if self.apart else {}),
        }

    @classmethod
    def from_json(cls, data: Any, where: str = "schedule") -> Schedule:
        """Read a schedule; raise ProgramError with the invalid place and the allowed values."""
        if not isinstance(data, dict) or not isinstance(data.get("threads"), list):
            raise ProgramError(f"{where}: expected an object with length and threads")
        unknown = sorted(str(k) for k in data.keys() - _KEYS)
        if unknown:
            raise ProgramError(
                f"{where}: unknown key {unknown[0]!r}; known: {', '.join(sorted(_KEYS))}"
            )
        length = _number(data.get("length"), 1 << 30, f"{where}: length")
        threads = _threads(data["threads"], where)
        switches = _switches(data.get("switches", []), threads, where)
        mode, opcodes = data.get("mode", "controlled"), data.get("opcodes", False)
        if mode not in ("controlled", "free"):
            raise ProgramError(f"{where}: mode must be controlled or free, got {mode!r}")
        if type(opcodes) is not bool:
            raise ProgramError(f"{where}: opcodes must be true or false, got {opcodes!r}")
        seed = _number(data.get("seed", 0), 1 << 128, f"{where}: seed")
        streams = data.get("streams", _STREAMS[False])
        if streams not in _STREAMS:
            raise ProgramError(f"{where}: streams must be one or each, got {streams!r}")
        apart = streams == _STREAMS[True]
        return cls(length, threads, switches, opcodes, mode == "free", seed, apart)


def _threads(data: list[Any], where: str) -> tuple[tuple[Step, ...], ...]:
    if not 1 <= len(data) <= _MAX_THREADS or not all(isinstance(t, list) for t in data):
        raise ProgramError(f"{where}: threads must be 1 to {_MAX_THREADS} lists of calls")
    threads = tuple(
        tuple(Step.from_json(s, f"{where}: thread {i} call {j}") for j, s in enumerate(steps))
        for i, steps in enumerate(data)
    )
    for step in (s for steps in threads for s in steps):
        if step.stream or step.op in OF_FILE:
            raise ProgramError(f"{where}: threads call streams of one file, so no {step}")
    return threads


def _switches(data: Any, threads: tuple[tuple[Step, ...], ...], where: str) -> tuple[Switch, ...]:
    if not isinstance(data, list):
        raise ProgramError(f"{where}: switches must be a list of [thread, call, event, to]")
    switches = []
    for number, item in enumerate(data, 1):
        item_name = f"{where}: switch {number}"
        if not isinstance(item, list) or len(item) != 4:
            raise ProgramError(f"{item_name}: expected [thread, call, event, to], got {item!r}")
        last_thread = len(threads) - 1
        thread = _number(item[0], last_thread, f"{item_name}: thread")
        call = _number(item[1], len(threads[thread]) - 1, f"{item_name}: call")
        event = _number(item[2], 1 << 40, f"{item_name}: event")
        switches.append(
            Switch(thread, call, event, _number(item[3], last_thread, f"{item_name}: to"))
        )
    return tuple(switches)


def _number(value: Any, maximum: int, where: str) -> int:
    if type(value) is not int or not 0 <= value <= maximum:
        raise ProgramError(f"{where} must be 0 to {maximum}, got {value!r}")
    return value


#: Limit of runs to shrink one schedule.
ATTEMPTS = 250
#: Schedules with more switches are tried with a single one of them, first with as many far apart.
_FEW = 8
#: How many single switches of a schedule with more of them are tried first. These runs are short.
_SINGLES = 64


def shrink(
    schedule: Schedule, fails: Callable[[Schedule], bool], attempts: int = ATTEMPTS
) -> Schedule:
    """Return the smallest schedule found for which `fails` is still true."""
    remaining = attempts
    for candidate in islice(_single_switches(schedule), attempts):
        remaining -= 1
        if fails(candidate):
            schedule = candidate
            break
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


def _single_switches(schedule: Schedule) -> Iterator[Schedule]:
    """Yield the schedule with one of its many switches, for some of them, first far apart.

    The thread that it switches from is the first one: another one would run after the first ended.
    """
    switches = schedule.switches if len(schedule.switches) > _FEW else ()
    between = len(switches) // _SINGLES or 1
    some = switches[between // 2 :: between]
    apart = some[_FEW // 2 :: _FEW]
    for switch in (*apart, *(one for one in some if one not in apart)):
        single = replace(schedule, switches=(switch,))
        yield _reversed(single) if switch.thread else single


def _reversed(schedule: Schedule) -> Schedule:
    """Return the schedule with the threads in reverse order."""
    last = len(schedule.threads) - 1
    switches = tuple(
        Switch(last - s.thread, s.call, s.event, last - s.to) for s in schedule.switches
    )
    return replace(schedule, threads=schedule.threads[::-1], switches=switches)


def _parts(size: int) -> Iterator[tuple[int, int]]:
    """Yield parts to leave out, large ones first; never everything."""
    part = size // 2
    while part >= 1:
        for start in range(0, size, part):
            yield start, min(start + part, size)
        part //= 2


def _without_thread(schedule: Schedule, gone: int, instead: int) -> Schedule:
    """Return the schedule without a thread; switches to it go to another thread."""
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
