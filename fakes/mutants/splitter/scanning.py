"""Scanners that find the wrong files, or at the wrong time."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from typing import Any
from unicodedata import normalize
from urllib.parse import unquote

from fscontract.contract.api.errors import FileNotFoundException
from fscontract.contract.api.filesystem import FileStatus, FileSystem
from fscontract.fakes.mutants.registry import mutant, right
from fscontract.pipeline.blocks import FileInfo
from fscontract.pipeline.splitter.input import FileSplitterInput
from fscontract.pipeline.splitter.scanner import (
    MissingInput,
    Reference,
    ReferenceTimes,
    ScannedFileInfo,
    TimeBasedDirectoryScanner,
)


@mutant("split.scan-async", FileSplitterInput.emit_tuples)
def waits_for_scan(self: FileSplitterInput) -> None:
    """The splitter waits until the scan has ended."""
    self.scanner.settle()
    right(self).emit_tuples()


@mutant("split.scan-first")
class WaitsFirst(TimeBasedDirectoryScanner):
    """The first scan waits for the interval."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self._next_scan += self.scan_interval


@mutant("split.scan-once", TimeBasedDirectoryScanner.take)
def forgets_taken(self: TimeBasedDirectoryScanner) -> ScannedFileInfo | None:
    """Files that were handed over are forgotten."""
    info = right(self).take()
    self.references = ReferenceTimes()
    return info


@mutant("split.scan-once", FileSplitterInput.get_file_status)
def splits_the_present_state(self: FileSplitterInput, info: FileInfo) -> FileStatus:
    """A file that changed while it waited is split in its present state, and again after a scan."""
    status = right(self).get_file_status(info)
    try:
        return self.filesystem.get_file_status(status.path)
    except FileNotFoundException:
        return status


class _WithoutCase(ReferenceTimes):
    def set(self, root: str, path: str, reference: Reference) -> None:
        super().set(root, path.lower(), reference)

    def get(self, root: str, path: str) -> Reference | None:
        return super().get(root, path.lower())


@mutant("split.scan-once")
class RemembersWithoutCase(TimeBasedDirectoryScanner):
    """Of files whose paths differ in case, one is remembered."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.references = _WithoutCase()


@mutant("split.scan-interval")
class Hasty(TimeBasedDirectoryScanner):
    """Scans run twice as often."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.scan_interval /= 2


