"""Mutants of files and blocks: wrong metadata, limits of a window, and large numbers."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import fields, replace
from typing import Any

from fscontract.contract.api.errors import FileNotFoundException
from fscontract.contract.api.filesystem import FileStatus
from fscontract.fakes.mutants.registry import mutant, right
from fscontract.pipeline.blocks import (
    FileBlockMetadata,
    FileInfo,
    FileMetadata,
    bare_path,
    last_element,
)
from fscontract.pipeline.splitter.input import FileSplitterInput
from fscontract.pipeline.splitter.splitter import BlockMetadataIterator, FileSplitterBase


class _Emitted(FileSplitterInput):
    """Emits other records than those it plans with."""

    def emitted(self, file: FileMetadata) -> FileMetadata:
        raise NotImplementedError

    def emit_file_metadata(self, file: FileMetadata) -> None:
        super().emit_file_metadata(self.emitted(file))


class _Changed(BlockMetadataIterator):
    """Changes emitted blocks."""

    def changed(self, block: FileBlockMetadata) -> FileBlockMetadata:
        raise NotImplementedError

    def __next__(self) -> FileBlockMetadata:
        return self.changed(super().__next__())


class _Unchecked(FileBlockMetadata):
    def __post_init__(self) -> None:
        pass


def _unchecked(block: FileBlockMetadata, **changes: Any) -> FileBlockMetadata:
    values = {field.name: getattr(block, field.name) for field in fields(block)}
    return _Unchecked(**{**values, **changes})


@mutant("split.metadata-first", FileSplitterInput.emit_file)
def blocks_first(self: FileSplitterInput, file: FileMetadata) -> bool:
    """Blocks are emitted before the metadata of their file."""
    self._pending = self.iterator(file)
    done = self.emit_block_metadata()
    self.emit_file_metadata(file)
    return done


@mutant("split.file-metadata", _Emitted.emitted)
def path_for_name(self: _Emitted, file: FileMetadata) -> FileMetadata:
    """The name of a file is its path."""
    return replace(file, file_name=file.file_path)


@mutant("split.uri", FileSplitterInput.build_file_metadata)
def bare_paths(self: FileSplitterInput, info: FileInfo) -> FileMetadata:
    """Scheme and authority are dropped."""
    file = right(self).build_file_metadata(info)
    return replace(file, file_path=bare_path(file.file_path))


@mutant("split.relative-path", _Emitted.emitted)
def input_not_named(self: _Emitted, file: FileMetadata) -> FileMetadata:
    """The path below an input lacks the input's own name."""
    return replace(file, relative_path=file.relative_path.partition("/")[2] or file.file_name)


@mutant("split.version-kept", FileSplitterInput.build_file_metadata)
def any_version(self: FileSplitterInput, info: FileInfo) -> FileMetadata:
    """The version of a file is not stored."""
    return replace(right(self).build_file_metadata(info), etag=None, modification_time=None)


@mutant("split.block-size", _Changed.changed)
def blocks_of_any_size(self: _Changed, block: FileBlockMetadata) -> FileBlockMetadata:
    """Blocks end a byte early."""
    last = block.is_last_block
    return block if last else replace(block, length=max(block.offset, block.length - 1))


@mutant("split.block-size", FileSplitterInput.get_block_size)
def size_in_31_bits(self: FileSplitterInput, info: FileInfo, status: FileStatus) -> int:
    """A block has less than 2 GiB."""
    return min(right(self).get_block_size(info, status), (1 << 31) - 1)


@mutant("split.default-block-size", FileSplitterInput.get_default_block_size)
def one_default(self: FileSplitterInput) -> int:
    """The default block size is the same for all filesystems."""
    return FileStatus("/", 0).block_size


