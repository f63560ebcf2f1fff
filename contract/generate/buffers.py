"""Programs that read into buffers of every kind: larger items, views of a part, read-only ones.

A read that counts in items, writes through the wrong view or pads the last item is right for plain
bytes.
"""

from __future__ import annotations

from collections.abc import Iterator

from fscontract.contract.generate.listed_calls import Call, expressible, program_of
from fscontract.contract.program.program import FORMATS, Program

#: Lengths of files: one that ends in the middle of every larger item, and an empty one.
LENGTHS = (13, 0)
#: Numbers of items of each buffer: none, one or two, and more than the file has.
_COUNTS = (0, 1, 2, 20)
#: Of how many programs one is run if every call costs a round trip.
_REMOTE_STEP = 4
_LOOK: tuple[Call, ...] = (("py_tell", ()), ("py_read", (2,)))


def programs(
    operations: frozenset[str], remote: bool = False, only_length: int | None = None
) -> list[Program]:
    """Return the programs, always in the same order; a few if every call costs a round trip."""
    lengths = LENGTHS if only_length is None else (only_length,)
    made = [program_of(n, calls) for n in lengths for form in FORMATS for calls in _reads(form)]
    possible = expressible(made, operations)
    into = [p for p in possible if any(step.op == "py_readinto" for step in p.steps)]
    return into[::_REMOTE_STEP] if remote else into


def _reads(form: str) -> Iterator[list[Call]]:
    """Yield reads into buffers of one kind, at the beginning, behind it, at the end and closed."""
    into = [("py_readinto", (form, count)) for count in _COUNTS]
    nothing, one, some, more = into
    yield [one, *_LOOK]
    yield [("py_read", (1,)), some, *_LOOK, nothing, *_LOOK]
    yield [("py_read", (3,)), more, ("py_tell", ()), some, ("py_read", (1,))]
    yield [("py_seek", (-3, 2)), some, some, ("py_tell", ())]
    yield [("close", ()), some]
