"""What a stream has done, and where it goes on after a failure.

The directory of a stream has a file for each window, and checkpoints of the splitter. A checkpoint
is written once Spark has committed its window, so windows behind it can always be repeated; those
before the last checkpoint but one are removed.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

from fscontract.contract.errors import FileNotFoundException, IllegalArgumentException
from fscontract.contract.ports import FileSystem
from fscontract.implementations.spark.worker import FILESYSTEMS
from fscontract.pipeline.blocks import bare_path, join_path
from fscontract.pipeline.datasource.errors import SourceException
from fscontract.pipeline.datasource.partition import BlockRun
from fscontract.pipeline.datasource.paths import check_no_patterns
from fscontract.pipeline.datasource.request import Request
from fscontract.pipeline.datasource.windowing import Identity, Limits, StreamSplitter, read_text
from fscontract.pipeline.splitter.windows import FSWindowStore

#: A checkpoint is due after so many windows, if they took a part of all files ...
FEW_WINDOWS = 10
#: ... or after so many, whatever they took.
MANY_WINDOWS = 1000

Runs = tuple[BlockRun, ...]


class WindowLog:
    """The windows of one stream, in this process and in the directory `windowLocation`."""

    def __init__(self, request: Request) -> None:
        assert request.windows is not None
        self._directory = bare_path(request.values["windowLocation"])
        self._checkpoints = join_path(self._directory, "checkpoints")
        self._fs: FileSystem = FILESYSTEMS.take(request.windows)
        self.identity = Identity(self._fs, self._directory)
        #: The number of the last window, 0 if there is none.
        self.last = 0
        #: Inputs that are not there.
        self.missing: dict[str, None] = {}
        self._runs: dict[int, Runs] = {}
        #: A checkpoint that may be written when its window is committed.
        self._candidate: tuple[int, str] | None = None
        self._written = self._files = 0
        files = FILESYSTEMS.take(request.place)
        check_no_patterns(files, request.paths)
        store = FSWindowStore(self._fs, self._directory)
        self.splitter = StreamSplitter(files, request, store)
        self.splitter.notices_output = self._miss
        self._go_on(store)

    def runs(self, start: int, end: int) -> list[BlockRun]:
        """The blocks of the windows behind `start` up to `end`; SourceException."""
        found: list[BlockRun] = []
        for number in range(start + 1, end + 1):
            if number not in self._runs:
                raise SourceException(
                    f"window {number} is not in {self._directory!r}, which has the windows up to"
                    f" {self.last}: is it the directory that belongs to the checkpoint of Spark?"
                )
            found += self._runs[number]
        return found

    def advance(self, limits: Limits) -> bool:
        """Fill the next window, and write it down; False if there is nothing for it yet."""
        splitter = self.splitter
        splitter.limits = limits
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
        self._ended(self.last + 1)
        self._consider()
        return True

    def freeze(self) -> None:
        """Let what is found by now be all there is."""
        scanner = self.splitter.scanner
        scanner.most_waiting = sys.maxsize
        scanner.trigger()
        scanner.settle()
        scanner.stop()

    def commit(self, number: int) -> None:
        """Spark never asks for this window, or one before it, again."""
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
        """End the scanner's thread."""
        self.splitter.close()

    # after a failure ----------------------------------------------------------------------

    def _go_on(self, store: FSWindowStore) -> None:
        """Restore the last checkpoint, and repeat the windows behind it."""
        for number, path in sorted(self._numbered(), reverse=True):
            try:
                self.splitter.restore(read_text(self._fs, path))
            except (IllegalArgumentException, UnicodeDecodeError):  # it is not whole
                continue
            self.last = self._written = number
            break
        self.splitter.start()
        largest = store.largest_completed_window or 0
        try:
            while self.last < largest:
                self.splitter.begin_window(self.last + 1)
                self.splitter.end_window()
                self._ended(self.last + 1)
        except RuntimeError as error:
            raise SourceException(f"{self._directory!r} is damaged: {error}") from error

    def _ended(self, number: int) -> None:
        self.last = number
        self._runs[number] = tuple(self.splitter.runs)
        self._files += len(self.splitter.runs)

    # checkpoints --------------------------------------------------------------------------

    def _consider(self) -> None:
        """Take a checkpoint if one is due: rarely, as it has all files that there ever were."""
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
