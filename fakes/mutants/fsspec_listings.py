"""Mutants of fsspec filesystems that list directories."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from fscontract.fakes.mutants.correct_filesystem import RightFilesystem
from fscontract.fakes.mutants.registry import Operation, mutant, right


def _method(name: str) -> Operation[Callable[..., Any]]:
    return Operation(RightFilesystem, name, lambda function: function)


@mutant("filesystem.ls.names", _method("ls"))
def lists_alike_beside(
    self: RightFilesystem, path: str, detail: bool = True, **options: Any
) -> list[Any]:
    """The names have the files of other directories whose paths begin alike."""
    found = right(self).ls(path, detail, **options)
    name = self._strip_protocol(path)
    beside = [one for one in self.files if one.startswith(name) and one[len(name)] not in "/."]
    return found if detail else [*found, *beside]


@mutant("filesystem.ls.names", _method("ls"))
def lists_itself(
    self: RightFilesystem, path: str, detail: bool = True, **options: Any
) -> list[Any]:
    """The names of a directory begin with its own."""
    found = right(self).ls(path, detail, **options)
    return found if detail else [self._strip_protocol(path), *found]


@mutant("filesystem.ls.detail", _method("ls"))
def entries_have_size_0(
    self: RightFilesystem, path: str, detail: bool = True, **options: Any
) -> list[Any]:
    """All entries have a size of 0."""
    found = right(self).ls(path, detail, **options)
    return [{**one, "size": 0} for one in found] if detail else found


@mutant("filesystem.find.files", _method("find"))
def hidden_files_are_left_out(self: RightFilesystem, path: str, **options: Any) -> Any:
    """find() leaves out files whose names begin with a dot."""
    found = right(self).find(path, **options)
    return [one for one in found if "/." not in one[len(path) :]] if not options else found


@mutant("filesystem.find.maxdepth", _method("find"))
def depth_is_ignored(self: RightFilesystem, path: str, **options: Any) -> Any:
    """find() descends to all levels, whatever the limit is."""
    return right(self).find(path, **{**options, "maxdepth": None})


@mutant("filesystem.glob", _method("glob"))
def one_match_alone(self: RightFilesystem, path: str, **options: Any) -> Any:
    """glob() of all files in a directory returns the first match."""
    found = right(self).glob(path, **options)
    return found[:1] if isinstance(found, list) and path.endswith("sub/*") else found


@mutant("filesystem.walk", _method("walk"))
def files_of_root_alone(
    self: RightFilesystem, path: str, maxdepth: int | None = None, **options: Any
) -> Iterator[Any]:
    """walk() returns no files of the directories below the first one, without details."""
    for at, directories, files in right(self).walk(path, maxdepth, **options):
        is_root = bool(options) or at == self._strip_protocol(path)
        yield at, directories, files if is_root else []


@mutant("filesystem.du", _method("du"))
def counts_files(self: RightFilesystem, path: str, total: bool = True, **options: Any) -> Any:
    """du() returns the number of files."""
    used = right(self).du(path, total=False, **options)
    return len(used) if total else used


@mutant("filesystem.directory.isdir", _method("isdir"))
def whatever_exists(self: RightFilesystem, path: str) -> bool:
    """isdir() is True for files whose names have no suffix."""
    return right(self).isdir(path) or ("." not in self._name(path) and self.exists(path))


@mutant("filesystem.directory.isfile", _method("isfile"))
def directories_are_files(self: RightFilesystem, path: str) -> bool:
    """isfile() is True for directories."""
    return right(self).exists(path)


@mutant("filesystem.directory.info", _method("info"))
def type_is_a_prefix(self: RightFilesystem, path: str, **options: Any) -> dict[str, Any]:
    """The type of a directory is "prefix"."""
    found = right(self).info(path, **options)
    return {**found, "type": "prefix"} if found["type"] == "directory" else found
