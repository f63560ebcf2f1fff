"""Splitter that finds its files with a scanner, and repeats its windows after a failure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, ClassVar, TypeVar

from fscontract.contract.api.errors import IllegalArgumentException
from fscontract.contract.api.filesystem import Closeable, FileStatus, FileSystem
from fscontract.pipeline.blocks import NO_BLOCK, FileBlockMetadata, FileInfo, bare_path
from fscontract.pipeline.splitter.scanner import (
    SCAN_INTERVAL,
    MissingInput,
    ReferenceTimes,
    ScannedFileInfo,
    Scanner,
    TimeBasedDirectoryScanner,
)
from fscontract.pipeline.splitter.splitter import (
    AbstractFileSplitter,
    default_block_size,
    no_output,
)
from fscontract.pipeline.splitter.windows import (
    FSWindowStore,
    TakenFile,
    WindowData,
    WindowStore,
)

_Input = TypeVar("_Input", bound="FileSplitterInput")


class FileSplitterInput(AbstractFileSplitter, Closeable):
    """Splits existing and new files below `files`, or those that `scanner` finds.

    Call `restore` if there is a checkpoint, then `start`; for each window `begin_window`,
    `emit_tuples` any number of times, and `end_window`; between windows `checkpoint` and, once the
    checkpoint is safe, `committed`; at the end `close`. After a failure, the windows after the
    checkpoint are repeated with their numbers. Windows stored in `windows` emit the same output
    again, all of it in `begin_window`; the scanner starts after the last of them.

    `windows` has no default, because only the user knows a safe place. Use NoopWindowStore if
    windows may change after a failure. Notices about the inputs go to `notices_output`.

    `scanner` replaces the default one, a TimeBasedDirectoryScanner of `files`, and with it the
    settings of scans: combining them raises IllegalArgumentException. If it is of another kind,
    the default block size is that of each file's status. `close` stops the scanner.
    """

    scanner_class: ClassVar[type[TimeBasedDirectoryScanner]] = TimeBasedDirectoryScanner

    def __init__(
        self,
        filesystem: FileSystem,
        files: str | Sequence[str] = (),
        *,
        windows: WindowStore,
        scanner: Scanner | None = None,
        recursive: bool = True,
        scan_interval: float = SCAN_INTERVAL,
        file_pattern: str | None = None,
        ignore_pattern: str | None = None,
        **settings: Any,
    ) -> None:
        super().__init__(**settings)
        self.filesystem = filesystem
        scans: dict[str, Any] = {
            "recursive": recursive,
            "scan_interval": scan_interval,
            "file_pattern": file_pattern,
            "ignore_pattern": ignore_pattern,
        }
        if scanner is None:
            scanner = self.scanner_class(filesystem, files, clock=self.clock, **scans)
        else:
            _check_scanner(scanner, {"files": files, **scans})
        #: Finds the files.
        self.scanner: Scanner = scanner
        self.windows = windows
        self._check_location(windows)
        self.notices_output: Callable[[MissingInput], None] = no_output
        self._last_window: int | None = None
        self._started = False
        self._taken: list[TakenFile] = []
        self._first_block = NO_BLOCK
        self._replaying = False
        self._default: int | None = None

    # Lifecycle ----------------------------------------------------------------------------

    def start(self) -> None:
        """Start the scanner, unless windows must be repeated first."""
        self._started = True
        last = self.windows.largest_completed_window
        if last is None or (self._last_window is not None and self._last_window >= last):
            self.scanner.start()

    def close(self) -> None:
        """Stop the scanner's thread. Files found but not emitted will be found again."""
        self.scanner.stop()

    def __enter__(self: _Input) -> _Input:
        self.start()
        return super().__enter__()

    # windows ------------------------------------------------------------------------------

    def begin_window(self, window_id: int) -> None:
        """Begin a window; repeat it immediately if it was completed before a failure."""
        if not self._started:
            raise RuntimeError("the splitter has not been started")
        if self._last_window is not None and window_id <= self._last_window:
            raise IllegalArgumentException(
                f"invalid window {window_id}: must be greater than the last window, "
                f"{self._last_window}"
            )
        super().begin_window(window_id)
        self._taken, self._first_block = [], NO_BLOCK
        last = self.windows.largest_completed_window
        self._replaying = last is not None and window_id <= last
        if self._replaying:
            self._replay(window_id)
        else:
            self.scanner.start()

    def emit_tuples(self) -> None:
        """Emit what the window still allows; nothing in a repeated window.

        Raise the exception that ended the scanner, if any.
        """
        while (notice := self.scanner.notice()) is not None:
            self.notices_output(notice)
        if not self._replaying:
            self.process()

    def end_window(self) -> None:
        """End the window, and store its output unless it is a repeated one."""
        window = self.window
        if window is None:
            raise RuntimeError("no window is open")
        if not self._replaying:
            files = tuple(self._taken)
            self.windows.save(WindowData(window, self._first_block, self.block_count, files))
        super().end_window()
        self._last_window = window
        if self._replaying and window == self.windows.largest_completed_window:
            self.scanner.start()
        self._replaying = False

    def committed(self, window_id: int, removed: Collection[int] = ()) -> None:
        """Delete stored windows up to this one, which no failure will repeat."""
        self.windows.committed(window_id, removed)

    def _replay(self, window_id: int) -> None:
        data = self.windows.retrieve(window_id)
        if data is None:
            raise RuntimeError(f"can't repeat window {window_id}: it was deleted after its commit")
        self._emit_blocks(data.blocks)
        for taken in data.files:
            self.scanner.references.set(taken.input, taken.listed, taken.reference)
            self._take_ids(taken.file.number_of_blocks)
            self.emit_file_metadata(taken.file)
            self._pending = self.iterator(taken.file)
            self._emit_blocks(data.blocks)
        if (self._first_block, self.block_count) != (data.first_block, data.blocks):
            raise RuntimeError(
                f"can't repeat window {window_id}: it began with block {data.first_block}, "
                f"expected {self._first_block}; was the checkpoint of another window restored?"
            )

    # files --------------------------------------------------------------------------------

    def process_file_info(self, info: FileInfo) -> bool:
        """Emit a file's metadata and its blocks; return True if none is left."""
        assert isinstance(info, ScannedFileInfo)
        file = self.build_file_metadata(info)
        self._taken.append(TakenFile(file, info.input, info.status.path, info.reference))
        return self.emit_file(file)

    def emit_block(self, block: FileBlockMetadata) -> None:
        """Emit a block."""
        if self._first_block == NO_BLOCK:
            self._first_block = block.block_id
        super().emit_block(block)

    def get_file_info(self) -> FileInfo | None:
        """Return the next file that the scanner found."""
        return self.scanner.take()

    def get_file_status(self, info: FileInfo) -> FileStatus:
        """Return the listed status, which is also used to detect modifications."""
        assert isinstance(info, ScannedFileInfo)
        return info.status

    def get_block_size(self, info: FileInfo, status: FileStatus) -> int:
        """Return `block_size`, or else that of the first input; without inputs, of the status."""
        if self.block_size is None and not isinstance(self.scanner, TimeBasedDirectoryScanner):
            return max(1, status.block_size)
        return super().get_block_size(info, status)

    def get_default_block_size(self) -> int:
        """Return the block size of the first input; without inputs, of the root."""
        if self._default is None:
            scanner = self.scanner
            path = scanner.files[0] if isinstance(scanner, TimeBasedDirectoryScanner) else "/"
            self._default = default_block_size(self.filesystem, path)
        return self._default

    # checkpoints --------------------------------------------------------------------------

    def _state(self) -> dict[str, Any]:
        references = self.scanner.references.to_data()
        return {**super()._state(), "window": self._last_window, "references": references}

    def _set_state(self, state: dict[str, Any]) -> None:
        if self._started:
            raise RuntimeError("can't restore a splitter that has been started")
        references = ReferenceTimes.from_data(state["references"])
        window = state["window"]
        if window is not None and type(window) is not int:
            raise IllegalArgumentException(
                "invalid checkpoint: 'window' must be an integer or null"
            )
        super()._set_state(state)
        self.scanner.references = references
        self._last_window = window

    def _check_location(self, windows: WindowStore) -> None:
        scanner = self.scanner
        if not isinstance(scanner, TimeBasedDirectoryScanner):
            return
        if not isinstance(windows, FSWindowStore) or windows.filesystem is not self.filesystem:
            return
        for path in scanner.files:
            inside = bare_path(path).rstrip("/") + "/"
            if scanner.recursive and f"{windows.directory}/".startswith(inside):
                raise IllegalArgumentException(
                    f"invalid directory for windows: {windows.directory!r}; its files would be "
                    f"found as input in {path!r}"
                )


#: Defaults of the settings that belong to the default scanner.
_NO_SCANS = {
    "files": (),
    "recursive": True,
    "scan_interval": SCAN_INTERVAL,
    "file_pattern": None,
    "ignore_pattern": None,
}


def _check_scanner(scanner: Scanner, scans: Mapping[str, Any]) -> None:
    """Raise IllegalArgumentException for an incomplete scanner, or settings of the default one."""
    if not isinstance(scanner, Scanner):
        raise IllegalArgumentException(
            f"invalid scanner: {type(scanner).__name__}; must have the attributes of "
            "fscontract.splitter.Scanner"
        )
    both = [name for name, value in scans.items() if value != _NO_SCANS[name]]
    if both:
        raise IllegalArgumentException(
            f"scanner and {both[0]} are mutually exclusive: the scanner decides which files it "
            "finds, and when"
        )
