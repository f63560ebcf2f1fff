"""A session from start to end in a new process, to find what it leaves behind."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from fscontract.contract.binding import TargetError
from fscontract.implementations.spark.session import local_session


def children() -> list[str]:
    """Return the commands of all descendant processes."""
    parents, names = {}, {}
    for place in Path("/proc").glob("[0-9]*/stat"):
        try:
            head, tail = place.read_text().rsplit(")", 1)
        except OSError:
            continue
        pid = int(place.parent.name)
        names[pid], parents[pid] = head.partition("(")[2], int(tail.split()[1])
    found = {os.getpid()}
    for _ in parents:
        more = {pid for pid, parent in parents.items() if parent in found}
        if more <= found:
            break
        found |= more
    return sorted(names[pid] for pid in found if pid != os.getpid())


def listening(pids: str) -> list[str]:
    """Return the addresses that processes of this machine listen on, from the kernel's tables."""
    found = []
    inodes = {os.readlink(p) for p in Path(f"/proc/{pids}/fd").glob("*") if p.is_symlink()}
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/{pids}/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and f"socket:[{fields[9]}]" in inodes:
                found.append(fields[1].partition(":")[0])
    return found


def main() -> None:
    """Start, inspect, stop, inspect, and start again."""
    found: dict[str, Any] = {}
    environment = dict(os.environ)
    option = {"spark.driver.extraJavaOptions": "-Dcolour=red"}
    with local_session(settings=option, environment={"COLOUR": "green"}) as spark:
        context = spark.sparkContext
        java = context._jvm.java.lang.System
        found["java"] = [java.getProperty("colour"), bool(java.getProperty("derby.system.home"))]
        found["colour"] = context.parallelize([1], 1).map(lambda _: os.environ["COLOUR"]).first()
        found["python"] = context.parallelize([1], 1).map(lambda _: sys.executable).first()
        machine = context._gateway.proc.pid
        found["addresses"] = sorted(set(listening(machine)))
        command = Path(f"/proc/{machine}/cmdline").read_bytes()
        found["told"] = b"green" in command
        found["running"] = "java" in children()
        try:
            with local_session():
                pass
        except TargetError as error:
            found["second"] = str(error)
    found["left"] = children()
    found["changed"] = environment != dict(os.environ)
    # Start another one, with paths that are too long for sockets in directories.
    short = tempfile.gettempdir()
    long = tempfile.tempdir = os.path.join(short, "x" * 90)
    os.mkdir(long)
    try:
        with local_session() as spark:
            found["again"] = spark.sparkContext.parallelize(range(5), 2).map(abs).sum()
            spark.read.parquet(f"{short}/nothing")
    except Exception as error:
        found["said"] = [type(error).__name__, str(error).partition("]")[0]]
    os.rmdir(long)
    found["files"] = sorted(os.listdir(short))
    print(json.dumps(found))


if __name__ == "__main__":
    main()
