"""What is sent to a task: blocks of files, as small values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from pyspark.sql.datasource import InputPartition

from fscontract.pipeline.blocks import FileBlockMetadata, FileMetadata
from fscontract.pipeline.splitter.splitter import BlockMetadataIterator


@dataclass(frozen=True, slots=True)
class BlockRun:
    """Blocks of a file that follow one another: from number `first` up to `stop`, from 0 on."""

    file: FileMetadata
    first: int
    stop: int

    def __len__(self) -> int:
        return self.stop - self.first

    @property
    def start(self) -> int:
        """The offset of the first byte."""
        return self._edge(self.first) if self.first else self.file.data_offset

    @property
    def size(self) -> int:
        """How many bytes the blocks have."""
        return min(self._edge(self.stop), self.file.file_length) - self.start

    def blocks(self) -> Iterator[FileBlockMetadata]:
        """The blocks, made one by one."""
        blocks = BlockMetadataIterator(self.file, self.first)
        while blocks.emitted < self.stop:
            yield next(blocks)

    def cut(self, most: int) -> Iterator[BlockRun]:
        """The same blocks in runs of at most so many."""
        for first in range(self.first, self.stop, most):
            yield replace(self, first=first, stop=min(first + most, self.stop))

    def _edge(self, number: int) -> int:
        """Where a block begins in the grid that starts at byte 0."""
        return (self.file.data_offset // self.file.block_size + number) * self.file.block_size


class BlocksPartition(InputPartition):  # type: ignore[misc]
    """The work of one task."""

    def __init__(self, runs: Sequence[BlockRun]) -> None:
        super().__init__(tuple(runs))

    @property
    def runs(self) -> tuple[BlockRun, ...]:
        """The blocks, in the order in which they are read."""
        found: tuple[BlockRun, ...] = self.value
        return found