@mutant("split.scan-interval")
class SecondEarly(TimeBasedDirectoryScanner):
    """Scans start a second before the interval is over."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.scan_interval = max(0.0, self.scan_interval - 1)


@mutant("split.trigger", TimeBasedDirectoryScanner.trigger)
def deaf(self: TimeBasedDirectoryScanner) -> None:
    """The trigger does nothing."""


@mutant("split.trigger-during", TimeBasedDirectoryScanner._scan)
def forgets_trigger(self: TimeBasedDirectoryScanner) -> None:
    """A trigger is forgotten when a scan ends, not when it begins."""
    right(self)._scan()
    self._triggered = False


@mutant("split.modified-time", TimeBasedDirectoryScanner._modified)
def blind_to_time(self: TimeBasedDirectoryScanner, known: Reference, reference: Reference) -> bool:
    """A file with another modification time is not found again."""
    return known[1:] != reference[1:]


@mutant("split.modified-time", TimeBasedDirectoryScanner._modified)
def whole_seconds(self: TimeBasedDirectoryScanner, known: Reference, reference: Reference) -> bool:
    """Modification times are compared without fractions of seconds."""
    before, now = (
        r._replace(modification_time=int(r.modification_time)) for r in (known, reference)
    )
    return before != now


@mutant("split.modified-older", TimeBasedDirectoryScanner._modified)
def later_only(self: TimeBasedDirectoryScanner, known: Reference, reference: Reference) -> bool:
    """A file with an earlier modification time is not found again, as in Java."""
    return reference[0] > known[0] or known[1:] != reference[1:]


@mutant("split.modified-older", TimeBasedDirectoryScanner._modified)
def since_1970(self: TimeBasedDirectoryScanner, known: Reference, reference: Reference) -> bool:
    """A time before 1970 counts as unknown."""
    if reference.modification_time < 0:
        reference = reference._replace(modification_time=known.modification_time)
    return known != reference


@mutant("split.modified-size", TimeBasedDirectoryScanner._modified)
def blind_to_emptied(
    self: TimeBasedDirectoryScanner, known: Reference, reference: Reference
) -> bool:
    """A file that has become empty is not found again."""
    return reference.length > 0 and known != reference


@mutant("split.modified-size", TimeBasedDirectoryScanner.take)
def marks_newest(self: TimeBasedDirectoryScanner) -> ScannedFileInfo | None:
    """A file that changed while it waited is emitted in its old state, and known in the new one."""
    info = right(self).take()
    if info is not None:
        with suppress(FileNotFoundError):
            status = self.filesystem.get_file_status(info.status.path)
            self.references.set(info.input, status.path, Reference.of(status))
    return info


@mutant("split.file-metadata", FileSplitterInput.get_file_status)
def newest_length(self: FileSplitterInput, info: FileInfo) -> FileStatus:
    """A file that changed while it waited has its old time and its new length."""
    status = right(self).get_file_status(info)
    with suppress(FileNotFoundError):
        length = self.filesystem.get_file_status(status.path).length
        return replace(status, length=length)
    return status


@mutant("split.modified-size", TimeBasedDirectoryScanner._modified)
def blind_to_size(self: TimeBasedDirectoryScanner, known: Reference, reference: Reference) -> bool:
    """A file with another length is not found again, as in Java."""
    return known._replace(length=0) != reference._replace(length=0)


@mutant("split.modified-etag", TimeBasedDirectoryScanner._modified)
def blind_to_etag(self: TimeBasedDirectoryScanner, known: Reference, reference: Reference) -> bool:
    """A file with another etag is not found again."""
    return known._replace(etag=None) != reference._replace(etag=None)


@mutant("split.modified-whole", FileSplitterInput.get_data_offset)
def only_the_end(self: FileSplitterInput, info: FileInfo, status: FileStatus) -> int:
    """Only the new part of a file that has grown is split."""
    lengths: dict[str, int] = self.__dict__.setdefault("lengths", {})
    before = lengths.get(status.path, 0)
    lengths[status.path] = status.length
    return before


@mutant("split.modified-nested", TimeBasedDirectoryScanner._children)
def trusts_directories(self: TimeBasedDirectoryScanner, path: str) -> Iterator[FileStatus]:
    """A directory with the same time is not listed, as in Java before 3.4."""
    times: dict[str, float] = self.__dict__.setdefault("times", {})
    time = self.filesystem.get_file_status(path).modification_time
    if times.get(path) == time:
        return
    times[path] = time
    yield from right(self)._children(path)


@mutant("split.recursive")
class Shallow(TimeBasedDirectoryScanner):
    """Sub-directories are not scanned."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **{**settings, "recursive": False})


@mutant("split.recursive", TimeBasedDirectoryScanner.accepts)
def leaves_out_hidden(self: TimeBasedDirectoryScanner, status: FileStatus) -> bool:
    """Files whose names begin with a dot or an underscore are not found."""
    hidden = status.path.rpartition("/")[2].startswith((".", "_"))
    return not hidden and right(self).accepts(status)


@mutant("split.recursive", TimeBasedDirectoryScanner.accepts)
def leaves_out_copying(self: TimeBasedDirectoryScanner, status: FileStatus) -> bool:
    """Files are not found if their names contain _COPYING_ anywhere."""
    name = status.path.rpartition("/")[2]
    return "_COPYING_" not in name and right(self).accepts(status)


@mutant("split.recursive", TimeBasedDirectoryScanner._children)
def few_levels(self: TimeBasedDirectoryScanner, path: str) -> Iterator[FileStatus]:
    """Directories below twenty others are not scanned."""
    if path.count("/") < 20:
        yield from right(self)._children(path)


@mutant("split.recursive", TimeBasedDirectoryScanner._children)
def first_page(self: TimeBasedDirectoryScanner, path: str) -> Iterator[FileStatus]:
    """A directory has at most 1,000 files."""
    yield from islice(right(self)._children(path), 1000)


