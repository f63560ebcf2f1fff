"""Periodic scans of directories for new and modified files, in a thread."""

from __future__ import annotations

import re
import threading
from abc import abstractmethod
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, runtime_checkable

from fscontract.contract.api.errors import FileNotFoundException, IllegalArgumentException
from fscontract.contract.api.filesystem import FileStatus, FileSystem
from fscontract.pipeline.blocks import FileInfo, bare_path, last_element
from fscontract.pipeline.splitter.clock import Clock, SystemClock


class Reference(NamedTuple):
    """Properties that two listings of a path are compared by; for a directory, its kind."""

    modification_time: float
    length: int
    etag: str | None
    is_directory: bool = False

    @classmethod
    def of(cls, status: FileStatus) -> Reference:
        """Return the reference of a status."""
        if status.is_directory:
            return cls(0.0, 0, None, True)
        return cls(status.modification_time, status.length, status.etag)


@dataclass(frozen=True, slots=True)
class ScannedFileInfo(FileInfo):
    """A file that a scan found below `input`, with its listed properties."""

    input: str
    status: FileStatus

    @property
    def reference(self) -> Reference:
        """Reference for the comparison with the next listing."""
        return Reference.of(self.status)


class ReferenceTimes:
    """References of files by input and path.

    A file below two inputs is found once for each. The path is the listed one, which does not
    depend on the spelling of the input.
    """

    def __init__(self) -> None:
        self._seen: dict[str, dict[str, Reference]] = {}

    def get(self, root: str, path: str) -> Reference | None:
        """Return the reference of this path below this input, or None."""
        return self._seen.get(root, {}).get(path)

    def set(self, root: str, path: str, reference: Reference) -> None:
        """Store a reference."""
        self._seen.setdefault(root, {})[path] = reference

    def add(self, info: ScannedFileInfo) -> bool:
        """Store the reference of a file; return True if the file is new or modified."""
        known = self.get(info.input, info.status.path)
        self.set(info.input, info.status.path, info.reference)
        return known != info.reference

    def discard(self, root: str, path: str, reference: Reference) -> None:
        """Remove this reference, if it is still the stored one."""
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
        """Parse the data of `to_data`; raise IllegalArgumentException if it is invalid."""
        self = cls()
        try:
            for root, known in data.items():
                for path, values in known.items():
                    self.set(root, path, reference_of(values))
        except (AttributeError, TypeError, ValueError):
            raise IllegalArgumentException("invalid reference times") from None
        return self


def reference_of(values: Any) -> Reference:
    """Parse a reference that was written as a list; raise TypeError or ValueError."""
    time, length, etag, is_directory = values
    if type(length) is not int or not isinstance(etag, str | None):
        raise TypeError("invalid reference")
    return Reference(float(time), length, etag, bool(is_directory))


@dataclass(frozen=True)
class MissingInput:
    """A missing input; reported once, and again if it reappears and disappears."""

    path: str

    def __str__(self) -> str:
        return f"input not found: {self.path!r}"


@runtime_checkable
class Scanner(Protocol):
    """Finds the files for a FileSplitterInput, which calls it from one thread.

    Only `take` and `references` are required: in a subclass the other methods do nothing.
    `references` holds the files that `take` returned. The splitter saves it in its checkpoints,
    replaces it when it is restored, and adds the files of repeated windows to it.
    """

    references: ReferenceTimes

    @abstractmethod
    def take(self) -> ScannedFileInfo | None:
        """Return the next new or modified file, and add it to `references`; None if none waits.

        Never wait for one. Raise the error that ended the search, if any.
        """

    def start(self) -> None:
        """Start to find files. Starting again does nothing."""
        return

    def stop(self) -> None:
        """Release threads and connections."""
        return

    def trigger(self) -> None:
        """Look for files now, instead of at the next interval."""
        return

    def settle(self) -> None:
        """Wait until the scanner is idle, so that all files found so far can be taken."""
        return

    def notice(self) -> MissingInput | None:
        """Return the next notice about the inputs, or None."""
        return None


#: Seconds from the end of a scan to the next one.
SCAN_INTERVAL = 5.0
#: Maximum number of files waiting for the splitter; then the scan pauses.
MAX_WAITING = 10_000
#: Suffix of files that `hdfs dfs -put` has not finished.
_COPYING = "._COPYING_"


class _Stopped(Exception):
    """The scan was stopped."""


def input_paths(files: str | Sequence[str]) -> tuple[str, ...]:
    """Return the inputs in order, without duplicates; raise IllegalArgumentException for none.

    Text is a comma-separated list. Spaces around an entry and trailing slashes are removed.
    """
    entries = files.split(",") if isinstance(files, str) else files
    paths = dict.fromkeys(_clean(entry) for entry in entries if entry.strip())
    if not paths:
        raise IllegalArgumentException("no files or directories to scan")
    for path in paths:
        if not bare_path(path).startswith("/"):
            raise IllegalArgumentException(
                f"invalid input: {path!r}; must be an absolute path or a URI"
            )
    return tuple(paths)


