"""Base class of splitters: metadata of files and blocks, windows, and checkpoints."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar

from fscontract.contract.api.errors import FileNotFoundException, IllegalArgumentException
from fscontract.contract.api.filesystem import FileStatus, FileSystem
from fscontract.pipeline.blocks import (
    MAX_OPERATOR_ID,
    MAX_SEQUENCE,
    NO_BLOCK,
    FileBlockMetadata,
    FileInfo,
    FileMetadata,
    bare_path,
    block_id,
    last_element,
    milliseconds,
)
from fscontract.pipeline.splitter.clock import Clock, SystemClock

#: Version of checkpoints written here; other versions are rejected.
VERSION = 1


def write_checkpoint(state: Mapping[str, Any]) -> str:
    """Return the state as one line of JSON."""
    return json.dumps({"checkpoint": VERSION, **state})


def read_checkpoint(text: str, form: Mapping[str, Any]) -> dict[str, Any]:
    """Parse a checkpoint with the keys of `form`; raise IllegalArgumentException if invalid."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise IllegalArgumentException(f"a checkpoint is not valid JSON: {error}") from None
    if not isinstance(data, dict) or data.pop("checkpoint", None) != VERSION:
        raise IllegalArgumentException(f"invalid checkpoint: expected version {VERSION}")
    if data.keys() != form.keys():
        odd = ", ".join(sorted(data.keys() ^ form.keys()))
        raise IllegalArgumentException(
            "the checkpoint belongs to another kind of splitter; missing or unexpected fields: "
            f"{odd}"
        )
    for name in ("operator", "sequence"):
        if type(data[name]) is not int or data[name] < 0:
            raise IllegalArgumentException(
                f"invalid checkpoint: {name!r} must be a non-negative integer"
            )
    pending = data["pending"]
    if pending is not None and not (
        isinstance(pending, list) and [type(x) for x in pending] == [str, int]
    ):
        raise IllegalArgumentException("invalid checkpoint: 'pending' must be a file and a count")
    return data


