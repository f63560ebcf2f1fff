"""Records, blocks and counts that are passed on wrongly."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fscontract.fakes.mutants.blockreader.registry import reader_mutant
from fscontract.fakes.mutants.blockreader.streams import Reader
from fscontract.pipeline.blockreader.errors import RecordConversionException
from fscontract.pipeline.blockreader.reader import ReaderRecord
from fscontract.pipeline.blocks import FileBlockMetadata

_Records = Iterator[ReaderRecord[Any]]


@reader_mutant("block.tagged", "block_reader")
class TaggedByTheFirst(Reader):
    """A record has the id of the block before."""

    def process_block(self, block: FileBlockMetadata) -> _Records:
        for record in super().process_block(block):
            yield record._replace(block_id=block.previous_block_id)


@reader_mutant("block.dropped", "block_reader")
class NothingIsEmpty(Reader):
    """What the converter makes nothing of is delivered as an empty record."""

    def convert_to_record(self, data: bytes) -> Any:
        record = super().convert_to_record(data)
        return b"" if record is None else record


@reader_mutant("block.emitted-after", "block_reader")
class BlockFirst(Reader):
    """A block is emitted before its records."""

    def process_block(self, block: FileBlockMetadata) -> _Records:
        super()._emit(block)
        yield from super().process_block(block)

    def _emit(self, block: FileBlockMetadata) -> None:
        pass


@reader_mutant("block.unconnected", "block_reader")
class SomebodyListens(Reader):
    """Blocks are emitted though nobody listens."""

    def _emit(self, block: FileBlockMetadata) -> None:
        listener: Any = self._on_block
        listener(block)


class Counting(Reader):
    """Right, if `_recount` leaves the counters as they are after a block."""

    def process_block(self, block: FileBlockMetadata) -> _Records:
        taken = []
        for record in super().process_block(block):
            taken.append(record)
            yield record
        self._recount(taken)

    def _recount(self, taken: list[ReaderRecord[Any]]) -> None:
        pass


@reader_mutant("block.count", "block_reader")
class BlocksUncounted(Counting):
    """Only blocks with records are counted."""

    _blocks = 0

    def _recount(self, taken: list[ReaderRecord[Any]]) -> None:
        self._blocks += bool(taken)
        self.counters.blocks = self._blocks


@reader_mutant("block.records", "block_reader")
class RecordsUncounted(Counting):
    """The last record of a block is not counted."""

    def _recount(self, taken: list[ReaderRecord[Any]]) -> None:
        self.counters.records -= bool(taken)


@reader_mutant("block.bytes", "block_reader")
class DelimitersUncounted(Counting):
    """Bytes are those of records, without delimiters."""

    _bytes = 0

    def _recount(self, taken: list[ReaderRecord[Any]]) -> None:
        self._bytes += sum(len(record.record) for record in taken)
        self.counters.bytes = self._bytes


@reader_mutant("block.time", "block_reader")
class TimeUncounted(Counting):
    """No time is counted."""

    def _recount(self, taken: list[ReaderRecord[Any]]) -> None:
        self.counters.time = 0.0


@reader_mutant("rec.converter-error", "block_reader")
class ConverterAsItIs(Reader):
    """What a converter raises does not say where."""

    def process_block(self, block: FileBlockMetadata) -> _Records:
        try:
            yield from super().process_block(block)
        except RecordConversionException as error:
            raise error.__cause__ or error from None
