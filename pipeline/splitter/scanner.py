"""Scan directories for new and modified files, periodically, in a thread."""

from __future__ import annotations

import re
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from fscontract.contract.api.errors import FileNotFoundException, IllegalArgumentException
from fscontract.contract.api.filesystem import FileStatus, FileSystem
from fscontract.pipeline.blocks import FileInfo, bare_path, last_element
from fscontract.pipeline.splitter.clock import Clock, SystemClock


class Reference(NamedTuple):
    """The properties by which two listings of one path are compared; of a directory, its kind."""

    modification_time: float
    length: int
    etag: str | None
    is_directory: bool = False

    @classmethod
    def of(cls, status: FileStatus) -> Reference:
        """Return what a status says."""
        if status.is_directory:
            return cls(0.0, 0, None, True)
        return cls(status.modification_time, status.length, status.etag)


@dataclass(frozen=True, slots=True)
class ScannedFileInfo(FileInfo):
    """A file that a scan found below `input`, with what the listing said of it."""

    input: str
    status: FileStatus

    @property
    def reference(self) -> Reference:
        """Return what the next listing is compared with."""
        return Reference.of(self.status)


class ReferenceTimes:
    """The references of files by input and path.

    By input, because a file below two inputs is found once for each; by the path that is listed,
    which is the same however the input is written.
    """

    def __init__(self) -> None:
        self._seen: dict[str, dict[str, Reference]] = {}

    def get(self, root: str, path: str) -> Reference | None:
        """Return what was seen of this path below this input."""
        return self._seen.get(root, {}).get(path)

    def set(self, root: str, path: str, reference: Reference) -> None:
        """Keep what was seen."""
        self._seen.setdefault(root, {})[path] = reference

    def discard(self, root: str, path: str, reference: Reference) -> None:
        """Forget this reference, if it is still the one that is kept."""
        known = self._seen.get(root, {})
        if known.get(path) == reference:
            del known[path]

    def __len__(self) -> int:
        return sum(map(len, self._seen.values()))

    def to_data(self) -> dict[str, dict[str, list[Any]]]:
        """Return plain data for JSON."""
        return {
            root: {path: list(reference) for path, reference in known.items()}
            for root, known in self._seen.items()
        }

    @classmethod
    def from_data(cls, data: Any) -> ReferenceTimes:
        """Return what `to_data` gave; IllegalArgumentException."""
        self = cls()
        try:
            for root, known in data.items():
                for path, values in known.items():
                    self.set(root, path, reference_of(values))
        except (AttributeError, TypeError, ValueError):
            raise IllegalArgumentException("these are no reference times") from None
        return self


def reference_of(values: Any) -> Reference:
    """Return a reference that was written as a list; TypeError or ValueError for what is none."""
    time, length, etag, is_directory = values
    if type(length) is not int or not isinstance(etag, str | None):
        raise TypeError("no reference")
    return Reference(float(time), length, etag, bool(is_directory))


#: Seconds from the end of a scan to the next one.
SCAN_INTERVAL = 5.0
#: How many files wait for the splitter before the scan waits for it.
MAX_WAITING = 10_000
#: What Hadoop calls a file that `hdfs dfs -put` has not finished.
_COPYING = "._COPYING_"


@dataclass(frozen=True)
class MissingInput:
    """An input that is not there; told once, and again if it comes and goes."""

    path: str

    def __str__(self) -> str:
        return f"no such input: {self.path!r}"


class _Stopped(Exception):
    """The scan was told to end."""


def input_paths(files: str | Sequence[str]) -> tuple[str, ...]:
    """Return the inputs in their order, each once; IllegalArgumentException if there is none.

    Text is a comma-separated list. Spaces around an entry and slashes at its end are dropped.
    """
    entries = files.split(",") if isinstance(files, str) else files
    paths = dict.fromkeys(_clean(entry) for entry in entries if entry.strip())
    if not paths:
        raise IllegalArgumentException("no files or directories to scan")
    for path in paths:
        if not bare_path(path).startswith("/"):
            raise IllegalArgumentException(f"an input is an absolute path or a URI: {path!r}")
    return tuple(paths)


