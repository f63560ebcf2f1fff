"""Mutants that mishandle a failed request: errors, data, opens, retries."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import ClassVar, TypeVar
from weakref import WeakKeyDictionary

from fscontract.contract.api.errors import (
    EOFException,
    FileNotFoundException,
    PathIOException,
    RemoteFileChangedException,
)
from fscontract.contract.api.filesystem import Allocate, FileRange, Release
from fscontract.fakes.filesystem.client import Client, Connection, FakeInputStream
from fscontract.fakes.filesystem.errors import BodyCut, ConnectionReset, RequestFailed, SlowDown
from fscontract.fakes.filesystem.requests import Answer
from fscontract.fakes.mutants.faults.filesystems import DiskFiles, StoredFiles
from fscontract.fakes.mutants.registry import mutant, right
from fscontract.implementations.local_stream import LocalInputStream
from fscontract.implementations.openfile_builder import OpenOptions

#: What a store answers with a status of 412.
_PAGE = b"<Error><Code>PreconditionFailed</Code></Error>"
#: Seconds that a body may take.
_PATIENCE = 1.0


class LibraryError(Exception):
    """What some library raises."""


@mutant("fault.clean", Connection.read, faults={"reset"})
def raw_error(self: Connection, position: int, view: memoryview) -> int:
    """A lost connection shows as the exception of the library that noticed."""
    try:
        return right(self).read(position, view)
    except ConnectionReset as error:
        raise LibraryError("incomplete read") from error


@mutant("fault.clean", Connection.read, faults={"slow"})
def stalls_loudly(self: Connection, position: int, view: memoryview) -> int:
    """A body that takes too long ends in the exception of a timer."""
    clock = self._client.store.clock
    before = clock.now
    count = right(self).read(position, view)
    if clock.now - before > _PATIENCE:
        raise LibraryError("too slow")
    return count


@mutant("fault.clean", Connection._attempt, faults={"delete"})
def deleted_is_none(self: Connection, position: int, view: memoryview) -> int:
    """The version of a deleted file is dropped, and then used."""
    try:
        return right(self)._attempt(position, view)
    except FileNotFoundException:
        del self.version
        return right(self)._attempt(position, view)


@mutant("fault.clean", FakeInputStream._read_range, faults={"timeout"})
def range_fails_raw(
    self: FakeInputStream, item: FileRange, allocate: Allocate, release: Release
) -> Future[memoryview]:
    """The future of a range that failed holds the exception of a library."""
    future = right(self)._read_range(item, allocate, release)
    if not isinstance(future.exception(), RequestFailed):
        return future
    raw: Future[memoryview] = Future()
    raw.set_exception(LibraryError("incomplete read"))
    return raw


@mutant("fault.data", Connection._verified, faults={"corrupt"})
def passes_corrupt_bytes(self: Connection, answer: Answer, position: int) -> int:
    """Checksums are not looked at."""
    return len(answer.body)


@mutant("fault.data", Connection._attempt, faults={"cut-body"})
def announced_is_there(self: Connection, position: int, view: memoryview) -> int:
    """A body that ends early counts as long as it was announced; the rest is what was there."""
    try:
        return right(self)._attempt(position, view)
    except BodyCut:
        return min(len(view), self.version.length - position)


@mutant("fault.data", Connection._attempt, faults={"precondition"})
def error_page(self: Connection, position: int, view: memoryview) -> int:
    """The text of a refusal (412) is delivered as if it were the file."""
    try:
        return right(self)._attempt(position, view)
    except RemoteFileChangedException:
        count = min(len(view), len(_PAGE))
        view[:count] = _PAGE[:count]
        return count


@mutant("fault.data", Connection._attempt, faults={"change"})
def starts_over(self: Connection, position: int, view: memoryview) -> int:
    """When the file has changed it is read from its start again, wherever the reader was."""
    try:
        return right(self)._attempt(position, view)
    except RemoteFileChangedException:
        self.version = self._client.store.open(self._path)
        return right(self)._attempt(0, view)


@mutant("fault.data", Connection._attempt, faults={"reset", "throttle"})
def retries_from_the_start(self: Connection, position: int, view: memoryview) -> int:
    """The second attempt forgets the range, and gets the first bytes of the file."""
    try:
        return right(self)._attempt(position, view)
    except RequestFailed:
        return right(self)._attempt(0, view)


class _TrustingStream(LocalInputStream):
    """Delivers as many bytes as the file once had."""

    def _read_at(self, position: int, view: memoryview) -> int:
        count = super()._read_at(position, view)
        announced = max(count, min(len(view), self._size - position))
        view[count:announced] = bytes(announced - count)
        return announced


@mutant("fault.data", faults={"cut"})
class ZerosForWhatWasCut(DiskFiles):
    """The length that the file once had is believed, and what is missing is zeros."""

    stream = _TrustingStream


@mutant("fault.data", FakeInputStream._fill, faults={"timeout", "range"})
def buffer_of_nothing(self: FakeInputStream) -> int:
    """A buffer that could not be filled counts as filled."""
    try:
        return right(self)._fill()
    except RequestFailed:
        self._start, self._end = self._pos, min(self._size, self._pos + len(self._buffer))
        raise


@mutant("fault.open", StoredFiles._open, faults={"throttle"})
def open_loses_patience(self: StoredFiles, path: str, options: OpenOptions) -> FakeInputStream:
    """An open that the busy store refuses raises an exception that is not an IOException."""
    try:
        return right(self)._open(path, options)
    except SlowDown as error:
        raise RuntimeError(f"gave up: {error}") from error


@mutant("fault.end", StoredFiles._open, faults={"reset", "descriptors"})
def open_is_eof(self: StoredFiles, path: str, options: OpenOptions) -> FakeInputStream:
    """An open that fails says that the file ends."""
    try:
        return right(self)._open(path, options)
    except RequestFailed as error:
        raise EOFException(f"no more of {path!r}") from error


@mutant("fault.isolated", faults={"reset", "range"})
class SharesLeftovers(Connection):
    """A connection that failed goes back to its pool, and gives the next stream what is left."""

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
    """When a read fails, the next one of another stream fails with it."""

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


@mutant("fault.isolated", StoredFiles._open, faults={"throttle"})
def refuses_opens(self: StoredFiles, path: str, options: OpenOptions) -> FakeInputStream:
    """After a read that failed nothing can be opened."""
    bad = [r for r in self.store.requests if r.kind == "read" and r.outcome != "ok"]
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
    """As long as the store says that it is busy, the request is made again."""
    while True:
        try:
            return right(self).send(request)
        except SlowDown as error:
            self.store.clock.advance(error.wait)


@mutant("fault.retries", Connection.read, faults={"reset", "corrupt", "cut-body"})
def patient_reads(self: Connection, position: int, view: memoryview) -> int:
    """A read, unlike an open, is tried until it works."""
    while True:
        try:
            return right(self).read(position, view)
        except RequestFailed as error:
            if not error.transient:
                raise


@mutant("fault.hang", faults={"hang"})
class NoDeadline(DiskFiles):
    """A request waits for its answer without a time limit."""
