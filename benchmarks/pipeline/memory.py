"""Memory for reading a file of one huge line, and one of very many lines.

    python -m benchmarks.pipeline.memory [--quick] [--dir DIRECTORY]

Each way reads in a separate process, with blocks of 64 MiB. The tables show the peak resident
memory, and the memory of Python and its modules before reading. For Spark, they show that of the
largest Python worker, and of Java with a heap of 3 GiB.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.pipeline.files import make_long_line, make_short_lines
from benchmarks.pipeline.measure import MIB, peak_memory, peaks_below
from fscontract.implementations.local import LocalFileSystem
from fscontract.pipeline.blockreader.readers import (
    FSReadAheadLineReader,
    as_bytes,
    blocks_of,
    records_of,
)

BLOCK = 64 * MIB


def batches(path: str) -> Iterator[int]:
    """Yield lengths of records, from batches."""
    fs = LocalFileSystem()
    with FSReadAheadLineReader(fs, as_bytes) as reader:
        for block in blocks_of(fs.get_file_status(path), BLOCK):
            for batch in reader.process_batches(block):
                yield from map(len, batch.records)


def records(path: str) -> Iterator[int]:
    """Yield lengths of records, one at a time."""
    return (len(r.record) for r in records_of(LocalFileSystem(), path, BLOCK))


def python(path: str) -> Iterator[int]:
    """Yield lengths of the lines of a Python file."""
    with open(path, "rb") as file:
        yield from (len(line) - line.endswith(b"\n") for line in file)


SPARK = "data source, local[2]"
WAYS: dict[str, Callable[[str], Iterator[int]]] = {
    "process_batches": batches,
    "process_block": records,
    "for line in file": python,
}


def main(arguments: list[str]) -> None:
    """Create the files, and read each in every way."""
    parser = argparse.ArgumentParser(description="Measure the memory of readers.")
    parser.add_argument("--quick", action="store_true", help="files of a sixteenth")
    parser.add_argument("--dir", help="where to make the files (default: a temporary directory)")
    parser.add_argument("--way", choices=[*WAYS, SPARK], help=argparse.SUPPRESS)
    parser.add_argument("--file", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.way:
        _measure(options.way, options.file)
        return
    part = 16 if options.quick else 1
    with tempfile.TemporaryDirectory(dir=options.dir) as folder:
        long, short = Path(folder, "long"), Path(folder, "short")
        titles = {
            long: f"{1024 // part} MiB with one line of {300 * MIB // part / MIB:g} MiB",
            short: f"{make_short_lines(short, 10_000_000 // part):,} lines of 99 bytes",
        }
        make_long_line(long, 1024 * MIB // part, 300 * MIB // part)
        print(f"load average {os.getloadavg()[0]:.1f}\n")
        print("| file | way | records | longest | seconds | peak memory, MiB | before, MiB |")
        print("|---|---|---|---|---|---|---|")
        for path, title in titles.items():
            for way in (*WAYS, SPARK):
                print(f"| {title} ", end="", flush=True)
                command = [sys.executable, "-m", __spec__.name, "--way", way, "--file", str(path)]
                subprocess.run(command, check=True)


def _measure(way: str, path: str) -> None:
    if way == SPARK:
        _measure_spark(path)
        return
    before, start, count, longest = peak_memory(), time.perf_counter(), 0, 0
    for length in WAYS[way](path):
        count += 1
        longest = max(longest, length)
    seconds = time.perf_counter() - start
    print(
        f"| {way} | {count:,} | {longest:,} | {seconds:.2f} | {peak_memory():.0f} | {before:.0f} |"
    )


def _measure_spark(path: str) -> None:
    """Measure Spark, which returns every value; the peaks are those of its processes."""
    from pyspark.sql import functions as f

    from fscontract.implementations.spark.session import local_session
    from fscontract.pipeline.spark_source.source import register

    with local_session("local[2]", {"spark.driver.memory": "3g"}) as spark:
        register(spark)
        start = time.perf_counter()
        frame = spark.read.format("fscontract").option("columns", "value")
        frame = frame.option("blockSize", str(BLOCK)).option("valueType", "binary").load(path)
        row = frame.select(f.count("*"), f.expr("max(octet_length(value))")).first()
        seconds, peaks = time.perf_counter() - start, peaks_below()
    row_text = f"{row[0]:,} | {row[1]:,} | {seconds:.2f}"
    peaks_text = ", ".join(
        f"{peak:.0f} ({name})" for name, peak in sorted(peaks.items()) if peak > 10
    )
    print(f"| {SPARK} | {row_text} | {peaks_text} | - |")


if __name__ == "__main__":
    main(sys.argv[1:])
