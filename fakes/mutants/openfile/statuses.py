"""Mutants of the status that is given to the builder."""

from __future__ import annotations

from dataclasses import replace
from posixpath import basename, dirname

from fscontract.contract.api.errors import IllegalArgumentException, NullPointerException
from fscontract.contract.api.filesystem import FileStatus, LocatedFileStatus
from fscontract.fakes.mutants.openfile.filesystems import OpeningBuilder, opening_mutant
from fscontract.implementations.openfile_builder import OpenOptions

#: The classes that these filesystems know.
_KNOWN = (FileStatus, LocatedFileStatus)


@opening_mutant("open.status-null")
class StatusNeeded(OpeningBuilder):
    """A null status raises NullPointerException, as before Hadoop 3.3.5."""

    def with_file_status(self, status: FileStatus | None) -> OpeningBuilder:
        if status is None:
            raise NullPointerException("no status")
        super().with_file_status(status)
        return self


@opening_mutant("open.status-filename-only")
class ParentsMatter(OpeningBuilder):
    """A status with other parents is refused, as before Hadoop 3.3.5."""

    def _options(self) -> OpenOptions:
        path = self._path if self._status is None else self._status.path
        path = "/" + path.partition("://")[2].partition("/")[2] if "://" in path else path
        if dirname(path) != dirname(self._path) and basename(path) == basename(self._path):
            raise IllegalArgumentException(f"{path!r} is not {self._path!r}")
        return super()._options()


@opening_mutant("open.status-path")
class SchemeMatters(OpeningBuilder):
    """A status under another scheme is refused, such as one from behind a mount table."""

    def _options(self) -> OpenOptions:
        if self._status is not None and "://" in self._status.path:
            raise IllegalArgumentException(f"wrong filesystem: {self._status.path!r}")
        return super()._options()


class _Follower(OpeningBuilder):
    """A builder that opens what the status names, if `_follows` says so."""

    def _follows(self, status: FileStatus) -> bool:
        return False

    def with_file_status(self, status: FileStatus | None) -> OpeningBuilder:
        super().with_file_status(status)
        misnamed = status is not None and basename(status.path) != basename(self._path)
        if status is not None and misnamed and self._follows(status):
            self._path = status.path
            self._status = None
        return self


@opening_mutant("open.status-name")
class StatusNamesFile(_Follower):
    """The file that the status names is opened."""

    def _follows(self, status: FileStatus) -> bool:
        return type(status) in _KNOWN


@opening_mutant("open.status-foreign-name")
class ForeignStatusNamesFile(_Follower):
    """The file that the status names is opened if the status is of a foreign class."""

    def _follows(self, status: FileStatus) -> bool:
        return type(status) not in _KNOWN


@opening_mutant("open.status-name-used")
class NameUnchecked(OpeningBuilder):
    """The length of a status counts, whichever file the status is of."""

    def with_file_status(self, status: FileStatus | None) -> OpeningBuilder:
        super().with_file_status(status)
        self._status = status and replace(status, path=self._path)
        return self


@opening_mutant("open.status-name-when")
class NameCheckedWhenSet(OpeningBuilder):
    """with_file_status() itself refuses a status of another name."""

    def with_file_status(self, status: FileStatus | None) -> OpeningBuilder:
        if status is not None and basename(status.path) != basename(self._path):
            raise IllegalArgumentException(f"{status.path!r} is not {self._path!r}")
        super().with_file_status(status)
        return self


@opening_mutant("open.status-pinned")
class VersionUnchecked(OpeningBuilder):
    """The version in a status is left out of account."""

    def with_file_status(self, status: FileStatus | None) -> OpeningBuilder:
        super().with_file_status(status and replace(status, etag=None))
        return self


@opening_mutant("open.status-class")
class ClassCast(OpeningBuilder):
    """A status of a foreign class ends in a ClassCastException."""

    def _options(self) -> OpenOptions:
        if self._status is not None and type(self._status) not in _KNOWN:
            raise RuntimeError(f"{type(self._status).__name__} can't be cast to FileStatus")
        return super()._options()


@opening_mutant("open.status-located")
class LocatedRefused(OpeningBuilder):
    """A status with locations is refused."""

    def _options(self) -> OpenOptions:
        if isinstance(self._status, LocatedFileStatus):
            raise IllegalArgumentException("a LocatedFileStatus is not of this store")
        return super()._options()
