"""Where in a file the calls of a program act, if every one does what it is asked to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

from fscontract.contract.program import OPERATIONS, Step

#: A position, None where it can't be told.
Position: TypeAlias = int | None


class Movement(NamedTuple):
    """One call: from where to where the stream moves, and the bytes that are read, as [start, end).

    `kind` is seek, read (at the stream's position), pread (elsewhere), stay or change.
    """

    kind: str
    before: Position
    after: Position
    spans: tuple[tuple[int, int], ...] = ()


_Act: TypeAlias = Callable[[dict[str, Any], Position, int], Movement]


def movements(steps: Sequence[Step], length: int, streams: int) -> list[Movement]:
    """The movement of each step, whose anchors are numbers, on a file of `length` bytes."""
    places: list[Position] = [0] * streams
    found = []
    for step in steps:
        arguments = dict(zip(OPERATIONS[step.op], step.args, strict=True))
        made = _ACTS.get(step.op, _stay)(arguments, places[step.stream], length)
        places[step.stream] = made.after
        found.append(made)
    return found


def _stay(arguments: dict[str, Any], at: Position, length: int) -> Movement:
    return Movement("stay", at, at)


def _lost(arguments: dict[str, Any], at: Position, length: int) -> Movement:
    """A line is read, which ends nobody knows where."""
    return Movement("stay", at, None)


def _change(arguments: dict[str, Any], at: Position, length: int) -> Movement:
    return Movement("change", at, at, ((0, length),))


def _seek(arguments: dict[str, Any], at: Position, length: int) -> Movement:
    return _to(arguments["position"], at, length)


def _skip(arguments: dict[str, Any], at: Position, length: int) -> Movement:
    count = arguments["count"]
    if at is None or count <= 0:
        return Movement("stay", at, at)
    return Movement("seek", at, min(at + count, max(at, length)))


def _py_seek(arguments: dict[str, Any], at: Position, length: int) -> Movement:
    start = {0: 0, 1: at, 2: length}.get(arguments["whence"])
    if start is None:
        return Movement("stay", at, at)
    return _to(start + arguments["offset"], at, length)


def _to(position: int, at: Position, length: int) -> Movement:
    """The stream is moved; the file ends where it may stay as it was."""
    return Movement(
        "seek", at, position if 0 <= position <= length else at, ((position, position),)
    )


def _read(count: Callable[[dict[str, Any]], int | None]) -> _Act:
    """A read of so many bytes from where the stream is; to the end, if it is None."""

    def act(arguments: dict[str, Any], at: Position, length: int) -> Movement:
        if at is None:
            return Movement("read", at, at)
        wanted = count(arguments)
        end = max(at, length) if wanted is None else at + max(0, wanted)
        return Movement("read", at, max(at, min(end, length)), ((at, end),))

    return act


def _pread(count: Callable[[dict[str, Any]], int]) -> _Act:
    def act(arguments: dict[str, Any], at: Position, length: int) -> Movement:
        start = arguments["position"]
        return Movement("pread", at, at, ((start, start + max(0, count(arguments))),))

    return act


def _vectored(arguments: dict[str, Any], at: Position, length: int) -> Movement:
    ranges = [r for r in arguments["ranges"] or () if r is not None]
    return Movement("pread", at, at, tuple((o, o + max(0, n)) for o, n in ranges))


def _between(arguments: dict[str, Any]) -> int:
    limit = arguments["limit"]
    return 0 if limit is None else int(limit - arguments["start"])


def _length(arguments: dict[str, Any]) -> int:
    return int(arguments["length"])


def _size(arguments: dict[str, Any]) -> int:
    return int(arguments["size"] or 0)


def _py_size(arguments: dict[str, Any]) -> int | None:
    size = arguments["size"]
    return None if size is None or size < 0 else size


_ACTS: dict[str, _Act] = {
    "seek": _seek,
    "seek_to_new_source": _seek,
    "skip": _skip,
    "py_seek": _py_seek,
    "read_byte": _read(lambda arguments: 1),
    "read_into": _read(_length),
    "read_buffer": _read(_between),
    "py_read": _read(_py_size),
    "py_readall": _read(lambda arguments: None),
    "py_readinto": _read(_size),
    "pread": _pread(_length),
    "read_fully": _pread(_length),
    "read_fully_all": _pread(_size),
    "pread_buffer": _pread(_between),
    "read_fully_buffer": _pread(_between),
    "read_vectored": _vectored,
    "py_readline": _lost,
    "py_readlines": _lost,
    "py_next": _lost,
    "change": _change,
}
