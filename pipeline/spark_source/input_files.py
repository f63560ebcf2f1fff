"""Input files, found by directory listings, and their split into blocks."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from fscontract.contract.api.filesystem import FileStatus, FileSystem
from fscontract.pipeline.blockreader.compression import codec_of
from fscontract.pipeline.blocks import FileInfo, FileMetadata, join_path
from fscontract.pipeline.hudi.metrics import Metrics
from fscontract.pipeline.spark_source.errors import SourceException
from fscontract.pipeline.spark_source.filters import Condition
from fscontract.pipeline.spark_source.request import ReadRequest, expand
from fscontract.pipeline.splitter.scanner import ScannedFileInfo, TimeBasedDirectoryScanner
from fscontract.pipeline.splitter.splitter import AbstractFileSplitter

if TYPE_CHECKING:
    from fscontract.pipeline.hudi.pruning import Filter


def find_files(fs: FileSystem, request: ReadRequest) -> list[ScannedFileInfo]:
    """Return the files below the inputs, without duplicates, in listing order.

    Raise SourceException if an input is missing.
    """
    scanner = TimeBasedDirectoryScanner(fs, request.paths, **scanner_options(request.values))
    infos: dict[str, ScannedFileInfo] = {}
    scanner.start()
    try:
        while True:
            scanner.settle()
            scanned = bool(scanner.scans)
            while (info := scanner.take()) is not None:
                if not info.status.is_directory:
                    infos.setdefault(info.status.path, info)
            if scanned:
                break
    finally:
        scanner.stop()
    if (notice := scanner.notice()) is not None:
        raise SourceException(str(notice))
    return list(infos.values())


def scanner_options(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a scanner."""
    return {
        "recursive": values["recursive"],
        "file_pattern": values["filePattern"],
        "ignore_pattern": values["ignorePattern"],
    }


def accepts(fs: FileSystem, request: ReadRequest) -> Callable[[FileStatus], bool]:
    """Return a function that selects files by name according to the options."""
    return TimeBasedDirectoryScanner(fs, request.paths, **scanner_options(request.values)).accepts


class AsConfigured:
    """Mixin of splitters for the options on headers and compressed files."""

    request: ReadRequest

    def get_data_offset(self, info: FileInfo, status: FileStatus) -> int:
        """Return the offset of the data; SourceException for a compressed file with a header."""
        offset: int = self.request.values["dataOffset"]
        if offset and codec_of(info.path, self.request.compression) is not None:
            raise SourceException(
                f"option 'dataOffset' is not supported for compressed files: {info.path!r}"
            )
        return offset

    def get_block_size(self, info: FileInfo, status: FileStatus) -> int:
        """Return the whole length for a compressed file, which can't be split."""
        if codec_of(info.path, self.request.compression) is not None:
            return max(1, status.length)
        size: int = super().get_block_size(info, status)  # type: ignore[misc]
        return size


class PlanningSplitter(AsConfigured, AbstractFileSplitter):
    """Creates the metadata of found files, with the ids of their blocks."""

    def __init__(self, request: ReadRequest, block_size: int, operator_id: int = 0) -> None:
        super().__init__(block_size=block_size, operator_id=operator_id)
        self.request = request

    def split(self, infos: Iterable[ScannedFileInfo]) -> list[FileMetadata]:
        """Return the metadata of the files, in order."""
        return [self.build_file_metadata(info) for info in infos]

    def get_file_info(self) -> FileInfo | None:
        """Return None, because `split` receives the files."""
        return None

    def get_default_block_size(self) -> int:
        """Return the configured size."""
        assert self.block_size is not None
        return self.block_size

    def get_file_status(self, info: FileInfo) -> FileStatus:
        """Return the listed status."""
        assert isinstance(info, ScannedFileInfo)
        return info.status


class Directory(NamedTuple):
    """A directory with files: its path below an input."""

    root: str
    name: str

    @classmethod
    def of(cls, info: ScannedFileInfo) -> Directory:
        """Return the directory of a file."""
        if info.directory is None:
            return cls(info.relative_path, "")
        return cls(info.directory, info.relative_path.rpartition("/")[0])

    @property
    def path(self) -> str:
        """Full path or URI."""
        return join_path(self.root, self.name) if self.name else self.root

    def below(self, roots: Sequence[str]) -> str:
        """Return its path below the first of `roots` that contains it."""
        return directory_of(f"{self.path.rstrip('/')}/", roots)


class InputFiles(Protocol):
    """The input files."""

    roots: tuple[str, ...]
    #: Of the metadata tables.
    metrics: Metrics

    def directories(self) -> list[Directory]:
        """Return the directories with files; raise SourceException."""

    def find(
        self, directories: Collection[Directory] | None = None, filters: Sequence[Filter] = ()
    ) -> list[ScannedFileInfo]:
        """Return the files, of some directories or all, that may have matching rows."""

    def close(self) -> None:
        """Release resources."""


class ListedFiles:
    """Files found by listings."""

    def __init__(self, fs: FileSystem, request: ReadRequest) -> None:
        request = request.with_paths(expand(fs, request.paths))
        self.roots = request.paths
        self.metrics = Metrics()
        self._infos = find_files(fs, request)
        if request.parquet:
            self._infos = [i for i in self._infos if not is_hidden(Directory.of(i).name)]

    def directories(self) -> list[Directory]:
        """Return the directories with files."""
        return list(dict.fromkeys(map(Directory.of, self._infos)))

    def find(
        self, directories: Collection[Directory] | None = None, filters: Sequence[Filter] = ()
    ) -> list[ScannedFileInfo]:
        """Return the files of directories; ignore filters, as a listing has no statistics."""
        if directories is None:
            return self._infos
        chosen = set(directories)
        return [info for info in self._infos if Directory.of(info) in chosen]

    def close(self) -> None:
        """Do nothing."""


def may_hold(conditions: Iterable[Condition]) -> Callable[[Directory], bool]:
    """Return a function that selects directories whose files' paths may meet all conditions."""
    path_conditions = [
        condition
        for condition in conditions
        if condition.column == "path" and not condition.negated
    ]

    def may_match(directory: Directory) -> bool:
        return all(
            _may_begin(condition, f"{directory.path.rstrip('/')}/") for condition in path_conditions
        )

    return may_match


def _may_begin(condition: Condition, start: str) -> bool:
    """Return True if a path that begins with `start` may meet a condition."""
    value = condition.value
    if condition.operation == "eq":
        return bool(value.startswith(start))
    if condition.operation == "in":
        return any(choice.startswith(start) for choice in value)
    if condition.operation == "starts":
        return bool(value.startswith(start) or start.startswith(value))
    return True


def is_hidden(directory: str) -> bool:
    """Return True if Spark ignores Parquet files in this directory."""
    return any(
        name.startswith(".") or (name.startswith("_") and "=" not in name)
        for name in directory.split("/")
    )


def directory_of(path: str, roots: Sequence[str]) -> str:
    """Return the directory of a file below the first of `roots` that contains it."""
    for root in roots:
        start = f"{root.rstrip('/')}/"
        if path.startswith(start):
            return path[len(start) :].rpartition("/")[0]
    return ""
