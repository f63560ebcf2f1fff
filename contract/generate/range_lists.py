"""Programs of vectored reads: long lists, every distance and order, refused lists, used buffers."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence

from fscontract.contract.generate.listed_calls import Call, expressible, program_of
from fscontract.contract.program.arguments import Argument
from fscontract.contract.program.program import Program

#: An offset and a length.
Range = tuple[Argument, Argument]
#: Numbers of ranges in one list, by effort, and if every call costs a round trip.
_COUNTS = {
    "quick": (5, 12, 33, 65, 129, 200),
    "normal": (*range(2, 40), 63, 64, 65, 99, 100, 101, 127, 128, 129, 200),
    "deep": range(2, 201),
}
#: A client may read each range by a request: a long list must not look like a hang.
_REMOTE_COUNTS = {"quick": (33,), "normal": (33, 129, 200), "deep": (12, 33, 65, 129, 200)}
#: Distances that streams do not read over: of HDFS, Hadoop's default and S3A's, and more.
_DISTANCES = {
    "quick": (0, 1, 4096, 16_384),
    "normal": (0, 1, 512, 4096, 8192, 16_384, 131_072, 1 << 20),
    "deep": (0, 1, 16, 512, 4096, 8192, 16_384, 65_536, 131_072, 1 << 20, 1 << 22),
}
_REMOTE_DISTANCES = {"quick": (0, 4096), "normal": (0, 4096, 16_384), "deep": (0, 4096, 16_384)}
#: Up to this distance there are six ranges in a list, otherwise three.
_NEAR = 1 << 16
#: The length of the file of long lists.
LENGTH = 50_000
#: Where the stream is before and after a list: neither moves, and both show the next byte.
_LOOK: tuple[Call, ...] = (("get_pos", ()), ("read_byte", ()))


def programs(
    operations: frozenset[str],
    effort: str,
    seed: int,
    distances: Iterable[int] = (),
    remote: bool = False,
    only_length: int | None = None,
) -> list[Program]:
    """Return the programs; the same seed gives the same ones.

    `distances` are those up to which the target reads ranges together, as far as known.
    """
    if "read_vectored" not in operations:
        return []
    draw = random.Random(f"{seed}:ranges")
    length = LENGTH if only_length is None else only_length
    made: list[Program] = []
    for count in (_REMOTE_COUNTS if remote else _COUNTS)[effort]:
        if length >= 16 * count:
            made += _long(length, count, draw)
    usual = (_REMOTE_DISTANCES if remote else _DISTANCES)[effort]
    for distance in dict.fromkeys((*usual, *distances)):
        made += _apart(distance, only_length)
    if length >= 40:
        made += [p for n in _small(only_length) for p in _odd(n)]
    return list(expressible(made, operations))


def _small(only_length: int | None) -> tuple[int, ...]:
    return (40,) if only_length is None else (only_length,)


def _read(ranges: Sequence[Range | None], pooled: bool = False) -> Call:
    return "read_vectored", (tuple(ranges), "heap", "given" if pooled else "absent")


def _long(length: int, count: int, draw: random.Random) -> Iterator[Program]:
    """Yield lists of this number of ranges: near ones, and ones over the whole file."""
    near, far = list[Range](), list[Range]()
    for number in range(count):
        near.append((number * 8, 8 if number % 5 else draw.randint(0, 8)))
        at = number * (length // count)
        far.append((at + draw.randint(0, 3), draw.randint(1, length // count - 3)))
    same: list[Range] = [(number * (length // count), 2) for number in range(count)]
    shuffled = draw.sample(far, count)
    yield program_of(length, [("read_byte", ()), _read(near[::-1]), *_LOOK, _read(near)])
    yield program_of(length, [_read(shuffled), *_LOOK, _read(far, pooled=True)])
    yield program_of(length, [_read(draw.sample(same, count), pooled=True), _read(same[::-1])])


def _apart(distance: int, only_length: int | None) -> Iterator[Program]:
    """Yield lists of ranges that are about as far apart: in order, reversed, and grouped."""
    for gap in (n for n in (distance - 1, distance, distance + 1) if n >= 0):
        ends = 7
        ranges: list[Range] = [(3, 4)]
        for size in (9, max(gap, 3), 2, 5, 1)[: 5 if gap <= _NEAR else 2]:
            ranges.append((ends + gap, size))
            ends += gap + size
        length = ends + 20 if only_length is None else only_length
        if ends > length:
            continue
        pairs = [*ranges[-2::-2], *ranges[-1::-2]]
        yield program_of(length, [_read(ranges), *_LOOK, _read(ranges[::-1], pooled=True)])
        yield program_of(length, [_read(pairs), _read(pairs[:2]), *_LOOK])


def _odd(n: int) -> Iterator[Program]:
    """Yield lists of empty, overlapping and equal ranges, and of ranges past the end."""
    for ranges in _empty(n):
        yield program_of(n, [_read(ranges), *_LOOK])
    good: list[Range] = [(9, 4), (1, 4), (20, 6)]
    unusual: list[Sequence[Range | None]] = [*_overlapping(), *_late(n), *_wrong()]
    for first in unusual:
        pooled = None not in first
        calls = [_read(first, pooled), *_LOOK, _read(good, pooled), *_LOOK, _read(good, pooled)]
        yield program_of(n, calls)
    for again in (good, good[::-1], [(9, 4)], [(1, 4), (9, 4)], [(0, 12)]):
        calls = [_read(good), ("read_into", (5, 0, 5)), _read(again), ("seek", (0,)), *_LOOK]
        yield program_of(n, [*calls, ("pread", (8, 6, 0, 6)), ("unbuffer", ()), _read(good)])
    yield program_of(n, [_read(good), ("py_seek", (8, 0)), ("py_read", (6,)), _read(good)])


def _empty(n: int) -> Iterator[list[Range]]:
    yield [(2, 0), (2, 3)]
    yield [(2, 3), (2, 0), (5, 0)]
    yield [(1, 2), (3, 0), (3, 4)]
    yield [(9, 3), (5, 0), (1, 2), (n, 0)]
    yield [(0, 0), (0, 0), (n - 1, 1)]
    yield [(k, 0) for k in range(9)]


def _overlapping() -> Iterator[list[Range]]:
    yield [(0, 4), (20, 2), (3, 2)]
    yield [(2, 12), (4, 3), (30, 2)]
    yield [(4, 3), (30, 2), (4, 3), (20, 1)]
    yield [(12, 8), (0, 2), (4, 9)]


def _late(n: int) -> Iterator[list[Range]]:
    """Yield lists with a range past the end as the first, a middle and the last one."""
    good: list[Range] = [(9, 4), (1, 4), (20, 6)]
    for late in ((n - 2, 4), (n, 4), (n + 3, 4)):
        yield from ([*good[:at], late, *good[at:]] for at in range(4))
    yield [(n - 4, 4), (n - 9, 5), (n, 1)]
    yield [(1, 4), (n - 3, 9), (n + 9, 2), (9, 4)]


def _wrong() -> Iterator[list[Range | None]]:
    """Yield lists that are refused: the wrong range is not the first one."""
    yield [(9, 4), (-1, 4), (1, 4)]
    yield [(9, 4), (1, -1)]
    yield [(9, 4), None, (1, 4)]
