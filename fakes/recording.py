"""Record what an fsspec filesystem does as a plan of faults, and replay the plan on a fake.

A recording has the operation, path, range, time and kind of error of each request, and neither
bytes nor messages, which may hold secrets.
"""

from __future__ import annotations

import errno
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from glob import escape
from pathlib import Path
from typing import Any, NamedTuple

from fsspec import AbstractFileSystem

from fscontract.contract.program.fault_kinds import MOST_SECONDS
from fscontract.contract.program.faults import FAULTS, MOST_FAULTS, Fault, FaultPlan
from fscontract.fakes.filesystem.filesystem import FakeFileSystem
from fscontract.fakes.filesystem.requests import Latency

#: The most requests of a recording; later ones are not recorded.
MOST_REQUESTS = 100_000
#: Seconds from which a delay is part of the plan.
_NOTICED = 0.001
#: Errors that say something about the path or the call, and not about the store.
_ANSWERS = (
    *(FileNotFoundError, FileExistsError, IsADirectoryError, NotADirectoryError),
    *(ValueError, TypeError, NotImplementedError, EOFError),
)
_BY_NUMBER = {
    errno.EBUSY: "throttle",
    errno.EMFILE: "descriptors",
    errno.ENFILE: "descriptors",
    errno.ENOSPC: "quota",
    errno.EDQUOT: "quota",
}
_BUSY = (429, 503)


class RecordedRequest(NamedTuple):
    """A request to a filesystem: its range in bytes, its time, and the kind of its fault or ""."""

    operation: str
    path: str
    offset: int | None
    length: int | None
    seconds: float
    fault: str


class Recording:
    """The requests that went through `fs`, the recorded filesystem, the oldest first."""

    def __init__(self, fs: AbstractFileSystem, now: Callable[[], float]) -> None:
        self._requests: list[RecordedRequest] = []
        self._now = now
        self._lock = threading.Lock()
        #: The filesystem to use in the place of the recorded one.
        self.fs: AbstractFileSystem = RecordingFileSystem(fs, self)

    @property
    def requests(self) -> tuple[RecordedRequest, ...]:
        """The first 100,000 requests."""
        return tuple(self._requests)

    def plan(self) -> FaultPlan:
        """Return the delays and errors as a plan: `nth` counts requests of an operation and path.

        Delays under a millisecond are left out. If there are more than a plan can have, it has the
        errors and the longest delays. Errors that the path explains, such as FileNotFoundError,
        are left out: the fake's own files decide about them.
        """
        groups: defaultdict[tuple[str, str], list[RecordedRequest]] = defaultdict(list)
        for request in self.requests:
            groups[request.operation, request.path].append(request)
        faults = [f for group in groups.values() for f in _joined(_faults(group))]
        faults.sort(key=lambda fault: (fault.kind == "hang", -fault.delay))
        return FaultPlan(tuple(faults[:MOST_FAULTS]))

    @contextmanager
    def request(
        self, operation: str, path: str, offset: int | None = None, length: int | None = None
    ) -> Iterator[None]:
        """Record the request that the block makes."""
        start, fault = self._now(), ""
        try:
            yield
        except Exception as error:
            fault = _kind_of(error, operation)
            raise
        finally:
            seconds = min(max(0.0, self._now() - start), MOST_SECONDS)
            request = RecordedRequest(operation, path, offset, length, seconds, fault)
            with self._lock:
                if len(self._requests) < MOST_REQUESTS:
                    self._requests.append(request)


def record(fs: AbstractFileSystem, now: Callable[[], float] = time.perf_counter) -> Recording:
    """Return a recording of an fsspec filesystem; use its `fs`, and then its `plan()`.

    Requests are the calls of the filesystem, and the ranges that its files fetch. `now` returns the
    time in seconds.
    """
    return Recording(fs, now)


