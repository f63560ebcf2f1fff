"""Binding of the block readers to the scenarios of their contract."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from fscontract.contract.api.filesystem import FileSystem
from fscontract.contract.models.blockreader import Block
from fscontract.contract.pipeline_bindings import (
    BlockReaderBinding,
    CheckedReader,
    CheckedScaling,
    DeliveredRecord,
    ReaderSettings,
    ScaledPartitions,
)
from fscontract.implementations.targets import check_options
from fscontract.pipeline.blockreader import scaling
from fscontract.pipeline.blockreader.contexts import FileReaderContext, FixedBytesReaderContext
from fscontract.pipeline.blockreader.lines import LineReaderContext, ReadAheadLineReaderContext
from fscontract.pipeline.blockreader.readers import (
    Counters,
    FSBlockReader,
    FSRecordReader,
    FSSliceReader,
    as_bytes,
)
from fscontract.pipeline.blocks import FileBlockMetadata

#: Names of settings as options of contexts.
_LINE_OPTIONS = {
    "delimiter": "delimiter",
    "max_length": "max_record_length",
    "on_too_long": "on_too_long",
    "drop_blank": "drop_blank",
    "data_offset": "data_offset",
    "buffer_size": "buffer_size",
    "overflow_buffer_size": "overflow_buffer_size",
}


class ReaderBinding(BlockReaderBinding):
    """The block readers. Mutants replace their classes, which are attributes."""

    name = "blockreader"
    line: Callable[..., FileReaderContext] = LineReaderContext
    read_ahead: Callable[..., FileReaderContext] = ReadAheadLineReaderContext
    fixed: Callable[..., FileReaderContext] = FixedBytesReaderContext
    block_reader: type[FSBlockReader[Any]] = FSBlockReader
    slice_reader: type[FSSliceReader] = FSSliceReader
    record_reader: type[FSRecordReader[Any]] = FSRecordReader
    scaler: Any = scaling

    def reader(self, filesystem: FileSystem, settings: ReaderSettings) -> CheckedReader:
        """Return a reader of the files of a filesystem."""
        reader = self._reader(filesystem, settings)
        return _Checked(reader)

    def scaling(self, low: int, high: int, interval: float, collect: bool) -> CheckedScaling:
        """Return the scaling decisions for `low` to `high` readers."""
        return _Scaling(self.scaler, self.scaler.ScalingPolicy(low, high, interval, collect))

    def _reader(self, fs: FileSystem, settings: ReaderSettings) -> FSBlockReader[Any]:
        fields = {key: value for key, value in vars(settings).items() if value is not None}
        options: dict[str, Any] = {k: fields[k] for k in ("idle_seconds", "clock") if k in fields}
        if settings.on_block is not None:
            on_block = settings.on_block
            options["on_block"] = lambda block: on_block(block.block_id)
        convert = settings.converter or as_bytes
        if settings.context == "fixed-width" and settings.length is None:
            return self.record_reader(fs, convert, "fixed-width")
        if settings.context == "fixed" and settings.length is None:
            return self.slice_reader(fs, **options)
        if settings.context.startswith("fixed"):
            aligned = settings.context == "fixed-width"
            context = self.fixed(settings.length, aligned=aligned, data_offset=settings.data_offset)
        else:
            make = self.line if settings.context == "line" else self.read_ahead
            context = make(**{_LINE_OPTIONS[k]: v for k, v in fields.items() if k in _LINE_OPTIONS})
        return self.block_reader(fs, context, convert, **options)


class _Checked(CheckedReader):
    """Adapter of a block reader."""

    def __init__(self, reader: FSBlockReader[Any]) -> None:
        self._reader = reader

    def process(self, block: Block) -> Iterator[DeliveredRecord]:
        """Yield the records of a block."""
        last = block.end == block.file_length
        yield from self._reader.process_block(
            FileBlockMetadata(
                block.block_id,
                block.offset,
                block.end,
                last,
                block.previous,
                block.path,
                block.file_length,
            )
        )

    def counters(self) -> Mapping[str, float]:
        """Return the counters."""
        return asdict(self._reader.counters)

    def close_if_idle(self) -> None:
        """Close the stream if it is idle."""
        self._reader.close_if_idle()

    def close(self) -> None:
        """Close the stream."""
        self._reader.close()


class _Scaling(CheckedScaling):
    """The functions of a module such as `scaling`."""

    def __init__(self, functions: Any, policy: scaling.ScalingPolicy) -> None:
        self._functions = functions
        self._policy = policy
        self._state = scaling.ScalingState()

    def report(self, partition: int, queue_size: int | None, now: float) -> bool:
        """Report a partition's statistics; return True if the partitions must be redefined."""
        decision = self._functions.process_stats(
            self._state, self._policy, partition, queue_size, now
        )
        self._state = decision.state
        return bool(decision.repartition)

    @property
    def count(self) -> int:
        """Required number of partitions."""
        return self._state.partition_count

    def define(
        self, counters: Sequence[int], backlog: Sequence[int], required: int, first: bool
    ) -> ScaledPartitions:
        """Define partitions."""
        old = [
            scaling.Partition(f"old{i}", Counters(blocks=count), waiting)
            for i, (count, waiting) in enumerate(zip(counters, backlog, strict=True))
        ]
        new = self._functions.define_partitions(old, required, lambda: "new", first)
        return ScaledPartitions(
            tuple(p.reader for p in new),
            tuple(p.counters.blocks for p in new),
            tuple(p.keys for p in new),
            new[0].mask,
            any(before is after for before in old for after in new),
        )


def blockreader(options: Mapping[str, str]) -> BlockReaderBinding:
    """Return the target `blockreader`; raise TargetError for any option."""
    check_options("blockreader", options, ())
    return ReaderBinding()
