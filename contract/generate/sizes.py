"""Programs on files of every order of size, up to one of several MiB that is read to its end.

A bug in how a stream refills its buffer, splits a long read into requests or finds the end of a
file needs a file that is larger than its buffers, and whose end is at a special place in them.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from math import inf
from typing import NamedTuple

from fscontract.contract.generate.listed_calls import Call, expressible, program_of
from fscontract.contract.program.arguments import Argument
from fscontract.contract.program.content import content
from fscontract.contract.program.program import Program

#: The powers of two around which there are files, by effort.
_POWERS = {
    "quick": (7, 8, 12, 13, 15, 16, 17),
    "normal": tuple(range(5, 20)),
    "deep": tuple(range(2, 23)),
}
#: The same, if every call costs a round trip.
_REMOTE_POWERS = {"quick": (13, 16, 17), "normal": (8, 12, 13, 15, 16, 17), "deep": range(5, 21)}
#: The length of the large file: several MiB, and no multiple of anything.
LARGE = (3 << 20) + 4099
#: The length of a file for which clients of stores send several requests, and its efforts: parts
#: are of 5 or 8 MiB.
_PARTS, _PARTS_AT = (9 << 20) + 4099, ("normal", "deep")
#: How many blocks a large file has at most if each costs a round trip, and its shortest length.
_MOST_BLOCKS, _SHORTEST = 100, 200_003
#: How many seconds one call may take for the large file, and for the one that is read instead or
#: that is read by lines.
_LONGEST, _SHORT = 2.0, 0.5
#: The lengths of sparse files: over 2 GiB and over 4 GiB.
SPARSE = ((1 << 31) + 300_007, (1 << 32) + 300_007)
#: The largest file of which one call reads all: calls have buffers of at most 64 MiB.
MOST_READ = 1 << 26
#: Bytes of a piece in which the large file is read, and if every call costs a round trip.
_PIECE, _REMOTE_PIECE = 1 << 16, 1 << 20
#: Lengths of the pieces in which it is read oddly, and a block that ends at no power of two.
_ODD, _BLOCK = (1, 4097, 333, 65_537, 70_001, 8191, 100_003, 2), 300_000
#: Random positions in the large file, by effort.
_RANDOM = {"quick": 16, "normal": 200, "deep": 1_000}
#: The longest file whose lines are read if that was not measured, in bytes, and the longest one
#: that is read by one call for each line.
LINES, _LINE_BY_LINE = 4097, 65_537
#: About half the length of a line, in bytes.
_LINE = 128
#: The length of a short file with a line that ends with a carriage return and a newline.
_CRLF = 913
#: Calls that show the position of the stream.
_LOOK: tuple[Call, ...] = (("get_pos", ()), ("read_byte", ()))
#: Reads that past the end leave the position there.
_PAST: tuple[Call, ...] = (
    *(("read_byte", ()), ("read_into", (1, 0, 1)), ("skip", (1,)), ("py_read", (1,))),
    *(("py_readinto", ("B", 1)), ("py_readall", ()), ("py_readline", (None,))),
    *(("py_readlines", (None,)), ("py_next", ()), ("py_read1", (1,))),
)
#: How many of them one program visits.
_VISITED = 8
#: Places in the large file at which single bytes are read: ends of buffers of usual sizes.
_EDGES = sorted({k << bits for bits in (15, 16, 20) for k in (1, 2, 3, 4)})

Calls = Iterable[Call]


class Pace(NamedTuple):
    """Seconds that a call takes for each byte that it reads at once, and by lines.

    A file without a buffer reads a byte at a time to find where its lines end.
    """

    at_once: float = 0.0
    lines: float = inf

    def allows(self, length: int) -> bool:
        """Return whether one call may read all lines of a file."""
        return length * self.lines <= _SHORT


_UNKNOWN = Pace()


def programs(
    operations: frozenset[str],
    effort: str,
    seed: int,
    remote: bool = False,
    only_length: int | None = None,
    block: int | None = None,
    pace: Pace = _UNKNOWN,
) -> list[Program]:
    """Return programs on small files, then on the large one; the same seed gives the same ones.

    `only_length` is for a target with a given file, of which only that length is read; `block` is
    how many bytes a request for a part of a file asks for, if known. The large file is shorter if
    the `pace` of reads is slow, and lines are read in files for which it is fast enough.
    """
    powers = (_REMOTE_POWERS if remote else _POWERS)[effort]
    large = _length(block if remote else None, pace.at_once)
    small = [0, 1, *((1 << power) + more for power in powers for more in (-1, 0, 1))]
    by_lines = [*((1 << power) + 1 for power in powers), large]
    if only_length is not None:
        small, by_lines, large = [only_length], [only_length], only_length
    made: list[Program] = []
    if only_length is None or only_length <= _PIECE:
        made += [p for n in small for p in _small(n)]
    made += [p for n in by_lines if LINES < n <= MOST_READ and pace.allows(n) for p in _lines(n)]
    if only_length is None or only_length > _PIECE:
        made += _large(large, _REMOTE_PIECE if remote else _PIECE)
        made += _scattered(large, _RANDOM["quick" if remote else effort], seed)
    if large == LARGE and effort in _PARTS_AT and not remote:
        made += _at_once(_PARTS)
    if only_length is None:
        made += [*_long_line(large), *_carriage_return(_CRLF)]
    return list(expressible(made, operations))


def _length(block: int | None, seconds_per_byte: float) -> int:
    """Return the length of the large file: a read of all of it must not look like a hang."""
    if LARGE * seconds_per_byte > _LONGEST:
        return max(int(_SHORT / seconds_per_byte), _SHORTEST)
    return LARGE if block is None else min(LARGE, max(_MOST_BLOCKS * block + 99, _SHORTEST))


def sparse_programs(operations: frozenset[str]) -> list[Program]:
    """Return programs on sparse files, around the positions that 31 and 32 bits can't hold."""
    made = [program_of(n, calls) for n in SPARSE for calls in _around_limits(n)]
    return list(expressible(made, operations))


