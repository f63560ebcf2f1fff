"""Mutants of builders: given statuses, and the stage at which an open fails."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import replace
from posixpath import basename, dirname
from typing import Any

from fscontract.contract.api.errors import (
    IllegalArgumentException,
    PathIOException,
    RemoteFileChangedException,
    UnsupportedOperationException,
)
from fscontract.contract.api.filesystem import FileStatus, FSDataInputStream, LocatedFileStatus
from fscontract.fakes.mutants.correct_parts import (
    OpeningBuilder,
    OpeningFileSystem,
    OptionStream,
)
from fscontract.fakes.mutants.openfile.variants import DoomedStream, FailsAtFirstRead
from fscontract.fakes.mutants.registry import mutant, right
from fscontract.implementations.filesystem_base import normalize, not_found
from fscontract.implementations.input_stream import ReferenceInputStream
from fscontract.implementations.memory import MemoryInputStream
from fscontract.implementations.openfile_builder import OpenOptions


@mutant("open.deferred-state")
class LooksWhenAsked(OpeningFileSystem):
    """open_file() looks the path up; files created after that are not found."""

    def open_file(self, path: str) -> OpeningBuilder:
        builder = super().open_file(path)
        if "://" not in path and not self._exists(path):
            builder._opener = self._not_found
        return builder

    def _not_found(self, path: str, options: OpenOptions) -> ReferenceInputStream:
        raise not_found(path)


@mutant("open.build-future", OpeningFileSystem._open_by)
def sniffs_the_format(
    self: OpeningFileSystem, path: str, options: OpenOptions
) -> ReferenceInputStream:
    """A new stream is after the first byte, which was read to detect the format."""
    stream = right(self)._open_by(path, options)
    assert isinstance(stream, OptionStream)
    stream._pos = min(1, stream._stop)
    return stream


@mutant("open.build-future", OpeningBuilder.build)
def future_of_nothing(self: OpeningBuilder) -> Future[FSDataInputStream]:
    """The future reports success, but returns no stream."""
    future = right(self).build()
    if future.exception() is not None:
        return future
    nothing: Future[Any] = Future()
    nothing.set_result(None)
    return nothing


@mutant("open.build-twice")
class SameFuture(OpeningBuilder):
    """A second build() returns the future of the first."""

    _built: Future[FSDataInputStream] | None = None

    def build(self) -> Future[FSDataInputStream]:
        if self._built is None:
            self._built = super().build()
        return self._built


@mutant("open.build-twice")
class OnceOnly(OpeningBuilder):
    """A second build() opens nothing."""

    _built = False

    def build(self) -> Future[FSDataInputStream]:
        future = super().build()
        if not self._built:
            self._built = True
            return future
        failed: Future[FSDataInputStream] = Future()
        failed.set_exception(RuntimeError("the builder was used already"))
        return failed


class _Looking(OpeningBuilder):
    """A builder that knows the file at its path when the open fails."""

    def _failure(self, future: Future[FSDataInputStream]) -> tuple[BaseException | None, str]:
        """Return the error of the open, and its kind: "directory", "missing", or another one."""
        error = future.exception()
        if not isinstance(error, FileNotFoundError):
            return error, ""
        return error, "directory" if self.filesystem._exists(self._path) else "missing"


@mutant("open.build-missing", _Looking.build)
def build_looks(self: _Looking) -> Future[FSDataInputStream]:
    """build() itself raises FileNotFoundException for a missing file."""
    future = right(self).build()
    error, reason = self._failure(future)
    if error is not None and reason == "missing":
        raise error
    return future


@mutant("open.build-directory", _Looking.build)
def build_wants_file(self: _Looking) -> Future[FSDataInputStream]:
    """build() itself raises an error for a directory."""
    future = right(self).build()
    if self._failure(future)[1] == "directory":
        raise PathIOException(self._path, "is a directory")
    return future


@mutant("open.permission-delayed", OpeningBuilder.build)
def build_asks_leave(self: OpeningBuilder) -> Future[FSDataInputStream]:
    """build() itself raises the error of a missing permission."""
    future = right(self).build()
    error = future.exception()
    if isinstance(error, PermissionError):
        raise error
    return future


@mutant("open.get-ioerror", _Looking.build)
def no_such_key(self: _Looking) -> Future[FSDataInputStream]:
    """A missing file raises the KeyError of the store's client."""
    future = right(self).build()
    if self._failure(future)[1] != "missing":
        return future
    failed: Future[FSDataInputStream] = Future()
    failed.set_exception(KeyError(self._path))
    return failed


