"""File content that reveals a byte from a wrong offset.

Bytes range from 5 to 255: never 0 (an untouched allocation), never FILL, and starting with 255 so
that a signed byte or a confusion with -1 shows at once. In a file of up to 251 bytes all bytes
differ; in a longer one each sequence of three neighbouring bytes is unique within 15 million.
"""

from __future__ import annotations

from functools import lru_cache

_PRIME = 251
_LOWEST = 5
# s[n+3] = 243*s[n+1] + 11*s[n] over GF(251), the recurrence of a primitive polynomial: its period
# is 251**3 - 1, so each triple but (0, 0, 0) occurs once.
_TAPS = (11, 243)
# x**_BLOCK is a number modulo that polynomial, so each block is the one before it times a factor.
_BLOCK = (_PRIME**3 - 1) // (_PRIME - 1)


@lru_cache(maxsize=64)
def content(length: int) -> bytes:
    """Return the content of a test file of `length` bytes."""
    if length <= _PRIME:
        return bytes(_LOWEST + (250 + 97 * i) % _PRIME for i in range(length))
    block = bytearray()
    a, b, c = first = 250, 96, 193
    for _ in range(min(length, _BLOCK)):
        block.append(_LOWEST + a)
        a, b, c = b, c, (_TAPS[0] * a + _TAPS[1] * b) % _PRIME
    blocks = [bytes(block)]
    factor = a * pow(first[0], -1, _PRIME)
    next_block = bytes(_LOWEST + factor * (v - _LOWEST) % _PRIME for v in range(256))
    for _ in range(1, -(-length // _BLOCK)):
        blocks.append(blocks[-1].translate(next_block))
    return b"".join(blocks)[:length]


@lru_cache(maxsize=64)
def replacement(old: bytes, length: int | None = None) -> bytes:
    """Return new content of `length` bytes (default: same length) that differs at every offset."""
    size = len(old) if length is None else length
    source = old if size <= len(old) else old + content(size)[len(old) :]
    shift = bytes(
        (_LOWEST + (v - _LOWEST + 125) % _PRIME) if v >= _LOWEST else v for v in range(256)
    )
    return source[:size].translate(shift)
