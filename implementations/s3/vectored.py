"""Vectored reads: merge nearby ranges, and request them concurrently."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from typing import Generic, NamedTuple, Protocol, TypeVar

from fscontract.contract.api.errors import EOFException, IllegalArgumentException
from fscontract.contract.api.filesystem import Allocate, Buffer, FileRange, Release
from fscontract.implementations.s3.object_reader import Cancellation, interrupted
from fscontract.implementations.s3.range_download import Download, Target
from fscontract.implementations.s3.read_ahead import Workers


class Ranged(Protocol):
    """An object with a position in a file."""

    @property
    def offset(self) -> int:
        """Start offset in bytes."""

    @property
    def length(self) -> int:
        """Length in bytes."""


R = TypeVar("R", bound=Ranged)


@dataclass
class Group(Generic[R]):
    """Ranges sorted by offset that one request from `start` to `stop` (exclusive) reads."""

    start: int
    stop: int
    members: list[R] = field(default_factory=list)


def merge(ranges: Iterable[R], min_seek: int, max_read: int) -> list[Group[R]]:
    """Return sorted groups that hold each range once.

    A range joins its predecessor if the gap is less than `min_seek` bytes and both together have at
    most `max_read` bytes. Ranges must not overlap.
    """
    groups: list[Group[R]] = []
    for item in sorted(ranges, key=lambda one: one.offset):
        stop = item.offset + item.length
        last = groups[-1] if groups else None
        if (
            last is not None
            and item.offset - last.stop < min_seek
            and stop - last.start <= max_read
        ):
            last.stop = max(stop, last.stop)
            last.members.append(item)
        else:
            groups.append(Group(item.offset, stop, [item]))
    return groups


@dataclass
class _Part:
    """A range, its buffer, and the number of bytes filled."""

    offset: int
    length: int
    future: Future[memoryview]
    buffer: Buffer
    filled: int = 0


class Begun(NamedTuple):
    """A request for the first ranges, sent to learn the object's length."""

    start: int
    stop: int
    download: Download
    chunk: memoryview


def begin(
    target: Target, ranges: Sequence[FileRange], min_seek: int, max_read: int, cancel: Cancellation
) -> Begun:
    """Send the first request for the ranges; at least one range must not be empty."""
    first = merge((item for item in ranges if item.length), min_seek, max_read)[0]
    download = Download(target, first.start, first.stop, cancel)
    try:
        return Begun(first.start, first.stop, download, download.chunk())
    except BaseException:
        download.close()
        raise


class VectoredRead:
    """Fills the ranges of one call; calls `given` with the number of bytes of each range."""

    def __init__(
        self,
        target: Target,
        cancel: Cancellation,
        allocate: Allocate,
        release: Release,
        given: Callable[[int], None],
    ) -> None:
        self._target = target
        self._cancel = cancel
        self._allocate = allocate
        self._free = release
        self._given = given
        self._begun: Begun | None = None

    def start(
        self,
        ranges: Sequence[FileRange],
        min_seek: int,
        max_read: int,
        workers: Workers,
        begun: Begun | None = None,
    ) -> None:
        """Give every range a future, and let workers fill the buffers."""
        self._begun = begun
        parts = [part for item in ranges if (part := self._part(item)) is not None]
        groups = merge(parts, min_seek, max_read)
        if begun is not None and (begun.start, begun.stop) not in (
            (g.start, g.stop) for g in groups
        ):
            begun.download.close()  # there was no buffer for some of its ranges
        for group in groups:
            done = workers.submit(partial(self._read, group))
            done.add_done_callback(partial(self._settle, group))

    def _part(self, item: FileRange) -> _Part | None:
        """Return the range with a buffer; None if its future is done: empty or no buffer."""
        future: Future[memoryview] = Future()
        item.data = future
        try:
            buffer = self._allocate(item.length)
        except Exception as error:  # pass any error to the range's future
            future.set_exception(error)
            return None
        if len(buffer) < item.length:
            self._free(buffer)
            future.set_exception(
                IllegalArgumentException(
                    f"the allocator returned a buffer of {len(buffer)} bytes, expected "
                    f"{item.length}"
                )
            )
            return None
        if item.length == 0:
            future.set_result(memoryview(buffer)[:0])
            return None
        return _Part(item.offset, item.length, future, buffer)

    def _read(self, group: Group[_Part]) -> None:
        begun = self._begun
        if begun is not None and (begun.start, begun.stop) == (group.start, group.stop):
            download, chunk = begun.download, begun.chunk
        else:
            download = Download(self._target, group.start, group.stop, self._cancel)
            chunk = memoryview(b"")
        try:
            position = group.start
            waiting = list(group.members)
            while waiting:
                chunk = chunk or download.chunk()
                if not chunk:
                    raise EOFException(f"EOF at offset {position}, within a requested range")
                waiting = self._spread(chunk, position, waiting)
                position += len(chunk)
                chunk = chunk[:0]
        except Exception as error:  # pass the error to ranges that are not full
            for part in group.members:
                self._fail(part, error)
        finally:
            download.close()

    def _spread(self, chunk: memoryview, position: int, waiting: list[_Part]) -> list[_Part]:
        """Copy a chunk to the ranges that need it; return the ranges that need more."""
        stop = position + len(chunk)
        for number, part in enumerate(waiting):
            if part.offset >= stop:
                return waiting[number:]
            first = part.offset + part.filled
            piece = chunk[first - position : part.offset + part.length - position]
            view = memoryview(part.buffer)[: part.length]
            view[part.filled : part.filled + len(piece)] = piece
            part.filled += len(piece)
            if part.filled < part.length:
                return waiting[number:]
            self._given(part.length)
            part.future.set_result(view)
        return []

    def _settle(self, group: Group[_Part], _: Future[None]) -> None:
        """Fail ranges that were not read, for example because no worker ran."""
        for part in group.members:
            self._fail(part, interrupted())

    def _fail(self, part: _Part, error: BaseException) -> None:
        if not part.future.done():
            self._free(part.buffer)
            part.future.set_exception(error)
