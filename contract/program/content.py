"""File content that reveals a byte from a wrong offset, or of another file.

Bytes range from 5 to 255: never 0 (an untouched allocation), never FILL, and the file of 5 bytes
starts with 255 so that a signed byte or a confusion with -1 shows at once. In a file of up to 251
bytes all bytes differ; in a longer one each sequence of three neighbouring bytes is unique within
15 million. Files of different lengths, copies of one file and its replacements have other bytes at
each place: those of one file are those of another times a factor, plus a shift. Only files of two
factors agree at some places, of which no four are next to each other. A file of over 64 MiB is
sparse: zeros, and such bytes around the limits of 32-bit numbers.
"""

from __future__ import annotations

import zlib
from functools import lru_cache
from typing import IO, Any, SupportsIndex

_PRIME = 251
#: The length of the longest content of which each byte is at one offset alone.
UNIQUE = _PRIME
_LOWEST = 5
# s[n+3] = 243*s[n+1] + 11*s[n] over GF(251), the recurrence of a primitive polynomial: its period
# is 251**3 - 1, so each triple but (0, 0, 0) occurs once.
_TAPS = (11, 243)
# x**_BLOCK is a number modulo that polynomial, so each block is the one before it times a factor.
_BLOCK = (_PRIME**3 - 1) // (_PRIME - 1)
#: Files have one of these shifts; their replacements have the others. Then there are the factors.
_SHIFTS, _FACTORS = 125, 250
#: The length whose first file has the factor 1 and the shift 0, and the step from copy to copy.
_PLAIN, _COPY = 5, 4001
#: The numbers of the copies that programs do not use: those of threads, of costs, of executors.
OF_THREADS, OF_COSTS, OF_EXECUTORS = -1, -2, -3
#: Number of contents that new files of one length have.
_COPIES = 100
#: Files of more bytes are sparse.
DENSE = 1 << 26
#: Bytes that a sparse file has at its beginning and end, and on each side of these offsets.
_PIECE, _LIMITS = 1 << 16, (1 << 31, 1 << 32)


class SparseContent(bytes):
    """The content of a sparse file: it takes the place of bytes that would not fit into memory.

    It has a length, slices and a search; as a buffer it is empty.
    """

    length: int
    pieces: tuple[tuple[int, bytes], ...]

    @classmethod
    def of(cls, length: int) -> SparseContent:
        """Return the content of a file of `length` bytes, over 64 MiB."""
        made = cls()
        made.length = length
        inner = [limit for limit in _LIMITS if limit + 2 * _PIECE < length]
        starts = [0, *(limit - _PIECE for limit in inner), length - _PIECE]
        source = content(2 * _PIECE * len(starts))
        sizes = [_PIECE, *(2 * _PIECE for _ in inner), _PIECE]
        made.pieces = tuple(
            (start, source[number * 2 * _PIECE :][:size])
            for number, (start, size) in enumerate(zip(starts, sizes, strict=True))
        )
        return made

    def write_to(self, file: IO[bytes]) -> None:
        """Write a sparse file: only the bytes that are not zero take room."""
        for start, piece in self.pieces:
            file.seek(start)
            file.write(piece)
        file.truncate(self.length)

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, index: SupportsIndex | slice) -> Any:
        if not isinstance(index, slice):
            position = index.__index__()
            position += self.length if position < 0 else 0
            return self[position : position + 1][0]
        start, stop, _ = index.indices(self.length)
        data = bytearray(max(stop - start, 0))
        for at, piece in self.pieces:
            low, high = max(start, at), min(stop, at + len(piece))
            if low < high:
                data[low - start : high - start] = piece[low - at : high - at]
        return bytes(data)

    def find(self, sub: Any, start: Any = 0, end: Any = None, /) -> int:
        """Return the lowest offset of these bytes in the parts that are not zeros, or -1."""
        for at, piece in self.pieces:
            found = piece.find(sub, max((start or 0) - at, 0))
            if found >= 0 and (end is None or at + found + len(sub) <= end):
                return at + found
        return -1

    def __contains__(self, sub: object) -> bool:
        return isinstance(sub, bytes) and (self.find(sub) >= 0 or not any(sub))

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return hash(self.length)


