"""Model of how an fsspec filesystem lists the files and directories below a directory.

Names are paths below it, in order. An entry is a name, a type and the size of a file. A listing of
many files is the number of right names and that of wrong ones.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import TypeAlias

from fscontract.contract.models.filesystem_rules import Rule, RuleTable, named, operations
from fscontract.contract.program.filesystem_calls import (
    CALLERS,
    GLOBS,
    LISTED_DIRECTORIES,
    LISTED_FILES,
    LISTERS,
    LISTINGS,
    MANY_FILES,
    MATCHED,
    NAMED,
    OTHER,
    SEARCHES,
    SPACES,
    TIMES,
    WALKS,
)

#: A name, a type, and the size of a file, each.
_Entries: TypeAlias = tuple[tuple[str, str, int | None], ...]


def _inside(directory: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of the directories and of the files in a directory."""
    start = f"{directory}/" if directory else ""
    rest = [name.removeprefix(start) for name in LISTED_FILES if name.startswith(start)]
    directories = sorted({name.partition("/")[0] for name in rest if "/" in name})
    return tuple(directories), tuple(sorted(name for name in rest if "/" not in name))


_BELOW = tuple(sorted((*LISTED_FILES, *LISTED_DIRECTORIES)))


def _files(maxdepth: int | None) -> tuple[str, ...]:
    """Return the names of the files at most `maxdepth` levels below the directory."""
    return tuple(sorted(n for n in LISTED_FILES if maxdepth is None or n.count("/") < maxdepth))


def _entries(names: Iterable[str]) -> tuple[_Entries, _Entries]:
    """Return the entries of these names with the sizes of files, and without them."""
    known = tuple(
        (name, "file", len(LISTED_FILES[name]))
        if name in LISTED_FILES
        else (name, "directory", None)
        for name in names
    )
    return known, tuple((name, kind, None) for name, kind, _ in known)


def _ls(data: bytes, listed: str) -> Rule:
    end, detail = LISTINGS[listed]
    directory = end.strip("/")
    start = f"{directory}/" if directory else ""
    names = tuple(sorted(start + name for found in _inside(directory) for name in found))
    if detail:
        return Rule("filesystem.ls.detail", _entries(names))
    return Rule("filesystem.ls.names", (names,))


def _find(data: bytes, found: str) -> Rule:
    options = SEARCHES[found]
    if "withdirs" in options:
        return Rule("filesystem.find.directories", (_BELOW, ("", *_BELOW)))
    maxdepth = options.get("maxdepth")
    if "detail" in options:
        return Rule("filesystem.find.detail", _entries(_files(maxdepth)))
    return Rule(f"filesystem.find.{'maxdepth' if maxdepth else 'files'}", (_files(maxdepth),))


def _glob(data: bytes, pattern: str) -> Rule:
    files, directories = MATCHED[pattern]
    if pattern.endswith("/"):
        return Rule("filesystem.glob.folders", (directories,))
    return Rule("filesystem.glob", (tuple(sorted((*files, *directories))), files))


def _glob_with(data: bytes, globbed: str) -> Rule:
    """Return the rule of a glob; a pattern for all levels may match the directory itself."""
    if globbed == "details":
        files, directories = MATCHED[GLOBS[globbed][0]]
        found = [_entries(names) for names in (sorted((*files, *directories)), files)]
        return Rule("filesystem.glob.detail", tuple(entries for pair in found for entries in pair))
    maxdepth = GLOBS[globbed][1].get("maxdepth")
    files = _files(maxdepth)
    names = tuple(sorted((*files, *(n for n in _BELOW if maxdepth is None or "/" not in n))))
    names = tuple(dict.fromkeys(names))
    clause = f"filesystem.glob{'.maxdepth' if maxdepth else ''}"
    return Rule(clause, (names, ("", *names), files))


def _entry(data: bytes) -> Rule:
    return Rule("filesystem.ls.detail", (("file", len(data)), ("file", None)))


def _walk(data: bytes, walked: str) -> Rule:
    """Return the rule of a walk; each directory has one below it at most, so there is one order."""
    triples = [(name, *_inside(name)) for name in ("", *LISTED_DIRECTORIES)]
    if walked == "bottom up":
        return Rule("filesystem.walk.bottom-up", (tuple(reversed(triples)),))
    if walked == "pruned":
        return Rule("filesystem.walk.pruned", (tuple(triples[:1]),))
    maxdepth = WALKS[walked].get("maxdepth")
    return Rule(f"filesystem.walk{'.maxdepth' if maxdepth else ''}", (tuple(triples[:maxdepth]),))


