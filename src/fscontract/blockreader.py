"""Block readers: records of any kind, each read from exactly one block."""

from fscontract.contract.models.blockreader import Block
from fscontract.contract.pipeline_bindings import (
    BlockReaderBinding,
    CheckedReader,
    CheckedScaling,
    DeliveredRecord,
    ReaderSettings,
    ScaledPartitions,
)
from fscontract.contract.scenarios.check import check_reader
from fscontract.pipeline.blockreader.batches import Entity
from fscontract.pipeline.blockreader.binding import ReaderBinding
from fscontract.pipeline.blockreader.contexts import (
    FileReaderContext,
    FixedBytesReaderContext,
    ReaderContext,
)
from fscontract.pipeline.blockreader.lines import LineReaderContext, ReadAheadLineReaderContext
from fscontract.pipeline.blockreader.readers import (
    AbstractBlockReader,
    FSBlockReader,
    FSLineReader,
    FSReadAheadLineReader,
    FSRecordReader,
    FSSliceReader,
    ReaderRecord,
    as_bytes,
    blocks_of,
    records_of,
    text,
)
from fscontract.pipeline.blockreader.scaling import (
    Partition,
    Partitioner,
    ScalingPartitioner,
    ScalingPolicy,
    define_partitions,
)
from fscontract.pipeline.blockreader.source import (
    BlockReadException,
    RecordConversionException,
    RecordTooLongException,
)

__all__ = [
    "AbstractBlockReader",
    "Block",
    "BlockReadException",
    "BlockReaderBinding",
    "CheckedReader",
    "CheckedScaling",
    "DeliveredRecord",
    "Entity",
    "FSBlockReader",
    "FSLineReader",
    "FSReadAheadLineReader",
    "FSRecordReader",
    "FSSliceReader",
    "FileReaderContext",
    "FixedBytesReaderContext",
    "LineReaderContext",
    "Partition",
    "Partitioner",
    "ReadAheadLineReaderContext",
    "ReaderBinding",
    "ReaderContext",
    "ReaderRecord",
    "ReaderSettings",
    "RecordConversionException",
    "RecordTooLongException",
    "ScaledPartitions",
    "ScalingPartitioner",
    "ScalingPolicy",
    "as_bytes",
    "blocks_of",
    "check_reader",
    "define_partitions",
    "records_of",
    "text",
]
