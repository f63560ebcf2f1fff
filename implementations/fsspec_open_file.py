"""`open_file` for any fsspec filesystem: Hadoop's builder, in terms of fsspec's `open`.

A length becomes `size=`, a read policy `cache_type=` and `block_size=`, a buffer size
`block_size=`. A hint may save time but never break an open or change the bytes, so an argument is
passed only to files that take it, which is read off the signatures.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache, partial
from inspect import Parameter, getclosurevars, signature, unwrap
from typing import Any, BinaryIO, NamedTuple, TypeAlias

from fsspec.spec import AbstractBufferedFile, AbstractFileSystem
from fsspec.utils import stringify_path

from fscontract.contract.api.filesystem import FileStatus
from fscontract.implementations.openfile_builder import Builder, OpenOptions

Fetch: TypeAlias = Callable[[int, int], bytes]


class Cache(NamedTuple):
    """A cache of fsspec's by its name, and how far it reads ahead in bytes; None is its default."""

    name: str | None = None
    block: int | None = None


_AHEAD = Cache("readahead")
_AROUND = Cache("bytes", 1 << 16)
#: What is asked for under each read policy; the others leave it to the filesystem. All of these
#: caches are in fsspec 2023.1. "all" would hold a file of any size in memory before its first read.
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
#: Caches that end where the bytes do if the length is overstated. "mmap" raises IndexError,
#: "blockcache" looks for every block that there should be, "all" reads before `_bounded` is there.
EXACT = frozenset({"none", "readahead", "bytes"})
#: Classes whose files can't be opened with just any block size: one has a single size, the other
#: raises if it is not that of the first time.
FIXED_BLOCKS = frozenset({"DatabricksFileSystem", "CachingFileSystem"})
#: Classes that have to ask the server whether it has ranges, unless `info` has done so.
ASK_FIRST = frozenset({"HTTPFileSystem"})
#: Files without a cache allocate a buffer of the block size, which is at most so many bytes.
LARGEST_BUFFER = 1 << 26

_HINTS = frozenset({"size", "cache_type", "block_size"})
_DEFAULT_CACHES = ("default_cache_type", "_default_cache_type", "cache_type")


@dataclass(frozen=True)
class InfoStatus(FileStatus):
    """A status made from what fsspec's `info` or `ls` says of a path."""

    info: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)


class FsspecBuilder(Builder[BinaryIO]):
    """Options for opening the file at `path`; the future of `build` gives a binary file."""

    def __init__(self, fs: AbstractFileSystem, path: str) -> None:
        super().__init__(path, partial(_open, fs))
        self.path = path

    def with_file_status(self, status: FileStatus | Mapping[str, Any] | None) -> FsspecBuilder:
        """Give a status, or a dictionary of fsspec's `info`; its name must be that of the file."""
        super().with_file_status(status_of(status) if isinstance(status, Mapping) else status)
        return self


def open_file(fs: AbstractFileSystem, path: Any) -> FsspecBuilder:
    """Start building an open of a file of `fs`; nothing is looked at before `build()`.

    `path` is anything that `fs.open` takes. Whatever `fs.open` raises comes out of the future.
    """
    return FsspecBuilder(fs, stringify_path(path))


def status_of(info: Mapping[str, Any]) -> InfoStatus:
    """The status that a dictionary of fsspec's `info` stands for; length -1 if it has no size."""
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
    """The arguments of `fs.open` that stand for the options."""
    while "DirFileSystem" in _names(type(fs)):
        fs = fs.fs  # a directory filesystem hands all arguments on
    if getattr(fs, "block_size", None) == 0:
        return {}  # made to stream its files, which have no cache and no size
    kind: Any = type(fs)
    reach, policy_cache = _reach(kind), _policy_cache(options)
    given: dict[str, Any] = {}
    cached = policy_cache.name is not None and "cache_type" in reach.hints
    if cached and not getattr(fs, "cache_options", None):  # which are those of another cache
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
        return Cache("none")  # a block size of 0 makes some files streams that can't seek
    cache = POLICIES.get(options.read_policy or "", Cache())
    return cache if options.buffer_size is None else Cache(cache.name, options.buffer_size)


def _may_tell(fs: AbstractFileSystem, status: FileStatus | None) -> bool:
    """Whether nothing is missed by telling the filesystem a size, so that it need not ask."""
    if _names(type(fs)).isdisjoint(ASK_FIRST):
        return True
    return isinstance(status, InfoStatus) and bool(status.info.get("partial", True))


def _bounded(fetch: Fetch, size: int, look_up: Callable[[], int | None]) -> Fetch:
    """`fetch` up to `size`, or to the real end if that turns out to be before it.

    The cache "none" asks for bytes beyond the size, and stores differ in what they say to that.
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
    """Which arguments of `open` get to a class's files, and the cache that they have by default."""

    hints: frozenset[str]
    cache: Any


@lru_cache(maxsize=256)
def _reach(kind: type) -> Reach:
    try:
        return _inspected(kind)
    except (AttributeError, TypeError, ValueError):  # a compiled function, not to be looked into
        return Reach(frozenset(), None)


def _inspected(kind: Any) -> Reach:
    if kind.open is not AbstractFileSystem.open:
        return Reach(_HINTS.intersection(signature(kind.open).parameters), None)
    parameters = signature(kind._open).parameters
    hints = _HINTS.intersection(parameters) | {"block_size"}  # which `open` always hands on
    cache = parameters["cache_type"].default if "cache_type" in hints else None
    files = _files(unwrap(kind._open)) if _is_open_ended(parameters) else []
    if files:
        taken = {hint for hint in _HINTS if all(_parameter(file, hint) for file in files)}
        hints |= taken if all(map(_reads_through_cache, files)) else taken - {"size"}
        parameter = _parameter(files[0], "cache_type")
        cache = cache or (parameter and parameter.default)
    return Reach(hints - {"block_size"} if _names(kind) & FIXED_BLOCKS else hints, cache)


def _files(maker: Any) -> list[type]:
    """The classes of buffered files that `_open` makes; none if it asks another filesystem."""
    if {"open", "_open"}.intersection(maker.__code__.co_names):
        return []
    spoken_of = getclosurevars(maker)
    values = (*spoken_of.globals.values(), *spoken_of.nonlocals.values())
    return [v for v in values if isinstance(v, type) and issubclass(v, AbstractBufferedFile)]


def _parameter(kind: type, name: str) -> Parameter | None:
    """The parameter of a class's constructor, or of that of a base to which keywords go on."""
    for base in kind.__mro__:
        if "__init__" in base.__dict__:
            parameters = signature(base.__dict__["__init__"]).parameters
            if name in parameters:
                return parameters[name]
            if not _is_open_ended(parameters):
                return None
    return None


def _reads_through_cache(kind: type) -> bool:
    """Whether a wrong size comes to no more than a wrong end: obstore's own reader crashes."""
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
