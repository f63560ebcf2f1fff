"""Input stream over an S3 object, with a cached footer."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from typing import TypeVar

from fscontract.contract.api.errors import RemoteFileChangedException
from fscontract.contract.api.filesystem import Allocate, FileRange, Release, no_release
from fscontract.contract.api.iostatistics import (
    ACTION_HTTP_GET_REQUEST,
    STORE_IO_REQUEST,
    STREAM_READ_CLOSED,
    STREAM_READ_OPENED,
    STREAM_READ_TOTAL_BYTES,
    STREAM_READ_VECTORED_INCOMING_RANGES,
    STREAM_READ_VECTORED_OPERATIONS,
)
from fscontract.implementations.input_stream import ReferenceInputStream, vectored_ranges
from fscontract.implementations.s3.config import S3Config
from fscontract.implementations.s3.errors import (
    ObjectLocation,
    RangeNotSatisfiableException,
    UnfitTransportException,
    WrongAnswerException,
)
from fscontract.implementations.s3.object_reader import ByteRange, Cancellation, interrupted
from fscontract.implementations.s3.range_download import NOTHING, Download, Target, retrying
from fscontract.implementations.s3.read_ahead import Plan, ReadAhead, Workers, random_plan
from fscontract.implementations.s3.vectored import VectoredRead, begin

#: Errors that show that the store, or its client, does not support suffix ranges.
_REFUSALS = (RangeNotSatisfiableException, WrongAnswerException, UnfitTransportException)


def read_tail(target: Target, count: int, cancel: Cancellation) -> tuple[int, memoryview]:
    """Return the start offset and the bytes of the last `count` bytes, or of all if fewer.

    If the length is unknown, this sends one request for a suffix range. For stores that don't
    support suffix ranges it requests the length first. Raises as `Download.chunk` does.
    """
    download = None
    if target.pin.end(None) is None:
        download = _ask_for_last(target, count, cancel)
    end = target.pin.end(None)
    if end is None:
        end = learn_length(target, cancel)
    start = max(0, end - count)
    if download is None or download.position != start:
        download = Download(target, start, end, cancel)
    view = memoryview(bytearray(end - start))
    try:
        got = download.fill(view)
    finally:
        download.close()
    return start, view[:got]


def _ask_for_last(target: Target, count: int, cancel: Cancellation) -> Download | None:
    """Return a download of the last bytes, or None if the store does not support suffix ranges."""
    download = Download(target, 0, None, cancel)

    def begin() -> Download | None:
        try:
            download.begin(ByteRange(-count))
        except _REFUSALS as error:  # a retry would be refused again
            total = getattr(error, "total", None)
            if total is not None:
                target.pin.ends_at(ObjectLocation(target.bucket, target.key), total)
            return None
        return download

    try:
        return retrying(begin, target.retries, cancel)
    except BaseException:
        download.close()
        raise


def learn_length(target: Target, cancel: Cancellation) -> int:
    """Return the length of the object by requesting all of it and reading nothing.

    Raises as `Download.chunk` does.
    """
    download = Download(target, 0, None, cancel)
    try:
        retrying(lambda: download.begin(None), target.retries, cancel)
    finally:
        download.close()
    end = target.pin.end(None)
    if end is None:
        raise WrongAnswerException(
            ObjectLocation(target.bucket, target.key),
            "the store does not report the object's length",
        )
    return end


T = TypeVar("T")
#: Number of bytes at the end of an object that are its footer.
FOOTER = 1 << 16
#: Maximum restarts of one call after the followed object was replaced.
_FOLLOWS = 3


class S3InputStream(ReferenceInputStream):
    """Reads one version of an object, and sends requests as late as possible.

    The first response, or an earlier status, determines the version and the length. All later
    responses are checked against it: if the object was replaced, the stream raises
    RemoteFileChangedException, or restarts the call with the new version if `config.on_change` is
    "follow".

    Sequential reads share a run of requests that the plan determines. A seek outside the run ends
    it. Positioned and vectored reads send separate requests, concurrently with it and with each
    other. Memory: about `plan.ahead * plan.hold` bytes of read-ahead and two chunks of about 1 MiB.
    """

    def __init__(
        self,
        path: str,
        target: Target,
        plan: Plan,
        config: S3Config,
        workers: Workers,
        split_end: int | None = None,
    ) -> None:
        super().__init__(path)
        self._target = target
        self._pin = target.pin
        self._plan = plan
        self._config = config
        self._workers = workers
        self._split_end = split_end
        self._lock = threading.Lock()
        self._cancel = Cancellation()  # cancels everything that ends with the stream
        self._read_ahead: ReadAhead | None = None
        self._chunk: tuple[int, memoryview] = (0, NOTHING)  # start offset and bytes
        self._footer: tuple[int, memoryview] | None = None
        self._process = os.getpid()
        workers.retain()
        self._retained = True

    @property
    def etag(self) -> str | None:
        """ETag of the version that is read, or None if not yet known."""
        return self._pin.etag

    def io_statistics(self) -> dict[str, int]:
        """Return statistics of the stream (IOStatisticsSource). Each GET counts, failed ones too.

        "Opened" counts runs of sequential reads, each of which keeps its connection between calls.
        """
        counts = super().io_statistics()
        counters = self._target.counters
        counts[STORE_IO_REQUEST] = counts[ACTION_HTTP_GET_REQUEST] = counters.requests
        counts[STREAM_READ_TOTAL_BYTES] = counters.received
        counts[STREAM_READ_OPENED], counts[STREAM_READ_CLOSED] = counters.opened, counters.closed
        return counts

    def seek(self, position: int) -> None:
        """Move to `position`; raise EOFException without moving if it is outside the file.

        This sends a request for the bytes at `position` only if the length is unknown.
        (Seekable.seek)
        """
        if self._pin.length is None and position > 0 and not self._closed:
            self._following(lambda: self._learn(position))
        super().seek(position)

    def read_byte(self) -> int:
        """Return the next byte, 0 to 255, or -1 at EOF. (InputStream.read())"""
        start, chunk = self._chunk
        index = self._pos - start
        if not 0 <= index < len(chunk):
            if self._closed:
                self._reject_closed()
            start, chunk = self._following(lambda: self._chunk_at(self._pos, 1))
            if not chunk:
                return -1
            index = self._pos - start
        self._pos += 1
        self._single_reads += 1
        return chunk[index]

    def read_vectored(
        self,
        ranges: Sequence[FileRange],
        allocate: Allocate = bytearray,
        release: Release = no_release,
    ) -> None:
        """Start reading every range; nearby ranges share one request. (readVectored)

        Invalid ranges raise from the call, as the base class specifies; later errors are set on the
        futures.
        """
        if self._closed:
            self._reject_closed()
        if ranges is None or not any(item is not None and item.length for item in ranges):
            super().read_vectored(ranges, allocate, release)
            return
        self._here()
        config, begun = self._config, None
        if self._pin.length is None:
            vectored_ranges(ranges, allocate, release, 1 << 62)
            begun = begin(self._target, ranges, config.min_seek, config.max_read, self._cancel)
        try:
            vectored_ranges(ranges, allocate, release, self._length())
        except BaseException:
            if begun is not None:
                begun.download.close()
            raise
        self._counts[STREAM_READ_VECTORED_OPERATIONS] += 1
        self._counts[STREAM_READ_VECTORED_INCOMING_RANGES] += len(ranges)
        self._become_random()
        reading = VectoredRead(self._target, self._cancel, allocate, release, self._given)
        reading.start(ranges, config.min_seek, config.max_read, self._workers, begun)

    def _given(self, count: int) -> None:
        """Count the bytes read for one range of a vectored read."""
        with self._lock:
            self._reads += 1
            self._bytes += count

    def _length(self) -> int:
        length = self._pin.length
        if length is None:
            length = self._following(lambda: self._learn(self._pos))
        return length

    def _shown_length(self) -> str:
        return "?" if self._pin.length is None else str(self._pin.length)

    def _learn(self, position: int) -> int:
        """Find the length of the object with a request for bytes that will be read next."""
        if self._plan.footer:
            self._read_footer()
        else:
            self._chunk_at(position, 1)
        length = self._pin.length  # still unknown after a response with `bytes 0-9/*`
        return learn_length(self._target, self._cancel) if length is None else length

    def _read_next(self, view: memoryview) -> int:
        count = self._following(lambda: self._copy(self._pos, view))
        if count == 0:
            return -1
        self._pos += count
        self._reads += 1
        self._bytes += count
        ahead = self._read_ahead
        if ahead is not None:
            ahead.look_ahead(self._pos)
        return count

    def _copy(self, position: int, view: memoryview) -> int:
        """Fill `view`; return fewer bytes at EOF, or if an error follows the first bytes."""
        count = 0
        while count < len(view):
            length = len(view) - count
            try:
                start, chunk = self._chunk_at(position + count, length)
            except OSError:
                if count:
                    return count  # the next read raises the error again unless it was transient
                raise
            part = chunk[position + count - start :][:length]
            if not part:
                break
            view[count : count + len(part)] = part
            count += len(part)
        return count

    def _chunk_at(self, position: int, length: int) -> tuple[int, memoryview]:
        """Return the chunk that holds a position, and its start offset; an empty chunk at EOF."""
        start, chunk = self._chunk
        if start <= position < start + len(chunk):
            return start, chunk
        end = self._pin.end(None)
        if end is not None and position >= end:
            return position, NOTHING
        footer = self._footer_at(position)
        if footer is not None:
            return footer
        ahead = self._run_at(position, length)
        while True:
            start = ahead.position
            chunk = ahead.chunk(position + length - start)
            if not chunk or start <= position < start + len(chunk):
                break
        with self._lock:
            if self._read_ahead is not ahead:
                raise interrupted()
            self._chunk = start, chunk
        return (start, chunk) if chunk else (position, NOTHING)

    def _run_at(self, position: int, length: int) -> ReadAhead:
        """Return the current run if it will reach the position soon, or a new one."""
        ahead = self._read_ahead
        if ahead is not None:
            gap = position - ahead.position
            if 0 <= gap <= self._config.readahead and (gap == 0 or position < ahead.asked):
                return ahead
            if gap < 0:
                self._become_random()
        first, enough = max(length, self._plan.first), None
        if self._split_end is not None and self._plan.ahead and position < self._split_end:
            enough = self._split_end
            first = enough - position + self._config.readahead
        new = ReadAhead(self._target, self._plan, position, first, self._workers, enough)
        with self._lock:
            ahead, self._read_ahead = self._read_ahead, None if self._closed else new
        if ahead is not None:
            ahead.close()
        if self._read_ahead is not new:
            new.close()
            self._reject_closed()
        return new

    def _become_random(self) -> None:
        if self._plan.adaptive:
            self._plan = random_plan(self._plan)

    def _pread_at(self, position: int, view: memoryview) -> int:
        self._become_random()
        return self._following(lambda: self._fetch(position, view))

    def _fetch(self, position: int, view: memoryview) -> int:
        """Fill `view` with a separate request; return fewer bytes only at EOF."""
        footer = self._footer_at(position)
        if footer is not None:
            start, kept = footer
            part = kept[position - start :][: len(view)]
            view[: len(part)] = part
            return len(part)
        download = Download(self._target, position, position + len(view), self._cancel)
        try:
            return download.fill(view)
        finally:
            download.close()

    def _read_at(self, position: int, view: memoryview) -> int:
        return self._fetch(position, view)

    def _footer_at(self, position: int) -> tuple[int, memoryview] | None:
        """Return the cached footer if it holds the position."""
        kept = self._footer
        if kept is None:
            end = self._pin.end(None)
            if not self._plan.footer or (end is not None and not end - FOOTER <= position < end):
                return None
            kept = self._read_footer()
        return kept if 0 <= position - kept[0] < len(kept[1]) else None

    def _read_footer(self) -> tuple[int, memoryview]:
        """Read and cache the footer. Concurrent threads may each read it."""
        footer = read_tail(self._target, FOOTER, self._cancel)
        with self._lock:
            self._footer = None if self._closed else footer
        return footer

    def _following(self, call: Callable[[], T]) -> T:
        """Call `call`; restart it on a new version if the stream follows changes."""
        self._here()
        for _ in range(_FOLLOWS):
            try:
                return call()
            except RemoteFileChangedException:
                if self._config.on_change != "follow":
                    raise
                self._pin.forget()
                self._let_go()
        return call()

    def _here(self) -> None:
        """After a fork, reset the state that belongs to the parent."""
        if self._process == os.getpid():
            return
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._cancel = Cancellation()
        self._read_ahead = None

    def _let_go(self) -> None:
        with self._lock:
            ahead, self._read_ahead = self._read_ahead, None
            self._chunk = 0, NOTHING
            self._footer = None
        if ahead is not None:
            ahead.close()

    def _release(self) -> None:
        self._here()
        self._let_go()
        if self._closed:
            self._cancel.cancel()
            with self._lock:
                retained, self._retained = self._retained, False
            if retained:
                self._workers.release()
