"""Mistakes of users that type checkers must find; it is never run.

Each `ignore` must be needed: an unneeded one is an error, so nothing here is typed as Any.
"""

from __future__ import annotations

from fscontract import (
    ByteBuffer,
    FileRange,
    FileSystem,
    FSDataInputStream,
    MemoryFileSystem,
    MemoryInputStream,
    S3FileSystem,
    conformance,
    open_file,
)
from fscontract.hudi import MetadataTable
from fscontract.splitter import TimeBasedDirectoryScanner


def texts_are_no_bytes() -> None:
    """Make a stream of text in place of bytes."""
    MemoryInputStream("abc")  # type: ignore[arg-type]


def positions_are_numbers(stream: FSDataInputStream) -> str:
    """Use a position as text, and text as a position."""
    stream.seek("0")  # type: ignore[arg-type]
    return stream.get_pos()  # type: ignore[return-value]


def buffers_can_be_written(stream: FSDataInputStream) -> None:
    """Read into bytes, which can't be written."""
    stream.read_into(b"abc")  # type: ignore[arg-type]
    stream.read_buffer(bytearray(3))  # type: ignore[arg-type]
    ByteBuffer.allocate("16")  # type: ignore[arg-type]


def ranges_are_objects(stream: FSDataInputStream) -> None:
    """Read pairs in place of ranges."""
    stream.read_vectored([(0, 4)])  # type: ignore[list-item]
    FileRange(0)  # type: ignore[call-arg]


def a_future_is_no_stream(filesystem: FileSystem) -> FSDataInputStream:
    """Use a future in place of its stream."""
    return filesystem.open_file("/data").build()  # type: ignore[return-value]


def methods_are_known(filesystem: MemoryFileSystem) -> None:
    """Call a misspelt method."""
    filesystem.opne("/data")  # type: ignore[attr-defined]


def arguments_are_known() -> None:
    """Pass arguments of the wrong type."""
    conformance(MemoryFileSystem, profil="reference")  # type: ignore[call-arg]
    conformance(MemoryFileSystem, seed="0")  # type: ignore[arg-type]
    S3FileSystem(5)  # type: ignore[arg-type]
    open_file(None)  # type: ignore[call-arg]
    MetadataTable()  # type: ignore[call-arg]
    TimeBasedDirectoryScanner()  # type: ignore[call-arg]