@mutant("open.get-ioerror", _Looking.build)
def directory_is_bad_argument(self: _Looking) -> Future[FSDataInputStream]:
    """A directory raises IllegalArgumentException."""
    future = right(self).build()
    if self._failure(future)[1] != "directory":
        return future
    failed: Future[FSDataInputStream] = Future()
    failed.set_exception(ValueError(f"{self._path} is not a file"))
    return failed


@mutant("open.read-fails", OpeningFileSystem._open_by)
def missing_is_empty(
    self: OpeningFileSystem, path: str, options: OpenOptions
) -> ReferenceInputStream:
    """A missing file is opened as an empty one."""
    try:
        return right(self)._open_by(path, options)
    except FileNotFoundError:
        if self._exists(path):
            raise
        return MemoryInputStream(b"", path)


@mutant("open.read-fails", OpeningFileSystem._open_by)
def directory_is_its_listing(
    self: OpeningFileSystem, path: str, options: OpenOptions
) -> ReferenceInputStream:
    """A directory is opened as a file with its listing, as HTTP servers send it."""
    try:
        return right(self)._open_by(path, options)
    except FileNotFoundError:
        names = [status.path for status in self.list_status(path)]
        return MemoryInputStream("\n".join([path, *names]).encode(), path)


@mutant("open.failure-stage", OpeningFileSystem._open_by)
def opens_lazily(self: OpeningFileSystem, path: str, options: OpenOptions) -> ReferenceInputStream:
    """A missing file fails at the first read although the future is declared to fail."""
    try:
        return right(self)._open_by(path, options)
    except FileNotFoundError as error:
        return DoomedStream(path, error)


@mutant("open.failure-stage", FailsAtFirstRead._open_by)
def opens_eagerly(self: FailsAtFirstRead, path: str, options: OpenOptions) -> ReferenceInputStream:
    """A missing file fails in the future although the first read is declared to fail."""
    if "://" in path:
        return right(self)._open_by(path, options)
    return OpeningFileSystem._open_by(self, path, options)


@mutant("open.read-fails", FailsAtFirstRead._open_by)
def never_fails(self: FailsAtFirstRead, path: str, options: OpenOptions) -> ReferenceInputStream:
    """The first read of a file that can't be read returns the end of the file."""
    try:
        return OpeningFileSystem._open_by(self, path, options)
    except RemoteFileChangedException:
        raise
    except (OSError, ValueError):
        return MemoryInputStream(b"", path)


def _is_foreign(path: str) -> bool:
    try:
        normalize(path)
    except IllegalArgumentException:
        return True
    return False


@mutant("open.foreign-path", OpeningFileSystem.open_file)
def path_is_checked(self: OpeningFileSystem, path: str) -> OpeningBuilder:
    """open_file() raises KeyError for a path of another filesystem."""
    if path is not None and _is_foreign(path):
        raise KeyError(path)
    return right(self).open_file(path)


@mutant("open.foreign-path", OpeningBuilder.build)
def build_checks_scheme(self: OpeningBuilder) -> Future[FSDataInputStream]:
    """build() raises UnsupportedOperationException for a path of another filesystem."""
    self._check_keys()
    if _is_foreign(self._path):
        raise UnsupportedOperationException(f"no filesystem for {self._path}")
    return right(self).build()


