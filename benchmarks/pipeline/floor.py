"""Lower bound of the data source on Spark: the same rows, without reading or splitting anything.

    python -m benchmarks.pipeline.floor [--size MIB] [--rounds N] [--only QUERY]

A data source sends Arrow batches that each task makes once, from the first lines of the file, and
repeats. This costs what PySpark needs to bring rows from Python to Java, and Java's part of the
query. No Python data source can be faster. The query over a file of one line shows the cost of
planning.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from itertools import chain, islice, pairwise, repeat
from pathlib import Path
from typing import Any

from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

from benchmarks.pipeline.compare import session
from benchmarks.pipeline.files import make_lines
from benchmarks.pipeline.measure import MIB, Run, surroundings, table, time_in_turns
from benchmarks.pipeline.ways import NAME, QUERIES, spark_ways

#: Tasks of a query, as many as the data source has for a file of 1 GiB.
_TASKS = 8
#: Bytes of lines in a batch: what the data source reads at once.
_BATCH = 512 * 1024
_PREPARED = "prepared"


class PreparedSource(DataSource):  # type: ignore[misc]
    """Rows of the lines in option `path`, `times` times, from Arrow batches made in advance."""

    @classmethod
    def name(cls) -> str:
        """Return the format name."""
        return _PREPARED

    def schema(self) -> str:
        """Return the column of the query."""
        return _column(self.options["query"])

    def reader(self, schema: Any) -> PreparedReader:
        """Return the reader of a batch."""
        return PreparedReader(self.options)


class PreparedReader(DataSourceReader):  # type: ignore[misc]
    """Reader of PreparedSource."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self._path, self._query = options["path"], options["query"]
        self._times = int(options["times"])

    def partitions(self) -> list[InputPartition]:
        """Return partitions that repeat the lines about equally often."""
        edges = [self._times * task // _TASKS for task in range(_TASKS + 1)]
        return [InputPartition(b - a) for a, b in pairwise(edges)]

    def read(self, partition: InputPartition) -> Iterator[Any]:
        """Yield the batches, as often as the partition says."""
        batches = list(_batches(Path(self._path).read_bytes(), self._query))
        return chain.from_iterable(repeat(batches, partition.value))


def _column(query: str) -> str:
    kinds = {"string": "value string", "binary": "value binary", "count": "block_id bigint"}
    return kinds[query]


def _batches(data: bytes, query: str) -> Iterator[Any]:
    """Yield batches of the lines in `data`, of about `_BATCH` bytes each."""
    import pyarrow as pa

    kinds = {"string": pa.string(), "binary": pa.binary(), "count": pa.int64()}
    lines = iter(data.split(b"\n")[:-1])
    mean = max(1, len(data) // max(1, data.count(b"\n")))
    while part := list(islice(lines, max(1, _BATCH // mean))):
        values = pa.repeat(pa.scalar(0), len(part)) if query == "count" else pa.array(part)
        name = _column(query).split()[0]
        yield pa.RecordBatch.from_arrays([values.cast(kinds[query])], [name])


def main(arguments: list[str]) -> None:
    """Measure and print a table for each query."""
    options = _options(arguments)
    failed = False
    with tempfile.TemporaryDirectory(dir=options.dir) as folder, session("local[2]") as spark:
        path, piece, line = (Path(folder, name) for name in ("lines", "piece", "line"))
        lines, letters = make_lines(path, options.size * MIB)
        few, _ = make_lines(piece, 1)
        line.write_text("a\n")
        spark.dataSource.register(PreparedSource)
        megabytes = path.stat().st_size / 1e6
        print(surroundings("pyspark", "pyarrow"))
        print(f"{megabytes:,.0f} MB, {lines:,} lines, {options.rounds} rounds\n", flush=True)
        for query in options.only or QUERIES:
            expected = lines if query == "count" else letters
            ways = _ways(spark, query, path, piece, lines // few)
            rows = time_in_turns(ways, expected, options.rounds)
            start = {f"{NAME}, one line": _ours(spark, query, line)}
            rows += time_in_turns(start, 1, options.rounds)
            print(table(f"local[2], {QUERIES[query]}", rows, megabytes, "MB"), flush=True)
            failed |= any(row.failed for row in rows)
    print(f"load average at the end: {os.getloadavg()[0]:.1f}")
    if failed:
        sys.exit("some ways failed, or returned a wrong number")


def _ways(spark: Any, query: str, path: Path, piece: Path, times: int) -> dict[str, Run]:
    """Return the data source, Spark's own, and the prepared batches."""
    frame = spark.read.format(_PREPARED).options(query=query, path=str(piece), times=str(times))
    return {
        NAME: _ours(spark, query, path),
        "spark.read.text": spark_ways(spark, str(path), query)["spark.read.text"],
        "the same batches, prepared": lambda: _result(frame.load(), query),
    }


def _ours(spark: Any, query: str, path: Path) -> Run:
    name = f"{NAME}, block_id" if query == "count" else NAME
    return spark_ways(spark, str(path), query)[name]


def _result(frame: Any, query: str) -> int:
    from pyspark.sql import functions as f

    if query == "count":
        return int(frame.count())
    length = "length" if query == "string" else "octet_length"
    return int(frame.select(f.sum(f.expr(f"{length}(value)"))).first()[0])


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measure the lower bound of a data source.")
    parser.add_argument("--size", type=int, default=1024, metavar="MIB", help="size of the file")
    parser.add_argument("--rounds", type=int, default=3, help="how often each is timed")
    parser.add_argument("--only", action="append", choices=QUERIES, help="these only")
    parser.add_argument("--dir", help="where to make the files (default: a temporary directory)")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main(sys.argv[1:])