@mutant("split.settings-valid")
class TakesAnything(FileSplitterInput):
    """Invalid settings are corrected without an error."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        for name in {"block_size", "blocks_threshold"} & settings.keys():
            settings[name] = max(1, settings[name] or 1)
        super().__init__(*arguments, **settings)


@mutant("split.block-count", _Emitted.emitted)
def counts_from_byte_zero(self: _Emitted, file: FileMetadata) -> FileMetadata:
    """Blocks before the data offset are counted, as in Java."""
    return replace(file, number_of_blocks=-(-file.file_length // file.block_size))


@mutant("split.ids-listed", _Emitted.emitted)
def other_ids(self: _Emitted, file: FileMetadata) -> FileMetadata:
    """The listed ids are the next ones."""
    return replace(file, first_block_id=file.first_block_id + 1)


@mutant("split.ids-form", FileSplitterInput._take_ids)
def no_operator(self: FileSplitterInput, count: int) -> int:
    """Ids lack the operator."""
    return right(self)._take_ids(count) & 0xFFFFFFFF


@mutant("split.ids-unique", FileSplitterInput._take_ids)
def ids_by_file(self: FileSplitterInput, count: int) -> int:
    """Ids restart with each file."""
    self._sequence = 0
    return right(self)._take_ids(count)


@mutant("split.cover", _Changed.changed)
def loses_last_byte(self: _Changed, block: FileBlockMetadata) -> FileBlockMetadata:
    """The last block ends before the last byte."""
    return replace(block, length=block.length - 1) if block.is_last_block else block


@mutant("split.order", BlockMetadataIterator.__next__)
def backwards(self: BlockMetadataIterator) -> FileBlockMetadata:
    """Blocks are emitted in reverse order."""
    if self.done:
        raise StopIteration
    index = self.file.number_of_blocks - 1 - self.emitted
    block = next(BlockMetadataIterator(self.file, index))
    self.emitted += 1
    return block


@mutant("split.end-offset", _Changed.changed)
def length_in_bytes(self: _Changed, block: FileBlockMetadata) -> FileBlockMetadata:
    """The length of a block is its number of bytes."""
    return _unchecked(block, length=block.size)


@mutant("split.last-flag", _Changed.changed)
def last_if_whole(self: _Changed, block: FileBlockMetadata) -> FileBlockMetadata:
    """A short last block is not flagged."""
    is_whole = block.length % self.file.block_size == 0
    return replace(block, is_last_block=block.is_last_block and is_whole)


@mutant("split.linked", _Changed.changed)
def linked_to_first(self: _Changed, block: FileBlockMetadata) -> FileBlockMetadata:
    """Each block names the file's first one."""
    if block.previous_block_id < 0:
        return block
    return replace(block, previous_block_id=self.file.first_block_id)


@mutant("split.first-unlinked", _Changed.changed)
def linked_to_skipped(self: _Changed, block: FileBlockMetadata) -> FileBlockMetadata:
    """After a data offset the first block names a skipped one, as in Java."""
    skipped = self._first and block.previous_block_id < 0
    return replace(block, previous_block_id=block.block_id - 1) if skipped else block


@mutant("split.block-file", _Changed.changed)
def block_of_name(self: _Changed, block: FileBlockMetadata) -> FileBlockMetadata:
    """A block has the name of its file instead of the path."""
    return replace(block, file_path=last_element(block.file_path))


@mutant("split.block-file-length", _Changed.changed)
def file_ends_with_block(self: _Changed, block: FileBlockMetadata) -> FileBlockMetadata:
    """The file's length is the end of the block."""
    return replace(block, file_length=block.length)


