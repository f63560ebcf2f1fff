"""Mutants that mishandle failed or short requests, and correct parts with unusual choices."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import ClassVar, TypeVar
from weakref import WeakKeyDictionary

from fscontract.contract.api.errors import (
    AccessControlException,
    EOFException,
    FileNotFoundException,
    PathIOException,
    RemoteFileChangedException,
)
from fscontract.contract.api.filesystem import Allocate, FileRange, Release
from fscontract.fakes.filesystem.client import Client, Connection, FakeInputStream
from fscontract.fakes.filesystem.requests import (
    Answer,
    BodyCut,
    ConnectionReset,
    RangeNotSatisfiable,
    RequestFailed,
    SlowDown,
)
from fscontract.fakes.mutants.correct_parts import FaultyDisk, FaultyStore
from fscontract.fakes.mutants.registry import mutant, right
from fscontract.implementations.local_stream import Descriptor, LocalInputStream
from fscontract.implementations.openfile_builder import OpenOptions

#: The body of a store's answer with status 412.
_PAGE = b"<Error><Code>PreconditionFailed</Code></Error>"
#: Time limit for a body in seconds.
_PATIENCE = 1.0


class LibraryError(Exception):
    """An exception of a library."""


@mutant("fault.clean", Connection.read, faults={"reset"})
def raw_error(self: Connection, position: int, view: memoryview) -> int:
    """A lost connection raises an exception of the HTTP library."""
    try:
        return right(self).read(position, view)
    except ConnectionReset as error:
        raise LibraryError("incomplete read") from error


@mutant("fault.clean", Connection.read, faults={"slow"})
def stalls_loudly(self: Connection, position: int, view: memoryview) -> int:
    """A slow body ends in the exception of a timer."""
    clock = self._client.store.clock
    before = clock.now
    count = right(self).read(position, view)
    if clock.now - before > _PATIENCE:
        raise LibraryError("too slow")
    return count


@mutant("fault.clean", Connection._attempt, faults={"delete"})
def deleted_is_none(self: Connection, position: int, view: memoryview) -> int:
    """The version of a deleted file is dropped, and used after that."""
    try:
        return right(self)._attempt(position, view)
    except FileNotFoundException:
        del self.version
        return right(self)._attempt(position, view)


@mutant("fault.clean", FakeInputStream._read_range, faults={"timeout"})
def range_fails_raw(
    self: FakeInputStream, item: FileRange, allocate: Allocate, release: Release
) -> Future[memoryview]:
    """The future of a failed range has the exception of a library."""
    future = right(self)._read_range(item, allocate, release)
    if not isinstance(future.exception(), RequestFailed):
        return future
    raw: Future[memoryview] = Future()
    raw.set_exception(LibraryError("incomplete read"))
    return raw


@mutant("fault.data", Connection._verified, faults={"corrupt"})
def passes_corrupt_bytes(self: Connection, answer: Answer, position: int) -> int:
    """Checksums are ignored."""
    return len(answer.body)


@mutant("fault.data", Connection._attempt, faults={"cut-body"})
def announced_is_there(self: Connection, position: int, view: memoryview) -> int:
    """A truncated body counts as having its announced length; the rest is old bytes."""
    try:
        return right(self)._attempt(position, view)
    except BodyCut:
        return min(len(view), self.version.length - position)


@mutant("fault.data", Connection._attempt, faults={"precondition"})
def error_page(self: Connection, position: int, view: memoryview) -> int:
    """The text of an error page (412) is delivered as the content of the file."""
    try:
        return right(self)._attempt(position, view)
    except RemoteFileChangedException:
        count = min(len(view), len(_PAGE))
        view[:count] = _PAGE[:count]
        return count


@mutant("fault.data", Connection._attempt, faults={"change"})
def starts_over(self: Connection, position: int, view: memoryview) -> int:
    """A changed file is read from its start again, wherever the reader was."""
    try:
        return right(self)._attempt(position, view)
    except RemoteFileChangedException:
        self.version = self._client.store.open(self._path)
        return right(self)._attempt(0, view)


@mutant("fault.data", Connection._attempt, faults={"reset", "throttle"})
def retries_from_the_start(self: Connection, position: int, view: memoryview) -> int:
    """A retry drops the range, and returns the first bytes of the file."""
    try:
        return right(self)._attempt(position, view)
    except RequestFailed:
        return right(self)._attempt(0, view)


class _TrustingStream(LocalInputStream):
    """Delivers as many bytes as the file had when it was opened."""

    def _read_at(self, position: int, view: memoryview) -> int:
        count = super()._read_at(position, view)
        announced = max(count, min(len(view), self._size - position))
        view[count:announced] = bytes(announced - count)
        return announced


@mutant("fault.data", faults={"cut"})
class ZerosForWhatWasCut(FaultyDisk):
    """A truncated file is padded with zeros to its former length."""

    stream = _TrustingStream


@mutant("fault.data", FakeInputStream._fill, faults={"timeout", "range"})
def buffer_of_nothing(self: FakeInputStream) -> int:
    """A buffer that could not be filled counts as filled."""
    try:
        return right(self)._fill()
    except RequestFailed:
        self._start, self._end = self._pos, min(self._size, self._pos + len(self._buffer))
        raise


@mutant("fault.open", FaultyStore._open, faults={"throttle"})
def open_loses_patience(self: FaultyStore, path: str, options: OpenOptions) -> FakeInputStream:
    """An open that the store throttles raises an exception that is not an IOException."""
    try:
        return right(self)._open(path, options)
    except SlowDown as error:
        raise RuntimeError(f"gave up: {error}") from error


@mutant("fault.end", FaultyStore._open, faults={"reset", "descriptors"})
def open_is_eof(self: FaultyStore, path: str, options: OpenOptions) -> FakeInputStream:
    """A failed open raises EOFException."""
    try:
        return right(self)._open(path, options)
    except RequestFailed as error:
        raise EOFException(f"no more of {path!r}") from error


@mutant("fault.isolated", faults={"reset", "range"})
class SharesLeftovers(Connection):
    """A failed connection returns to its pool, and gives the next stream its remaining bytes."""

    _pool: ClassVar[WeakKeyDictionary[Client, Connection]] = WeakKeyDictionary()

    def read(self, position: int, view: memoryview) -> int:
        broken = self._pool.get(self._client)
        if broken is not None and broken is not self:
            del self._pool[self._client]
            count = super().read(position, view)
            view[:count] = bytes(count)
            return count
        try:
            return super().read(position, view)
        except OSError:
            self._pool[self._client] = self
            raise


@mutant("fault.isolated", faults={"timeout", "precondition"})
class FailsForAll(Connection):
    """After a failed read, the next read of another stream also fails."""

    _failed: ClassVar[WeakKeyDictionary[Client, Connection]] = WeakKeyDictionary()

    def read(self, position: int, view: memoryview) -> int:
        other = self._failed.get(self._client)
        if other is not None and other is not self:
            del self._failed[self._client]
            raise PathIOException(self._path, "the pool of connections is broken")
        try:
            return super().read(position, view)
        except OSError:
            self._failed[self._client] = self
            raise


@mutant("fault.isolated", FaultyStore._open, faults={"throttle"})
def refuses_opens(self: FaultyStore, path: str, options: OpenOptions) -> FakeInputStream:
    """After a failed read, no file can be opened."""
    bad = [r for r in self.store.requests if r.operation == "get" and r.outcome != "ok"]
    if len(bad) > self._client.retries:
        self.store.forget()
        raise PathIOException(path, "out of connections")
    self.store.forget()
    return right(self)._open(path, options)


@mutant("fault.preads", faults={"reset"})
class FailsTogether(FakeInputStream):
    """Once a read has failed, so do all others on the stream."""

    _error: OSError | None = None

    @contextmanager
    def _remembering(self) -> Iterator[None]:
        if self._error is not None:
            raise PathIOException(self.path, "an earlier read failed") from self._error
        try:
            yield
        except OSError as error:
            self._error = error
            raise

    def _read_at(self, position: int, view: memoryview) -> int:
        with self._remembering():
            return super()._read_at(position, view)


T = TypeVar("T")


@mutant("fault.retries", Client.send, faults={"throttle"})
def patient_client(self: Client, request: Callable[[], T]) -> T:
    """Throttled requests are retried without a limit."""
    while True:
        try:
            return right(self).send(request)
        except SlowDown as error:
            self.store.clock.advance(error.wait)


@mutant("fault.retries", Connection.read, faults={"reset", "corrupt", "cut-body"})
def patient_reads(self: Connection, position: int, view: memoryview) -> int:
    """Reads, unlike opens, are retried without a limit."""
    while True:
        try:
            return right(self).read(position, view)
        except RequestFailed as error:
            if not error.transient:
                raise


@mutant("fault.hang", faults={"hang"})
class NoDeadline(FaultyDisk):
    """Requests have no time limit."""


@mutant("fault.position", FakeInputStream._pread_at, faults={"timeout"})
def pread_forgets_the_way_back(self: FakeInputStream, position: int, view: memoryview) -> int:
    """A positioned read seeks, reads, and seeks back except after a failure."""
    before, self._pos = self._pos, position
    count = self._read_at(position, view)
    self._pos = before
    return count


@mutant("fault.position", FakeInputStream._fill, faults={"reset", "range"})
def moves_by_the_buffer(self: FakeInputStream) -> int:
    """A failed read-ahead moves the position by the length of its buffer."""
    try:
        return right(self)._fill()
    except OSError:
        self._pos = min(self._size, self._pos + len(self._buffer))
        raise


@mutant("fault.position", FakeInputStream.read_byte, faults={"throttle", "corrupt", "cut-body"})
def counts_retries(self: FakeInputStream) -> int:
    """A byte that a retry delivers counts twice."""
    before = self._sources.requests
    byte = right(self).read_byte()
    if self._sources.requests > before + 1:
        self._pos = min(self._size, self._pos + 1)
    return byte


@mutant("fault.next", Connection.read, faults={"reset", "precondition"})
def half_closed(self: Connection, position: int, view: memoryview) -> int:
    """A read after a failed one uses a client that the failed one dropped."""
    try:
        return right(self).read(position, view)
    except OSError:
        del self._client
        raise


@mutant("fault.close", faults={"timeout", "range"})
class CloseTellsAgain(FakeInputStream):
    """close() raises the error of an earlier read again."""

    _error: OSError | None = None

    def _read_at(self, position: int, view: memoryview) -> int:
        try:
            return super()._read_at(position, view)
        except OSError as error:
            self._error = error
            raise

    def close(self) -> None:
        error, self._error = self._error, None
        super().close()
        if error is not None:
            raise error


@mutant("fault.release", faults={"descriptors"})
class FailedOpenLeaks(FaultyDisk):
    """A failed open leaks a descriptor."""

    def __init__(self) -> None:
        super().__init__()
        self._kept: list[int] = []
        weakref.finalize(self, _close_all, self._kept)

    def _open_descriptor(self, path: str, host: str, advice: str, look: bool) -> Descriptor:
        self._kept.append(os.dup(2))
        descriptor = super()._open_descriptor(path, host, advice, look)
        os.close(self._kept.pop())
        return descriptor


@mutant("fault.release", Client.send, faults={"reset"})
def failure_leaves_thread(self: Client, request: Callable[[], T]) -> T:
    """Each final failure leaves a thread."""
    try:
        return right(self).send(request)
    except RequestFailed:
        better = threading.Event()
        threading.Thread(target=better.wait, daemon=True).start()
        weakref.finalize(self, better.set)
        raise


def _close_all(descriptors: list[int]) -> None:
    while descriptors:
        os.close(descriptors.pop())


@mutant("fault.end", FakeInputStream._read_at, faults={"short"})
def short_is_end(self: FakeInputStream, position: int, view: memoryview) -> int:
    """A short body is treated as the end of the file."""
    available = max(0, min(len(view), self._size - position))
    if available == 0:
        return 0
    count = (self._descriptor or self._reopen()).read(position, view[:available])
    if count < available:
        self._size = position + count
    return count


@mutant("fault.end", Connection._attempt, faults={"reset"})
def reset_is_end(self: Connection, position: int, view: memoryview) -> int:
    """A connection reset is treated as the end of the body."""
    try:
        return right(self)._attempt(position, view)
    except ConnectionReset:
        return 0


@mutant("fault.end", Connection.read, faults={"range"})
def range_is_end(self: Connection, position: int, view: memoryview) -> int:
    """An unsatisfiable range is treated as the end, wherever it is."""
    try:
        return right(self).read(position, view)
    except RangeNotSatisfiable:
        return 0


@mutant("fault.end", Connection.read, faults={"revoke"})
def denied_is_empty(self: Connection, position: int, view: memoryview) -> int:
    """A file without permission to read looks empty."""
    try:
        return right(self).read(position, view)
    except AccessControlException:
        return 0


@mutant("fault.end", Connection.read, faults={"delete"})
def deleted_is_eof(self: Connection, position: int, view: memoryview) -> int:
    """A deleted file ends at the position of the reader."""
    try:
        return right(self).read(position, view)
    except FileNotFoundException as error:
        raise EOFException(f"no more of {self._path!r}") from error


@mutant("fault.end", Connection._attempt, faults={"cut-body"})
def cut_is_eof(self: Connection, position: int, view: memoryview) -> int:
    """A truncated body raises EOFException."""
    try:
        return right(self)._attempt(position, view)
    except BodyCut as error:
        raise EOFException("premature end of the body") from error


@mutant("fault.end", FakeInputStream._read_range, faults={"throttle"})
def range_fails_with_eof(
    self: FakeInputStream, item: FileRange, allocate: Allocate, release: Release
) -> Future[memoryview]:
    """The future of a failed range has an EOFException."""
    future = right(self)._read_range(item, allocate, release)
    if not isinstance(future.exception(), RequestFailed):
        return future
    failed: Future[memoryview] = Future()
    failed.set_exception(EOFException("fewer bytes than asked for"))
    return failed


@mutant("fault.end", FakeInputStream._read_at, faults={"range", "precondition"})
def ends_after_failure(self: FakeInputStream, position: int, view: memoryview) -> int:
    """After a failed read the stream reports its end."""
    try:
        return right(self)._read_at(position, view)
    except OSError:
        self._size = 0
        raise


class NoRetries(FaultyStore):
    """Every failure is raised immediately, without a retry."""

    def __init__(self) -> None:
        super().__init__(retries=0)


class MixesVersions(Connection):
    """Reads of a changed file return its new bytes; no document forbids it."""

    def _attempt(self, position: int, view: memoryview) -> int:
        try:
            return super()._attempt(position, view)
        except RemoteFileChangedException:
            self.version = self._client.store.open(self._path)
            return super()._attempt(position, view)


class MovesPartOfTheWay(FakeInputStream):
    """A failed stream read has already moved the position by one byte."""

    def _read_next(self, view: memoryview) -> int:
        try:
            return super()._read_next(view)
        except OSError:
            if self._pos < self._size and len(view):
                self._pos += 1
            raise


#: Correct parts of filesystems.
VARIANTS: tuple[type, ...] = (NoRetries, MixesVersions, MovesPartOfTheWay)


@mutant("fault.data", faults={"short"})
class KeepsTheShortBody(Connection):
    """What a short response left out is taken from the next response on, which begins earlier."""

    _lacking = 0

    def read(self, position: int, view: memoryview) -> int:
        lacking, self._lacking = self._lacking, 0
        count = super().read(max(position - lacking, 0), view)
        rest = self.version.length - position
        if 0 < count < min(len(view), rest):
            self._lacking = 1
        return count


@mutant("fault.position", faults={"reset", "timeout"})
class PrefetchOfFailedRead(FakeInputStream):
    """After a failed read the buffer counts as filled from the position, with what it held."""

    def _fill(self) -> int:
        before = self._end - self._start
        try:
            return super()._fill()
        except RequestFailed:
            if before > 0:
                self._start, self._end = self._pos, min(self._size, self._pos + before)
            raise


@mutant("fault.data", faults={"reset"})
class SecondReadOfFooter(FakeInputStream):
    """A positioned read that failed is answered with zeros when it is made again."""

    _failed: tuple[int, int] | None = None

    def _pread_at(self, position: int, view: memoryview) -> int:
        if self._failed == (position, len(view)):
            view[:] = bytes(len(view))
            return len(view)
        try:
            return super()._pread_at(position, view)
        except RequestFailed:
            self._failed = position, len(view)
            raise


@mutant("fault.data", faults={"cut-body"})
class AppendsTheRetry(Connection):
    """The read after a cut one begins a byte later, as if that one had been delivered."""

    _cut = False

    def read(self, position: int, view: memoryview) -> int:
        cut, self._cut = self._cut, False
        last = position + len(view) >= self.version.length
        try:
            return super().read(position + 1 if cut and not last else position, view)
        except BodyCut:
            self._cut = True
            raise


@mutant("fault.data", FakeInputStream._read_range, faults={"timeout"})
def ranges_of_failed_call(
    self: FakeInputStream, item: FileRange, allocate: Allocate, release: Release
) -> Future[memoryview]:
    """After a failed range the next one begins a byte too late, unless it ends with the file."""
    failed = getattr(self, "failed_range", False)
    if failed and item.offset + item.length < self._size:
        self.failed_range = False  # type: ignore[attr-defined]
        item = FileRange(item.offset + 1, item.length)
    future = right(self)._read_range(item, allocate, release)
    if isinstance(future.exception(), RequestFailed):
        self.failed_range = True  # type: ignore[attr-defined]
    return future


@mutant("fault.next", faults={"throttle", "reset"})
class SecondReadFails(FakeInputStream):
    """The second read after a failed one finds a connection without a socket."""

    _since = -1

    def _read_at(self, position: int, view: memoryview) -> int:
        if self._since >= 0:
            self._since += 1
        if self._since == 2:
            raise AttributeError("'NoneType' object has no attribute 'recv'")
        try:
            return super()._read_at(position, view)
        except RequestFailed:
            self._since = 0
            raise


@mutant("fault.position", FakeInputStream._fill, faults={"reset"})
def seek_after_failure_is_lost(self: FakeInputStream) -> int:
    """After a failed read-ahead the next one goes back to where that began."""
    back = getattr(self, "failed_at", None)
    if back is not None and back < self._pos:
        self._pos = back
        self.failed_at = None  # type: ignore[attr-defined]
    try:
        return right(self)._fill()
    except OSError:
        self.failed_at = self._pos  # type: ignore[attr-defined]
        raise


@mutant("fault.end", faults={"timeout"})
class EndOfPrefetch(FakeInputStream):
    """After a failed read the file ends where the buffer did."""

    def _fill(self) -> int:
        try:
            return super()._fill()
        except RequestFailed:
            self._size = max(self._end, self._pos)
            raise


@mutant("fault.release", faults={"reset"})
class FailedStreamIsKept(FakeInputStream):
    """A stream with a failed read opens a file for a report, which is never closed."""

    def _read_at(self, position: int, view: memoryview) -> int:
        try:
            return super()._read_at(position, view)
        except RequestFailed as error:
            os.open(os.devnull, os.O_RDONLY)
            raise PathIOException(self.path, "the read failed") from error