def _du(data: bytes, used: str) -> Rule:
    maxdepth = SPACES[used].get("maxdepth")
    if "withdirs" in SPACES[used]:
        return Rule("filesystem.du.directories", (_BELOW, ("", *_BELOW)))
    pairs = tuple((name, len(LISTED_FILES[name])) for name in _files(maxdepth))
    value = sum(size for _, size in pairs) if used == "total" else pairs
    return Rule(f"filesystem.du{'.maxdepth' if maxdepth else ''}", (value,))


def _directory(data: bytes, method: str) -> Rule:
    value = {"isdir": (True, True, True, False, False, False), "isfile": False, "info": "directory"}
    return Rule(f"filesystem.directory.{method}", (value[method],))


def _cat_tree(data: bytes) -> Rule:
    return Rule("filesystem.cat.recursive", (tuple(sorted(LISTED_FILES.items())),))


def _expand(data: bytes, expanded: str) -> Rule:
    if expanded == "directory":
        right = _files(None), _BELOW, ("", *_BELOW)
        return Rule("filesystem.expand-path", right)
    return Rule("filesystem.expand-path", (("one", "sub/a.b", "sub/two"),))


#: The names that each listing has after a file was added, and what other calls return.
_AGAIN = {
    **dict.fromkeys(("ls", "find", "glob *", "walk"), ("first", "second")),
    "info": (2, None),
    "exists": (True, False),
    "isfile": (True, False),
}


def _listed_again(data: bytes, again: str) -> Rule:
    right = _AGAIN[again]
    return Rule("filesystem.invalidate-cache", right if again == "info" else (right,))


#: The clause of each method.
_CLAUSES = {
    "ls": "ls.names",
    "ls details": "ls.detail",
    "find": "find.files",
    "glob *": "glob",
    "walk": "walk",
    "du": "du",
    "info": "info.size",
    "size": "size",
    "exists": "exists.file",
    "isfile": "isfile.file",
    "cat": "cat.one",
    "cat_file": "cat-file.whole",
    "head": "head.data",
    "tail": "tail.data",
    "get_file": "get-file.data",
    "get": "get.directory",
}


def _many(data: bytes, lister: str) -> Rule:
    return Rule(f"filesystem.{_CLAUSES[lister]}", ((MANY_FILES, 0),))


def _named_file(data: bytes, caller: str, name: str) -> Rule:
    entry = NAMED[name], "file"
    values: dict[str, tuple[object, ...]] = {
        "ls details": (((*entry, len(OTHER)),), ((*entry, None),)),
        "info": ((*entry, len(OTHER)), (*entry, None)),
        "get": (((f"{name}/{NAMED[name]}", OTHER),),),
        "size": (len(OTHER), None),
        **dict.fromkeys(("exists", "isfile"), (True,)),
        **dict.fromkeys(("cat", "cat_file", "head", "tail", "get_file"), (OTHER,)),
    }
    return Rule(f"filesystem.{_CLAUSES[caller]}", values.get(caller, ((NAMED[name],),)))


def _time(data: bytes, time: str) -> Rule:
    return Rule(f"filesystem.{TIMES[time]}", (True,))


_named = partial(named, "filesystem")
_of_listers, _of_callers = (
    tuple(f"filesystem.{_CLAUSES[method]}" for method in methods) for methods in (LISTERS, CALLERS)
)
RULES: RuleTable = {
    "fs_ls": (_ls, _named("ls", "names", "detail")),
    "fs_find": (_find, _named("find", "files", "maxdepth", "directories", "detail")),
    "fs_entry": (_entry, ("filesystem.ls.detail",)),
    "fs_glob": (_glob, ("filesystem.glob", "filesystem.glob.folders")),
    "fs_glob_with": (_glob_with, ("filesystem.glob", *_named("glob", "detail", "maxdepth"))),
    "fs_walk": (_walk, ("filesystem.walk", *_named("walk", "maxdepth", "bottom-up", "pruned"))),
    "fs_du": (_du, ("filesystem.du", *_named("du", "maxdepth", "directories"))),
    "fs_directory": (_directory, _named("directory", "isdir", "isfile", "info")),
    "fs_cat_tree": (_cat_tree, ("filesystem.cat.recursive",)),
    "fs_expand": (_expand, ("filesystem.expand-path",)),
    "fs_listed_again": (_listed_again, ("filesystem.invalidate-cache",)),
    "fs_many": (_many, _of_listers),
    "fs_named": (_named_file, _of_callers),
    "fs_time": (_time, ("filesystem.created", "filesystem.modified")),
}
TABLES = operations(RULES)
