"""Mutants in which the failure of one stream reaches others, or other threads."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import ClassVar
from weakref import WeakKeyDictionary

from fscontract.contract.errors import PathIOException
from fscontract.fakes.filesystem.client import Client, Connection
from fscontract.fakes.filesystem.stream import FakeInputStream
from fscontract.fakes.mutants.faults.registry import StoredFiles, fault_mutant
from fscontract.implementations.options import OpenOptions


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
