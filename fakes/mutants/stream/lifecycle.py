"""Mutants of open, close, unbuffer, getPos and capabilities."""

from __future__ import annotations

import weakref
from collections import deque
from typing import ClassVar

from fscontract.contract.api.errors import (
    NullPointerException,
    PathIOException,
    UnsupportedOperationException,
)
from fscontract.contract.api.filesystem import Buffer, FileStatus
from fscontract.fakes.mutants.registry import MutantFileSystem, mutant
from fscontract.fakes.mutants.variants import HoldsDescriptor, NoUnbuffer
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


@mutant("capabilities.unknown")
class CanEverything(MemoryInputStream):
    """Every capability is answered with True."""

    def has_capability(self, name: str) -> bool:
        return super().has_capability(name) or True


@mutant("capabilities.case")
class CapabilityByCase(MemoryInputStream):
    """Capabilities are recognised in lower case only."""

    def has_capability(self, name: str) -> bool:
        return super().has_capability(name) and name == name.lower()


@mutant("capabilities.bytebuffer")
class BufferUndeclared(MemoryInputStream):
    """in:readbytebuffer is not declared."""

    def has_capability(self, name: str) -> bool:
        return super().has_capability(name) and name.lower() != "in:readbytebuffer"


@mutant("capabilities.preadbytebuffer")
class PreadBufferUndeclared(MemoryInputStream):
    """in:preadbytebuffer is not declared."""

    def has_capability(self, name: str) -> bool:
        return super().has_capability(name) and name.lower() != "in:preadbytebuffer"


@mutant("read-vectored.capability")
class VectoredUndeclared(MemoryInputStream):
    """in:readvectored is not declared."""

    def has_capability(self, name: str) -> bool:
        return super().has_capability(name) and name.lower() != "in:readvectored"


@mutant("unbuffer.closed")
class UnbufferNeedsOpen(MemoryInputStream):
    """unbuffer() on a closed stream raises an IOException."""

    def unbuffer(self) -> None:
        if self._closed:
            self._reject_closed()
        super().unbuffer()


@mutant("unbuffer.default")
class UnbufferRefused(NoUnbuffer):
    """unbuffer(), not supported, raises UnsupportedOperationException."""

    def unbuffer(self) -> None:
        raise UnsupportedOperationException("unbuffer is not possible")


@mutant("unbuffer.reacquire")
class UnbufferForGood(MemoryInputStream):
    """After unbuffer() stream reads raise an IOException, for the connection is gone."""

    _gone = False

    def unbuffer(self) -> None:
        self._gone = True

    def read_byte(self) -> int:
        self._connect()
        return super().read_byte()

    def read_into(self, buffer: Buffer, offset: int = 0, length: int | None = None) -> int:
        self._connect()
        return super().read_into(buffer, offset, length)

    def _connect(self) -> None:
        if self._gone and not self._closed:
            raise PathIOException(self.path, "there is no connection")


@mutant("unbuffer.pos")
class UnbufferLosesReadAhead(MemoryInputStream):
    """unbuffer() drops the byte that was read ahead with those already delivered."""

    def unbuffer(self) -> None:
        if self._pos and not self._closed:
            self._pos = min(self._pos + 1, self._size)


@mutant("unbuffer.declare")
class UnbufferUndeclared(MemoryInputStream):
    """in:unbuffer is not declared."""

    def has_capability(self, name: str) -> bool:
        # The other spelling is left alone, because it has a clause of its own.
        return name != "in:unbuffer" and super().has_capability(name)


@mutant("unbuffer.release")
class UnbufferKeeps(HoldsDescriptor):
    """unbuffer() keeps the descriptor that a read has opened."""

    def unbuffer(self) -> None:
        pass


@mutant("close.release")
class CloseKeeps(HoldsDescriptor):
    """close() keeps the descriptor that a read has opened."""

    #: What the leaked descriptors hang on; dropping out of here, or the interpreter's end, closes
    #: them, so that a long run does not use all there are.
    _leaked: ClassVar[deque[CloseKeeps]] = deque(maxlen=64)

    def close(self) -> None:
        if not self._closed and self._give_back is not None:
            self._leaked.append(self)
        self._closed = True
