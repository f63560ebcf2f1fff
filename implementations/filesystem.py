"""What our filesystems share: paths, and the two ways to open a file."""

from __future__ import annotations

from abc import abstractmethod

from fscontract.contract.errors import (
    FileNotFoundException,
    IllegalArgumentException,
    NullPointerException,
)
from fscontract.contract.ports import FileSystem, FSDataInputStream
from fscontract.implementations.options import Builder, OpenOptions


def path_elements(path: str) -> list[str]:
    """The elements of an absolute path, none for the root.

    IllegalArgumentException for an empty or relative path, a NUL character or an element `..`;
    empty elements and `.` are dropped.
    """
    if path is None:
        raise NullPointerException("no path")
    if not path.startswith("/"):
        raise IllegalArgumentException(f"a path must start with '/': {path!r}")
    if "\0" in path:
        raise IllegalArgumentException(f"a path must not hold NUL: {path!r}")
    elements = [element for element in path.split("/") if element not in ("", ".")]
    if ".." in elements:
        raise IllegalArgumentException(f"a path must not hold '..': {path!r}")
    return elements


def normalize(path: str) -> str:
    """The one spelling of an absolute path; errors as in `path_elements`."""
    return "/" + "/".join(path_elements(path))


class ReferenceFileSystem(FileSystem):
    """A filesystem whose opens all go through `_open`."""

    @abstractmethod
    def _open(self, path: str, options: OpenOptions) -> FSDataInputStream:
        """Open the file at a normalized path; FileNotFoundException."""

    def open(self, path: str, buffer_size: int | None = None) -> FSDataInputStream:
        """Open a file at position 0; FileNotFoundException for a missing path or a directory."""
        return self._open(normalize(path), OpenOptions(buffer_size=buffer_size))

    def open_file(self, path: str) -> Builder:
        """Start building an open with options; only the path's form is checked here."""
        return Builder(normalize(path), self._open)


def not_found(path: str) -> FileNotFoundException:
    """The error for a path that is not there."""
    return FileNotFoundException(path, "no such file or directory")


def not_a_file(path: str) -> FileNotFoundException:
    """The error for reading a directory, or anything else that is not a regular file."""
    return FileNotFoundException(path, "not a regular file")
