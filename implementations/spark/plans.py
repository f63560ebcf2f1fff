"""How reads become tasks: how far ahead is read, how ranges are cut, and who reads which."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

KIB, MIB = 1 << 10, 1 << 20
#: The most that one task reads of one range: its answer goes through the driver's memory.
PIECE = 8 * MIB
#: The most that one job reads.
JOB = 64 * MIB
#: Fewer bytes than this are not worth another task.
_WORTH_A_TASK = MIB


@dataclass(frozen=True)
class Ahead:
    """How much a stream read brings at least: `first`, and `growth` times more up to `most`."""

    first: int
    growth: int
    most: int


#: By the advice of the read policy. A job takes as long as a megabyte, so bytes are cheap.
AHEAD = {
    "normal": Ahead(256 * KIB, 4, 4 * MIB),
    "sequential": Ahead(4 * MIB, 2, 16 * MIB),
    "random": Ahead(64 * KIB, 1, 64 * KIB),
}


class Piece(NamedTuple):
    """A part of the range of this number."""

    number: int
    offset: int
    length: int


def pieces(ranges: Iterable[tuple[int, int, int]], most: int = PIECE) -> Iterator[Piece]:
    """Ranges, as number, offset and length, in pieces of at most so many bytes."""
    for number, offset, length in ranges:
        for start in range(offset, offset + length, most):
            yield Piece(number, start, min(most, offset + length - start))


def rounds(cut: Iterable[Piece], most: int = JOB) -> Iterator[list[Piece]]:
    """Pieces for one job after the other, each of at most so many bytes."""
    now: list[Piece] = []
    size = 0
    for piece in cut:
        if now and size + piece.length > most:
            yield now
            now, size = [], 0
        now.append(piece)
        size += piece.length
    if now:
        yield now


def tasks_for(cut: list[Piece], parallelism: int) -> list[list[Piece]]:
    """Pieces by task: neighbours together, about the same number of bytes for each."""
    ordered = sorted(cut, key=lambda piece: piece.offset)
    total = sum(piece.length for piece in ordered)
    count = max(1, min(parallelism, len(ordered), max(total // _WORTH_A_TASK, len(ordered) // 64)))
    groups: list[list[Piece]] = [[] for _ in range(count)]
    done = 0
    for piece in ordered:
        groups[min(count - 1, done * count // max(1, total))].append(piece)
        done += piece.length
    return [group for group in groups if group]
