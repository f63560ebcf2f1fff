"""Reads through a filesystem of fsspec in front of another one, and the same as source code."""

from __future__ import annotations

import itertools
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

from fscontract.contract.binding import Action
from fscontract.contract.program.filesystem_calls import CHAIN_CONTENT, FIRST_READS
from fscontract.contract.program.program import Step
from fscontract.contract.script.calls import Call, Form
from fscontract.contract.script.data import bytes_text
from fscontract.implementations.bindings.common import plain_bytes
from fscontract.implementations.bindings.file_operations import Fail
from fscontract.implementations.bindings.filesystem_calls import Target, bind_call
from fscontract.implementations.bindings.fsspec_quirks import protocols

#: The bytes of a file after each change.
_NEW = {"same size": b"ABCDEFGH", "longer": b"ABCDEFGHIJKL", "shorter": b"ABC"}
#: Numbers for paths that are used once.
_numbers = itertools.count()
#: The longest time in seconds after which a copy expires: a clock is moved by it.
_LONGEST = 10**9
#: The seconds in which a second thread reads, if it does not wait for the first one, and the
#: longest ones.
_PATIENCE, _LIMIT = 0.2, 10.0
#: The end of the path of the file that changes.
_CHANGED = ".below"


def chain_operations(filesystem: Any) -> frozenset[str]:
    """Return the operations of CHAIN_OPERATIONS that a filesystem has."""
    if not hasattr(filesystem, "fs"):
        return frozenset()
    if hasattr(filesystem, "check_files"):
        is_simple = "simplecache" in protocols(filesystem)
        threads = {"fs_chain_threads" if is_simple else "fs_chain_cache_threads"}
        checked = {"fs_chain_checked", "fs_chain_deleted"}
        kept = checked if filesystem.check_files else {"fs_chain_unchecked"}
        expired = {"fs_chain_expired"} if _expires(filesystem) else set()
        first = {f"fs_chain_first_{method}" for method in FIRST_READS}
        return frozenset(kept | expired | threads | first)
    module = sys.modules.get("fsspec.implementations.dirfs")
    is_directory = module is not None and isinstance(filesystem, module.DirFileSystem)
    return frozenset({"fs_chain_directory"} if is_directory else ())


def _expires(cache: Any) -> bool:
    """Return whether copies expire, and the clock can be moved: no event loop is behind."""
    expiry = getattr(cache, "expiry", None)
    limited = isinstance(expiry, int | float) and 0 < expiry < _LONGEST
    return limited and not getattr(cache.fs, "async_impl", False)


def bind_chain(step: Step, target: Target, fail: Fail) -> Action:
    """Return a step of CHAIN_OPERATIONS as a function of an object with `path`."""
    call = _CALLS[step.op]
    return bind_call(lambda t, path, *args: call(t.filesystem, path, *args), step, target, fail)


def _behind(fs: Any, path: str) -> str:
    """Write a file behind a cache, read it through the cache, and return its path.

    Raise NotImplementedError if the cache can't read it: not every cache can be in front of every
    filesystem.
    """
    path += _CHANGED
    fs.fs.pipe_file(path, CHAIN_CONTENT)
    try:
        if plain_bytes(fs.cat_file(path)) == CHAIN_CONTENT:
            return path
    except AttributeError as error:
        raise NotImplementedError("the cache does not read files of this filesystem") from error
    except FileNotFoundError:
        pass  # not in the list of files that the cache keeps
    raise NotImplementedError("the cache does not read what is written behind it")


def _opened(fs: Any, path: str) -> Any:
    with fs.open(path, "rb") as file:
        return file.read()


#: The reads of a whole file.
_READS: dict[str, Callable[[Any, str], Any]] = {
    "cat": lambda fs, path: fs.cat(path),
    "cat_file": lambda fs, path: fs.cat_file(path),
    "cat_ranges": lambda fs, path: fs.cat_ranges(
        [path], [0], [len(CHAIN_CONTENT)], on_error="raise"
    )[0],
    "head": lambda fs, path: fs.head(path, len(CHAIN_CONTENT)),
    "open": _opened,
}


def _first(method: str, fs: Any, path: str) -> bytes:
    """Read a file that the cache has neither read nor written before.

    The cache must be able to read another one that was written behind it just after that.
    """
    first = f"{path}.{next(_numbers)}{_CHANGED}"
    fs.fs.pipe_file(first, CHAIN_CONTENT)
    _behind(fs, f"{path}.{next(_numbers)}")
    return plain_bytes(_READS[method](fs, first))


