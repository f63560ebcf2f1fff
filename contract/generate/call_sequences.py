"""Sequences of calls: all short programs, long random ones, and capabilities with their calls.

Short programs come shortest first, always in the same order. Random programs are cheap, so that the
stream under test limits their number.
"""

from __future__ import annotations

import heapq
import itertools
import math
import operator
import random
from collections.abc import Hashable, Iterable, Iterator
from typing import TypeAlias

from fscontract.contract.generate import call_alphabet
from fscontract.contract.generate.listed_calls import Call, expressible, program_of
from fscontract.contract.generate.open_programs import UNBUFFERED
from fscontract.contract.models.seek import NAMELESS
from fscontract.contract.program.program import CLOSING, Program, Step

#: Length of the file, calls, number of streams.
Row: TypeAlias = tuple[int, tuple[Step, ...], int]
#: Length of the file for all combinations: it has room for a beginning, a middle and an end.
LENGTH = 5
#: Bytes of a file after a boundary of the implementation's buffer.
OVERHANG = 3
#: Programs per effort if every call costs a round trip.
REMOTE_PROGRAMS = {"quick": 900, "normal": 6_000, "deep": 60_000}
#: Calls that precede another one in the programs that every sample includes.
_BEFORE = (
    (Step("close"),),
    (Step("seek", ("len",)),),
    (Step("py_seek", (0, 2)),),
    (Step("seek", (2,)), Step("close")),
)
#: A read of everything, moves back, and a read: a stream that was at its end may move wrong.
_MOVES_BACK = (
    (Step("py_read", (-1,)), Step("read_into", ("len+3", 2, "len+1"))),
    (Step("seek", (2,)),),
    (Step("read_byte"),),
)
#: Seeks to the end of the file, or past it.
_TO_THE_END = frozenset(
    (*(Step("seek", (to,)) for to in ("len", "len+1", "len+7")), Step("py_seek", (0, 2)))
)
#: Calls that show the state in which a call leaves a stream on a file of no or one byte.
_LOOKS = (
    *(Step("get_pos"), Step("read_byte"), Step("seek", (0,)), Step("available"), Step("close")),
    *(Step("py_read", (2,)), Step("py_tell")),
)

#: Operations that show the position of a stream; the first that it has follows three calls.
_POSITION = ("get_pos", "py_tell")
#: Seeks, and the operations of the same API that show where they have moved.
_SEEKS = frozenset({("seek", "get_pos"), ("py_seek", "py_tell")})


def short_programs(
    operations: frozenset[str], buffer: int, effort: str, only_length: int | None = None
) -> Iterator[Program]:
    """Return the enumeration for an effort; `only_length` is for a target with a given file."""
    return itertools.starmap(Program, short_rows(operations, buffer, effort, only_length))


def short_rows(
    operations: frozenset[str], buffer: int, effort: str, only_length: int | None = None
) -> Iterator[Row]:
    """Yield the arguments of the programs, so that a caller can skip programs cheaply."""
    lengths = (LENGTH, 0, 1, buffer + OVERHANG) if only_length is None else (only_length,)
    full = call_alphabet.full(operations)
    core = call_alphabet.core(operations)
    yield from ((n, (step,), 1) for n in lengths for step in full)
    yield from _product(lengths[0], *([s for s in full if s in some] for some in _MOVES_BACK))
    others = [step for step in full if step not in core]
    looks = core if effort != "quick" else [step for step in core if step in _LOOKS]
    main = lengths[0]
    if effort == "quick":
        yield from _product(main, core, full)
        yield from _product(main, others, core)
    else:
        yield from _product(main, full, full)
    for n in lengths[1:3]:
        yield from _product(n, core, full)
        yield from _product(n, others, looks)
    yield from _rows_around_buffer(operations, lengths[-1], effort)
    yield from _product(main, core, core, core, *_position(operations))
    yield from _two_streams(main, core, effort)
    if effort != "quick":
        yield from _product(lengths[min(1, len(lengths) - 1)], core, core, core)
        yield from _product(main, core, full, core)
        yield from _product(main, core, core, core, core)
    if effort == "deep":
        yield from _product(main, full, full, core)
        yield from _product(main, core, core, core, core, core)


