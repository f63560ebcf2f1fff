"""Mutants of opening, closing and asking for the position."""

from __future__ import annotations

import weakref
from typing import ClassVar

from fscontract.contract.errors import NullPointerException, PathIOException
from fscontract.contract.ports import FileStatus
from fscontract.fakes.mutants.registry import MutantFileSystem, mutant
from fscontract.implementations.memory import MemoryInputStream


@mutant("open.state")
class OpensAtOne(MemoryInputStream):
    """A new stream stands behind its first byte."""

    def __init__(self, data: bytes, path: str = "/memory") -> None:
        super().__init__(data, path)
        self._pos = min(1, len(data))


@mutant("open.state")
class OpensClosed(MemoryInputStream):
    """A new stream is closed."""

    def __init__(self, data: bytes, path: str = "/memory") -> None:
        super().__init__(data, path)
        self._closed = True


@mutant("open.independent")
class SharesPosition(MemoryInputStream):
    """All streams of one file share one position, which a new one sets to 0."""

    _positions: ClassVar[dict[str, int]] = {}

    @property
    def _pos(self) -> int:
        return self._positions[self.path]

    @_pos.setter
    def _pos(self, value: int) -> None:
        self._positions[self.path] = value


@mutant("open.independent")
class ClosesSiblings(MemoryInputStream):
    """Closing one stream closes all those of its file."""

    _siblings: ClassVar[dict[str, weakref.WeakSet[ClosesSiblings]]] = {}

    def __init__(self, data: bytes, path: str = "/memory") -> None:
        super().__init__(data, path)
        self._siblings.setdefault(path, weakref.WeakSet()).add(self)

    def close(self) -> None:
        super().close()
        for sibling in self._siblings.pop(self.path, ()):
            sibling._closed = True


class RoundedStatus(MutantFileSystem):
    """A filesystem whose statuses round lengths up to whole blocks of 4 bytes."""

    def get_file_status(self, path: str) -> FileStatus:
        status = super().get_file_status(path)
        return FileStatus(status.path, -(-status.length // 4) * 4, status.is_directory)


@mutant("model.len-eq-status", RoundedStatus)
class StatusInBlocks(MemoryInputStream):
    """The file's status gives its length in whole blocks, more than the stream delivers."""


@mutant("close.idempotent")
class ClosesOnce(MemoryInputStream):
    """Closing a closed stream raises an IOException."""

    def close(self) -> None:
        if self._closed:
            self._reject_closed()
        super().close()


@mutant("close.robust")
class RemembersFailure(MemoryInputStream):
    """close() after a failed seek stumbles over what the seek left unset."""

    _failed = False

    def seek(self, position: int) -> None:
        try:
            super().seek(position)
        except OSError:
            self._failed = True
            raise

    def close(self) -> None:
        failed, self._failed = self._failed and not self._closed, False
        super().close()
        if failed:
            raise NullPointerException("there is no connection to close")


@mutant("close.no-raise")
class ReportsOnClose(MemoryInputStream):
    """close() reports that the connection was no longer there."""

    def close(self) -> None:
        was_open = not self._closed
        super().close()
        if was_open:
            raise PathIOException(self.path, "the connection was reset")


@mutant("close.state")
class NeverCloses(MemoryInputStream):
    """close() does nothing: the stream reads on."""

    def close(self) -> None:
        pass


@mutant("close.state")
class Reopens(MemoryInputStream):
    """A seek opens a closed stream again."""

    def seek(self, position: int) -> None:
        self._closed = False
        super().seek(position)


@mutant("getpos.closed")
class NoPositionWhenClosed(MemoryInputStream):
    """get_pos() on a closed stream raises NullPointerException."""

    def get_pos(self) -> int:
        if self._closed:
            raise NullPointerException("there is no stream to ask")
        return super().get_pos()


@mutant("getpos.value")
class PositionOfBuffer(MemoryInputStream):
    """Once something was read, get_pos() gives the end of the stream's own buffer."""

    def get_pos(self) -> int:
        position = super().get_pos()
        return self._size if position else 0
