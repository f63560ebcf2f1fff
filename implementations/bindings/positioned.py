"""Positioned and vectored reads that give bytes, as operations that fill a buffer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from fscontract.contract.binding import Action, Opened
from fscontract.contract.outcome import INEXPRESSIBLE, Kind, Outcome
from fscontract.contract.program import Step
from fscontract.implementations.bindings.pyops import inexpressible
from fscontract.implementations.bindings.scratch import blank, fits, plain_bytes, several

#: Bytes or what is like them at most so long, from a position.
Read: TypeAlias = Callable[[Opened, int, int], Any]
#: The same for the starts and ends of several ranges.
ReadRanges: TypeAlias = Callable[[Opened, list[int], list[int]], Sequence[Any]]
#: The outcome of an exception of a call on what was opened.
Fail: TypeAlias = Callable[[Exception, Opened], Outcome]


def bind_pread(step: Step, read: Read, fail: Fail, negative: bool = False) -> Action:
    """A pread by a function from a position and a length to bytes, for which a negative position
    may mean something else unless `negative`; there is no buffer that could be too small."""
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


def bind_vectored(step: Step, read: ReadRanges, fail: Fail) -> Action:
    """A vectored read by a function from starts and ends of ranges to the bytes of each."""
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
            return Outcome(Kind.OTHER, detail=f"{len(parts)} results for {len(pairs)} ranges")
        wanted = (end - start for start, end in zip(starts, ends, strict=True))
        return Outcome(Kind.RETURNED, tuple(map(_whole, parts, wanted)))

    return run


def while_open(action: Action, is_closed: Callable[[Opened], bool]) -> Action:
    """An action that is no call of the stream, so that it says nothing of a closed one."""
    return lambda opened: INEXPRESSIBLE if is_closed(opened) else action(opened)


def _whole(data: bytes, length: int) -> Outcome:
    if len(data) == length:
        return Outcome(Kind.RETURNED, length, data)
    kind = Kind.EOF if len(data) < length else Kind.OTHER
    return Outcome(kind, detail=f"{len(data)} of {length} bytes")
