"""Generate programs of several threads by family, and the switches to try on them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import TypeAlias

from fscontract.contract.concurrency.schedule import Schedule, Switch
from fscontract.contract.concurrency.verdict import APART
from fscontract.contract.program.program import Step

#: Length of the small file, in which all bytes differ. Files must have at least this length.
SMALL = 48
_PREADS = frozenset({"pread", "read_fully"})
_Threads: TypeAlias = tuple[tuple[Step, ...], ...]


class Maker:
    """Makes valid calls with random arguments, on a file of `length` bytes."""

    def __init__(self, rng: Random, operations: frozenset[str], length: int, boundary: int) -> None:
        self.rng = rng
        self.operations = operations
        self.length = length
        #: Positions are near 0, near the boundary of the target's buffer, and near the end.
        self._anchors = [a for a in (0, boundary, 2 * boundary) if a < length] + [length - 8]
        self._max_count = 8 if length <= SMALL else 40

    def choose(self, *names: str) -> str:
        """Return one of the operations that the API supports."""
        return self.rng.choice([n for n in names if n in self.operations])

    def span(self, inside: bool) -> tuple[int, int]:
        """Return a position and a length; they are inside the file if `inside`."""
        rng = self.rng
        if self.length <= SMALL or rng.random() < 0.3:
            start = rng.randrange(self.length - 4)
        else:
            start = min(max(rng.choice(self._anchors) + rng.randint(-8, 4), 0), self.length - 4)
        count = rng.randint(3, self._max_count)
        return start, min(count, self.length - start) if inside else count

    def positioned(self) -> Step:
        """Return a positioned read."""
        op = self.choose("pread", "pread", "read_fully")
        position, count = self.span(inside=op == "read_fully")
        before, after = self.rng.choice(((0, 0), (0, 0), (2, 1)))
        return Step(op, (position, before + count + after, before, count))

    def stream(self) -> Step:
        """Return a stream operation."""
        op = self.choose("seek", "seek", "read_byte", "read_byte", "read_into", "get_pos", "skip")
        if op == "seek":
            return Step(op, (self.span(inside=True)[0],))
        if op == "read_into":
            count = self.rng.randint(1, self._max_count)
            return Step(op, (count, 0, count))
        return Step(op, (self.rng.randint(1, 4),) if op == "skip" else ())

    def reader(self) -> tuple[Step, ...]:
        """Return the calls of a thread that reads the stream; the last one returns the position."""
        calls = [self.stream() for _ in range(self.rng.randint(1, 4))]
        return (*calls, Step("read_byte") if "read_byte" in self.operations else calls[-1])

    def vectored(self) -> Step:
        """Return a vectored read of ranges that do not overlap."""
        ranges, end = [], 0
        for start, count in sorted(self.span(inside=True) for _ in range(self.rng.randint(1, 3))):
            if start >= end:
                ranges.append((start, count))
                end = start + count
        self.rng.shuffle(ranges)
        return Step("read_vectored", (tuple(ranges), "heap", "absent"))

    def several(self, make: Callable[[], Step], maximum: int = 2) -> tuple[Step, ...]:
        """Return one to `most` calls."""
        return tuple(make() for _ in range(self.rng.randint(1, maximum)))


@dataclass(frozen=True)
class Family:
    """Programs of one kind: the clauses they exercise, fixed programs, and a generator."""

    name: str
    clauses: tuple[str, ...]
    core: tuple[_Threads, ...]
    make: Callable[[Maker], _Threads]
    #: The features without which its programs say nothing.
    needs: frozenset[str] = frozenset({"supports-positioned-readable"})
    #: Whether each thread has a stream.
    apart: bool = False

    def usable(self, operations: frozenset[str]) -> bool:
        """Return whether the API supports the operations of the family."""
        return any(_expressible(threads, operations) for threads in self.core)

    def core_programs(self, operations: frozenset[str]) -> list[_Threads]:
        """Return the fixed programs, first those that start with the last thread."""
        usable = [t for t in self.core if _expressible(t, operations)]
        return [order for threads in usable for order in (threads[::-1], threads)]


def _expressible(threads: _Threads, operations: frozenset[str]) -> bool:
    return all(s.op in operations for steps in threads for s in steps)


def _pread(position: int, count: int) -> Step:
    return Step("pread", (position, count, 0, count))


def _vectored(*ranges: tuple[int, int]) -> Step:
    return Step("read_vectored", (ranges, "heap", "absent"))


_FULLY = Step("read_fully", (20, 6, 1, 4))
_BYTE = Step("read_byte")
_INTO = Step("read_into", (5, 0, 5))
_SEEK = Step("seek", (9,))


def _parallel_to_reader(maker: Maker) -> _Threads:
    positioned = [maker.several(maker.positioned) for _ in range(maker.rng.randint(1, 2))]
    return _shuffled(maker, [maker.reader(), *positioned])


def _among_preads(maker: Maker) -> _Threads:
    return tuple(maker.several(maker.positioned) for _ in range(maker.rng.randint(2, 3)))


def _vectored_in_parallel(maker: Maker) -> _Threads:
    companions = [maker.several(maker.positioned)] if maker.operations & _PREADS else []
    if not companions or maker.rng.random() < 0.5:
        companions.append(maker.reader())
    return _shuffled(maker, [maker.several(maker.vectored), *companions])


def _vectored_twice(maker: Maker) -> _Threads:
    return tuple(maker.several(maker.vectored) for _ in range(maker.rng.randint(2, 3)))


def _shuffled(maker: Maker, threads: list[tuple[Step, ...]]) -> _Threads:
    maker.rng.shuffle(threads)
    return tuple(threads)


def _readers(maker: Maker) -> _Threads:
    return tuple(maker.reader() for _ in range(maker.rng.randint(2, 3)))


_OF_VECTORED = frozenset({"supports-positioned-readable", "supports-vectored-io"})
FAMILIES = (
    Family(
        "positioned reads beside a reader",
        ("pread.isolation", "pread.serializable"),
        (
            ((_SEEK, _BYTE, _BYTE), (_pread(20, 4),)),
            ((_SEEK, _INTO, _INTO), (_FULLY,)),
            ((_INTO, Step("skip", (3,)), _BYTE), (_pread(30, 6),)),
        ),
        _parallel_to_reader,
    ),
    Family(
        "positioned reads beside each other",
        ("model.pread-thread-safe", "pread.buffers"),
        (
            ((_pread(6, 4),), (_pread(30, 4),)),
            ((_pread(2, 8),), (_FULLY,)),
            ((_FULLY,), (Step("read_fully", (4, 7, 0, 7)),)),
            ((_pread(6, 4),), (_pread(30, 4),), (_pread(16, 6),)),
        ),
        _among_preads,
    ),
    Family(
        "vectored reads beside others",
        ("read-vectored.concurrent",),
        (
            ((_vectored((4, 4), (25, 6)),), (_pread(12, 5),)),
            ((_vectored((25, 4), (4, 6)),), (_FULLY,)),
            ((_vectored((25, 4), (4, 6)),), (_SEEK, _INTO, _BYTE)),
        ),
        _vectored_in_parallel,
        _OF_VECTORED,
    ),
    Family(
        "several vectored reads",
        ("read-vectored.multiple",),
        (
            ((_vectored((4, 4), (25, 6)),), (_vectored((14, 5)),)),
            ((_vectored((25, 4), (4, 6)),), (_vectored((30, 2), (10, 4)),)),
        ),
        _vectored_twice,
        _OF_VECTORED,
    ),
    Family(
        "streams beside each other",
        (APART,),
        (
            ((_SEEK, _BYTE, _BYTE), (Step("seek", (30,)), _BYTE)),
            ((_INTO, _INTO), (_SEEK, _INTO)),
        ),
        _readers,
        frozenset(),
        apart=True,
    ),
)


def of_same_families(clauses: Collection[str]) -> frozenset[str]:
    """Return the clauses of the families that have one of these."""
    chosen = (family.clauses for family in FAMILIES if {*clauses} & {*family.clauses})
    return frozenset(clause for some in chosen for clause in some)


def random_threads(
    family: Family, seed: int, operations: frozenset[str], length: int, boundary: int
) -> _Threads:
    """Return the program of this seed."""
    return family.make(Maker(Random(seed), operations, length, boundary))


def long_threads(
    family: Family, seed: int, operations: frozenset[str], length: int, boundary: int, calls: int
) -> _Threads:
    """Return the program of this seed, its threads extended to about this many calls each."""
    maker = Maker(Random(seed), operations, length, boundary)
    base = family.make(maker)
    return tuple(_filled(maker, steps, calls) for steps in base)


def _filled(maker: Maker, steps: tuple[Step, ...], calls: int) -> tuple[Step, ...]:
    ops = {s.op for s in steps}
    while len(steps) < calls:
        if "read_vectored" in ops:
            steps = (*steps, maker.vectored())
        elif ops & _PREADS:
            steps = (*steps, maker.positioned())
        else:
            steps += maker.reader()
    return steps


def single_switches(counts: Sequence[Sequence[int]], limit: int) -> Iterator[tuple[Switch, ...]]:
    """Return every single switch at these event counts, reduced to `most`."""
    every = [
        (Switch(thread, call, event, to),)
        for thread, calls in enumerate(counts)
        for call, events in enumerate(calls)
        for event in range(events + 1)
        for to in range(len(counts))
        if to != thread and (call or event)
    ]
    step = max(1, -(-len(every) // limit))
    return itertools.islice(every, 0, None, step)


def lockstep_switches(counts: Sequence[Sequence[int]]) -> Iterator[tuple[Switch, ...]]:
    """Yield switches that run the calls of all threads in parallel, in strides of events."""
    for stride in (1, 2, 3, 5, 8):
        yield tuple(
            Switch(thread, call, event, (thread + 1) % len(counts))
            for thread, calls in enumerate(counts)
            for call, events in enumerate(calls)
            for event in range(stride, events + 1, stride)
        )


def random_switches(counts: Sequence[Sequence[int]], rng: Random) -> tuple[Switch, ...]:
    """Return one to three switches at random events."""
    events = [
        (thread, call, event)
        for thread, calls in enumerate(counts)
        for call, last in enumerate(calls)
        for event in range(last + 1)
    ]
    chosen = rng.sample(events, min(len(events), rng.choice((1, 2, 2, 3, 3))))
    switches = []
    for thread, call, event in sorted(chosen):
        to = rng.choice([t for t in range(len(counts)) if t != thread])
        switches.append(Switch(thread, call, event, to))
    return tuple(switches)


def events_of(counts: Sequence[Sequence[int]]) -> int:
    """Return the number of events."""
    return sum(map(sum, counts))


def with_switches(schedule: Schedule, switches: tuple[Switch, ...], seed: int) -> Schedule:
    """Return the same calls under other switches."""
    return replace(schedule, switches=switches, free=False, seed=seed)
