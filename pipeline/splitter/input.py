"""A splitter that finds its files with a scanner, and repeats its windows after a failure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, ClassVar, TypeVar

from fscontract.contract.api.errors import IllegalArgumentException
from fscontract.contract.api.filesystem import Closeable, FileStatus, FileSystem
from fscontract.pipeline.blocks import NO_BLOCK, FileBlockMetadata, FileInfo, bare_path
from fscontract.pipeline.splitter.scanner import (
    SCAN_INTERVAL,
    MissingInput,
    ReferenceTimes,
    ScannedFileInfo,
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
    """Splits the files below `files`, those that are there and those that come.

    A life is: `restore` if there is a checkpoint, `start`; then for each window `begin_window`,
    `emit_tuples` any number of times, `end_window`, and between windows `checkpoint` and, once
    that is safe, `committed`; in the end `close`. After a failure the windows that follow the
    checkpoint come again under their numbers. Those that `windows` has emit what they did then,
    all of it in `begin_window`; the scanner starts behind the last of them.

    There is no default for `windows`, because only the user knows a safe place; NoopWindowStore
    is for who doesn't mind that windows come out otherwise after a failure. What is to be told of
    the inputs goes to `notices_output`.
    """

    scanner_class: ClassVar[type[TimeBasedDirectoryScanner]] = TimeBasedDirectoryScanner

    def __init__(
        self,
        filesystem: FileSystem,
        files: str | Sequence[str],
        *,
        windows: WindowStore,
        recursive: bool = True,
        scan_interval: float = SCAN_INTERVAL,
        file_pattern: str | None = None,
        ignore_pattern: str | None = None,
        **settings: Any,
    ) -> None:
        super().__init__(**settings)
        self.filesystem = filesystem
        self.scanner = self.scanner_class(
            filesystem,
            files,
            recursive=recursive,
            scan_interval=scan_interval,
            file_pattern=file_pattern,
            ignore_pattern=ignore_pattern,
            clock=self.clock,
        )
        self.windows = windows
        self._check_location(windows)
        self.notices_output: Callable[[MissingInput], None] = no_output
        self._last_window: int | None = None
        self._started = False
        self._taken: list[TakenFile] = []
        self._first_block = NO_BLOCK
        self._replaying = False
        self._default: int | None = None

    # life ---------------------------------------------------------------------------------

    def start(self) -> None:
        """Start the scanner, unless windows must be repeated first."""
        self._started = True
        last = self.windows.largest_completed_window
        if last is None or (self._last_window is not None and self._last_window >= last):
            self.scanner.start()

    def close(self) -> None:
        """End the scanner's thread. What was found and not emitted is found again later."""
        self.scanner.stop()

    def __enter__(self: _Input) -> _Input:
        self.start()
        return super().__enter__()

    # windows ------------------------------------------------------------------------------

    def begin_window(self, window_id: int) -> None:
        """Begin a window; one that was completed before a failure is repeated at once."""
        if not self._started:
            raise RuntimeError("the splitter has not been started")
        if self._last_window is not None and window_id <= self._last_window:
            raise IllegalArgumentException(
                f"window {window_id} does not come after window {self._last_window}"
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
        """Emit what the window still allows; nothing in a window that is repeated.

        Raises what ended the scanner, if anything did.
        """
        while (notice := self.scanner.notice()) is not None:
            self.notices_output(notice)
        if not self._replaying:
            self.process()

    def end_window(self) -> None:
        """End the window, and write down what it did, unless it is a repeated one."""
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
        """No failure leads back to this window, or one before it: forget them."""
        self.windows.committed(window_id, removed)

    def _replay(self, window_id: int) -> None:
        data = self.windows.retrieve(window_id)
        if data is None:
            raise RuntimeError(f"window {window_id} can't be repeated: it is not kept any more")
        self._emit_blocks(data.blocks)
        for taken in data.files:
            self.scanner.references.set(taken.input, taken.listed, taken.reference)
            self._take_ids(taken.file.number_of_blocks)
            self.emit_file_metadata(taken.file)
            self._pending = self.iterator(taken.file)
            self._emit_blocks(data.blocks)
        if (self._first_block, self.block_count) != (data.first_block, data.blocks):
            raise RuntimeError(
                f"window {window_id} can't be repeated: it began with block {data.first_block},"
                f" not with {self._first_block}; was the checkpoint of another window restored?"
            )

    # files --------------------------------------------------------------------------------

    def process_file_info(self, info: FileInfo) -> bool:
        """Emit a file's metadata and its blocks; return whether none is left."""
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
        """Return the status that the listing gave: the one by which modifications are noticed."""
        assert isinstance(info, ScannedFileInfo)
        return info.status

    def get_default_block_size(self) -> int:
        """Return the block size of the first input."""
        if self._default is None:
            self._default = default_block_size(self.filesystem, self.scanner.files[0])
        return self._default

    # checkpoints --------------------------------------------------------------------------

    def _state(self) -> dict[str, Any]:
        references = self.scanner.references.to_data()
        return {**super()._state(), "window": self._last_window, "references": references}

    def _set_state(self, state: dict[str, Any]) -> None:
        if self._started:
            raise RuntimeError("a splitter that has been started can't be restored")
        references = ReferenceTimes.from_data(state["references"])
        window = state["window"]
        if window is not None and type(window) is not int:
            raise IllegalArgumentException("window of a checkpoint is no number")
        super()._set_state(state)
        self.scanner.references = references
        self._last_window = window

    def _check_location(self, windows: WindowStore) -> None:
        if not isinstance(windows, FSWindowStore) or windows.filesystem is not self.filesystem:
            return
        for path in self.scanner.files:
            inside = bare_path(path).rstrip("/") + "/"
            if self.scanner.recursive and f"{windows.directory}/".startswith(inside):
                raise IllegalArgumentException(
                    f"windows kept in {windows.directory!r} would be found as files of {path!r}"
                )
