"""Mutants of open, close, unbuffer, getPos and capabilities."""

from __future__ import annotations

import weakref
from typing import ClassVar

from fscontract.contract.api.errors import (
    NullPointerException,
    PathIOException,
    UnsupportedOperationException,
)
from fscontract.contract.api.filesystem import Buffer, FileStatus
from fscontract.fakes.mutants.correct_parts import MutantFileSystem
from fscontract.fakes.mutants.registry import mutant, right
from fscontract.fakes.mutants.stream.variants import HoldsDescriptor, NoByteBuffers, NoUnbuffer
from fscontract.implementations.memory import MemoryInputStream


@mutant("open.state")
class OpensAtOne(MemoryInputStream):
    """A new stream is after its first byte."""

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


@mutant("model.len-eq-status", MutantFileSystem.get_file_status)
def status_in_blocks(self: MutantFileSystem, path: str) -> FileStatus:
    """The file's status gives its length in whole blocks, more than the stream delivers."""
    status = right(self).get_file_status(path)
    return FileStatus(status.path, -(-status.length // 4) * 4, status.is_directory)


@mutant("close.idempotent", MemoryInputStream.close)
def closes_once(self: MemoryInputStream) -> None:
    """Closing a closed stream raises an IOException."""
    if self._closed:
        self._reject_closed()
    right(self).close()


@mutant("close.robust")
class RemembersFailure(MemoryInputStream):
    """close() after a failed seek raises an error."""

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


@mutant("close.no-raise", MemoryInputStream.close)
def reports_on_close(self: MemoryInputStream) -> None:
    """close() raises an error because the connection is already lost."""
    was_open = not self._closed
    right(self).close()
    if was_open:
        raise PathIOException(self.path, "the connection was reset")


@mutant("close.state", MemoryInputStream.close)
def never_closes(self: MemoryInputStream) -> None:
    """close() does nothing: reads still work."""


@mutant("close.state", MemoryInputStream.seek)
def reopens(self: MemoryInputStream, position: int) -> None:
    """A seek opens a closed stream again."""
    self._closed = False
    right(self).seek(position)


@mutant("getpos.closed", MemoryInputStream.get_pos)
def no_position_when_closed(self: MemoryInputStream) -> int:
    """get_pos() on a closed stream raises NullPointerException."""
    if self._closed:
        raise NullPointerException("there is no stream to ask")
    return right(self).get_pos()


@mutant("getpos.value", MemoryInputStream.get_pos)
def position_of_buffer(self: MemoryInputStream) -> int:
    """After a read, get_pos() returns the end of the stream's own buffer."""
    position = right(self).get_pos()
    return self._size if position else 0


@mutant("capabilities.unknown", MemoryInputStream.has_capability)
def can_everything(self: MemoryInputStream, name: str) -> bool:
    """Every capability is answered with True."""
    return right(self).has_capability(name) or True


@mutant("capabilities.unknown", MemoryInputStream.has_capability)
def can_all_of_namespace(self: MemoryInputStream, name: str) -> bool:
    """Every name that begins with in: is answered with True."""
    return right(self).has_capability(name) or name.lower().startswith("in:")


@mutant("capabilities.unknown", MemoryInputStream.has_capability)
def can_prefixes(self: MemoryInputStream, name: str) -> bool:
    """A name that begins like a capability is answered with True."""
    return right(self).has_capability(name) or name.startswith("in:unbuffer")


@mutant("capabilities.unknown", MemoryInputStream.has_capability)
def can_parts(self: MemoryInputStream, name: str) -> bool:
    """A part of a capability's name is answered with True."""
    return right(self).has_capability(name) or name in ["in", "unbuffer in", "readvectored"][1]


@mutant("capabilities.kept", NoByteBuffers.has_capability)
def claims_byte_buffers(self: NoByteBuffers, name: str) -> bool:
    """A stream claims to read into a ByteBuffer, and raises UnsupportedOperationException."""
    return right(self).has_capability(name) or name.lower() == "in:readbytebuffer"


@mutant("capabilities.kept", NoUnbuffer.has_capability)
def claims_unbuffer(self: NoUnbuffer, name: str) -> bool:
    """A stream claims to release its buffer, but has no unbuffer()."""
    return right(self).has_capability(name) or name.lower() == "in:unbuffer"


@mutant("capabilities.case", MemoryInputStream.has_capability)
def capability_by_case(self: MemoryInputStream, name: str) -> bool:
    """Capabilities are recognised in lower case only."""
    return right(self).has_capability(name) and name == name.lower()


@mutant("capabilities.bytebuffer", MemoryInputStream.has_capability)
def buffer_undeclared(self: MemoryInputStream, name: str) -> bool:
    """in:readbytebuffer is not declared."""
    return right(self).has_capability(name) and name.lower() != "in:readbytebuffer"


@mutant("capabilities.preadbytebuffer", MemoryInputStream.has_capability)
def pread_buffer_undeclared(self: MemoryInputStream, name: str) -> bool:
    """in:preadbytebuffer is not declared."""
    return right(self).has_capability(name) and name.lower() != "in:preadbytebuffer"


@mutant("read-vectored.capability", MemoryInputStream.has_capability)
def vectored_undeclared(self: MemoryInputStream, name: str) -> bool:
    """in:readvectored is not declared."""
    return right(self).has_capability(name) and name.lower() != "in:readvectored"


@mutant("unbuffer.closed", MemoryInputStream.unbuffer)
def unbuffer_needs_open(self: MemoryInputStream) -> None:
    """unbuffer() on a closed stream raises an IOException."""
    if self._closed:
        self._reject_closed()
    right(self).unbuffer()


@mutant("unbuffer.default", NoUnbuffer.unbuffer)
def unbuffer_refused(self: NoUnbuffer) -> None:
    """unbuffer(), not supported, raises UnsupportedOperationException."""
    raise UnsupportedOperationException("unbuffer is not possible")


@mutant("unbuffer.reacquire")
class UnbufferForGood(MemoryInputStream):
    """After unbuffer() stream reads raise an IOException, because the connection is closed."""

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


@mutant("unbuffer.pos", MemoryInputStream.unbuffer)
def unbuffer_loses_read_ahead(self: MemoryInputStream) -> None:
    """unbuffer() skips the buffered bytes."""
    if self._pos and not self._closed:
        self._pos = min(self._pos + 1, self._size)


@mutant("unbuffer.declare", MemoryInputStream.has_capability)
def unbuffer_undeclared(self: MemoryInputStream, name: str) -> bool:
    """in:unbuffer is not declared."""
    # The other spelling is unchanged, because it has its own clause.
    return name != "in:unbuffer" and right(self).has_capability(name)


@mutant("unbuffer.release", HoldsDescriptor.unbuffer)
def unbuffer_keeps(self: HoldsDescriptor) -> None:
    """unbuffer() keeps the descriptor that a read has opened."""


@mutant("close.release")
class CloseKeeps(HoldsDescriptor):
    """close() keeps the descriptor that a read has opened."""

    #: The holders of leaked descriptors. All are let go, and close, when there are many, so that a
    #: long run does not use up all descriptors, and almost every leak is one descriptor more.
    _leaked: ClassVar[list[CloseKeeps]] = []

    def close(self) -> None:
        if not self._closed and self._give_back is not None:
            if len(self._leaked) == 64:
                self._leaked.clear()
            self._leaked.append(self)
        self._closed = True
