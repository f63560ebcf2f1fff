"""A plan of faults in front of any fsspec filesystem: the protocol `faulty`, as in `faulty::URL`.

A call of the filesystem is a request. For files that read through a cache of fsspec, so is each
range that they fetch below that cache; for other files, each read.
"""

from __future__ import annotations

import asyncio
import errno
import io
import os
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, ClassVar, NamedTuple

import fsspec
from fsspec.asyn import AsyncFileSystem

from fscontract.contract.binding import Binding
from fscontract.contract.program.fault_firing import Turn
from fscontract.contract.program.faults import Fault, FaultPlan
from fscontract.fakes.barring import BarringInjector
from fscontract.implementations.bindings.fsspec import FsspecBinding

try:
    from fsspec.implementations.chained import ChainedFileSystem
except ImportError:  # fsspec before 2025.7
    ChainedFileSystem = fsspec.AbstractFileSystem

#: The errors for faults; a time-out does not wait.
_ERRORS = {
    "reset": errno.ECONNRESET,
    "timeout": errno.ETIMEDOUT,
    "throttle": errno.EBUSY,
    "descriptors": errno.EMFILE,
}
_UNAVAILABLE = {"delete": errno.ENOENT, "revoke": errno.EACCES}
#: The kinds of faults that can happen before an fsspec filesystem.
_KINDS = frozenset({*_ERRORS, *_UNAVAILABLE, "hang", "slow", "short"})
#: Methods that fetch bytes for a file of fsspec, below its cache.
_FETCHES = ("_fetch_range", "_fetch_all")


class FaultyInjector(BarringInjector):
    """Faults of an fsspec filesystem.

    A deleted or forbidden file stays so until `detach` or the next write, for clients of the
    wrapper only. `without` are kinds that the clients are not prepared for.
    """

    def __init__(self, without: frozenset[str] = frozenset()) -> None:
        super().__init__(_KINDS - without)

    def admit(
        self, operation: str, path: str, offset: int | None = None, length: int | None = None
    ) -> Turn:
        """Return the turn of a request, or raise the OSError of its fault."""
        turn = self.request(operation, path, offset, length)
        kind = "" if turn.fault is None else turn.fault.kind
        if kind in _UNAVAILABLE:
            self.bar(turn, path)
        elif kind in _ERRORS:
            turn.took_effect()
            raise OSError(_ERRORS[kind], os.strerror(_ERRORS[kind]), path)
        barred = None if operation in ("put", "mkdirs") else self.barred(path)
        if barred is not None:
            raise OSError(_UNAVAILABLE[barred], os.strerror(_UNAVAILABLE[barred]), path)
        return turn


def _delay(turn: Turn, value: Any = None) -> float:
    """Return how many seconds a request takes longer: before it, or with the value after it."""
    fault = turn.fault
    if fault is None:
        return 0.0
    if value is None:
        hangs = fault.kind == "hang"
        if hangs:
            turn.took_effect()
        return fault.delay if hangs else 0.0
    slow = fault.kind == "slow" and isinstance(value, bytes) and value != b""
    if slow:
        turn.took_effect()
    return fault.delay * len(value) if slow else 0.0


class _Call(NamedTuple):
    """A method of a filesystem: its operation, and the place and name of its path."""

    operation: str
    place: int = 0
    name: str = "path"


#: The methods that are requests.
_CALLS = {
    "info": _Call("head"),
    "exists": _Call("head"),
    "isdir": _Call("head"),
    "isfile": _Call("head"),
    "created": _Call("head"),
    "modified": _Call("head"),
    "ls": _Call("list"),
    "find": _Call("list"),
    "cat_file": _Call("get"),
    "get_file": _Call("get", 0, "rpath"),
    "pipe_file": _Call("put"),
    "put_file": _Call("put", 1, "rpath"),
    "cp_file": _Call("put", 1, "path2"),
    "touch": _Call("put"),
    "mkdir": _Call("mkdirs"),
    "makedirs": _Call("mkdirs"),
    "rmdir": _Call("delete"),
    "rm_file": _Call("delete"),
    "rm": _Call("delete"),
    "mv": _Call("rename", 0, "path1"),
}
#: Those of them that asynchronous filesystems have as coroutines.
_COROUTINES = (
    *("info", "exists", "isdir", "isfile", "ls", "find", "cat_file", "get_file", "pipe_file"),
    *("put_file", "cp_file", "mkdir", "makedirs", "rm_file", "rm"),
)
_WRITES = frozenset({"put"})


