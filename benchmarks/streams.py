"""Reference streams compared with Python and its libraries.

    python benchmarks/streams.py [--quick] [--size MIB]

Every number is a ratio of times in this run: 1.00 is as fast as the baseline, 0.50 takes twice as
long. Contestants alternate within a round, and the median over the rounds is printed, so a busy
machine affects all of them equally. The file is read from the page cache.
"""

from __future__ import annotations

import argparse
import io
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import fsspec

from fscontract.implementations.local import LocalFileSystem
from fscontract.implementations.memory import MemoryInputStream

try:
    import pyarrow as pa
except ImportError:
    pa = None

MIB = 1 << 20
Run = Callable[[], object]


def main(arguments: list[str]) -> None:
    """Measure and print the tables."""
    parser = argparse.ArgumentParser(description="Compare the reference streams with others.")
    parser.add_argument("--quick", action="store_true", help="fewer rounds and a 64 MiB file")
    parser.add_argument("--size", type=int, metavar="MIB", help="size of the file (default 1024)")
    parser.add_argument("--dir", help="where to make the file (default: a temporary directory)")
    options = parser.parse_args(arguments)
    size = (options.size or (64 if options.quick else 1024)) * MIB
    rounds = 5 if options.quick else 15
    with tempfile.TemporaryDirectory(dir=options.dir) as directory, ExitStack() as stack:
        path = Path(directory, "data")
        _make(path, size)
        for title, contestants in _tables(str(path), size, stack):
            _print(title, contestants, rounds)


