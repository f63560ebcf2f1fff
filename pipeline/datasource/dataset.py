"""The files of the inputs: as a listing finds them, or as their metadata tables have them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from fscontract.contract.ports import FileSystem
from fscontract.pipeline.blocks import join_path
from fscontract.pipeline.datasource.files import find_files
from fscontract.pipeline.datasource.paths import expand
from fscontract.pipeline.datasource.pushdown import Condition
from fscontract.pipeline.datasource.request import Request
from fscontract.pipeline.splitter.references import ScannedFileInfo

if TYPE_CHECKING:
    from fscontract.pipeline.metadata.prune import Filter


class Directory(NamedTuple):
    """A directory with files: its path below an input."""

    root: str
    name: str

    @classmethod
    def of(cls, info: ScannedFileInfo) -> Directory:
        """That of a file."""
        if info.directory is None:
            return cls(info.relative_path, "")
        return cls(info.directory, info.relative_path.rpartition("/")[0])

    @property
    def path(self) -> str:
        """The whole path or URI."""
        return join_path(self.root, self.name) if self.name else self.root

    def below(self, roots: Sequence[str]) -> str:
        """Its path below the first of some directories that it is in."""
        return directory_of(f"{self.path.rstrip('/')}/", roots)


class Files(Protocol):
    """What is known of the files of the inputs."""

    roots: tuple[str, ...]

    def directories(self) -> list[Directory]:
        """The directories that have files; SourceException."""

    def find(
        self, directories: Collection[Directory] | None = None, filters: Sequence[Filter] = ()
    ) -> list[ScannedFileInfo]:
        """The files, of some directories or of all, that may have rows which meet all filters."""

    def close(self) -> None:
        """Let go of what is open."""


def files_of(fs: FileSystem, request: Request) -> Files:
    """The files that the options ask for; SourceException if an input is missing."""
    if not request.values["metadata"]:
        return ListedFiles(fs, request)
    from fscontract.pipeline.datasource.indexed import IndexedFiles

    return IndexedFiles(fs, request)


def check_inputs(fs: FileSystem, request: Request) -> None:
    """SourceException if an input is missing."""
    if not request.values["metadata"]:
        expand(fs, request.paths)
        return
    from fscontract.pipeline.datasource.indexed import check_datasets

    check_datasets(fs, request.paths, request.values["metadataDir"])


class ListedFiles:
    """Files that are listed."""

    def __init__(self, fs: FileSystem, request: Request) -> None:
        request = request.with_paths(expand(fs, request.paths))
        self.roots = request.paths
        self._infos = find_files(fs, request)
        if request.parquet:
            self._infos = [i for i in self._infos if not is_hidden(Directory.of(i).name)]

    def directories(self) -> list[Directory]:
        """The directories that have files."""
        return list(dict.fromkeys(map(Directory.of, self._infos)))

    def find(
        self, directories: Collection[Directory] | None = None, filters: Sequence[Filter] = ()
    ) -> list[ScannedFileInfo]:
        """The files of directories; a listing says nothing of rows."""
        if directories is None:
            return self._infos
        wanted = set(directories)
        return [info for info in self._infos if Directory.of(info) in wanted]

    def close(self) -> None:
        """Nothing is open."""


def may_hold(conditions: Iterable[Condition]) -> Callable[[Directory], bool]:
    """Which directories may have files whose path meets all conditions."""
    wanted = [each for each in conditions if each.column == "path" and not each.negated]

    def kept(directory: Directory) -> bool:
        return all(_may_begin(each, f"{directory.path.rstrip('/')}/") for each in wanted)

    return kept


def _may_begin(condition: Condition, start: str) -> bool:
    """Whether a path that begins with `start` may meet a condition."""
    value = condition.value
    if condition.operation == "eq":
        return bool(value.startswith(start))
    if condition.operation == "in":
        return any(each.startswith(start) for each in value)
    if condition.operation == "starts":
        return bool(value.startswith(start) or start.startswith(value))
    return True


def is_hidden(directory: str) -> bool:
    """Whether Spark takes no Parquet file in a directory for one with rows."""
    return any(
        name.startswith(".") or (name.startswith("_") and "=" not in name)
        for name in directory.split("/")
    )


def directory_of(path: str, roots: Sequence[str]) -> str:
    """The directory of a file below the first of some directories that it is in."""
    for root in roots:
        start = f"{root.rstrip('/')}/"
        if path.startswith(start):
            return path[len(start) :].rpartition("/")[0]
    return ""
