"""Tests of a driver killed in the middle of micro-batches: no lost or duplicate records."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from collections import Counter
from contextlib import suppress
from pathlib import Path
from threading import Timer
from typing import Any

import pytest

from tests.pipeline.spark_source.programs import stream
from tests.pipeline.spark_source.support import write

PROGRAM = Path(stream.__file__)
#: Maximum number of times a stage is reached before a kill. A micro-batch has one file, and so at
#: least one task: a driver begins at most one more than these.
MOST = 6
#: Seconds after which a driver that is not held has failed.
PATIENCE = 900


@pytest.mark.usefixtures("source")
@pytest.mark.parametrize("kills", [2, pytest.param(20, marks=pytest.mark.deep)])
def test_the_records_are_those_of_the_files_after_kills(
    spark: Any, tmp_path: Path, kills: int, seed: int
) -> None:
    """At stages of a micro-batch that the seed selects, and after one run to the end."""
    wanted: Counter[tuple[str, str]] = Counter()
    files = kills * (MOST + 1) + 10
    for number in range(files):
        lines = [f"{number} {i}" for i in range(1 + number % 50)]
        path = write(tmp_path / "in", f"{number:04}", "\n".join(lines).encode())
        wanted.update((line, path) for line in lines)
    chosen = random.Random(seed)
    stages = [*chosen.sample(stream.STAGES, len(stream.STAGES)) * kills][:kills]
    for stage in stages:
        _kill_at(tmp_path, stage, chosen.randint(1, MOST))
    begun = len(list((tmp_path / "spark" / "offsets").glob("[0-9]*")))
    assert begun < files, "each micro-batch begins one file, so the kills came before the end"

    query = stream.start(spark, tmp_path, maxFilesPerTrigger=1000)
    query.awaitTermination()
    assert query.exception() is None
    rows = spark.read.parquet(str(tmp_path / "out")).collect()
    assert Counter((row.value, row.path) for row in rows) == wanted


def _kill_at(place: Path, stage: str, count: int) -> None:
    """Start a driver, and kill all its processes when it has reached a stage `count` times."""
    print(f"killed when {stage} for the {count}. time")
    (place / "tmp").mkdir(exist_ok=True)
    driver = subprocess.Popen(
        [sys.executable, str(PROGRAM), str(place), stage, str(count)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "TMPDIR": str(place / "tmp")},
        start_new_session=True,
    )
    patience = Timer(PATIENCE, _kill, [driver.pid])
    patience.start()
    try:
        assert driver.stdout is not None
        assert driver.stdout.readline() == b"held\n"
        assert driver.poll() is None
    finally:
        patience.cancel()
        _kill(driver.pid)
        driver.communicate()


def _kill(group: int) -> None:
    """Kill the processes of a group: Python, Java, and their children."""
    with suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)
