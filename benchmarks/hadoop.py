"""Positioned reads per second of Hadoop's streams from Python.

    python -m benchmarks.hadoop [rounds]

The stream is RawLocalFileSystem's over a file in the page cache. Contestants alternate within a
round; the tables have medians over the rounds, by wall clock: JPype, which runs Java in this
process; the kit's binding, which converts each call to an outcome; py4j, which communicates with
Spark's Java process; and Python without Java.
"""

from __future__ import annotations

import os
import platform
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from random import Random
from typing import Any

from fscontract.contract.program.program import Step
from fscontract.implementations.bindings.hadoop.binding import HadoopBinding
from fscontract.implementations.spark.session import local_session

SIZE = 8 << 20
PIECES = (16, 4096)
#: Reads per turn; py4j does fewer.
READS = 20_000
FEW = 500
_KEPT = 200

Turn = Callable[[int], object]


def positions(piece: int) -> list[int]:
    """Return the read positions."""
    chosen = Random(7)
    return [chosen.randrange(SIZE - piece) for _ in range(_KEPT)]


def plain(path: Path, stack: ExitStack) -> Callable[[int], Turn]:
    """Read with os.pread."""
    descriptor = os.open(path, os.O_RDONLY)
    stack.callback(os.close, descriptor)
    return lambda piece: lambda at: os.pread(descriptor, piece, at)


def direct(binding: HadoopBinding, path: str, stack: ExitStack) -> Callable[[int], Turn]:
    """Read with `FSDataInputStream.read(long, byte[], int, int)` through JPype, into one array."""
    import jpype

    stream = binding.open(path).stream
    stack.callback(stream.close)

    def of(piece: int) -> Turn:
        array, read = jpype.JArray(jpype.JByte)(piece), stream.read
        return lambda at: read(at, array, 0, piece)

    return of


def judged(binding: HadoopBinding, path: str, stack: ExitStack) -> Callable[[int], Turn]:
    """Read as a program step does: a new array, whose bytes are converted to Python."""
    opened = binding.open(path)
    stack.callback(binding.bind(Step("close")), opened)

    def of(piece: int) -> Turn:
        steps = {at: Step("pread", (at, piece, 0, piece)) for at in positions(piece)}
        actions = {at: binding.bind(step) for at, step in steps.items()}
        return lambda at: actions[at](opened)

    return of


def through_py4j(path: Path, stack: ExitStack) -> Callable[[int], Turn]:
    """Read through py4j, which sends a copy of the array and returns none."""
    context = stack.enter_context(local_session("local[1]")).sparkContext
    hadoop = context._jvm.org.apache.hadoop
    name = hadoop.fs.Path(str(path))
    local = hadoop.fs.FileSystem.getLocal(hadoop.conf.Configuration()).getRaw()
    stream = local.open(name)
    stack.callback(stream.close)

    def of(piece: int) -> Turn:
        array = bytearray(piece)
        return lambda at: stream.read(at, array, 0, piece)

    return of


def rate(turn: Turn, places: list[int], count: int) -> float:
    """Return the calls per second."""
    wanted = [places[n % len(places)] for n in range(count)]
    start = time.perf_counter()
    for at in wanted:
        turn(at)
    return count / (time.perf_counter() - start)


def rates(rounds: int) -> Iterator[tuple[str, int, float]]:
    """Yield contestant, bytes per read, and reads per second."""
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        data = Random(1).randbytes(SIZE)
        path = Path(folder, "data")
        path.write_bytes(data)
        made: Any = HadoopBinding.from_url(f"raw://{folder}", {})
        made.prepare()
        stack.callback(made.dispose)
        file = made.create(data)
        contestants = {
            "py4j": (through_py4j(path, stack), FEW),
            "JPype": (direct(made, file, stack), READS),
            "the kit, through JPype": (judged(made, file, stack), READS),
            "os.pread, without Java": (plain(path, stack), READS),
        }
        for piece in PIECES:
            places = positions(piece)
            turns = {name: (of(piece), count) for name, (of, count) in contestants.items()}
            found: dict[str, list[float]] = {name: [] for name in turns}
            for _ in range(rounds + 1):
                for name, (turn, count) in turns.items():
                    found[name].append(rate(turn, places, count))
            for name, each in found.items():
                yield name, piece, statistics.median(each[1:])  # skip the warm-up round


def main(rounds: int = 7) -> None:
    """Measure, and print a Markdown table."""
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores, ", end="")
    print(f"load {os.getloadavg()[0]:.1f}")
    print("| positioned reads a second | " + " | ".join(f"{p:,} bytes" for p in PIECES) + " |")
    print("|---|" + "---:|" * len(PIECES))
    found: dict[str, list[float]] = {}
    for name, _, number in rates(rounds):
        found.setdefault(name, []).append(number)
    for name, numbers in found.items():
        beside = (f"{n:,.0f} ({n / b:,.1f})" for n, b in zip(numbers, found["py4j"], strict=True))
        print(f"| {name} | " + " | ".join(beside) + " |")
    print(f"load {os.getloadavg()[0]:.1f} at the end")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
