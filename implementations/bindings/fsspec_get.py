"""Calls of `get` of an fsspec filesystem, and the same calls as source code."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from fscontract.contract.binding import Action
from fscontract.contract.program.filesystem_calls import TREE, TREE_FILES
from fscontract.contract.program.program import Step
from fscontract.contract.script.calls import Call, Form, path_text
from fscontract.contract.script.data import bytes_text
from fscontract.contract.script.layout import quoted
from fscontract.implementations.bindings.file_operations import Fail
from fscontract.implementations.bindings.filesystem_calls import Target, bind_call, paths_of


class _Given(NamedTuple):
    """The arguments of `get`: ends of the path of the file, and paths below a local directory."""

    remote: str | tuple[str, ...]
    local: str | tuple[str, ...] = ""
    recursive: bool = False


_ONE, _TWO = (f"{TREE}/{name}" for name in TREE_FILES)
_GIVEN = {
    "file": _Given("", "copy"),
    "file into directory": _Given(_ONE),
    "file into new directory": _Given(_ONE, "new/"),
    "lists": _Given((_TWO, ""), ("first", "second")),
    "list into directory": _Given((_ONE, _TWO)),
    "directory": _Given(f"{TREE}/", "new/", recursive=True),
    "directory into directory": _Given(TREE, recursive=True),
    "content of directory": _Given(f"{TREE}/", recursive=True),
    "pattern": _Given(f"{TREE}/*"),
}


def bind_get(step: Step, target: Target, fail: Fail) -> Action:
    """Return a step of GET_OPERATIONS as a function of an object with `path`.

    The target has to write files in directories that may be missing.
    """
    tree = step.op == "fs_get" and step.args != ("file",)
    files = {f"{TREE}/{name}": data for name, data in TREE_FILES.items()} if tree else {}
    return bind_call(_RUNS[step.op], step, target, fail, files)


def _after(start: str, ends: str | tuple[str, ...]) -> str | list[str]:
    return start + ends if isinstance(ends, str) else [start + end for end in ends]


def _get(target: Target, path: str, copied: str) -> tuple[tuple[str, bytes], ...]:
    given = _GIVEN[copied]
    options = {"recursive": True} if given.recursive else {}
    with tempfile.TemporaryDirectory() as directory:
        local = _after(f"{directory}/", given.local)
        target.filesystem.get(_after(path, given.remote), local, **options)
        return _files_below(Path(directory))


def _files_below(directory: Path) -> tuple[tuple[str, bytes], ...]:
    """Return pairs of the path of each file below a directory and its bytes, in order."""
    found = [path for path in directory.rglob("*") if not path.is_dir()]
    return tuple(
        sorted((path.relative_to(directory).as_posix(), path.read_bytes()) for path in found)
    )


def _get_missing(target: Target, path: str) -> bool:
    with tempfile.TemporaryDirectory() as directory:
        copy = Path(directory, "copy")
        target.filesystem.get(paths_of(path, "missing"), str(copy))
        return copy.exists()


def _missing_leaves(target: Target, path: str) -> bool:
    with tempfile.TemporaryDirectory() as directory:
        copy = Path(directory, "copy")
        try:
            target.filesystem.get(paths_of(path, "missing"), str(copy))
        except NotImplementedError:
            raise
        except Exception:  # noqa: S110  # another clause is about what it raises
            pass
        return copy.exists()


_RUNS: dict[str, Callable[..., Any]] = {
    "fs_get": _get,
    "fs_get_missing": _get_missing,
    "fs_get_missing_leaves": _missing_leaves,
}


# Source code ---------------------------------------------------------------------------------


def spell_get(step: Step) -> Call | None:
    """Return a step as a call of the filesystem `fs` on `path`; None if it is none."""
    spell = _SPELLINGS.get(step.op)
    return None if spell is None else spell(*step.args)


def _spelled(variable: str, ends: str | tuple[str, ...]) -> str:
    if isinstance(ends, tuple):
        return f"[{', '.join(_spelled(variable, end) for end in ends)}]"
    return f"{variable} + {quoted(ends)}" if ends else variable


def _spell_copied(copied: str) -> Call:
    given = _GIVEN[copied]
    more = ", recursive=True" if given.recursive else ""
    remote, local = _spelled("path", given.remote), _spelled("local", given.local)
    getting = f"fs.get({remote}, {local}{more})"
    written = () if copied == "file" else _written()
    walked = "names = [os.path.join(at, name) for at, _, found in os.walk(local) for name in found]"
    return Call(
        '[[os.path.relpath(name, local), open(name, "rb").read()] for name in sorted(names)]',
        Form.EQUAL,
        before=(*written, 'local = tempfile.mkdtemp() + "/"', getting, walked),
        shown=getting,
    )


def _written() -> tuple[str, ...]:
    """Return the statements that write the files below TREE."""
    directory = f'path + "{TREE}'
    files = (f'fs.pipe_file({directory}/{n}", {bytes_text(d)})' for n, d in TREE_FILES.items())
    return f'fs.makedirs({directory}/sub", exist_ok=True)', *files


_LOCAL = 'local = os.path.join(tempfile.mkdtemp(), "copy")'
_GETTING = f"fs.get({path_text('missing')}, local)"


def _spell_missing() -> Call:
    return Call("os.path.exists(local)", Form.EQUAL, before=(_LOCAL, _GETTING), shown=_GETTING)


def _spell_leaves() -> Call:
    before = _LOCAL, f"with contextlib.suppress(Exception): {_GETTING}"
    return Call("os.path.exists(local)", Form.EQUAL, before=before)


_SPELLINGS: dict[str, Callable[..., Call]] = {
    "fs_get": _spell_copied,
    "fs_get_missing": _spell_missing,
    "fs_get_missing_leaves": _spell_leaves,
}
