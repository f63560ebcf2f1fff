"""Mistakes of users, for type checkers: each has to be seen, and so what it is about is no Any.

An `ignore` that nothing needs is an error in itself. It is never run.
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
    """A stream is made of bytes."""
    MemoryInputStream("abc")  # type: ignore[arg-type]


def positions_are_numbers(stream: FSDataInputStream) -> str:
    """Where a stream is, is an int; so is where it is to go."""
    stream.seek("0")  # type: ignore[arg-type]
    return stream.get_pos()  # type: ignore[return-value]


def buffers_can_be_written(stream: FSDataInputStream) -> None:
    """Bytes can't."""
    stream.read_into(b"abc")  # type: ignore[arg-type]
    stream.read_buffer(bytearray(3))  # type: ignore[arg-type]
    ByteBuffer.allocate("16")  # type: ignore[arg-type]


def ranges_are_objects(stream: FSDataInputStream) -> None:
    """Pairs will not do."""
    stream.read_vectored([(0, 4)])  # type: ignore[list-item]
    FileRange(0)  # type: ignore[call-arg]


def a_future_is_no_stream(filesystem: FileSystem) -> FSDataInputStream:
    """The stream is its result."""
    return filesystem.open_file("/data").build()  # type: ignore[return-value]


def methods_are_known(filesystem: MemoryFileSystem) -> None:
    """A misspelt one is not."""
    filesystem.opne("/data")  # type: ignore[attr-defined]


def arguments_are_known() -> None:
    """As are their types."""
    conformance(MemoryFileSystem, profil="reference")  # type: ignore[call-arg]
    conformance(MemoryFileSystem, seed="0")  # type: ignore[arg-type]
    S3FileSystem(5)  # type: ignore[arg-type]
    open_file(None)  # type: ignore[call-arg]
    MetadataTable()  # type: ignore[call-arg]
    TimeBasedDirectoryScanner()  # type: ignore[call-arg]
