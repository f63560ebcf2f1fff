"""What our filesystems share: paths, permissions, statistics, and the two ways to open a file."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import ClassVar

from fscontract.contract.errors import (
    AccessControlException,
    FileNotFoundException,
    IllegalArgumentException,
    NullPointerException,
)
from fscontract.contract.iostatistics import OP_GET_FILE_STATUS, OP_OPEN, OP_OPENFILE
from fscontract.contract.ports import ETAGS_AVAILABLE, FileSystem, FSDataInputStream
from fscontract.implementations.options import Builder, OpenOptions
from fscontract.implementations.statistics import Statistics
from fscontract.implementations.stream import NO_COUNTS, ReferenceInputStream

#: The bits of a permission, as they stand in the last digit of a mode.
_PERMISSIONS = {"r": 4, "w": 2, "x": 1}


def path_elements(path: str) -> list[str]:
    """The elements of an absolute path, none for the root.

    IllegalArgumentException for an empty or relative path, a NUL character or an element `..`;
    empty elements and `.` are dropped.
    """
    if path is None:
        raise NullPointerException("no path")
    if not isinstance(path, str) or not path.startswith("/"):
        raise IllegalArgumentException(f"a path must be text that starts with '/': {path!r}")
    if "\0" in path:
        raise IllegalArgumentException(f"a path must not hold NUL: {path!r}")
    elements = [element for element in path.split("/") if element not in ("", ".")]
    if ".." in elements:
        raise IllegalArgumentException(f"a path must not hold '..': {path!r}")
    return elements


def normalize(path: str) -> str:
    """The one spelling of an absolute path; errors as in `path_elements`."""
    return "/" + "/".join(path_elements(path))


def permission_bits(mode: int) -> int:
    """The mode, if it is one; IllegalArgumentException."""
    if not 0 <= mode <= 0o7777:
        raise IllegalArgumentException(f"a mode is 0 to 0o7777, not {mode:#o}")
    return mode


def access_bits(mode: str) -> int:
    """The last digit of the mode that grants everything in "rwx" text; IllegalArgumentException."""
    if not mode or set(mode) - _PERMISSIONS.keys():
        raise IllegalArgumentException(f"access is asked for by letters of 'rwx', not {mode!r}")
    return sum(_PERMISSIONS[letter] for letter in set(mode))


class ReferenceFileSystem(FileSystem):
    """A filesystem whose opens all go through `_open`, and whose files all have etags."""

    #: The path capabilities of every path.
    path_capabilities: ClassVar[frozenset[str]] = frozenset({ETAGS_AVAILABLE})

    def __init__(self) -> None:
        self._statistics = Statistics((OP_OPEN, OP_OPENFILE, OP_GET_FILE_STATUS, *NO_COUNTS))

    @abstractmethod
    def _open(self, path: str, options: OpenOptions) -> ReferenceInputStream:
        """Open the file at a normalized path; FileNotFoundException."""

    def open(self, path: str, buffer_size: int | None = None) -> FSDataInputStream:
        """Open a file at position 0; FileNotFoundException for a missing path or a directory."""
        return self._opened(OP_OPEN, path, OpenOptions(buffer_size=buffer_size))

    def open_file(self, path: str) -> Builder[FSDataInputStream]:
        """Start building an open with options; NullPointerException if there is no path.

        Whatever else is wrong with the path comes out of the future.
        """
        if path is None:
            raise NullPointerException("no path")
        return Builder(path, lambda path, options: self._opened(OP_OPENFILE, path, options))

    def open_with(self, path: str, options: OpenOptions) -> ReferenceInputStream:
        """Open a file with options that a builder has collected before, perhaps elsewhere."""
        return self._opened(OP_OPENFILE, path, options)

    def has_path_capability(self, path: str, name: str) -> bool:
        """Return whether the filesystem has a capability, which is the same for all paths."""
        normalize(path)
        return name.lower() in self.path_capabilities

    def io_statistics(self) -> Mapping[str, int]:
        """What the filesystem and its streams did. (IOStatisticsSource)

        `op_get_file_status` counts calls of `get_file_status`, also those that `list_status`
        makes. No open asks for the status of a path.
        """
        return self._statistics.snapshot()

    def _opened(self, operation: str, path: str, options: OpenOptions) -> ReferenceInputStream:
        self._statistics.count(operation)
        stream = self._open(normalize(path), options)
        self._statistics.watch(stream)
        stream.when_done(self._statistics.retire)
        return stream


def not_found(path: str) -> FileNotFoundException:
    """The error for a path that is not there."""
    return FileNotFoundException(path, "no such file or directory")


def not_a_file(path: str) -> FileNotFoundException:
    """The error for reading a directory, or anything else that is not a regular file."""
    return FileNotFoundException(path, "not a regular file")


def denied(path: str) -> AccessControlException:
    """The error for a path whose permissions forbid what was asked."""
    return AccessControlException(path, "permission denied")
