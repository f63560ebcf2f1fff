"""Long random programs from a seed.

They are cheap, so that the stream under test limits their number.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from fscontract.contract.generate import call_alphabet
from fscontract.contract.program.program import Program, Step

#: The most steps of one program.
LONGEST = 40
#: Programs per effort.
PROGRAMS = {"quick": 300, "normal": 10_000, "deep": 200_000}


def programs(
    operations: frozenset[str], buffer: int, effort: str, seed: int, only_length: int | None = None
) -> Iterator[Program]:
    """Yield random programs; the same seed gives the same ones."""
    draw = random.Random(seed)
    lengths = (5, 17, buffer + 3, 2 * buffer + 1) if only_length is None else (only_length,)
    choices = {n: _alphabet(operations, n, draw) for n in lengths}
    for _ in range(PROGRAMS[effort]):
        length = draw.choice(lengths)
        size = draw.randint(4, LONGEST)
        yield Program(length, tuple(draw.choices(choices[length], k=size)))


def _alphabet(operations: frozenset[str], length: int, draw: random.Random) -> list[Step]:
    """Return calls that keep a stream busy: each boundary once, ordinary reads and seeks often."""
    steps = [s for s in call_alphabet.full(operations) if s.op not in ("close", "py_with")]
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
