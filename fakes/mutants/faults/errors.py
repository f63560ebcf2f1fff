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
from fscontract.fakes.mutants.faults.registry import DiskFiles, StoredFiles, fault_mutant
from fscontract.implementations.local_stream import LocalInputStream
from fscontract.implementations.openfile_builder import OpenOptions

#: What a store answers with a status of 412.
_PAGE = b"<Error><Code>PreconditionFailed</Code></Error>"
#: Seconds that a body may take.
_PATIENCE = 1.0


class LibraryError(Exception):
    """What some library raises."""


@fault_mutant("fault.clean", "reset")
class RawError(Connection):
    """A lost connection shows as the exception of the library that noticed."""

    def read(self, position: int, view: memoryview) -> int:
        try:
            return super().read(position, view)
        except ConnectionReset as error:
            raise LibraryError("incomplete read") from error


@fault_mutant("fault.clean", "slow")
class StallsLoudly(Connection):
    """A body that takes too long ends in the exception of a timer."""

    def read(self, position: int, view: memoryview) -> int:
        clock = self._client.store.clock
        before = clock.now
        count = super().read(position, view)
        if clock.now - before > _PATIENCE:
            raise LibraryError("too slow")
        return count


@fault_mutant("fault.clean", "delete")
class DeletedIsNone(Connection):
    """What is known of a deleted file is thrown away, and used all the same."""

    def _attempt(self, position: int, view: memoryview) -> int:
        try:
            return super()._attempt(position, view)
        except FileNotFoundException:
            del self.version
            return super()._attempt(position, view)


@fault_mutant("fault.clean", "timeout")
class RangeFailsRaw(FakeInputStream):
    """The future of a range that failed holds the exception of a library."""

    def _read_range(
        self, item: FileRange, allocate: Allocate, release: Release
    ) -> Future[memoryview]:
        future = super()._read_range(item, allocate, release)
        if not isinstance(future.exception(), RequestFailed):
            return future
        raw: Future[memoryview] = Future()
        raw.set_exception(LibraryError("incomplete read"))
        return raw


@fault_mutant("fault.data", "corrupt")
class PassesCorruptBytes(Connection):
    """Checksums are not looked at."""

    def _verified(self, answer: Answer, position: int) -> int:
        return len(answer.body)


@fault_mutant("fault.data", "cut-body")
class AnnouncedIsThere(Connection):
    """A body that ends early counts as long as it was announced; the rest is what was there."""

    def _attempt(self, position: int, view: memoryview) -> int:
        try:
            return super()._attempt(position, view)
        except BodyCut:
            return min(len(view), self.version.length - position)


@fault_mutant("fault.data", "precondition")
class ErrorPage(Connection):
    """The text of a refusal (412) is delivered as if it were the file."""

    def _attempt(self, position: int, view: memoryview) -> int:
        try:
            return super()._attempt(position, view)
        except RemoteFileChangedException:
            count = min(len(view), len(_PAGE))
            view[:count] = _PAGE[:count]
            return count


@fault_mutant("fault.data", "change")
class StartsOver(Connection):
    """When the file has changed it is read from its start again, wherever the reader was."""

    def _attempt(self, position: int, view: memoryview) -> int:
        try:
            return super()._attempt(position, view)
        except RemoteFileChangedException:
            self.version = self._client.store.open(self._path)
            return super()._attempt(0, view)


@fault_mutant("fault.data", "reset", "throttle")
class RetriesFromTheStart(Connection):
    """The second attempt forgets the range, and gets the first bytes of the file."""

    def _attempt(self, position: int, view: memoryview) -> int:
        try:
            return super()._attempt(position, view)
        except RequestFailed:
            return super()._attempt(0, view)


class _TrustingStream(LocalInputStream):
    """Delivers as many bytes as the file once had."""

    def _read_at(self, position: int, view: memoryview) -> int:
        count = super()._read_at(position, view)
        announced = max(count, min(len(view), self._size - position))
        view[count:announced] = bytes(announced - count)
        return announced


@fault_mutant("fault.data", "cut")
class ZerosForWhatWasCut(DiskFiles):
    """The length that the file once had is believed, and what is missing is zeros."""

    stream = _TrustingStream


@fault_mutant("fault.data", "timeout", "range")
class BufferOfNothing(FakeInputStream):
    """A buffer that could not be filled counts as filled."""

    def _fill(self) -> int:
        try:
            return super()._fill()
        except RequestFailed:
            self._start, self._end = self._pos, min(self._size, self._pos + len(self._buffer))
            raise


@fault_mutant("fault.open", "throttle")
class OpenLosesPatience(StoredFiles):
    """An open that the busy store refuses ends in an exception that is no IOException."""

    def _open(self, path: str, options: OpenOptions) -> FakeInputStream:
        try:
            return super()._open(path, options)
        except SlowDown as error:
            raise RuntimeError(f"gave up: {error}") from error


@fault_mutant("fault.end", "reset", "descriptors")
class OpenIsEof(StoredFiles):
    """An open that fails says that the file ends."""

    def _open(self, path: str, options: OpenOptions) -> FakeInputStream:
        try:
            return super()._open(path, options)
        except RequestFailed as error:
            raise EOFException(f"no more of {path!r}") from error


@fault_mutant("fault.isolated", "reset", "range")
class SharesLeftovers(Connection):
    """A connection that failed goes back to its pool, and gives the next stream what is left."""

    _pool: ClassVar[WeakKeyDictionary[Client, Connection]] = WeakKeyDictionary()

    def read(self, position: int, view: memoryview) -> int:
        left = self._pool.get(self._client)
        if left is not None and left is not self:
            del self._pool[self._client]
            count = super().read(position, view)
            view[:count] = bytes(count)
            return count
        try:
            return super().read(position, view)
        except OSError:
            self._pool[self._client] = self
            raise


@fault_mutant("fault.isolated", "timeout", "precondition")
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


@fault_mutant("fault.isolated", "throttle")
class RefusesOpens(StoredFiles):
    """After a read that failed nothing can be opened."""

    def _open(self, path: str, options: OpenOptions) -> FakeInputStream:
        bad = [r for r in self.store.requests if r.kind == "read" and r.outcome != "ok"]
        if len(bad) > self._client.retries:
            self.store.forget()
            raise PathIOException(path, "out of connections")
        self.store.forget()
        return super()._open(path, options)


@fault_mutant("fault.preads", "reset")
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


@fault_mutant("fault.retries", "throttle")
class PatientClient(Client):
    """As long as the store says that it is busy, the request is made again."""

    def send(self, request: Callable[[], T]) -> T:
        while True:
            try:
                return super().send(request)
            except SlowDown as error:
                self.store.clock.advance(error.wait)


@fault_mutant("fault.retries", "reset", "corrupt", "cut-body")
class PatientReads(Connection):
    """A read, unlike an open, is tried until it works."""

    def read(self, position: int, view: memoryview) -> int:
        while True:
            try:
                return super().read(position, view)
            except RequestFailed as error:
                if not error.transient:
                    raise


@fault_mutant("fault.hang", "hang")
class NoDeadline(DiskFiles):
    """Whoever asks waits for an answer, however long that takes."""
