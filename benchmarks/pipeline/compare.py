"""Line reading: the data source on Spark compared with Spark's own, and with single processes.

    python -m benchmarks.pipeline.compare [--quick] [--size MIB] [--rounds N] [--only QUERY]
                                          [--dir DIRECTORY] [--json FILE]

All ways alternate in a changing order, after an untimed round; the file is in the page cache. Each
result is checked. The last table compares the data source on one core and on two, in separate
sessions.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.pipeline.files import make_lines
from benchmarks.pipeline.measure import MIB, Row, say, surroundings, table, time_in_turns
from benchmarks.pipeline.ways import NAME, QUERIES, plain_ways, spark_ways
from fscontract.implementations.spark.session import local_session
from fscontract.pipeline.spark_source.source import register

#: Java with the defaults of Spark users; the kit's sessions are tuned for a quick start.
_JAVA = "-XX:TieredStopAtLevel=4 -XX:-UseSerialGC -XX:+UseG1GC"
_SETTINGS = {"spark.driver.memory": "2g", "spark.driver.extraJavaOptions": _JAVA}


def main(arguments: list[str]) -> None:
    """Measure and print the tables."""
    options = _options(arguments)
    size = (options.size or (64 if options.quick else 1024)) * MIB
    rounds = options.rounds or (1 if options.quick else 7)
    rows_by_query: dict[str, list[Row]] = {}
    with tempfile.TemporaryDirectory(dir=options.dir) as folder:
        path = Path(folder, "lines.txt")
        lines, letters = make_lines(path, size)
        megabytes = path.stat().st_size / 1e6
        print(surroundings("pyspark", "pyarrow", "polars"))
        print(f"{megabytes:,.0f} MB, {lines:,} lines, {rounds} rounds\n", flush=True)
        with session("local[2]") as spark:
            for query in options.only or QUERIES:
                expected = lines if query == "count" else letters
                ways = {**spark_ways(spark, str(path), query), **plain_ways(str(path), query)}
                rows = rows_by_query[query] = time_in_turns(ways, expected, rounds)
                print(table(f"local[2], {QUERIES[query]}", rows, megabytes, "MB"), flush=True)
        rows_by_query["cores"] = _cores(str(path), letters, rounds)
        print(table("one core and two, string values", rows_by_query["cores"], megabytes, "MB"))
    print(f"load average at the end: {os.getloadavg()[0]:.1f}")
    if options.json:
        report = {query: [asdict(row) for row in rows] for query, rows in rows_by_query.items()}
        Path(options.json).write_text(json.dumps(report, indent=1))
    if any(row.failed for rows in rows_by_query.values() for row in rows):
        sys.exit("some ways failed, or returned a wrong number")


def _cores(path: str, expected: int, rounds: int) -> list[Row]:
    rows = []
    for cores in (1, 2):
        say(f"{cores} of 2 cores")
        with _only(cores), session(f"local[{cores}]") as spark:
            way = spark_ways(spark, path, "string")[NAME]
            rows += time_in_turns({f"local[{cores}]": way}, expected, rounds)
    return rows


@contextmanager
def _only(cores: int) -> Iterator[None]:
    """Limit everything started in this context to some cores.

    Without it, one task alone keeps two cores busy, Java's and Python's.
    """
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(before)[:cores])
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


@contextmanager
def session(master: str) -> Iterator[Any]:
    """Return a context with a session that has the data source, and Java as users start it."""
    with local_session(master, _SETTINGS) as spark:
        register(spark)
        yield spark


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Compare reading lines.")
    parser.add_argument("--quick", action="store_true", help="64 MiB, one round")
    parser.add_argument("--size", type=int, metavar="MIB", help="size of the file (default 1024)")
    parser.add_argument("--rounds", type=int, help="how often each is timed (default 7)")
    parser.add_argument("--only", action="append", choices=QUERIES, help="these only")
    parser.add_argument("--dir", help="where to make the file (default: a temporary directory)")
    parser.add_argument("--json", metavar="FILE", help="write all times, too")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main(sys.argv[1:])
