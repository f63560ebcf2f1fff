"""Reader contexts, which find the records of a block: interface, files, and fixed lengths."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Generic, Protocol, TypeVar

from fscontract.contract.api.errors import IllegalArgumentException
from fscontract.contract.api.filesystem import FSDataInputStream
from fscontract.pipeline.blockreader.batches import Entity, PiecesBatch, RecordBatch
from fscontract.pipeline.blockreader.compression import INFER, codec_of, decompressed
from fscontract.pipeline.blockreader.source import BlockReadException, ByteSource, FileSource
from fscontract.pipeline.blocks import BlockMetadata, FileBlockMetadata

#: Number of bytes that a context reads at once.
DEFAULT_BUFFER = 1 << 17
#: Default slice length: the block size of Hadoop's local filesystem.
DEFAULT_SLICE = 32 * 1024 * 1024
#: End of a block whose length is known only after reading it.
_ENDLESS = 1 << 62


class SourceStream(Protocol):
    """Access to a data source, opened for its blocks."""

    def close(self) -> None:
        """Release the resources."""


B = TypeVar("B", bound=BlockMetadata)
S = TypeVar("S", bound=SourceStream)


class ReaderContext(ABC, Generic[B, S]):
    """Finds the records of one block after the other, in a source of any kind.

    Call `initialize`, then `next` or `next_batch` until it returns None. One context serves one
    reader in one thread. Errors of the source must be OSError.
    """

    def initialize(self, stream: S, block: B, consecutive: bool) -> None:
        """Start a block; `consecutive` if it follows the last one on the same stream.

        An override calls this method first; it sets `block`.
        """
        self.block = block

    @abstractmethod
    def next(self) -> Entity | None:
        """Return the next record of the block, or None after the last one."""

    def next_batch(self) -> RecordBatch | None:
        """Return at least one of the block's next records, or None after the last one.

        By default it is the result of `next`.
        """
        entity = self.next()
        if entity is None:
            return None
        start, end = entity.offset, entity.offset + entity.used_bytes
        return RecordBatch(self.block.block_id, [entity.record], start, end, offsets=[start])

    @property
    @abstractmethod
    def position(self) -> int:
        """Offset in the source up to which the block was read, for errors."""


class FileReaderContext(ReaderContext[FileBlockMetadata, FSDataInputStream]):
    """Finds the records of blocks of files, compressed ones included.

    Several reads of `buffer_size` bytes fill a batch. `compression` is the name of a codec, None,
    or "infer" for one by the suffix of the path.
    """

    def __init__(self, buffer_size: int = DEFAULT_BUFFER, compression: str | None = INFER) -> None:
        if buffer_size < 1:
            raise IllegalArgumentException(
                f"invalid buffer_size: {buffer_size}; must be at least 1 byte"
            )
        codec_of("", compression)
        self._buffer_size = buffer_size
        self.compression = compression
        self._stream: FSDataInputStream | None = None
        self._batch: RecordBatch | None = None
        self._index = 0

    def initialize(
        self, stream: FSDataInputStream, block: FileBlockMetadata, consecutive: bool
    ) -> None:
        """Start a block; `consecutive` if it follows the last one on the same stream."""
        super().initialize(stream, block, consecutive)
        self._batch, self._index = None, 0
        goes_on = consecutive and stream is self._stream
        if not goes_on:
            self._stream = None
            self._source = self._open(stream, block)
            self._stream = stream
        self._end = block.end if self._source.length is not None else _ENDLESS
        self._begin(goes_on)

    def next(self) -> Entity | None:
        """Return the next record of the block, or None after the last one."""
        while self._batch is None or self._index >= len(self._batch):
            self._batch, self._index = self._find(), 0
            if self._batch is None:
                return None
        self._index += 1
        return self._batch.entity(self._index - 1)

    def next_batch(self) -> RecordBatch | None:
        """Return at least one of the block's next records, or None after the last one."""
        batch, index = self._batch, self._index
        self._batch, self._index = None, 0
        if batch is None or index >= len(batch):
            return self._find()
        if index == 0:
            return batch
        offsets = batch.offsets[index:]
        start = batch.start + sum(map(batch.used_by, range(index)))
        return RecordBatch(batch.block_id, batch.records[index:], start, batch.end, offsets=offsets)

    @property
    @abstractmethod
    def position(self) -> int:
        """Position in the file, in decompressed bytes if the file is compressed."""

    @abstractmethod
    def _begin(self, goes_on: bool) -> None:
        """Find the start of the block's first record.

        `goes_on` means that bytes read for the previous block can be reused.
        """

    @abstractmethod
    def _find(self) -> RecordBatch | None:
        """Find the next batch, without records that `next` has returned."""

    def _open(self, stream: FSDataInputStream, block: FileBlockMetadata) -> ByteSource:
        codec = codec_of(block.path, self.compression)
        if codec is None:
            return FileSource(stream, block.path, block.file_length)
        if block.offset > 0 or block.end < block.file_length:
            reason = f"a file compressed with {codec} must be one block, because it can't be split"
            raise BlockReadException(block.file_path, block.block_id, block.offset, reason)
        return decompressed(stream, block.path, block.file_length, codec)


class FixedBytesReaderContext(FileReaderContext):
    """Pieces of `length` bytes from the block's start on; none crosses the block's end.

    The last piece of a block may therefore be shorter, and the pieces depend on the blocks. With
    `aligned` they do not: pieces are counted from `data_offset` in the file, and the block with a
    piece's first byte reads the whole piece. Then only the last piece of the file may be shorter.
    """

    def __init__(
        self,
        length: int = DEFAULT_SLICE,
        *,
        aligned: bool = False,
        data_offset: int = 0,
        buffer_size: int = DEFAULT_BUFFER,
        compression: str | None = INFER,
    ) -> None:
        super().__init__(buffer_size, compression)
        if length < 1:
            raise IllegalArgumentException(f"invalid length: {length}; must be at least 1 byte")
        self.length = length
        self._aligned = aligned
        self._data_offset = data_offset
        self._position = 0

    @property
    def position(self) -> int:
        """Start of the next piece."""
        return self._position

    def _begin(self, goes_on: bool) -> None:
        self._position, self._stop = self.block.offset, self._end
        if self._aligned:
            self._position, self._stop = map(self._up, (self.block.offset, self._end))

    def _up(self, offset: int) -> int:
        """Return the first start of a record at or after an offset."""
        if offset >= _ENDLESS:
            return offset
        return offset + (self._data_offset - offset) % self.length

    def _find(self) -> RecordBatch | None:
        start, length = self._position, self.length
        count = min(max(length, self._buffer_size // length * length), self._stop - start)
        data = self._source.read(start, count) if count > 0 else b""
        if not data:
            return None
        self._position = start + len(data)
        return self._batch_of(data, start)

    def _batch_of(self, data: bytes, start: int) -> RecordBatch:
        """Return the pieces of bytes that begin with a piece."""
        end, length = start + len(data), self.length
        records = [data] if len(data) <= length else _pieces(data, length)
        offsets = range(start, end, length)
        return RecordBatch(self.block.block_id, records, start, end, offsets=offsets)


def _pieces(data: bytes, length: int) -> list[bytes]:
    return [data[i : i + length] for i in range(0, len(data), length)]


class PiecesReaderContext(FixedBytesReaderContext):
    """FixedBytesReaderContext that returns PiecesBatch batches."""

    def _batch_of(self, data: bytes, start: int) -> RecordBatch:
        return PiecesBatch(self.block.block_id, data, start, self.length)
