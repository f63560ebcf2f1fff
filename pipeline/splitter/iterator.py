"""The blocks of one file, made one by one: where the iterator stands is one number."""

from __future__ import annotations

from collections.abc import Iterator

from fscontract.contract.errors import IllegalArgumentException
from fscontract.pipeline.blocks import NO_BLOCK, FileBlockMetadata, FileMetadata


def count_blocks(length: int, block_size: int, data_offset: int) -> int:
    """How many blocks a file has: those of the grid from byte 0 that hold a byte to be read."""
    if data_offset >= length:
        return 0
    return -(-length // block_size) - data_offset // block_size


class BlockMetadataIterator(Iterator[FileBlockMetadata]):
    """The blocks of a file in order; `emitted` of them are already out.

    All it needs is `file` and `emitted`, which a checkpoint keeps.
    """

    def __init__(self, file: FileMetadata, emitted: int = 0) -> None:
        if not 0 <= emitted <= file.number_of_blocks:
            count = file.number_of_blocks
            raise IllegalArgumentException(f"{emitted} of {count} blocks can't have been emitted")
        self.file = file
        self.emitted = emitted
        #: The number of the first block in the grid that starts at byte 0.
        self._first = file.data_offset // file.block_size

    @property
    def done(self) -> bool:
        """Whether there are no more blocks."""
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
