"""Programs around the boundaries of the blocks in which a target reads its files.

Only an opened file reveals the block size, which may be several MiB. So there are only a few of
these programs, and they give positions as numbers.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator

from fscontract.contract.generate import call_alphabet
from fscontract.contract.generate.exhaustive import OVERHANG
from fscontract.contract.generate.random_walk import ordinary
from fscontract.contract.program.program import Program, Step, resolve_step

#: The largest block size: larger files of two blocks are slow to write, read and compare.
LARGEST = 8 << 20
#: Programs per effort, and the limit on the total bytes of their files.
PROGRAMS = {"quick": 300, "normal": 3_000, "deep": 30_000}
_BYTES = {"quick": 1 << 30, "normal": 1 << 33, "deep": 1 << 36}
#: Programs per effort if every call costs a round trip.
_REMOTE = {"quick": 30, "normal": 100, "deep": 1_000}
#: The most calls of a random program.
_LONGEST = 8
#: The range of single bytes around the end of a block, and of reads that cross it.
_REACH = 9


def programs(
    operations: frozenset[str],
    block: int,
    effort: str,
    seed: int,
    remote: bool = False,
    only_length: int | None = None,
) -> list[Program]:
    """Return programs around the ends of blocks; the same seed gives the same ones.

    Return None if the blocks are too large, or if the only file, of `only_length`, has a single
    block.
    """
    if unreachable(block, only_length):
        return []
    limit = min(PROGRAMS[effort], _BYTES[effort] // block)
    draw = random.Random(seed)
    systematic = list(_systematic(operations, block, only_length))
    drawn = draw.sample(systematic, min(len(systematic), limit * 3 // 4))
    randoms = _random(operations, block, draw, only_length)
    drawn += itertools.islice(randoms, limit - len(drawn))
    return draw.sample(drawn, _REMOTE[effort]) if remote else drawn


def unreachable(block: int, only_length: int | None = None) -> str:
    """Return why there are no programs around the ends of such blocks; "" if there are."""
    if only_length is not None and only_length <= block:
        return f"the file has {only_length} bytes"
    return f"the largest that are tried have {LARGEST} bytes" if block > LARGEST else ""


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
            for _ in range(2 * _LONGEST)
            for step in ordinary(
                operations, _near(block, length, draw), draw.randint(1, 20), length
            )
        ]
        steps = draw.choices(near + around, k=draw.randint(3, _LONGEST))
        yield _resolved(length, steps, block)


def _near(block: int, length: int, draw: random.Random) -> int:
    end = block * draw.randint(1, max(1, length // block))
    return min(max(0, end + draw.randint(-_REACH, _REACH)), length)


def _resolved(length: int, steps: list[Step], block: int) -> Program:
    return Program(length, tuple(resolve_step(step, length, block) for step in steps))
