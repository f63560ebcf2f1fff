"""Files and splitters that the tests share."""

from __future__ import annotations

from typing import Any

from fscontract.contract.api.filesystem import FileSystem
from fscontract.pipeline.splitter.clock import ManualClock
from fscontract.pipeline.splitter.input import FileSplitterInput
from fscontract.pipeline.splitter.windows import NoopWindowStore


def write(fs: FileSystem, path: str, length: int = 11) -> str:
    """Write a file of `length` bytes; return its path."""
    with fs.create(path) as file:
        file.write(bytes(length))
    return path


class Life:
    """A splitter that finds its files, with the output of each window."""

    def __init__(self, fs: FileSystem, files: Any = "/in", **settings: Any) -> None:
        self.clock = ManualClock()
        self.out: list[Any] = []
        settings.setdefault("windows", NoopWindowStore())
        settings.setdefault("block_size", 2)
        settings.setdefault("blocks_threshold", 1000)
        kind = settings.pop("kind", FileSplitterInput)
        checkpoint = settings.pop("checkpoint", None)
        self.splitter = kind(fs, files, clock=self.clock, **settings)
        self.splitter.files_metadata_output = self.out.append
        self.splitter.blocks_metadata_output = self.out.append
        if checkpoint is not None:
            self.splitter.restore(checkpoint)
        self.splitter.start()

    def begin(self, window_id: int) -> None:
        """Begin a window."""
        self.out.clear()
        self.splitter.begin_window(window_id)

    def emit(self) -> None:
        """Emit what the scanner has found, once it is idle."""
        self.splitter.scanner.settle()
        self.splitter.emit_tuples()

    def window(self, window_id: int) -> list[Any]:
        """Run a whole window; return its output."""
        self.begin(window_id)
        self.emit()
        self.splitter.end_window()
        return list(self.out)

    def __enter__(self) -> Life:
        return self

    def __exit__(self, *error: object) -> None:
        self.splitter.close()
