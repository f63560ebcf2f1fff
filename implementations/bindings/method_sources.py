"""Tell which classes define the methods that operations call on an object."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from types import CodeType, FunctionType
from typing import Any

from fscontract.contract.runner.timeouts import Next, never_finalize, supervise
from fscontract.contract.spec.inherited_failures import (
    BASES,
    base_packages,
    class_name,
    package_of,
)

#: The seconds in which a file that was inspected closes; one that takes longer is left behind.
_CLOSING = 0.25
#: The methods of a binary file that each operation calls.
FILE_METHODS: Mapping[str, tuple[str, ...]] = {
    "close": ("close",),
    "get_pos": ("tell",),
    "seek": ("seek",),
    "read_byte": ("read",),
    "read_into": ("readinto", "read"),
    "py_read": ("read",),
    "py_read_default": ("read",),
    "py_readall": ("readall", "read"),
    "py_readinto": ("readinto",),
    "py_read1": ("read1",),
    "py_readinto1": ("readinto1",),
    "py_peek": ("peek",),
    "py_seek": ("seek",),
    "py_tell": ("tell",),
    "py_readline": ("readline",),
    "py_readlines": ("readlines",),
    "py_next": ("__next__",),
    "py_iterate": ("__next__",),
    "py_closed": ("closed",),
    "py_readable": ("readable",),
    "py_seekable": ("seekable",),
    "py_writable": ("writable",),
    "py_with": ("__enter__", "__exit__"),
    "py_with_error": ("__enter__", "__exit__"),
    "py_write": ("write",),
    "py_flush": ("flush",),
}
#: The methods of an fsspec filesystem that open files and that positioned reads call.
FILESYSTEM_METHODS: Mapping[str, tuple[str, ...]] = {
    "pread": ("cat_file",),
    "read_fully": ("read_block",),
    "read_fully_all": ("read_block",),
    "read_vectored": ("cat_ranges", "cat_file"),
    "fs_cat_file": ("cat_file",),
    "fs_cat_file_positional": ("cat_file",),
    "fs_read_bytes": ("cat_file",),
    "fs_cat_missing": ("cat_file",),
    "fs_cat_ranges": ("cat_ranges", "cat_file"),
    "fs_cat": ("cat", "cat_file"),
    "fs_read_block": ("read_block",),
    "fs_head": ("head",),
    "fs_tail": ("tail",),
    "fs_get_file": ("get_file",),
    "fs_get_leaves": ("get_file",),
    "fs_get": ("get", "get_file"),
    "fs_get_file_again": ("get_file",),
    "fs_entry": ("ls",),
    "fs_glob_with": ("glob", "find", "ls"),
    "fs_get_missing": ("get", "get_file"),
    "fs_get_missing_leaves": ("get", "get_file"),
    "fs_ls": ("ls",),
    "fs_find": ("find", "ls"),
    "fs_glob": ("glob", "find", "ls"),
    "fs_walk": ("walk", "ls"),
    "fs_du": ("du", "find", "ls"),
    "fs_directory": ("isdir", "isfile", "info"),
    "fs_cat_tree": ("cat", "cat_file", "expand_path", "find", "ls"),
    "fs_expand": ("expand_path", "glob", "find", "ls"),
    "fs_listed_again": ("find", "walk", "glob", "ls", "exists", "isfile", "info"),
    "fs_many": ("find", "walk", "glob", "du", "ls"),
    "fs_named": ("find", "walk", "glob", "ls", "exists", "isfile", "info", "cat_file", "get_file"),
    "fs_time": ("created", "modified", "info"),
    "fs_open_cached": ("open", "_open"),
    "fs_decompress": ("open", "_open"),
    "fs_open_urls": ("open", "_open"),
    "fs_chain_unchecked": ("cat_file",),
    "fs_chain_expired": ("cat_file",),
    "fs_chain_threads": ("_open",),
    "fs_chain_cache_threads": ("_open",),
    "fs_info": ("info",),
    "fs_size": ("size", "info"),
    "fs_sizes": ("sizes", "size", "info"),
    "fs_exists": ("exists", "info"),
    "fs_isfile": ("isfile", "info"),
    "fs_checksum": ("checksum", "info"),
    "fs_ukey": ("ukey", "info"),
    "fs_text": ("open", "_open"),
    "fs_pickle": ("__reduce__", "cat_file"),
    "fs_other_process": ("__reduce__", "cat_file"),
    "lib_zarr_missing": ("cat_file",),
    "lib_zarr_shards": ("cat_file",),
    "open": ("open", "_open"),
    "fs_async_cat_file": ("_cat_file",),
    "fs_async_cat_missing": ("_cat_file",),
    "fs_async_cat_ranges": ("_cat_ranges", "_cat_file"),
    "fs_async_cat": ("_cat", "_cat_file"),
    "fs_async_info": ("_info",),
    "fs_async_read": ("open_async",),
    "fs_async_seek": ("open_async",),
    "fs_async_closed": ("open_async",),
}


#: The methods of an fsspec filesystem whose calls say what a call that fails is built on.
#: `pipe_file` writes the files of a call.
OBSERVED_METHODS = (
    *dict.fromkeys(
        name for names in FILESYSTEM_METHODS.values() for name in names if name[0] != "_"
    ),
    *("ls", "find", "walk", "glob", "expand_path", "isdir", "pipe_file"),
)


#: The methods of an obstore store that each operation calls.
STORE_METHODS: Mapping[str, tuple[str, ...]] = {
    "pread": ("get_range",),
    "read_vectored": ("get_ranges",),
    "ob_get": ("get", "get_async"),
    "ob_get_suffix": ("get", "get_async"),
    "ob_get_result": ("get", "get_async"),
    "ob_stream": ("get", "get_async"),
    "ob_get_range": ("get_range", "get_range_async"),
    "ob_get_ranges": ("get_ranges", "get_ranges_async"),
    "ob_head": ("head", "head_async"),
    "ob_missing": ("get", "get_range", "get_ranges", "head"),
}
#: Methods that wrappers of an object without them make of its `readline`.
_OF_LINES = frozenset({"readlines", "__next__"})
#: The methods of files, of fsspec's caches and of filesystems.
_READING = ("read", "_fetch", "cat_file")
#: Not an operation: the classes of the objects that an object wraps.
WRAPPED = "wrapped"


@contextmanager
def inspected(file: Any) -> Iterator[Any]:
    """Close a file in the end, unless that hangs: what it showed is known by then.

    A file that another thread may not close is closed in this one.
    """
    refused: list[Exception] = []

    def close(file: Any) -> None:
        try:
            file.close()
        except Exception as error:
            refused.append(error)

    def on_hang(file: Any, times: int) -> Next:
        never_finalize(file)
        return Next.END

    try:
        yield file
    finally:
        supervise(iter([file]), close, _CLOSING, on_hang)
        if refused:
            file.close()


def sources_of(
    obj: object, methods: Mapping[str, tuple[str, ...]], own: object
) -> dict[str, frozenset[str]]:
    """Return the classes that define the methods of each operation, of an object or what it wraps.

    Classes of the package of `own`, the object under test, are left out: they are under test, too.
    An object of a package with known failures inherits nothing: its failures are findings.
    """
    package = package_of(class_name(type(own)))
    if package in base_packages():
        return {}
    by_operation = {
        operation: [name for method in names for name in _definers(obj, method)]
        for operation, names in methods.items()
    }
    by_operation[WRAPPED] = [class_name(type(one)) for one in _wrapped(obj)]
    by_operation[BASES] = [class_name(cls) for cls in type(obj).__mro__[:-1]]
    return {
        operation: frozenset(name for name in names if package_of(name) != package)
        for operation, names in by_operation.items()
    }


def _definers(obj: object, method: str) -> Iterator[str]:
    wrapped = _wrapped(obj) if _delegates(type(obj), method) else ()
    for one in (obj, *wrapped):
        owner = one
        with suppress(Exception):  # attributes of a target may raise anything
            owner = getattr(getattr(one, method, None), "__self__", one)
        name = _asynchronous(owner, method) or method
        if method in _OF_LINES and not hasattr(type(owner), method):
            name = "readline"
        definers = [cls for cls in type(owner).__mro__ if name in vars(cls)]
        while definers:
            found = vars(definers[0])[name]
            # a class may repeat a method of its base: `cat_file = Base.cat_file`
            same = [cls for cls in definers if vars(cls)[name] is found]
            yield class_name(same[-1])
            definers = [cls for cls in definers if cls not in same] if _defers(found, name) else []


def _defers(method: object, name: str) -> bool:
    """Return whether a method calls that of its base class: `super().cat_file(path)`."""
    code = getattr(getattr(method, "__func__", method), "__code__", None)
    return {"super", name} <= set(getattr(code, "co_names", ()))


def _delegates(cls: type, method: str) -> bool:
    """Return whether a method may call that of a wrapped object: its code names it, or is unknown.

    The code is also that of the functions and other methods that it names.
    """
    found = [_definition(cls, method)]
    wanted = {method, "readline"} if method in _OF_LINES else {method}
    seen: set[str] = set()
    while found:
        function = found.pop()
        if not isinstance(function, FunctionType) or hasattr(function, "__wrapped__"):
            return True
        named = _named_in(function.__code__) - seen
        if wanted & named:
            return True
        seen |= named
        known = [function.__globals__.get(name) for name in named]
        known += [_definition(cls, name) for name in named]
        found += [one for one in known if isinstance(one, FunctionType)]
    return False


def _definition(cls: type, name: str) -> object:
    """Return what a class has under a name, None if it has nothing."""
    return next((vars(one)[name] for one in cls.__mro__ if name in vars(one)), None)


def _named_in(code: CodeType) -> frozenset[str]:
    """Return the names and the texts in code, and in the functions that it defines."""
    inner = (_named_in(one) for one in code.co_consts if isinstance(one, CodeType))
    texts = (one for one in code.co_consts if isinstance(one, str))
    return frozenset(code.co_names).union(texts, *inner)


def _asynchronous(obj: object, method: str) -> str:
    """Return the coroutine behind a method of an asynchronous filesystem, "" if there is none.

    fsspec makes such methods for each object, and hides those of the base class.
    """
    name = f"_{method}"
    return name if method in getattr(obj, "__dict__", {}) and hasattr(type(obj), name) else ""


def _wrapped(obj: object) -> Iterator[Any]:
    """Yield the files, caches and filesystems that are attributes of an object."""
    values = getattr(obj, "__dict__", {})
    for value in values.values() if isinstance(values, dict) else ():
        if any(hasattr(type(value), name) for name in _READING):
            yield value