def _changed(fs: Any, path: str, change: str) -> str:
    """Return which of the contents is read after a change."""
    changed = _behind(fs, path)
    fs.fs.pipe_file(changed, _NEW[change])
    return _version(fs.cat_file(changed), change)


def _expired(fs: Any, path: str, change: str) -> str:
    """Return which of the contents is read when the copy has expired.

    The path is new: its next copy is one of a later time, which does not expire in this run.
    """
    changed = _behind(fs, f"{path}.{next(_numbers)}")
    fs.fs.pipe_file(changed, _NEW[change])
    with _times_kept(fs), _clock_moved(fs.expiry + 1) as calls:
        found = _version(fs.cat_file(changed), change)
    if not calls:
        raise NotImplementedError("the cache has another clock")
    return found


@contextmanager
def _times_kept(cache: Any) -> Iterator[None]:
    """Put back the times that a cache notes in its attributes by the moved clock."""
    attributes = object.__getattribute__(cache, "__dict__")
    before = {name: value for name, value in attributes.items() if isinstance(value, float)}
    try:
        yield
    finally:
        attributes.update(before)


@contextmanager
def _clock_moved(seconds: float) -> Iterator[list[str]]:
    """Move the clock of the time module forward; yield a list of the calls of this thread."""
    calls: list[str] = []
    thread = threading.get_ident()

    def moved(name: str, ahead: float) -> Callable[[], Any]:
        clock = getattr(time, name)

        def read() -> Any:
            if threading.get_ident() != thread:
                return clock()
            calls.append(name)
            return clock() + ahead

        return read

    nanoseconds = int(seconds * 10**9)
    with (
        mock.patch.object(time, "time", moved("time", seconds)),
        mock.patch.object(time, "time_ns", moved("time_ns", nanoseconds)),
    ):
        yield calls


def _version(found: Any, change: str) -> str:
    """Return which of the contents some bytes are."""
    found = plain_bytes(found)
    return {CHAIN_CONTENT: "old", _NEW[change]: "new"}.get(found, "neither")


def _deleted(fs: Any, path: str) -> bytes:
    changed = _behind(fs, path)
    fs.fs.rm(changed)
    return plain_bytes(fs.cat_file(changed))


def _threads(fs: Any, path: str) -> bytes:
    """Return what a thread reads that opens a file while another one makes the first copy of it.

    Raise NotImplementedError if the cache calls neither `get_file` nor `cat_ranges` for it.
    """
    path = _behind(fs, f"{path}.{next(_numbers)}").replace(_CHANGED, f".new{_CHANGED}")
    fs.fs.pipe_file(path, CHAIN_CONTENT)
    found: list[Any] = []

    def read() -> None:
        try:
            found.append(plain_bytes(_opened(fs, path)))
        except Exception as error:  # of any class, as of the target
            found.append(error)

    second, begun = threading.Thread(target=read, daemon=True), threading.Lock()
    get_file, cat_ranges = fs.fs.get_file, fs.fs.cat_ranges

    def slow_file(rpath: str, lpath: str, **options: Any) -> None:
        if begun.acquire(blocking=False):
            Path(lpath).write_bytes(CHAIN_CONTENT[:4])
            second.start()
            second.join(_PATIENCE)  # it may wait for the first one
        get_file(rpath, lpath, **options)

    def slow_ranges(*args: Any, **options: Any) -> Any:
        if begun.acquire(blocking=False):
            second.start()
            second.join(_PATIENCE)
        return cat_ranges(*args, **options)

    with (
        mock.patch.object(fs.fs, "get_file", slow_file),
        mock.patch.object(fs.fs, "cat_ranges", slow_ranges),
    ):
        _opened(fs, path)
        if not begun.locked():
            raise NotImplementedError("the cache calls neither get_file nor cat_ranges")
        second.join(_LIMIT)
    if not found:
        raise TimeoutError("the second thread does not return")
    if isinstance(found[0], Exception):
        raise found[0]
    return bytes(found[0])


def _directory(fs: Any, path: str) -> bytes:
    """Read a file by its relative path that is written by the whole one."""
    relative = path.strip("/") + _CHANGED
    below = f"{fs.path}{fs.fs.sep}{relative}"
    fs.fs.pipe_file(below, CHAIN_CONTENT)
    try:
        return plain_bytes(fs.cat_file(relative))
    finally:
        fs.fs.rm(below)


