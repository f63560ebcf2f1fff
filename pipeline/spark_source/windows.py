"""Windows of a stream: each is a micro-batch that is stored before Spark receives it."""

from __future__ import annotations

import secrets
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from fscontract.contract.api.errors import FileNotFoundException, IllegalArgumentException
from fscontract.contract.api.filesystem import FileSystem
from fscontract.implementations.spark.executor_reads import FILESYSTEMS
from fscontract.pipeline.blocks import FileBlockMetadata, FileMetadata, bare_path, join_path
from fscontract.pipeline.spark_source.errors import SourceException
from fscontract.pipeline.spark_source.input_files import AsConfigured, scanner_options
from fscontract.pipeline.spark_source.planning import BlockRun
from fscontract.pipeline.spark_source.request import ReadRequest, check_no_patterns
from fscontract.pipeline.splitter.input import FileSplitterInput
from fscontract.pipeline.splitter.scanner import TimeBasedDirectoryScanner
from fscontract.pipeline.splitter.splitter import BlockMetadataIterator
from fscontract.pipeline.splitter.windows import FSWindowStore, WindowStore, read_file

#: More blocks than any window has.
UNLIMITED = 1 << 62


@dataclass(frozen=True)
class WindowLimits:
    """Limits of a window: files, blocks, and bytes, unless one block is larger."""

    files: int = UNLIMITED
    blocks: int = UNLIMITED
    bytes: int = UNLIMITED

    @classmethod
    def of(cls, request: ReadRequest) -> WindowLimits:
        """Return the limits in the options."""
        values = request.values
        names = ("maxFilesPerTrigger", "blocksThreshold", "maxBytesPerTrigger")
        return cls(*(values[name] or UNLIMITED for name in names))


