"""Small files, read and written whole."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from fscontract.contract.ports import FileStatus, FileSystem

#: How many files are read, and directories listed, at a time.
_WORKERS = 8
_A = TypeVar("_A")
_B = TypeVar("_B")


def read_file(fs: FileSystem, path: str) -> bytes:
    """The bytes of a file; FileNotFoundException."""
    with fs.open(path) as stream, stream.as_file() as file:
        return file.read()


def write_file(fs: FileSystem, path: str, content: bytes, replace: bool = False) -> None:
    """Write a file at once; FileAlreadyExistsException if there is one, unless `replace`."""
    with create_file(fs, path, replace) as file:
        file.write(content)


def create_file(fs: FileSystem, path: str, replace: bool = True) -> io.BufferedIOBase:
    """A file to write, without a look at what is in the way where a filesystem can leave that out.

    In the directories of a table there are no files where directories have to be.
    """
    create: Callable[..., io.BufferedIOBase] = getattr(fs, "create_performance", fs.create)
    return create(path, overwrite=replace)


def in_threads(function: Callable[[_A], _B], items: Sequence[_A]) -> list[_B]:
    """A function of each item, several at a time."""
    if len(items) < 2:
        return [function(each) for each in items]
    with ThreadPoolExecutor(min(_WORKERS, len(items))) as pool:
        return list(pool.map(function, items))


def list_files(fs: FileSystem, directory: str) -> list[FileStatus]:
    """The files of a directory, none if it is not there."""
    try:
        return [status for status in fs.list_status(directory) if not status.is_directory]
    except FileNotFoundError:
        return []
