"""fsspec filesystem over S3 buckets, fscontract-s3://bucket/key."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from fscontract.contract.api.errors import (
    IllegalArgumentException,
    PathIOException,
    UnsupportedOperationException,
)
from fscontract.contract.api.filesystem import (
    FileStatus,
    FileSystem,
    FSDataInputStream,
    FutureDataInputStreamBuilder,
)
from fscontract.implementations.filesystem_base import path_elements
from fscontract.implementations.fsspec_adapter import _View
from fscontract.implementations.s3.config import S3Config
from fscontract.implementations.s3.filesystem import S3FileSystem

#: Options whose values are never shown.
_HIDDEN = ("fs", "access_key", "secret_key", "session_token")
_HIDDEN_ENDINGS = (".access.key", ".secret.key", ".session.token")


class Buckets(FileSystem):
    """Several buckets with the same options; the first path element is the bucket."""

    def __init__(self, options: Mapping[str, Any], *known: S3FileSystem) -> None:
        S3Config.of("any", options)  # reject invalid options early
        self._without_secrets = _without_secrets(options)
        self._make = _maker(dict(options))
        self._known = {fs.config.bucket: fs for fs in known}

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        return _rebuilt, (self._without_secrets, [fs.config for fs in self._known.values()])

    def close(self) -> None:
        """Close all connections and threads. A later call makes new ones."""
        for fs in list(self._known.values()):
            fs.close()

    def open(self, path: str, buffer_size: int | None = None) -> FSDataInputStream:
        """See the base class."""
        fs, inner = self._split(path)
        return fs.open(inner, buffer_size)

    def open_file(self, path: str) -> FutureDataInputStreamBuilder[FSDataInputStream]:
        """See the base class."""
        fs, inner = self._split(path)
        return fs.open_file(inner)

    def create(self, path: str, overwrite: bool = True) -> io.BufferedIOBase:
        """See the base class."""
        fs, inner = self._split(path)
        return fs.create(inner, overwrite)

    def get_file_status(self, path: str) -> FileStatus:
        """Return a status as the base class does; the root is a directory."""
        if not path_elements(path):
            return FileStatus("/", 0, is_directory=True)
        fs, inner = self._split(path)
        return _placed(fs, fs.get_file_status(inner))

    def list_status(self, path: str) -> Iterator[FileStatus]:
        """See the base class; raise PathIOException for the root: buckets can't be listed."""
        fs, inner = self._split(path)
        statuses = fs.list_status(inner)
        return (_placed(fs, status) for status in statuses)

    def mkdirs(self, path: str) -> None:
        """Create a directory as the base class does; buckets are not created."""
        fs, inner = self._split(path)
        fs.mkdirs(inner)

    def delete(self, path: str, recursive: bool = False) -> bool:
        """See the base class."""
        fs, inner = self._split(path)
        return fs.delete(inner, recursive)

    def rename(self, source: str, target: str) -> None:
        """See the base class; raise UnsupportedOperationException for different buckets."""
        fs, old = self._split(source)
        other, new = self._split(target)
        if fs is not other:
            raise UnsupportedOperationException(
                f"can't move between buckets: {source!r} to {target!r}"
            )
        fs.rename(old, new)

    def has_path_capability(self, path: str, name: str) -> bool:
        """See the base class; the root has no capabilities."""
        if not path_elements(path):
            return False
        fs, inner = self._split(path)
        return fs.has_path_capability(inner, name)

    def as_fsspec(self) -> S3Fsspec:
        """See the base class."""
        return S3Fsspec(fs=self)

    def _split(self, path: str) -> tuple[S3FileSystem, str]:
        elements = path_elements(path)
        if not elements:
            raise PathIOException(path, "missing bucket: expected /BUCKET/KEY")
        bucket = elements[0]
        if bucket not in self._known:
            self._known.setdefault(bucket, self._make(bucket))
        return self._known[bucket], "/" + "/".join(elements[1:])


class S3Fsspec(_View):
    """fsspec view of buckets: takes the options of S3FileSystem, or `fs`, one filesystem.

    Paths begin with the bucket in both cases. A pickle and `to_json` contain all options except
    keys.
    """

    protocol = "fscontract-s3"

    def __init__(self, fs: S3FileSystem | Buckets | None = None, **options: Any) -> None:
        super().__init__()
        if fs is not None and options:
            raise IllegalArgumentException("'fs' and other options are mutually exclusive")
        self.fs = fs if isinstance(fs, Buckets) else Buckets(options, *([fs] if fs else []))

    @property
    def storage_options(self) -> dict[str, Any]:
        """Options without keys."""
        return dict(self._shown_options)

    @storage_options.setter
    def storage_options(self, options: Mapping[str, Any]) -> None:
        # fsspec assigns this after creating the object, and shows it.
        self._shown_options = _without_secrets(options)

    def __reduce__(self) -> tuple[Any, ...]:
        return _view, (self.fs,)


def _maker(options: Mapping[str, Any]) -> Callable[[str], S3FileSystem]:
    """Return a factory of a bucket's filesystem; a closure hides the options it holds."""
    return lambda bucket: S3FileSystem.of(S3Config.of(bucket, options))


def _view(fs: Buckets) -> S3Fsspec:
    return S3Fsspec(fs=fs)


def _rebuilt(options: Mapping[str, Any], configs: list[S3Config]) -> Buckets:
    return Buckets(options, *(S3FileSystem.of(config) for config in configs))


def _without_secrets(options: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: value
        for name, value in options.items()
        if name not in _HIDDEN and not name.endswith(_HIDDEN_ENDINGS)
    }


def _placed(fs: S3FileSystem, status: FileStatus) -> FileStatus:
    return replace(status, path=f"/{fs.config.bucket}{status.path}".rstrip("/"))