def _around_limits(n: int) -> Iterator[list[Call]]:
    look: list[Call] = [("read_byte", ()), ("read_into", (9, 1, 8)), ("get_pos", ())]
    places = [at for limit in (1 << 31, 1 << 32, n - 4) for at in (limit - 2, limit, limit + 3)]
    for at in (at for at in places if at < n):
        yield [("seek", (at,)), *look, ("available", ())]
        yield [("seek", (5,)), ("read_byte", ()), ("skip", (at - 6,)), *look, ("skip", (2,)), *look]
        yield [("seek", (at,)), ("seek", (at,)), ("unbuffer", ()), *look, ("seek", (3,)), *look]
        yield [("pread", (at, 9, 1, 3)), ("read_fully", (at, 9, 1, 2)), ("read_byte", ())]
        yield [("pread", (at, 4096, 0, 4096)), ("read_fully", (at - 9, 9, 0, 9)), *look]
        yield [("pread_buffer", (at, 5, 1, 4)), ("read_fully_buffer", (at - 3, 3, 0, None))]
        yield [("read_vectored", (((at, 2), (3, 4)), "heap", "given")), *look]
        yield [("py_seek", (at, 0)), ("py_tell", ()), ("py_read", (4,)), ("py_readinto", ("B", 3))]
        yield [
            ("py_seek", (at - n, 2)),
            ("py_read", (2,)),
            ("py_seek", (1 - at, 1)),
            ("py_tell", ()),
        ]
        yield [("py_read", (1,)), ("py_seek", (at - 1, 1)), ("py_read", (2,)), ("py_tell", ())]
    yield [("seek", (n,)), ("get_pos", ()), ("read_byte", ()), ("seek", (n + 1,))]
    yield [("pread", (n, 4, 0, 4)), ("read_fully", (n - 2, 4, 0, 4)), ("pread", (n - 2, 4, 0, 4))]
    yield [("read_vectored", (((n - 1, 2),), "heap", "given"))]
    yield [("py_seek", (0, 2)), ("py_tell", ()), ("py_read", (1,)), ("py_seek", (-1, 2))]


