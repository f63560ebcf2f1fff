"""Time and memory of each operation on a metadata table of many files, without data files.

    python -m benchmarks.listing.scale [--partitions N] [--files N] [--ranges]

Each step runs in its own process: create the table, list its partitions, one partition, and all
files, prune, and commit a file to each of ten partitions; then list one partition and all again.
With `--ranges` the table has statistics of a column, and `prune` uses them for all partitions.
Without, it looks at ten partitions.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.listing.dataset import TABLE, Shape, begin, change_of
from benchmarks.pipeline.measure import peak_memory, surroundings
from fscontract.implementations.local import LocalFileSystem
from fscontract.pipeline.hudi.changes import Change
from fscontract.pipeline.hudi.table import MetadataTable
from fscontract.pipeline.hudi.writer import MetadataWriter

_NEW = "ffffffff-0000-4000-8000-000000000000-0_0-1-0_20260102000000000.parquet"


def create(fs: LocalFileSystem, shape: Shape, ranges: bool) -> int:
    """Create the table; return its number of files."""
    change = change_of(shape, 100, ranges)
    begin(fs, TABLE)
    _start_clock()
    MetadataWriter(fs, TABLE).bootstrap(change, "trips")
    return shape.count


def partitions(fs: LocalFileSystem, shape: Shape, ranges: bool) -> int:
    """Return the number of partitions."""
    with MetadataTable(fs, TABLE) as table:
        return len(table.list_partitions())


def one(fs: LocalFileSystem, shape: Shape, ranges: bool) -> int:
    """Return the number of files in a partition."""
    with MetadataTable(fs, TABLE) as table:
        return len(table.list_files(f"day={shape.day}"))


def every(fs: LocalFileSystem, shape: Shape, ranges: bool) -> int:
    """Return the number of all files, one partition after the other."""
    with MetadataTable(fs, TABLE) as table:
        return sum(len(statuses) for _, statuses in table.list_all())


def prune(fs: LocalFileSystem, shape: Shape, ranges: bool) -> int:
    """Return the number of files that may have some ids."""
    days = None if ranges else [f"day={number:05}" for number in range(10)]
    with MetadataTable(fs, TABLE) as table:
        return len(table.prune(shape.filters, days))


def commit(fs: LocalFileSystem, shape: Shape, ranges: bool) -> int:
    """Commit a new file to each of ten partitions; return their number."""
    writer = MetadataWriter(fs, TABLE)
    change = Change({f"day={number:05}": {_NEW: 100} for number in range(10)})
    writer.finish(writer.begin(), change)
    return len(change.added)


_STEPS: dict[str, Callable[[LocalFileSystem, Shape, bool], int]] = {
    step.__name__: step for step in (create, partitions, one, every, prune, commit)
}
_start = time.perf_counter()


def _start_clock() -> None:
    """Exclude everything so far from the time of the step."""
    global _start  # noqa: PLW0603 - a process runs one step
    _start = time.perf_counter()


def main(arguments: list[str]) -> None:
    """Run all steps and print a table; or run one, in a separate process."""
    options = _options(arguments)
    shape = Shape(options.partitions, options.files)
    if options.step is not None:
        fs = LocalFileSystem(options.dir, durable=False)
        _start_clock()
        count = _STEPS[options.step](fs, shape, options.ranges)
        print(json.dumps([count, time.perf_counter() - _start, peak_memory()]))
        return
    print(surroundings("fastavro", "pyarrow"))
    print(f"{shape.partitions:,} partitions of {shape.files:,} files\n")
    print("| | result | s | peak MiB |\n|---|---:|---:|---:|", flush=True)
    with tempfile.TemporaryDirectory(dir=options.dir) as root:
        own = (sys.executable, "-m", "benchmarks.listing.scale", *arguments, "--dir", root)
        for step in (*_STEPS, "one", "every"):
            ran = subprocess.run([*own, "--step", step], stdout=subprocess.PIPE, check=True)
            count, seconds, memory = json.loads(ran.stdout)
            print(f"| {step} | {count:,} | {seconds:,.3f} | {memory:,.0f} |", flush=True)
        folder = Path(root, TABLE[1:], ".hoodie/metadata")
        size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    print(f"\ntable: {size / 1e6:,.1f} MB; load average at the end: {os.getloadavg()[0]:.1f}")


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measure a metadata table of many files.")
    parser.add_argument("--partitions", type=int, default=10_000)
    parser.add_argument("--files", type=int, default=100, help="files of each partition")
    parser.add_argument("--ranges", action="store_true", help="with statistics of a column")
    parser.add_argument("--dir", help="where to make the table (default: a temporary directory)")
    parser.add_argument("--step", choices=_STEPS, help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main(sys.argv[1:])
