"""Small-scope enumeration: every short program, shortest first, always in the same order."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable, Iterator
from typing import TypeAlias

from fscontract.contract.generate import call_alphabet
from fscontract.contract.generate.open_programs import UNBUFFERED
from fscontract.contract.program.program import Program, Step

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
#: Calls that show the state in which a call leaves a stream on a file of no or one byte.
_LOOKS = (
    *(Step("get_pos"), Step("read_byte"), Step("seek", (0,)), Step("available"), Step("close")),
    *(Step("py_read", (2,)), Step("py_tell")),
)


def programs(
    operations: frozenset[str], buffer: int, effort: str, only_length: int | None = None
) -> Iterator[Program]:
    """Return the enumeration for an effort; `only_length` is for a target with a given file."""
    return itertools.starmap(Program, rows(operations, buffer, effort, only_length))


def rows(
    operations: frozenset[str], buffer: int, effort: str, only_length: int | None = None
) -> Iterator[Row]:
    """Yield the arguments of the programs, so that a caller can skip programs cheaply."""
    lengths = (LENGTH, 0, 1, buffer + OVERHANG) if only_length is None else (only_length,)
    full = call_alphabet.full(operations)
    core = call_alphabet.core(operations)
    yield from ((n, (step,), 1) for n in lengths for step in full)
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
    yield from _around_buffer(operations, lengths[-1], effort)
    yield from _product(main, core, core, core)
    yield from _two_streams(main, core, effort)
    if effort != "quick":
        yield from _product(lengths[min(1, len(lengths) - 1)], core, core, core)
        yield from _product(main, core, full, core)
        yield from _product(main, core, core, core, core)
    if effort == "deep":
        yield from _product(main, full, full, core)
        yield from _product(main, core, core, core, core, core)


def sampled(source: Iterable[Program], limit: int, seed: int) -> list[Program]:
    """Return at most `limit` programs of a source.

    First come those that every sample has, at most five sixths; the others are drawn by seed.
    """
    everything = list(source)
    if len(everything) <= limit:
        return everything
    first, others = _in_every_sample(everything)
    most = limit * 5 // 6
    chosen, others = first[:most], [*first[most:], *others]
    drawn = random.Random(seed).sample(others, limit - len(chosen))
    return [*chosen, *sorted(drawn, key=lambda p: len(p.steps))]


def shuffled(source: Iterable[Program], seed: int) -> list[Program]:
    """Return the programs of a source: first those that every sample has, the others by seed."""
    first, others = _in_every_sample(list(source))
    random.Random(seed).shuffle(others)
    return [*first, *others]


def _in_every_sample(everything: list[Program]) -> tuple[list[Program], list[Program]]:
    """Return the programs that do not depend on a seed, and the others.

    They are each call alone, on a closed stream, also after a seek, and at the end, each operation
    after each other one, and reads without a buffer, in the first file of the source. So a failure
    that needs no more than that is found with every seed.
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


def _pairs(program: Program) -> set[tuple[str, str]]:
    """Return the operations of a stream that follow each other."""
    return {(a.op, b.op) for a, b in itertools.pairwise(program.steps) if a.stream == b.stream}


def _is_basic(program: Program) -> bool:
    """Return whether a program is a single call, or one after a close or a move to the end.

    Also return whether it opens its file without a buffer.
    """
    steps, opening = program.steps, program.opening
    if opening is not None and opening.calls == UNBUFFERED and program.streams == 1:
        return True
    return len(steps) == 1 or steps[:-1] in _BEFORE


def _product(length: int, *alphabets: list[Step], streams: int = 1) -> Iterator[Row]:
    repeat = itertools.repeat
    return zip(repeat(length), itertools.product(*alphabets), repeat(streams), strict=False)


def _around_buffer(operations: frozenset[str], length: int, effort: str) -> Iterator[Row]:
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
