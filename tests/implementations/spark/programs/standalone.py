"""A cluster of two hosts, 127.0.0.1 and 127.0.0.2, with speculative execution."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from pyspark import TaskContext

from fscontract.contract.api.filesystem import FileRange
from fscontract.contract.api.iostatistics import STREAM_READ_TOTAL_BYTES
from fscontract.contract.distributed.driver import DistributedRun
from fscontract.contract.runner.run_options import RunOptions
from fscontract.contract.runner.settings import Settings, with_checks
from fscontract.contract.spec.clauses import select
from fscontract.contract.spec.profiles import load_profile
from fscontract.implementations.local import LocalFileSystem
from fscontract.implementations.spark.distributed_runs import spark
from fscontract.implementations.spark.filesystem import SparkFileSystem
from fscontract.implementations.spark.locations import LocalLocation
from fscontract.implementations.spark.session import cluster_session, make_home
from fscontract.implementations.targets import memory

DATA = bytes(range(251)) * 40_000
PIECE = 1 << 20
SETTINGS = """
spark.driver.bindAddress 127.0.0.1
spark.driver.host 127.0.0.1
spark.executor.memory 600m
spark.speculation true
spark.speculation.interval 100ms
spark.speculation.minTaskRuntime 100ms
spark.speculation.multiplier 1
spark.speculation.quantile 0.5
"""


@dataclass(frozen=True)
class SlowLocation(LocalLocation):
    """Files that the first copy of a job's first task never opens."""

    cached: ClassVar[bool] = False
    marker: str = ""

    def make(self) -> LocalFileSystem:
        """Return a new filesystem, or block forever."""
        context = TaskContext.get()
        if context is not None and context.partitionId() == 0:
            with open(self.marker, "a") as file:
                file.write(f"{context.attemptNumber()}\n")
            if context.attemptNumber() == 0:
                threading.Event().wait()
        return super().make()


@contextmanager
def daemon(home: dict[str, str], address: str, *command: str, until: str) -> Iterator[str]:
    """Run a daemon of the cluster; yield the line with which it reports to be ready."""
    start = [f"{home['SPARK_HOME']}/bin/spark-class", *command]
    environment = {
        **os.environ,
        **home,
        "SPARK_LOCAL_IP": address,
        "PYSPARK_PYTHON": sys.executable,
    }
    environment.pop("SPARK_LOCAL_HOSTNAME")
    with subprocess.Popen(
        start, env=environment, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
    ) as process:
        try:
            assert process.stderr is not None
            line = next(line for line in process.stderr if until in line)
            threading.Thread(target=process.stderr.read, daemon=True).start()
            yield line
        finally:
            process.terminate()


@contextmanager
def cluster(folder: Path) -> Iterator[str]:
    """Run a master and two workers; yield the master's address."""
    (folder / "home").mkdir()
    (folder / "conf").mkdir()
    (folder / "conf" / "spark-defaults.conf").write_text(SETTINGS)
    home = make_home(folder / "home")
    deploy, where = "org.apache.spark.deploy", ("--webui-port", "0", "--host")
    master = (f"{deploy}.master.Master", *where, "127.0.0.1", "--port", "0")
    worker = (f"{deploy}.worker.Worker", "--cores", "1", "--memory", "1g", *where)
    with daemon(home, "127.0.0.1", *master, until="Starting Spark master at") as line:
        url = line.split()[-1]
        ready = "Successfully registered with master"
        one = (*worker, "127.0.0.1", "--work-dir", str(folder / "1"), url)
        other = (*worker, "127.0.0.2", "--work-dir", str(folder / "2"), url)
        with (
            daemon(home, "127.0.0.1", *one, until=ready),
            daemon(home, "127.0.0.2", *other, until=ready),
        ):
            yield url


def speculated(folder: Path, master: str) -> dict[str, object]:
    """Run a vectored read of two tasks, one of whose first copies never ends."""
    marker = folder / "copies"
    with cluster_session(master) as session:
        fs = SparkFileSystem(session, SlowLocation(str(folder), marker=str(marker)))
        fs.tasks.warm_up()
        status = fs.get_file_status("/data")
        with fs.open_file("/data").with_file_status(status).build().result() as stream:
            ranges = [FileRange(n * PIECE, PIECE) for n in range(8)]
            stream.read_vectored(ranges)
            data = b"".join(bytes(r.data.result(120)) for r in ranges if r.data is not None)
            counted = stream.io_statistics()[STREAM_READ_TOTAL_BYTES]
        fs.close()
        held = _held(str(folder / "data"))
    copies = sorted(marker.read_text().split())
    right = data == DATA[: 8 * PIECE]
    return {"data": right, "counted": counted, "copies": copies, "held": held}


def _held(path: str) -> int:
    """Return the number of descriptors of the file that processes of this machine hold."""
    count = 0
    for place in Path("/proc").glob("[0-9]*/fd/*"):
        with suppress(OSError):
            count += os.readlink(place) == path
    return count


def conforms(master: str) -> bool:
    """Return True if a check by the executors of the cluster succeeds."""
    run = RunOptions(None, (), ("capabilities",), "all", "quick", None, 0, 10.0, {}, None, None)
    settings = Settings(load_profile("reference"), with_checks(select(run.clauses)))
    there = spark(master)
    try:
        return DistributedRun("memory", memory({}), run, settings, there).check().conforms
    finally:
        there.close()


def main(folder: str) -> None:
    """Read and check, and print the results."""
    place = Path(folder)
    (place / "data").write_bytes(DATA)
    with cluster(place) as master:
        os.environ["SPARK_CONF_DIR"] = str(place / "conf")
        print(json.dumps({**speculated(place, master), "conforms": conforms(master)}))


if __name__ == "__main__":
    main(*sys.argv[1:])
