"""Mutants that a block reader shows with long records, long files or many blocks only."""

from __future__ import annotations

from fscontract.contract.api.filesystem import FSDataInputStream
from fscontract.fakes.mutants.blockreader.reading import Reader
from fscontract.fakes.mutants.blockreader.records import Changing
from fscontract.fakes.mutants.registry import mutant, right
from fscontract.pipeline.blockreader.batches import RecordBatch
from fscontract.pipeline.blockreader.lines import ReadAheadLineReaderContext
from fscontract.pipeline.blocks import FileBlockMetadata


@mutant("record.offset", ReadAheadLineReaderContext._find)
def offset_in_16_bits(self: ReadAheadLineReaderContext) -> RecordBatch | None:
    """Offsets are held in 16 bits."""
    batch = right(self)._find()
    if batch is not None:
        batch.offsets = [offset & 0xFFFF for offset in batch.offsets]
    return batch


@mutant("record.whole", Changing._change)
def longest_is_64k(self: Changing, record: bytes, offset: int) -> bytes:
    """Lines end after 65,535 bytes."""
    return record[:65_535]


@mutant("record.whole", Changing._change)
def overflow_grows_once(self: Changing, record: bytes, offset: int) -> bytes:
    """The buffer of a line grows to 16 KiB; what is longer keeps only the beginning and the end."""
    return record if len(record) <= 16_384 else record[:16_384] + record[-1:]


@mutant("record.many-blocks", ReadAheadLineReaderContext.initialize)
def gives_up_after_blocks(
    self: ReadAheadLineReaderContext,
    stream: FSDataInputStream,
    block: FileBlockMetadata,
    consecutive: bool,
) -> None:
    """After 128 blocks in a row, a line that began before them is forgotten."""
    self.in_a_row = getattr(self, "in_a_row", 0) + 1 if consecutive else 0  # type: ignore[attr-defined]
    row: int = self.in_a_row  # type: ignore[attr-defined]
    right(self).initialize(stream, block, consecutive and row <= 128)
    if row > 128:
        self._empty = True


@mutant("block.reuse", Reader._set_up)
def reconnects_after_blocks(self: Reader, block: FileBlockMetadata) -> None:
    """After 100 blocks the stream is opened again."""
    self.blocks_read = getattr(self, "blocks_read", 0) + 1  # type: ignore[attr-defined]
    if self.blocks_read % 100 == 0:  # type: ignore[attr-defined]
        self.close()
    right(self)._set_up(block)
