"""A file in memory, sent along with the task that reads it: what stands for a store in tests."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

from fscontract.contract.errors import (
    FileNotFoundException,
    RemoteFileChangedException,
    UnsupportedOperationException,
)
from fscontract.contract.ports import FileStatus
from fscontract.implementations.filesystem import (
    ReferenceFileSystem,
    denied,
    normalize,
    not_a_file,
    not_found,
)
from fscontract.implementations.memory import MemoryFileSystem, MemoryInputStream
from fscontract.implementations.options import OpenOptions


@dataclass(frozen=True)
class Image:
    """What lies at one path: a file's `data`, or None; `status` is None if nothing is there."""

    path: str
    status: FileStatus | None = None
    data: bytes | None = None
    readable: bool = True

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.path!r})"


def image_of(filesystem: MemoryFileSystem, path: str) -> Image:
    """What lies at a path now."""
    path = normalize(path)
    try:
        status = filesystem.get_file_status(path)
        if status.is_directory:
            return Image(path, status)
        with filesystem.open(path) as stream:
            data = bytearray(status.length)
            stream.read_fully(0, data)
        return Image(path, status, bytes(data))
    except FileNotFoundException:
        return Image(path)
    except PermissionError:
        return Image(path, status, readable=False)


class ShippedInputStream(MemoryInputStream):
    """A stream over an image."""

    def __init__(self, image: Image, data: bytes, declared: int | None) -> None:
        super().__init__(data, image.path, declared)
        self._etag = None if image.status is None else image.status.etag

    @property
    def etag(self) -> str | None:
        """Which version of the file is read."""
        return self._etag


class ShippedFileSystem(ReferenceFileSystem):
    """The one file of an image, to read and nothing else."""

    def __init__(self, image: Image) -> None:
        super().__init__()
        self._image = image

    def _open(self, path: str, options: OpenOptions) -> ShippedInputStream:
        image = self._image
        status = self.get_file_status(path)
        if status.is_directory:
            raise not_a_file(path)
        if image.data is None:
            raise denied(path)
        if options.etag is not None and options.etag != status.etag:
            raise RemoteFileChangedException(path, "not the file that the status is of")
        return ShippedInputStream(image, image.data, options.length)

    def get_file_status(self, path: str) -> FileStatus:
        """The status of the image; FileNotFoundException for all other paths."""
        status = self._image.status
        if status is None or normalize(path) != self._image.path:
            raise not_found(path)
        return status

    def list_status(self, path: str) -> Iterator[FileStatus]:
        """The file itself."""
        return iter([self.get_file_status(path)])

    def create(self, path: str, overwrite: bool = True) -> io.BufferedIOBase:
        """UnsupportedOperationException, as for everything that writes."""
        _reject(path)

    def mkdirs(self, path: str) -> None:
        """UnsupportedOperationException."""
        _reject(path)

    def delete(self, path: str, recursive: bool = False) -> bool:
        """UnsupportedOperationException."""
        _reject(path)

    def rename(self, source: str, target: str) -> None:
        """UnsupportedOperationException."""
        _reject(source)

    def as_fsspec(self) -> Any:
        """UnsupportedOperationException."""
        _reject(self._image.path)


def _reject(path: str) -> NoReturn:
    raise UnsupportedOperationException(f"a file sent with a task is there to be read: {path!r}")