def _small(n: int) -> Iterator[Program]:
    """Yield programs that read a file whole, in two parts, around its end and past it."""
    half, last = n // 2, max(n - 1, 0)
    for calls in (
        [("read_into", (n + 1, 0, n + 1)), ("get_pos", ()), ("read_byte", ()), ("available", ())],
        [("read_into", (n, 0, half)), ("read_into", (n, half, n - half)), ("read_byte", ())],
        [("seek", (last,)), *[("read_byte", ())] * 2, ("seek", (n,)), ("read_byte", ())],
        [("pread", (0, n, 0, n)), ("pread", (last, 4, 0, 4)), ("pread", (n, 4, 0, 4))],
        [("read_fully", (0, n, 0, n)), ("read_fully", (1, n, 0, n)), ("read_fully_all", (0, n))],
        [("skip", (last,)), ("available", ()), ("skip", (3,)), ("read_byte", ())],
        [("read_buffer", (n + 3, 1, None)), ("get_pos", ()), ("read_buffer", (4, 0, None))],
        [("pread_buffer", (0, n + 2, 1, None)), ("read_fully_buffer", (0, n, 0, None))],
        [("read_vectored", (((half, n - half), (0, half)), "heap", "given"))],
        [("py_read", (None,)), ("py_read", (1,)), ("py_seek", (-min(n, 2), 2)), ("py_read", (5,))],
        [("py_read", (-1,)), ("py_tell", ())],
        [*[("py_read_default", ())] * 2, ("py_seek", (half, 0)), ("py_read_default", ())],
        [("close", ()), ("py_read_default", ())],
        [("py_readinto", ("B", n + 1)), ("py_tell", ()), ("py_readinto", ("B", 1))],
        [("py_read", (half,)), ("py_seek", (0, 1)), ("py_read", (3,)), ("py_tell", ())],
        [("py_read", (n,)), ("py_seek", (0, 1)), ("py_tell", ()), ("py_read", (1,))],
        [("py_seek", (half, 0)), ("py_readall", ()), ("py_read", (1,))],
        [*[("py_read1", (-1,))] * 8, ("py_tell", ())],
        [*[("py_readinto1", ("B", n + 1))] * 3, ("py_tell", ())],
        [("py_read", (half,)), ("py_peek", (1,)), ("py_read", (3,)), ("py_tell", ())],
        [("py_read", (n,)), ("py_seek", (-1, 0)), ("py_read", (4,))],
        [("py_seek", (1, 0)), ("py_seek", (-n - 1, 2)), ("py_read", (4,))],
    ):
        yield program_of(n, calls)
    for read in (("py_readline", (None,)), ("py_readline", (2,)), ("py_next", ())):
        yield program_of(n, [("py_seek", (last, 0)), read, ("py_tell", ())])
    if n == 1:
        # The second read ends; a read after a seek has bytes again.
        for read in (*_PAST, ("py_iterate", ())):
            yield program_of(n, [read, read, ("py_seek", (0, 0)), read, ("py_tell", ())])
    if n <= 1:
        for past in _PAST:
            yield program_of(n, [("py_seek", (n + 1, 0)), past, ("get_pos", ())])
    if n <= LINES:
        yield from _lines(n)
        # Without a position between: a file that can't seek may not tell it, or tell another one.
        for read in (("py_readlines", (1,)), ("py_readline", (None,)), ("py_next", ())):
            yield program_of(n, [read, ("py_read", (3,))])


