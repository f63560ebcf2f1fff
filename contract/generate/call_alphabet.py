"""The calls that programs are made of: every operation with arguments at every boundary."""

from __future__ import annotations

from collections.abc import Iterable

from fscontract.contract.models.seek import CAPABILITIES
from fscontract.contract.program.arguments import Argument
from fscontract.contract.program.program import Step

#: Calls that move or close a stream, and calls that observe its position: the parts of longer
#: programs. All other calls need only be tried next to these.
_CORE: dict[str, tuple[tuple[Argument, ...], ...]] = {
    "get_pos": ((),),
    "read_byte": ((),),
    "read_into": ((4, 0, 4), (4, 1, 2)),
    "seek": ((0,), (2,), ("len-1",), ("len",), ("len+1",), (-1,)),
    "pread": ((1, 4, 1, 2),),
    "read_fully": ((1, 4, 1, 2),),
    "read_vectored": ((((0, 1), (2, 2)), "heap", "given"),),
    "seek_to_new_source": ((2,),),
    "unbuffer": ((),),
    "skip": ((1,),),
    "available": ((),),
    "read_buffer": ((4, 1, 3),),
    "close": ((),),
    "py_read": ((2,),),
    "py_seek": ((1, 1),),
    "py_readline": ((None,),),
    "py_tell": ((),),
}
_POSITIONED: tuple[tuple[Argument, ...], ...] = (
    (0, 4, 0, 4),
    (2, 8, 2, 3),
    (0, "len+2", 1, "len"),
    ("len-1", 4, 0, 4),
    ("len-2", 4, 1, 2),
    ("len", 4, 0, 1),
    ("len", 4, 0, 0),
    ("len+1", 4, 0, 0),
    ("len+3", 4, 0, 2),
    (-1, 4, 0, 2),
    (-1, 4, 0, 1),
    (0, None, 0, 4),
    (0, 4, 0, -1),
    (0, 4, -2, 2),
    (0, 4, 0, 5),
    (0, 4, 3, 2),
    (1, 4, 0, 0),
    ("max", 4, 0, 1),
)
_BUFFERS: tuple[tuple[Argument, ...], ...] = (
    (0, 4, 0, None),
    (1, 6, 1, 4),
    ("len-1", 4, 0, None),
    ("len-2", 4, 1, 3),
    ("len", 4, 0, None),
    (-1, 4, 0, None),
    (1, 4, 2, 2),
)
_RANGES: tuple[Argument, ...] = (
    (),
    None,
    ((3, 2), (0, 2)),
    ((0, "len"),),
    ((0, 2), (2, 1)),
    ((0, 3), (1, 3)),
    ((1, 2), (1, 2)),
    ((-1, 2),),
    ((0, -1),),
    (("len-1", 1),),
    (("len-2", 2), (0, 1)),
    (("len", 1),),
    ((0, 1), ("len+1", 2)),
    ((0, "len+1"),),
    ((1, 0),),
    ((0, 1), None),
)
_BOUNDARIES: dict[str, tuple[tuple[Argument, ...], ...]] = {
    "read_into": (
        (4, 0, 0),
        (0, 0, 0),
        ("len+3", 2, "len+1"),
        (None, 0, 4),
        (None, 0, 0),
        (4, -2, 2),
        (4, 0, -1),
        (4, 0, 5),
        (4, 3, 2),
        (4, 4, 0),
        (4, 5, 0),
        (4, 6, 1),
    ),
    "seek": ((1,), ("len-2",), ("len+7",), ("max",)),
    "seek_to_new_source": ((0,),),
    "has_capability": tuple((name,) for name in CAPABILITIES),
    "skip": ((0,), (-1,), (2,), ("len",), ("len+5",)),
    "pread": _POSITIONED,
    "read_fully": _POSITIONED,
    "read_fully_all": ((0, "len"), (1, 2), ("len-1", 4), (-1, 2), (0, None), ("len", 0)),
    "read_vectored": (
        *((ranges, "heap", "absent") for ranges in _RANGES),
        (((0, 2),), "view", "given"),
        (((0, 2),), "null", "absent"),
        (((0, 2),), "heap", "null"),
    ),
    "read_buffer": ((4, 0, None), (6, 1, 4), (4, 2, 2), (1, 0, None)),
    "pread_buffer": _BUFFERS,
    "read_fully_buffer": _BUFFERS,
    "py_read": ((None,), (-1,), (0,), (1,), ("len+2",)),
    "py_readall": ((),),
    "py_readinto": (("B", 3), ("B", 0), ("I", 1), ("2d", 2), ("B", "len+2")),
    "py_seek": ((0, 0), (2, 0), (-1, 0), (-1, 1), (0, 2), (-1, 2), (2, 2), ("len+2", 0), (0, 9)),
    "py_readline": ((0,), (2,), (-1,)),
    "py_readlines": ((None,), (1,)),
    "py_next": ((),),
    "py_closed": ((),),
    "py_readable": ((),),
    "py_seekable": ((),),
    "py_writable": ((),),
    "py_with": ((),),
    "py_write": ((),),
}
#: Calls around a boundary of the implementation's buffer, for a file longer than it.
_AROUND_BUFFER: dict[str, tuple[tuple[Argument, ...], ...]] = {
    "get_pos": ((),),
    "read_byte": ((),),
    "read_into": ((4, 0, 4), ("buf", 0, "buf"), ("buf+1", 1, "buf-1"), ("len+1", 0, "len+1")),
    "seek": (("buf-1",), ("buf",), ("buf+1",), ("len-1",), (0,)),
    "skip": (("buf-1",), ("buf",)),
    "available": ((),),
    "pread": (("buf-2", 8, 1, 5), (1, "buf", 0, "buf"), ("len-3", 8, 0, 8)),
    "read_fully": (("buf-2", 8, 1, 5), (1, "buf", 0, "buf")),
    "read_vectored": ((((0, 3), ("buf-2", 5)), "heap", "absent"),),
    "read_buffer": (("buf", 0, None),),
    "unbuffer": ((),),
    "py_read": (("buf",), ("buf+2",)),
    "py_readline": ((None,),),
}


def _steps(
    table: dict[str, tuple[tuple[Argument, ...], ...]], operations: Iterable[str]
) -> list[Step]:
    names = frozenset(operations)
    return [Step(op, args) for op, entries in table.items() if op in names for args in entries]


def core(operations: Iterable[str]) -> list[Step]:
    """Return the calls that longer programs combine."""
    return _steps(_CORE, operations)


def full(operations: Iterable[str]) -> list[Step]:
    """Return every call at every boundary, the core first."""
    return [*_steps(_CORE, operations), *_steps(_BOUNDARIES, operations)]


def around_buffer(operations: Iterable[str]) -> list[Step]:
    """Return calls around a boundary of the implementation's buffer."""
    return _steps(_AROUND_BUFFER, operations)
