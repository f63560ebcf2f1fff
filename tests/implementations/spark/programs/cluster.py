"""Reads over executors, and a distributed run, while workers or executors are killed."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import ClassVar

from pyspark import TaskContext
from pyspark.sql import SparkSession

from fscontract.contract.api.errors import FileNotFoundException
from fscontract.contract.api.filesystem import FileRange, FSDataInputStream
from fscontract.contract.api.iostatistics import STREAM_READ_TOTAL_BYTES
from fscontract.contract.distributed.driver import DistributedRun
from fscontract.contract.runner.run_options import RunOptions
from fscontract.contract.runner.runner import check
from fscontract.contract.runner.settings import Settings, with_checks
from fscontract.contract.spec.clauses import select
from fscontract.fakes.mutants.registry import mutant_named
from fscontract.implementations.local import LocalFileSystem
from fscontract.implementations.spark.distributed_runs import SparkBackend
from fscontract.implementations.spark.filesystem import SparkFileSystem
from fscontract.implementations.spark.locations import LocalLocation
from fscontract.implementations.spark.session import local_session

MUTANT = "getpos.value-PositionOfBuffer"
DATA = bytes(range(256)) * 4096


def attempt() -> int:
    """Return the number of earlier attempts of this task."""
    context = TaskContext.get()
    assert context is not None
    return int(context.attemptNumber())


def kill(whom: str) -> None:
    """Kill this worker, or its executor: the JVM above the workers' daemon."""
    victim = os.getpid()
    if whom == "executor":
        daemon = Path(f"/proc/{os.getppid()}/stat").read_text()
        victim = int(daemon.rpartition(")")[2].split()[1])
    os.kill(victim, signal.SIGKILL)


def dies_once(whom: str, stream: FSDataInputStream) -> bytes:
    """Read half of a shard and die in the first attempt; succeed in the next one."""
    data = bytearray(2000)
    stream.read_fully(stream.get_pos(), data)
    if attempt() == 0 and stream.get_pos() % 4000 == 0:
        kill(whom)
    stream.close()
    return bytes(data)


@dataclass(frozen=True)
class DyingLocation(LocalLocation):
    """Files that the first task never opens."""

    cached: ClassVar[bool] = False
    whom: str = ""

    def make(self) -> LocalFileSystem:
        """Return a new filesystem, unless this is the first attempt, which dies."""
        if TaskContext.get() is not None and not os.path.exists(f"{self.root}.read"):
            Path(f"{self.root}.read").touch()
            kill(self.whom)
        return super().make()


def fails_once(index: int, streams: Iterator[FSDataInputStream]) -> Iterator[bytes]:
    """Yield a result and fail in the first attempt; the next one yields it again."""
    for stream in streams:
        data = bytearray(2000)
        with stream:
            stream.read_fully(stream.get_pos(), data)
        yield bytes(data)
        if attempt() == 0 and index == 0:
            raise OSError("first attempt")


def held(path: str) -> int:
    """Return the number of descriptors of the file that processes of this machine hold."""
    count = 0
    for place in Path("/proc").glob("[0-9]*/fd/*"):
        try:
            count += os.readlink(place) == path
        except OSError:
            continue
    return count


def vectored(spark: SparkSession, folder: str, whom: str) -> bool:
    """Return True if a read with killed tasks is correct and counts each byte once."""
    fs = SparkFileSystem(spark, DyingLocation(folder, whom=whom))
    with fs.open_file("/a").with_file_status(fs.get_file_status("/a")).build().result() as opened:
        ranges = [FileRange(n * 10_000, 50) for n in range(100)]
        opened.read_vectored(ranges)
        found = [bytes(r.data.result(60)) for r in ranges if r.data is not None]
        counted = opened.io_statistics()[STREAM_READ_TOTAL_BYTES]
    fs.close()
    assert os.path.exists(f"{folder}.read")
    return found == [DATA[r.offset :][:50] for r in ranges] and counted == 5000


def spread(spark: SparkSession, master: str, marker: str, whom: str) -> bool:
    """Return True if a run with killed executors gives the verdicts of one process."""
    mutant = mutant_named(MUTANT)
    options = {"name": MUTANT, "marker": marker, "whom": whom}
    run = RunOptions(None, (), ("getpos",), "all", "quick", None, 0, 10.0, options, None, None)
    settings = Settings(mutant.profile(), with_checks(select(run.clauses)))
    target = f"{Path(__file__).with_name('targets.py')}:dying"
    there = SparkBackend(spark, master)
    parts = DistributedRun(target, mutant.binding(), run, settings, there).check()
    whole = check(mutant.binding(), settings)
    found = [(c.clause.id, c.outcome, c.counterexample) for c in whole.clauses]
    assert any(shown for _, _, shown in found)
    assert os.path.exists(marker)
    assert parts.warnings == whole.warnings
    return found == [(c.clause.id, c.outcome, c.counterexample) for c in parts.clauses]


def main(folder: str, master: str, whom: str) -> None:
    """Read in several ways, and print the results."""
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
        killed = context.parallelize(streams, 5).map(partial(dies_once, whom)).collect()
        failed = context.parallelize(streams, 2).mapPartitionsWithIndex(fails_once).collect()
        try:
            fs.open("/none")
            missing = ""
        except FileNotFoundException as error:
            missing = str(error)
        print(
            json.dumps(
                {
                    "spread": spread(spark, master, f"{folder}.spread", whom),
                    "killed": killed == want,
                    "failed": failed == want,
                    "vectored": vectored(spark, folder, whom),
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