@mutant("split.recursive", TimeBasedDirectoryScanner._children)
def short_paths(self: TimeBasedDirectoryScanner, path: str) -> Iterator[FileStatus]:
    """Paths of more than 1,024 characters are not found."""
    yield from (s for s in right(self)._children(path) if len(s.path) <= 1024)


@mutant("split.recursive", TimeBasedDirectoryScanner._children)
def folds_names(self: TimeBasedDirectoryScanner, path: str) -> Iterator[FileStatus]:
    """Of names that differ in the form of an accent only, one is found."""
    seen: set[str] = set()
    for status in right(self)._children(path):
        name = normalize("NFC", status.path)
        if name not in seen:
            seen.add(name)
            yield status


@mutant("split.recursive", TimeBasedDirectoryScanner._hand_over)
def alike_once(self: TimeBasedDirectoryScanner, info: ScannedFileInfo) -> None:
    """Of files with the same name, length, time and etag, one is found."""
    seen: dict[object, str] = self.__dict__.setdefault("seen", {})
    path = info.status.path
    owner = seen.setdefault((path.rpartition("/")[2], info.reference), path)
    if owner == path or info.status.is_directory:
        right(self)._hand_over(info)


@mutant("split.recursive")
class NewerOnly(TimeBasedDirectoryScanner):
    """After the first scan, new files are found only if they are newer than all others."""

    newest = 0.0

    def _scan(self) -> None:
        self.limit = self.newest
        super()._scan()

    def _hand_over(self, info: ScannedFileInfo) -> None:
        status = info.status
        known = self.references.get(info.input, status.path)
        if known is not None or status.is_directory or status.modification_time > self.limit:
            super()._hand_over(info)
        if not status.is_directory:
            self.newest = max(self.newest, status.modification_time)


@mutant("split.recursive", TimeBasedDirectoryScanner.accepts)
def not_yet(self: TimeBasedDirectoryScanner, status: FileStatus) -> bool:
    """Files with a time in the future are left until then."""
    return status.modification_time <= time.time() + 1 and right(self).accepts(status)


@mutant("split.recursive", TimeBasedDirectoryScanner._modified)
def known_by_kind(self: TimeBasedDirectoryScanner, known: Reference, reference: Reference) -> bool:
    """A file at the path of a former directory is not found."""
    return known.is_directory == reference.is_directory and known != reference


@mutant("split.uri", TimeBasedDirectoryScanner._hand_over)
def decodes_names(self: TimeBasedDirectoryScanner, info: ScannedFileInfo) -> None:
    """Escapes in names are decoded, as those of URLs."""
    right(self)._hand_over(replace(info, relative_path=unquote(info.relative_path)))


@mutant("split.flat")
class Deep(TimeBasedDirectoryScanner):
    """Sub-directories are scanned, always."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **{**settings, "recursive": True})


def _accepted_by(
    scanner: TimeBasedDirectoryScanner,
    status: FileStatus,
    match: Callable[[re.Pattern[str]], object],
) -> bool:
    """Return whether a scanner accepts a file if `match` applies its pattern."""
    pattern, scanner._file_pattern = scanner._file_pattern, None
    try:
        accepts = right(scanner).accepts(status)
    finally:
        scanner._file_pattern = pattern
    return accepts and (pattern is None or bool(match(pattern)))


@mutant("split.name-pattern", TimeBasedDirectoryScanner.accepts)
def matches_path(self: TimeBasedDirectoryScanner, status: FileStatus) -> bool:
    """The pattern applies to the whole path, as in Java."""
    return _accepted_by(self, status, lambda pattern: pattern.fullmatch(status.path))


@mutant("split.name-pattern", TimeBasedDirectoryScanner.accepts)
def first_and_last_anchored(self: TimeBasedDirectoryScanner, status: FileStatus) -> bool:
    """The first alternative of a pattern may match a beginning, the last one an end."""
    name = status.path.rpartition("/")[2]
    return _accepted_by(self, status, lambda p: re.search(f"^{p.pattern}$", name))


@mutant("split.ignore-pattern", TimeBasedDirectoryScanner.accepts)
def ignores_parts(self: TimeBasedDirectoryScanner, status: FileStatus) -> bool:
    """The pattern to ignore may match the beginning of a name."""
    name = status.path.rpartition("/")[2]
    return right(self).accepts(status) and not (
        self._ignore_pattern and self._ignore_pattern.match(name)
    )


@mutant("split.pattern-directories", TimeBasedDirectoryScanner._children)
def pattern_for_all(self: TimeBasedDirectoryScanner, path: str) -> Iterator[FileStatus]:
    """A directory whose name does not match is not scanned."""
    for status in right(self)._children(path):
        if not status.is_directory or self.accepts(status):
            yield status


@mutant("split.copying", TimeBasedDirectoryScanner.accepts)
def takes_unfinished(self: TimeBasedDirectoryScanner, status: FileStatus) -> bool:
    """Files that are being copied are found."""
    return status.path.endswith("_") or right(self).accepts(status)


@mutant("split.inputs-list")
class KeepsSlashes(TimeBasedDirectoryScanner):
    """An input with a slash at the end counts as another one."""

    def __init__(self, filesystem: FileSystem, files: Any, **settings: Any) -> None:
        super().__init__(filesystem, files, **settings)
        if isinstance(files, str):
            self.files = tuple(part.strip() for part in files.split(",") if part.strip())


@mutant("split.inputs-list")
class OutermostInputs(TimeBasedDirectoryScanner):
    """An input is left out if its path begins like that of another one."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        paths = self.files
        self.files = tuple(
            path
            for path in paths
            if not any(path.startswith(p) and path[len(p)] != "/" for p in paths if p != path)
        )