#: The status classes that these filesystems support.
_KNOWN = (FileStatus, LocatedFileStatus)


@mutant("open.status-null", OpeningBuilder.with_file_status)
def status_needed(self: OpeningBuilder, status: FileStatus | None) -> OpeningBuilder:
    """A null status raises an IOException."""
    if status is None:
        raise PathIOException(self._path, "no status")
    right(self).with_file_status(status)
    return self


@mutant("open.status-filename-only", OpeningBuilder._options)
def parents_matter(self: OpeningBuilder) -> OpenOptions:
    """A status with another parent path is rejected, as before Hadoop 3.3.5."""
    path = self._path if self._status is None else self._status.path
    path = "/" + path.partition("://")[2].partition("/")[2] if "://" in path else path
    if dirname(path) != dirname(self._path) and basename(path) == basename(self._path):
        raise IllegalArgumentException(f"{path!r} is not {self._path!r}")
    return right(self)._options()


@mutant("open.status-path", OpeningBuilder._options)
def scheme_matters(self: OpeningBuilder) -> OpenOptions:
    """A status with another scheme is rejected, such as one from behind a mount table."""
    if self._status is not None and "://" in self._status.path:
        raise IllegalArgumentException(f"wrong filesystem: {self._status.path!r}")
    return right(self)._options()


class _Follower(OpeningBuilder):
    """A builder that opens the file of the status, if `_follows` is true."""

    def _follows(self, status: FileStatus) -> bool:
        return False

    def with_file_status(self, status: FileStatus | None) -> OpeningBuilder:
        super().with_file_status(status)
        misnamed = status is not None and basename(status.path) != basename(self._path)
        if status is not None and misnamed and self._follows(status):
            self._path = status.path
            self._status = None
        return self


@mutant("open.status-name", _Follower._follows)
def status_names_file(self: _Follower, status: FileStatus) -> bool:
    """The file that the status names is opened."""
    return type(status) in _KNOWN


@mutant("open.status-foreign-name", _Follower._follows)
def foreign_status_names_file(self: _Follower, status: FileStatus) -> bool:
    """The file that the status names is opened if the status is of a foreign class."""
    return type(status) not in _KNOWN


@mutant("open.status-name-used", OpeningBuilder.with_file_status)
def name_unchecked(self: OpeningBuilder, status: FileStatus | None) -> OpeningBuilder:
    """The length of a status is used even if it is of another file."""
    right(self).with_file_status(status)
    self._status = status and replace(status, path=self._path)
    return self


@mutant("open.status-name-when", OpeningBuilder.with_file_status)
def name_checked_when_set(self: OpeningBuilder, status: FileStatus | None) -> OpeningBuilder:
    """with_file_status() itself rejects a status of another name."""
    if status is not None and basename(status.path) != basename(self._path):
        raise IllegalArgumentException(f"{status.path!r} is not {self._path!r}")
    right(self).with_file_status(status)
    return self


@mutant("open.status-pinned", OpeningBuilder.with_file_status)
def version_unchecked(self: OpeningBuilder, status: FileStatus | None) -> OpeningBuilder:
    """The version in a status is ignored."""
    right(self).with_file_status(status and replace(status, etag=None))
    return self


@mutant("open.status-class", OpeningBuilder._options)
def class_cast(self: OpeningBuilder) -> OpenOptions:
    """A status of a foreign class raises ClassCastException."""
    if self._status is not None and type(self._status) not in _KNOWN:
        raise RuntimeError(f"{type(self._status).__name__} can't be cast to FileStatus")
    return right(self)._options()


@mutant("open.status-located", OpeningBuilder._options)
def located_refused(self: OpeningBuilder) -> OpenOptions:
    """A status with locations is rejected."""
    if isinstance(self._status, LocatedFileStatus):
        raise IllegalArgumentException("a LocatedFileStatus is not of this store")
    return right(self)._options()
