"""Where a scenario is played: files, splitters over them, and what they emitted so far."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from fscontract.contract.api.filesystem import FileStatus
from fscontract.contract.models.splitter import (
    Acceptor,
    BlockRecord,
    Broken,
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
from fscontract.contract.scenarios.splitter.instrumented_filesystem import StagedFileSystem

#: Where files are put, and windows kept.
INPUT, WINDOWS = "/in", "/windows"
#: More than any scenario emits.
PLENTY = 1000


@dataclass(frozen=True)
class Window:
    """What one window emitted, in order."""

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
        """All that a repeated window must repeat: everything but when it was discovered."""
        return [_facts(record) for record in self.records]


_FILE = ("file_path", "file_name", "relative_path", "file_length", "is_directory")
_COUNT = ("number_of_blocks", "block_size", "data_offset", "etag", "modification_time")
_BLOCK = ("block_id", "offset", "length", "is_last_block", "previous_block_id", "file_path")
_OF = ("file_length", "etag", "modification_time")


def _facts(record: Record) -> tuple[Any, ...]:
    if is_block(record):
        return tuple(getattr(record, name) for name in (*_BLOCK, *_OF))
    ids = list(record.block_ids[:PLENTY])  # type: ignore[union-attr]
    return (*(getattr(record, name) for name in (*_FILE, *_COUNT)), ids)


class Bench:
    """One scenario's stage. Whatever a splitter emits on it, the model judges."""

    def __init__(self, binding: SplitterBinding) -> None:
        self.binding = binding
        self.fs = StagedFileSystem(binding.filesystem())
        self.fs.mkdirs(INPUT)
        self.versions: dict[str, list[Version]] = {}
        self.broken: list[Broken] = []
        self.exercised: Counter[str] = Counter()
        self.lives: list[Splitter] = []
        self._acceptors: dict[int, Acceptor] = {}
        self.note(INPUT)

    # files --------------------------------------------------------------------------------

    def write(self, path: str, length: int = 11, **said: Any) -> str:
        """Put a file of so many bytes at a path, of which listings say this; returns the path."""
        path = path if path.startswith("/") else f"{INPUT}/{path}"
        with self.fs.create(path) as file:
            file.write(bytes(length))
        self.fs.stated[path] = said
        self._note_parents(path)
        self.note(path)
        return path

    def mkdir(self, path: str) -> str:
        """Make a directory; returns its path."""
        path = path if path.startswith("/") else f"{INPUT}/{path}"
        self.fs.mkdirs(path)
        self._note_parents(path)
        self.note(path)
        return path

    def state(self, path: str, **said: Any) -> None:
        """Let listings say something else of a file."""
        self.fs.stated[path] = said
        self.note(path)

    def note(self, path: str) -> None:
        """Keep the present version of a file, for the model to know it."""
        status = self.fs.get_file_status(path)
        self.fs.asked[path] -= 1
        self.versions.setdefault(path, []).append(_version(status))

    def _note_parents(self, path: str) -> None:
        parent = path.rpartition("/")[0]
        if parent and parent not in self.versions:
            self._note_parents(parent)
            self.note(parent)

    def known_as(self, uri: str, path: str) -> None:
        """A file has a URI, too."""
        self.versions[uri] = self.versions[path]

    # splitters ----------------------------------------------------------------------------

    def finding(
        self, files: str | Sequence[str] = INPUT, checkpoint: str | None = None, **settings: Any
    ) -> Finding:
        """A splitter that has been started. Blocks have 2 bytes, and any number goes out."""
        settings.setdefault("block_size", 2)
        settings.setdefault("blocks_threshold", PLENTY)
        made = SplitterSettings(files=files, **settings)
        life = self.binding.finding(self.fs, made, checkpoint)
        self.lives.append(life)
        life.start()
        return Finding(self, life, made)

    def fed(self, checkpoint: str | None = None, **settings: Any) -> Fed:
        """A splitter that is fed. Blocks have 2 bytes, and any number goes out."""
        settings.setdefault("block_size", 2)
        settings.setdefault("blocks_threshold", PLENTY)
        made = SplitterSettings(**settings)
        life = self.binding.fed(self.fs, made, checkpoint)
        self.lives.append(life)
        return Fed(self, life, made)

    def refuses(self, clause: str, **settings: Any) -> None:
        """Want settings to be refused with a ValueError."""
        try:
            self.finding(**settings)
        except ValueError:
            self.want(clause, True, True)
        else:
            self.want(clause, f"taken: {settings}", "ValueError", "senseless settings")

    def acceptor(self, settings: SplitterSettings) -> Acceptor:
        """The model of an operator; a new life of it goes on with the same ids."""
        plan = Plan(
            block_size=settings.block_size or self.fs.block_size or FileStatus("", 0).block_size,
            threshold=settings.blocks_threshold or 1,
            operator_id=settings.operator_id,
            data_offset=settings.data_offset,
            versions=self.versions,
        )
        old = self._acceptors.get(settings.operator_id)
        made = self._acceptors[settings.operator_id] = Acceptor(plan)
        if old is not None:
            made.follow(old)
        return made

    # judgement ----------------------------------------------------------------------------

    def want(self, clause: str, actual: object, expected: object, what: str = "") -> None:
        """Want two things to be equal."""
        self.exercised[clause] += 1
        if actual != expected:
            head = f"{what}: " if what else ""
            self.broken.append(Broken(clause, f"{head}{expected!r}", f"{actual!r}"))

    def take(self, acceptor: Acceptor) -> None:
        """Take over what the model found."""
        self.broken += acceptor.broken
        self.exercised.update(acceptor.exercised)
        acceptor.broken, acceptor.exercised = [], Counter()

    def close(self) -> None:
        """End every life."""
        for life in self.lives:
            life.close()


