"""Listings of directories by fsspec filesystems, and the same calls as source code."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from fscontract.contract.binding import Action
from fscontract.contract.program.filesystem_calls import BESIDE_LISTED, DEPTHS, LISTED, LISTED_FILES
from fscontract.contract.program.program import Step
from fscontract.contract.script.calls import Call, Form
from fscontract.contract.script.data import bytes_text
from fscontract.contract.script.layout import quoted
from fscontract.implementations.bindings.common import WrongType, several
from fscontract.implementations.bindings.file_operations import Fail
from fscontract.implementations.bindings.filesystem_calls import Target, bind_call, paths_of

_WRITTEN = {f"{LISTED}/{name}": data for name, data in LISTED_FILES.items()} | BESIDE_LISTED
#: The file in the directory itself.
_ONE = next(iter(LISTED_FILES))


def bind_listing(step: Step, target: Target, fail: Fail) -> Action:
    """Return a step of LISTING_OPERATIONS as a function of an object with `path`.

    The target has to write files in directories that may be missing.
    """
    return bind_call(_RUNS[step.op], step, target, fail, _WRITTEN)


def below(name: str) -> str:
    """Return what follows the directory in a path, in lower case, without slashes at its ends.

    Filesystems write in front of it what they like, may not tell upper from lower case, and may
    end the path of a directory with a slash. The last name of another path follows "?".
    """
    _, found, after = name.casefold().partition(LISTED)
    return after.strip("/") if found else f"?/{name.strip('/').rpartition('/')[2]}"


def _names(paths: object) -> tuple[str, ...]:
    return tuple(sorted(map(below, several(paths))))


def _ls(target: Target, path: str, detail: str) -> tuple[Any, ...]:
    if detail == "names":
        return _names(target.filesystem.ls(path + LISTED, detail=False))
    entries = several(target.filesystem.ls(path + LISTED, detail=True))
    return tuple(sorted((_entry(entry) for entry in entries), key=lambda entry: entry[0]))


def _entry(info: Mapping[str, Any]) -> tuple[str, Any, Any]:
    size = info["size"] if info["type"] == "file" else None
    return below(info["name"]), info["type"], size


def _find(target: Target, path: str, depth: str) -> tuple[str, ...]:
    maxdepth = DEPTHS[depth]
    options = {} if maxdepth is None else {"maxdepth": maxdepth}
    return _names(target.filesystem.find(path + LISTED, **options))


def _walk(target: Target, path: str) -> tuple[Any, ...]:
    return tuple(
        sorted(
            (below(at), _sorted(directories), _sorted(files))
            for at, directories, files in target.filesystem.walk(path + LISTED)
        )
    )


def _sorted(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(name.casefold().strip("/") for name in names))


def _du(target: Target, path: str, total: bool) -> Any:
    if target.filesystem.info(f"{path}{LISTED}/{_ONE}")["size"] is None:
        raise NotImplementedError("the filesystem can't measure sizes")
    used = target.filesystem.du(path + LISTED, total=total)
    return used if total else _pairs(used)


def _pairs(result: object) -> tuple[tuple[str, Any], ...]:
    if not isinstance(result, Mapping):
        raise WrongType(f"expected a dictionary, got {type(result).__name__}")
    return tuple(sorted((below(key), value) for key, value in result.items()))


def _kind(target: Target, path: str, method: str) -> Any:
    fs, directory = target.filesystem, path + LISTED
    if method == "isdir":
        paths = directory, f"{directory}/{_ONE}", paths_of(path, "missing")
        return tuple(fs.isdir(one) for one in paths)
    return fs.info(directory)["type"] if method == "info" else fs.isfile(directory)


_RUNS: dict[str, Callable[..., Any]] = {
    "fs_ls": _ls,
    "fs_find": _find,
    "fs_glob": lambda t, path, pattern: _names(t.filesystem.glob(f"{path}{LISTED}/{pattern}")),
    "fs_walk": _walk,
    "fs_du": _du,
    "fs_directory": _kind,
}


# Source code ---------------------------------------------------------------------------------

_BELOW = f'below = lambda name: name.casefold().partition({quoted(LISTED)})[2].strip("/")'


def spell_listing(step: Step) -> Call | None:
    """Return a step as a call of the filesystem `fs` on the directory; None if it is none."""
    spell = _SPELLINGS.get(step.op)
    if spell is None:
        return None
    call, text = spell(*step.args)
    directories = dict.fromkeys(name.rpartition("/")[0] for name in _WRITTEN)
    made = (f"fs.makedirs(path + {quoted(one)}, exist_ok=True)" for one in directories)
    written = (f"fs.pipe_file(path + {quoted(n)}, {bytes_text(d)})" for n, d in _WRITTEN.items())
    listed = f"tree = path + {quoted(LISTED)}"
    before = (*made, *written, listed, _BELOW, f"found = {call}")
    return Call(text, Form.EQUAL, before=before, shown=call)


_NAMES = "sorted(map(below, found))"


def _spell_ls(detail: str) -> tuple[str, str]:
    if detail == "names":
        return "fs.ls(tree, detail=False)", _NAMES
    size = 'one["size"] if one["type"] == "file" else None'
    entries = f'[below(one["name"]), one["type"], {size}]'
    return "fs.ls(tree, detail=True)", f"sorted({entries} for one in found)"


def _spell_walk() -> tuple[str, str]:
    names = "sorted(one.casefold().strip('/') for one in {})"
    triple = f"[below(at), {names.format('inside')}, {names.format('files')}]"
    return "[*fs.walk(tree)]", f"sorted({triple} for at, inside, files in found)"


def _spell_du(total: bool) -> tuple[str, str]:
    pairs = "sorted([below(key), value] for key, value in found.items())"
    return f"fs.du(tree, total={total})", "found" if total else pairs


def _spell_kind(method: str) -> tuple[str, str]:
    if method != "isdir":
        return f"fs.{method}(tree)", 'found["type"]' if method == "info" else "found"
    paths = f"tree, tree + {quoted('/' + _ONE)}, path + {quoted('.missing')}"
    return f"[fs.isdir(one) for one in [{paths}]]", "found"


def _spell_find(depth: str) -> tuple[str, str]:
    maxdepth = DEPTHS[depth]
    return f"fs.find(tree{'' if maxdepth is None else f', maxdepth={maxdepth}'})", _NAMES


_SPELLINGS: dict[str, Callable[..., tuple[str, str]]] = {
    "fs_ls": _spell_ls,
    "fs_find": _spell_find,
    "fs_glob": lambda pattern: (f"fs.glob(tree + {quoted('/' + pattern)})", _NAMES),
    "fs_walk": _spell_walk,
    "fs_du": _spell_du,
    "fs_directory": _spell_kind,
}
