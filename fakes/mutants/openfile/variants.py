"""Correct filesystems with other permitted choices than the one in memory.

Each must pass every clause of `open_file` under its features.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import replace
from posixpath import basename
from typing import ClassVar

from fscontract.contract.api.errors import (
    AccessControlException,
    EOFException,
    FileNotFoundException,
    IllegalArgumentException,
    NullPointerException,
    RemoteFileChangedException,
)
from fscontract.contract.api.filesystem import (
    Buffer,
    ByteBuffer,
    FileStatus,
    FSDataInputStream,
)
from fscontract.contract.api.openfile_options import BUFFER_SIZE, LENGTH
from fscontract.fakes.mutants.correct_parts import (
    OpeningBuilder,
    OpeningFileSystem,
    OptionStream,
    StoredFiles,
    filesystem_of,
)
from fscontract.implementations.filesystem_base import normalize
from fscontract.implementations.input_stream import ReferenceInputStream
from fscontract.implementations.openfile_builder import OpenOptions

_UNKNOWN_LENGTH = 1 << 62


class DoomedStream(ReferenceInputStream):
    """A stream of an unreadable file: reads before `length` raise `error`."""

    def __init__(self, path: str, error: Exception, length: int = _UNKNOWN_LENGTH) -> None:
        super().__init__(path)
        self._error = error
        self._size = length

    def _length(self) -> int:
        return self._size

    def _read_at(self, position: int, view: memoryview) -> int:
        if position >= self._size:
            return 0
        raise self._error


class FailsAtFirstRead(OpeningFileSystem):
    """The future always returns a stream; its reads report errors of the open."""

    features = ("openfile-first-read",)

    def _open_by(self, path: str, options: OpenOptions) -> ReferenceInputStream:
        try:
            return super()._open_by(path, options)
        except RemoteFileChangedException:
            raise
        except (OSError, ValueError) as error:
            return DoomedStream(path, error)


class NoticesChangeLate(OpeningFileSystem):
    """A file that changed since its listing fails at the first read."""

    def _open_by(self, path: str, options: OpenOptions) -> ReferenceInputStream:
        try:
            return super()._open_by(path, options)
        except RemoteFileChangedException as error:
            now = len(self._data(path, replace(options, status=None)))
            return DoomedStream(path, error, now if options.length is None else options.length)


class OpensToday(OpeningFileSystem):
    """The version in a status is ignored: the current file is opened."""

    features = ("!openfile-pins-version",)

    def _data(self, path: str, options: OpenOptions) -> bytes:
        return super()._data(path, replace(options, status=None))


class ReadsOn(OpeningFileSystem):
    """A declared length is ignored: the stream ends with the file."""

    def _open(self, path: str, options: OpenOptions) -> OptionStream:
        return self.stream(self._data(path, options), path, replace(options, length=None))


class EndRaises(OptionStream):
    """If the file is longer or shorter than declared, its end is an EOFException instead of -1."""

    def __init__(self, data: bytes, path: str, options: OpenOptions) -> None:
        super().__init__(data, path, options)
        self._odd = options.length not in (None, len(data))

    def read_byte(self) -> int:
        value = super().read_byte()
        return value if value >= 0 else self._end_at(self._pos)

    def read_into(self, buffer: Buffer, offset: int = 0, length: int | None = None) -> int:
        count = super().read_into(buffer, offset, length)
        return count if count >= 0 else self._end_at(self._pos)

    def read_buffer(self, buffer: ByteBuffer) -> int:
        count = super().read_buffer(buffer)
        return count if count >= 0 else self._end_at(self._pos)

    def pread(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> int:
        count = super().pread(position, buffer, offset, length)
        return count if count >= 0 else self._end_at(position)

    def pread_buffer(self, position: int, buffer: ByteBuffer) -> int:
        count = super().pread_buffer(position, buffer)
        return count if count >= 0 else self._end_at(position)

    def _end_at(self, position: int) -> int:
        """Return -1, or raise the exception instead."""
        if self._odd:
            raise EOFException(f"{self.path!r} ends before {position}")
        return -1


class NoCounters(OpeningFileSystem):
    """Nothing is counted."""

    features = ("!supports-io-statistics",)

    class stream(OptionStream):  # noqa: N801 - stands for the attribute
        def io_statistics(self) -> dict[str, int]:
            return {}

    def io_statistics(self) -> Mapping[str, int]:
        return {}


class StandardKeysOnly(OpeningFileSystem):
    """There are only the standard keys."""

    own_keys = frozenset()
    unsupported_keys: ClassVar[frozenset[str]] = frozenset()


class NotFoundForUnreadable(OpeningFileSystem):
    """An unreadable file is not found, as with Hadoop's local filesystem."""

    def _data(self, path: str, options: OpenOptions) -> bytes:
        try:
            return super()._data(path, options)
        except AccessControlException as error:
            raise FileNotFoundException(path, "permission denied") from error


