"""Positioned and vectored reads through calls that return bytes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from fscontract.contract.binding import Action, Opened
from fscontract.contract.program.outcome import INEXPRESSIBLE, Kind, Outcome
from fscontract.contract.program.program import CLOSING, Step
from fscontract.implementations.bindings.common import WrongType, blank, fits, plain_bytes, several
from fscontract.implementations.bindings.file_operations import Fail, inexpressible

#: Returns at most a number of bytes from a position.
Read: TypeAlias = Callable[[Opened, int, int], Any]
#: Returns the bytes of several ranges, given by starts and ends.
ReadRanges: TypeAlias = Callable[[Opened, list[int], list[int]], Sequence[Any]]
#: Converts an exception of a call on an opened file to an outcome.
FailPositioned: TypeAlias = Callable[[Exception, Opened], Outcome]


def bind_pread(step: Step, read: Read, fail: FailPositioned, negative: bool = False) -> Action:
    """Return a pread through a function from position and length to bytes.

    A negative position may have another meaning for the function unless `negative`. There is no
    buffer that could be too small.
    """
    position, size, offset, length = step.args
    assert isinstance(position, int)
    assert isinstance(offset, int)
    assert isinstance(length, int)
    if not isinstance(size, int) or not fits(size, offset, length):
        return inexpressible
    if position < 0 and not negative:
        return inexpressible
    source = blank(size)

    def run(opened: Opened) -> Outcome:
        try:
            data = plain_bytes(read(opened, position, length))
        except Exception as error:
            return fail(error, opened)
        if not data:
            return Outcome(Kind.RETURNED, -1 if length > 0 else 0, source)
        kept = data[:length]
        buffer = source[:offset] + kept + source[offset + len(kept) :]
        return Outcome(Kind.RETURNED, len(data), buffer)

    return run


def bind_vectored(step: Step, read: ReadRanges, fail: FailPositioned) -> Action:
    """Return a vectored read through a function from starts and ends of ranges to their bytes."""
    ranges, allocate, release = step.args
    if not isinstance(ranges, tuple) or (allocate, release) != ("heap", "absent"):
        return inexpressible
    pairs = [pair for pair in ranges if isinstance(pair, tuple) and min(pair) >= 0]
    if len(pairs) < len(ranges):
        return inexpressible
    starts = [int(offset) for offset, _ in pairs]
    ends = [int(offset) + int(length) for offset, length in pairs]

    def run(opened: Opened) -> Outcome:
        try:
            parts = [plain_bytes(part) for part in several(read(opened, starts, ends))]
        except Exception as error:
            return fail(error, opened)
        if len(parts) != len(pairs):
            return Outcome(Kind.OTHER, detail=f"got {len(parts)} results for {len(pairs)} ranges")
        lengths = (end - start for start, end in zip(starts, ends, strict=True))
        return Outcome(Kind.RETURNED, tuple(map(_whole, parts, lengths)))

    return run


def while_open(action: Action) -> Action:
    """Return an action that does not check a closed stream, because it does not use the stream."""
    return lambda opened: INEXPRESSIBLE if opened.closed else action(opened)


def recording_close(step: Step, action: Action) -> Action:
    """Return the action of a step, which records it if it closes the file."""
    if step.op not in CLOSING:
        return action

    def run(opened: Opened) -> Outcome:
        outcome = action(opened)
        opened.closed = True
        return outcome

    return run


def _whole(data: bytes, length: int) -> Outcome:
    if len(data) == length:
        return Outcome(Kind.RETURNED, length, data)
    kind = Kind.EOF if len(data) < length else Kind.OTHER
    return Outcome(kind, detail=f"got {len(data)} of {length} bytes")


_RETURNED = Kind.RETURNED


def bind_ranges(step: Step, filesystem: Any, fail: Fail) -> Action:
    """Return a step of RANGE_OPERATIONS as a function of an object with a `path`."""
    attempt = _MAKERS[step.op](filesystem, fail, *step.args)
    if attempt is None:
        return inexpressible

    def run(opened: Opened) -> Outcome:
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
            return Outcome(Kind.OTHER, detail=f"got {len(parts)} results for {len(pairs)} ranges")
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
    return Outcome(kind, detail=f"got {len(data)} of {length} bytes")


def _placed(source: bytes, offset: int, data: bytes) -> bytes:
    return source[:offset] + data + source[offset + len(data) :]


_MAKERS: dict[str, Callable[..., Callable[[str], Outcome] | None]] = {
    "pread": _pread,
    "read_fully": _read_fully,
    "read_fully_all": _read_fully_all,
    "read_vectored": _read_vectored,
}
#: Positioned operations that fsspec can express.
RANGE_OPERATIONS = frozenset(_MAKERS)
