"""Versions of files: bytes that never change, in blocks with a copy on every replica."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple
from zlib import crc32

from fscontract.contract.errors import IllegalArgumentException
from fscontract.implementations.descriptors import Identity, version

#: Stands for a copy that is as it was written.
_INTACT = b"intact"
_FLIPPED = bytes(byte ^ 0xFF for byte in range(256))


def flipped(data: bytes) -> bytes:
    """As many bytes, none of them right."""
    return data.translate(_FLIPPED)


class Check(NamedTuple):
    """The CRC-32 that the next `length` bytes had when they were written."""

    length: int
    crc: int


class Version:
    """One version of a file, whose `etag` no other version has.

    A copy of a block may be corrupt or lost; what was written is remembered by its checksums.
    """

    def __init__(
        self, number: int, data: bytes, time: float, block_size: int, replicas: int
    ) -> None:
        self.data = data
        self.time = time
        self.block_size = block_size
        self.replicas = replicas
        #: What our streams know a file by again.
        self.identity: Identity = (0, number, len(data), 0)
        self.etag = version(self.identity)
        #: By block and replica: the bytes of a corrupt copy, None for a lost one.
        self._damaged: dict[tuple[int, int], bytes | None] = {}

    @property
    def length(self) -> int:
        """The length in bytes."""
        return len(self.data)

    @property
    def blocks(self) -> int:
        """How many blocks there are, none in an empty file."""
        return -(-len(self.data) // self.block_size)

    def holders(self, block: int) -> tuple[int, ...]:
        """The replicas that have a copy of the block, be it corrupt."""
        lost = {key for key, copy in self._damaged.items() if copy is None}
        return tuple(r for r in range(self.replicas) if (block, r) not in lost)

    def corrupt(self, block: int, replica: int) -> None:
        """Flip every bit of one copy of a block; IllegalArgumentException if there is none."""
        self._check(block, replica)
        self._damaged[block, replica] = flipped(self._written(block))

    def lose(self, block: int, replica: int) -> None:
        """Take away one copy of a block; IllegalArgumentException if there is none."""
        self._check(block, replica)
        self._damaged[block, replica] = None

    def read(self, offset: int, length: int, replica: int) -> tuple[bytes, tuple[Check, ...]]:
        """Bytes of one replica as they are now, and the checks of what they were.

        They end before a block that the replica has lost.
        """
        if not self._damaged:
            body = self.data[offset : offset + length]
            return body, (Check(len(body), crc32(body)),)
        pieces, checks = [], []
        for written, stored in self._pieces(offset, offset + length, replica):
            if stored is None:
                break
            pieces.append(stored)
            checks.append(Check(len(written), crc32(written)))
        return b"".join(pieces), tuple(checks)

    def _pieces(self, offset: int, end: int, replica: int) -> Iterator[tuple[bytes, bytes | None]]:
        """Block by block, the bytes as they were written and as the replica has them."""
        while offset < min(end, len(self.data)):
            block = offset // self.block_size
            start = block * self.block_size
            stop = min(end, start + self.block_size)
            written = self.data[offset:stop]
            copy = self._damaged.get((block, replica), _INTACT)
            if copy is _INTACT:
                yield written, written
            else:
                yield written, None if copy is None else copy[offset - start : stop - start]
            offset = stop

    def _written(self, block: int) -> bytes:
        return self.data[block * self.block_size : (block + 1) * self.block_size]

    def _check(self, block: int, replica: int) -> None:
        if not 0 <= block < self.blocks:
            raise IllegalArgumentException(f"no block {block}: the file has {self.blocks}")
        if not 0 <= replica < self.replicas:
            raise IllegalArgumentException(f"no replica {replica}: there are {self.replicas}")