def _clean(entry: str) -> str:
    entry = entry.strip()
    bare = bare_path(entry)
    return entry[: len(entry) - len(bare) + len(bare.rstrip("/"))] or "/" if bare != "/" else entry


def _pattern(expression: str | None, what: str) -> re.Pattern[str] | None:
    try:
        return None if expression is None else re.compile(expression)
    except re.error as error:
        raise IllegalArgumentException(f"{what} is no regular expression: {error}") from None


class TimeBasedDirectoryScanner:
    """Lists `files` every `scan_interval` seconds, and hands over what is new or modified.

    A file is one whose name `file_pattern` matches wholly, and `ignore_pattern` does not; of
    directories neither is asked. It is modified if its time, its length or its etag is another
    than when it was handed over, or at least found. `references` is what was handed over; it is
    what outlives a scanner. The next scan begins when everything that was found has been taken.
    """

    def __init__(
        self,
        filesystem: FileSystem,
        files: str | Sequence[str],
        *,
        recursive: bool = True,
        scan_interval: float = SCAN_INTERVAL,
        file_pattern: str | None = None,
        ignore_pattern: str | None = None,
        clock: Clock | None = None,
        max_waiting: int = MAX_WAITING,
    ) -> None:
        self.filesystem = filesystem
        self.files = input_paths(files)
        self.recursive = recursive
        if not scan_interval >= 0:
            raise IllegalArgumentException(f"scan_interval is not negative: {scan_interval}")
        self.scan_interval = scan_interval
        self.clock = clock or SystemClock()
        self.references = ReferenceTimes()
        self._file_pattern = _pattern(file_pattern, "file_pattern")
        self._ignore_pattern = _pattern(ignore_pattern, "ignore_pattern")
        #: How many files wait for `take` before the scan waits for it.
        self.max_waiting = max(1, max_waiting)
        self._changed = threading.Condition()
        self.clock.watch(self._changed)
        self._waiting: deque[ScannedFileInfo] = deque()
        self._queued = ReferenceTimes()  # what waits; forgotten with the scanner
        self._missing: set[str] = set()
        self._notices: deque[MissingInput] = deque()
        self._thread: threading.Thread | None = None
        self._stopping = False
        self._resting = False
        self._scanning = False
        self._triggered = False
        self._next_scan = self.clock.now()
        self._error: BaseException | None = None
        #: How many scans have ended.
        self.scans = 0

    # the splitter's side ------------------------------------------------------------------

    def start(self) -> None:
        """Scan from now on; the first scan is at once. Starting again does nothing."""
        with self._changed:
            if self._thread is not None or self._stopping:
                return
            self._thread = threading.Thread(target=self._run, name="file scanner", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """End the thread; a scan in progress ends with the file it is at."""
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join()

    @property
    def running(self) -> bool:
        """Return whether the thread is there."""
        return self._thread is not None and self._thread.is_alive()

    def trigger(self) -> None:
        """Scan now; if a scan is in progress, again right after it."""
        with self._changed:
            self._triggered = True
            self._changed.notify_all()

    def take(self) -> ScannedFileInfo | None:
        """Return the next file that was found, None if none waits; it counts as handed over.

        Raises what ended the scanner, if anything did.
        """
        with self._changed:
            if self._error is not None:
                raise self._error
            if not self._waiting:
                return None
            info = self._waiting.popleft()
            path, reference = info.status.path, info.reference
            self.references.set(info.input, path, reference)
            self._queued.discard(info.input, path, reference)
            self._changed.notify_all()
            return info

    def waiting(self) -> list[ScannedFileInfo]:
        """Return the files that were found and not taken yet."""
        with self._changed:
            return list(self._waiting)

    def notice(self) -> MissingInput | None:
        """Return the next thing to be told of the inputs, None if there is none."""
        with self._changed:
            return self._notices.popleft() if self._notices else None

    def settle(self) -> None:
        """Wait until the scanner has nothing to do but wait: for time, a trigger, or `take`."""
        with self._changed:
            while self.running and not self._idle():
                self._changed.wait()

    # the scanner's own thread -------------------------------------------------------------

    def _run(self) -> None:
        try:
            while self._await_turn():
                self._scan()
                with self._changed:
                    self.scans += 1
                    self._next_scan = self.clock.now() + self.scan_interval
        except _Stopped:
            pass
        except BaseException as error:  # raised where the splitter next asks for a file
            self._error = error
        finally:
            with self._changed:
                self._stopping = self._resting = True
                self._changed.notify_all()

    def _idle(self) -> bool:
        return self._stopping or (self._resting and not self._turn())

    def _turn(self) -> bool:
        """Return whether the thread has something to do, now that it rests."""
        if len(self._waiting) >= self.max_waiting or self._stopping:
            return False
        return self._scanning or (not self._waiting and self._due())

    def _due(self) -> bool:
        return self._triggered or self.clock.now() >= self._next_scan

    def _await_turn(self) -> bool:
        """Rest until a scan is due and the last one has been taken; False to end."""
        with self._changed:
            self._scanning = False
            while not self._turn():
                if self._stopping:
                    return False
                self._rest(None if self._due() else self._next_scan - self.clock.now())
            self._triggered = False
            self._scanning = True
            return True

    def _rest(self, seconds: float | None) -> None:
        self._resting = True
        self._changed.notify_all()
        self.clock.wait(self._changed, seconds)
        self._resting = False

    def _scan(self) -> None:
        for path in self.files:
            try:
                status = self.filesystem.get_file_status(bare_path(path))
                self._missing.discard(path)
            except FileNotFoundException:
                self._miss(path)
                continue
            if status.is_directory:
                self._scan_directory(path, status)
            elif self.accepts(status):
                self._hand_over(ScannedFileInfo(None, path, path, status))

    def _miss(self, path: str) -> None:
        if path not in self._missing:
            self._missing.add(path)
            with self._changed:
                self._notices.append(MissingInput(path))

    def _scan_directory(self, input_path: str, root: FileStatus) -> None:
        """Everything below an input, depth first, in the order of listings."""
        empty = True
        levels = [self._children(root.path)]
        while levels:
            status = next(levels[-1], None)
            if status is None:
                levels.pop()
                continue
            empty = False
            if not status.is_directory and not self.accepts(status):
                continue
            self._hand_over(_below(input_path, root.path, status))
            if status.is_directory and self.recursive:
                levels.append(self._children(status.path))
        if empty and self._is_there(root.path):
            self._hand_over(ScannedFileInfo(None, input_path, input_path, root))

    def _children(self, path: str) -> Iterator[FileStatus]:
        """Yield the listing of a directory; none, or no more, if it vanishes meanwhile."""
        try:
            for status in self.filesystem.list_status(path):
                if self._stopping:
                    raise _Stopped
                yield status
        except FileNotFoundException:
            return

    def _is_there(self, path: str) -> bool:
        try:
            return self.filesystem.get_file_status(path).is_directory
        except FileNotFoundException:
            return False

    def accepts(self, status: FileStatus) -> bool:
        """Return whether a file is handed over, by its name."""
        name = last_element(status.path)
        if name.endswith(_COPYING):
            return False
        if self._ignore_pattern is not None and self._ignore_pattern.fullmatch(name):
            return False
        return self._file_pattern is None or self._file_pattern.fullmatch(name) is not None

    def _modified(self, known: Reference, reference: Reference) -> bool:
        return known != reference

    def _hand_over(self, info: ScannedFileInfo) -> None:
        """Put a file where `take` finds it, if it is new or modified."""
        path, reference = info.status.path, info.reference
        with self._changed:
            known = self._queued.get(info.input, path) or self.references.get(info.input, path)
            if known is not None and not self._modified(known, reference):
                return
            while len(self._waiting) >= self.max_waiting and not self._stopping:
                self._rest(None)
            if self._stopping:
                raise _Stopped
            self._waiting.append(info)
            self._queued.set(info.input, path, reference)


def _below(input_path: str, root: str, status: FileStatus) -> ScannedFileInfo:
    relative = status.path[len(root.rstrip("/")) + 1 :]
    return ScannedFileInfo(input_path, relative, input_path, status)
