"""What is done with a stream that was opened in some way: short families of calls, each of a kind.

A file that is said to be longer than it is has a real end that the stream learns of by reading
only. Where a stream stands after a seek, or a read, over that end is not for a program to ask.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import replace
from typing import TypeAlias

from fscontract.contract.anchors import Argument, resolve
from fscontract.contract.program import Step

Steps: TypeAlias = tuple[Step, ...]
_Calls: TypeAlias = tuple[tuple[str, tuple[Argument, ...]], ...]

#: A single read: for opens of which it only matters whether they succeed.
_GLANCES: tuple[_Calls, ...] = ((("read_byte", ()),), (("py_read", (1,)),))
#: Families whose reads end at the real end; those of positioned reads may begin beyond it.
_WITHIN: dict[str, _Calls] = {
    "bytes": (*[("read_byte", ())] * 3, ("get_pos", ())),
    "through": (("read_into", ("len", 0, "len")), ("get_pos", ()), ("read_byte", ())),
    "seek": (
        ("seek", ("len-1",)),
        ("read_byte", ()),
        ("read_byte", ()),
        ("seek", (0,)),
        ("read_byte", ()),
        ("get_pos", ()),
    ),
    "pread": (
        ("pread", (0, 4, 1, 1)),
        ("pread", ("len-1", 4, 0, 1)),
        ("pread", ("len", 4, 0, 1)),
        ("pread", ("len+1", 4, 0, 2)),
        ("read_byte", ()),
    ),
    "fully": (
        ("read_fully", (0, "len", 0, "len")),
        ("read_fully_all", ("len-1", 1)),
        ("read_fully", ("len", 4, 0, 1)),
        ("read_byte", ()),
    ),
    "vectored": (
        ("read_vectored", (((0, 1), ("len-1", 1)), "heap", "absent")),
        ("read_vectored", (((0, "len"),), "heap", "given")),
        ("read_byte", ()),
    ),
    "buffers": (
        ("pread_buffer", ("len-1", 1, 0, None)),
        ("read_fully_buffer", (0, "len", 0, None)),
        ("read_buffer", ("len", 0, None)),
        ("get_pos", ()),
    ),
    "unbuffer": (
        ("read_byte", ()),
        ("unbuffer", ()),
        ("pread", (0, 4, 0, 1)),
        ("read_byte", ()),
        ("unbuffer", ()),
        ("close", ()),
    ),
    "closed": (("get_pos", ()), ("close", ()), ("read_byte", ()), ("py_read", (1,))),
    "file": (
        ("py_read", (1,)),
        ("py_tell", ()),
        ("py_seek", ("len", 0)),
        ("py_read", (1,)),
        ("py_seek", (0, 0)),
        ("py_read", ("len",)),
        ("py_tell", ()),
    ),
    "file-into": (("py_readinto", ("B", "len")), ("py_seekable", ()), ("py_tell", ())),
}
#: Families that read over the end, or seek beyond it.
_BEYOND: dict[str, _Calls] = {
    "sequential": (
        ("read_into", (4, 0, 4)),
        ("read_byte", ()),
        ("read_into", ("len+2", 0, "len+2")),
        ("read_byte", ()),
    ),
    "seek-beyond": (
        ("seek", ("len",)),
        ("read_byte", ()),
        ("seek", ("len+1",)),
        ("seek", (1,)),
        ("read_into", (4, 1, 2)),
        ("seek", (-1,)),
    ),
    "pread-over": (
        ("pread", (0, "len+2", 1, "len")),
        ("pread", ("len-1", 8, 0, 8)),
        ("read_fully", ("len-1", 8, 2, 4)),
        ("get_pos", ()),
        ("pread", (1, 8, 0, 4)),
    ),
    "vectored-over": (
        ("read_vectored", (((3, 2), (0, 2)), "view", "given")),
        ("read_vectored", (((0, 1), ("len", 1)), "heap", "absent")),
        ("read_vectored", (((0, "len+1"),), "heap", "absent")),
    ),
    "buffers-over": (
        ("read_buffer", (6, 1, 4)),
        ("pread_buffer", ("len-2", 6, 1, 5)),
        ("read_buffer", ("len+2", 0, None)),
    ),
    "skip": (("skip", (2,)), ("read_byte", ()), ("skip", ("len",)), ("read_byte", ())),
    "available": (("available", ()), ("read_byte", ()), ("available", ())),
    "sources": (("seek_to_new_source", (2,)), ("read_byte", ()), ("get_pos", ())),
    "file-all": (
        ("py_read", (3,)),
        ("py_seek", (1, 0)),
        ("py_readall", ()),
        ("py_read", (1,)),
    ),
    "file-end": (
        ("py_seek", (-1, 2)),
        ("py_read", (4,)),
        ("py_seek", ("len+2", 0)),
        ("py_read", (1,)),
    ),
    "file-lines": (
        ("py_readline", (2,)),
        ("py_readline", (None,)),
        ("py_seek", (0, 0)),
        ("py_readlines", (None,)),
    ),
}


class Readings:
    """The families of which the API has the words; the same objects each time, which are quick to
    run."""

    def __init__(self, operations: Iterable[str]) -> None:
        self._operations = frozenset(operations)
        glances = (self._steps(calls) for calls in _GLANCES)
        #: The shortest of all families; empty if the API can't read.
        self.glance: Steps = next((steps for steps in glances if steps), ())
        self._within = self._families(_WITHIN) or [self.glance]
        self._all = self._within + self._families(_BEYOND)
        self._sober: dict[int, list[Steps]] = {}
        self._others: dict[Steps, Steps] = {}

    def families(self, length: int, overstated: bool) -> list[Steps]:
        """Families for a file of `length` bytes; `overstated` if it is said to be longer."""
        if not overstated:
            return self._all
        found = self._sober.get(length)
        if found is None:
            fitting = [s for s in self._within if all(stays(step, length) for step in s)]
            found = self._sober[length] = fitting or [self.glance]
        return found

    def both(self, first: Steps, second: Steps) -> Steps:
        """The first on one stream and the second on another, by turns."""
        other = self._others.get(second)
        if other is None:
            other = self._others[second] = tuple(replace(step, stream=1) for step in second)
        pairs = itertools.zip_longest(other, first)
        return tuple(step for pair in pairs for step in pair if step is not None)

    def _families(self, table: dict[str, _Calls]) -> list[Steps]:
        found = (self._steps(calls) for calls in table.values())
        return [steps for steps in dict.fromkeys(found) if steps]

    def _steps(self, calls: _Calls) -> Steps:
        return tuple(Step(op, args) for op, args in calls if op in self._operations)


def stays(step: Step, length: int) -> bool:
    """Whether a call leaves a stream within the first `length` bytes, and asks for no more of what
    can't be known beyond them; stream reads can't be told from this."""
    args = tuple(resolve(a, length, 0) for a in step.args)
    if step.op in ("available", "skip"):
        return False
    if step.op in ("seek", "seek_to_new_source"):
        return bool(args[0] <= length)
    if step.op == "py_seek":
        return bool(args[1] == 0 and args[0] <= length)
    if step.op == "read_vectored":
        return all(offset + count <= length for offset, count in args[0])
    return True
