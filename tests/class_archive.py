"""A Java home with an archive of Spark's classes, which halves the CPU time of a Spark start.

`python -m tests.class_archive DIRECTORY` makes it; tests use it if JAVA_HOME is its path. An
archive is of one Java and of the jars of one PySpark: Java ignores it with others.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from fscontract.implementations.jvm.jvm import find_java
from fscontract.implementations.spark.session import make_home

_ARCHIVE = "spark.jsa"
_PATIENCE = 300.0


def make(directory: Path) -> Path:
    """Create a Java home in a new directory; return the path of its archive."""
    java = find_java()
    (directory / "bin").mkdir(parents=True)
    for entry in (*java.home.iterdir(), *(java.home / "bin").iterdir()):
        link = directory / entry.relative_to(java.home)
        if not link.exists() and link != directory / "bin" / "java":
            link.symlink_to(entry)
    archive = directory / _ARCHIVE
    _wrap(directory, java.executable, f"-XX:ArchiveClassesAtExit={archive}")
    with tempfile.TemporaryDirectory() as folder:
        # The class path of the archive has the jars' own paths: those of a home are gone later.
        home = {**make_home(Path(folder), java), "JAVA_HOME": str(directory)}
        home["PYSPARK_PYTHON"] = sys.executable  # Otherwise workers run the `python3` of PATH.
        home["SPARK_HOME"] = str((Path(home["SPARK_HOME"]) / "jars").resolve().parent)
        command = [sys.executable, "-c", _PROGRAM, folder]
        done = subprocess.run(
            command,
            env={**os.environ, **home},
            timeout=_PATIENCE,
            check=False,
            capture_output=True,
            text=True,
        )
    if done.returncode:
        raise RuntimeError(f"Spark ended with {done.returncode}:\n{done.stderr}")
    _wrap(directory, java.executable, f"-XX:SharedArchiveFile={archive}")
    return archive


def _wrap(directory: Path, java: Path, option: str) -> None:
    """Write the command `java` of a home: another one, with an option."""
    wrapper = directory / "bin" / "java"
    wrapper.write_text(f'#!/bin/sh\nexec {shlex.join([os.fspath(java), option])} "$@"\n')
    wrapper.chmod(0o755)


#: Loads the classes of common queries. The archive is written when the JVM ends.
_PROGRAM = """
import sys
from pyspark import SparkContext
from pyspark.sql import SparkSession
from pyspark.sql.functions import udf

settings = {"spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "2"}
spark = SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
spark.sparkContext.parallelize(range(4)).map(lambda x: x + 1).collect()
frame = spark.range(10).selectExpr("id", "id % 2 AS half", "cast(id AS string) AS text")
frame.groupBy("half").count().orderBy("half").collect()
frame.mapInPandas(lambda frames: frames, "id long, half long, text string").collect()
frame.select(udf(str)("id")).collect()
frame.write.partitionBy("half").parquet(sys.argv[1] + "/parquet")
spark.read.parquet(sys.argv[1] + "/parquet").filter("half = 1").toArrow()
gateway = SparkContext._gateway
spark.stop()
gateway.shutdown()
gateway.proc.stdin.close()
gateway.proc.wait()
"""


if __name__ == "__main__":
    made = make(Path(sys.argv[1]).absolute())
    print(f"{made.stat().st_size >> 20} MiB of Spark's classes in {made}")