class StreamSplitter(AsConfigured, FileSplitterInput):
    """Splits files from the scanner; `runs` has the blocks of the current window.

    A window without blocks remains open until there is one.
    """

    scanner: TimeBasedDirectoryScanner

    def __init__(self, fs: FileSystem, request: ReadRequest, windows: WindowStore) -> None:
        self.request = request
        super().__init__(
            fs,
            request.paths,
            windows=windows,
            block_size=request.values["blockSize"],
            scan_interval=request.values["scanInterval"],
            **scanner_options(request.values),
        )
        self.limits = WindowLimits()
        self.runs: list[BlockRun] = []
        self.files_begun = 0
        self.bytes_planned = 0
        #: True if the window accepts nothing more.
        self.full = False

    def begin_window(self, window_id: int) -> None:
        """Begin an empty window."""
        self.runs, self.files_begun, self.bytes_planned, self.full = [], 0, 0, False
        super().begin_window(window_id)

    def process(self) -> None:
        """Emit pending blocks, then files and their blocks, up to the limits."""
        self.blocks_threshold = self.limits.blocks
        done = self.emit_block_metadata()
        while done and self._takes_more():
            info = self.get_file_info()
            if info is None:
                return
            done = self.process_file_info(info)
        self.full = True

    def emit_file_metadata(self, file: FileMetadata) -> None:
        """Emit the metadata of a file; count it if there is something to read."""
        self.files_begun += file.number_of_blocks > 0
        super().emit_file_metadata(file)

    def emit_block_metadata(self) -> bool:
        """Emit pending blocks up to the limits; return True if none is left."""
        return self._emit_blocks(min(self.limits.blocks, self.block_count + self._affordable()))

    def emit_block(self, block: FileBlockMetadata) -> None:
        """Emit a block: extend the current run, or begin the next one."""
        super().emit_block(block)
        self.bytes_planned += block.size
        pending = self._pending
        assert pending is not None
        last = self.runs[-1] if self.runs else None
        if last is not None and last.file is pending.file and last.stop == pending.emitted - 1:
            self.runs[-1] = BlockRun(last.file, last.first, pending.emitted)
        else:
            self.runs.append(BlockRun(pending.file, pending.emitted - 1, pending.emitted))

    def blocks_waiting(self) -> int:
        """Return the number of blocks found that are in no window yet."""
        pending = self._pending
        waiting = 0 if pending is None else pending.file.number_of_blocks - pending.emitted
        infos = [info for info in self.scanner.waiting() if not info.status.is_directory]
        sizes = [(info.status.length, self.get_block_size(info, info.status)) for info in infos]
        return waiting + sum(-(-length // size) for length, size in sizes)

    def _takes_more(self) -> bool:
        limits = self.limits
        return (
            self.block_count < limits.blocks
            and self.files_begun < limits.files
            and self.bytes_planned < limits.bytes
        )

    def _affordable(self) -> int:
        """Return the number of pending blocks within the byte limit; at least one per window."""
        if self._pending is None:
            return 0
        budget = self.limits.bytes - self.bytes_planned
        ahead = _blocks_within(self._pending, budget)
        return ahead if ahead or self.block_count else 1


def _blocks_within(blocks: BlockMetadataIterator, size: int) -> int:
    """Return the number of next blocks with at most `size` bytes in total."""
    file, number = blocks.file, blocks.emitted
    rest = BlockRun(file, number, file.number_of_blocks)
    if rest.size <= size:
        return len(rest)
    grid = file.data_offset // file.block_size
    return max(0, (rest.start + size) // file.block_size - grid - number)


class StreamIdentity:
    """The stream that a directory of windows belongs to: a random name, stored in it."""

    def __init__(self, fs: FileSystem, directory: str) -> None:
        self._fs = fs
        self._path = join_path(directory, "stream")

    def name(self) -> str:
        """Return the name; the first call creates it."""
        try:
            return read_file(self._fs, self._path).decode().strip()
        except FileNotFoundException:
            name = secrets.token_hex(8)
        with self._fs.create(self._path, overwrite=False) as file:
            file.write(name.encode())
        return name

    def check(self, offset: dict[str, Any]) -> int:
        """Return the window of an offset; raise SourceException if it belongs to another stream."""
        if offset.get("stream") != self.name():
            raise SourceException(
                f"Spark's checkpoint does not belong to the windows in {self._path!r}; use a "
                "separate directory for each stream, as long as its checkpoint exists"
            )
        return int(offset["window"])


#: A checkpoint is due after this number of windows, if they took a share of all files ...
FEW_WINDOWS = 10
#: ... or after this number, in any case.
MANY_WINDOWS = 1000

Runs = tuple[BlockRun, ...]


class WindowLog:
    """Windows of one stream, in this process and in the directory `windowLocation`."""

    def __init__(self, request: ReadRequest) -> None:
        assert request.windows is not None
        self._directory = bare_path(request.values["windowLocation"])
        self._checkpoints = join_path(self._directory, "checkpoints")
        self._scan_on_trigger: bool = request.values["scanOnTrigger"]
        self._fs: FileSystem = FILESYSTEMS.take(request.windows)
        self.identity = StreamIdentity(self._fs, self._directory)
        #: Number of the last window, 0 if there is none.
        self.last = 0
        #: Missing inputs.
        self.missing: dict[str, None] = {}
        self._runs: dict[int, Runs] = {}
        #: A checkpoint that may be written when its window is committed.
        self._candidate: tuple[int, str] | None = None
        self._written = self._files = 0
        files = FILESYSTEMS.take(request.location)
        check_no_patterns(files, request.paths)
        store = FSWindowStore(self._fs, self._directory)
        self.splitter = StreamSplitter(files, request, store)
        self.splitter.notices_output = self._miss
        self._recover(store)

    def runs(self, start: int, end: int) -> list[BlockRun]:
        """Return the blocks of the windows after `start` up to `end`; raise SourceException."""
        runs: list[BlockRun] = []
        for number in range(start + 1, end + 1):
            if number not in self._runs:
                raise SourceException(
                    f"window {number} is missing in {self._directory!r}, whose last window is "
                    f"{self.last}; does the directory belong to Spark's checkpoint?"
                )
            runs += self._runs[number]
        return runs

    def advance(self, limits: WindowLimits) -> bool:
        """Fill the next window, and store it; return False without new data."""
        splitter = self.splitter
        splitter.limits = limits
        if self._scan_on_trigger:
            splitter.scanner.trigger()
        if splitter.window is None:
            splitter.begin_window(self.last + 1)
        while not splitter.full:
            splitter.scanner.settle()
            before = splitter.files_processed
            splitter.emit_tuples()
            if splitter.files_processed == before:
                break
        if not splitter.block_count:
            return False
        splitter.end_window()
        self._add_window(self.last + 1)
        self._consider_checkpoint()
        return True

    def freeze(self) -> None:
        """Restrict the input to the files found by now."""
        scanner = self.splitter.scanner
        scanner.max_waiting = sys.maxsize
        scanner.trigger()
        scanner.settle()
        scanner.stop()

    def commit(self, number: int) -> None:
        """Delete windows up to this one, which Spark will not request again."""
        self._runs = {n: runs for n, runs in self._runs.items() if n > number}
        if self._candidate is None or number < self._candidate[0]:
            return
        (at, text), self._candidate = self._candidate, None
        before, self._written = self._written, at
        self._write(at, text)
        if before:
            self.splitter.committed(before)
        for old, path in list(self._numbered()):
            if old < before:
                self._fs.delete(path)

    def close(self) -> None:
        """Stop the scanner's thread."""
        self.splitter.close()

    # after a failure ----------------------------------------------------------------------

    def _recover(self, store: FSWindowStore) -> None:
        """Restore the last checkpoint, and repeat the windows after it."""
        for number, path in sorted(self._numbered(), reverse=True):
            try:
                self.splitter.restore(read_file(self._fs, path).decode())
            except (IllegalArgumentException, UnicodeDecodeError):  # it is incomplete
                continue
            self.last = self._written = number
            break
        self.splitter.start()
        largest = store.largest_completed_window or 0
        try:
            while self.last < largest:
                self.splitter.begin_window(self.last + 1)
                self.splitter.end_window()
                self._add_window(self.last + 1)
        except RuntimeError as error:
            raise SourceException(f"{self._directory!r} is damaged: {error}") from error

    def _add_window(self, number: int) -> None:
        self.last = number
        self._runs[number] = tuple(self.splitter.runs)
        self._files += len(self.splitter.runs)

    # checkpoints --------------------------------------------------------------------------

    def _consider_checkpoint(self) -> None:
        """Take a checkpoint if one is due: rarely, because it contains all files ever found."""
        windows = self.last - self._written
        worth = 4 * self._files >= len(self.splitter.scanner.references)
        if self._candidate is None and windows >= (FEW_WINDOWS if worth else MANY_WINDOWS):
            self._candidate, self._files = (self.last, self.splitter.checkpoint()), 0

    def _write(self, number: int, text: str) -> None:
        path = join_path(self._checkpoints, f"{number:016x}")
        with self._fs.create(path, overwrite=True) as file:
            file.write(text.encode())

    def _numbered(self) -> Iterator[tuple[int, str]]:
        try:
            for status in self._fs.list_status(self._checkpoints):
                name = status.path.rpartition("/")[2]
                if len(name) == 16:
                    yield int(name, 16), status.path
        except FileNotFoundException:
            return

    def _miss(self, notice: object) -> None:
        self.missing[str(notice)] = None