def _clean(entry: str) -> str:
    entry = entry.strip()
    bare = bare_path(entry)
    return entry[: len(entry) - len(bare) + len(bare.rstrip("/"))] or "/" if bare != "/" else entry


def _pattern(expression: str | None, what: str) -> re.Pattern[str] | None:
    try:
        return None if expression is None else re.compile(expression)
    except re.error as error:
        raise IllegalArgumentException(
            f"{what} is not a valid regular expression: {error}"
        ) from None


class TimeBasedDirectoryScanner(Scanner):
    """Lists `files` every `scan_interval` seconds, and delivers new and modified files.

    File names must fully match `file_pattern` and must not match `ignore_pattern`; directory names
    are not checked. A file is modified if its time, length or etag differs from the last delivery,
    or from the last scan if not delivered yet. `references` holds the delivered files; save it to
    continue with a new scanner. The next scan starts after all found files have been taken.
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
            raise IllegalArgumentException(
                f"invalid scan_interval: {scan_interval}; must not be negative"
            )
        self.scan_interval = scan_interval
        self.clock = clock or SystemClock()
        self.references = ReferenceTimes()
        self._file_pattern = _pattern(file_pattern, "file_pattern")
        self._ignore_pattern = _pattern(ignore_pattern, "ignore_pattern")
        #: Maximum number of files waiting for `take`; then the scan pauses.
        self.max_waiting = max(1, max_waiting)
        self._changed = threading.Condition()
        self.clock.watch(self._changed)
        self._waiting: deque[ScannedFileInfo] = deque()
        self._queued = ReferenceTimes()  # waiting files; lost with the scanner
        self._missing: set[str] = set()
        self._notices: deque[MissingInput] = deque()
        self._thread: threading.Thread | None = None
        self._stopping = False
        self._resting = False
        self._scanning = False
        self._triggered = False
        self._next_scan = self.clock.now()
        self._error: BaseException | None = None
        #: Number of completed scans.
        self.scans = 0

    # called by the splitter's thread ------------------------------------------------------

    def start(self) -> None:
        """Start scanning; the first scan starts immediately. Starting again does nothing."""
        with self._changed:
            if self._thread is not None or self._stopping:
                return
            self._thread = threading.Thread(target=self._run, name="file scanner", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """Stop the thread; a scan in progress stops after the current file."""
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join()

    @property
    def running(self) -> bool:
        """True if the thread is running."""
        return self._thread is not None and self._thread.is_alive()

    def trigger(self) -> None:
        """Scan now; if a scan is in progress, again right after it."""
        with self._changed:
            self._triggered = True
            self._changed.notify_all()

    def take(self) -> ScannedFileInfo | None:
        """Return the next found file and mark it as delivered; None if none waits.

        Raise the exception that ended the scanner, if any.
        """
        with self._changed:
            if self._error is not None:
                raise self._error
            if not self._waiting:
                return None
            info = self._waiting.popleft()
            path, reference = info.status.path, info.reference
            self.references.add(info)
            self._queued.discard(info.input, path, reference)
            self._changed.notify_all()
            return info

    def waiting(self) -> list[ScannedFileInfo]:
        """Return the files that were found and not taken yet."""
        with self._changed:
            return list(self._waiting)

    def notice(self) -> MissingInput | None:
        """Return the next notice about the inputs, or None."""
        with self._changed:
            return self._notices.popleft() if self._notices else None

    def settle(self) -> None:
        """Wait until the scanner is idle: it waits for time, a trigger, or `take`."""
        with self._changed:
            while self.running and not self._idle():
                self._changed.wait()

    # called by the scanner's thread -------------------------------------------------------

    def _run(self) -> None:
        try:
            while self._await_turn():
                self._scan()
                with self._changed:
                    self.scans += 1
                    self._next_scan = self.clock.now() + self.scan_interval
        except _Stopped:
            pass
        except BaseException as error:  # raised by the splitter's next `take`
            self._error = error
        finally:
            with self._changed:
                self._stopping = self._resting = True
                self._changed.notify_all()

    def _idle(self) -> bool:
        return self._stopping or (self._resting and not self._turn())

    def _turn(self) -> bool:
        """Return True if the resting thread has something to do."""
        if len(self._waiting) >= self.max_waiting or self._stopping:
            return False
        return self._scanning or (not self._waiting and self._due())

    def _due(self) -> bool:
        return self._triggered or self.clock.now() >= self._next_scan

    def _await_turn(self) -> bool:
        """Rest until a scan is due and all files were taken; return False to stop."""
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
        """Scan everything below an input, depth first, in the order of listings."""
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
        """Yield the listing of a directory; stop if the directory vanishes."""
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
        """Return True if the file's name matches the patterns."""
        name = last_element(status.path)
        if name.endswith(_COPYING):
            return False
        if self._ignore_pattern is not None and self._ignore_pattern.fullmatch(name):
            return False
        return self._file_pattern is None or self._file_pattern.fullmatch(name) is not None

    def _modified(self, known: Reference, reference: Reference) -> bool:
        return known != reference

    def _hand_over(self, info: ScannedFileInfo) -> None:
        """Queue a file for `take`, if it is new or modified."""
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
