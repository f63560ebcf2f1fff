"""File locations: small values, sent to executors, that create filesystems.

A location holds no keys and no open connections: S3 keys are found where the filesystem is created,
in the environment, the AWS files or a role.
"""

from __future__ import annotations

import io
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
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
    """Content of one path: a file's `data`, or None; `status` is None for a missing path."""

    path: str
    status: FileStatus | None = None
    data: bytes | None = None
    readable: bool = True

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.path!r})"


def inline_file(filesystem: MemoryFileSystem, path: str) -> InlineFile:
    """Return the current content of a path."""
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
    """Stream over an inline file."""

    def __init__(self, file: InlineFile, data: bytes, declared: int | None) -> None:
        super().__init__(data, file.path, declared)
        self._etag = None if file.status is None else file.status.etag

    @property
    def etag(self) -> str | None:
        """ETag of the version that is read."""
        return self._etag


class InlineFileSystem(ReferenceFileSystem):
    """Read-only filesystem with one inline file."""

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
            raise RemoteFileChangedException(
                path, "the status belongs to another version of the file"
            )
        return InlineInputStream(file, file.data, options.length)

    def get_file_status(self, path: str) -> FileStatus:
        """Return the status of the file; raise FileNotFoundException for all other paths."""
        status = self._file.status
        if status is None or normalize(path) != self._file.path:
            raise not_found(path)
        return status

    def list_status(self, path: str) -> Iterator[FileStatus]:
        """Yield the status of the file."""
        return iter([self.get_file_status(path)])

    def create(self, path: str, overwrite: bool = True) -> io.BufferedIOBase:
        """Raise UnsupportedOperationException, as all writing operations do."""
        _reject(path)

    def mkdirs(self, path: str) -> None:
        """Raise UnsupportedOperationException."""
        _reject(path)

    def delete(self, path: str, recursive: bool = False) -> bool:
        """Raise UnsupportedOperationException."""
        _reject(path)

    def rename(self, source: str, target: str) -> None:
        """Raise UnsupportedOperationException."""
        _reject(source)

    def as_fsspec(self) -> Any:
        """Raise UnsupportedOperationException."""
        _reject(self._file.path)


def _reject(path: str) -> NoReturn:
    raise UnsupportedOperationException(f"a file sent with a task is read-only: {path!r}")


class FileLocation(ABC):
    """Description that creates a filesystem in any process; equal locations create equal ones."""

    #: True if a worker keeps the filesystem for later tasks.
    cached: ClassVar[bool] = True

    @abstractmethod
    def make(self) -> ReferenceFileSystem:
        """Return a new filesystem."""

    def for_path(self, path: str) -> FileLocation:
        """Return the location to send for reading one path."""
        return self

    @property
    def pins(self) -> bool:
        """True if a stream stays with the version that it read first."""
        return True


@dataclass(frozen=True)
class LocalLocation(FileLocation):
    """Files below `root`, which every executor must see at the same path."""

    root: str = "/"
    strategy: str | None = None

    def make(self) -> LocalFileSystem:
        """Return a new filesystem."""
        return LocalFileSystem(self.root, self.strategy)


@dataclass(frozen=True)
class S3Location(FileLocation):
    """An S3 bucket. A pickle has no keys; see S3Config."""

    config: S3Config

    def make(self) -> ReferenceFileSystem:
        """Return a new filesystem."""
        from fscontract.implementations.s3.filesystem import S3FileSystem

        return S3FileSystem.of(self.config)

    @property
    def pins(self) -> bool:
        """False if streams follow a new version."""
        return self.config.on_change != "follow"


