"""Programs of very many cheap calls, many streams of one file, and many files.

What a stream does at its thousandth call differs from the first if something grows, wraps around or
runs out: a counter, a pool of connections or buffers, a queue. Other programs read at every offset
of the beginning of a file, so that an end of a part of any odd size is met exactly.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from fscontract.contract.generate.listed_calls import Call, expressible, repeated
from fscontract.contract.program.program import Program, Step

#: Length of the file that is read from its beginning byte by byte.
_LENGTH = 20_000
#: Calls of the programs, by effort, and if every call costs a round trip. Each kind of calls is
#: repeated as often as the first number says, and all kinds in turn as often as the second.
CALLS = {"quick": (1_100, 10_500), "normal": (10_500, 10_500), "deep": (10_500, 105_000)}
_REMOTE_CALLS = {"quick": (40, 100), "normal": (200, 1_000), "deep": (1_000, 10_000)}
#: Streams of one file that are open at the same time, and if every call costs a round trip.
STREAMS, REMOTE_STREAMS = 64, 10
#: Files of different lengths, by effort.
_FILES = {"quick": 100, "normal": 1_000, "deep": 10_000}

#: Short cycles of calls of one kind. Positions are in any file of a few bytes.
_CYCLES: tuple[tuple[Call, ...], ...] = (
    (("seek", (0,)), ("read_byte", ()), ("seek", ("len-1",)), ("read_byte", ())),
    (("seek", (1,)), ("get_pos", ()), ("seek", (2,)), ("get_pos", ())),
    tuple(("pread", (at, 3, 0, 2)) for at in (0, 2, "len-1", 1, 3, 1, "len-2")),
    (("read_fully", (0, 2, 0, 2)), ("read_fully", (1, 3, 0, 3)), ("read_fully_all", (2, 1))),
    (("read_into", (3, 0, 3)), ("seek", (1,)), ("read_into", (2, 0, 2)), ("seek", (0,))),
    (("read_byte", ()), ("unbuffer", ()), ("read_byte", ()), ("seek", (0,))),
    (("skip", (1,)), ("available", ()), ("read_byte", ()), ("seek", (0,))),
    (("read_buffer", (3, 0, None)), ("seek", (2,)), ("pread_buffer", (1, 2, 0, None))),
    (
        ("read_vectored", (((0, 2),), "heap", "given")),
        ("read_vectored", (((1, 3), ("len-1", 1)), "heap", "absent")),
        ("read_vectored", ((("len-2", 2),), "view", "given")),
    ),
    (
        ("py_seek", (1, 0)),
        ("py_read", (2,)),
        ("py_tell", ()),
        ("py_seek", (-1, 2)),
        ("py_read", (3,)),
    ),
    (("py_seek", (0, 0)), ("py_readinto", ("B", 2)), ("py_readline", (2,))),
)
#: Calls that read on, from the beginning of the longer file.
_ONWARDS: tuple[tuple[Call, ...], ...] = (
    (("read_byte", ()),),
    (("read_into", (3, 0, 3)),),
    (("read_byte", ()), ("get_pos", ())),
    (("py_read", (1,)),),
    (("read_buffer", (2, 0, None)),),
)


def programs(
    operations: frozenset[str],
    effort: str,
    remote: bool = False,
    only_length: int | None = None,
) -> Iterator[Program]:
    """Yield the programs, those with the fewest calls first."""

    def counted(cycles: Iterable[tuple[Call, ...]], length: int, count: int) -> Iterator[Program]:
        """Yield as many calls of each cycle, without operations that the API lacks."""
        for calls in cycles:
            possible = [call for call in calls if call[0] in operations]
            if possible:
                yield repeated(length, possible, count)

    some, many = (_REMOTE_CALLS if remote else CALLS)[effort]
    short = 5 if only_length is None else only_length
    if short >= 5:
        yield from expressible(
            _many_streams(short, REMOTE_STREAMS if remote else STREAMS), operations
        )
    if only_length is None and not remote:
        yield from expressible(_many_files(_FILES[effort]), operations)
        yield from expressible(_every_offset(some), operations)
    if short >= 5:
        yield from counted(_CYCLES, short, some)
    long = _LENGTH if only_length is None else only_length
    yield from counted(_ONWARDS, long, some)
    if short >= 5:
        yield from counted([tuple(call for calls in _CYCLES for call in calls)], short, many)


def _many_streams(length: int, count: int) -> Iterator[Program]:
    """Yield programs of many streams, each at a position that no other one changes."""
    numbers = range(count)
    yield Program(length, tuple(Step("close", (), n) for n in numbers), count)
    for move, whence, read, size, tell in (
        ("seek", (), "read_byte", (), "get_pos"),
        ("py_seek", (0,), "py_read", (1,), "py_tell"),
    ):
        there = [Step(move, (n % 3, *whence), n) for n in numbers]
        reads = [Step(read, size, n) for n in numbers]
        positions = [Step(tell, (), n) for n in numbers]
        yield Program(length, (*there, *reads, *positions, *reads[::-1]), count)


def _every_offset(count: int) -> Iterator[Program]:
    """Yield programs that read a few bytes at each offset up to `count`, exclusively."""
    yield Program(_LENGTH, tuple(Step("pread", (at, 3, 0, 3)) for at in range(count)))
    for move, read in (("seek", "read_into"), ("py_seek", "py_read")):
        more = (0,) if move == "py_seek" else ()
        sizes = (3,) if read == "py_read" else (3, 0, 3)
        pairs = ((Step(move, (at, *more)), Step(read, sizes)) for at in range(count)[::-1])
        yield Program(_LENGTH, tuple(step for pair in pairs for step in pair))


def _many_files(count: int) -> Iterator[Program]:
    """Yield a program for each of many files, no two of which are equally long."""
    for length in range(300, 300 + count):
        calls = [("read_into", (8, 0, 8)), ("pread", ("len-3", 8, 0, 8)), ("py_read", (8,))]
        yield Program(length, tuple(Step(op, args) for op, args in calls))