def _position(operations: frozenset[str]) -> list[list[Step]]:
    """Return the call that shows the position, as an alphabet, or nothing without such a call.

    It follows the longest programs, in which the last call may move the stream wrong.
    """
    calls = (op for op in _POSITION if op in operations)
    return [[Step(op)] for op in itertools.islice(calls, 1)]


def sampled(source: Iterable[Program], limit: int, seed: int) -> list[Program]:
    """Return at most `limit` programs of a source.

    First come those that every sample has, at most seven eighths; the others are drawn by seed.
    """
    everything = list(source)
    if len(everything) <= limit:
        return everything
    first, others = _in_every_sample(everything)
    most = limit * 7 // 8
    chosen, others = first[:most], [*first[most:], *others]
    drawn = random.Random(seed).sample(others, limit - len(chosen))
    return [*_telling_first(chosen), *sorted(drawn, key=lambda p: len(p.steps))]


def shuffled(source: Iterable[Program], seed: int) -> list[Program]:
    """Return the programs of a source: first those that every sample has, the others by seed."""
    first, others = _in_every_sample(list(source))
    random.Random(seed).shuffle(others)
    return [*_telling_first(first), *others]


def _in_every_sample(everything: list[Program]) -> tuple[list[Program], list[Program]]:
    """Return the programs that do not depend on a seed, and the others.

    They are each call alone, on a closed stream, also after a seek, and at the end, a read after a
    move back from there, the position after each seek, each operation after each other one, and
    reads without a buffer, in the first file of the source. So a failure that needs no more than
    that is found with every seed.
    """
    main = everything[0].length if everything else 0
    first = {p: None for p in everything if p.length == main and _is_basic(p)}
    pairs = {pair for p in first for pair in _pairs(p)}
    candidates = [p for p in everything if p.length == main and p not in first]
    random.Random(0).shuffle(candidates)
    for program in candidates:
        new = _pairs(program) - pairs
        if new:
            pairs |= new
            first[program] = None
    return list(first), [p for p in everything if p not in first]


def _telling_first(programs: Iterable[Program]) -> list[Program]:
    """Return programs in the order of what each adds to those before it, for the calls it makes.

    It adds operations, their arguments, and operations that follow each other. An open takes as
    long as a call.
    """
    added: set[Hashable] = set()
    waiting = [(-math.inf, n, p, _told(p)) for n, p in enumerate(programs)]
    ordered: list[Program] = []
    while waiting:
        _, number, program, told = heapq.heappop(waiting)
        worth = -len(told - added) / (len(program.steps) + 1)
        if waiting and worth > waiting[0][0]:
            heapq.heappush(waiting, (worth, number, program, told))
        else:
            ordered.append(program)
            added |= told
    return ordered


def _told(program: Program) -> set[Hashable]:
    """Return the operations of a program, alone, with their arguments, and with the one before.

    At the end and after a close, where most calls return nothing, the arguments don't count. Those
    with a builder keep their order, in which one option comes before several.
    """
    if program.opening is not None:
        return set()
    told: set[Hashable] = {*_pairs(program)}
    is_over = False
    for step in program.steps:
        told.add((is_over, step.op))
        if not is_over:
            told.add((step.op, step.args))
        is_over = is_over or step.op in CLOSING or step in _TO_THE_END
    return told


def _pairs(program: Program) -> set[tuple[str, str]]:
    """Return the operations of a stream that follow each other."""
    return {(a.op, b.op) for a, b in itertools.pairwise(program.steps) if a.stream == b.stream}


def _is_basic(program: Program) -> bool:
    """Return whether a program is a single call, or one after a close or a move to the end.

    Also return whether it asks for the position after a seek, which may fail, and whether it opens
    its file without a buffer.
    """
    steps, opening = program.steps, program.opening
    if opening is not None and opening.calls == UNBUFFERED and program.streams == 1:
        return True
    if len(steps) == 1 or steps[:-1] in _BEFORE or moves_back(steps):
        return True
    if len(steps) == 2 and (steps[0].op, steps[1].op) in _SEEKS:
        return True
    return steps[:-2] in _BEFORE and steps[-1].op in _POSITION


