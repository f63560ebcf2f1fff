"""Positioned reads in fsspec's words: `cat_file`, `read_block` and `cat_ranges`.

They act on the filesystem, not on an opened file, so there is nothing they can say about a closed
stream, a null buffer or a window that its buffer can't hold; and a negative position means
"from the end" there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fscontract.contract.binding import Action, Opened
from fscontract.contract.outcome import INEXPRESSIBLE, Kind, Outcome
from fscontract.contract.program import Step
from fscontract.implementations.bindings.fileops import is_closed
from fscontract.implementations.bindings.pyops import Fail, inexpressible
from fscontract.implementations.bindings.scratch import WrongType, blank, fits, plain_bytes, several

_RETURNED = Kind.RETURNED


def bind_ranges(step: Step, filesystem: Any, fail: Fail) -> Action:
    """A step of RANGE_OPERATIONS as a function of an object with `file` and `path`."""
    attempt = _MAKERS[step.op](filesystem, fail, *step.args)
    if attempt is None:
        return inexpressible

    def run(opened: Opened) -> Outcome:
        if is_closed(opened.file):
            return INEXPRESSIBLE
        try:
            return attempt(opened.path)
        except Exception as error:
            return fail(error)

    return run


def _pread(
    fs: Any, _fail: Fail, position: int, size: int | None, offset: int, length: int
) -> Callable[[str], Outcome] | None:
    if size is None or position < 0 or not fits(size, offset, length):
        return None
    source, stop = blank(size), position + length

    def attempt(path: str) -> Outcome:
        data = plain_bytes(fs.cat_file(path, start=position, end=stop))
        if not data:
            return Outcome(_RETURNED, -1 if length > 0 else 0, source)
        return Outcome(_RETURNED, len(data), _placed(source, offset, data[:length]))

    return attempt


def _read_fully(
    fs: Any, _fail: Fail, position: int, size: int | None, offset: int, length: int
) -> Callable[[str], Outcome] | None:
    if size is None or position < 0 or not fits(size, offset, length):
        return None
    source = blank(size)

    def attempt(path: str) -> Outcome:
        data = plain_bytes(fs.read_block(path, position, length))
        wrong = _wrong_length(data, length)
        return wrong or Outcome(_RETURNED, None, _placed(source, offset, data))

    return attempt


def _read_fully_all(
    fs: Any, fail: Fail, position: int, size: int | None
) -> Callable[[str], Outcome] | None:
    return _read_fully(fs, fail, position, size, 0, size or 0)


def _read_vectored(
    fs: Any,
    fail: Fail,
    ranges: tuple[tuple[int, int] | None, ...] | None,
    allocate: str,
    release: str,
) -> Callable[[str], Outcome] | None:
    if ranges is None or (allocate, release) != ("heap", "absent"):
        return None
    pairs = [pair for pair in ranges if pair is not None and min(pair) >= 0]
    if len(pairs) < len(ranges):
        return None

    def attempt(path: str) -> Outcome:
        starts = [offset for offset, _ in pairs]
        ends = [offset + length for offset, length in pairs]
        parts = several(fs.cat_ranges([path] * len(pairs), starts, ends, on_error="return"))
        if len(parts) != len(pairs):
            return Outcome(Kind.OTHER, detail=f"{len(parts)} results for {len(pairs)} ranges")
        results = (_part(p, length, fail) for p, (_, length) in zip(parts, pairs, strict=True))
        return Outcome(_RETURNED, tuple(results))

    return attempt


def _part(part: Any, length: int, fail: Fail) -> Outcome:
    if isinstance(part, Exception):
        return fail(part)
    try:
        data = plain_bytes(part)
    except WrongType as error:
        return fail(error)
    return _wrong_length(data, length) or Outcome(_RETURNED, len(data), data)


def _wrong_length(data: bytes, length: int) -> Outcome | None:
    if len(data) == length:
        return None
    kind = Kind.EOF if len(data) < length else Kind.OTHER
    return Outcome(kind, detail=f"{len(data)} of {length} bytes")


def _placed(source: bytes, offset: int, data: bytes) -> bytes:
    return source[:offset] + data + source[offset + len(data) :]


_MAKERS: dict[str, Callable[..., Callable[[str], Outcome] | None]] = {
    "pread": _pread,
    "read_fully": _read_fully,
    "read_fully_all": _read_fully_all,
    "read_vectored": _read_vectored,
}
#: The positioned operations that fsspec has words for.
RANGE_OPERATIONS = frozenset(_MAKERS)
