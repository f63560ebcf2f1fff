"""Model of how an fsspec filesystem lists the files and directories below a directory.

Names are paths below it, in order. An entry is a name, a type and the size of a file.
"""

from __future__ import annotations

from functools import partial

from fscontract.contract.models.filesystem_rules import Rule, RuleTable, named, operations
from fscontract.contract.program.filesystem_calls import DEPTHS, LISTED_FILES, MATCHED


def _inside(directory: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of the directories and of the files in a directory."""
    start = f"{directory}/" if directory else ""
    rest = [name.removeprefix(start) for name in LISTED_FILES if name.startswith(start)]
    directories = sorted({name.partition("/")[0] for name in rest if "/" in name})
    return tuple(directories), tuple(sorted(name for name in rest if "/" not in name))


_DIRECTORIES = sorted({name.rpartition("/")[0] for name in LISTED_FILES})
_SIZES = tuple(sorted((name, len(data)) for name, data in LISTED_FILES.items()))


def _ls(data: bytes, detail: str) -> Rule:
    directories, files = _inside("")
    if detail == "names":
        return Rule("filesystem.ls.names", (tuple(sorted((*directories, *files))),))
    inside = [(name, "directory", None) for name in directories]
    known = [(name, "file", len(LISTED_FILES[name])) for name in files]
    unknown = [(name, "file", None) for name in files]
    permitted = tuple(tuple(sorted([*inside, *some])) for some in (known, unknown))
    return Rule("filesystem.ls.detail", permitted)


def _find(data: bytes, depth: str) -> Rule:
    maxdepth = DEPTHS[depth]
    names = sorted(n for n in LISTED_FILES if maxdepth is None or n.count("/") < maxdepth)
    clause = "files" if maxdepth is None else "maxdepth"
    return Rule(f"filesystem.find.{clause}", (tuple(names),))


def _glob(data: bytes, pattern: str) -> Rule:
    files, directories = MATCHED[pattern]
    return Rule("filesystem.glob", (tuple(sorted((*files, *directories))), files))


def _walk(data: bytes) -> Rule:
    return Rule("filesystem.walk", (tuple((name, *_inside(name)) for name in _DIRECTORIES),))


def _du(data: bytes, total: bool) -> Rule:
    return Rule("filesystem.du", (sum(size for _, size in _SIZES) if total else _SIZES,))


def _directory(data: bytes, method: str) -> Rule:
    value = {"isdir": (True, False, False), "isfile": False, "info": "directory"}[method]
    return Rule(f"filesystem.directory.{method}", (value,))


_named = partial(named, "filesystem")
RULES: RuleTable = {
    "fs_ls": (_ls, _named("ls", "names", "detail")),
    "fs_find": (_find, _named("find", "files", "maxdepth")),
    "fs_glob": (_glob, ("filesystem.glob",)),
    "fs_walk": (_walk, ("filesystem.walk",)),
    "fs_du": (_du, ("filesystem.du",)),
    "fs_directory": (_directory, _named("directory", "isdir", "isfile", "info")),
}
TABLES = operations(RULES)
