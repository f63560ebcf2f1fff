"""Programs that read into buffers of every kind: larger items, views of a part, read-only ones.

A read that counts in items, writes through the wrong view or pads the last item is right for plain
bytes. Other programs make the calls that only files with a buffer have, between ordinary ones.
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
_REMOTE_STEP = 12
_LOOK: tuple[Call, ...] = (("py_tell", ()), ("py_read", (2,)))


def programs(
    operations: frozenset[str], remote: bool = False, only_length: int | None = None
) -> list[Program]:
    """Return the programs, always in the same order; a few if every call costs a round trip."""
    lengths = LENGTHS if only_length is None else (only_length,)
    made = [program_of(n, calls) for n in lengths for form in FORMATS for calls in _reads(form)]
    made += [program_of(n, calls) for n in lengths for calls in _buffered()]
    made += [program_of(n, calls) for n in lengths for calls in (*_WITH_ERROR, *_FLUSHED)]
    possible = expressible(made, operations)
    into = [p for p in possible if any(step.op in _SPECIAL for step in p.steps)]
    return into[::_REMOTE_STEP] if remote else into


#: The calls that these programs are about, and ordinary calls around those of buffered files.
_SPECIAL = frozenset(
    {"py_readinto", "py_read1", "py_readinto1", "py_peek", "py_with_error", "py_flush"}
)
#: Blocks that an exception ends: of a new file, after a read, and of a closed one.
_WITH_ERROR: tuple[tuple[Call, ...], ...] = tuple(
    (*before, ("py_with_error", ()), ("py_closed", ()), ("py_read", (2,)))
    for before in ((), (("py_read", (1,)),), (("close", ()),))
)
#: A flush of a file that has a buffer or none, and before other reads.
_FLUSHED: tuple[tuple[Call, ...], ...] = tuple(
    (*before, ("py_flush", ()), *_LOOK)
    for before in ((), (("py_read", (1,)),), (("py_readline", (2,)),), (("py_seek", (-2, 2)),))
)
_OF_BUFFERED: tuple[Call, ...] = (
    *(("py_read1", (size,)) for size in (-1, 0, 1, 3, 20, None)),
    *(("py_peek", (size,)) for size in (0, 1, 20)),
    *(("py_readinto1", (form, size)) for form, size in (("B", 3), ("I", 1), ("B", 20), ("B", 0))),
)
_AROUND: tuple[tuple[Call, ...], ...] = (
    (),
    (("py_read", (1,)),),
    (("py_readline", (2,)),),
    (("py_seek", (-2, 2)),),
    (("py_peek", (1,)),),
    (("py_seek", (3, 2)),),
    (("py_read", (-1,)),),
)


def _buffered() -> Iterator[list[Call]]:
    """Yield calls that only buffered files have, after others, before a look at the position."""
    for call in _OF_BUFFERED:
        yield from ([*before, call, *_LOOK] for before in _AROUND)
        yield [("close", ()), call]
    yield [("py_read1", (-1,)), *[("py_read1", (3,))] * 8, ("py_tell", ())]


def _reads(form: str) -> Iterator[list[Call]]:
    """Yield reads into buffers of one kind, at the beginning, behind it, at the end and closed."""
    into = [("py_readinto", (form, count)) for count in _COUNTS]
    nothing, one, some, more = into
    yield [one, *_LOOK]
    yield [("py_read", (1,)), some, *_LOOK, nothing, *_LOOK]
    yield [("py_read", (3,)), more, ("py_tell", ()), some, ("py_read", (1,))]
    yield [("py_seek", (-3, 2)), some, some, ("py_tell", ())]
    yield [("close", ()), some]
    yield [one, ("close", ()), ("close", ())]
