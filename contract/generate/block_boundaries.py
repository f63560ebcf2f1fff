"""Programs around the ends of the blocks that a target's files are read in.

Only an opened file tells how large these are, and some have several MiB. So there are few of these
programs, and they name positions by numbers.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator

from fscontract.contract.generate import call_alphabet
from fscontract.contract.generate.exhaustive import OVERHANG
from fscontract.contract.generate.random_walk import ordinary
from fscontract.contract.program.program import Program, Step, resolve_step

#: Files of two larger blocks take long to write, to read and to compare.
LARGEST = 8 << 20
#: Programs per effort, as long as their files do not have more bytes than this in all.
PROGRAMS = {"quick": 300, "normal": 3_000, "deep": 30_000}
_BYTES = {"quick": 1 << 30, "normal": 1 << 33, "deep": 1 << 36}
#: The same where every call costs a round trip.
_REMOTE = {"quick": 30, "normal": 100, "deep": 1_000}
#: Calls of a random program.
_LONGEST = 8
#: Single bytes around the end of a block, and reads that go over it.
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

    None if the blocks are too large, or if a file of `only_length`, the only one, has just one.
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
    """Each call around the end of the first block, from there, and a look where it led; of a new
    stream, and of one that has read the first block."""
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
