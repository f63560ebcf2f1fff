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
def sizes_of_16_bits(
    self: RightFilesystem, path: str, detail: bool = True, **options: Any
) -> list[Any]:
    """The sizes of entries are their last 16 bits."""
    found = right(self).ls(path, detail, **options)
    return [{**one, "size": one["size"] % 65536} for one in found] if detail else found


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


@mutant("filesystem.find.files", _method("find"))
def empty_files_are_left_out(self: RightFilesystem, path: str, **options: Any) -> Any:
    """find() leaves out files without bytes."""
    found = right(self).find(path, **options)
    return found if options else [one for one in found if self.files[self._strip_protocol(one)]]


@mutant("filesystem.find.files", _method("find"))
def one_page_is_found(self: RightFilesystem, path: str, **options: Any) -> Any:
    """find() returns the first 1,000 files."""
    found = right(self).find(path, **options)
    return found[:1000] if isinstance(found, list) else found


@mutant("filesystem.find.files", _method("find"))
def quoted_names_are_decoded(self: RightFilesystem, path: str, **options: Any) -> Any:
    """find() decodes %25 in names."""
    found = right(self).find(path, **options)
    return [one.replace("%25", "%") for one in found] if isinstance(found, list) else found


@mutant("filesystem.find.directories", _method("find"))
def directories_are_left_out(
    self: RightFilesystem,
    path: str,
    maxdepth: int | None = None,
    withdirs: bool = False,
    **rest: Any,
) -> Any:
    """find() returns files alone, even with withdirs, but not for glob()."""
    return right(self).find(path, maxdepth, withdirs and bool(rest), **rest)


@mutant("filesystem.find.detail", _method("find"))
def details_have_size_1(self: RightFilesystem, path: str, **options: Any) -> Any:
    """find() with details has a size of 1 for each file."""
    found = right(self).find(path, **options)
    return {k: {**v, "size": 1} for k, v in found.items()} if isinstance(found, dict) else found


@mutant("filesystem.find.maxdepth", _method("find"))
def depth_is_ignored(self: RightFilesystem, path: str, **options: Any) -> Any:
    """find() descends to all levels, whatever the limit is."""
    return right(self).find(path, **{**options, "maxdepth": None})


@mutant("filesystem.glob", _method("glob"))
def one_match_alone(self: RightFilesystem, path: str, **options: Any) -> Any:
    """glob() of all files in a directory returns the first match."""
    found = right(self).glob(path, **options)
    return found[:1] if isinstance(found, list) and path.endswith("sub/*") else found


@mutant("filesystem.glob.folders", _method("glob"))
def slash_of_pattern_is_ignored(self: RightFilesystem, path: str, **options: Any) -> Any:
    """glob() removes a slash at the end of the pattern."""
    return right(self).glob(path.rstrip("/"), **options)


@mutant("filesystem.glob.detail", _method("glob"))
def details_are_names(self: RightFilesystem, path: str, **options: Any) -> Any:
    """glob() with details returns a list."""
    found = right(self).glob(path, **options)
    return [*found] if isinstance(found, dict) else found


@mutant("filesystem.glob.maxdepth", _method("glob"))
def all_levels_match(self: RightFilesystem, path: str, **options: Any) -> Any:
    """glob() ignores the limit of levels."""
    return right(self).glob(path, **{**options, "maxdepth": None})


@mutant("filesystem.walk", _method("walk"))
def files_of_root_alone(
    self: RightFilesystem, path: str, maxdepth: int | None = None, **options: Any
) -> Iterator[Any]:
    """walk() returns no files of the directories below the first one, without details."""
    for at, directories, files in right(self).walk(path, maxdepth, **options):
        is_root = bool(options) or at == self._strip_protocol(path)
        yield at, directories, files if is_root else []


@mutant("filesystem.walk.maxdepth", _method("walk"))
def one_level_more(
    self: RightFilesystem, path: str, maxdepth: int | None = None, **options: Any
) -> Iterator[Any]:
    """walk() to a depth counts from 0, without details."""
    more = maxdepth if maxdepth is None or "detail" in options else maxdepth + 1
    yield from right(self).walk(path, more, **options)


@mutant("filesystem.walk.bottom-up", _method("walk"))
def always_top_down(
    self: RightFilesystem, path: str, maxdepth: int | None = None, **options: Any
) -> Iterator[Any]:
    """walk() ignores topdown."""
    yield from right(self).walk(path, maxdepth, **{**options, "topdown": True})


@mutant("filesystem.walk.pruned", _method("walk"))
def walks_before_it_returns(
    self: RightFilesystem, path: str, maxdepth: int | None = None, **options: Any
) -> Iterator[Any]:
    """walk() goes through all levels before it returns the first one."""
    return iter([*right(self).walk(path, maxdepth, **options)])


@mutant("filesystem.du", _method("du"))
def counts_files(self: RightFilesystem, path: str, total: bool = True, **options: Any) -> Any:
    """du() returns the number of files."""
    used = right(self).du(path, total=False, **options)
    return len(used) if total else used


@mutant("filesystem.du.maxdepth", _method("du"))
def space_of_all_levels(self: RightFilesystem, path: str, **options: Any) -> Any:
    """du() counts files at all levels."""
    return right(self).du(path, **{**options, "maxdepth": None})


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


@mutant("filesystem.du.directories", _method("du"))
def space_of_files_alone(
    self: RightFilesystem, path: str, withdirs: bool = False, **options: Any
) -> Any:
    """du() has files alone, even with withdirs."""
    return right(self).du(path, **options)


@mutant("filesystem.cat.recursive", _method("cat"))
def cat_of_one_level(
    self: RightFilesystem, path: Any, recursive: bool = False, **options: Any
) -> Any:
    """cat() of a directory has the files in it, not those below subdirectories."""
    found = right(self).cat(path, recursive, **options)
    start = f"{path}/".count("/")
    return {k: v for k, v in found.items() if k.count("/") <= start} if recursive else found


@mutant("filesystem.expand-path", _method("expand_path"))
def one_path_is_expanded(self: RightFilesystem, path: Any, **options: Any) -> Any:
    """expand_path() expands the first of several patterns."""
    several = isinstance(path, list) and any("*" in one for one in path)
    return right(self).expand_path(path[:1] if several else path, **options)


@mutant("filesystem.invalidate-cache")
class KeepsListings(RightFilesystem):
    """Keeps the names that a directory had when it was first listed."""

    def __init__(self) -> None:
        super().__init__()
        self._names: dict[str, list[Any]] = {}

    def ls(self, path: str, detail: bool = True, **options: Any) -> list[Any]:
        """List the entries of a directory."""
        found = super().ls(path, detail, **options)
        is_again = self._strip_protocol(path).rpartition("/")[2].startswith("files-")
        return self._names.setdefault(path, found) if is_again and not detail else found


@mutant("filesystem.created", _method("created"))
def creation_is_a_number(self: RightFilesystem, path: str) -> float:
    """created() returns seconds."""
    return right(self).created(path).timestamp()


@mutant("filesystem.modified", _method("modified"))
def modification_is_text(self: RightFilesystem, path: str) -> str:
    """modified() returns text."""
    return right(self).modified(path).isoformat()