@mutant("split.inputs-required")
class NeedsNoInput(TimeBasedDirectoryScanner):
    """Without an input everything is scanned."""

    def __init__(self, filesystem: FileSystem, files: Any, **settings: Any) -> None:
        try:
            super().__init__(filesystem, files, **settings)
        except ValueError:
            super().__init__(filesystem, "/", **settings)


@mutant("split.input-file", TimeBasedDirectoryScanner._hand_over)
def directories_only(self: TimeBasedDirectoryScanner, info: ScannedFileInfo) -> None:
    """An input that is a file is ignored."""
    if info.directory is not None or info.status.is_directory:
        right(self)._hand_over(info)


class _Shared(ReferenceTimes):
    def get(self, place: str, path: str) -> Reference | None:
        return super().get("", path)

    def set(self, place: str, path: str, reference: Reference) -> None:
        super().set("", path, reference)


@mutant("split.overlap")
class OneForAll(TimeBasedDirectoryScanner):
    """Files are identified by their path alone, as in Java before 3.4."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.references, self._queued = _Shared(), _Shared()


@mutant("split.empty-input", TimeBasedDirectoryScanner._is_there)
def passes_over_empty(self: TimeBasedDirectoryScanner, path: str) -> bool:
    """An empty input is not found."""
    return False


@mutant("split.vanished", TimeBasedDirectoryScanner._children)
def needs_all(self: TimeBasedDirectoryScanner, path: str) -> Iterator[FileStatus]:
    """A directory that vanishes ends the scanner, as in Java."""
    for status in self.filesystem.list_status(path):
        if self._stopping:
            return
        yield status


@mutant("split.missing-once", TimeBasedDirectoryScanner._miss)
def repeats(self: TimeBasedDirectoryScanner, path: str) -> None:
    """A missing input is reported at each scan."""
    self._notices.append(MissingInput(path))


@mutant("split.consumed", TimeBasedDirectoryScanner._turn)
def restless(self: TimeBasedDirectoryScanner) -> bool:
    """Scans continue while files wait in the queue."""
    return not self._stopping and (self._scanning or self._due())


@mutant("split.backpressure")
class NoLimit(TimeBasedDirectoryScanner):
    """The queue of files has no limit."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings, max_waiting=1 << 40)


@mutant("split.scan-error", TimeBasedDirectoryScanner._scan)
def silent(self: TimeBasedDirectoryScanner) -> None:
    """A failed scan is ignored."""
    with suppress(OSError):
        right(self)._scan()


@mutant("split.stop", TimeBasedDirectoryScanner.stop)
def leaves_its_scan(self: TimeBasedDirectoryScanner) -> None:
    """The thread continues if a scan is in progress."""
    if self._thread is None or self._resting:
        right(self).stop()
