"""Scanners that find the wrong files, or at the wrong time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from fscontract.contract.api.filesystem import FileStatus, FileSystem
from fscontract.fakes.mutants.splitter.registry import splitter_mutant
from fscontract.pipeline.blocks import FileInfo
from fscontract.pipeline.splitter.input import FileSplitterInput
from fscontract.pipeline.splitter.scanner import (
    MissingInput,
    Reference,
    ReferenceTimes,
    ScannedFileInfo,
    TimeBasedDirectoryScanner,
)


@splitter_mutant("split.scan-async")
class WaitsForScan(FileSplitterInput):
    """The splitter waits until the scan has ended."""

    def emit_tuples(self) -> None:
        self.scanner.settle()
        super().emit_tuples()


@splitter_mutant("split.scan-first")
class WaitsFirst(TimeBasedDirectoryScanner):
    """The first scan comes after the interval."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self._next_scan += self.scan_interval


@splitter_mutant("split.scan-once")
class ForgetsTaken(TimeBasedDirectoryScanner):
    """What was taken is not known any more."""

    def take(self) -> ScannedFileInfo | None:
        info = super().take()
        self.references = ReferenceTimes()
        return info


@splitter_mutant("split.scan-interval")
class Hasty(TimeBasedDirectoryScanner):
    """Scans come twice as often."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.scan_interval /= 2


@splitter_mutant("split.trigger")
class Deaf(TimeBasedDirectoryScanner):
    """The trigger does nothing."""

    def trigger(self) -> None:
        pass


@splitter_mutant("split.trigger-during")
class ForgetsTrigger(TimeBasedDirectoryScanner):
    """A trigger is forgotten when a scan ends, not when it begins."""

    def _scan(self) -> None:
        super()._scan()
        self._triggered = False


@splitter_mutant("split.modified-time")
class BlindToTime(TimeBasedDirectoryScanner):
    """Another time is no modification."""

    def _modified(self, known: Reference, reference: Reference) -> bool:
        return known[1:] != reference[1:]


@splitter_mutant("split.modified-older")
class LaterOnly(TimeBasedDirectoryScanner):
    """An earlier time is no modification, as in Java."""

    def _modified(self, known: Reference, reference: Reference) -> bool:
        return reference[0] > known[0] or known[1:] != reference[1:]


@splitter_mutant("split.modified-size")
class BlindToSize(TimeBasedDirectoryScanner):
    """Another length is no modification, as in Java."""

    def _modified(self, known: Reference, reference: Reference) -> bool:
        return known._replace(length=0) != reference._replace(length=0)


@splitter_mutant("split.modified-etag")
class BlindToEtag(TimeBasedDirectoryScanner):
    """Another etag is no modification."""

    def _modified(self, known: Reference, reference: Reference) -> bool:
        return known._replace(etag=None) != reference._replace(etag=None)


@splitter_mutant("split.modified-whole")
class OnlyTheEnd(FileSplitterInput):
    """Of a file that has grown only what is new is split."""

    def get_data_offset(self, info: FileInfo, status: FileStatus) -> int:
        lengths: dict[str, int] = self.__dict__.setdefault("lengths", {})
        before = lengths.get(status.path, 0)
        lengths[status.path] = status.length
        return before


@splitter_mutant("split.modified-nested")
class TrustsDirectories(TimeBasedDirectoryScanner):
    """A directory whose time is the same is not looked into, as in Java before 3.4."""

    def _children(self, path: str) -> Iterator[FileStatus]:
        times: dict[str, float] = self.__dict__.setdefault("times", {})
        time = self.filesystem.get_file_status(path).modification_time
        if times.get(path) == time:
            return
        times[path] = time
        yield from super()._children(path)


@splitter_mutant("split.recursive")
class Shallow(TimeBasedDirectoryScanner):
    """Sub-directories are not scanned."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **{**settings, "recursive": False})


