"""Correct filesystems that meet faults otherwise than the reference does."""

from __future__ import annotations

from fscontract.contract.api.errors import RemoteFileChangedException
from fscontract.fakes.filesystem.client import Connection, FakeInputStream
from fscontract.fakes.mutants.faults.filesystems import StoredFiles


class NoRetries(StoredFiles):
    """Every failure is raised at once, without a retry."""

    def __init__(self) -> None:
        super().__init__(retries=0)


class MixesVersions(Connection):
    """Of a file that has changed the new bytes are delivered; no document forbids it."""

    def _attempt(self, position: int, view: memoryview) -> int:
        try:
            return super()._attempt(position, view)
        except RemoteFileChangedException:
            self.version = self._client.store.open(self._path)
            return super()._attempt(position, view)


class MovesPartOfTheWay(FakeInputStream):
    """A stream read that fails has read one byte already."""

    def _read_next(self, view: memoryview) -> int:
        try:
            return super()._read_next(view)
        except OSError:
            if self._pos < self._size and len(view):
                self._pos += 1
            raise


#: Parts of filesystems that keep every clause.
VARIANTS: tuple[type, ...] = (NoRetries, MixesVersions, MovesPartOfTheWay)