def moves_back(steps: tuple[Step, ...]) -> bool:
    """Return whether these are a read of everything, a move back, and a read."""
    return len(steps) == len(_MOVES_BACK) and all(map(operator.contains, _MOVES_BACK, steps))


def _product(length: int, *alphabets: list[Step], streams: int = 1) -> Iterator[Row]:
    repeat = itertools.repeat
    return zip(repeat(length), itertools.product(*alphabets), repeat(streams), strict=False)


def _rows_around_buffer(operations: frozenset[str], length: int, effort: str) -> Iterator[Row]:
    around = call_alphabet.around_buffer(operations)
    yield from _product(length, around, around)
    if effort != "quick":
        yield from _product(length, around, around, around)


def _two_streams(length: int, core: list[Step], effort: str) -> Iterator[Row]:
    """Yield programs of two streams on one file: a call on each, then a look at the first."""
    second = [Step(s.op, s.args, 1) for s in core]
    watchers = [s for s in core if s.op in ("get_pos", "read_byte", "read_into", "py_read")]
    first = core if effort != "quick" else watchers
    yield from _product(length, first, second, watchers, streams=2)
    yield from _product(length, second, watchers, streams=2)


#: The most steps of one program.
_LONGEST = 40
#: Programs per effort.
RANDOM_PROGRAMS = {"quick": 300, "normal": 10_000, "deep": 200_000}


def random_programs(
    operations: frozenset[str], buffer: int, effort: str, seed: int, only_length: int | None = None
) -> Iterator[Program]:
    """Yield random programs; the same seed gives the same ones."""
    draw = random.Random(seed)
    lengths = (5, 17, buffer + 3, 2 * buffer + 1) if only_length is None else (only_length,)
    choices = {n: _alphabet(operations, n, draw) for n in lengths}
    for _ in range(RANDOM_PROGRAMS[effort]):
        length = draw.choice(lengths)
        size = draw.randint(4, _LONGEST)
        yield Program(length, tuple(draw.choices(choices[length], k=size)))


def _alphabet(operations: frozenset[str], length: int, draw: random.Random) -> list[Step]:
    """Return calls that keep a stream busy: each boundary once, ordinary reads and seeks often."""
    steps = [s for s in call_alphabet.full(operations) if s.op not in CLOSING]
    often = [*call_alphabet.core(operations), *call_alphabet.around_buffer(operations)]
    often = [s for s in often if s.op != "close"]
    spread = max(length, 1)
    for _ in range(40):
        often += ordinary(operations, draw.randrange(spread), draw.randrange(1, spread + 2), length)
    return steps + often * 2


def ordinary(operations: frozenset[str], at: int, count: int, length: int) -> list[Step]:
    """Return seeks to a position and reads of `count` bytes, there or at the current position."""
    return [
        Step(op, args)
        for op, args in (
            ("seek", (at,)),
            ("read_into", (count, 0, count)),
            ("pread", (at, count, 0, count)),
            ("read_fully", (at, count, 0, min(count, max(length - at, 0)))),
            ("skip", (count,)),
            ("py_read", (count,)),
            ("py_seek", (at, 0)),
        )
        if op in operations
    ]


_LENGTH = 5
#: Each name with the calls that it promises.
_CLAIMS: tuple[tuple[str, tuple[Call, ...]], ...] = (
    ("in:unbuffer", (("unbuffer", ()), ("read_byte", ()))),
    ("in:readbytebuffer", (("read_buffer", (4, 0, None)),)),
    ("in:preadbytebuffer", (("pread_buffer", (1, 4, 0, None)),)),
    ("in:readvectored", (("read_vectored", (((1, 2),), "heap", "absent")),)),
)


def capability_programs(
    operations: frozenset[str], only_length: int | None = None
) -> list[Program]:
    """Return the programs, always in the same order."""
    if "has_capability" not in operations:
        return []
    length = _LENGTH if only_length is None else only_length
    made: list[list[Call]] = [[("has_capability", (name,))] for name in NAMELESS]
    for name, calls in _CLAIMS:
        made.append([("has_capability", (name,)), *calls, ("has_capability", (name.upper(),))])
    return list(expressible([program_of(length, calls) for calls in made], operations))