def count_blocks(length: int, block_size: int, data_offset: int) -> int:
    """Return the number of blocks of the grid from byte 0 that have a byte to read."""
    if data_offset >= length:
        return 0
    return -(-length // block_size) - data_offset // block_size


class BlockMetadataIterator(Iterator[FileBlockMetadata]):
    """The blocks of a file in order, after the first `emitted` ones.

    Its whole state is `file` and `emitted`, which a checkpoint contains.
    """

    def __init__(self, file: FileMetadata, emitted: int = 0) -> None:
        if not 0 <= emitted <= file.number_of_blocks:
            count = file.number_of_blocks
            raise IllegalArgumentException(
                f"invalid number of emitted blocks: {emitted} of {count}"
            )
        self.file = file
        self.emitted = emitted
        #: Number of the first block in the grid that starts at byte 0.
        self._first = file.data_offset // file.block_size

    @property
    def done(self) -> bool:
        """True if there are no more blocks."""
        return self.emitted >= self.file.number_of_blocks

    def __next__(self) -> FileBlockMetadata:
        file, index = self.file, self.emitted
        if index >= file.number_of_blocks:
            raise StopIteration
        self.emitted = index + 1
        start = (self._first + index) * file.block_size
        end = min(start + file.block_size, file.file_length)
        number = file.first_block_id + index
        return FileBlockMetadata(
            number,
            start if index else file.data_offset,
            end,
            self.emitted == file.number_of_blocks,
            number - 1 if index else NO_BLOCK,
            file.file_path,
            file.file_length,
            file.etag,
            file.modification_time,
        )


Output = Callable[[Any], None]


def no_output(item: Any) -> None:
    """Discard an item: an output that is not connected."""


class AbstractFileSplitter(ABC):
    """Emits metadata of files on one output, and metadata of their blocks on another.

    Outputs are callables: set `files_metadata_output` and `blocks_metadata_output`. At most
    `blocks_threshold` blocks are emitted between `begin_window` and `end_window`. Not thread-safe.
    """

    iterator: ClassVar[type[BlockMetadataIterator]] = BlockMetadataIterator

    def __init__(
        self,
        *,
        block_size: int | None = None,
        blocks_threshold: int = 1,
        operator_id: int = 0,
        clock: Clock | None = None,
    ) -> None:
        if block_size is not None and block_size < 1:
            raise IllegalArgumentException(
                f"invalid block_size: {block_size}; must be at least 1 byte"
            )
        if blocks_threshold < 1:
            raise IllegalArgumentException(
                f"invalid blocks_threshold: {blocks_threshold}; must be at least 1"
            )
        if not 0 <= operator_id <= MAX_OPERATOR_ID:
            raise IllegalArgumentException(
                f"invalid operator_id: {operator_id}; must be from 0 to {MAX_OPERATOR_ID}"
            )
        self.block_size = block_size
        self.blocks_threshold = blocks_threshold
        self.operator_id = operator_id
        self.clock = clock or SystemClock()
        self.files_metadata_output: Output = no_output
        self.blocks_metadata_output: Output = no_output
        #: The open window, None between windows.
        self.window: int | None = None
        #: Numbers of blocks and files emitted in this window.
        self.block_count = 0
        self.files_processed = 0
        self._sequence = 0
        self._pending: BlockMetadataIterator | None = None

    # methods for subclasses ---------------------------------------------------------------

    @abstractmethod
    def get_file_info(self) -> FileInfo | None:
        """Return the next file to split, or None."""

    @abstractmethod
    def get_default_block_size(self) -> int:
        """Return the default block size in bytes."""

    @abstractmethod
    def get_file_status(self, info: FileInfo) -> FileStatus:
        """Return the status of a file; raise FileNotFoundException."""

    def get_data_offset(self, info: FileInfo, status: FileStatus) -> int:
        """Return the start of the file's first block, behind a header; 0 by default."""
        return 0

    def get_block_size(self, info: FileInfo, status: FileStatus) -> int:
        """Return the block size in bytes: `block_size` or the default, for every file."""
        return self.block_size or self.get_default_block_size()

    # windows ------------------------------------------------------------------------------

    def begin_window(self, window_id: int) -> None:
        """Begin a window, whose number must be greater than the last one."""
        self.window = window_id
        self.block_count = 0
        self.files_processed = 0

    def end_window(self) -> None:
        """End the window."""
        self.window = None

    def process(self) -> None:
        """Emit pending blocks, then files and their blocks, up to the threshold."""
        if self._pending is not None and self.block_count < self.blocks_threshold:
            self.emit_block_metadata()
        while self.block_count < self.blocks_threshold:
            info = self.get_file_info()
            if info is None or not self.process_file_info(info):
                break

    def process_file_info(self, info: FileInfo) -> bool:
        """Emit a file's metadata and its blocks; return True if none is left."""
        return self.emit_file(self.build_file_metadata(info))

    def emit_file(self, file: FileMetadata) -> bool:
        """Emit this metadata and the blocks; return True if none is left."""
        self.emit_file_metadata(file)
        self._pending = self.iterator(file)
        return self.emit_block_metadata()

    def emit_file_metadata(self, file: FileMetadata) -> None:
        """Emit the metadata of a file."""
        self.files_processed += 1
        self.files_metadata_output(file)

    def emit_block_metadata(self) -> bool:
        """Emit pending blocks up to the threshold; return True if none is left."""
        return self._emit_blocks(self.blocks_threshold)

    def _emit_blocks(self, threshold: int) -> bool:
        blocks = self._pending
        if blocks is None:
            return True
        while not blocks.done and self.block_count < threshold:
            self.emit_block(next(blocks))
        if blocks.done:
            self._pending = None
        return blocks.done

    def emit_block(self, block: FileBlockMetadata) -> None:
        """Emit a block."""
        self.block_count += 1
        self.blocks_metadata_output(block)

    # metadata -----------------------------------------------------------------------------

    def build_file_metadata(self, info: FileInfo) -> FileMetadata:
        """Return the metadata of a file, and assign the next ids to its blocks."""
        status = self.get_file_status(info)
        offset = 0 if status.is_directory else self.get_data_offset(info, status)
        size = self.get_block_size(info, status)
        length = 0 if status.is_directory else status.length
        blocks = count_blocks(length, size, offset)
        return FileMetadata(
            file_path=info.file_path,
            file_name=last_element(info.file_path),
            file_length=length,
            is_directory=status.is_directory,
            number_of_blocks=blocks,
            block_size=size,
            data_offset=offset,
            discover_time=int(self.clock.time() * 1000),
            relative_path=relative_path(info),
            first_block_id=self._take_ids(blocks),
            etag=status.etag,
            modification_time=milliseconds(status.modification_time),
        )

    def _take_ids(self, count: int) -> int:
        if not count:
            return NO_BLOCK
        first = self._sequence
        if first + count > MAX_SEQUENCE:
            raise OverflowError(
                f"operator {self.operator_id} has fewer than {count} block ids left"
            )
        self._sequence += count
        return block_id(self.operator_id, first)

    # checkpoints --------------------------------------------------------------------------

    def checkpoint(self) -> str:
        """Return the state of the splitter as one line of JSON; only between windows."""
        if self.window is not None:
            raise RuntimeError(f"can't create a checkpoint inside window {self.window}")
        return write_checkpoint(self._state())

    def restore(self, text: str) -> None:
        """Restore the state of `checkpoint`; raise IllegalArgumentException if it is invalid."""
        self._set_state(read_checkpoint(text, self._state()))

    def _state(self) -> dict[str, Any]:
        pending = self._pending
        return {
            "operator": self.operator_id,
            "sequence": self._sequence,
            "pending": None if pending is None else [pending.file.to_json(), pending.emitted],
        }

    def _set_state(self, state: dict[str, Any]) -> None:
        if state["operator"] != self.operator_id:
            raise IllegalArgumentException(
                f"the checkpoint belongs to operator {state['operator']}, expected "
                f"{self.operator_id}"
            )
        self._sequence = state["sequence"]
        self._pending = None
        if state["pending"] is not None:
            file, emitted = state["pending"]
            self._pending = self.iterator(FileMetadata.from_json(file), emitted)


def relative_path(info: FileInfo) -> str:
    """Return a file's path in a copy of the input, beginning with the directory's name."""
    if info.directory is None:
        return last_element(info.relative_path)
    name = last_element(info.directory)
    return f"{name}/{info.relative_path}" if name else info.relative_path


def default_block_size(filesystem: FileSystem, path: str) -> int:
    """Return the filesystem's block size for a path, or its default if the path is missing."""
    try:
        return filesystem.get_file_status(bare_path(path)).block_size
    except FileNotFoundException:
        return FileStatus(path, 0).block_size


class FileSplitterBase(AbstractFileSplitter):
    """Splits the files passed to `put`. `file` is the path that sets the default block size.

    The output of a window depends only on the files put and on when; the caller must repeat the
    calls after a failure. `put` raises FileNotFoundException for a missing file.
    """

    def __init__(self, filesystem: FileSystem, file: str = "/", **settings: Any) -> None:
        super().__init__(**settings)
        self.filesystem = filesystem
        self.file = file
        self._queue: deque[FileInfo] = deque()
        self._default: int | None = None

    def put(self, info: FileInfo) -> None:
        """Add a file, and emit what this window still allows."""
        self._queue.append(info)
        self.process()

    def handle_idle_time(self) -> None:
        """Emit more of the queued files, if this window still allows it."""
        self.process()

    def get_file_info(self) -> FileInfo | None:
        """Return the next file that was put and not yet split."""
        return self._queue.popleft() if self._queue else None

    def get_default_block_size(self) -> int:
        """Return the block size of `file`."""
        if self._default is None:
            self._default = default_block_size(self.filesystem, self.file)
        return self._default

    def get_file_status(self, info: FileInfo) -> FileStatus:
        """Return the filesystem's status of the file."""
        return self.filesystem.get_file_status(info.path)

    def _state(self) -> dict[str, Any]:
        return {**super()._state(), "queue": [info.to_json() for info in self._queue]}

    def _set_state(self, state: dict[str, Any]) -> None:
        queue = state["queue"]
        if not isinstance(queue, list) or not all(isinstance(line, str) for line in queue):
            raise IllegalArgumentException("invalid checkpoint: 'queue' must be a list of files")
        super()._set_state(state)
        self._queue = deque(FileInfo.from_json(line) for line in queue)
