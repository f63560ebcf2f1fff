"""Hadoop's exceptions as Python's: each is also the built-in exception that fits it."""

from fscontract.contract.api.errors import (
    AccessControlException,
    EOFException,
    FileAlreadyExistsException,
    FileNotFoundException,
    IllegalArgumentException,
    IndexOutOfBoundsException,
    InterruptedIOException,
    NullPointerException,
    PathIOException,
    RemoteFileChangedException,
    UnsupportedOperationException,
)

__all__ = [
    "AccessControlException",
    "EOFException",
    "FileAlreadyExistsException",
    "FileNotFoundException",
    "IllegalArgumentException",
    "IndexOutOfBoundsException",
    "InterruptedIOException",
    "NullPointerException",
    "PathIOException",
    "RemoteFileChangedException",
    "UnsupportedOperationException",
]