_CALLS: dict[str, Callable[..., Any]] = {
    **{f"fs_chain_first_{method}": partial(_first, method) for method in FIRST_READS},
    "fs_chain_checked": _changed,
    "fs_chain_deleted": _deleted,
    "fs_chain_unchecked": _changed,
    "fs_chain_expired": _expired,
    "fs_chain_threads": _threads,
    "fs_chain_cache_threads": _threads,
    "fs_chain_directory": _directory,
}


# Source code ---------------------------------------------------------------------------------


def spell_chain(step: Step) -> Call | None:
    """Return a step as calls of `fs` and of the filesystem behind it; None if it is none."""
    spell = _SPELLINGS.get(step.op)
    return None if spell is None else spell(*step.args)


def _spell_behind(change: str, text: str) -> Call:
    before = (
        f'below = path + "{_CHANGED}"',
        f"fs.fs.pipe_file(below, {bytes_text(CHAIN_CONTENT)})",
        "fs.cat_file(below)",
        change,
    )
    return Call(text, Form.EQUAL, before=before)


def _spell_changed(change: str) -> Call:
    new = bytes_text(_NEW[change])
    contents = f'{{{bytes_text(CHAIN_CONTENT)}: "old", {new}: "new"}}'
    return _spell_behind(f"fs.fs.pipe_file(below, {new})", f"{contents}.get(fs.cat_file(below))")


def _spell_expired(change: str) -> Call:
    call = _spell_changed(change)
    moved = "clock = time.time", "time.time = lambda: clock() + fs.expiry + 1"
    return replace(call, before=(*call.before, *moved))


#: The reads of a whole file as text.
_READS_TEXT = {
    "cat": "fs.cat(below)",
    "cat_file": "fs.cat_file(below)",
    "cat_ranges": f'fs.cat_ranges([below], [0], [{len(CHAIN_CONTENT)}], on_error="raise")[0]',
    "head": f"fs.head(below, {len(CHAIN_CONTENT)})",
    "open": 'fs.open(below, "rb").read()',
}


def _spell_threads() -> Call:
    reading = 'fs.open(below, "rb").read()'
    before = (
        f'below = path + "{_CHANGED}"',
        f"fs.fs.pipe_file(below, {bytes_text(CHAIN_CONTENT)})",
        "get_file, found = fs.fs.get_file, []",
        f"second = threading.Thread(target=lambda: found.append({reading}))",
        f"begin = lambda copy: pathlib.Path(copy).write_bytes({bytes_text(CHAIN_CONTENT[:4])})",
        'once = lambda: setattr(fs.fs, "get_file", get_file)',
        "meanwhile = lambda: (second.start(), second.join(1))",
        "slow = lambda file, copy: (once(), begin(copy), meanwhile(), get_file(file, copy))",
        "fs.fs.get_file = slow",
        reading,
        "second.join()",
    )
    shown = f"in another thread, during fs.fs.get_file: {reading}"
    imports = ("import pathlib",)
    return Call("found[0]", Form.EQUAL, before=before, imports=imports, shown=shown)


def _spell_first(text: str) -> Call:
    before = (
        f'below = path + "{_CHANGED}"',
        f"fs.fs.pipe_file(below, {bytes_text(CHAIN_CONTENT)})",
    )
    return Call(text, Form.EQUAL, before=before)


_SPELLINGS: dict[str, Callable[..., Call]] = {
    **{f"fs_chain_first_{m}": partial(_spell_first, text) for m, text in _READS_TEXT.items()},
    "fs_chain_checked": _spell_changed,
    "fs_chain_deleted": lambda: _spell_behind("fs.fs.rm(below)", "fs.cat_file(below)"),
    "fs_chain_unchecked": _spell_changed,
    "fs_chain_expired": _spell_expired,
    "fs_chain_threads": _spell_threads,
    "fs_chain_cache_threads": _spell_threads,
    "fs_chain_directory": lambda: Call(
        "fs.cat_file(name)",
        Form.EQUAL,
        before=(
            f'name = path.strip("/") + "{_CHANGED}"',
            f"fs.fs.pipe_file(fs.path + fs.fs.sep + name, {bytes_text(CHAIN_CONTENT)})",
        ),
    ),
}
