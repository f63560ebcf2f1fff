"""Mutants of `get` of fsspec filesystems."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fscontract.fakes.mutants.correct_filesystem import RightFilesystem
from fscontract.fakes.mutants.registry import Operation, mutant, right

_GET: Operation[Callable[..., Any]] = Operation(RightFilesystem, "get", lambda function: function)


@mutant("filesystem.get.file", _GET)
def path_is_a_directory(self: RightFilesystem, rpath: Any, lpath: Any, **options: Any) -> None:
    """The local path of a file is a directory, in which the copy has the name of the file."""
    single = isinstance(lpath, str) and not options and self.isfile(rpath)
    right(self).get(rpath, f"{lpath}/" if single else lpath, **options)


@mutant("filesystem.get.file", _GET)
def copy_is_a_block(self: RightFilesystem, rpath: Any, lpath: Any, **options: Any) -> None:
    """A copy of one file has 256 bytes at most."""
    right(self).get(rpath, lpath, **options)
    if isinstance(lpath, str) and os.path.isfile(lpath):
        Path(lpath).write_bytes(Path(lpath).read_bytes()[:256])


@mutant("filesystem.get.file-into-directory", _GET)
def slash_is_ignored(self: RightFilesystem, rpath: Any, lpath: Any, **options: Any) -> None:
    """A slash at the end of the local path of a file is ignored."""
    single = isinstance(rpath, str) and not options and isinstance(lpath, str)
    right(self).get(rpath, lpath.rstrip("/") if single else lpath, **options)


@mutant("filesystem.get.lists", _GET)
def paths_are_sorted(self: RightFilesystem, rpath: Any, lpath: Any, **options: Any) -> None:
    """Files are copied in the order of their paths, whatever that of the local paths is."""
    lists = isinstance(rpath, list) and isinstance(lpath, list)
    right(self).get(sorted(rpath) if lists else rpath, lpath, **options)


@mutant("filesystem.get.list-into-directory", _GET)
def list_keeps_directories(self: RightFilesystem, rpath: Any, lpath: Any, **options: Any) -> None:
    """The copies of a list keep the directories of the files below the one that all are in."""
    if not isinstance(rpath, list) or isinstance(lpath, list):
        return right(self).get(rpath, lpath, **options)
    common = os.path.commonpath(rpath)
    return right(self).get(rpath, [lpath + os.path.relpath(path, common) for path in rpath])


@mutant("filesystem.get.directory", _GET)
def directory_is_flat(self: RightFilesystem, rpath: Any, lpath: Any, **options: Any) -> None:
    """Directories below a directory are not copied."""
    if not options.get("recursive"):
        return right(self).get(rpath, lpath, **options)
    directory = self._strip_protocol(rpath)
    inside = [path for path in self.ls(rpath, False) if self._parent(path) == directory]
    return right(self).get(inside, lpath)


@mutant("filesystem.get.directory", _GET)
def name_is_kept(self: RightFilesystem, rpath: Any, lpath: Any, **options: Any) -> None:
    """The name of a directory is kept also if its path ends with a slash."""
    right(self).get(rpath.rstrip("/") if isinstance(rpath, str) else rpath, lpath, **options)


@mutant("filesystem.get.glob", _GET)
def pattern_is_recursive(self: RightFilesystem, rpath: Any, lpath: Any, **options: Any) -> None:
    """A pattern also copies the files below the directories that it matches."""
    matches = isinstance(rpath, str) and "*" in rpath
    given = rpath.rstrip("*") if matches else rpath
    right(self).get(given, lpath, **({"recursive": True} if matches else options))


@mutant("filesystem.get.missing", _GET)
def missing_file_is_skipped(self: RightFilesystem, rpath: Any, lpath: Any, **options: Any) -> None:
    """A missing file is not copied, and nothing is raised."""
    if not isinstance(rpath, str) or "*" in rpath or self.exists(rpath):
        right(self).get(rpath, lpath, **options)


@mutant("filesystem.get.leaves-nothing", _GET)
def creates_copy_first(self: RightFilesystem, rpath: Any, lpath: Any, **options: Any) -> None:
    """The local file is created before the other one is read."""
    if isinstance(lpath, str) and not lpath.endswith("/"):
        Path(lpath).touch()
    right(self).get(rpath, lpath, **options)
