"""Input stream that reads through Spark tasks, with read-ahead and split ranges."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

from fscontract.contract.api.errors import IllegalArgumentException
from fscontract.contract.api.filesystem import Allocate, Buffer, FileRange, Release, no_release
from fscontract.contract.api.iostatistics import (
    STREAM_READ_TOTAL_BYTES,
    STREAM_READ_VECTORED_INCOMING_RANGES,
    STREAM_READ_VECTORED_OPERATIONS,
)
from fscontract.contract.api.openfile_options import option_table
from fscontract.implementations.input_stream import ReferenceInputStream, vectored_ranges
from fscontract.implementations.spark.executor_reads import (
    OF_STREAMS,
    Answer,
    Request,
    Source,
    read,
)
from fscontract.implementations.spark.failures import Failure, error_of
from fscontract.implementations.spark.pickling import pickled_stream
from fscontract.implementations.spark.tasks import Tasks

KIB, MIB = 1 << 10, 1 << 20
#: Maximum bytes of a range that one task reads: the result passes through the driver's memory.
PIECE = 8 * MIB
#: Maximum bytes that one job reads.
JOB = 64 * MIB
#: Minimum bytes that justify another task.
_WORTH_A_TASK = MIB


@dataclass(frozen=True)
class Ahead:
    """Minimum size of a stream read: `first`, then `growth` times larger, up to `maximum`."""

    first: int
    growth: int
    maximum: int


#: By read policy. A job takes as long as reading a megabyte, so large reads are cheap.
AHEAD = {
    "normal": Ahead(256 * KIB, 4, 4 * MIB),
    "sequential": Ahead(4 * MIB, 2, 16 * MIB),
    "random": Ahead(64 * KIB, 1, 64 * KIB),
}


class Piece(NamedTuple):
    """Part of the range with this number."""

    number: int
    offset: int
    length: int


def pieces(ranges: Iterable[tuple[int, int, int]], maximum: int = PIECE) -> Iterator[Piece]:
    """Split ranges, given as number, offset and length, into pieces of at most `maximum` bytes."""
    for number, offset, length in ranges:
        for start in range(offset, offset + length, maximum):
            yield Piece(number, start, min(maximum, offset + length - start))


def rounds(cut: Iterable[Piece], maximum: int = JOB) -> Iterator[list[Piece]]:
    """Group pieces into consecutive jobs of at most `maximum` bytes each."""
    now: list[Piece] = []
    size = 0
    for piece in cut:
        if now and size + piece.length > maximum:
            yield now
            now, size = [], 0
        now.append(piece)
        size += piece.length
    if now:
        yield now


def tasks_for(cut: list[Piece], parallelism: int) -> list[list[Piece]]:
    """Distribute pieces to tasks: neighbours together, with about equal numbers of bytes."""
    ordered = sorted(cut, key=lambda piece: piece.offset)
    total = sum(piece.length for piece in ordered)
    count = max(1, min(parallelism, len(ordered), max(total // _WORTH_A_TASK, len(ordered) // 64)))
    groups: list[list[Piece]] = [[] for _ in range(count)]
    done = 0
    for piece in ordered:
        groups[min(count - 1, done * count // max(1, total))].append(piece)
        done += piece.length
    return [group for group in groups if group]


#: Statistic: number of jobs run for reads.
JOBS = "stream_spark_jobs"
_NOTHING = memoryview(b"")
_UNKNOWN = 1 << 62


class SparkExecutorInputStream(ReferenceInputStream):
    """Reads a file through executors; each read is a job, unless the bytes are cached.

    Stream reads fetch more than requested, depending on the read policy or the buffer size: see
    AHEAD. The last fetched bytes are cached, and also serve positioned reads. Positioned reads
    fetch only the requested bytes, except under policies that keep footers, where a read near EOF
    fetches the whole footer. A vectored read is one job for many ranges. `counted` is called with
    executor counters that do not belong to streams.

    The first response determines the version of the file; tasks that find another version raise
    RemoteFileChangedException. A pickle contains path, status, options and position; the unpickled
    stream reads in its own process.
    """

    def __init__(
        self, source: Source, tasks: Tasks, counted: Callable[[dict[str, int]], None]
    ) -> None:
        super().__init__(source.path)
        options = source.options
        self._source = source
        self._tasks = tasks
        self._counted = counted
        self._declared = options.length
        self._known: int | None = None  # length of the file, once a task has found EOF
        policy = option_table().policies[options.read_policy or "default"]
        self._ahead = AHEAD[policy.advice]
        if options.buffer_size is not None:
            self._ahead = replace(
                self._ahead, first=options.buffer_size, maximum=options.buffer_size
            )
        self._next = self._ahead.first
        self._keeps_footer = bool(options.footer_cache)
        self._chunk = (0, _NOTHING)
        self._footer = (0, _NOTHING)
        self._counts[JOBS] = 0

    def __reduce__(self) -> Any:
        if self._closed:
            self._reject_closed()
        return pickled_stream(self._source, self._pos)

    @property
    def etag(self) -> str | None:
        """ETag of the version that is read, or None if not yet known."""
        return self._source.options.etag

    def io_statistics(self) -> dict[str, int]:
        """Return statistics of the reader and of executors on its behalf (IOStatisticsSource)."""
        counts = super().io_statistics()
        counts[STREAM_READ_TOTAL_BYTES] = self._counts[STREAM_READ_TOTAL_BYTES]
        return counts

    def look(self) -> None:
        """Read the first bytes; raise FileNotFoundException or another error if that fails."""
        self._fetch(0, 0)

    def read_vectored(
        self,
        ranges: Sequence[FileRange],
        allocate: Allocate = bytearray,
        release: Release = no_release,
    ) -> None:
        """Start reading every range as one job with several tasks. (readVectored)

        Invalid ranges raise from the call, as the base class specifies; later errors are set on the
        futures.
        """
        if self._closed:
            self._reject_closed()
        length = self._known_length()
        vectored_ranges(ranges, allocate, release, _UNKNOWN if length is None else length)
        if length is None and any(item.length for item in ranges):
            self._fetch(min(item.offset for item in ranges if item.length), 0)
            vectored_ranges(ranges, allocate, release, self._length())
        self._counts[STREAM_READ_VECTORED_OPERATIONS] += 1
        self._counts[STREAM_READ_VECTORED_INCOMING_RANGES] += len(ranges)
        parts = [part for item in ranges if (part := _part(item, allocate, release)) is not None]
        cut = pieces((number, p.item.offset, p.item.length) for number, p in enumerate(parts))
        left = list(rounds(cut))
        if left:
            self._next_round(parts, left)

    def _next_round(self, parts: list[_Part], left: list[list[Piece]]) -> None:
        """Submit the next job of a vectored read, and distribute its results on completion."""
        now = left.pop(0)
        groups = tasks_for(now, self._tasks.parallelism)
        requests = [
            Request(self._placed(), tuple((p.offset, p.length) for p in group), exact=True)
            for group in groups
        ]
        self._counts[JOBS] += 1
        job = self._tasks.submit(read, requests, len(requests))
        job.add_done_callback(partial(self._spread, parts, groups, left))

    def _spread(
        self,
        parts: list[_Part],
        groups: list[list[Piece]],
        left: list[list[Piece]],
        job: Future[list[Answer]],
    ) -> None:
        try:
            for group, answer in zip(groups, job.result(), strict=True):
                self._learn_from(answer)
                for piece, block in zip(group, answer.blocks, strict=True):
                    parts[piece.number].fill(piece, block, self.path)
        except Exception as error:  # the job failed, and so all its ranges
            for part in parts:
                part.fail(error)
            return
        for part in parts:
            if part.finish():
                self._reads += 1
                self._bytes += part.item.length
        if left:
            self._next_round(parts, left)

    def _placed(self) -> Source:
        return replace(self._source, location=self._source.location.for_path(self.path))

    def _known_length(self) -> int | None:
        return self._known if self._declared is None else self._declared

    def _length(self) -> int:
        if self._known_length() is None:
            self._fetch(self._pos, 0)
        length = self._known_length()
        assert length is not None
        return length

    def _shown_length(self) -> str:
        length = self._known_length()
        return "?" if length is None else str(length)

    def _end(self) -> int:
        """Return the last possible end of a read, as far as known."""
        ends = [n for n in (self._declared, self._known) if n is not None]
        return min(ends, default=_UNKNOWN)

    def _read_at(self, position: int, view: memoryview) -> int:
        count = self._copy(self._chunk, position, view)
        while count < len(view) and position + count < self._end():
            start, data = self._fetch(position + count, len(view) - count)
            more = self._copy((start, data), position + count, view[count:])
            if more == 0:
                break
            count += more
        return count

    def _pread_at(self, position: int, view: memoryview) -> int:
        for held in (self._chunk, self._footer):
            if held[0] <= position and position + len(view) <= held[0] + len(held[1]):
                return self._copy(held, position, view)
        count = 0
        while count < len(view) and position + count < self._end():
            blocks = self._job(position + count, len(view) - count, self._keeps_footer)
            start, data = blocks[0]
            if self._keeps_footer and start + len(data) == self._known and not self._closed:
                self._footer = start, data
            got = 0
            for block in blocks:
                got += self._copy(block, position + count + got, view[count + got :])
            if got == 0:
                break
            count += got
        return count

    def _fetch(self, position: int, length: int) -> tuple[int, memoryview]:
        """Read the requested bytes and read-ahead at a position; cache them for later reads."""
        start, held = self._chunk
        goes_on = len(held) > 0 and position == start + len(held)
        self._next = (
            min(self._next * self._ahead.growth, self._ahead.maximum)
            if goes_on
            else (self._ahead.first)
        )
        count = max(length, self._in_split(position), self._next, 1)
        blocks = self._job(position, count)
        data = blocks[0][1] if len(blocks) == 1 else memoryview(b"".join(b for _, b in blocks))
        chunk = position, data
        if not self._closed:
            self._chunk = chunk
        return chunk

    def _in_split(self, position: int) -> int:
        """Return the remaining bytes of the split, up to the read-ahead size."""
        end = self._source.options.split_end
        if end is None or self._ahead.growth == 1 or position >= end:
            return 0
        return min(end - position, self._ahead.maximum)

    def _job(self, position: int, count: int, footer: bool = False) -> list[tuple[int, memoryview]]:
        """Return the bytes of a range as consecutive blocks, up to the size of a job.

        The last block is short at EOF.
        """
        length = self._known_length()
        if length is None:  # the number of available bytes is unknown
            cut = next(rounds(pieces([(0, position, count)])))[:1]
        else:
            count = max(1, min(count, length - position))
            cut = next(rounds(pieces([(0, position, count)])))
        source = self._placed()
        requests = [Request(source, ((p.offset, p.length),), footer=footer) for p in cut]
        self._counts[JOBS] += 1
        answers = self._tasks.map(read, requests, len(requests))
        blocks = []
        for piece, answer in zip(cut, answers, strict=True):
            self._learn_from(answer)
            start, data = _bytes_of(answer.blocks[0], self.path)
            if start + len(data) < piece.offset + piece.length:
                self._known = min(_UNKNOWN if self._known is None else self._known, answer.length)
                if data:
                    self._known = min(self._known, start + len(data))
            blocks.append((start, memoryview(data)))
        return blocks

    def _learn_from(self, answer: Answer) -> None:
        """Record what a response says about the file, and its costs."""
        if self._declared is None:
            self._known = answer.length
        if self._source.location.pins:
            self._source = self._source.pinned(answer.etag)
        for name in OF_STREAMS:
            self._counts[name] += answer.counts.pop(name, 0)
        self._counted(answer.counts)

    @staticmethod
    def _copy(block: tuple[int, memoryview], position: int, view: memoryview) -> int:
        """Copy bytes of a block from a position on; return their number."""
        start, data = block
        if not start <= position < start + len(data):
            return 0
        part = data[position - start :][: len(view)]
        view[: len(part)] = part
        return len(part)

    def _release(self) -> None:
        self._chunk = self._footer = (0, _NOTHING)


class _Part:
    """A range of a vectored read, and its buffer."""

    def __init__(self, item: FileRange, buffer: Buffer, release: Release) -> None:
        assert item.data is not None
        self.item = item
        self._future = item.data
        self._buffer = buffer
        self._view = memoryview(buffer)[: item.length]
        self._release = release
        self._missing = item.length

    def fill(self, piece: Piece, block: tuple[int, bytes] | Failure, path: str) -> None:
        """Store the bytes of a piece, or its failure."""
        if self._future.done():
            return
        try:
            _, data = _bytes_of(block, path)
        except Exception as error:  # fails only this range
            self.fail(error)
            return
        start = piece.offset - self.item.offset
        self._view[start : start + len(data)] = data
        self._missing -= len(data)

    def finish(self) -> bool:
        """Complete the future if all bytes have arrived; return True if this call did so."""
        if self._missing or self._future.done():
            return False
        self._future.set_result(self._view)
        return True

    def fail(self, error: Exception) -> None:
        """Fail the future unless it is complete."""
        if not self._future.done():
            self._release(self._buffer)
            self._future.set_exception(error)


def _part(item: FileRange, allocate: Allocate, release: Release) -> _Part | None:
    """Return the range with a buffer; None if its future is done: empty or no buffer."""
    item.data = Future()
    buffer: Buffer | None = None
    try:
        buffer = allocate(item.length)
        if len(buffer) < item.length:
            raise IllegalArgumentException(
                f"the allocator returned a buffer of {len(buffer)} bytes, expected {item.length}"
            )
    except Exception as error:  # pass any error to the range's future
        if buffer is not None:
            release(buffer)
        item.data.set_exception(error)
        return None
    if item.length == 0:
        item.data.set_result(memoryview(buffer)[:0])
        return None
    return _Part(item, buffer, release)


def _bytes_of(block: tuple[int, bytes] | Failure, path: str) -> tuple[int, bytes]:
    if isinstance(block, Failure):
        raise error_of(block, path)
    return block
