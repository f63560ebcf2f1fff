"""Drive splitters over files, and judge their records by the model of a plan.

The model judges every record that a splitter emits in any scenario; scenarios judge the rest.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, ClassVar, Generic, TypeVar

from fscontract.contract.api.filesystem import FileStatus
from fscontract.contract.models.splitter import (
    Acceptor,
    BlockRecord,
    FileRecord,
    Plan,
    Record,
    Version,
    is_block,
)
from fscontract.contract.pipeline_bindings import (
    FedSplitter,
    FindingSplitter,
    Splitter,
    SplitterBinding,
    SplitterSettings,
)
from fscontract.contract.scenarios.instrumented_filesystem import InstrumentedFileSystem
from fscontract.contract.scenarios.scenario import Harness

#: The directories of files, and of windows.
INPUT, WINDOWS = "/in", "/windows"
#: More records than any scenario emits.
PLENTY = 1000


#: After these, a splitter scans files that it has found before.
_RESCANS = frozenset({"trigger", "advance", "another lifetime"})


@dataclass(frozen=True)
class Window:
    """The records of one window, in order."""

    records: tuple[Record, ...]

    @property
    def files(self) -> list[FileRecord]:
        """The metadata of files."""
        return [r for r in self.records if not is_block(r)]  # type: ignore[misc]

    @property
    def blocks(self) -> list[BlockRecord]:
        """The metadata of blocks."""
        return [r for r in self.records if is_block(r)]  # type: ignore[misc]

    @property
    def paths(self) -> list[str]:
        """The paths of the files."""
        return [file.file_path for file in self.files]

    @property
    def facts(self) -> list[tuple[Any, ...]]:
        """Everything that a repeated window must repeat: all fields but the discovery times."""
        return [_facts(record) for record in self.records]


class _Record:
    """A record whose paths are text, also if the splitter uses objects of pathlib for them."""

    def __init__(self, record: Record) -> None:
        self._record = record

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._record, name)
        return os.fspath(value) if isinstance(value, os.PathLike) else value

    def __repr__(self) -> str:
        return repr(self._record)


_FILE = ("file_path", "file_name", "relative_path", "file_length", "is_directory")
_COUNT = ("number_of_blocks", "block_size", "data_offset", "etag", "modification_time")
_BLOCK = ("block_id", "offset", "length", "is_last_block", "previous_block_id", "file_path")
_OF = ("file_length", "etag", "modification_time")


def _facts(record: Record) -> tuple[Any, ...]:
    if is_block(record):
        return tuple(getattr(record, name) for name in (*_BLOCK, *_OF))
    ids = list(islice(record.block_ids, PLENTY))  # type: ignore[union-attr]
    return (*(getattr(record, name) for name in (*_FILE, *_COUNT)), ids)


_BOUNDS = ("cover", "order", "end-offset", "block-size", "block-count", "last-flag", "data-offset")
_SEQUENCE = ("metadata-first", "pending-first", "file-start", "threshold")
_IDS = ("ids-form", "ids-unique", "ids-listed", "linked", "first-unlinked")
_METADATA = ("file-metadata", "version-kept", "block-file", "block-file-length")
#: What is observed, by the clause.
_OBSERVED = {
    f"split.{name}": observed
    for observed, names in {
        "blocks": _BOUNDS,
        "sequence": _SEQUENCE,
        "ids": _IDS,
        "metadata": _METADATA,
    }.items()
    for name in names
}


class SplitterHarness(Harness):
    """Files, and splitters over them; the model judges the records."""

    collects: ClassVar[bool] = True
    usual = frozenset({"start", "begin_window", "settle", "emit_tuples", "end_window", "taken"})
    usual |= {"close", "block_size", "operator_id", "scan_interval"}

    def __init__(self, binding: SplitterBinding, clause: str = "") -> None:
        super().__init__(clause)
        self.binding = binding
        self.fs = InstrumentedFileSystem(binding.filesystem())
        self.fs.mkdirs(INPUT)
        self.versions: dict[str, list[Version]] = {}
        self.splitters: list[Splitter] = []
        #: Whether each input that was found had children when it was found first.
        self.full_inputs: dict[str, bool] = {}
        self._acceptors: dict[int, Acceptor] = {}
        self._written = False
        self.note(INPUT)

    def observed(self, clause: str, what: str) -> tuple[str, ...]:
        """Return what a comparison observes of the splitter: files if nothing else."""
        if clause in _OBSERVED:
            return (_OBSERVED[clause],)
        return ("blocks", "files") if "block" in what else ("files",)

    # files --------------------------------------------------------------------------------

    def write(self, path: str, length: int = 11, **fields: Any) -> str:
        """Write a file of some bytes, whose status has these fields; return its path."""
        path = path if path.startswith("/") else f"{INPUT}/{path}"
        with self.fs.create(path) as file:
            file.write(bytes(length))
        self.fs.stated[path] = fields
        self.use(*fields, *(() if length else ("empty file",)))
        if path in self.versions:
            self.use("file written again", "other status")
        elif self._written:
            self.use("several files")
        self._written = True
        self._note_parents(path)
        self.note(path)
        return path

    def mkdir(self, path: str) -> str:
        """Make a directory; return its path."""
        path = path if path.startswith("/") else f"{INPUT}/{path}"
        self.fs.mkdirs(path)
        self.use("directory")
        self._note_parents(path)
        self.note(path)
        return path

    def state(self, path: str, **fields: Any) -> None:
        """Replace fields of the status of a file."""
        before = self.fs.stated.get(path, {})
        self.fs.stated[path] = fields
        changed = [name for name, value in fields.items() if before.get(name) != value]
        self.use("other status", *(f"other {name}" for name in changed))
        self.note(path)

    def note(self, path: str) -> None:
        """Tell the model the current version of a file."""
        self.versions.setdefault(path, []).append(_version(self.fs.get_file_status(path)))

    def _note_parents(self, path: str) -> None:
        parent = path.rpartition("/")[0]
        if parent and parent not in self.versions:
            self.use("directory")
            self._note_parents(parent)
            self.note(parent)

    def has_children(self, directory: str) -> bool:
        """Return whether a scenario wrote something below a directory, given by path or URI."""
        return any(path.startswith(f"{directory}/") for path in self.versions)

    def _is_directory(self, path: str) -> bool:
        versions = self.versions.get(path)
        return versions is None or versions[-1].is_directory

    def known_as(self, uri: str, path: str) -> None:
        """Tell the model an alternative URI of a file."""
        self.versions[uri] = self.versions[path]

    # splitters ----------------------------------------------------------------------------

    def finding(
        self, files: str | Sequence[str] = INPUT, checkpoint: str | None = None, **settings: Any
    ) -> FindingHarness:
        """Start a splitter that finds files, with blocks of 2 bytes and no threshold."""
        inputs = [files] if isinstance(files, str) else files
        self.use(*settings, *(("several inputs",) if len(inputs) > 1 else ()))
        directories = [path for path in inputs if self._is_directory(path)]
        alone = [
            path
            for path in inputs
            if path not in directories and not any(path.startswith(f"{d}/") for d in directories)
        ]
        self.use(*(("an input that is a file",) if alone else ()))
        self._note_another()
        return FindingHarness(self, _settings(files=files, **settings), checkpoint)

    def fed(self, checkpoint: str | None = None, **settings: Any) -> FedHarness:
        """Return a splitter that is fed files, with blocks of 2 bytes and no threshold."""
        self.use(*settings)
        self._note_another()
        return FedHarness(self, _settings(**settings), checkpoint)

    def _note_another(self) -> None:
        self.use(*(("several splitters",) if self._acceptors else ()))

    def use(self, *names: str) -> None:
        """Note that the scenario uses something of the part."""
        super().use(*names, *(() if _RESCANS.isdisjoint(names) else ("a later scan",)))

    def expect_refusal(self, **settings: Any) -> None:
        """Judge the clause: settings must be refused with a ValueError."""
        try:
            self.finding(**settings)
        except ValueError:
            self.expect(True, True)
        else:
            self.expect(f"taken: {settings}", "ValueError", "senseless settings")

    def acceptor(self, settings: SplitterSettings, continues: bool) -> Acceptor:
        """Return a model of an operator; it may continue the ids of the previous model."""
        plan = Plan(
            block_size=settings.block_size or self.fs.block_size or FileStatus("", 0).block_size,
            threshold=settings.blocks_threshold or 1,
            operator_id=settings.operator_id,
            data_offset=settings.data_offset,
            versions=self.versions,
        )
        old = self._acceptors.get(settings.operator_id)
        acceptor = self._acceptors[settings.operator_id] = Acceptor(plan)
        if old is not None and continues:
            acceptor.follow(old)
        return acceptor

    def take(self, acceptor: Acceptor) -> None:
        """Take over the findings of the model."""
        for violation in acceptor.violations:
            self.record(violation)
        self.exercised.update(acceptor.exercised)
        for clause in acceptor.exercised:
            self.observations.update(self.observed(clause, ""))
        acceptor.violations, acceptor.exercised = [], Counter()

    def close(self) -> None:
        """Close all splitters that are still open."""
        for splitter in self.splitters:
            splitter.close()


def _settings(**settings: Any) -> SplitterSettings:
    return SplitterSettings(**{"block_size": 2, "blocks_threshold": PLENTY, **settings})


def _version(status: FileStatus) -> Version:
    seconds = status.modification_time
    time = int(seconds * 1000) if seconds else None
    length = 0 if status.is_directory else status.length
    return Version(length, status.is_directory, status.etag, time)


S = TypeVar("S", bound=Splitter)


class _LifeHarness(Generic[S]):
    """One lifetime of a splitter; the model judges its records."""

    def __init__(
        self, harness: SplitterHarness, life: S, settings: SplitterSettings, checkpoint: str | None
    ) -> None:
        self.harness = harness
        self.life = harness.noted(life)
        self.settings = settings
        # a splitter that stores nothing starts from the beginning
        stores = checkpoint is not None or settings.windows is not None
        self.acceptor = harness.acceptor(settings, continues=stores)
        harness.splitters.append(self.life)
        self._found_inputs: set[str] = set()

    def emitted(self) -> Window:
        """Judge and return the records since the last call."""
        window = self.unjudged()
        for record in window.records:
            self.acceptor.see(record)
        self.harness.take(self.acceptor)
        return window

    def unjudged(self) -> Window:
        """Return the records since the last call."""
        records = map(_Record, self.life.taken())
        return Window(tuple(r for r in records if not self._is_first_of_input(r)))

    def _is_first_of_input(self, record: Record) -> bool:
        """Return whether a record is the first one of an input that is a directory with children.

        The document does not say whether such an input is itself found.
        """
        if is_block(record) or not record.is_directory:  # type: ignore[union-attr]
            return False
        files, path = self.settings.files, record.file_path.rstrip("/")
        inputs = files.split(",") if isinstance(files, str) else files
        if path in self._found_inputs or path not in {f.strip().rstrip("/") for f in inputs}:
            return False
        self._found_inputs.add(path)
        return self.harness.full_inputs.setdefault(path, self.harness.has_children(path))


class FedHarness(_LifeHarness[FedSplitter]):
    """One lifetime of a splitter that is fed files."""

    def __init__(
        self, harness: SplitterHarness, settings: SplitterSettings, checkpoint: str | None
    ) -> None:
        life = harness.binding.fed(harness.fs, settings, checkpoint)
        super().__init__(harness, life, settings, checkpoint)

    def put(self, path: str, directory: str | None = None) -> None:
        """Feed the splitter a file."""
        self.life.put(directory, path)

    def begin(self, window_id: int) -> None:
        """Begin a window."""
        self.acceptor.begin()
        self.life.begin_window(window_id)

    def end(self) -> Window:
        """End the window and return its records."""
        self.life.end_window()
        return self.emitted()


class FindingHarness(_LifeHarness[FindingSplitter]):
    """One lifetime of a started splitter that finds files itself."""

    def __init__(
        self, harness: SplitterHarness, settings: SplitterSettings, checkpoint: str | None
    ) -> None:
        life = harness.binding.finding(harness.fs, settings, checkpoint)
        super().__init__(harness, life, settings, checkpoint)
        life.start()

    def window(self, window_id: int, emits: int = 1) -> Window:
        """Return a full window: the records after the scanner has finished its work."""
        self.harness.step()
        self.acceptor.begin()
        self.life.begin_window(window_id)
        for _ in range(emits):
            self.life.settle()
            self.life.emit_tuples()
        self.life.end_window()
        return self.emitted()

    def windows(self, ids: Sequence[int]) -> list[Window]:
        """Return several full windows."""
        return [self.window(number) for number in ids]

    def drain(self, first: int, limit: int = PLENTY) -> list[Window]:
        """Return windows up to an empty one; check that the last file is complete."""
        windows = []
        for number in range(first, first + limit):
            windows.append(self.window(number))
            if not windows[-1].records:
                break
        self.acceptor.finish()
        self.harness.take(self.acceptor)
        return windows

    def close(self) -> None:
        """End this lifetime, once."""
        if self.life in self.harness.splitters:
            self.harness.splitters.remove(self.life)
            self.life.close()

    def again(self, checkpoint: str | None = None, **settings: Any) -> FindingHarness:
        """End this lifetime, and start another from a checkpoint or from the beginning."""
        self.harness.use("another lifetime", *settings)
        self.close()
        return FindingHarness(self.harness, replace(self.settings, **settings), checkpoint)


def everything(windows: Sequence[Window]) -> Iterator[str]:
    """Yield the paths of the files of windows."""
    for window in windows:
        yield from window.paths
