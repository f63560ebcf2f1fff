"""Programs during which requests fail, the file changes, or a server misbehaves."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from dataclasses import replace
from typing import TypeAlias

from fscontract.contract.generate import call_alphabet, call_sequences
from fscontract.contract.program.arguments import Argument
from fscontract.contract.program.fault_kinds import MOST_REQUESTS
from fscontract.contract.program.faults import FAULTS, Fault, FaultPlan, random_plan
from fscontract.contract.program.filesystem_calls import WHOLE_READS
from fscontract.contract.program.program import OF_FILE, Program, Step
from fscontract.contract.program.server_faults import HTTP, S3, SERVER_FAULTS, kinds_at

#: Random programs with faults, by effort.
PROGRAMS = {"quick": 1_000, "normal": 10_000, "deep": 60_000}
#: All programs with faults of a target whose calls cost round trips, by effort.
REMOTE = {"quick": 250, "normal": 2_000, "deep": 10_000}
#: Length of a small file, and the bytes of a file past a boundary of the buffer.
SMALL = 23
_BEYOND = 37
#: The most calls of a random program; each call may meet a fault.
_LONGEST = 12
#: Kinds of faults by which a request returns nothing.
_LOSSES = frozenset({"reset", "timeout", "cut-body"})
#: More often than any implementation should retry.
_OFTEN = 1000
#: The first request that a fault strikes of those that it can, and how often it strikes. The last
#: ones strike nearly all requests, from the open on, or from the first or second request after it.
_STRIKES = ((1, 1), (2, 1), (3, 1), (1, 2), (1, _OFTEN), (2, _OFTEN), (3, _OFTEN))


def programs(
    operations: frozenset[str],
    kinds: frozenset[str],
    buffer: int,
    effort: str,
    seed: int,
    only_length: int | None = None,
) -> Iterator[Program]:
    """Yield programs with faults of these kinds; the same seed gives the same ones."""
    yield from systematic(operations, kinds, buffer, only_length)
    draw = random.Random(f"{seed}:faults")
    source = call_sequences.random_programs(operations, buffer, "deep", seed, only_length)
    for _ in range(PROGRAMS[effort]):
        program = next(source)
        steps = program.steps[: draw.randint(1, _LONGEST)]
        yield replace(program, steps=steps, faults=random_plan(draw, kinds))


def drawn(source: Iterator[Program], effort: str, seed: int) -> list[Program]:
    """Return as many programs of the source as a remote target gets, in their order.

    Programs in which thousands of requests fill one buffer are left out: they are slow and find no
    more.
    """
    everything = [program for program in source if not _endless(program)]
    chosen = random.Random(f"{seed}:far").sample(range(len(everything)), len(everything))
    return [everything[i] for i in sorted(chosen[: REMOTE[effort]])]


def _endless(program: Program) -> bool:
    faults = program.faults.faults if program.faults is not None else ()
    return program.length > SMALL and any(f.kind == "short" and f.last >= _OFTEN for f in faults)


def systematic(
    operations: frozenset[str],
    kinds: frozenset[str],
    buffer: int,
    only_length: int | None = None,
) -> Iterator[Program]:
    """Yield every kind of read, with each kind of fault at the first or at all requests."""
    lengths = (SMALL, buffer + _BEYOND) if only_length is None else (only_length,)
    for length in lengths:
        for steps in _reads_of_each_kind(operations, length, buffer):
            for plan in _single(kinds):
                yield Program(length, steps, faults=plan)
        for start, calls in _again(length):
            steps = tuple(step for step in calls if step.op in operations)
            for plan in _behind(kinds, start) if len(steps) > 1 else ():
                yield Program(length, steps, faults=plan)


def _behind(kinds: frozenset[str], start: int) -> Iterator[FaultPlan]:
    """Yield faults of all requests from an offset on, however often they are made again."""
    for kind in sorted(kinds & _LOSSES):
        yield FaultPlan((Fault(kind, 1, _OFTEN, offset=slice(start, None)),))


def _single(kinds: frozenset[str]) -> Iterator[FaultPlan]:
    for name, kind in FAULTS.items():
        if name not in kinds:
            continue
        amounts: tuple[int | None, ...] = (None,)
        if "amount" in kind.parameters:
            amounts = kind.parameters["amount"].values[:3]
        for nth, times in _STRIKES:
            if times == _OFTEN and nth > 1 and "open" not in kind.operations:
                continue  # a fault of this kind does not strike an open
            for amount in amounts:
                yield FaultPlan((Fault(name, nth, times, amount),))


def _reads_of_each_kind(
    operations: frozenset[str], length: int, buffer: int
) -> Iterator[tuple[Step, ...]]:
    """Yield reads of every kind, each followed by a look at the position and another read."""
    some = min(length, buffer)
    reads = [
        Step("read_byte"),
        Step("read_into", (some, 0, some)),
        Step("read_into", (length, 0, length)),
        Step("pread", (2, 9, 0, 9)),
        Step("read_fully", (0, length, 0, length)),
        Step("read_vectored", (((1, 4), (9, 6)), "heap", "given")),
        Step("read_buffer", (some, 0, some)),
        Step("skip", (5,)),
        Step("seek_to_new_source", (3,)),
        Step("py_read", (length,)),
        Step("py_readinto", ("B", some)),
        Step("py_readall", ()),
    ]
    after = [
        Step("get_pos"),
        Step("read_byte"),
        Step("read_into", (8, 0, 8)),
        Step("py_read", (4,)),
    ]
    tail = tuple(step for step in after if step.op in operations)
    for read in reads:
        if read.op in operations:
            yield (read, *tail)
            if "seek" in operations:
                yield (Step("read_byte"), read, Step("seek", (length // 2,)), *tail)
    yield tuple(s for s in call_alphabet.core(operations) if s.op != "close")[:_LONGEST]


def _again(length: int) -> Iterator[tuple[int, tuple[Step, ...]]]:
    """Yield reads that fail from an offset on, and reads after them of that and of other parts."""
    ranges, others = ((1, 4), (9, 6)), ((12, 3), (3, 2))
    lists = [Step("read_vectored", (some, "heap", "given")) for some in (ranges, others, ranges)]
    yield 8, tuple(lists)
    far, into = Step("seek", (length - 9,)), Step("read_into", (4, 0, 4))
    back = (Step("seek", (1,)), Step("read_byte"))
    yield length - 9, (Step("read_byte"), far, into, into, *back, far, into)
    pread = Step("pread", (length - 6, 6, 0, 6))
    yield length - 6, (pread, pread, Step("pread", (length - 5, 5, 0, 5)), into)


Call: TypeAlias = tuple[str, tuple[Argument, ...]]
Calls: TypeAlias = tuple[Call, ...]

#: Lengths of files: one that fits a small buffer, and one that does not.
_LENGTHS = (5, 1000)
_BEFORE: tuple[Calls, ...] = (
    (),
    (("read_byte", ()),),
    (("read_into", (4, 0, 4)),),
    (("seek", ("len-1",)),),
    (("read_byte", ()), ("unbuffer", ())),
)
_READS: Calls = (
    ("read_byte", ()),
    ("read_into", ("len+9", 0, "len+9")),
    ("read_into", (4, 0, 4)),
    ("pread", (0, 8, 0, 8)),
    ("pread", ("len-2", 8, 0, 8)),
    ("read_fully", (0, "len", 0, "len")),
    ("read_vectored", (((0, 2), ("len-2", 2)), "heap", "absent")),
    ("read_buffer", (8, 0, None)),
)
_MOVES: Calls = (
    ("get_pos", ()),
    ("seek", (0,)),
    ("seek", ("len-2",)),
    ("skip", (2,)),
    ("unbuffer", ()),
)


#: Reads before a change, which may leave something in a cache, and after the path is opened again.
_CACHING: tuple[Calls, ...] = (
    (),
    (("read_byte", ()), ("py_read", (1,))),
    (
        ("pread", ("len-2", 2, 0, 2)),
        ("seek", ("len-2",)),
        ("read_into", (9, 0, 9)),
        ("py_seek", (-2, 2)),
        ("py_read", (2,)),
    ),
    (("read_into", ("len+1", 0, "len+1")), ("py_read", (-1,))),
)
_AGAIN: tuple[Calls, ...] = (
    (("read_into", ("len+9", 0, "len+9")), ("read_byte", ())),
    (("seek", ("len-2",)), ("read_into", (9, 0, 9))),
    (("pread", ("len-2", 9, 0, 9)), ("read_fully", (0, 2, 0, 2))),
    (("py_read", (-1,)), ("py_seek", (0, 2))),
    (("py_seek", (-2, 2)), ("py_read", (9,))),
)


def _reopened(
    length: int, operations: frozenset[str], changes: frozenset[str]
) -> Iterator[Program]:
    """Yield programs that open the path again after one or two changes of the file."""
    ways = [(how,) for how in sorted(changes)] + [
        pair
        for pair in (("append", "truncate"), ("delete", "overwrite"), ("replace", "delete"))
        if changes.issuperset(pair)
    ]
    for before, after, how in itertools.product(_CACHING, _AGAIN, ways):
        calls = [*before, *(("change", (one,)) for one in how), ("reopen", ()), *after]
        steps = [Step(op, args) for op, args in calls if op in operations or op in OF_FILE]
        if steps[-1].op not in OF_FILE:
            yield Program(length, tuple(steps))


#: The length of a file of several blocks, whatever their size, and how it changes.
_LONG = 140_001
_LONG_CHANGES = (("overwrite",), ("append", "append"))
#: Reads of all of it, and of its parts, before it changes and again afterwards.
_ALL: Calls = (("read_into", ("len+1", 0, "len+1")), ("py_read", (-1,)))
_PARTS: Calls = tuple(
    call
    for position in (1100, 66_000, "len-9")
    for call in (("seek", (position,)), ("read_into", (8, 0, 8)), ("pread", (position, 9, 0, 9)))
)


def _long_reopened(operations: frozenset[str], changes: frozenset[str]) -> Iterator[Program]:
    """Yield programs that open a file of several blocks again after it has changed."""
    for how in filter(changes.issuperset, _LONG_CHANGES):
        changing = [("change", (one,)) for one in how]
        for before, after in ((_PARTS, _PARTS), (_ALL, (*_PARTS, *_ALL))):
            calls = [*before, *changing, ("reopen", ()), *after]
            steps = [Step(op, args) for op, args in calls if op in operations or op in OF_FILE]
            if steps[-1].op not in OF_FILE:
                yield Program(_LONG, tuple(steps))


def change_programs(
    operations: frozenset[str], changes: frozenset[str], effort: str
) -> Iterator[Program]:
    """Yield every change after every beginning, followed by every read; and of a long file.

    Above effort quick, the read is made twice, and in a file of a few bytes, too. All changes are
    made with a read before other beginnings, since a slow target has time for the first programs.
    """

    def steps(calls: Calls) -> tuple[Step, ...]:
        return tuple(Step(op, args) for op, args in calls)

    def expressible(calls: Calls) -> bool:
        return all(op in operations for op, _ in calls)

    endings: list[Calls] = [(a,) for a in _READS] + [(m, a) for m in _MOVES for a in _READS]
    if effort != "quick":
        endings += [(m, a, b) for m in _MOVES for a in _READS for b in _READS]

    def changed(length: int) -> Iterator[Program]:
        every = filter(expressible, _BEFORE), filter(expressible, endings)
        for before, after, how in itertools.product(*every, sorted(changes - {"replace"})):
            yield Program(length, (*steps(before), Step("change", (how,)), *steps(after)))

    yield from _long_reopened(operations, changes)
    for length in _LENGTHS[effort == "quick" :]:
        pairs = itertools.zip_longest(changed(length), _reopened(length, operations, changes))
        yield from filter(None, itertools.chain.from_iterable(pairs))


#: Programs of each kind of fault, by effort, beside whole reads: systematic ones, and as many
#: random ones.
SERVER_PROGRAMS = {"quick": 12, "normal": 50, "deep": 300}
#: Kinds that clients retry after a delay, so that they strike a request or two.
_RETRIED = frozenset({"cut-bodies", "stall-bodies", "slow-down"})
#: The first request that a fault strikes, and how often it strikes.
_SERVER_STRIKES = ((1, MOST_REQUESTS), (2, MOST_REQUESTS), (1, 1), (2, 1))
_SERVER_STRIKES_RETRIED = ((1, 1), (2, 1), (1, 2), (3, 1))
#: The kinds that S3 servers alone have. An object of S3 may have been stored as gzip, so there only
#: answers to ranges are compressed, which have more bytes than the range.
_OF_S3 = kinds_at(S3) - kinds_at(HTTP)
#: The most calls of a random program on a server.
_SERVER_LONGEST = 8


def server_fault_programs(
    operations: frozenset[str], kinds: frozenset[str], buffer: int, effort: str, seed: int
) -> list[Program]:
    """Return programs with each of these kinds; the same seed gives the same ones."""
    count = SERVER_PROGRAMS[effort]
    draw = random.Random(f"{seed}:server faults")
    walk = call_sequences.random_programs(operations, buffer, "deep", seed)
    reads = list(_server_reads(operations, buffer))
    whole = list(_whole_reads(operations, buffer))
    found: list[Program] = []
    for kind in (name for name in SERVER_FAULTS if name in kinds):
        strikes = _SERVER_STRIKES_RETRIED if kind in _RETRIED else _SERVER_STRIKES
        aim = slice(0, None) if kind == "gzip-bodies" and kinds & _OF_S3 else None
        plans = [FaultPlan((Fault(kind, nth, times, offset=aim),)) for nth, times in strikes]
        chosen = draw.sample(reads, min(count, len(reads)))
        found += [replace(p, faults=plans[i % len(plans)]) for i, p in enumerate(chosen)]
        if kind in _RETRIED:  # a whole read may ask for the length first, as the open before it
            found += [replace(p, faults=plan) for p in whole for plan in plans]
        else:
            found += [replace(p, faults=plans[i % len(plans)]) for i, p in enumerate(whole)]
        for i in range(count):
            program = next(walk)
            steps = program.steps[: draw.randint(1, _SERVER_LONGEST)]
            # a file without a buffer reads a line by a request for each byte
            length = min(program.length, buffer + _BEYOND)
            plan = plans[i % len(plans)]
            found.append(replace(program, length=length, steps=steps, faults=plan))
    return found


def _whole_reads(operations: frozenset[str], buffer: int) -> Iterator[Program]:
    for op, args in WHOLE_READS.items():
        for length in (SMALL, buffer + _BEYOND) if op in operations else ():
            yield Program(length, (Step(op, args),))


def _server_reads(operations: frozenset[str], buffer: int) -> Iterator[Program]:
    for length in (SMALL, buffer + _BEYOND):
        for steps in _reads_of_each_kind(operations, length, buffer):
            yield Program(length, steps)
        for op, args in (("pread", (length - 2, 9, 0, 9)), ("read_fully", (3, 9, 0, 9))):
            if op in operations:
                yield Program(length, (Step(op, args), Step(op, args)))
