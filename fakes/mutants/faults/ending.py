"""Mutants that take a failure for the end of the file."""

from __future__ import annotations

from concurrent.futures import Future

from fscontract.contract.errors import (
    AccessControlException,
    EOFException,
    FileNotFoundException,
)
from fscontract.contract.ports import Allocate, FileRange, Release
from fscontract.fakes.filesystem.client import Connection
from fscontract.fakes.filesystem.failures import (
    BodyCut,
    ConnectionReset,
    RangeNotSatisfiable,
    RequestFailed,
)
from fscontract.fakes.filesystem.stream import FakeInputStream
from fscontract.fakes.mutants.faults.registry import fault_mutant


@fault_mutant("fault.end", "short")
class ShortIsEnd(FakeInputStream):
    """A request that gives less than it was asked for has met the end of the file."""

    def _read_at(self, position: int, view: memoryview) -> int:
        wanted = max(0, min(len(view), self._size - position))
        if wanted == 0:
            return 0
        count = (self._descriptor or self._reopen()).read(position, view[:wanted])
        if count < wanted:
            self._size = position + count
        return count


@fault_mutant("fault.end", "reset")
class ResetIsEnd(Connection):
    """A connection that breaks off has delivered everything."""

    def _attempt(self, position: int, view: memoryview) -> int:
        try:
            return super()._attempt(position, view)
        except ConnectionReset:
            return 0


@fault_mutant("fault.end", "range")
class RangeIsEnd(Connection):
    """A range that the store can't satisfy lies beyond the end, wherever it is."""

    def read(self, position: int, view: memoryview) -> int:
        try:
            return super().read(position, view)
        except RangeNotSatisfiable:
            return 0


@fault_mutant("fault.end", "revoke")
class DeniedIsEmpty(Connection):
    """What must not be read has no bytes."""

    def read(self, position: int, view: memoryview) -> int:
        try:
            return super().read(position, view)
        except AccessControlException:
            return 0


@fault_mutant("fault.end", "delete")
class DeletedIsEof(Connection):
    """A file that is gone ends where the reader is."""

    def read(self, position: int, view: memoryview) -> int:
        try:
            return super().read(position, view)
        except FileNotFoundException as error:
            raise EOFException(f"no more of {self._path!r}") from error


@fault_mutant("fault.end", "cut-body")
class CutIsEof(Connection):
    """A body that ends early is told of by an EOFException."""

    def _attempt(self, position: int, view: memoryview) -> int:
        try:
            return super()._attempt(position, view)
        except BodyCut as error:
            raise EOFException("premature end of the body") from error


@fault_mutant("fault.end", "throttle")
class RangeFailsWithEof(FakeInputStream):
    """The future of a range that failed holds an EOFException."""

    def _read_range(
        self, item: FileRange, allocate: Allocate, release: Release
    ) -> Future[memoryview]:
        future = super()._read_range(item, allocate, release)
        if not isinstance(future.exception(), RequestFailed):
            return future
        ended: Future[memoryview] = Future()
        ended.set_exception(EOFException("fewer bytes than asked for"))
        return ended


@fault_mutant("fault.end", "range", "precondition")
class EndsAfterFailure(FakeInputStream):
    """After a failed read the stream says that it is at the end."""

    def _read_at(self, position: int, view: memoryview) -> int:
        try:
            return super()._read_at(position, view)
        except OSError:
            self._size = 0
            raise