@lru_cache(maxsize=64)
def content(length: int, copy: int = 0) -> bytes:
    """Return the content of a test file of `length` bytes, or of another file of that length."""
    if length > DENSE:
        return SparseContent.of(length)
    factor, shift = divmod(length - _PLAIN + copy * _COPY, _SHIFTS)
    return _sequence(length).translate(_affine(factor % _FACTORS + 1, shift))


def is_ambiguous(data: bytes, length: int) -> bool:
    """Return whether these bytes of a content of `length` bytes don't tell where they are from.

    That is a single byte of a content with more bytes than values.
    """
    return len(data) == 1 and length > _PRIME and data[0] >= _LOWEST


@lru_cache(maxsize=1 << 10)
def _affine(factor: int, shift: int) -> bytes:
    """Return the table that multiplies each byte of a content by a factor, and adds a shift."""
    changed = ((_LOWEST + ((v - _LOWEST) * factor + shift) % _PRIME) for v in range(_LOWEST, 256))
    return bytes([*range(_LOWEST), *changed])


def _sequence(length: int) -> bytes:
    """Return the content of factor 1 and shift 0."""
    if length <= _PRIME:
        return bytes(_LOWEST + (250 + 97 * i) % _PRIME for i in range(length))
    blocks, next_block = _blocks()
    while len(blocks) * _BLOCK < length:
        blocks.append(blocks[-1].translate(next_block))
    return b"".join(blocks[: -(-length // _BLOCK)])[:length]


@lru_cache(maxsize=1)
def _blocks() -> tuple[list[bytes], bytes]:
    """Return the first blocks of long contents, and the table that makes the next one."""
    block = bytearray()
    a, b, c = first = 250, 96, 193
    for _ in range(_BLOCK):
        block.append(_LOWEST + a)
        a, b, c = b, c, (_TAPS[0] * a + _TAPS[1] * b) % _PRIME
    factor = a * pow(first[0], -1, _PRIME)
    next_block = bytes(_LOWEST + factor * (v - _LOWEST) % _PRIME for v in range(256))
    return [bytes(block)], next_block


def _continued(old: bytes, size: int) -> bytes:
    """Return `size` bytes of the content whose first bytes these are."""
    sequence = _sequence(size)
    if not old:
        return sequence
    factor = 1
    if len(old) > 1 and old[0] != old[1]:
        factor = (old[1] - old[0]) * pow(sequence[1] - sequence[0], -1, _PRIME) % _PRIME
    shift = old[0] - _LOWEST - (sequence[0] - _LOWEST) * factor
    return sequence.translate(_affine(factor, shift))


@lru_cache(maxsize=64)
def replacement(old: bytes, length: int | None = None) -> bytes:
    """Return new content of `length` bytes (default: same length) that differs at every offset."""
    size = len(old) if length is None else length
    source = old if size <= len(old) else old + _continued(old, size)[len(old) :]
    return source[:size].translate(_affine(1, _SHIFTS))


def new_content(length: int, of: object = "") -> bytes:
    """Return the content of a new file, with other bytes than the shared one of this length.

    It depends on what the file is for, so that it is the same in every process.
    """
    return content(length, zlib.crc32(str(of).encode()) % _COPIES + 1)


#: The length from which a file grows by half, not by a few bytes.
_LONG = 1 << 14


def changed_content(data: bytes, how: str) -> bytes | None:
    """Return the content after one of the CHANGES; None if the file is deleted."""
    if how == "delete":
        return None
    if how == "truncate":
        return data[: len(data) // 2]
    if how == "append":
        more = 4 if len(data) < _LONG else len(data) // 2
        return data + replacement(data, len(data) + more)[len(data) :]
    return replacement(data)
