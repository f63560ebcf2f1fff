"""Mutants of files and blocks: wrong metadata, and wrong limits of a window."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from fscontract.contract.api.errors import FileNotFoundException
from fscontract.contract.api.filesystem import FileStatus
from fscontract.fakes.mutants.splitter.registry import splitter_mutant
from fscontract.pipeline.blocks import (
    FileBlockMetadata,
    FileInfo,
    FileMetadata,
    bare_path,
    last_element,
)
from fscontract.pipeline.splitter.input import FileSplitterInput
from fscontract.pipeline.splitter.splitter import BlockMetadataIterator, FileSplitterBase


class _Shown(FileSplitterInput):
    """Emits something else than it goes by."""

    def shown(self, file: FileMetadata) -> FileMetadata:
        raise NotImplementedError

    def emit_file_metadata(self, file: FileMetadata) -> None:
        super().emit_file_metadata(self.shown(file))


class _Changed(BlockMetadataIterator):
    """Blocks that are not as they should be."""

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


@splitter_mutant("split.metadata-first")
class BlocksFirst(FileSplitterInput):
    """The metadata of a file follows its blocks."""

    def emit_file(self, file: FileMetadata) -> bool:
        self._pending = self.iterator(file)
        done = self.emit_block_metadata()
        self.emit_file_metadata(file)
        return done


@splitter_mutant("split.file-metadata")
class PathForName(_Shown):
    """The name of a file is its path."""

    def shown(self, file: FileMetadata) -> FileMetadata:
        return replace(file, file_name=file.file_path)


@splitter_mutant("split.uri")
class BarePaths(FileSplitterInput):
    """Scheme and authority are dropped."""

    def build_file_metadata(self, info: FileInfo) -> FileMetadata:
        file = super().build_file_metadata(info)
        return replace(file, file_path=bare_path(file.file_path))


@splitter_mutant("split.relative-path")
class InputNotNamed(_Shown):
    """The path below an input lacks the input's own name."""

    def shown(self, file: FileMetadata) -> FileMetadata:
        return replace(file, relative_path=file.relative_path.partition("/")[2] or file.file_name)


@splitter_mutant("split.version-kept")
class AnyVersion(FileSplitterInput):
    """The version of a file is not kept."""

    def build_file_metadata(self, info: FileInfo) -> FileMetadata:
        return replace(super().build_file_metadata(info), etag=None, modification_time=None)


@splitter_mutant("split.block-size")
class BlocksOfAnySize(_Changed):
    """Blocks end a byte early."""

    def changed(self, block: FileBlockMetadata) -> FileBlockMetadata:
        last = block.is_last_block
        return block if last else replace(block, length=max(block.offset, block.length - 1))


@splitter_mutant("split.default-block-size")
class OneDefault(FileSplitterInput):
    """The default block size is the same for all filesystems."""

    def get_default_block_size(self) -> int:
        return FileStatus("/", 0).block_size


@splitter_mutant("split.settings-valid")
class TakesAnything(FileSplitterInput):
    """Senseless settings become others in silence."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        for name in {"block_size", "blocks_threshold"} & settings.keys():
            settings[name] = max(1, settings[name] or 1)
        super().__init__(*arguments, **settings)


@splitter_mutant("split.block-count")
class CountsFromByteZero(_Shown):
    """Blocks before the data offset are counted, as in Java."""

    def shown(self, file: FileMetadata) -> FileMetadata:
        return replace(file, number_of_blocks=-(-file.file_length // file.block_size))


@splitter_mutant("split.ids-listed")
class OtherIds(_Shown):
    """The ids that are listed are the next ones."""

    def shown(self, file: FileMetadata) -> FileMetadata:
        return replace(file, first_block_id=file.first_block_id + 1)


@splitter_mutant("split.ids-form")
class NoOperator(FileSplitterInput):
    """Ids are the sequence alone."""

    def _take_ids(self, count: int) -> int:
        return super()._take_ids(count) & 0xFFFFFFFF


@splitter_mutant("split.ids-unique")
class IdsByFile(FileSplitterInput):
    """Ids begin anew with each file."""

    def _take_ids(self, count: int) -> int:
        self._sequence = 0
        return super()._take_ids(count)


@splitter_mutant("split.cover")
class LosesLastByte(_Changed):
    """The last block ends before the last byte."""

    def changed(self, block: FileBlockMetadata) -> FileBlockMetadata:
        return replace(block, length=block.length - 1) if block.is_last_block else block


@splitter_mutant("split.order")
class Backwards(BlockMetadataIterator):
    """Blocks come from the last to the first."""

    def __next__(self) -> FileBlockMetadata:
        if self.done:
            raise StopIteration
        index = self.file.number_of_blocks - 1 - self.emitted
        block = next(BlockMetadataIterator(self.file, index))
        self.emitted += 1
        return block


@splitter_mutant("split.end-offset")
class LengthInBytes(_Changed):
    """The length of a block is how many bytes it has."""

    def changed(self, block: FileBlockMetadata) -> FileBlockMetadata:
        return _unchecked(block, length=block.size)


@splitter_mutant("split.last-flag")
class LastIfWhole(_Changed):
    """A last block that is short is not flagged."""

    def changed(self, block: FileBlockMetadata) -> FileBlockMetadata:
        whole = block.length % self.file.block_size == 0
        return replace(block, is_last_block=block.is_last_block and whole)


@splitter_mutant("split.linked")
class LinkedToFirst(_Changed):
    """Each block names the file's first one."""

    def changed(self, block: FileBlockMetadata) -> FileBlockMetadata:
        if block.previous_block_id < 0:
            return block
        return replace(block, previous_block_id=self.file.first_block_id)


