"""What goes wrong with a block; each message names the block, the file and the offset in it."""

from __future__ import annotations

from fscontract.contract.errors import PathIOException


class BlockReadException(PathIOException):
    """A block can't be read; `block_id`, `path` and `offset` say which, and where in the file."""

    def __init__(self, path: str, block_id: int, offset: int, reason: str) -> None:
        super().__init__(path, f"block {block_id} at offset {offset}: {reason}")
        self.block_id = block_id
        self.offset = offset


class RecordTooLongException(BlockReadException):
    """A record is longer than the reader allows."""


class RecordConversionException(BlockReadException, ValueError):
    """The bytes of a record are not what the converter takes."""
