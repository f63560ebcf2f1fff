"""Hadoop's stream exceptions as Python exceptions.

Each class is also the built-in exception a Python caller would catch for the same fault, so
`except EOFError`, `except OSError` or `except ValueError` work without importing this module.
"""

from __future__ import annotations

import io


class EOFException(EOFError, OSError):
    """A position or a read is past the end of the data."""


class IllegalArgumentException(ValueError):
    """An argument is outside its documented domain."""


class NullPointerException(TypeError):
    """None was given where an object is required."""


class IndexOutOfBoundsException(IndexError):
    """An offset or a length does not fit the buffer it was given with."""


class UnsupportedOperationException(NotImplementedError, io.UnsupportedOperation):
    """The stream does not implement the operation."""


class PathIOException(OSError):
    """An I/O failure on a path; `path` is the path as the caller gave it."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(f"{message}: {path!r}")
        self.path = path


class FileNotFoundException(PathIOException, FileNotFoundError):
    """The path does not exist, or is not a file."""


class FileAlreadyExistsException(PathIOException, FileExistsError):
    """The file to create already exists."""


class AccessControlException(PathIOException, PermissionError):
    """The permissions of the path forbid the operation."""


class RemoteFileChangedException(PathIOException):
    """The file is no longer the one that was opened."""


class InterruptedIOException(OSError):
    """The operation was abandoned because the stream was closed or unbuffered."""
