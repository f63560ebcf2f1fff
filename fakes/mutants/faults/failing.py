"""Mutants of calls that a fault strikes: what they raise, and what they deliver."""

from __future__ import annotations

from concurrent.futures import Future

from fscontract.contract.errors import FileNotFoundException, RemoteFileChangedException
from fscontract.contract.ports import Allocate, FileRange, Release
from fscontract.fakes.filesystem.client import Connection
from fscontract.fakes.filesystem.failures import BodyCut, ConnectionReset, RequestFailed
from fscontract.fakes.filesystem.requests import Answer
from fscontract.fakes.filesystem.stream import FakeInputStream
from fscontract.fakes.mutants.faults.registry import DiskFiles, fault_mutant
from fscontract.implementations.localstream import LocalInputStream

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
