"""Vectored reads into buffers of the caller, who uses them while the stream continues."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any, TypeAlias

from fscontract.contract.api.filesystem import Buffer, FileRange
from fscontract.contract.binding import Action, Opened
from fscontract.contract.models.vectored_read import overlapping
from fscontract.contract.program.outcome import Kind, Outcome, raised
from fscontract.implementations.bindings.common import blank, filled

#: Timeout in seconds for the future of a range.
PATIENCE = 30.0
#: Ranges as [offset, length] pairs; None is a null range.
Pairs: TypeAlias = tuple[tuple[int, int] | None, ...]
#: A buffer that the caller got and wrote to, and its bytes before.
Lent: TypeAlias = tuple[memoryview, bytes]

_RETURNED = Kind.RETURNED
_NO_FUTURE = Outcome(Kind.OTHER, detail="no future")
_REUSED = "the buffer of a range of an earlier call was written to"
_MOVED = "the range itself was changed"


def _view(size: int) -> memoryview:
    return memoryview(filled(size))


_ALLOCATORS: dict[str, Callable[[int], Buffer] | None] = {
    "heap": filled,
    "view": _view,
    "null": None,
}


class RangeBuffers:
    """The buffers of one opened stream: a pool, and those that the last call has delivered.

    The caller writes to a buffer that it got. A stream that still uses it, or gave it twice, then
    returns wrong bytes. `restore` undoes the writes, so that it stays inside of a program.
    """

    def __init__(self) -> None:
        self._pool: dict[int, list[Buffer]] = {}
        self._lent: list[Lent] = []

    def allocator(self, make: Callable[[int], Buffer]) -> Callable[[int], Buffer]:
        """Return an allocator that takes released buffers of a size before it makes a new one."""

        def allocate(size: int) -> Buffer:
            released = self._pool.get(size)
            return released.pop() if released else make(size)

        return allocate

    def release(self, buffer: Buffer) -> None:
        """Take a buffer, which the next call of the allocator gets; TypeError without one."""
        buffer[:] = blank(len(buffer))
        self._pool.setdefault(len(buffer), []).append(buffer)

    def deliver(self, data: list[Any], shared: bool) -> list[bytes | None]:
        """Return the bytes of each buffer, None for what is none, and write to the buffers.

        Buffers of overlapping ranges may be `shared`: they are read before any is written to.
        """
        copies = [bytes(one) if isinstance(one, _BYTES) else None for one in data]
        for number, one in enumerate(data):
            view = memoryview(one) if copies[number] else None
            if view is None or view.readonly or not view.c_contiguous or view.itemsize != 1:
                continue
            copy = copies[number] or b""
            if not shared:
                copies[number] = copy = bytes(one)
            written = blank(len(copy))
            if copy != written:
                view.cast("B")[:] = written
                self._lent.append((view.cast("B"), copy))
        return copies

    def take(self) -> list[Lent]:
        """Return the buffers of earlier calls. Each is taken by one call only; thread-safe."""
        taken = []
        with suppress(IndexError):
            while True:
                taken.append(self._lent.pop())
        return taken


def _is_intact(lent: Iterable[Lent]) -> bool:
    """Return whether buffers are as the caller left them."""
    return all(view == blank(len(view)) for view, _ in lent)


def restore(lent: Iterable[Lent]) -> None:
    """Undo what the caller wrote to buffers."""
    for view, content in lent:
        view[:] = content


_BYTES = (bytes, bytearray, memoryview)


def bind_vectored(ranges: Pairs, allocate: str, release: str) -> Action:
    """Return a vectored read as a function of an opened stream of this package.

    With a `release`, the allocator is a pool.
    """
    make, bare = _ALLOCATORS[allocate], release != "given"
    shared = overlapping(tuple(sorted(pair for pair in ranges if pair is not None)))
    more = (None,) if release == "null" else ()

    def run(opened: Opened) -> Outcome:
        buffers: RangeBuffers = opened.buffers
        arguments: tuple[Any, ...] = (make, *more)
        if not bare:
            pool = make and buffers.allocator(make)
            arguments = (pool, buffers.release)
        parts = [None if pair is None else FileRange(*pair) for pair in ranges]
        given = list(parts)
        try:
            opened.stream.read_vectored(given, *arguments)
        except Exception as error:
            return raised(error)
        awaited = [_await(part) for part in parts]
        before = buffers.take()
        intact = _is_intact(before)
        copies = buffers.deliver([None if isinstance(a, Outcome) else a for a in awaited], shared)
        restore(before)
        if not intact:
            return Outcome(Kind.OTHER, detail=_REUSED)
        if [p and (p.offset, p.length) for p in parts] != list(ranges):
            return Outcome(Kind.OTHER, detail=_MOVED)
        return Outcome(_RETURNED, tuple(map(_outcome, awaited, copies)))

    return run


def _outcome(awaited: Any, copy: bytes | None) -> Outcome:
    if isinstance(awaited, Outcome):
        return awaited
    if copy is None:
        return Outcome(
            Kind.OTHER, detail=f"future returned {type(awaited).__name__}, expected bytes"
        )
    return Outcome(_RETURNED, len(copy), copy)


def _await(part: FileRange | None) -> Any:
    """Return what the future of a range returns, or the outcome if it fails."""
    future = None if part is None else part.data
    if future is None:
        return _NO_FUTURE
    try:
        return future.result(PATIENCE)
    except Exception as error:
        if _is_pending(future):
            return Outcome(Kind.OTHER, detail=f"future not done after {PATIENCE:g} s")
        return raised(error)


def _is_pending(future: Any) -> bool:
    try:
        return not future.done()
    except Exception:  # not a future
        return False
