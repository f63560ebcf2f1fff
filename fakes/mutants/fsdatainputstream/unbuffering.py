"""Mutants of unbuffer, and of what close and unbuffer have to give back."""

from __future__ import annotations

from collections import deque
from typing import ClassVar

from fscontract.contract.errors import PathIOException, UnsupportedOperationException
from fscontract.contract.ports import Buffer
from fscontract.fakes.mutants.registry import mutant
from fscontract.fakes.mutants.variants import HoldsDescriptor, NoUnbuffer
from fscontract.implementations.memory import MemoryInputStream


@mutant("unbuf.closed")
class UnbufferNeedsOpen(MemoryInputStream):
    """unbuffer() on a closed stream raises an IOException."""

    def unbuffer(self) -> None:
        if self._closed:
            self._reject_closed()
        super().unbuffer()


@mutant("unbuf.default")
class UnbufferRefused(NoUnbuffer):
    """unbuffer(), not supported, raises UnsupportedOperationException."""

    def unbuffer(self) -> None:
        raise UnsupportedOperationException("unbuffer is not possible")


@mutant("unbuf.reacquire")
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


@mutant("unbuf.pos")
class UnbufferLosesReadAhead(MemoryInputStream):
    """unbuffer() drops the byte that was read ahead with those already delivered."""

    def unbuffer(self) -> None:
        if self._pos and not self._closed:
            self._pos = min(self._pos + 1, self._size)


@mutant("unbuf.declare")
class UnbufferUndeclared(MemoryInputStream):
    """in:unbuffer is not declared."""

    def has_capability(self, name: str) -> bool:
        # The other spelling is left alone, because it has a clause of its own.
        return name != "in:unbuffer" and super().has_capability(name)


@mutant("unbuf.release")
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
