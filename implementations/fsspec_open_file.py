"""Hadoop's `open_file` builder for any fsspec filesystem, through fsspec's `open`.

A length is passed as `size=`, a read policy as `cache_type=` and `block_size=`, a buffer size as
`block_size=`. A hint may save time, but must never break an open or change the bytes. Therefore an
argument is passed only to file classes whose signatures accept it, and that do not get it already.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache, partial
from inspect import Parameter, getclosurevars, signature, unwrap
from types import CodeType
from typing import Any, BinaryIO, NamedTuple, TypeAlias

from fsspec.spec import AbstractBufferedFile, AbstractFileSystem
from fsspec.utils import stringify_path

from fscontract.contract.api.filesystem import FileStatus
from fscontract.implementations.openfile_builder import Builder, OpenOptions

Fetch: TypeAlias = Callable[[int, int], bytes]


class Cache(NamedTuple):
    """An fsspec cache by name, and its read-ahead in bytes; None is fsspec's default."""

    name: str | None = None
    block: int | None = None


_AHEAD = Cache("readahead")
_AROUND = Cache("bytes", 1 << 16)
#: Cache for each read policy; other policies use the filesystem's default. fsspec 2023.1 has all of
#: these caches. "all" would load a file of any size into memory before its first read.
POLICIES: Mapping[str, Cache] = {
    "sequential": _AHEAD,
    "avro": _AHEAD,
    "csv": _AHEAD,
    "json": _AHEAD,
    "whole-file": Cache("readahead", 1 << 26),
    "random": _AROUND,
    "vector": _AROUND,
    "columnar": _AROUND,
    "parquet": _AROUND,
    "orc": _AROUND,
    "hbase": _AROUND,
}
#: Caches that end at the last byte even if the length is overstated. "mmap" raises IndexError,
#: "blockcache" requests every expected block, "all" reads before `_bounded` is installed.
EXACT = frozenset({"none", "readahead", "bytes"})
#: Classes that do not accept every block size: one supports a single size, the other raises if the
#: size differs from that of the first open.
FIXED_BLOCKS = frozenset({"DatabricksFileSystem", "CachingFileSystem"})
#: Classes that must query whether the server supports ranges, unless `info` has done so.
ASK_FIRST = frozenset({"HTTPFileSystem"})
#: Maximum block size of files without a cache, which allocate a buffer of this size.
LARGEST_BUFFER = 1 << 26

_HINTS = frozenset({"size", "cache_type", "block_size"})
_DEFAULT_CACHES = ("default_cache_type", "_default_cache_type", "cache_type")


@dataclass(frozen=True)
class InfoStatus(FileStatus):
    """A status from a result of fsspec's `info` or `ls`."""

    info: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)


class FsspecBuilder(Builder[BinaryIO]):
    """Options for opening the file at `path`; the future of `build` returns a binary file."""

    def __init__(self, fs: AbstractFileSystem, path: str) -> None:
        super().__init__(path, partial(_open, fs))
        self.path = path
        self._fs = fs

    def with_file_status(self, status: FileStatus | Mapping[str, Any] | None) -> FsspecBuilder:
        """Set a status, or a result of fsspec's `info`; its name must match the file."""
        super().with_file_status(status_of(status) if isinstance(status, Mapping) else status)
        return self

    def arguments(self) -> dict[str, Any]:
        """Return the arguments that the options are for the filesystem's `open`."""
        return _arguments(self._fs, self._options())


def open_file(fs: AbstractFileSystem, path: Any) -> FsspecBuilder:
    """Return a builder for a file of `fs`; `build` is the first call that accesses the file.

    `path` is anything that `fs.open` accepts. Errors of `fs.open` are set on the future.
    """
    return FsspecBuilder(fs, stringify_path(path))


def status_of(info: Mapping[str, Any]) -> InfoStatus:
    """Return the status for a result of fsspec's `info`; length -1 without a size."""
    size = info.get("size")
    times = (info.get(key) for key in ("mtime", "LastModified", "last_modified"))
    return InfoStatus(
        path=str(info.get("name", "")),
        length=size if isinstance(size, int) else -1,
        is_directory=info.get("type") == "directory",
        modification_time=next((_seconds(time) for time in times if time is not None), 0.0),
        etag=info.get("ETag") or info.get("etag"),
        info=info,
    )


def _seconds(time: Any) -> float:
    if isinstance(time, datetime):
        return time.timestamp()
    return float(time) if isinstance(time, int | float) else 0.0


# Opening --------------------------------------------------------------------------------------


def _open(fs: AbstractFileSystem, path: str, options: OpenOptions) -> BinaryIO:
    arguments = _arguments(fs, options)
    file: Any = fs.open(path, "rb", **arguments)
    cache: Any = getattr(file, "cache", None)
    size = arguments.get("size")
    if size is not None and hasattr(cache, "fetcher") and cache.size == size:
        cache.fetcher = _bounded(cache.fetcher, size, lambda: fs.info(path)["size"])
    opened: BinaryIO = file
    return opened


