"""Readers that mishandle failures."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from fscontract.contract.api.filesystem import FileSystem
from fscontract.pipeline.blockreader.batches import RecordBatch
from fscontract.pipeline.blockreader.readers import FSBlockReader, as_bytes
from fscontract.pipeline.blockreader.source import BlockReadException, ByteSource
from fscontract.pipeline.blocks import FileBlockMetadata


class SwallowsErrors(FSBlockReader[bytes]):
    """Continues with the next block after a failure, which loses records."""

    def _read(self, block: FileBlockMetadata) -> Generator[RecordBatch, None, None]:
        try:
            yield from super()._read(block)
        except BlockReadException:
            return


class StartsAgain(FSBlockReader[bytes]):
    """Restarts a failed block from its beginning, which duplicates records."""

    def _read(self, block: FileBlockMetadata) -> Generator[RecordBatch, None, None]:
        for _ in range(10):
            try:
                yield from super()._read(block)
                return
            except BlockReadException:
                self.close()
        yield from super()._read(block)


class NamesAnother(FSBlockReader[bytes]):
    """Names another block in the error."""

    def _read(self, block: FileBlockMetadata) -> Generator[RecordBatch, None, None]:
        try:
            yield from super()._read(block)
        except BlockReadException as error:
            raise BlockReadException(
                block.file_path, block.block_id + 1, block.end, "failed"
            ) from error


class _EndsAtErrors(ByteSource):
    """Treats a failure as EOF."""

    def __init__(self, source: ByteSource) -> None:
        self._source = source
        self.length = source.length

    def read(self, position: int, count: int) -> bytes:
        try:
            return self._source.read(position, count)
        except OSError:
            return b""


def ends_at_errors(fs: FileSystem, context: Any) -> FSBlockReader[bytes]:
    """Return a reader whose source treats a failure as EOF."""
    opened = context._open
    context._open = lambda stream, block: _EndsAtErrors(opened(stream, block))
    return FSBlockReader(fs, context, as_bytes)


def _of(cls: type[FSBlockReader[bytes]]) -> Any:
    return lambda fs, context: cls(fs, context, as_bytes)


MUTANTS = {
    "swallows errors": _of(SwallowsErrors),
    "starts again": _of(StartsAgain),
    "names another block": _of(NamesAnother),
    "ends at errors": ends_at_errors,
}
