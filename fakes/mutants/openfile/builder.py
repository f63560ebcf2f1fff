"""Mutants of build(): what it makes of a file, and at which stage it fails."""

from __future__ import annotations

from concurrent.futures import Future
from typing import Any

from fscontract.contract.api.errors import PathIOException, RemoteFileChangedException
from fscontract.contract.api.filesystem import FSDataInputStream
from fscontract.fakes.mutants.openfile.filesystems import (
    OpeningBuilder,
    OpeningFileSystem,
    OptionStream,
    opening_mutant,
)
from fscontract.fakes.mutants.openfile.variants import DoomedStream, FailsAtFirstRead
from fscontract.implementations.filesystem_base import normalize, not_found
from fscontract.implementations.input_stream import ReferenceInputStream
from fscontract.implementations.memory import MemoryInputStream
from fscontract.implementations.openfile_builder import OpenOptions


@opening_mutant("open.deferred-state")
class LooksWhenAsked(OpeningFileSystem):
    """open_file() looks the path up, and what is not there by then is not found later."""

    def open_file(self, path: str) -> OpeningBuilder:
        builder = super().open_file(path)
        if "://" not in path and not self._exists(path):
            builder._opener = self._not_found
        return builder

    def _not_found(self, path: str, options: OpenOptions) -> ReferenceInputStream:
        raise not_found(path)


@opening_mutant("open.build-future")
class SniffsTheFormat(OpeningFileSystem):
    """The stream stands behind the byte by which the format of the file was told."""

    def _open_by(self, path: str, options: OpenOptions) -> ReferenceInputStream:
        stream = super()._open_by(path, options)
        assert isinstance(stream, OptionStream)
        stream._pos = min(1, stream._stop)
        return stream


@opening_mutant("open.build-future")
class FutureOfNothing(OpeningBuilder):
    """The future says that the file could be opened, and does not give the stream."""

    def build(self) -> Future[FSDataInputStream]:
        future = super().build()
        if future.exception() is not None:
            return future
        nothing: Future[Any] = Future()
        nothing.set_result(None)
        return nothing


@opening_mutant("open.build-twice")
class SameFuture(OpeningBuilder):
    """A second build() gives the future of the first."""

    _built: Future[FSDataInputStream] | None = None

    def build(self) -> Future[FSDataInputStream]:
        if self._built is None:
            self._built = super().build()
        return self._built


@opening_mutant("open.build-twice")
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
    """A builder that knows what lies at its path when the open fails."""

    def _failure(self, future: Future[FSDataInputStream]) -> tuple[BaseException | None, str]:
        """Why the open failed, and whether that is a "directory", "missing", or something else."""
        error = future.exception()
        if not isinstance(error, FileNotFoundError):
            return error, ""
        return error, "directory" if self.filesystem._exists(self._path) else "missing"


@opening_mutant("open.build-missing")
class BuildLooks(_Looking):
    """build() itself raises FileNotFoundException for a missing file."""

    def build(self) -> Future[FSDataInputStream]:
        future = super().build()
        error, what = self._failure(future)
        if error is not None and what == "missing":
            raise error
        return future


@opening_mutant("open.build-directory")
class BuildWantsFile(_Looking):
    """build() itself raises an error for a directory."""

    def build(self) -> Future[FSDataInputStream]:
        future = super().build()
        if self._failure(future)[1] == "directory":
            raise PathIOException(self._path, "is a directory")
        return future


@opening_mutant("open.permission-delayed")
class BuildAsksLeave(OpeningBuilder):
    """build() itself raises the error of a missing permission."""

    def build(self) -> Future[FSDataInputStream]:
        future = super().build()
        error = future.exception()
        if isinstance(error, PermissionError):
            raise error
        return future


@opening_mutant("open.get-ioerror")
class NoSuchKey(_Looking):
    """A missing file ends in the KeyError of the store's client."""

    def build(self) -> Future[FSDataInputStream]:
        future = super().build()
        if self._failure(future)[1] != "missing":
            return future
        failed: Future[FSDataInputStream] = Future()
        failed.set_exception(KeyError(self._path))
        return failed


@opening_mutant("open.get-ioerror")
class DirectoryIsBadArgument(_Looking):
    """A directory ends in an IllegalArgumentException."""

    def build(self) -> Future[FSDataInputStream]:
        future = super().build()
        if self._failure(future)[1] != "directory":
            return future
        failed: Future[FSDataInputStream] = Future()
        failed.set_exception(ValueError(f"{self._path} is no file"))
        return failed


@opening_mutant("open.read-fails")
class MissingIsEmpty(OpeningFileSystem):
    """A missing file is opened as an empty one."""

    def _open_by(self, path: str, options: OpenOptions) -> ReferenceInputStream:
        try:
            return super()._open_by(path, options)
        except FileNotFoundError:
            if self._exists(path):
                raise
            return MemoryInputStream(b"", path)


@opening_mutant("open.read-fails")
class DirectoryIsItsListing(OpeningFileSystem):
    """A directory is opened as a file that holds its listing, as HTTP servers send it."""

    def _open_by(self, path: str, options: OpenOptions) -> ReferenceInputStream:
        try:
            return super()._open_by(path, options)
        except FileNotFoundError:
            names = [status.path for status in self.list_status(path)]
            return MemoryInputStream("\n".join([path, *names]).encode(), path)


@opening_mutant("open.failure-stage")
class OpensLazily(OpeningFileSystem):
    """A missing file shows at the first read although the future is declared to show it."""

    def _open_by(self, path: str, options: OpenOptions) -> ReferenceInputStream:
        try:
            return super()._open_by(path, options)
        except FileNotFoundError as error:
            return DoomedStream(path, error)


@opening_mutant("open.failure-stage")
class OpensEagerly(FailsAtFirstRead):
    """A missing file shows in the future although the first read is declared to show it."""

    def _open_by(self, path: str, options: OpenOptions) -> ReferenceInputStream:
        if "://" in path:
            return super()._open_by(path, options)
        return OpeningFileSystem._open_by(self, path, options)


@opening_mutant("open.read-fails")
class NeverFails(FailsAtFirstRead):
    """A file that can't be read gives an end at its first read."""

    def _open_by(self, path: str, options: OpenOptions) -> ReferenceInputStream:
        try:
            return OpeningFileSystem._open_by(self, path, options)
        except RemoteFileChangedException:
            raise
        except (OSError, ValueError):
            return MemoryInputStream(b"", path)


@opening_mutant("open.foreign-path")
class PathIsChecked(OpeningFileSystem):
    """open_file() raises IllegalArgumentException for a path of another filesystem."""

    def open_file(self, path: str) -> OpeningBuilder:
        return super().open_file(path if path is None else normalize(path))


@opening_mutant("open.foreign-path")
class BuildChecksScheme(OpeningBuilder):
    """build() raises IllegalArgumentException for a path of another filesystem."""

    def build(self) -> Future[FSDataInputStream]:
        self._check_keys()
        normalize(self._path)
        return super().build()