class _Front:
    """What both wrappers share: the filesystem behind them, and their requests."""

    #: The injector of all filesystems without a plan; a test attaches its faults to it.
    shared: ClassVar[FaultyInjector] = FaultyInjector()
    fs: Any
    injector: FaultyInjector
    _fo: str

    def _set_up(
        self,
        fs: Any,
        plan: Any,
        injector: FaultyInjector | None,
        target: tuple[str | None, Mapping[str, Any] | None, str | None],
    ) -> None:
        protocol, options, fo = target
        if fs is None:
            if protocol is None:
                raise ValueError("faulty needs a filesystem: faulty::URL, or fs=")
            fs = fsspec.filesystem(protocol, **(options or {}))
        self.fs = fs
        self._fo = fo or ""
        self.injector = injector or self.shared
        if plan is not None:
            self.injector = injector or FaultyInjector()
            self.injector.attach(_plan_of(plan))
        self._strip_protocol = self._stripped  # of the instance, for that of the target

    def _stripped(self, path: Any) -> Any:
        if isinstance(path, list | tuple):
            return [self._stripped(one) for one in path]
        if str(path) in ("", "faulty://") and self._fo:
            return self._fo
        return self.fs._strip_protocol(path)

    @property
    def sep(self) -> str:
        """The separator of the target's paths."""
        return str(self.fs.sep)

    def _admit(self, name: str, args: tuple[Any, ...], named: Mapping[str, Any]) -> list[Turn]:
        """Return the turns of a call: one for each of its paths. Raise OSError."""
        call = _CALLS[name]
        given = args[call.place] if len(args) > call.place else named.get(call.name, "")
        first, count = (None, None) if name != "cat_file" else _range_of(args[1:], named)
        paths = given if isinstance(given, list | tuple) else [given]
        admit = self.injector.admit
        return [admit(call.operation, str(self._stripped(p)), first, count) for p in paths]

    def _done(self, name: str, args: tuple[Any, ...], named: Mapping[str, Any]) -> None:
        """Make a file available again after it was written."""
        call = _CALLS[name]
        if call.operation in _WRITES:
            given = args[call.place] if len(args) > call.place else named.get(call.name, "")
            self.injector.written(str(self._stripped(given)))

    def _admit_ranges(
        self, paths: list[Any], starts: Any, ends: Any, on_error: str
    ) -> tuple[list[int], dict[int, OSError], list[Turn]]:
        """Return the indexes of ranges that pass, the errors of the others, and the turns."""
        count = len(paths)
        starts = starts if isinstance(starts, list | tuple) else [starts] * count
        ends = ends if isinstance(ends, list | tuple) else [ends] * count
        failed: dict[int, OSError] = {}
        turns: list[Turn] = []
        for index, (path, start, end) in enumerate(zip(paths, starts, ends, strict=True)):
            offset, length = _range_of((start, end), {})
            try:
                turns.append(self.injector.admit("get", str(self._stripped(path)), offset, length))
            except OSError as error:
                if on_error == "raise":
                    raise
                failed[index] = error
        return [i for i in range(count) if i not in failed], failed, turns


def _range_of(args: tuple[Any, ...], named: Mapping[str, Any]) -> tuple[int | None, int | None]:
    """Return the first byte and the number of bytes of a call, if it names them."""
    start = args[0] if args else named.get("start")
    end = args[1] if len(args) > 1 else named.get("end")
    first = 0 if start is None else start
    if type(first) is not int or first < 0:
        return None, None
    return first, end - first if type(end) is int and end >= first else None


