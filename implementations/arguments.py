"""The argument checks of every stream of ours, in one place."""

from __future__ import annotations

from collections.abc import Sequence

from fscontract.contract.bytebuffer import ByteBuffer
from fscontract.contract.errors import (
    EOFException,
    IllegalArgumentException,
    IndexOutOfBoundsException,
    NullPointerException,
)
from fscontract.contract.ports import Allocate, Buffer, FileRange, Release


def stream_length(buffer: Buffer, offset: int, length: int | None) -> int:
    """How many bytes a stream read may put at `offset` of `buffer` (InputStream.read(b, o, l)).

    NullPointerException without a buffer, IndexOutOfBoundsException for a range outside it.
    """
    if buffer is None:
        raise NullPointerException("no buffer to read into")
    space = len(buffer) - offset
    if length is None:
        length = space
    if offset < 0 or not 0 <= length <= space:
        raise _outside(buffer, offset, length)
    return length


def positioned_length(position: int, buffer: Buffer, offset: int, length: int | None) -> int:
    """How many bytes a positioned read may put at `offset` of `buffer` (PositionedReadable).

    IllegalArgumentException without a buffer or for a negative length, IndexOutOfBoundsException
    for a range outside the buffer, EOFException for a negative position; in this order.
    """
    if buffer is None:
        raise IllegalArgumentException("no buffer to read into")
    space = len(buffer) - offset
    if length is None:
        length = max(space, 0)
    if length < 0:
        raise IllegalArgumentException(f"length {length} is negative")
    if offset < 0 or length > space:
        raise _outside(buffer, offset, length)
    if position < 0:
        raise negative_position(position)
    return length


def buffer_window(buffer: ByteBuffer, position: int = 0) -> memoryview:
    """The bytes a read may fill; NullPointerException, EOFException for a negative position."""
    if buffer is None:
        raise NullPointerException("no ByteBuffer to read into")
    if position < 0:
        raise negative_position(position)
    return buffer.window()


def vectored_ranges(
    ranges: Sequence[FileRange], allocate: Allocate, release: Release, size: int
) -> None:
    """Check the arguments of a vectored read of a file of `size` bytes (readVectored).

    NullPointerException for anything missing, EOFException for a range that starts before the
    file or ends after it, IllegalArgumentException for a negative length or an overlap.
    """
    for name, value in (("ranges", ranges), ("allocate", allocate), ("release", release)):
        if value is None:
            raise NullPointerException(f"read_vectored without {name}")
    for item in ranges:
        if item is None:
            raise NullPointerException("a range is missing")
        if item.length < 0:
            raise IllegalArgumentException(f"length {item.length} of a range is negative")
        if item.offset < 0:
            raise negative_position(item.offset)
    end = 0
    for offset, length in sorted((item.offset, item.length) for item in ranges):
        if offset < end:
            raise IllegalArgumentException(f"range [{offset}, {offset + length}) overlaps another")
        end = offset + length
    if end > size:
        raise EOFException(f"a range ends at {end}, the file at {size}")


def negative_position(position: int) -> EOFException:
    """The error for a position before the file's first byte."""
    return EOFException(f"position {position} is negative")


def _outside(buffer: Buffer, offset: int, length: int) -> IndexOutOfBoundsException:
    return IndexOutOfBoundsException(
        f"offset {offset} and length {length} do not fit a buffer of {len(buffer)} bytes"
    )
