"""Cost of a read through Spark tasks for a driver, compared with a read in its own process.

    python benchmarks/spark/reads.py [rounds]

Prints the median and the smallest time of a pread of 4 KiB, on a local file, in this process and
through local[2], and ranges per second of a vectored read of 1,000 ranges of 4 KiB.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from fscontract.contract.api.filesystem import FileRange, FSDataInputStream
from fscontract.implementations.local import LocalFileSystem
from fscontract.implementations.spark.filesystem import SparkFileSystem
from fscontract.implementations.spark.session import local_session

SIZE = 64 << 20
PIECE = 4096
RANGES = 1_000
WARM = 200


def timed(call: Callable[[int], object], rounds: int) -> tuple[float, float]:
    """Return the median and the smallest time of a call in seconds; it takes the round's number."""
    times = []
    for number in range(rounds):
        start = time.perf_counter()
        call(number)
        times.append(time.perf_counter() - start)
    return statistics.median(times), min(times)


def pread(stream: FSDataInputStream) -> Callable[[int], object]:
    """Return a positioned read at a different position each time, never in the read-ahead."""
    buffer = bytearray(PIECE)
    return lambda number: stream.pread(SIZE // 2 + number * PIECE, buffer)


def vectored(stream: FSDataInputStream) -> Callable[[int], object]:
    """Return a vectored read of distant ranges."""

    def read(_: int) -> None:
        ranges = [FileRange(n * (SIZE // RANGES), PIECE) for n in range(RANGES)]
        stream.read_vectored(ranges)
        for item in ranges:
            assert item.data is not None
            assert len(item.data.result()) == PIECE

    return read


class Cost(NamedTuple):
    """Cost of one stream's reads in seconds: the median and the minimum of some rounds."""

    pread: tuple[float, float]
    vectored: tuple[float, float]


def cost(stream: FSDataInputStream, rounds: int) -> Cost:
    """Return the cost of a stream's reads."""
    return Cost(timed(pread(stream), rounds), timed(vectored(stream), max(5, rounds // 20)))


def costs(rounds: int) -> tuple[Cost, Cost]:
    """Return the costs of a local stream, and of one that reads through local[2]."""
    with tempfile.TemporaryDirectory() as folder, local_session("local[2]") as session:
        Path(folder, "data").write_bytes(os.urandom(SIZE))
        with LocalFileSystem(folder).open("/data") as stream:
            here = cost(stream, rounds)
        filesystem = SparkFileSystem(session, Path(folder).as_uri())
        with filesystem.open("/data") as stream:
            timed(pread(stream), WARM)
            there = cost(stream, rounds)
        filesystem.close()
    return here, there


def table(here: Cost, there: Cost) -> Iterator[str]:
    """Return both as a Markdown table."""

    def shown(time: tuple[float, float], digits: int) -> str:
        return f"{time[0] * 1e3:,.{digits}f} ms ({time[1] * 1e3:,.{digits}f} ms)"

    def rate(time: tuple[float, float]) -> str:
        return f"{RANGES / time[0]:,.0f}"

    read, ranges = "a positioned read of 4 KiB", f"a vectored read of {RANGES:,} ranges of 4 KiB"
    yield f"| {SIZE >> 20} MiB, in the page cache | this process | local[2] |"
    yield "|---|---|---|"
    yield f"| {read}: median (least) | {shown(here.pread, 3)} | {shown(there.pread, 0)} |"
    yield f"| {ranges}: median (least) | {shown(here.vectored, 0)} | {shown(there.vectored, 0)} |"
    yield f"| ranges a second, by the median | {rate(here.vectored)} | {rate(there.vectored)} |"


def main(rounds: int = 200) -> None:
    """Measure and print."""
    for line in table(*costs(rounds)):
        print(line)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
