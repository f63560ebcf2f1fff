"""Locations of files that executors read, as small values that are sent to them.

A value tells how to make the filesystem. It holds no key and no open connection: the keys of S3
are looked for where the filesystem is made, in the environment, the files of AWS or a role.
"""

from __future__ import annotations

import io
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn
from urllib.parse import unquote, urlsplit

from fscontract.contract.api.errors import (
    FileNotFoundException,
    IllegalArgumentException,
    RemoteFileChangedException,
    UnsupportedOperationException,
)
from fscontract.contract.api.filesystem import FileStatus
from fscontract.implementations.filesystem_base import (
    ReferenceFileSystem,
    denied,
    normalize,
    not_a_file,
    not_found,
)
from fscontract.implementations.local import LocalFileSystem
from fscontract.implementations.memory import MemoryFileSystem, MemoryInputStream
from fscontract.implementations.openfile_builder import OpenOptions

if TYPE_CHECKING:
    from fscontract.implementations.s3.config import S3Config


@dataclass(frozen=True)
class InlineFile:
    """What lies at one path: a file's `data`, or None; `status` is None if nothing is there."""

    path: str
    status: FileStatus | None = None
    data: bytes | None = None
    readable: bool = True

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.path!r})"


def inline_file(filesystem: MemoryFileSystem, path: str) -> InlineFile:
    """What lies at a path now."""
    path = normalize(path)
    try:
        status = filesystem.get_file_status(path)
        if status.is_directory:
            return InlineFile(path, status)
        with filesystem.open(path) as stream:
            data = bytearray(status.length)
            stream.read_fully(0, data)
        return InlineFile(path, status, bytes(data))
    except FileNotFoundException:
        return InlineFile(path)
    except PermissionError:
        return InlineFile(path, status, readable=False)


class InlineInputStream(MemoryInputStream):
    """A stream over an inline file."""

    def __init__(self, file: InlineFile, data: bytes, declared: int | None) -> None:
        super().__init__(data, file.path, declared)
        self._etag = None if file.status is None else file.status.etag

    @property
    def etag(self) -> str | None:
        """Which version of the file is read."""
        return self._etag


class InlineFileSystem(ReferenceFileSystem):
    """One inline file, to read and nothing else."""

    def __init__(self, file: InlineFile) -> None:
        super().__init__()
        self._file = file

    def _open(self, path: str, options: OpenOptions) -> InlineInputStream:
        file = self._file
        status = self.get_file_status(path)
        if status.is_directory:
            raise not_a_file(path)
        if file.data is None:
            raise denied(path)
        if options.etag is not None and options.etag != status.etag:
            raise RemoteFileChangedException(path, "not the file that the status is of")
        return InlineInputStream(file, file.data, options.length)

    def get_file_status(self, path: str) -> FileStatus:
        """The status of the file; FileNotFoundException for all other paths."""
        status = self._file.status
        if status is None or normalize(path) != self._file.path:
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
        _reject(self._file.path)


def _reject(path: str) -> NoReturn:
    raise UnsupportedOperationException(f"a file sent with a task is there to be read: {path!r}")


class FileLocation(ABC):
    """How to make a filesystem, in this process or another one; equal ones make equal ones."""

    #: Whether a worker keeps the filesystem for tasks to come.
    cached: ClassVar[bool] = True

    @abstractmethod
    def make(self) -> ReferenceFileSystem:
        """A new filesystem."""

    def for_path(self, path: str) -> FileLocation:
        """What has to be sent to read one path."""
        return self

    @property
    def pins(self) -> bool:
        """Whether a stream stays with the version that it began to read."""
        return True


@dataclass(frozen=True)
class LocalLocation(FileLocation):
    """The files below `root`, which every executor sees at the same path."""

    root: str = "/"
    strategy: str | None = None

    def make(self) -> LocalFileSystem:
        """A new filesystem."""
        return LocalFileSystem(self.root, self.strategy)


@dataclass(frozen=True)
class S3Location(FileLocation):
    """A bucket. A pickle has no keys: see S3Config."""

    config: S3Config

    def make(self) -> ReferenceFileSystem:
        """A new filesystem."""
        from fscontract.implementations.s3.filesystem import S3FileSystem

        return S3FileSystem.of(self.config)

    @property
    def pins(self) -> bool:
        """Not if streams are to follow a new version."""
        return self.config.on_change != "follow"


@dataclass(frozen=True)
class InlineLocation(FileLocation):
    """One file that is sent along."""

    cached: ClassVar[bool] = False
    file: InlineFile

    def make(self) -> InlineFileSystem:
        """A new filesystem."""
        return InlineFileSystem(self.file)


class MemoryLocation(FileLocation):
    """Files in the memory of this process, each of which is sent with the tasks that read it."""

    def __init__(self, filesystem: MemoryFileSystem | None = None) -> None:
        self._filesystem = filesystem or MemoryFileSystem()

    def make(self) -> MemoryFileSystem:
        """The filesystem, always the same one."""
        return self._filesystem

    def for_path(self, path: str) -> InlineLocation:
        """The file as it is now."""
        return InlineLocation(inline_file(self._filesystem, path))

    def __reduce__(self) -> Any:
        raise UnsupportedOperationException(
            "files in memory are not sent all together: pickle a stream, or a builder"
        )


def location_of(inner: Any, options: Mapping[str, Any] | None = None) -> FileLocation:
    """Return the location that a URL, one of our filesystems, or an S3Config stands for.

    URLs are `memory:`, `file:///directory` and `s3://bucket`, whose `options` are those of S3.
    IllegalArgumentException for anything else.
    """
    if options and not str(inner).startswith("s3://"):
        raise IllegalArgumentException("options are for the URL of a bucket")
    if isinstance(inner, FileLocation):
        return inner
    if isinstance(inner, str):
        return _of_url(inner, options or {})
    if isinstance(inner, MemoryFileSystem):
        return MemoryLocation(inner)
    if isinstance(inner, LocalFileSystem):
        return LocalLocation(inner.root, inner.strategy)
    config = getattr(inner, "config", inner)  # of an S3FileSystem, whose module may not be loaded
    if type(config).__name__ == "S3Config":
        return S3Location(config)
    raise IllegalArgumentException(f"no place that executors can read: {type(inner).__name__}")


def _of_url(url: str, options: Mapping[str, Any]) -> FileLocation:
    parts = urlsplit(url)
    if parts.scheme == "memory" and not parts.netloc and parts.path in ("", "/"):
        return MemoryLocation()
    if parts.scheme == "file" and not parts.netloc and parts.path.startswith("/"):
        return LocalLocation(unquote(parts.path))
    bare = not (parts.query or parts.fragment or "@" in parts.netloc)
    if parts.scheme == "s3" and parts.netloc and bare and parts.path in ("", "/"):
        from fscontract.implementations.s3.config import S3Config

        return S3Location(S3Config.of(parts.netloc, options))
    raise IllegalArgumentException(
        f"{parts.scheme or 'no scheme'}: executors read memory:, file:///directory and s3://bucket"
    )
