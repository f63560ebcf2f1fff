"""Mutants of the status that is given to the builder."""

from __future__ import annotations

from dataclasses import replace
from posixpath import basename, dirname

from fscontract.contract.api.errors import IllegalArgumentException, NullPointerException
from fscontract.contract.api.filesystem import FileStatus, LocatedFileStatus
from fscontract.fakes.mutants.openfile.filesystems import OpeningBuilder
from fscontract.fakes.mutants.registry import mutant, right
from fscontract.implementations.openfile_builder import OpenOptions

#: The classes that these filesystems know.
_KNOWN = (FileStatus, LocatedFileStatus)


@mutant("open.status-null", OpeningBuilder.with_file_status)
def status_needed(self: OpeningBuilder, status: FileStatus | None) -> OpeningBuilder:
    """A null status raises NullPointerException, as before Hadoop 3.3.5."""
    if status is None:
        raise NullPointerException("no status")
    right(self).with_file_status(status)
    return self


@mutant("open.status-filename-only", OpeningBuilder._options)
def parents_matter(self: OpeningBuilder) -> OpenOptions:
    """A status with other parents is refused, as before Hadoop 3.3.5."""
    path = self._path if self._status is None else self._status.path
    path = "/" + path.partition("://")[2].partition("/")[2] if "://" in path else path
    if dirname(path) != dirname(self._path) and basename(path) == basename(self._path):
        raise IllegalArgumentException(f"{path!r} is not {self._path!r}")
    return right(self)._options()


@mutant("open.status-path", OpeningBuilder._options)
def scheme_matters(self: OpeningBuilder) -> OpenOptions:
    """A status under another scheme is refused, such as one from behind a mount table."""
    if self._status is not None and "://" in self._status.path:
        raise IllegalArgumentException(f"wrong filesystem: {self._status.path!r}")
    return right(self)._options()


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
    """The length of a status counts, whichever file the status is of."""
    right(self).with_file_status(status)
    self._status = status and replace(status, path=self._path)
    return self


@mutant("open.status-name-when", OpeningBuilder.with_file_status)
def name_checked_when_set(self: OpeningBuilder, status: FileStatus | None) -> OpeningBuilder:
    """with_file_status() itself refuses a status of another name."""
    if status is not None and basename(status.path) != basename(self._path):
        raise IllegalArgumentException(f"{status.path!r} is not {self._path!r}")
    right(self).with_file_status(status)
    return self


@mutant("open.status-pinned", OpeningBuilder.with_file_status)
def version_unchecked(self: OpeningBuilder, status: FileStatus | None) -> OpeningBuilder:
    """The version in a status is left out of account."""
    right(self).with_file_status(status and replace(status, etag=None))
    return self


@mutant("open.status-class", OpeningBuilder._options)
def class_cast(self: OpeningBuilder) -> OpenOptions:
    """A status of a foreign class ends in a ClassCastException."""
    if self._status is not None and type(self._status) not in _KNOWN:
        raise RuntimeError(f"{type(self._status).__name__} can't be cast to FileStatus")
    return right(self)._options()


@mutant("open.status-located", OpeningBuilder._options)
def located_refused(self: OpeningBuilder) -> OpenOptions:
    """A status with locations is refused."""
    if isinstance(self._status, LocatedFileStatus):
        raise IllegalArgumentException("a LocatedFileStatus is not of this store")
    return right(self)._options()