def _version(status: FileStatus) -> Version:
    seconds = status.modification_time
    time = int(seconds * 1000) if seconds else None
    length = 0 if status.is_directory else status.length
    return Version(length, status.is_directory, status.etag, time)


class Fed:
    """A splitter that is fed, under the eyes of the model."""

    def __init__(self, bench: Bench, life: FedSplitter, settings: SplitterSettings) -> None:
        self.bench = bench
        self.life = life
        self.acceptor = bench.acceptor(settings)

    def put(self, path: str, directory: str | None = None) -> None:
        """Give it a file."""
        self.life.put(directory, path)

    def begin(self, window_id: int) -> None:
        """Begin a window."""
        self.acceptor.begin()
        self.life.begin_window(window_id)

    def end(self) -> Window:
        """End the window; what it emitted."""
        self.life.end_window()
        return self.seen()

    def seen(self) -> Window:
        """What was emitted since this was last asked."""
        window = Window(tuple(self.life.taken()))
        for record in window.records:
            self.acceptor.see(record)
        self.bench.take(self.acceptor)
        return window


class Finding:
    """A splitter that finds its files, under the eyes of the model."""

    def __init__(self, bench: Bench, life: FindingSplitter, settings: SplitterSettings) -> None:
        self.bench = bench
        self.life = life
        self.settings = settings
        self.acceptor = bench.acceptor(settings)

    def window(self, window_id: int, emits: int = 1) -> Window:
        """A whole window: what it emitted when the scanner had done all it could."""
        self.acceptor.begin()
        self.life.begin_window(window_id)
        for _ in range(emits):
            self.life.settle()
            self.life.emit_tuples()
        self.life.end_window()
        return self.seen()

    def windows(self, ids: Sequence[int]) -> list[Window]:
        """Whole windows one after the other."""
        return [self.window(number) for number in ids]

    def drain(self, first: int, most: int = PLENTY) -> list[Window]:
        """Windows until one emits nothing; then nothing may be left of the last file."""
        found = []
        for number in range(first, first + most):
            found.append(self.window(number))
            if not found[-1].records:
                break
        self.acceptor.finish()
        self.bench.take(self.acceptor)
        return found

    def seen(self) -> Window:
        """What was emitted since this was last asked."""
        window = Window(tuple(self.life.taken()))
        for record in window.records:
            self.acceptor.see(record)
        self.bench.take(self.acceptor)
        return window

    def again(self, checkpoint: str | None = None, **settings: Any) -> Finding:
        """Another life, from a checkpoint or from the beginning; this one ends as it stands."""
        self.life.close()
        made = replace(self.settings, **settings)
        life = self.bench.binding.finding(self.bench.fs, made, checkpoint)
        self.bench.lives.append(life)
        life.start()
        return Finding(self.bench, life, made)


def everything(windows: Sequence[Window]) -> Iterator[str]:
    """The paths of the files of windows."""
    for window in windows:
        yield from window.paths
