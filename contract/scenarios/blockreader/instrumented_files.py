"""Files in memory whose streams read short, fail, and log their calls, as a scenario sets them.

The port of a block reader provides no filesystem, so these files are not instrumented from outside.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from typing import Any, NoReturn

from fscontract.contract.api.errors import (
    EOFException,
    FileNotFoundException,
    UnsupportedOperationException,
)
from fscontract.contract.api.filesystem import (
    Allocate,
    Buffer,
    ByteBuffer,
    FileRange,
    FileStatus,
    FileSystem,
    FSDataInputStream,
    FutureDataInputStreamBuilder,
    Release,
    no_release,
)


class TooManyCalls(Exception):
    """A reader makes more calls than its work can need: it would never end."""


class InstrumentedFiles(FileSystem):
    """Files that can only be read.

    `shorts` limits the bytes of one read after the other, cyclically; `fail` may raise before a
    read at a position. A reader that makes more than `patience` reads is stopped.
    """

    def __init__(self, files: dict[str, bytes], patience: int = 20_000) -> None:
        self.files = files
        self.shorts: Sequence[int] = ()
        self.fail: Callable[[int], None] = lambda position: None
        self.patience = patience
        self.block_size = 128
        #: The lengths of statuses, where they are wrong.
        self.stated: dict[str, int] = {}
        self.opened: list[InstrumentedBuilder] = []
        self.streams: list[InstrumentedStream] = []
        self.max_open = 0
        #: The end of the furthest read.
        self.furthest = 0
        self.reads = 0

    @property
    def open_streams(self) -> int:
        """How many streams are open."""
        return sum(not stream.closed for stream in self.streams)

    def limit_read(self, position: int, length: int) -> int:
        """Log a read, and return how many bytes it may give."""
        self.reads += 1
        if self.reads > self.patience:
            raise TooManyCalls(f"more than {self.patience} reads")
        self.fail(position)
        if not self.shorts:
            return length
        return min(length, self.shorts[self.reads % len(self.shorts)])

    def open_file(self, path: str) -> FutureDataInputStreamBuilder[FSDataInputStream]:
        """A builder that remembers what it is told."""
        return InstrumentedBuilder(self, path)

    def open(self, path: str, buffer_size: int | None = None) -> FSDataInputStream:
        """A stream, without a builder."""
        if path not in self.files:
            raise FileNotFoundException(path, "no such file")
        self.streams.append(InstrumentedStream(self, self.files[path]))
        self.max_open = max(self.max_open, self.open_streams)
        return self.streams[-1]

    def get_file_status(self, path: str) -> FileStatus:
        """What there is, or what the scenario says there is."""
        if path not in self.files:
            raise FileNotFoundException(path, "no such file")
        length = self.stated.get(path, len(self.files[path]))
        return FileStatus(path, length, block_size=self.block_size)

    def list_status(self, path: str) -> Iterator[FileStatus]:
        """Nothing lists here."""
        _unsupported()

    def create(self, path: str, overwrite: bool = True) -> io.BufferedIOBase:
        """Nothing is written."""
        _unsupported()

    def mkdirs(self, path: str) -> None:
        """Nothing is written."""
        _unsupported()

    def delete(self, path: str, recursive: bool = False) -> bool:
        """Nothing is deleted."""
        _unsupported()

    def rename(self, source: str, target: str) -> None:
        """Nothing is moved."""
        _unsupported()

    def as_fsspec(self) -> Any:
        """There is no such view."""
        _unsupported()


class InstrumentedBuilder(FutureDataInputStreamBuilder[FSDataInputStream]):
    """Remembers `options` and the `status`, and opens as `open` does."""

    def __init__(self, files: InstrumentedFiles, path: str) -> None:
        self._files = files
        self.path = path
        self.options: dict[str, object] = {}
        self.status: FileStatus | None = None

    def opt(self, key: str, value: str | int | bool) -> InstrumentedBuilder:
        """Remember it."""
        self.options[key] = value
        return self

    def must(self, key: str, value: str | int | bool) -> InstrumentedBuilder:
        """Remember it."""
        return self.opt(key, value)

    def opt_long(self, key: str, value: int) -> InstrumentedBuilder:
        """Remember it."""
        return self.opt(key, value)

    def must_long(self, key: str, value: int) -> InstrumentedBuilder:
        """Remember it."""
        return self.opt(key, value)

    def opt_double(self, key: str, value: float) -> InstrumentedBuilder:
        """Remember it."""
        return self.opt(key, int(value))

    def must_double(self, key: str, value: float) -> InstrumentedBuilder:
        """Remember it."""
        return self.opt(key, int(value))

    def buffer_size(self, size: int) -> InstrumentedBuilder:
        """It makes no difference here."""
        return self

    def with_file_status(self, status: FileStatus | None) -> InstrumentedBuilder:
        """Remember it."""
        self.status = status
        return self

    def build(self) -> Future[FSDataInputStream]:
        """Open the file."""
        future: Future[FSDataInputStream] = Future()
        self._files.opened.append(self)
        try:
            future.set_result(self._files.open(self.path))
        except OSError as error:
            future.set_exception(error)
        return future


class InstrumentedStream(FSDataInputStream):
    """Reads bytes as the files are set to."""

    def __init__(self, files: InstrumentedFiles, data: bytes) -> None:
        self._files = files
        self._data = data
        self._position = 0
        self.closed = False

    def close(self) -> None:
        """Remember it."""
        self.closed = True

    def get_pos(self) -> int:
        """The position."""
        return self._position

    def seek(self, position: int) -> None:
        """Go there; EOFException outside."""
        self._check()
        if not 0 <= position <= len(self._data):
            raise EOFException(f"can't seek to {position} of {len(self._data)}")
        self._position = position

    def seek_to_new_source(self, position: int) -> bool:
        """There is one source."""
        return False

    def read_byte(self) -> int:
        """The next byte, -1 at the end."""
        byte = bytearray(1)
        return byte[0] if self.read_into(byte) == 1 else -1

    def read_into(self, buffer: Buffer, offset: int = 0, length: int | None = None) -> int:
        """Read as many bytes as the files allow."""
        count = self.pread(self._position, buffer, offset, length)
        self._position += max(count, 0)
        return count

    def skip(self, count: int) -> int:
        """Go on."""
        step = max(0, min(count, len(self._data) - self._position))
        self._position += step
        return step

    def available(self) -> int:
        """Nobody knows."""
        return 0

    def pread(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> int:
        """Read as many bytes as the files allow."""
        self._check()
        remaining = len(buffer) - offset if length is None else length
        if remaining == 0:
            return 0
        count = min(self._files.limit_read(position, remaining), len(self._data) - position)
        if count <= 0:
            return -1
        memoryview(buffer)[offset : offset + count] = self._data[position : position + count]
        self._files.furthest = max(self._files.furthest, position + count)
        return count

    def read_fully(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> None:
        """All bytes, by several reads."""
        end = len(buffer) - offset if length is None else length
        done = 0
        while done < end:
            count = self.pread(position + done, buffer, offset + done, end - done)
            if count < 0:
                raise EOFException(f"no {end} bytes at {position}")
            done += count

    def read_vectored(
        self,
        ranges: Sequence[FileRange],
        allocate: Allocate = bytearray,
        release: Release = no_release,
    ) -> None:
        """Not here."""
        _unsupported()

    def read_buffer(self, buffer: ByteBuffer) -> int:
        """Not here."""
        _unsupported()

    def pread_buffer(self, position: int, buffer: ByteBuffer) -> int:
        """Not here."""
        _unsupported()

    def read_fully_buffer(self, position: int, buffer: ByteBuffer) -> None:
        """Not here."""
        _unsupported()

    def unbuffer(self) -> None:
        """There is nothing to release."""

    def has_capability(self, name: str) -> bool:
        """It has none."""
        return False

    def as_file(self) -> io.RawIOBase:
        """Not here."""
        _unsupported()

    def _check(self) -> None:
        if self.closed:
            raise OSError("the stream is closed")


def _unsupported() -> NoReturn:
    raise UnsupportedOperationException("these files have no such operation")
