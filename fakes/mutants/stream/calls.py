"""Reads as calls with their arguments, so that a mutant of several methods is one function.

A mutant of `pread`, for example, is a function of an ArrayRead. It may change the arguments, makes
the correct call by `proceed()`, and returns the result for its caller.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fscontract.contract.api.filesystem import (
    Allocate,
    Buffer,
    ByteBuffer,
    FileRange,
    Release,
    no_release,
)
from fscontract.fakes.mutants.registry import Operation, right
from fscontract.implementations.memory import MemoryInputStream


@dataclass
class ArrayRead:
    """A call of read(), pread() or readFully() into an array; read() has no position."""

    stream: MemoryInputStream
    position: int
    buffer: Buffer
    offset: int
    length: int | None
    _read: Callable[[ArrayRead], int]

    def proceed(self) -> int:
        """Make the call, and return the number of delivered bytes, -1 for the end."""
        return self._read(self)

    def delivered(self, count: int) -> slice:
        """Return the place of `count` delivered bytes in the buffer."""
        return slice(self.offset, self.offset + count)


@dataclass
class BufferRead:
    """A call of read(), pread() or readFully() into a ByteBuffer; read() has no position."""

    stream: MemoryInputStream
    position: int
    buffer: ByteBuffer
    _read: Callable[[BufferRead], int]

    def proceed(self) -> int:
        """Make the call, and return the number of delivered bytes, -1 for the end."""
        return self._read(self)


@dataclass
class VectoredRead:
    """A call of readVectored()."""

    stream: MemoryInputStream
    ranges: Sequence[FileRange]
    allocate: Allocate
    release: Release

    def proceed(self) -> None:
        """Make the call."""
        right(self.stream).read_vectored(self.ranges, self.allocate, self.release)


_ArrayFunction = Callable[[ArrayRead], int]
_BufferFunction = Callable[[BufferRead], int]
_VectoredFunction = Callable[[VectoredRead], None]


def _read_into(function: _ArrayFunction) -> Callable[..., int]:
    def proceed(call: ArrayRead) -> int:
        return right(call.stream).read_into(call.buffer, call.offset, call.length)

    def read_into(
        self: MemoryInputStream, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> int:
        return function(ArrayRead(self, 0, buffer, offset, length, proceed))

    return read_into


def _pread(function: _ArrayFunction) -> Callable[..., int]:
    def proceed(call: ArrayRead) -> int:
        return right(call.stream).pread(call.position, call.buffer, call.offset, call.length)

    def pread(
        self: MemoryInputStream,
        position: int,
        buffer: Buffer,
        offset: int = 0,
        length: int | None = None,
    ) -> int:
        return function(ArrayRead(self, position, buffer, offset, length, proceed))

    return pread


def _read_fully(function: _ArrayFunction) -> Callable[..., None]:
    def proceed(call: ArrayRead) -> int:
        right(call.stream).read_fully(call.position, call.buffer, call.offset, call.length)
        return len(call.buffer) - call.offset if call.length is None else call.length

    def read_fully(
        self: MemoryInputStream,
        position: int,
        buffer: Buffer,
        offset: int = 0,
        length: int | None = None,
    ) -> None:
        function(ArrayRead(self, position, buffer, offset, length, proceed))

    return read_fully


def _read_buffer(function: _BufferFunction) -> Callable[..., int]:
    def proceed(call: BufferRead) -> int:
        return right(call.stream).read_buffer(call.buffer)

    def read_buffer(self: MemoryInputStream, buffer: ByteBuffer) -> int:
        return function(BufferRead(self, 0, buffer, proceed))

    return read_buffer


def _pread_buffer(function: _BufferFunction) -> Callable[..., int]:
    def proceed(call: BufferRead) -> int:
        return right(call.stream).pread_buffer(call.position, call.buffer)

    def pread_buffer(self: MemoryInputStream, position: int, buffer: ByteBuffer) -> int:
        return function(BufferRead(self, position, buffer, proceed))

    return pread_buffer


def _read_fully_buffer(function: _BufferFunction) -> Callable[..., None]:
    def proceed(call: BufferRead) -> int:
        remaining = 0 if call.buffer is None else call.buffer.remaining
        right(call.stream).read_fully_buffer(call.position, call.buffer)
        return remaining

    def read_fully_buffer(self: MemoryInputStream, position: int, buffer: ByteBuffer) -> None:
        function(BufferRead(self, position, buffer, proceed))

    return read_fully_buffer


def _read_vectored(function: _VectoredFunction) -> Callable[..., None]:
    def read_vectored(
        self: MemoryInputStream,
        ranges: Sequence[FileRange],
        allocate: Allocate = bytearray,
        release: Release = no_release,
    ) -> None:
        function(VectoredRead(self, ranges, allocate, release))

    return read_vectored


READ_INTO = Operation(MemoryInputStream, "read_into", _read_into)
PREAD = Operation(MemoryInputStream, "pread", _pread)
READ_FULLY = Operation(MemoryInputStream, "read_fully", _read_fully)
READ_BUFFER = Operation(MemoryInputStream, "read_buffer", _read_buffer)
PREAD_BUFFER = Operation(MemoryInputStream, "pread_buffer", _pread_buffer)
READ_FULLY_BUFFER = Operation(MemoryInputStream, "read_fully_buffer", _read_fully_buffer)
READ_VECTORED = Operation(MemoryInputStream, "read_vectored", _read_vectored)