@mutant("split.data-offset", _Changed.changed)
def header_is_data(self: _Changed, block: FileBlockMetadata) -> FileBlockMetadata:
    """The first block starts on the grid, in the header."""
    size = self.file.block_size
    return replace(block, offset=block.offset // size * size)


@mutant("split.empty-file", FileSplitterInput.build_file_metadata)
def block_of_nothing(self: FileSplitterInput, info: FileInfo) -> FileMetadata:
    """An empty file has a block."""
    file = right(self).build_file_metadata(info)
    if file.is_directory or file.file_length:
        return file
    return replace(file, number_of_blocks=1, first_block_id=self._take_ids(1))


@mutant("split.empty-file", FileSplitterBase.put)
def puts_no_empty_files(self: FileSplitterBase, info: FileInfo) -> None:
    """An empty file that is fed is dropped."""
    with suppress(FileNotFoundException):
        status = self.filesystem.get_file_status(info.path)
        if not status.is_directory and status.length == 0:
            return
    right(self).put(info)


@mutant("split.directory", _Emitted.emitted)
def directory_has_length(self: _Emitted, file: FileMetadata) -> FileMetadata:
    """A directory has the length of its status, as in Java."""
    if file.is_directory:
        with suppress(FileNotFoundException):
            length = self.filesystem.get_file_status(file.path).length
            return replace(file, file_length=length)
    return file


@mutant("split.lazy")
class AllAtOnce(BlockMetadataIterator):
    """All blocks of a file are built when the first one is requested."""

    def __init__(self, file: FileMetadata, emitted: int = 0) -> None:
        super().__init__(file, emitted)
        if file.number_of_blocks > emitted:
            self._all = list(BlockMetadataIterator(file))


@mutant("split.unopened", FileSplitterInput.build_file_metadata)
def looks_inside(self: FileSplitterInput, info: FileInfo) -> FileMetadata:
    """Each file is opened."""
    file = right(self).build_file_metadata(info)
    if not file.is_directory:
        self.filesystem.open(file.path).close()
    return file


@mutant("split.pending-first", FileSplitterInput.process)
def drops_the_rest(self: FileSplitterInput) -> None:
    """The remaining blocks of a file are dropped when another file arrives."""
    info = self.get_file_info()
    if info is not None:
        self.process_file_info(info)
    right(self).process()


@mutant("split.threshold", FileSplitterInput.process)
def threshold_by_call(self: FileSplitterInput) -> None:
    """The threshold applies to each call of process()."""
    self.block_count = 0
    right(self).process()


@mutant("split.threshold-fill", FileSplitterInput.process_file_info, name="OneFileAtATime")
def one_file_at_atime(self: FileSplitterInput, info: FileInfo) -> bool:
    """A window begins at most one file."""
    right(self).process_file_info(info)
    return False


@mutant("split.file-start", FileSplitterInput.process)
def announces_next_file(self: FileSplitterInput) -> None:
    """A new file is begun after the threshold has been reached."""
    right(self).process()
    info = None if self._pending else self.get_file_info()
    if info is not None:
        self.process_file_info(info)


@mutant("split.uncounted", FileSplitterInput.emit_file)
def counts_files(self: FileSplitterInput, file: FileMetadata) -> bool:
    """A file without blocks counts as one."""
    self.block_count += file.number_of_blocks == 0
    return right(self).emit_file(file)


@mutant("split.threshold-default")
class NoDefault(FileSplitterInput):
    """There is no limit unless one is configured."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **{"blocks_threshold": 1 << 31, **settings})


@mutant("split.checkpoint-in-file", FileSplitterInput._state)
def forgets_pending(self: FileSplitterInput) -> dict[str, Any]:
    """A checkpoint lacks the remaining blocks."""
    return {**right(self)._state(), "pending": None}


@mutant("split.base-order")
class WaitsForTheEnd(FileSplitterBase):
    """Files are split at the end of the window."""

    def put(self, info: FileInfo) -> None:
        self._queue.append(info)

    def end_window(self) -> None:
        self.process()
        super().end_window()


@mutant("split.base-idle", FileSplitterBase.handle_idle_time)
def idle(self: FileSplitterBase) -> None:
    """Nothing is processed while no file arrives."""


@mutant("split.base-missing", FileSplitterBase.get_file_status)
def missing_is_empty(self: FileSplitterBase, info: FileInfo) -> FileStatus:
    """A missing file counts as empty."""
    try:
        return right(self).get_file_status(info)
    except FileNotFoundException:
        return FileStatus(info.path, 0)


@mutant("split.base-order", FileSplitterBase.put)
def puts_once(self: FileSplitterBase, info: FileInfo) -> None:
    """A path that is fed again is ignored."""
    known: set[FileInfo] = self.__dict__.setdefault("known", set())
    if info not in known:
        known.add(info)
        right(self).put(info)


@mutant("split.base-checkpoint", FileSplitterBase._state)
def queue_without_directories(self: FileSplitterBase) -> dict[str, Any]:
    """A checkpoint has the relative paths of the files in the queue."""
    queue = [FileInfo(None, info.relative_path).to_json() for info in self._queue]
    return {**right(self)._state(), "queue": queue}


@mutant("split.base-checkpoint", FileSplitterBase._state)
def forgets_queue(self: FileSplitterBase) -> dict[str, Any]:
    """A checkpoint lacks the files in the queue."""
    return {**right(self)._state(), "queue": []}


@mutant("split.base-checkpoint", FileSplitterBase._state)
def keeps_few_of_queue(self: FileSplitterBase) -> dict[str, Any]:
    """A checkpoint has the first two files of the queue only."""
    state = right(self)._state()
    return {**state, "queue": state["queue"][:2]}


_BITS_32 = (1 << 32) - 1


@mutant("split.cover", _Changed.changed)
def offset_in_32_bits(self: _Changed, block: FileBlockMetadata) -> FileBlockMetadata:
    """Offsets of 4 GiB and more wrap around."""
    return _unchecked(block, offset=block.offset & _BITS_32)


@mutant("split.block-size", _Changed.changed)
def end_in_31_bits(self: _Changed, block: FileBlockMetadata) -> FileBlockMetadata:
    """The end of a block is at most 2 GiB."""
    return _unchecked(block, length=min(block.length, (1 << 31) - 1))


@mutant("split.block-count", _Emitted.emitted)
def counts_by_float(self: _Emitted, file: FileMetadata) -> FileMetadata:
    """The number of blocks is a rounded quotient of floats."""
    if file.is_directory or file.number_of_blocks < 2:
        return file
    count = math.ceil((file.file_length - file.data_offset) / file.block_size + 1e-9)
    exact = -(-(file.file_length - file.data_offset) // file.block_size)
    return replace(file, number_of_blocks=file.number_of_blocks + count - exact)


@mutant("split.block-count", _Emitted.emitted)
def counts_large_files_by_float(self: _Emitted, file: FileMetadata) -> FileMetadata:
    """The number of blocks is a quotient of floats, rounded up."""
    exact = -(-file.file_length // file.block_size)
    rounded = math.ceil(file.file_length / file.block_size)
    return replace(file, number_of_blocks=file.number_of_blocks + rounded - exact)


@mutant("split.file-metadata", _Emitted.emitted)
def length_in_32_bits(self: _Emitted, file: FileMetadata) -> FileMetadata:
    """The length of a file of 4 GiB or more wraps around in what is emitted."""
    return replace(file, file_length=file.file_length & _BITS_32)


@mutant("split.ids-unique", FileSplitterInput._take_ids)
def ids_in_a_byte(self: FileSplitterInput, count: int) -> int:
    """The sequence of ids wraps around after 256 blocks."""
    first = right(self)._take_ids(count)
    return first - (first & 0xFFFFFFFF) + (first & 0xFF)
