"""What a record is, as an option says it, and the records of a plan."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from fscontract.contract.errors import IllegalArgumentException
from fscontract.contract.ports import FileSystem
from fscontract.pipeline.blockreader.batches import RecordBatch
from fscontract.pipeline.blockreader.compressed import codec_of
from fscontract.pipeline.blockreader.contexts import (
    DEFAULT_SLICE,
    FixedBytesReaderContext,
    ReaderContext,
)
from fscontract.pipeline.blockreader.lines import LineReaderContext, ReadAheadLineReaderContext
from fscontract.pipeline.blockreader.readers import FSBlockReader, as_bytes
from fscontract.pipeline.blocks import FileBlockMetadata
from fscontract.pipeline.commands.plan import Plan


class Found(NamedTuple):
    """Some records of a block: how many, and, unless only that is wanted, which.

    `bytes` is how many bytes of the block were read; all of them add up to its size.
    """

    block: FileBlockMetadata
    records: int
    bytes: int
    batch: RecordBatch | None = None


@dataclass(frozen=True)
class Reading:
    """How blocks are read; other processes are told by it."""

    reader: str = "lines"
    delimiter: bytes | None = None
    length: int | None = None
    max_length: int | None = None
    too_long: str = "error"
    compression: str = "infer"
    data_offset: int = 0

    def check(self) -> None:
        """IllegalArgumentException for options that don't go together, or make no sense."""
        if self._fixed:
            for name in ("delimiter", "max_length"):
                if getattr(self, name) is not None:
                    option = name.replace("_", "-")
                    raise IllegalArgumentException(f"--{option} is not for records of one length")
        elif self.length is not None:
            raise IllegalArgumentException(f"--length is not for {self.reader}")
        self.context()

    @property
    def ending(self) -> bytes:
        """What ends a record where records are printed one behind the other."""
        return b"" if self._fixed else self.delimiter or b"\n"

    def is_whole(self, path: str) -> bool:
        """Whether the file has to be one block, because it is compressed.

        IllegalArgumentException for the suffix of a codec that is not there.
        """
        try:
            return codec_of(path, self._codec) is not None
        except IllegalArgumentException as error:
            said = str(error).replace("compression=None", "--compression none")
            raise IllegalArgumentException(said) from None

    def open(self, filesystem: FileSystem) -> FSBlockReader[bytes]:
        """A new reader."""
        return FSBlockReader(filesystem, self.context(), as_bytes)

    def context(self) -> ReaderContext:
        """A new context."""
        if self._fixed:
            return FixedBytesReaderContext(
                self.length or DEFAULT_SLICE,
                aligned=self.reader == "records",
                data_offset=self.data_offset,
                compression=self._codec,
            )
        cut = self.reader == "lines-and-rests"
        options: dict[str, Any] = {"on_too_long": self.too_long, "compression": self._codec}
        return (LineReaderContext if cut else ReadAheadLineReaderContext)(
            self.delimiter,
            max_record_length=self.max_length,
            data_offset=self.data_offset,
            **options,
        )

    @property
    def _codec(self) -> str | None:
        return None if self.compression == "none" else self.compression

    @property
    def _fixed(self) -> bool:
        return self.reader == "slices" or (self.reader == "records" and self.length is not None)


def read_plan(plan: Plan, reading: Reading) -> Iterator[Found]:
    """The records of a plan in order, read by this process."""
    for part in plan.parts():
        with reading.open(part.filesystem) as reader:
            for block in part.items:
                if isinstance(block, FileBlockMetadata):
                    yield from read_block(reader, block)


def read_block(reader: FSBlockReader[bytes], block: FileBlockMetadata) -> Iterator[Found]:
    """The records of one block; BlockReadException."""
    left = block.size
    for batch in reader.process_batches(block):
        used = min(left, batch.used_bytes)  # a record may extend beyond the block
        left -= used
        yield Found(block, len(batch), used, batch)
    yield Found(block, 0, left)