def _lines(n: int) -> Iterator[Program]:
    """Yield programs that read all lines of a file, and those behind its middle."""
    half = n // 2
    rest: list[Call] = [("py_tell", ()), ("py_readlines", (None,))]
    yield program_of(n, [("py_readlines", (half + 1,)), *rest])
    for hint in (0, -2):
        yield program_of(n, [("py_read", (half,)), ("py_readlines", (hint,)), ("py_tell", ())])
    yield program_of(n, [("py_readlines", (None,)), ("py_tell", ())])
    yield program_of(n, [("py_iterate", ()), ("py_tell", ())])
    yield program_of(n, [("py_read", (half,)), ("py_iterate", ()), ("py_read", (1,))])
    if LINES < n <= _LINE_BY_LINE:
        yield program_of(n, [("py_readline", (None,))] * (n // _LINE))


def _long_line(n: int) -> Iterator[Program]:
    """Yield programs that read the longest line of a file, which is in several small buffers."""
    sizes = [len(line) + 1 for line in content(n).split(b"\n")[:-1]]
    if not sizes:
        return
    longest = max(range(len(sizes)), key=sizes.__getitem__)
    at, size = sum(sizes[:longest]), sizes[longest]
    reads: list[Call] = [("py_next", ()), ("py_readlines", (1,)), ("py_readline", (None,))]
    reads += [("py_readline", (limit,)) for limit in (size // 4, size // 2 + 99, size - 1, size)]
    for read in reads:
        yield program_of(n, [("py_seek", (at, 0)), read, ("py_tell", ())])


def _carriage_return(n: int) -> Iterator[Program]:
    """Yield programs that read a line that ends with a carriage return and a newline."""
    data = content(n)
    at = data.rfind(b"\n", 0, data.index(b"\r\n")) + 1
    reads: list[Call] = [("py_readline", (None,)), ("py_readlines", (1,)), ("py_next", ())]
    for read in reads:
        yield program_of(n, [("py_seek", (at, 0)), read, ("py_tell", ())])
    yield program_of(n, [("py_read", (None,))])


def _large(n: int, piece: int) -> Iterator[Program]:
    """Yield programs that read a file to its end: at once, in pieces of all sizes, backwards."""
    for edge in (e for e in _EDGES if e + 2 <= n):
        yield program_of(n, [("seek", (edge - 2,)), *[("read_byte", ())] * 4, ("get_pos", ())])
        yield program_of(n, [("py_seek", (edge - 2, 0)), *[("py_read", (1,))] * 4, ("py_tell", ())])
    pieces = -(-n // piece) + 1
    if n <= MOST_READ:
        rest = [("read_into", (piece, 0, piece))] * pieces
        yield program_of(n, [("read_into", (n, 0, n)), *rest, ("read_byte", ())])
        yield from _at_once(n)
    # A last range ends with the file.
    apart = tuple(
        (at, min(_BLOCK // 2, n // 16, n - at)) for at in range(n // 9, n, max(n // 8, 1))
    )
    yield program_of(n, [("read_vectored", ((*apart[:-1], (n - 7, 7)), "heap", "given"))])
    yield program_of(n, [("read_vectored", (apart[::-1], "heap", "absent"))])
    yield program_of(
        n, [("read_vectored", (((max(n - 70_000, 1), 70_000), (0, 1)), "heap", "given"))]
    )
    yield from _in_pieces(n, piece)


def _at_once(n: int) -> Iterator[Program]:
    """Yield programs that read a file by one call."""
    yield program_of(n, [("pread", (0, n, 0, n)), ("get_pos", ()), ("read_byte", ())])
    yield program_of(n, [("read_fully", (0, n, 0, n)), ("read_fully_all", (1, n))])
    yield program_of(n, [("read_fully_all", (0, n)), ("read_fully_all", (n // 2, n // 2))])
    yield program_of(n, [("read_buffer", (n + 1, 1, None)), ("get_pos", ())])
    yield program_of(n, [("read_fully_buffer", (0, n, 0, None)), ("pread_buffer", (0, n, 0, n))])
    yield program_of(n, [("py_read", (None,)), ("py_tell", ()), ("py_read", (1,))])
    yield program_of(n, [("py_readinto", ("B", n)), ("py_seek", (0, 0)), ("py_read", (n,))])
    yield program_of(n, [("py_readall", ()), ("py_seek", (-5, 2)), ("py_readinto", ("B", 9))])


def _in_pieces(n: int, piece: int) -> Iterator[Program]:
    """Yield programs that read a file in equal and in odd pieces, and backwards in blocks."""
    scale = piece // _PIECE
    odd: list[int] = []
    total = 0
    while total < n:
        odd.append(_ODD[len(odd) % len(_ODD)] * scale)
        total += odd[-1]
    yield program_of(n, [("read_into", (piece, 0, piece))] * (n // piece + 2))
    back = range(n, -1, -_BLOCK * scale)
    size = _BLOCK * scale
    for first, second in (("read_into", "py_read"), ("read_buffer", "py_readinto")):
        yield program_of(n, [(first, _into(first, count)) for count in odd])
        yield program_of(n, [(second, _into(second, count)) for count in odd])
    for start in (0, len(back) // 2):
        half = back[start : start + len(back) // 2 + 1]
        reads = [(("seek", (at,)), ("read_into", _into("read_into", size))) for at in half]
        yield program_of(n, [call for pair in reads for call in pair])
        again = [(("py_seek", (at, 0)), ("py_read", (size,))) for at in half]
        yield program_of(n, [call for pair in again for call in pair])


def _into(op: str, count: int) -> tuple[Argument, ...]:
    """Return the arguments of a read of `count` bytes at the position."""
    windows: dict[str, tuple[Argument, ...]] = {
        "read_into": (count + 1, 1, count),
        "read_buffer": (count + 1, 1, None),
        "py_readinto": ("B", count),
    }
    return windows.get(op, (count,))


def _scattered(n: int, count: int, seed: int) -> Iterator[Program]:
    """Yield programs of reads and seeks at random positions, of lengths of every order."""
    draw = random.Random(f"{seed}:sizes")

    def place() -> tuple[int, int]:
        length = draw.choice((1, 7, 500, 4096, 9_000, 33_000, 70_000))
        at = draw.randrange(max(n - draw.choice((1, length)), 1))
        return at, min(length, n - at)

    for start in range(0, count, _VISITED):
        places = [place() for _ in range(min(_VISITED, count - start))]
        yield program_of(n, [*[("pread", (at, m + 1, 1, m)) for at, m in places], *_LOOK])
        yield program_of(n, [*[("read_fully", (at, m + 1, 1, m)) for at, m in places], *_LOOK])
        yield program_of(n, [*[("pread_buffer", (at, m + 1, 1, None)) for at, m in places], *_LOOK])
        yield program_of(
            n, [*[("read_fully_buffer", (at, m, 0, None)) for at, m in places], *_LOOK]
        )
        yield program_of(n, _visits(places))
        around = [(("py_seek", (at, 0)), ("py_read", (m,))) for at, m in places]
        yield program_of(n, [call for pair in around for call in pair])


def _visits(places: Iterable[tuple[int, int]]) -> Iterator[Call]:
    """Yield calls that go to these places and look around there."""
    for at, length in places:
        yield "seek", (at,)
        yield "read_into", (length, 0, length)
        yield "get_pos", ()
        yield "skip", (length,)
        yield "available", ()
        yield "unbuffer", ()
        yield "read_byte", ()
        yield "pread", (at // 2, 4, 0, 4)
        yield "read_byte", ()
