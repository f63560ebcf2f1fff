"""Input files of the benchmarks."""

from __future__ import annotations

import random
from pathlib import Path

from benchmarks.pipeline.measure import MIB


def make_lines(path: Path, size: int) -> tuple[int, int]:
    """Write about `size` bytes in lines of 1 to 200 letters; return lines, and their bytes."""
    chance = random.Random(1)
    lines = [bytes(chance.choices(range(32, 127), k=chance.randint(1, 200))) for _ in range(10_000)]
    piece = b"".join(line + b"\n" for line in lines)
    times = max(1, size // len(piece))
    with path.open("wb") as file:
        for _ in range(times):
            file.write(piece)
    return times * len(lines), times * (len(piece) - len(lines))


def make_short_lines(path: Path, count: int) -> int:
    """Write `count` lines of 99 bytes."""
    piece = b"".join(b"%099d\n" % number for number in range(10_000))
    with path.open("wb") as file:
        for _ in range(count // 10_000):
            file.write(piece)
    return count // 10_000 * 10_000


def make_long_line(path: Path, size: int, longest: int) -> int:
    """Write `size` bytes of lines of 1 KiB, with one of `longest` bytes; return the lines."""
    short = b"s" * 1023 + b"\n"
    around = (size - longest) // 2 // MIB * MIB
    with path.open("wb") as file:
        for part in range(2):
            for _ in range(around // MIB):
                file.write(short * 1024)
            if part == 0:
                for _ in range(longest // MIB):
                    file.write(b"l" * MIB)
                file.write(b"\n")
    return 2 * around // 1024 + 1