def replay(
    plan: FaultPlan | Recording | str | Path,
    files: Mapping[str, bytes] | None = None,
    **settings: Any,
) -> FakeFileSystem:
    """Return a fake filesystem with these files on which a recorded plan is attached.

    A path is that of a plan in YAML or JSON. Requests take the recorded times alone, and are not
    retried, unless settings of FakeFileSystem say otherwise. Raise ProgramError for an invalid
    plan, IllegalArgumentException for invalid settings.
    """
    if isinstance(plan, str | Path):
        plan = FaultPlan.load(plan)
    elif isinstance(plan, Recording):
        plan = plan.plan()
    defaults = {"retries": 0, "latency": Latency(0, 0), "deadline": MOST_SECONDS}
    fs = FakeFileSystem(**{**defaults, **settings})
    for path, data in (files or {}).items():
        fs.write(path, data)
    fs.attach(plan)
    return fs


# From requests to faults ----------------------------------------------------------------------


def _faults(requests: list[RecordedRequest]) -> Iterator[Fault]:
    """Yield the faults of the requests of one operation and path."""
    for nth, request in enumerate(requests, 1):
        kind = request.fault or ("hang" if request.seconds >= _NOTICED else "")
        if kind:
            aim: dict[str, Any] = {
                "nth": nth,
                "times": 1,
                "operation": request.operation,
                "path": escape(request.path),
            }
            if "seconds" in FAULTS[kind].parameters:
                aim["seconds"] = round(request.seconds, 6)
            yield Fault(kind, **aim)


def _joined(faults: Iterator[Fault]) -> Iterator[Fault]:
    """Yield the faults; equal ones of consecutive requests are one."""
    last: Fault | None = None
    for fault in faults:
        if last is not None and replace(fault, nth=last.nth, times=last.times) == last:
            assert isinstance(last.times, int)
            if fault.nth == last.last + 1:
                last = replace(last, times=last.times + 1)
                continue
        if last is not None:
            yield last
        last = fault
    if last is not None:
        yield last


def _kind_of(error: Exception, operation: str) -> str:
    """Return the kind of fault that raises such an error; "" if it says nothing of the store."""
    if isinstance(error, _ANSWERS):
        return ""
    status = getattr(error, "status", None)
    number = error.errno if isinstance(error, OSError) else None
    if isinstance(error, TimeoutError) or type(error).__name__ in _TIMEOUTS:
        kind = "timeout"
    elif status in _BUSY:
        kind = "throttle"
    elif isinstance(error, PermissionError) or status in (401, 403):
        kind = "expired"
    else:
        kind = _BY_NUMBER.get(number or 0, "reset")
    return kind if operation in FAULTS[kind].operations else "reset"


#: Names of time-outs that are not a TimeoutError on Python 3.10.
_TIMEOUTS = ("TimeoutError", "FSTimeoutError")


# The filesystem -------------------------------------------------------------------------------

#: The operation of each method, and the place of its path among the arguments.
_METHODS = {
    "info": ("head", 0),
    "ls": ("list", 0),
    "cat_file": ("get", 0),
    "pipe_file": ("put", 0),
    "cp_file": ("put", 1),
    "mkdir": ("mkdirs", 0),
    "makedirs": ("mkdirs", 0),
    "rmdir": ("delete", 0),
    "rm_file": ("delete", 0),
    "mv": ("rename", 0),
    "created": ("head", 0),
    "modified": ("head", 0),
}


