"""Point lookups in tables with increasing numbers of files."""

from __future__ import annotations

import statistics
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks.listing.dataset import TABLE, Shape, begin, change_of
from fscontract.implementations.local import LocalFileSystem
from fscontract.pipeline.hudi.table import MetadataTable
from fscontract.pipeline.hudi.writer import MetadataWriter


@dataclass(frozen=True)
class Size:
    """Cost of a lookup of one partition: seconds and positioned reads."""

    files: int
    megabytes: float
    #: Medians for a newly opened table, and for one kept open.
    opened: float
    kept: float
    opened_reads: float
    kept_reads: float
    #: Seconds to create the table.
    made: float


def measure(count: int, files: int, lookups: int) -> Size:
    """Create a table of `count` files, with `files` per partition, and look partitions up."""
    shape = Shape(count // files, files)
    with tempfile.TemporaryDirectory() as root:
        fs = LocalFileSystem(root, durable=False)
        begin(fs, TABLE)
        change = change_of(shape, 100, ranges=False)
        start = time.perf_counter()
        MetadataWriter(fs, TABLE).bootstrap(change, "trips")
        creation = time.perf_counter() - start
        days = [*change.added][:: max(1, shape.partitions // lookups)]
        folder = Path(root, TABLE[1:], ".hoodie/metadata/files")
        size = sum(entry.stat().st_size for entry in folder.iterdir())
        opened, opened_reads = _looked_up(fs, days, files, keep=False)
        kept, kept_reads = _looked_up(fs, days, files, keep=True)
    return Size(shape.count, size / 1e6, opened, kept, opened_reads, kept_reads, creation)


def _looked_up(
    fs: LocalFileSystem, days: list[str], files: int, *, keep: bool
) -> tuple[float, float]:
    """Return the median time in seconds, and the number of reads per lookup."""
    table = MetadataTable(fs, TABLE)
    table.list_files(days[0])
    times, before = [], _reads(fs)
    for day in days:
        start = time.perf_counter()
        if not keep:
            table = MetadataTable(fs, TABLE)
        statuses = table.list_files(day)
        times.append(time.perf_counter() - start)
        if not keep:
            table.close()
        if len(statuses) != files:
            raise AssertionError(f"{len(statuses)} files in {day}")
    return statistics.median(times), (_reads(fs) - before) / len(days)


def _reads(fs: LocalFileSystem) -> int:
    return int(fs.io_statistics().get("stream_read_operations", 0))
