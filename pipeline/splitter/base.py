"""A splitter that is told which files to split."""

from __future__ import annotations

from collections import deque
from typing import Any

from fscontract.contract.errors import FileNotFoundException, IllegalArgumentException
from fscontract.contract.ports import FileStatus, FileSystem
from fscontract.pipeline.blocks import FileInfo, bare_path
from fscontract.pipeline.splitter.splitter import AbstractFileSplitter


def default_block_size(filesystem: FileSystem, path: str) -> int:
    """The block size that the filesystem states for a path, or for any if that is not there."""
    try:
        return filesystem.get_file_status(bare_path(path)).block_size
    except FileNotFoundException:
        return FileStatus(path, 0).block_size


class FileSplitterBase(AbstractFileSplitter):
    """Splits the files that `put` gives it. `file` is the path whose block size is the default.

    What it does in a window follows from what it is given, and when: whoever feeds it repeats
    that after a failure. A file that is not there raises FileNotFoundException from `put`.
    """

    def __init__(self, filesystem: FileSystem, file: str = "/", **settings: Any) -> None:
        super().__init__(**settings)
        self.filesystem = filesystem
        self.file = file
        self._queue: deque[FileInfo] = deque()
        self._default: int | None = None

    def put(self, info: FileInfo) -> None:
        """Take a file, and emit what this window still allows."""
        self._queue.append(info)
        self.process()

    def handle_idle_time(self) -> None:
        """Emit more of what is waiting, if this window still allows it."""
        self.process()

    def get_file_info(self) -> FileInfo | None:
        """The next file that was put and not yet split."""
        return self._queue.popleft() if self._queue else None

    def get_default_block_size(self) -> int:
        """That of `file`."""
        if self._default is None:
            self._default = default_block_size(self.filesystem, self.file)
        return self._default

    def get_file_status(self, info: FileInfo) -> FileStatus:
        """The status that the filesystem has of the file."""
        return self.filesystem.get_file_status(info.path)

    def _state(self) -> dict[str, Any]:
        return {**super()._state(), "queue": [info.to_json() for info in self._queue]}

    def _set_state(self, state: dict[str, Any]) -> None:
        queue = state["queue"]
        if not isinstance(queue, list) or not all(isinstance(line, str) for line in queue):
            raise IllegalArgumentException("queue of a checkpoint is no list of files")
        super()._set_state(state)
        self._queue = deque(FileInfo.from_json(line) for line in queue)
