"""Programs in which the file changes while a stream reads it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from fscontract.contract.program.arguments import Argument
from fscontract.contract.program.program import Program, Step

Call: TypeAlias = tuple[str, tuple[Argument, ...]]
Calls: TypeAlias = tuple[Call, ...]

#: A file that fits no small buffer at once, and one that does.
_LENGTHS = (5, 1000)
_BEFORE: tuple[Calls, ...] = (
    (),
    (("read_byte", ()),),
    (("read_into", (4, 0, 4)),),
    (("seek", ("len-1",)),),
    (("read_byte", ()), ("unbuffer", ())),
)
_READS: Calls = (
    ("read_byte", ()),
    ("read_into", ("len+9", 0, "len+9")),
    ("read_into", (4, 0, 4)),
    ("pread", (0, 8, 0, 8)),
    ("pread", ("len-2", 8, 0, 8)),
    ("read_fully", (0, "len", 0, "len")),
    ("read_vectored", (((0, 2), ("len-2", 2)), "heap", "absent")),
    ("read_buffer", (8, 0, None)),
)
_MOVES: Calls = (
    ("get_pos", ()),
    ("seek", (0,)),
    ("seek", ("len-2",)),
    ("skip", (2,)),
    ("unbuffer", ()),
)


def programs(operations: frozenset[str], changes: frozenset[str], effort: str) -> Iterator[Program]:
    """Every change after every beginning, seen by every read (and, above quick, read twice)."""

    def steps(calls: Calls) -> tuple[Step, ...]:
        return tuple(Step(op, args) for op, args in calls)

    def expressible(calls: Calls) -> bool:
        return all(op in operations for op, _ in calls)

    endings: list[Calls] = [(a,) for a in _READS] + [(m, a) for m in _MOVES for a in _READS]
    if effort != "quick":
        endings += [(m, a, b) for m in _MOVES for a in _READS for b in _READS]
    for length in _LENGTHS:
        for how in sorted(changes):
            for before in filter(expressible, _BEFORE):
                for after in filter(expressible, endings):
                    calls = (*steps(before), Step("change", (how,)), *steps(after))
                    yield Program(length, calls)
