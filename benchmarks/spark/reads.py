"""What a read through Spark's tasks costs a driver, beside one of its own process.

python benchmarks/spark/reads.py [rounds]

Prints the median and the smallest time of a pread of 4 KiB, on a local file, in this process and
through local[2], and ranges per second of a vectored read of 1,000 ranges of 4 KiB.
"""

from __future__ import annotations

import os
import platform
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pyspark

from fscontract.contract.ports import FileRange, FSDataInputStream
from fscontract.implementations.local import LocalFileSystem
from fscontract.implementations.spark.filesystem import SparkFileSystem
from fscontract.implementations.spark.session import local_session

SIZE = 64 << 20
PIECE = 4096
RANGES = 1_000
WARM = 200


def timed(call: Callable[[int], object], rounds: int) -> tuple[float, float]:
    """The median and the smallest time of a call in seconds; it is given the round's number."""
    times = []
    for number in range(rounds):
        start = time.perf_counter()
        call(number)
        times.append(time.perf_counter() - start)
    return statistics.median(times), min(times)


def pread(stream: FSDataInputStream) -> Callable[[int], object]:
    """A positioned read somewhere else each time, and never in what was read ahead."""
    buffer = bytearray(PIECE)
    return lambda number: stream.pread(SIZE // 2 + number * PIECE, buffer)


def vectored(stream: FSDataInputStream) -> Callable[[int], object]:
    """A vectored read of ranges that lie far apart."""

    def read(_: int) -> None:
        ranges = [FileRange(n * (SIZE // RANGES), PIECE) for n in range(RANGES)]
        stream.read_vectored(ranges)
        for item in ranges:
            assert item.data is not None
            assert len(item.data.result()) == PIECE

    return read


def show(name: str, stream: FSDataInputStream, rounds: int) -> None:
    """Print what reads of a stream cost."""
    middle, least = timed(pread(stream), rounds)
    print(f"{name:8} pread of 4 KiB: median {middle * 1e3:8.3f} ms, least {least * 1e3:8.3f} ms")
    middle, least = timed(vectored(stream), max(5, rounds // 20))
    print(
        f"{name:8} 1,000 ranges:   median {middle * 1e3:8.1f} ms, least {least * 1e3:8.1f} ms, "
        f"{RANGES / middle:,.0f} ranges a second"
    )


def main(rounds: int = 200) -> None:
    """Measure and print."""
    print(f"Python {platform.python_version()}, PySpark {pyspark.__version__}, ", end="")
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory() as folder, local_session("local[2]") as session:
        Path(folder, "data").write_bytes(os.urandom(SIZE))
        with LocalFileSystem(folder).open("/data") as stream:
            show("local", stream, rounds)
        filesystem = SparkFileSystem(session, Path(folder).as_uri())
        with filesystem.open("/data") as stream:
            timed(pread(stream), WARM)
            show("local[2]", stream, rounds)
        filesystem.close()
    print(f"load {os.getloadavg()[0]:.1f} at the end")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