def _plan_of(plan: Any) -> FaultPlan:
    """Return a plan given as a plan, a fault, JSON text or the parsed JSON. ProgramError."""
    if isinstance(plan, Fault | FaultPlan):
        return FaultPlan.of(plan)
    return FaultPlan.loads(plan) if isinstance(plan, str) else FaultPlan.from_json(plan)


def _chosen(values: Any, indexes: list[int]) -> Any:
    return [values[i] for i in indexes] if isinstance(values, list | tuple) else values


def _merged(count: int, passed: list[int], parts: list[Any], failed: dict[int, OSError]) -> Any:
    found: dict[int, Any] = {**dict(zip(passed, parts, strict=True)), **failed}
    return [found[i] for i in range(count)]


class FaultyFileSystem(_Front, ChainedFileSystem):  # type: ignore[misc] # fsspec has no types
    """The filesystem `fs`, or that of `target_protocol`, with a plan of faults in front of it.

    `plan` is a FaultPlan, a Fault, or JSON, and counts the requests of this instance. Without one,
    the injector is `shared`, to which a test attaches plans. Raise ValueError for an invalid plan.
    """

    protocol = "faulty"
    cachable = False  # instances wrap other filesystems, and count their requests

    def __init__(
        self,
        fs: Any = None,
        plan: Any = None,
        injector: FaultyInjector | None = None,
        fo: str | None = None,
        target_protocol: str | None = None,
        target_options: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self._set_up(fs, plan, injector, (target_protocol, target_options, fo))
        if getattr(self.fs, "asynchronous", False):
            raise ValueError("an asynchronous filesystem needs AsyncFaultyFileSystem")

    def _call(self, name: str, args: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
        turns = self._admit(name, args, named)
        for turn in turns:
            turn.wait(_delay(turn))
        value = getattr(self.fs, name)(*args, **named)
        self._done(name, args, named)
        for turn in turns:
            turn.wait(_delay(turn, value))
        return value

    def cat_ranges(
        self,
        paths: list[Any],
        starts: Any,
        ends: Any,
        max_gap: int | None = None,
        on_error: str = "return",
        **options: Any,
    ) -> Any:
        """Return the ranges; each is a request, of which those without a fault are one call."""
        passed, failed, turns = self._admit_ranges(paths, starts, ends, on_error)
        for turn in turns:
            turn.wait(_delay(turn))
        chosen = (_chosen(values, passed) for values in (paths, starts, ends))
        parts = self.fs.cat_ranges(*chosen, max_gap=max_gap, on_error=on_error, **options)
        return _merged(len(paths), passed, parts, failed)

    def _open(
        self,
        path: str,
        mode: str = "rb",
        block_size: Any = None,
        autocommit: bool = True,
        cache_options: Any = None,
        **options: Any,
    ) -> Any:
        given = {"block_size": block_size, "cache_options": cache_options}
        given = {name: value for name, value in given.items() if value is not None} | options
        if not autocommit:
            given["autocommit"] = False
        if mode in ("wb", "xb"):
            return _PendingPut(self, path, mode, given)
        turn = self.injector.admit("open" if "r" in mode else "put", path)
        turn.wait(_delay(turn))
        return _faulty_file(self.fs.open(path, mode, **given), path, self.injector)

    def invalidate_cache(self, path: str | None = None) -> None:
        """Drop what the target knows of a path, or of all."""
        self.fs.invalidate_cache(path)

    def sign(self, path: str, expiration: int = 100, **options: Any) -> Any:
        """Return the target's signed URL, which leads past the faults."""
        return self.fs.sign(path, expiration=expiration, **options)


class AsyncFaultyFileSystem(_Front, AsyncFileSystem):  # type: ignore[misc]
    """The same for an asynchronous filesystem `fs`, for callers that await its coroutines."""

    protocol = "async-faulty"
    cachable = False

    def __init__(
        self,
        fs: Any,
        plan: Any = None,
        injector: FaultyInjector | None = None,
        **options: Any,
    ) -> None:
        if not getattr(fs, "async_impl", False):
            raise ValueError(f"{type(fs).__name__} has no coroutines; use FaultyFileSystem")
        super().__init__(asynchronous=fs.asynchronous, loop=fs.loop, **options)
        self._set_up(fs, plan, injector, (None, None, None))

    async def _call(self, name: str, args: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
        turns = self._admit(name, args, named)
        await _pause(turns)
        value = await getattr(self.fs, f"_{name}")(*args, **named)
        self._done(name, args, named)
        await _pause(turns, value)
        return value

    async def _cat_ranges(
        self,
        paths: list[Any],
        starts: Any,
        ends: Any,
        max_gap: int | None = None,
        batch_size: int | None = None,
        on_error: str = "return",
        **options: Any,
    ) -> Any:
        """Return the ranges; each is a request, of which those without a fault are one call."""
        passed, failed, turns = self._admit_ranges(paths, starts, ends, on_error)
        await _pause(turns)
        chosen = (_chosen(values, passed) for values in (paths, starts, ends))
        given = {"max_gap": max_gap, "batch_size": batch_size, "on_error": on_error, **options}
        parts = await self.fs._cat_ranges(*chosen, **given)
        return _merged(len(paths), passed, parts, failed)

    def _open(self, path: str, mode: str = "rb", **options: Any) -> Any:
        turn = self.injector.admit("open" if "r" in mode else "put", path)
        turn.wait(_delay(turn))
        return _faulty_file(self.fs._open(path, mode, **options), path, self.injector)

    async def open_async(self, path: str, mode: str = "rb", **options: Any) -> Any:
        """Return the target's asynchronous file; only its opening can fail."""
        turn = self.injector.admit("open" if "r" in mode else "put", path)
        await _pause([turn])
        return await self.fs.open_async(path, mode, **options)


async def _pause(turns: list[Turn], value: Any = None) -> None:
    """Wait as the faults say, while other coroutines run."""
    for turn in turns:
        if seconds := _delay(turn, value):
            await asyncio.to_thread(turn.wait, seconds)


def _method(name: str) -> Callable[..., Any]:
    def method(self: Any, *args: Any, **named: Any) -> Any:
        return self._call(name, args, named)

    method.__name__ = name
    method.__doc__ = f"Call `{name}` of the target; a request of operation {_CALLS[name][0]}."
    return method


def _coroutine(name: str) -> Callable[..., Any]:
    async def method(self: Any, *args: Any, **named: Any) -> Any:
        return await self._call(name, args, named)

    method.__name__ = f"_{name}"
    return method


for _name in _CALLS:
    setattr(FaultyFileSystem, _name, _method(_name))
for _name in _COROUTINES:
    setattr(AsyncFaultyFileSystem, f"_{_name}", _coroutine(_name))


# Files ----------------------------------------------------------------------------------------


def _faulty_file(file: Any, path: str, injector: FaultyInjector) -> Any:
    """Return the file with faults: below its cache if it has one, else before its reads."""
    cache: Any = getattr(file, "cache", None)
    if not callable(getattr(cache, "fetcher", None)):
        return _FaultyFile(file, path, injector)
    for name in _FETCHES:
        if callable(fetch := getattr(file, name, None)):
            setattr(file, name, partial(_fetch, injector, path, fetch))
    cache.fetcher = partial(_fetch, injector, path, cache.fetcher)
    return file


def _fetch(
    injector: FaultyInjector, path: str, fetch: Callable[..., Any], *args: Any, **named: Any
) -> Any:
    """Fetch a range for a cache; a fault `short` strikes in vain, since caches expect all of it."""
    turn = injector.admit("get", path, *_range_of(args, named))
    turn.wait(_delay(turn))
    data = fetch(*args, **named)
    turn.wait(_delay(turn, data))
    return data


class _FaultyFile:
    """A file whose reads are requests; all other attributes are those of the file."""

    def __init__(self, file: Any, path: str, injector: FaultyInjector) -> None:
        self._file = file
        self._path = path
        self._injector = injector

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def _request(self, length: int | None, read: Callable[[int | None], Any]) -> Any:
        """Make one read of up to `length` bytes, None for all."""
        offset = None
        if not self._file.closed and self._file.seekable():
            offset = self._file.tell()
        turn = self._injector.admit("get", self._path, offset, length)
        turn.wait(_delay(turn))
        fault = turn.fault
        cut = fault is not None and fault.kind == "short" and (length is None or length > 0)
        if fault is not None and cut and (length is None or fault.limit < length):
            turn.took_effect()
            length = fault.limit
        value = read(length)
        turn.wait(_delay(turn, value))
        return value

    def _sized(self, name: str, size: int | None) -> Any:
        method = getattr(self._file, name)
        given = None if size is None or size < 0 else size
        return self._request(given, lambda n: method(-1 if n is None else n))

    def read(self, size: int | None = -1) -> Any:
        """Read up to `size` bytes, or all; a request."""
        return self._sized("read", size)

    def read1(self, size: int = -1) -> Any:
        """Read up to `size` bytes at once; a request."""
        return self._sized("read1", size)

    def readline(self, size: int | None = -1) -> Any:
        """Read a line of up to `size` bytes; a request."""
        return self._sized("readline", size)

    def readall(self) -> Any:
        """Read all; a request."""
        return self._request(None, lambda n: self._file.readall() if n is None else self.read(n))

    def readlines(self, hint: int | None = -1) -> Any:
        """Read lines; a request."""
        return self._request(None, lambda _: self._file.readlines(-1 if hint is None else hint))

    def readinto(self, buffer: Any) -> Any:
        """Read into a buffer; a request."""
        view = memoryview(buffer)
        if not view.c_contiguous:
            return self._file.readinto(buffer)
        flat = view.cast("B") if view.nbytes else view
        return self._request(view.nbytes, lambda n: self._file.readinto(flat[:n]))

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> Any:
        line = self.readline()
        if not line:
            raise StopIteration
        return line

    def __enter__(self) -> _FaultyFile:
        self._file.__enter__()
        return self

    def __exit__(self, *args: Any) -> Any:
        return self._file.__exit__(*args)


class _PendingPut(io.BytesIO):
    """A file to write: one request, when it is closed."""

    def __init__(
        self, fs: FaultyFileSystem, path: str, mode: str, options: Mapping[str, Any]
    ) -> None:
        super().__init__()
        self._fs, self._path, self._mode, self._options = fs, path, mode, options

    def close(self) -> None:
        """Write the file. Raise the OSError of a fault; then nothing was written."""
        if self.closed:
            return
        data = self.getvalue()
        super().close()
        turn = self._fs.injector.admit("put", self._path)
        turn.wait(_delay(turn))
        with self._fs.fs.open(self._path, self._mode, **self._options) as file:
            file.write(data)
        self._fs.injector.written(self._path)

    def __exit__(self, kind: Any, *_: object) -> None:
        if kind is None:
            self.close()
        else:
            super().close()


# The suite ------------------------------------------------------------------------------------


class FaultyFsspecBinding(FsspecBinding):
    """The binding to an fsspec filesystem, with faults in front of it.

    A wrapper is not the filesystem under test, so classes are looked up behind it.
    """

    def __init__(self, binding: FsspecBinding) -> None:
        target = binding.fs.fs if isinstance(binding.fs, FaultyFileSystem) else binding.fs
        # A file of fsspec gets the bytes that it asks for, and can't end a wait of the wrapper.
        self.injector = FaultyInjector(frozenset({"short", "slow", "hang"}))
        front = FaultyFileSystem(target, injector=self.injector)
        super().__init__(front, binding._root, binding.name, binding.fixed_content, binding._file)
        self.remote = binding.remote
        self.versions = binding.versions
        self._secrets, self._owned = binding._secrets, binding._owned
        self._behind = binding
        if target is not binding.fs:
            binding.fs = target

    def sources(self, path: str) -> Mapping[str, frozenset[str]]:
        """Return the classes behind the wrapper."""
        return self._behind.sources(path)


def faulty(binding: Binding) -> Binding:
    """Return a binding to the same fsspec filesystem, whose requests can be made to fail."""
    assert isinstance(binding, FsspecBinding)
    return FaultyFsspecBinding(binding)