class RecordingFileSystem(AbstractFileSystem):  # type: ignore[misc] # fsspec has no types
    """Passes calls on to another filesystem, and adds them to a recording."""

    protocol = "recording"
    cachable = False  # an instance has one recording

    def __init__(self, fs: AbstractFileSystem, recording: Recording) -> None:
        super().__init__()
        self.target = fs
        self.recording = recording
        self.root_marker = fs.root_marker
        self._strip_protocol = fs._strip_protocol  # of the instance, for that of the target

    def _open(self, path: str, mode: str = "rb", block_size: Any = None, **options: Any) -> Any:
        given = {"block_size": block_size} if block_size is not None else {}
        given.update(options)
        shown = _path(path)
        if "r" not in mode:
            return _RecordedFile(self.target.open(path, mode, **given), shown, self.recording)
        with self.recording.request("open", shown):
            file = self.target.open(path, mode, **given)
        fetcher = getattr(getattr(file, "cache", None), "fetcher", None)
        if fetcher is None:
            return _RecordedFile(file, shown, self.recording)

        def fetch(start: int, end: int, *args: Any, **named: Any) -> Any:
            with self.recording.request("get", shown, start, end - start):
                return fetcher(start, end, *args, **named)

        file.cache.fetcher = fetch
        return file

    def rm(self, path: Any, recursive: bool = False, maxdepth: int | None = None) -> None:
        """Remove files; one request for each given path."""
        for one in path if isinstance(path, list) else [path]:
            with self.recording.request("delete", _path(self._strip_protocol(one))):
                self.target.rm(one, recursive=recursive, maxdepth=maxdepth)

    def invalidate_cache(self, path: str | None = None) -> None:
        """Drop the target's cached listings."""
        self.target.invalidate_cache(path)


def _recorded(name: str, operation: str, index: int) -> Callable[..., Any]:
    def method(self: RecordingFileSystem, *args: Any, **named: Any) -> Any:
        given = args[index] if len(args) > index else named.get("path", "")
        path = _path(self._strip_protocol(given))
        offset, length = _range(args[1:], named) if name == "cat_file" else (None, None)
        with self.recording.request(operation, path, offset, length):
            return getattr(self.target, name)(*args, **named)

    method.__name__ = name
    method.__doc__ = f"Call `{name}` of the target, and record it as {operation}."
    return method


for _name, (_operation, _index) in _METHODS.items():
    setattr(RecordingFileSystem, _name, _recorded(_name, _operation, _index))


class _RecordedFile:
    """A file whose reads are requests, and whose writes are one, at its close."""

    def __init__(self, file: Any, path: str, recording: Recording) -> None:
        self._file = file
        self._path = path
        self._recording = recording
        self._writes = "r" not in getattr(file, "mode", "rb") or not file.readable()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def read(self, size: int | None = -1) -> Any:
        """Read up to `size` bytes, or all."""
        return self._get("read", None if size is None or size < 0 else size, size)

    def readline(self, size: int | None = -1) -> Any:
        """Read a line."""
        return self._get("readline", None, -1 if size is None else size)

    def readinto(self, buffer: Any) -> Any:
        """Read into a buffer."""
        return self._get("readinto", memoryview(buffer).nbytes, buffer)

    def write(self, data: Any) -> Any:
        """Write bytes; only a failure is a request."""
        try:
            return self._file.write(data)
        except Exception as error:
            with self._recording.request("put", self._path):
                raise error

    def close(self) -> None:
        """Close the file; one request if it was written."""
        if self._writes and not self._file.closed:
            with self._recording.request("put", self._path):
                self._file.close()
        else:
            self._file.close()

    def __iter__(self) -> Iterator[Any]:
        return iter(self.readline, b"")

    def __enter__(self) -> _RecordedFile:
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> Any:
        if kind is None:
            return self.close()
        return self._file.__exit__(kind, error, trace)

    def _get(self, name: str, length: int | None, argument: Any) -> Any:
        offset = self._file.tell() if self._file.seekable() else None
        with self._recording.request("get", self._path, offset, length):
            return getattr(self._file, name)(argument)


def _path(path: Any) -> str:
    """Return a path as the fake has it, without credentials and queries of a URL."""
    text = str(path)
    scheme, separator, rest = text.partition("://")
    if separator and scheme.isalnum():
        host, slash, below = rest.partition("?")[0].partition("/")
        text = host.rpartition("@")[2] + slash + below
    return "/" + text.strip("/")


def _range(args: tuple[Any, ...], named: Mapping[str, Any]) -> tuple[int | None, int | None]:
    start = args[0] if args else named.get("start")
    end = args[1] if len(args) > 1 else named.get("end")
    first = 0 if start is None else start
    if type(first) is not int or first < 0:
        return None, None
    return first, end - first if type(end) is int and end >= first else None