class IgnoresMisnamed(OpeningBuilder):
    """A status of another name is ignored without an error."""

    def build(self) -> Future[FSDataInputStream]:
        if self._status is not None and basename(self._status.path) != basename(self._path):
            self._status = None
        return super().build()


class RefusesMisnamed(OpeningBuilder):
    """build() itself rejects a status of another name."""

    def build(self) -> Future[FSDataInputStream]:
        self._check_keys()
        if self._status is not None and basename(self._status.path) != basename(self._path):
            raise IllegalArgumentException(f"the status is of {self._status.path!r}")
        return super().build()


class NullIsNoPointer(OpeningBuilder):
    """A null key or value raises NullPointerException."""

    def _set(self, key: str, value: object) -> None:
        if key is None or value is None:
            raise NullPointerException("no key, or no value")
        super()._set(key, value)


class OwnValuesAreNumbers(OpeningBuilder):
    """The filesystem's own key accepts numbers only; any other text fails in the future."""

    def _options(self) -> OpenOptions:
        options = super()._options()
        for value in options.own.values():
            int(str(value))
        return options


class FirstRefusalWins(OpeningBuilder):
    """If several keys are rejected, the error names the unsupported one."""

    def _check_keys(self) -> None:
        mandatory = self._mandatory
        self._mandatory = mandatory & set(self._unsupported)
        try:
            super()._check_keys()
        finally:
            self._mandatory = mandatory
        super()._check_keys()


class ChecksPathAtOnce(OpeningFileSystem):
    """open_file() itself rejects a path of another filesystem."""

    def open_file(self, path: str) -> OpeningBuilder:
        return super().open_file(path if path is None else normalize(path))


class NullStatusIsNoPointer(OpeningBuilder):
    """A null status raises NullPointerException, as before Hadoop 3.3.5."""

    def with_file_status(self, status: FileStatus | None) -> OpeningBuilder:
        if status is None:
            raise NullPointerException("no status")
        super().with_file_status(status)
        return self


class OptionBeatsStatus(OpeningBuilder):
    """The length of a status is a hint, which an option overrides."""

    def _options(self) -> OpenOptions:
        options, status = super()._options(), self._status
        self._status = None
        declared = super()._options().length
        self._status = status
        if declared is None or LENGTH not in self._values:
            return options
        return replace(options, length=declared)


class RefusesEmptyBuffers(OpeningBuilder):
    """A buffer size below 1 raises IllegalArgumentException."""

    def _options(self) -> OpenOptions:
        size = self.text(BUFFER_SIZE).strip()
        digits = size.lstrip("+-")
        if digits.isdecimal() and (size.startswith("-") or not digits.strip("0")):
            raise IllegalArgumentException(f"no buffer has {size:.20} bytes")
        return super()._options()


class TrustsLength(StoredFiles):
    """A read at the declared end makes no request, not even to check that the file exists."""

    def _open_by(self, path: str, options: OpenOptions) -> ReferenceInputStream:
        try:
            return super()._open_by(path, options)
        except FileNotFoundException as error:
            if options.length is None:
                raise
            return DoomedStream(path, error, options.length)


#: Every variant, as a filesystem.
OPENINGS: tuple[type[OpeningFileSystem], ...] = tuple(
    filesystem_of(variant)
    for variant in (
        OpeningFileSystem,
        StoredFiles,
        FailsAtFirstRead,
        NoticesChangeLate,
        OpensToday,
        ReadsOn,
        EndRaises,
        NoCounters,
        StandardKeysOnly,
        NotFoundForUnreadable,
        IgnoresMisnamed,
        RefusesMisnamed,
        NullIsNoPointer,
        OwnValuesAreNumbers,
        FirstRefusalWins,
        ChecksPathAtOnce,
        NullStatusIsNoPointer,
        OptionBeatsStatus,
        RefusesEmptyBuffers,
        TrustsLength,
    )
)