@splitter_mutant("split.first-unlinked")
class LinkedToSkipped(_Changed):
    """Behind a data offset the first block names one that was skipped, as in Java."""

    def changed(self, block: FileBlockMetadata) -> FileBlockMetadata:
        skipped = self._first and block.previous_block_id < 0
        return replace(block, previous_block_id=block.block_id - 1) if skipped else block


@splitter_mutant("split.block-file")
class BlockOfName(_Changed):
    """A block has the name of its file instead of the path."""

    def changed(self, block: FileBlockMetadata) -> FileBlockMetadata:
        return replace(block, file_path=last_element(block.file_path))


@splitter_mutant("split.block-file-length")
class FileEndsWithBlock(_Changed):
    """The file's length is where the block ends."""

    def changed(self, block: FileBlockMetadata) -> FileBlockMetadata:
        return replace(block, file_length=block.length)


@splitter_mutant("split.data-offset")
class HeaderIsData(_Changed):
    """The first block starts on the grid, in the header."""

    def changed(self, block: FileBlockMetadata) -> FileBlockMetadata:
        size = self.file.block_size
        return replace(block, offset=block.offset // size * size)


@splitter_mutant("split.empty-file")
class BlockOfNothing(FileSplitterInput):
    """An empty file has a block."""

    def build_file_metadata(self, info: FileInfo) -> FileMetadata:
        file = super().build_file_metadata(info)
        if file.is_directory or file.file_length:
            return file
        return replace(file, number_of_blocks=1, first_block_id=self._take_ids(1))


@splitter_mutant("split.directory")
class DirectoryHasLength(_Shown):
    """A directory has the length that is stated for it, as in Java."""

    def shown(self, file: FileMetadata) -> FileMetadata:
        if not file.is_directory:
            return file
        return replace(file, file_length=self.filesystem.get_file_status(file.path).length)


@splitter_mutant("split.lazy")
class AllAtOnce(BlockMetadataIterator):
    """All blocks of a file are made when the first one is wanted."""

    def __init__(self, file: FileMetadata, emitted: int = 0) -> None:
        super().__init__(file, emitted)
        if file.number_of_blocks > emitted:
            self._all = list(BlockMetadataIterator(file))


@splitter_mutant("split.unopened")
class LooksInside(FileSplitterInput):
    """Each file is opened."""

    def build_file_metadata(self, info: FileInfo) -> FileMetadata:
        file = super().build_file_metadata(info)
        if not file.is_directory:
            self.filesystem.open(file.path).close()
        return file


@splitter_mutant("split.pending-first")
class DropsTheRest(FileSplitterInput):
    """What is left of a file is dropped when another one is there."""

    def process(self) -> None:
        info = self.get_file_info()
        if info is not None:
            self.process_file_info(info)
        super().process()


@splitter_mutant("split.threshold")
class ThresholdByCall(FileSplitterInput):
    """The threshold goes for each call of process()."""

    def process(self) -> None:
        self.block_count = 0
        super().process()


@splitter_mutant("split.threshold-fill")
class OneFileAtATime(FileSplitterInput):
    """A window begins one file at most."""

    def process_file_info(self, info: FileInfo) -> bool:
        super().process_file_info(info)
        return False


@splitter_mutant("split.file-start")
class AnnouncesNextFile(FileSplitterInput):
    """A file is begun when the threshold has been met."""

    def process(self) -> None:
        super().process()
        info = None if self._pending else self.get_file_info()
        if info is not None:
            self.process_file_info(info)


@splitter_mutant("split.uncounted")
class CountsFiles(FileSplitterInput):
    """A file without blocks counts as one."""

    def emit_file(self, file: FileMetadata) -> bool:
        self.block_count += file.number_of_blocks == 0
        return super().emit_file(file)


@splitter_mutant("split.threshold-default")
class NoDefault(FileSplitterInput):
    """There is no limit unless one is configured."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **{"blocks_threshold": 1 << 31, **settings})


@splitter_mutant("split.checkpoint-in-file")
class ForgetsPending(FileSplitterInput):
    """A checkpoint has no blocks that are left."""

    def _state(self) -> dict[str, Any]:
        return {**super()._state(), "pending": None}


@splitter_mutant("split.base-order")
class WaitsForTheEnd(FileSplitterBase):
    """Files are split when the window ends."""

    def put(self, info: FileInfo) -> None:
        self._queue.append(info)

    def end_window(self) -> None:
        self.process()
        super().end_window()


@splitter_mutant("split.base-idle")
class Idle(FileSplitterBase):
    """Nothing is done while no file comes."""

    def handle_idle_time(self) -> None:
        pass


@splitter_mutant("split.base-missing")
class MissingIsEmpty(FileSplitterBase):
    """A file that is not there passes for an empty one."""

    def get_file_status(self, info: FileInfo) -> FileStatus:
        try:
            return super().get_file_status(info)
        except FileNotFoundException:
            return FileStatus(info.path, 0)


@splitter_mutant("split.base-checkpoint")
class ForgetsQueue(FileSplitterBase):
    """A checkpoint has no files that wait."""

    def _state(self) -> dict[str, Any]:
        return {**super()._state(), "queue": []}
