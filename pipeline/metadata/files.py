"""Small files, read and written whole."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Sequence
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


def remove_abandoned(fs: FileSystem, directory: str) -> list[str]:
    """Delete what killed writers have left below a directory, where a filesystem has such files.

    Return the paths; none if the directory is not there.
    """
    remove: Callable[[str], list[str]] | None = getattr(fs, "remove_abandoned", None)
    return [] if remove is None else remove(directory)


def sync_files(fs: FileSystem, paths: Iterable[str], below: str) -> None:
    """Put files below a directory on the disk, whoever wrote them.

    Where a filesystem has no such call, they are there once they are closed.
    """
    sync: Callable[[Iterable[str], str], None] | None = getattr(fs, "sync", None)
    if sync is not None:
        sync(paths, below)


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