@splitter_mutant("split.flat")
class Deep(TimeBasedDirectoryScanner):
    """Sub-directories are scanned, always."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **{**settings, "recursive": True})


@splitter_mutant("split.name-pattern")
class MatchesPath(TimeBasedDirectoryScanner):
    """The pattern is for the whole path, as in Java."""

    def accepts(self, status: FileStatus) -> bool:
        return self._file_pattern is None or self._file_pattern.fullmatch(status.path) is not None


@splitter_mutant("split.ignore-pattern")
class IgnoresParts(TimeBasedDirectoryScanner):
    """The pattern to be ignored may match the beginning of a name."""

    def accepts(self, status: FileStatus) -> bool:
        name = status.path.rpartition("/")[2]
        return super().accepts(status) and not (
            self._ignore_pattern and self._ignore_pattern.match(name)
        )


@splitter_mutant("split.pattern-directories")
class PatternForAll(TimeBasedDirectoryScanner):
    """A directory whose name does not match is not scanned."""

    def _children(self, path: str) -> Iterator[FileStatus]:
        for status in super()._children(path):
            if not status.is_directory or self.accepts(status):
                yield status


@splitter_mutant("split.copying")
class TakesUnfinished(TimeBasedDirectoryScanner):
    """Files that are being copied are found."""

    def accepts(self, status: FileStatus) -> bool:
        return status.path.endswith("_") or super().accepts(status)


@splitter_mutant("split.inputs-list")
class KeepsSlashes(TimeBasedDirectoryScanner):
    """An input with a slash at the end is another one."""

    def __init__(self, filesystem: FileSystem, files: Any, **settings: Any) -> None:
        super().__init__(filesystem, files, **settings)
        if isinstance(files, str):
            self.files = tuple(part.strip() for part in files.split(",") if part.strip())


@splitter_mutant("split.inputs-required")
class NeedsNoInput(TimeBasedDirectoryScanner):
    """Without an input everything is scanned."""

    def __init__(self, filesystem: FileSystem, files: Any, **settings: Any) -> None:
        try:
            super().__init__(filesystem, files, **settings)
        except ValueError:
            super().__init__(filesystem, "/", **settings)


@splitter_mutant("split.input-file")
class DirectoriesOnly(TimeBasedDirectoryScanner):
    """An input that is a file is passed over."""

    def _hand_over(self, info: ScannedFileInfo) -> None:
        if info.directory is not None or info.status.is_directory:
            super()._hand_over(info)


class _Shared(ReferenceTimes):
    def get(self, place: str, path: str) -> Reference | None:
        return super().get("", path)

    def set(self, place: str, path: str, reference: Reference) -> None:
        super().set("", path, reference)


@splitter_mutant("split.overlap")
class OneForAll(TimeBasedDirectoryScanner):
    """Files are known by their path alone, as in Java before 3.4."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.references, self._queued = _Shared(), _Shared()


@splitter_mutant("split.empty-input")
class PassesOverEmpty(TimeBasedDirectoryScanner):
    """An empty input is not found."""

    def _is_there(self, path: str) -> bool:
        return False


@splitter_mutant("split.vanished")
class NeedsAll(TimeBasedDirectoryScanner):
    """A directory that vanishes ends the scanner, as in Java."""

    def _children(self, path: str) -> Iterator[FileStatus]:
        yield from self.filesystem.list_status(path)


@splitter_mutant("split.missing-once")
class Repeats(TimeBasedDirectoryScanner):
    """An input that is not there is reported with each scan."""

    def _miss(self, place: str) -> None:
        self._notices.append(MissingInput(place))


@splitter_mutant("split.consumed")
class Restless(TimeBasedDirectoryScanner):
    """Scans go on while files wait."""

    def _turn(self) -> bool:
        return not self._stopping and (self._scanning or self._due())


@splitter_mutant("split.backpressure")
class NoLimit(TimeBasedDirectoryScanner):
    """Any number of files may wait."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings, max_waiting=1 << 40)


@splitter_mutant("split.scan-error")
class Silent(TimeBasedDirectoryScanner):
    """A failure of the scan is passed over."""

    def _scan(self) -> None:
        with suppress(OSError):
            super()._scan()


@splitter_mutant("split.stop")
class ScansToTheEnd(TimeBasedDirectoryScanner):
    """A scan in progress is not broken off."""

    def _children(self, path: str) -> Iterator[FileStatus]:
        yield from self.filesystem.list_status(path)