@dataclass(frozen=True)
class FsspecLocation(FileLocation):
    """A filesystem that fsspec opens at `url`.

    A pickle omits `credentials`; executors find them in their environment: see `variables`.
    """

    url: str
    options: tuple[tuple[str, str], ...] = ()
    credentials: tuple[tuple[str, str], ...] = field(default=(), repr=False)

    @classmethod
    def of(cls, url: str, options: Mapping[str, str]) -> FsspecLocation:
        """Return the location with storage options; raise IllegalArgumentException.

        The protocols must be known, and their packages installed.
        """
        from fscontract.contract.text import secrets_of
        from fscontract.implementations.fsspec_filesystem import check_protocols

        check_protocols(url)
        secret = {name: text for name, text in options.items() if secrets_of({name: text})}
        plain = {name: text for name, text in options.items() if name not in secret}
        return cls(url, tuple(sorted(plain.items())), tuple(sorted(secret.items())))

    def make(self) -> ReferenceFileSystem:
        """Return a new filesystem."""
        from fscontract.implementations.fsspec_filesystem import FsspecFileSystem

        filesystem = FsspecFileSystem.from_url(
            self.url, {**dict(self.options), **dict(self.credentials)}
        )
        filesystem.location = self
        return filesystem

    @property
    def variables(self) -> dict[str, str]:
        """Environment variables from which fsspec takes the credentials in another process."""
        # not at the top: executors may lack what it imports
        from fscontract.contract.untrusted import typed_value

        variables = {}
        for name, text in self.credentials:
            # a mapping has the options of another protocol of the chain
            whole = isinstance(typed_value(text), Mapping)
            key = name if whole else f"{self.url.partition(':')[0]}_{name}"
            variables[f"FSSPEC_{key.upper()}"] = text
        return variables

    @property
    def in_process(self) -> bool:
        """True if the files are in this process's memory."""
        return self.url.startswith("memory:")

    def __reduce__(self) -> Any:
        if self.in_process:
            raise UnsupportedOperationException(
                "memory: files are in the memory of one process; executors can't read them"
            )
        return FsspecLocation, (self.url, self.options)


#: Prefix of URLs that Hadoop's own client opens, such as `hadoop+hdfs://host:8020`.
HADOOP = "hadoop+"


@dataclass(frozen=True)
class HadoopClientLocation(FileLocation):
    """A filesystem that Hadoop's own client opens at `url`, in a JVM of each process.

    Credentials come from the files of HADOOP_CONF_DIR, and are never among the `options`.
    """

    url: str
    options: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, url: str, options: Mapping[str, str]) -> HadoopClientLocation:
        """Return the location with properties of Hadoop; raise IllegalArgumentException."""
        from fscontract.contract.text import secrets_of

        for name, text in options.items():
            if secrets_of({name: text}):
                raise IllegalArgumentException(
                    f"option {name!r} must not be set: credentials of Hadoop belong in "
                    "core-site.xml, in the directory that HADOOP_CONF_DIR names"
                )
        return cls(url, tuple(sorted(options.items())))

    def make(self) -> ReferenceFileSystem:
        """Return a new filesystem."""
        from fscontract.implementations.hadoop_filesystem import HadoopFileSystem

        return HadoopFileSystem(self.url, dict(self.options))


@dataclass(frozen=True)
class InlineLocation(FileLocation):
    """One file that is sent with the task."""

    cached: ClassVar[bool] = False
    file: InlineFile

    def make(self) -> InlineFileSystem:
        """Return a new filesystem."""
        return InlineFileSystem(self.file)


class MemoryLocation(FileLocation):
    """Files in the memory of this process; each is sent with the tasks that read it."""

    def __init__(self, filesystem: MemoryFileSystem | None = None) -> None:
        self._filesystem = filesystem or MemoryFileSystem()

    def make(self) -> MemoryFileSystem:
        """Return the filesystem, which is always the same object."""
        return self._filesystem

    def for_path(self, path: str) -> InlineLocation:
        """Return the file with its current content."""
        return InlineLocation(inline_file(self._filesystem, path))

    def __reduce__(self) -> Any:
        raise UnsupportedOperationException(
            "files in memory can't be pickled together; pickle a stream or a builder"
        )


def location_of(inner: Any, options: Mapping[str, Any] | None = None) -> FileLocation:
    """Return the location for a URL, a filesystem of this package, or an S3Config.

    URLs are `memory:`, `file:///directory` and `s3://bucket` with S3 `options`. Raise
    IllegalArgumentException for anything else.
    """
    if options and not str(inner).startswith("s3://"):
        raise IllegalArgumentException("options are allowed only with an s3:// URL")
    if isinstance(inner, FileLocation):
        return inner
    if isinstance(inner, str):
        return _of_url(inner, options or {})
    if isinstance(inner, MemoryFileSystem):
        return MemoryLocation(inner)
    if isinstance(inner, LocalFileSystem):
        return LocalLocation(inner.root, inner.strategy)
    if isinstance(location := getattr(inner, "location", None), FileLocation):
        return location
    # the config of an S3FileSystem, whose module may not be loaded
    config = getattr(inner, "config", inner)
    if type(config).__name__ == "S3Config":
        return S3Location(config)
    raise IllegalArgumentException(
        f"executors can't read {type(inner).__name__}; expected a URL, a memory, local or S3 "
        "filesystem, or an S3Config"
    )


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
        f"unsupported URL scheme: {parts.scheme or 'none'}; expected memory:, file:///directory "
        "or s3://bucket"
    )
