"""Show where a call delivered other bytes than the file has, behind those that outcomes show."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

from fscontract.contract.models.stream_state import State
from fscontract.contract.models.without_stream import right_values
from fscontract.contract.program.outcome import FILL, SHOWN_BYTES, Outcome
from fscontract.contract.program.program import Step

#: The bytes shown before the first one that differs, and from it on.
_BEFORE, _FROM = 4, 6


class _Window(NamedTuple):
    """The bytes that a read had to place: those of the file at `position`, at `start` of `got`."""

    got: bytes
    start: int
    position: int
    size: int


def difference(step: Step, state: State, outcome: Outcome) -> str:
    """Return the first byte or character that differs, and those around it, expected and actual.

    `step` has no anchors; `state` is that before the call. Empty if none differs, or if the text of
    the outcome shows it.
    """
    values = () if outcome.raised else right_values(step, state)
    if values:
        return _of_values(outcome.value, values[0])
    windows = list(_windows(step, state, outcome))
    for number, window in enumerate(windows, 1):
        place = f"range {number}, " if len(windows) > 1 else ""
        text = _difference(window, state.versions[-1])
        if text:
            return place + text
    return ""


def _difference(window: _Window, data: bytes) -> str:
    got, start, position, count = window
    right = data[position : position + count]
    expected = bytes([FILL]) * start + right
    expected += bytes([FILL]) * (len(got) - len(expected))
    at = first_difference(expected, got)
    if at < SHOWN_BYTES:
        return ""
    inside, moved = start <= at < start + len(right), position != start
    offset = f" (offset {position + at - start})" if inside and moved else ""
    return f"byte {at}{offset}: expected {_around(expected, at)}, got {_around(got, at)}"


def _of_values(actual: Any, right: Any) -> str:
    """Return where a value, or the first such item of it, differs; items are numbered from 1."""
    if isinstance(actual, tuple) and isinstance(right, tuple):
        texts = map(_of_values, actual, right)
        found = ((number, text) for number, text in enumerate(texts, 1) if text)
        return next((f"item {number}, {text}" for number, text in found), "")
    is_bytes = isinstance(actual, bytes) and isinstance(right, bytes)
    if not is_bytes and not (isinstance(actual, str) and isinstance(right, str)):
        return ""
    at = first_difference(right, actual)
    if at < SHOWN_BYTES:
        return ""
    show: Callable[[Any, int], str] = _around if is_bytes else _text_around
    name = "byte" if is_bytes else "character"
    return f"{name} {at}: expected {show(right, at)}, got {show(actual, at)}"


def first_difference(right: Sequence[Any], actual: Sequence[Any]) -> int:
    """Return the first index at which two sequences differ; 0 if one starts with the other."""
    pairs = zip(right, actual, strict=False)
    return next((n for n, (one, other) in enumerate(pairs) if one != other), 0)


def _text_around(text: str, at: int) -> str:
    return repr(text[at - _BEFORE : at + _FROM])


def _around(data: bytes, at: int) -> str:
    before, after = data[at - _BEFORE : at], data[at + 1 : at + _FROM]
    return f"{before.hex(' ')} [{data[at]:02x}] {after.hex(' ')}".rstrip()


_Windows: TypeAlias = Iterator[_Window]


def _windows(step: Step, state: State, outcome: Outcome) -> _Windows:
    find = _FINDERS.get(step.op)
    if find is not None and not outcome.raised:
        for window in find(step.args, state.pos, outcome):
            if window.position >= 0 and window.start >= 0 and type(window.size) is int:
                yield window


def _value(args: tuple[Any, ...], pos: int, outcome: Outcome) -> _Windows:
    if type(outcome.value) is bytes:
        yield _Window(outcome.value, 0, pos, len(outcome.value))


def _lines(args: tuple[Any, ...], pos: int, outcome: Outcome) -> _Windows:
    if type(outcome.value) is tuple and all(type(line) is bytes for line in outcome.value):
        joined = b"".join(outcome.value)
        yield _Window(joined, 0, pos, len(joined))


def _buffer(
    positioned: bool, start: Callable[..., int], count: Callable[..., Any]
) -> Callable[[tuple[Any, ...], int, Outcome], _Windows]:
    def find(args: tuple[Any, ...], pos: int, outcome: Outcome) -> _Windows:
        if outcome.buffer is not None:
            at, *window = args if positioned else (pos, *args)
            yield _Window(outcome.buffer, start(*window), at, count(outcome.value, *window))

    return find


def _ranges(args: tuple[Any, ...], pos: int, outcome: Outcome) -> _Windows:
    parts = outcome.value if type(outcome.value) is tuple else ()
    for pair, part in zip(args[0] or (), parts, strict=False):
        if pair is not None and type(part) is Outcome and part.buffer is not None:
            yield _Window(part.buffer, 0, pair[0], len(part.buffer))


def _end(size: int, limit: int | None) -> int:
    return size if limit is None else limit


_at_offset = (lambda size, offset, length: offset, lambda value, *window: value)
_at_position = (
    lambda size, start, limit: start,
    lambda value, *window: value[0] if type(value) is tuple else value,
)
#: How to find the bytes in the outcome of each operation that reads.
_FINDERS: dict[str, Callable[[tuple[Any, ...], int, Outcome], _Windows]] = {
    "py_read": _value,
    "py_readall": _value,
    "py_read_default": _value,
    "py_read1": _value,
    "py_peek": _value,
    "py_readinto1": _buffer(False, lambda form, size: 0, lambda value, *window: value),
    "py_readline": _value,
    "py_next": _value,
    "py_readlines": _lines,
    "py_iterate": _lines,
    "py_readinto": _buffer(False, lambda form, size: 0, lambda value, *window: value),
    "read_into": _buffer(False, *_at_offset),
    "pread": _buffer(True, *_at_offset),
    "read_fully": _buffer(True, _at_offset[0], lambda value, size, offset, length: length),
    "read_fully_all": _buffer(True, lambda size: 0, lambda value, size: size),
    "read_buffer": _buffer(False, *_at_position),
    "pread_buffer": _buffer(True, *_at_position),
    "read_fully_buffer": _buffer(
        True, _at_position[0], lambda value, size, start, limit: _end(size, limit) - start
    ),
    "read_vectored": _ranges,
}
