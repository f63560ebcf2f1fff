"""Programs with numbers at the limits of integers of 16, 24, 32 and 64 bits.

A position that is held in too few bits is right in every small file, and wraps around to an offset
inside of it. Lengths are never such that a call has to allocate more than 16 MiB.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from fscontract.contract.api.openfile_options import SPLIT_END, SPLIT_START
from fscontract.contract.generate.listed_calls import Call, expressible, program_of
from fscontract.contract.program.open_calls import BuilderCall, Opening
from fscontract.contract.program.program import Program

#: Lengths of files: a small one, and one with positions of more than 16 bits.
LENGTHS = (5, 70_000)
#: Positions and counts are 64 bits wide; masked to fewer bits, they are in the smallest file.
_BITS = (15, 16, 24, 31, 32)
_LEAST, _MOST = -(1 << 63), (1 << 63) - 1
#: Python's numbers have no limit.
_BEYOND = (_MOST + 1, 1 << 64, (1 << 64) + 2, _LEAST - 1)
#: Lengths and offsets of arrays, 32 bits wide.
_INTS = (1 << 15, 1 << 16, 1 << 24, (1 << 31) - 1, -(1 << 15), -(1 << 31), 1 - (1 << 31))
#: Real buffers that exceed the file by far.
_ROOM = {"quick": (1 << 16, 1 << 20), "normal": (1 << 20, 1 << 24), "deep": (1 << 24, 1 << 26)}
#: Of how many numbers a program is made if every call costs a round trip.
_REMOTE_STEP = 3

Calls = Iterable[Call]


def positions() -> list[int]:
    """Return the positions that are tried, those of the smallest magnitude first."""
    near = [(1 << bits) + more for bits in _BITS for more in (-1, 0, 2)]
    negative = [more - (1 << bits) for bits in _BITS for more in (0, 2)]
    return sorted(
        [*near, *negative, _MOST, _MOST - 1, _LEAST, _LEAST + 1], key=lambda n: (abs(n), n)
    )


def programs(
    operations: frozenset[str],
    effort: str,
    remote: bool = False,
    only_length: int | None = None,
    options: bool = False,
) -> list[Program]:
    """Return the programs, always in the same order; with `options`, also with options."""
    lengths = LENGTHS if only_length is None else (only_length,)
    made = [
        program_of(n, calls)
        for n in lengths
        for calls in _all(effort)
        # Raw files read lines byte by byte.
        if effort != "quick" or n == lengths[0] or calls[-1][0] != "py_readlines"
    ]
    if options:
        made += [
            replace(program_of(lengths[0], calls), opening=Opening("file", (call,)))
            for call in _settings()
            for calls in _INSIDE
        ]
    made = list(expressible(made, operations))
    return made[::_REMOTE_STEP] if remote and effort == "quick" else made


#: Reads inside the smallest file.
_INSIDE: tuple[Calls, ...] = (
    (("read_byte", ()), ("seek", (2,)), ("read_into", (2, 0, 2)), ("get_pos", ())),
    (("pread", (1, 2, 0, 2)), ("read_fully", (0, 3, 0, 3)), ("read_byte", ())),
    (("py_read", (2,)), ("py_seek", (1, 0)), ("py_read", (2,))),
)


def _settings() -> Iterator[BuilderCall]:
    """Yield options that have numbers of over 31 bits, none of which may change a read."""
    for number in (1 << 31, (1 << 32) + 1, _MOST):
        yield "opt_long", SPLIT_END, number
        yield "opt_long", SPLIT_START, number


def _all(effort: str) -> Iterator[Sequence[Call]]:
    for number in positions():
        yield from _at(number)
    for number in _BEYOND:
        yield from _python(number)
    for number in _INTS:
        yield from _window(number)
    for size in _ROOM[effort]:
        yield [("read_byte", ()), ("read_into", (size, 1, size - 1)), ("get_pos", ())]
        yield [("pread", (1, size, 0, size)), ("read_fully", (0, size, 0, size)), ("get_pos", ())]
        yield [("read_buffer", (size, 0, None)), ("pread_buffer", (1, size, 1, None))]
        yield [("py_read", (1,)), ("py_read", (size,)), ("py_tell", ())]
        yield [("py_readinto", ("B", size)), ("py_tell", ())]
        yield [("py_read", (1,)), ("py_readline", (size,))]
        yield [("py_read", (1,)), ("py_readlines", (size,))]


def _at(n: int) -> Iterator[Sequence[Call]]:
    """Yield calls at a position, or that many bytes on."""
    yield [("seek", (n,)), ("get_pos", ()), ("read_byte", ())]
    yield [("read_byte", ()), ("seek", (n,)), ("read_into", (4, 0, 4))]
    yield [("read_byte", ()), ("skip", (n,)), ("get_pos", ()), ("read_byte", ())]
    yield [
        ("read_byte", ()),
        ("pread", (n, 4, 1, 3)),
        ("read_fully", (n, 4, 1, 3)),
        ("get_pos", ()),
        ("read_byte", ()),
    ]
    yield [("pread_buffer", (n, 4, 1, 3)), ("read_fully_buffer", (n, 4, 1, 3)), ("read_byte", ())]
    yield [("read_vectored", (((n, 2),), "heap", "given")), ("read_byte", ())]
    yield [("read_vectored", (((0, 1), (n, 2)), "heap", "given")), ("read_byte", ())]
    yield from _python(n)


def _python(n: int) -> Iterator[Sequence[Call]]:
    yield [("py_seek", (n, 0)), ("py_tell", ()), ("py_read", (2,))]
    yield [("py_read", (1,)), ("py_seek", (n, 1)), ("py_read", (2,))]
    yield [("py_seek", (n, 2)), ("py_read", (2,))]


def _window(n: int) -> Iterator[Sequence[Call]]:
    """Yield reads whose length or offset is a number that a small buffer has no window for."""
    for offset, length in ((0, n), (1, n), (2, n), (n, 1), (n, n)):
        yield [
            ("read_byte", ()),
            ("read_into", (4, offset, length)),
            ("pread", (0, 4, offset, length)),
            ("read_fully", (0, 4, offset, length)),
            ("read_byte", ()),
        ]
