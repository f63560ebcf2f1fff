"""Filesystem over an in-memory source, to run the whole suite on S3 streams in seconds."""

from __future__ import annotations

import io
from collections.abc import Iterator
from functools import partial
from typing import Any

from fscontract.contract.api.errors import PathIOException
from fscontract.contract.api.filesystem import FileStatus, FSDataInputStream
from fscontract.implementations.filesystem_base import (
    PendingFile,
    ReferenceFileSystem,
    normalize,
    not_found,
)
from fscontract.implementations.openfile_builder import OpenOptions
from fscontract.implementations.s3.config import S3Config
from fscontract.implementations.s3.filesystem import Reader, checked
from fscontract.implementations.s3.input_stream import S3InputStream
from tests.implementations.s3.memorysource import BUCKET, MemorySource, etag_of


class _Body(io.RawIOBase):
    def __init__(self) -> None:
        self.content = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.content += data
        return len(memoryview(data))


class MemoryS3(ReferenceFileSystem):
    """In-memory objects read through S3InputStream; implements only what the suite needs."""

    def __init__(self, config: S3Config | None = None, piece: int = 1 << 20) -> None:
        super().__init__()
        self.source = MemorySource(piece)
        self._reader = Reader(config or S3Config(BUCKET), lambda: self.source)
        self._directories: set[str] = set()

    def _open(self, path: str, options: OpenOptions) -> S3InputStream:
        return self._reader.open(path, options)

    def open(self, path: str, buffer_size: int | None = None) -> FSDataInputStream:
        """Send the first request, as S3FileSystem does."""
        return checked(super().open(path, buffer_size))

    def create(self, path: str, overwrite: bool = True) -> io.BufferedIOBase:
        """See the base class."""
        body = _Body()
        publish = partial(self._put, normalize(path)[1:], body)
        return PendingFile(body, publish, body.content.clear)

    def _put(self, key: str, body: _Body) -> None:
        self.source.objects[key] = bytes(body.content)

    def get_file_status(self, path: str) -> FileStatus:
        """See the base class."""
        self._statistics.count("op_get_file_status")
        if path in self._directories:
            return FileStatus(path, 0, is_directory=True)
        data = self.source.objects.get(path[1:])
        if data is None:
            raise not_found(path)
        return FileStatus(path, len(data), etag=etag_of(data))

    def list_status(self, path: str) -> Iterator[FileStatus]:
        """Return no entries."""
        return iter(())

    def mkdirs(self, path: str) -> None:
        """See the base class."""
        self._directories.add(path)

    def delete(self, path: str, recursive: bool = False) -> bool:
        """See the base class."""
        self._directories.discard(path)
        return self.source.objects.pop(path[1:], None) is not None

    def rename(self, source: str, target: str) -> None:
        """Rename an object."""
        if source[1:] not in self.source.objects:
            raise PathIOException(source, "no such object")
        self.source.objects[target[1:]] = self.source.objects.pop(source[1:])

    def as_fsspec(self) -> Any:
        """Return None."""
        raise NotImplementedError