def _arguments(fs: AbstractFileSystem, options: OpenOptions) -> dict[str, Any]:
    """Return the arguments of `fs.open` for the options."""
    while "DirFileSystem" in _names(type(fs)):
        fs = fs.fs  # a directory filesystem passes all arguments on
    if getattr(fs, "block_size", None) == 0:
        return {}  # its files are streams without cache and size
    kind: Any = type(fs)
    reach, policy_cache = _reach(kind), _policy_cache(options)
    given: dict[str, Any] = {}
    cached = policy_cache.name is not None and "cache_type" in reach.hints
    if cached and not getattr(fs, "cache_options", None):  # cache_options belong to another cache
        given["cache_type"] = policy_cache.name
    block = policy_cache.block if "cache_type" in given else options.buffer_size
    if block and "block_size" in reach.hints:
        given["block_size"] = block if "cache_type" in reach.hints else min(block, LARGEST_BUFFER)
    cache = given.get("cache_type") or _default_cache(fs, reach)
    if "size" in reach.hints and cache in EXACT and _may_tell(fs, options.status):
        given["size"] = options.length
    return {name: value for name, value in given.items() if value is not None}


def _policy_cache(options: OpenOptions) -> Cache:
    if options.buffer_size == 0:
        return Cache("none")  # with a block size of 0, some files become streams without seek
    cache = POLICIES.get(options.read_policy or "", Cache())
    return cache if options.buffer_size is None else Cache(cache.name, options.buffer_size)


def _may_tell(fs: AbstractFileSystem, status: FileStatus | None) -> bool:
    """Return True if passing a size, which avoids a request, has no side effects."""
    if _names(type(fs)).isdisjoint(ASK_FIRST):
        return True
    return isinstance(status, InfoStatus) and bool(status.info.get("partial", True))


def _bounded(fetch: Fetch, size: int, look_up: Callable[[], int | None]) -> Fetch:
    """Return `fetch` limited to `size`, or to an earlier EOF.

    The cache "none" requests bytes past the size, and stores respond to that differently.
    """

    def fetch_range(start: int, end: int) -> bytes:
        end = min(end, size)
        if start >= end:
            return b""
        try:
            return fetch(start, end)
        except Exception:
            real = look_up()
            if real is None or end <= real:
                raise
        return fetch(start, real) if start < real else b""

    return fetch_range


# What files take ------------------------------------------------------------------------------


class Reach(NamedTuple):
    """The `open` arguments that reach a class's files, and their default cache."""

    hints: frozenset[str]
    cache: Any


@lru_cache(maxsize=256)
def _reach(kind: type) -> Reach:
    try:
        return _inspected(kind)
    except (AttributeError, TypeError, ValueError):  # a compiled function without a signature
        return Reach(frozenset(), None)


def _inspected(kind: Any) -> Reach:
    if kind.open is not AbstractFileSystem.open:
        return Reach(_HINTS.intersection(signature(kind.open).parameters), None)
    parameters = signature(kind._open).parameters
    hints = _HINTS.intersection(parameters) | {"block_size"}  # `open` always passes block_size
    cache = parameters["cache_type"].default if "cache_type" in hints else None
    maker = unwrap(kind._open)
    files = _files(maker) if _is_open_ended(parameters) else []
    if files:
        taken = {hint for hint in _HINTS if all(_parameter(file, hint) for file in files)}
        taken -= _texts(maker.__code__)  # it passes them itself
        hints |= taken if all(map(_reads_through_cache, files)) else taken - {"size"}
        parameter = _parameter(files[0], "cache_type")
        cache = cache or (parameter and parameter.default)
    return Reach(hints - {"block_size"} if _names(kind) & FIXED_BLOCKS else hints, cache)


def _files(maker: Any) -> list[type]:
    """Return the classes of buffered files that `_open` creates; none if it delegates."""
    if {"open", "_open"}.intersection(maker.__code__.co_names):
        return []
    spoken_of = getclosurevars(maker)
    values = (*spoken_of.globals.values(), *spoken_of.nonlocals.values())
    return [v for v in values if isinstance(v, type) and issubclass(v, AbstractBufferedFile)]


def _texts(code: CodeType) -> set[str]:
    """Return the names of keywords that code passes, and its other texts."""
    names = (one if isinstance(one, tuple) else (one,) for one in code.co_consts)
    return {name for one in names for name in one if isinstance(name, str)}


def _parameter(kind: type, name: str) -> Parameter | None:
    """Return the parameter of a class's constructor, or of a base that receives keywords."""
    for base in kind.__mro__:
        if "__init__" in base.__dict__:
            parameters = signature(base.__dict__["__init__"]).parameters
            if name in parameters:
                return parameters[name]
            if not _is_open_ended(parameters):
                return None
    return None


def _reads_through_cache(kind: type) -> bool:
    """Return True if a wrong size changes only EOF: obstore's own reader crashes."""
    bases = kind.__mro__[: kind.__mro__.index(AbstractBufferedFile)]
    reads = [base.__dict__["read"] for base in bases if "read" in base.__dict__]
    return all("super" in read.__code__.co_names for read in reads)


def _is_open_ended(parameters: Mapping[str, Parameter]) -> bool:
    return any(p.kind is Parameter.VAR_KEYWORD for p in parameters.values())


def _default_cache(fs: AbstractFileSystem, reach: Reach) -> Any:
    own = (getattr(fs, name, None) for name in _DEFAULT_CACHES)
    return next((name for name in own if isinstance(name, str)), reach.cache)


def _names(kind: type) -> set[str]:
    return {base.__name__ for base in kind.__mro__}