def _make(path: Path, size: int) -> None:
    block = random.Random(1).randbytes(MIB)
    with path.open("wb") as file:
        for _ in range(size // MIB):
            file.write(block)


def _tables(path: str, size: int, stack: ExitStack) -> Iterator[tuple[str, dict[str, Run]]]:
    for chunk in (MIB, 64 << 10):
        yield f"sequential, {chunk >> 10} KiB", _sequential(path, chunk, stack)
    yield "random preads, 4 KiB", _random(path, size, stack)
    yield "one byte at a time, local", _bytes_local(path, stack)
    yield "memory: 4 KiB at a position", _memory_pread(stack)
    yield "memory: one byte at a time", _memory_bytes()
    yield "memory: sequential, 64 KiB", _memory_sequential()


def _sequential(path: str, chunk: int, stack: ExitStack) -> dict[str, Run]:
    buffer = bytearray(chunk)
    descriptor = os.open(path, os.O_RDONLY)
    stack.callback(os.close, descriptor)
    raw = _opened(path, stack, buffering=0)
    buffered = _opened(path, stack)
    other = stack.enter_context(fsspec.filesystem("file").open(path, "rb"))
    stream = stack.enter_context(LocalFileSystem().open(path))
    portable = stack.enter_context(LocalFileSystem(strategy="portable").open(path))

    def preadv() -> None:
        position = 0
        while count := os.preadv(descriptor, (buffer,), position):
            position += count

    runs: dict[str, Run] = {
        "os.preadv": preadv,
        "LocalInputStream": lambda: _drain(stream.seek, stream.read_into, buffer),
        "LocalInputStream, portable": lambda: _drain(portable.seek, portable.read_into, buffer),
        "FileIO.readinto": lambda: _drain(raw.seek, raw.readinto, buffer),
        "open() buffered": lambda: _drain(buffered.seek, buffered.readinto, buffer),
        "fsspec local file": lambda: _drain(other.seek, other.readinto, buffer),
    }
    if pa is not None:
        arrow = stack.enter_context(pa.OSFile(path, "rb"))
        runs["pyarrow OSFile"] = lambda: _drain(arrow.seek, arrow.readinto, buffer)
    return runs


def _opened(path: str, stack: ExitStack, buffering: int = -1) -> Any:
    return stack.enter_context(open(path, "rb", buffering))


def _drain(
    seek: Callable[[int], object], read: Callable[[bytearray], int], buffer: bytearray
) -> None:
    seek(0)
    while read(buffer) > 0:
        pass


def _random(path: str, size: int, stack: ExitStack) -> dict[str, Run]:
    chance = random.Random(2)
    positions = [chance.randrange(size - 4096) for _ in range(20_000)]
    buffer = bytearray(4096)
    descriptor = os.open(path, os.O_RDONLY)
    stack.callback(os.close, descriptor)
    buffered = _opened(path, stack)
    other = stack.enter_context(fsspec.filesystem("file").open(path, "rb"))
    stream = stack.enter_context(LocalFileSystem().open_file(path).build().result())

    def preadv() -> None:
        for position in positions:
            os.preadv(descriptor, (buffer,), position)

    def pread() -> None:
        for position in positions:
            stream.pread(position, buffer, 0, 4096)

    runs: dict[str, Run] = {
        "os.preadv": preadv,
        "LocalInputStream.pread": pread,
        "open() buffered": lambda: _jump(buffered, positions, buffer),
        "fsspec local file": lambda: _jump(other, positions, buffer),
    }
    if pa is not None:
        arrow = stack.enter_context(pa.OSFile(path, "rb"))
        runs["pyarrow OSFile.read_at"] = lambda: [arrow.read_at(4096, p) for p in positions]
    return runs


def _jump(file: io.BufferedIOBase, positions: list[int], buffer: bytearray) -> None:
    for position in positions:
        file.seek(position)
        file.readinto(buffer)


def _bytes_local(path: str, stack: ExitStack) -> dict[str, Run]:
    raw = _opened(path, stack, buffering=0)
    buffered = _opened(path, stack)
    stream = stack.enter_context(LocalFileSystem().open(path))
    return {
        "FileIO.read(1)": lambda: _single(raw.seek, lambda: raw.read(1)),
        "LocalInputStream.read_byte": lambda: _single(stream.seek, stream.read_byte),
        "open().read(1)": lambda: _single(buffered.seek, lambda: buffered.read(1)),
    }


def _single(seek: Callable[[int], object], read: Run) -> None:
    seek(0)
    for _ in range(50_000):
        read()


def _memory_pread(stack: ExitStack) -> dict[str, Run]:
    data = random.Random(3).randbytes(16 * MIB)
    chance = random.Random(4)
    positions = [chance.randrange(len(data) - 4096) for _ in range(50_000)]
    target = memoryview(bytearray(4096))
    source, stream, file = memoryview(data), MemoryInputStream(data), io.BytesIO(data)

    def sliced() -> None:
        for position in positions:
            target[0:4096] = source[position : position + 4096]

    def pread() -> None:
        for position in positions:
            stream.pread(position, target, 0, 4096)

    def read_into() -> None:
        for position in positions:
            stream.seek(position)
            stream.read_into(target, 0, 4096)

    def from_file() -> None:
        for position in positions:
            file.seek(position)
            file.readinto(target)

    runs: dict[str, Run] = {
        "memoryview slice": sliced,
        "MemoryInputStream.pread": pread,
        "MemoryInputStream seek + read_into": read_into,
        "io.BytesIO seek + readinto": from_file,
    }
    if pa is not None:
        arrow = stack.enter_context(pa.BufferReader(data))
        runs["pyarrow BufferReader.read_at"] = lambda: [arrow.read_at(4096, p) for p in positions]
    return runs


def _memory_bytes() -> dict[str, Run]:
    data = random.Random(5).randbytes(MIB)
    stream, file = MemoryInputStream(data), io.BytesIO(data)
    return {
        "io.BytesIO.read(1)": lambda: _single(file.seek, lambda: file.read(1)),
        "MemoryInputStream.read_byte": lambda: _single(stream.seek, stream.read_byte),
    }


def _memory_sequential() -> dict[str, Run]:
    data = random.Random(6).randbytes(64 * MIB)
    buffer = bytearray(64 << 10)
    stream, file = MemoryInputStream(data), io.BytesIO(data)
    return {
        "io.BytesIO.readinto": lambda: _drain(file.seek, file.readinto, buffer),
        "MemoryInputStream.read_into": lambda: _drain(stream.seek, stream.read_into, buffer),
    }


def _print(title: str, contestants: dict[str, Run], rounds: int) -> None:
    """Print each contestant relative to the first."""
    times: dict[str, list[float]] = {name: [] for name in contestants}
    for number in range(rounds + 1):
        order = list(contestants.items())
        for name, run in order if number % 2 else reversed(order):
            begin = time.perf_counter()
            run()
            if number:  # round 0 is a warm-up
                times[name].append(time.perf_counter() - begin)
    first, *_ = contestants
    print(f"\n{title} (median of {rounds} rounds)")
    for name, taken in times.items():
        ratio = statistics.median(a / b for a, b in zip(times[first], taken, strict=True))
        print(f"  {name:36} {ratio:6.2f}  {statistics.median(taken) * 1e3:10.2f} ms")


if __name__ == "__main__":
    main(sys.argv[1:])
