"""Reads of a driver with a Spark Connect session."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from fscontract.contract.api.errors import FileNotFoundException
from fscontract.contract.api.filesystem import FileRange
from fscontract.contract.distributed.driver import DistributedRun
from fscontract.contract.runner.run_options import RunOptions
from fscontract.contract.runner.settings import Settings, with_checks
from fscontract.contract.spec.clauses import select
from fscontract.contract.spec.profiles import load_profile
from fscontract.implementations.spark.distributed_runs import SparkBackend
from fscontract.implementations.spark.filesystem import SparkFileSystem
from fscontract.implementations.spark.session import connect_session
from fscontract.implementations.targets import memory

RUN = RunOptions(None, (), ("capabilities",), "all", "quick", None, 0, 10.0, {}, None, None)
DATA = bytes(range(256)) * 4096


def main(folder: str) -> None:
    """Read, and print the results."""
    found: dict[str, Any] = {}
    with connect_session() as spark:
        found["session"] = type(spark).__module__
        for inner in (Path(folder).as_uri(), "memory:"):
            fs = SparkFileSystem(spark, inner)
            with fs.create("/a") as file:
                file.write(DATA)
            with fs.open("/a") as stream:
                whole = stream.as_file().read() == DATA
                ranges = [FileRange(n * 1000, 10) for n in range(1000)]
                stream.read_vectored(ranges)
                parts = [bytes(r.data.result(60)) for r in ranges if r.data is not None]
            try:
                fs.open("/none")
            except FileNotFoundException as error:
                missing = error.path
            right = parts == [DATA[r.offset :][:10] for r in ranges]
            found[inner.partition(":")[0]] = [whole, right, missing]
            fs.close()
        there = SparkBackend(spark, "sc://here")
        settings = Settings(load_profile("reference"), with_checks(select(("capabilities",))))
        checked = DistributedRun("memory", memory({}), RUN, settings, there).check()
        found["checked"] = checked.conforms and checked.counts["tasks"]
    print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
