"""File access and exceptions of the metadata table."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from fscontract.contract.api.errors import PathIOException
from fscontract.contract.api.filesystem import FileRange, FileStatus, FileSystem, FSDataInputStream


class MetadataException(PathIOException):
    """A metadata table that can't be used."""


class CorruptFileException(MetadataException):
    """A damaged file; `offset` is the position where the damage was detected."""

    def __init__(self, path: str, offset: int, message: str) -> None:
        line = " ".join(message.split())  # those of libraries may have several
        super().__init__(path, f"{line}, at offset {offset}")
        self.offset = offset


class LockedException(MetadataException):
    """Another writer has locked the table."""


class RolledBackException(MetadataException):
    """Another writer rolled back the action, because it took it for a failed one."""


class MetadataWarning(UserWarning):
    """The metadata table is unusable or wrong, so files are listed; or it lacks ranges."""


#: Number of files read, or directories listed, concurrently.
_WORKERS = 8
_A = TypeVar("_A")
_B = TypeVar("_B")


def read_file(fs: FileSystem, path: str) -> bytes:
    """Return the bytes of a file; raise FileNotFoundException."""
    with fs.open(path) as stream, stream.as_file() as file:
        return file.read()


def write_file(fs: FileSystem, path: str, content: bytes, replace: bool = False) -> None:
    """Write a whole file; raise FileAlreadyExistsException if it exists, unless `replace`."""
    with create_file(fs, path, replace) as file:
        file.write(content)


def create_file(fs: FileSystem, path: str, replace: bool = True) -> io.BufferedIOBase:
    """Create a file, without checking for a directory if the filesystem can skip that.

    In a table's directories, no file exists where a directory is required.
    """
    create: Callable[..., io.BufferedIOBase] = getattr(fs, "create_performance", fs.create)
    return create(path, overwrite=replace)


def remove_abandoned(fs: FileSystem, directory: str) -> list[str]:
    """Delete temporary files of killed writers below a directory, if the filesystem has them.

    Return their paths; none if the directory does not exist.
    """
    remove: Callable[[str], list[str]] | None = getattr(fs, "remove_abandoned", None)
    return [] if remove is None else remove(directory)


def sync_files(fs: FileSystem, paths: Iterable[str], below: str) -> None:
    """Sync files below a directory to disk, including those of other writers.

    Filesystems without such a call persist a file when it is closed.
    """
    sync: Callable[[Iterable[str], str], None] | None = getattr(fs, "sync", None)
    if sync is not None:
        sync(paths, below)


def in_threads(function: Callable[[_A], _B], items: Sequence[_A]) -> list[_B]:
    """Return the function's result for each item, computed in several threads."""
    if len(items) < 2:
        return [function(item) for item in items]
    with ThreadPoolExecutor(min(_WORKERS, len(items))) as pool:
        return list(pool.map(function, items))


def list_files(fs: FileSystem, directory: str) -> list[FileStatus]:
    """Return the files of a directory; none if it does not exist."""
    try:
        return [status for status in fs.list_status(directory) if not status.is_directory]
    except FileNotFoundError:
        return []


def open_stream(fs: FileSystem, status: FileStatus, policy: str = "random") -> FSDataInputStream:
    """Open a listed file without requesting its status again."""
    builder = fs.open_file(status.path).opt("fs.option.openfile.read.policy", policy)
    return builder.with_file_status(status).build().result()


class FileRegion:
    """`length` bytes of a file from `start`; offsets are relative to it, in errors to the file."""

    def __init__(self, stream: FSDataInputStream, path: str, length: int, start: int = 0) -> None:
        self.path = path
        self.length = length
        self._stream = stream
        self._start = start

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.path!r}, {self._start}, {self.length})"

    def part(self, offset: int, length: int) -> FileRegion:
        """Return a sub-region; raise CorruptFileException if it exceeds this region."""
        self.check(offset, length)
        return FileRegion(self._stream, self.path, length, self._start + offset)

    def read(self, offset: int, length: int) -> bytes:
        """Return the bytes of one range, with one positioned read."""
        self.check(offset, length)
        buffer = bytearray(length)
        if length:
            try:
                self._stream.read_fully(self._start + offset, buffer)
            except EOFError as error:
                raise self.corrupt(offset, f"EOF within {length} bytes") from error
        return bytes(buffer)

    def read_many(self, ranges: Sequence[tuple[int, int]]) -> list[bytes]:
        """Return the bytes of non-overlapping ranges (offset, length), with one vectored read."""
        if len(ranges) < 2:
            return [self.read(offset, length) for offset, length in ranges]
        for offset, length in ranges:
            self.check(offset, length)
        requests = [FileRange(self._start + offset, length) for offset, length in ranges]
        self._stream.read_vectored(requests)
        return [self._result(request) for request in requests]

    def check(self, offset: int, length: int) -> None:
        """Raise CorruptFileException for a range that exceeds this region."""
        if offset < 0 or length < 0 or offset + length > self.length:
            message = f"{length} bytes at offset {self._start + offset} exceed the file"
            raise self.corrupt(max(0, min(offset, self.length)), message)

    def corrupt(self, offset: int, message: str) -> CorruptFileException:
        """Return the error for damage at an offset."""
        return CorruptFileException(self.path, self._start + offset, message)

    def _result(self, request: FileRange) -> bytes:
        if request.data is None:
            raise self.corrupt(request.offset - self._start, "vectored read returned no data")
        try:
            return bytes(request.data.result())
        except EOFError as error:
            message = f"EOF within {request.length} bytes"
            raise self.corrupt(request.offset - self._start, message) from error
