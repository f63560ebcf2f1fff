"""Program that runs all pipelines on executors in separate processes, and prints the results.

`on_cluster.py FOLDER MASTER` reads `FOLDER/in`. MASTER is `local-cluster[...]`, or `standalone` for
a master and two workers on this machine.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from click.testing import CliRunner
from pyspark.errors import StreamingQueryException

from fscontract.contract.cli.main import main as fscontract
from fscontract.implementations.local import LocalFileSystem
from fscontract.implementations.spark.package_upload import make_archive
from fscontract.implementations.spark.session import make_home, session_of
from fscontract.pipeline import register
from fscontract.pipeline.cli import read as read_command
from fscontract.pipeline.hudi.listing import FileListing, spark_files
from tests.implementations.spark.programs.standalone import cluster


def run(*arguments: str) -> str:
    """Return the output of a command that succeeds."""
    done = CliRunner().invoke(fscontract, arguments)
    assert done.exit_code == 0, done.output
    return done.stdout


def same_output(master: str, *arguments: str) -> bool:
    """Return True if a command prints the same with executors as without."""
    return run(*arguments, "--spark", master) == run(*arguments)


def commands(master: str, place: Path) -> dict[str, bool]:
    """Run each command that takes a master."""
    files = str(place / "in")
    known = {
        "split": same_output(master, "split", files, "--block-size", "100", "--json"),
        "read": same_output(master, "read", files, "--block-size", "100", "--json", "--quiet"),
        "list-files": same_output(master, "metadata", "list-files", files),
    }
    run("metadata", "create", files, "--spark", master)
    right = run("metadata", "validate", files).startswith("the table is correct")
    return {**known, "create": right}


def stream(spark: Any, place: Path, windows: str) -> int | str:
    """Return the number of copied rows, or the reason for none."""
    reader = spark.readStream.format("fscontract").option("windowLocation", windows)
    writer = reader.load(str(place / "in")).writeStream.format("parquet")
    writer = writer.option("checkpointLocation", f"{place}/checkpoint").trigger(availableNow=True)
    query = writer.start(f"{place}/out")
    try:
        query.awaitTermination()
    except StreamingQueryException as error:
        return str(error)
    return int(spark.read.parquet(f"{place}/out").count())


def submitted(place: Path, master: str) -> str:
    """Return the output of the documented program, submitted with a zip file of the package."""
    pages = Path(__file__).parents[4] / "docs" / "how-to" / "cluster.md"
    program = pages.read_text().partition("```python app.py\n")[2].partition("```")[0]
    (place / "app.py").write_text(program)
    (place / "submitted").mkdir()
    home = make_home(place / "submitted")
    archive = make_archive(place / "submitted")
    command = [f"{home['SPARK_HOME']}/bin/spark-submit", "--master", master, "--py-files"]
    command += [str(archive), str(place / "app.py"), f"file://{place}/in/day=*"]
    environment = {**os.environ, **home, "PYSPARK_PYTHON": sys.executable}
    environment["PYSPARK_DRIVER_PYTHON"] = sys.executable
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    return done.stdout.strip() or done.stderr


@contextmanager
def running(place: Path, master: str) -> Iterator[str]:
    """Yield the address of a master."""
    with ExitStack() as stack:
        if master == "standalone":
            (place / "cluster").mkdir()
            master = stack.enter_context(cluster(place / "cluster"))
            os.environ["SPARK_CONF_DIR"] = str(place / "cluster" / "conf")
        yield master


def main(folder: str, name: str) -> None:
    """Run everything in one session."""
    place = Path(folder)
    pq.write_table(pa.table({"n": range(1000)}), place / "table.parquet", row_group_size=100)
    with running(place, name) as master:
        with session_of(master) as spark:
            vars(read_command)["session_of"] = lambda *_: nullcontext(spark)
            registered = register(spark)
            frame = spark.read.format("fscontract").option("blockSize", 100).load(f"{place}/in")
            rows = frame.count()
            counters = registered.counters
            assert counters is not None
            refused = None
            windows = f"{place}/windows"
            if name == "standalone":
                refused, windows = stream(spark, place, windows), f"file://{windows}"
            parquet = spark.read.format("fscontract").option("reader", "parquet")
            files, lister = LocalFileSystem("/"), spark_files(spark)
            with FileListing(files, f"{place}/in", lister=lister) as listing:
                listed = sum(map(len, listing.list_all().values()))
            found = {
                "rows": rows,
                "counted": counters.records,
                "refused": refused,
                "windows": stream(spark, place, windows),
                "parquet": parquet.load(f"{place}/table.parquet").count(),
                "listed": listed,
                "commands": commands(master, place),
            }
        end = submitted(place, master) if name == "standalone" else None
    print(json.dumps({**found, "submitted": end}))


if __name__ == "__main__":
    main(*sys.argv[1:])
