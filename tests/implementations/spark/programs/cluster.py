"""Streams over executors in processes of their own, some of which die."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

from pyspark import TaskContext
from pyspark.sql import SparkSession

from fscontract.contract.clauses import select
from fscontract.contract.errors import FileNotFoundException
from fscontract.contract.ports import FileRange, FSDataInputStream
from fscontract.contract.suite.commands.common import RunOptions
from fscontract.contract.suite.runner import check
from fscontract.contract.suite.settings import Settings, with_checks
from fscontract.contract.suite.spread.driver import SpreadRun
from fscontract.fakes.mutants import registry
from fscontract.implementations.spark.filesystem import SparkFileSystem
from fscontract.implementations.spark.session import local_session
from fscontract.implementations.spark.spreading import SparkSpreading

MUTANT = "getpos.value-PositionOfBuffer"
DATA = bytes(range(256)) * 4096


def attempt() -> int:
    """How often this task was tried before."""
    context = TaskContext.get()
    assert context is not None
    return int(context.attemptNumber())


def dies_once(stream: FSDataInputStream) -> bytes:
    """A task that reads half of its part, and then its worker is killed; the next one goes on."""
    data = bytearray(2000)
    stream.read_fully(stream.get_pos(), data)
    if attempt() == 0 and stream.get_pos() % 4000 == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    stream.close()
    return bytes(data)


def fails_once(index: int, streams: Iterator[FSDataInputStream]) -> Iterator[bytes]:
    """A task that gives a part, and then fails; the next one gives it again."""
    for stream in streams:
        data = bytearray(2000)
        with stream:
            stream.read_fully(stream.get_pos(), data)
        yield bytes(data)
        if attempt() == 0 and index == 0:
            raise OSError("this time")


def held(path: str) -> int:
    """How many descriptors of the file processes of this machine hold."""
    count = 0
    for place in Path("/proc").glob("[0-9]*/fd/*"):
        try:
            count += os.readlink(place) == path
        except OSError:
            continue
    return count


def spread(spark: SparkSession, master: str) -> bool:
    """Whether executors come to the verdicts of one process on a mutant of one clause."""
    (mutant,) = (m for m in registry.mutants() if str(m) == MUTANT)
    options = {"name": MUTANT}
    run = RunOptions(None, (), ("getpos",), "all", "quick", None, 0, 10.0, options, None, None)
    settings = Settings(registry.profile(mutant), with_checks(select(run.clauses)))
    target = f"{Path(__file__).with_name('targets.py')}:mutant"
    there = SparkSpreading(spark, master)
    parts = SpreadRun(target, registry.binding(mutant), run, settings, there).check()
    whole = check(registry.binding(mutant), settings)
    found = [(c.clause.id, c.outcome, c.counterexample) for c in whole.clauses]
    assert any(shown for _, _, shown in found)
    return found == [(c.clause.id, c.outcome, c.counterexample) for c in parts.clauses]


def main(folder: str, master: str) -> None:
    """Read in several ways, and print what came of it."""
    with local_session(master) as spark:
        fs = SparkFileSystem(spark, Path(folder).as_uri())
        with fs.create("/a") as file:
            file.write(DATA)
        context = spark.sparkContext
        streams = []
        for number in range(10):
            streams.append(fs.open("/a"))
            streams[-1].seek(number * 2000)
        want = [DATA[n * 2000 : n * 2000 + 2000] for n in range(10)]
        killed = context.parallelize(streams, 5).map(dies_once).collect()
        failed = context.parallelize(streams, 2).mapPartitionsWithIndex(fails_once).collect()
        opened = fs.open("/a")
        ranges = [FileRange(n * 10_000, 50) for n in range(100)]
        opened.read_vectored(ranges)
        vectored = [bytes(r.data.result(60)) for r in ranges if r.data is not None]
        try:
            fs.open("/none")
            missing = ""
        except FileNotFoundException as error:
            missing = str(error)
        print(
            json.dumps(
                {
                    "spread": spread(spark, master),
                    "killed": killed == want,
                    "failed": failed == want,
                    "vectored": vectored == [DATA[r.offset :][:50] for r in ranges],
                    "missing": missing,
                    "driver": os.getpid() in fs.tasks.map(lambda _: os.getpid(), range(4)),
                    "held": held(str(Path(folder, "a"))),
                    "temporary": sorted(os.listdir(folder)),
                }
            )
        )
        fs.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
