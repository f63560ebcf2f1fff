"""Code of users, for mypy: it is checked with the tests and never run."""

from __future__ import annotations

import io

from fscontract import (
    ByteBuffer,
    FileRange,
    FileSystem,
    FSDataInputStream,
    LocalFileSystem,
    LocalInputStream,
    MemoryFileSystem,
    MemoryInputStream,
    conformance,
)
from fscontract.errors import EOFException


def read_tail(filesystem: FileSystem, path: str, size: int) -> bytes:
    """Read the last bytes of a file through the interface."""
    length = filesystem.get_file_status(path).length
    buffer = bytearray(min(size, length))
    with filesystem.open(path) as stream:
        stream.read_fully(length - len(buffer), buffer)
    return bytes(buffer)


def read_ranges(stream: FSDataInputStream) -> list[memoryview]:
    """Read two ranges at once."""
    ranges = [FileRange(0, 4), FileRange(100, 4)]
    stream.read_vectored(ranges)
    return [r.data.result() for r in ranges if r.data is not None]


def fill(stream: FSDataInputStream) -> int:
    """Read into a ByteBuffer."""
    try:
        return stream.read_buffer(ByteBuffer.allocate(16))
    except EOFException as error:
        raise OSError("short") from error


def open_with_options(filesystem: FileSystem) -> io.RawIOBase:
    """Open a file with options, as a Python file."""
    builder = filesystem.open_file("/data").opt("fs.option.openfile.read.policy", "random")
    return builder.opt_long("fs.option.openfile.length", 10).build().result().as_file()


def filesystems() -> list[FileSystem]:
    """Return both reference filesystems as filesystems."""
    return [MemoryFileSystem(), LocalFileSystem("/data")]


class Clamping(MemoryInputStream):
    """A stream of the user that reads the bytes of the file from `data`."""

    def seek(self, position: int) -> None:
        """Move to the end at most."""
        super().seek(min(position, len(self.data)))


class Counting(LocalInputStream):
    """A stream over a local file."""


def own_streams() -> list[FileSystem]:
    """Open files as streams of the user's class."""
    return [
        MemoryFileSystem(stream_class=Clamping),
        LocalFileSystem("/data", stream_class=Counting),
    ]


stream: FSDataInputStream = MemoryInputStream(b"abc")
test_contract = conformance(MemoryFileSystem, profile="reference", clauses=["seek", "pread.*"])
