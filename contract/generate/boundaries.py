"""Programs around the boundaries at which a target reads: ends of blocks, multiples of a size.

Only an opened file reveals the size of its blocks, which may be several MiB. So there are only a
few programs around the end of the first block, and they give positions as numbers. The others go
behind the second and the third multiple of a size in which the target works, where a buffer is
filled again, replaced, or found to be stale.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import product

from fscontract.contract.api.openfile_options import READ_POLICY
from fscontract.contract.generate import call_alphabet
from fscontract.contract.generate.call_sequences import OVERHANG, ordinary
from fscontract.contract.generate.listed_calls import Call, expressible, program_of
from fscontract.contract.program.open_calls import Opening
from fscontract.contract.program.program import Program, Step, resolve_step

#: The largest block size: larger files of two blocks are slow to write, read and compare.
LARGEST_BLOCK = 8 << 20
#: Programs per effort, and the limit on the total bytes of their files.
_BLOCK_PROGRAMS = {"quick": 300, "normal": 3_000, "deep": 30_000}
_BLOCK_BYTES = {"quick": 1 << 30, "normal": 1 << 33, "deep": 1 << 36}
#: Programs per effort if every call costs a round trip.
_REMOTE_BLOCK_PROGRAMS = {"quick": 30, "normal": 100, "deep": 1_000}
#: The most calls of a random program.
_MOST_CALLS = 8
#: The range of single bytes around the end of a block, and of reads that cross it.
_REACH = 9


def block_programs(
    operations: frozenset[str],
    block: int,
    effort: str,
    seed: int,
    remote: bool = False,
    only_length: int | None = None,
) -> list[Program]:
    """Return programs around the ends of blocks; the same seed gives the same ones.

    There are none if the blocks are too large, or if the only file, of `only_length`, has a single
    block.
    """
    if unreachable_blocks(block, only_length):
        return []
    limit = min(_BLOCK_PROGRAMS[effort], _BLOCK_BYTES[effort] // block)
    draw = random.Random(seed)
    systematic = list(_systematic(operations, block, only_length))
    drawn = draw.sample(systematic, min(len(systematic), limit * 3 // 4))
    randoms = _random(operations, block, draw, only_length)
    drawn += itertools.islice(randoms, limit - len(drawn))
    return draw.sample(drawn, _REMOTE_BLOCK_PROGRAMS[effort]) if remote else drawn


def unreachable_blocks(block: int, only_length: int | None = None) -> str:
    """Return why there are no programs around the ends of such blocks; "" if there are."""
    if only_length is not None and only_length <= block:
        return f"the file has {only_length} bytes"
    return f"the largest that are tried have {LARGEST_BLOCK} bytes" if block > LARGEST_BLOCK else ""


def _systematic(
    operations: frozenset[str], block: int, only_length: int | None
) -> Iterator[Program]:
    """Yield programs with each call around the end of the first block, then a look at the result.

    Each call is made on a new stream, and on one that has read the first block.
    """
    length = only_length or block + OVERHANG
    around = call_alphabet.around_buffer(operations)
    moves = [s for s in around if s.op == "seek"] or [s for s in around if s.op == "skip"]
    look = [s for s in around if s.op == "read_byte"]
    for before in ([], look):
        for steps in itertools.product(moves, around):
            yield _resolved(length, [*before, *steps, *look], block)


def _random(
    operations: frozenset[str], block: int, draw: random.Random, only_length: int | None
) -> Iterator[Program]:
    lengths = (block + OVERHANG, 2 * block + 1) if only_length is None else (only_length,)
    around = [s for s in call_alphabet.around_buffer(operations) if s.op != "read_into"]
    while True:
        length = draw.choice(lengths)
        near = [
            step
            for _ in range(2 * _MOST_CALLS)
            for step in ordinary(
                operations, _near(block, length, draw), draw.randint(1, 20), length
            )
        ]
        steps = draw.choices(near + around, k=draw.randint(3, _MOST_CALLS))
        yield _resolved(length, steps, block)


def _near(block: int, length: int, draw: random.Random) -> int:
    end = block * draw.randint(1, max(1, length // block))
    return min(max(0, end + draw.randint(-_REACH, _REACH)), length)


def _resolved(length: int, steps: list[Step], block: int) -> Program:
    return Program(length, tuple(resolve_step(step, length, block) for step in steps))


#: The multiples of a boundary that programs visit.
_MULTIPLES = (1, 2, 3, 4)
#: The largest file with four multiples of a boundary.
LARGEST = 24 << 20
#: Programs for each boundary, by effort, and if every call costs a round trip.
PROGRAMS = {"quick": 280, "normal": 1_500, "deep": 10_000}
REMOTE = {"quick": 12, "normal": 100, "deep": 500}
#: Up to this boundary, files end around each of its multiples, and single reads go over all.
_SMALL = 1 << 18
#: The limit on the bytes of the files of all programs of a boundary.
_BYTES = {"quick": 1 << 28, "normal": 1 << 32, "deep": 1 << 36}
_LOOK = (("read_byte", ()), ("read_into", (4, 0, 4)))

Calls = Iterable[Call]


def reachable(boundary: int, only_length: int | None = None) -> bool:
    """Return whether a file can hold the second multiple of a boundary and more."""
    if only_length is not None:
        return 2 * boundary < only_length
    return 4 * boundary + 1 <= LARGEST


def programs(
    operations: frozenset[str],
    boundary: int,
    effort: str,
    seed: int,
    remote: bool = False,
    only_length: int | None = None,
) -> list[Program]:
    """Return programs around the multiples of a boundary, in an order that the seed decides.

    There are none if no file reaches the second multiple.
    """
    if not reachable(boundary, only_length):
        return []
    draw = random.Random(f"{seed}:boundaries:{boundary}")
    length = 4 * boundary + 1 if only_length is None else only_length
    points = [k * boundary + d for k in _MULTIPLES for d in (-1, 0, 1) if k * boundary + d > 0]
    points = sorted({p for p in points if p <= length})
    ends = points if boundary <= _SMALL else [2 * boundary]
    made = [] if only_length is not None else [p for n in ends for p in _at_end(n)]
    made += _visits(length, points)
    pairs = list(product(points, points))
    made += [_between(length, p, q) for p, q in draw.sample(pairs, min(40, len(pairs)))]
    if effort != "quick":
        made += [_between(length, p, q) for p, q in pairs]
        made += _walks(length, points, draw, PROGRAMS[effort] // 2)
    made = list(expressible(made, operations))
    limit = REMOTE[effort] if remote else PROGRAMS[effort]
    limit = min(limit, max(_BYTES[effort] // length, 1))
    always = [*_first_past(length, boundary), *(() if remote else _strides(length, boundary))]
    first = list(expressible(always, operations))
    limit = max(limit - len(first), 0)
    return first + (made if len(made) <= limit else draw.sample(made, limit))


def policy_programs(
    operations: frozenset[str],
    boundary: int,
    policies: Iterable[str],
    only_length: int | None = None,
) -> Iterator[Program]:
    """Yield reads behind the third multiple of a boundary, under each read policy."""
    if not reachable(boundary, only_length):
        return
    length = 4 * boundary + 1 if only_length is None else only_length
    far = min(3 * boundary, length - 1)
    for policy in policies:
        opening = Opening("file", (("opt", READ_POLICY, policy),))
        for calls in _behind(boundary, far, length):
            for program in expressible([program_of(length, calls)], operations):
                yield replace(program, opening=opening)


def _behind(b: int, far: int, length: int) -> Iterator[Calls]:
    """Yield reads there, and back in the first two blocks."""
    n = min(b, 4 * _SMALL)
    yield [
        ("read_into", (7, 0, 7)),
        ("seek", (far - 1,)),
        *_LOOK,
        ("seek", (b - 1,)),
        *_LOOK,
        ("seek", (length - 1,)),
        *_LOOK,
    ]
    yield [
        ("pread", (far - 2, 6, 0, 6)),
        ("pread", (b - 2, 6, 1, 5)),
        ("read_fully", (b - 2, n + 2, 0, n + 2)),
        ("read_fully", (far - n, n, 0, n)),
        ("read_vectored", (((1, 3), (far - 1, 2)), "heap", "given")),
        ("read_byte", ()),
    ]
    yield [
        ("py_read", (n + 2,)),
        ("py_seek", (far - 1, 0)),
        ("py_read", (4,)),
        ("py_seek", (b - 1, 0)),
        ("py_read", (2 * n + 2,)),
    ]


def _at_end(n: int) -> Iterator[Program]:
    """Yield programs on a file that ends at a boundary, or a byte before or behind it."""
    last = n - 1
    for calls in (
        [("read_into", (n + 1, 0, n + 1)), ("read_byte", ()), ("get_pos", ())],
        [("seek", (n,)), *_LOOK, ("seek", (last,)), *_LOOK, ("available", ())],
        [("seek", (last,)), *_LOOK[::-1], ("seek", (n,)), *_LOOK[::-1]],
        [("pread", (last, 4, 0, 4)), ("pread", (n, 4, 0, 4)), ("read_fully", (last, 4, 0, 1))],
        [("seek", (max(n - 3, 0),)), ("skip", (5,)), ("available", ()), ("read_byte", ())],
        [("py_seek", (-1, 2)), ("py_read", (4,)), ("py_read", (1,)), ("py_tell", ())],
    ):
        yield program_of(n, calls)


def _first_past(length: int, boundary: int) -> Iterator[Program]:
    """Yield programs that read past the first multiple, and then by each kind of read.

    Every run has these programs: it depends on the kind which clause is violated.
    """
    size = boundary + 2
    if size < min(length, _SMALL):
        past = (("read_into", (size, 0, size)), ("py_read", (size,)))
        reads = (*_LOOK, ("py_read", (2,)), ("py_readinto", ("B", 3)))
        yield from (program_of(length, calls) for calls in product(past, reads))


def _strides(length: int, boundary: int) -> Iterator[Program]:
    """Yield programs that go back and on by the boundary itself, before each kind of read."""
    there, back = 2 * boundary, boundary
    for op, args, count in (
        ("read_byte", (), 1),
        ("read_into", (3, 0, 3), 3),
        ("skip", (2,), 2),
        ("read_buffer", (4, 1, None), 3),
    ):
        calls: list[Call] = [("seek", (there,)), ("seek", (back,)), (op, args), ("get_pos", ())]
        calls += [("seek", (there + count,)), (op, args), ("get_pos", ()), *_LOOK]
        yield program_of(length, calls)
    moves = (("py_seek", (there, 0)), ("py_seek", (-boundary, 1)), ("py_seek", (boundary, 1)))
    for read in (("py_read", (3,)), ("py_readinto", ("B", 3)), ("py_readline", (2,))):
        look = (read, ("py_tell", ()))
        yield program_of(length, [*moves[:2], *look, moves[2], *look, ("py_read", (2,))])


def _visits(length: int, points: list[int]) -> Iterator[Program]:
    """Yield programs that go to each point in every way, and read up to it and from it."""
    far = points[-1]
    for p in points:
        m = p if p <= 4 * _SMALL else 9_000
        start = p - m
        for calls in (
            [("read_byte", ()), ("seek", (p,)), ("get_pos", ()), *_LOOK],
            [("seek", (far,)), ("read_byte", ()), ("seek", (p,)), *_LOOK, ("seek", (0,)), *_LOOK],
            [("seek", (p,)), ("seek", (p,)), *_LOOK, ("unbuffer", ()), *_LOOK],
            [("skip", (p,)), *_LOOK, ("seek", (1,)), ("skip", (p,)), ("available", ()), *_LOOK],
            [("seek", (p,)), ("skip", (3,)), ("get_pos", ()), *_LOOK],
            [("seek", (start,)), ("read_into", (m, 0, m)), ("get_pos", ()), *_LOOK],
            [
                ("read_byte", ()),
                ("pread", (start + 1, m, 1, m - 1)),
                ("pread", (p, 8, 1, 5)),
                *_LOOK,
            ],
            [("read_fully", (start, m, 0, m)), ("read_fully", (max(p - 2, 0), 3, 0, 2)), *_LOOK],
            [("read_buffer", (m + 1, 1, None)), ("pread_buffer", (p, 4, 0, None)), *_LOOK],
            [("read_vectored", (((0, 3), (p, 5)), "heap", "absent")), *_LOOK],
            [("py_read", (m,)), ("py_read", (4,)), ("py_seek", (-4, 1)), ("py_read", (2,))],
            [("py_seek", (p, 0)), ("py_read", (4,)), ("py_seek", (0, 0)), ("py_read", (2,))],
        ):
            yield program_of(length, calls)


def _between(length: int, p: int, q: int) -> Program:
    """Return a program that reads at two points in turn."""
    there: Calls = [("seek", (p,)), *_LOOK]
    then: Calls = [("seek", (q,)), *_LOOK[::-1], ("get_pos", ())]
    return program_of(length, [*there, *then, *there])


def _walks(length: int, points: list[int], draw: random.Random, count: int) -> Iterator[Program]:
    """Yield programs that visit several points, by seed."""
    for _ in range(count):
        calls: list[Call] = []
        for p in draw.choices(points, k=draw.randint(2, 6)):
            near = min(max(p + draw.randint(-9, 9), 0), length)
            calls += [("seek", (near,)), *draw.sample(_LOOK, draw.randint(1, 2))]
            calls += [("py_seek", (near, 0)), ("py_read", (draw.randint(1, 20),))]
        yield program_of(length, calls)
