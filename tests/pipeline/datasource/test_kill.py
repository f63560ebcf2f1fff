"""The driver is killed in the middle of micro-batches: nothing is lost, and nothing comes twice."""

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

from tests.pipeline.datasource.programs import stream
from tests.pipeline.datasource.support import write

PROGRAM = Path(stream.__file__)


@pytest.mark.usefixtures("source")
@pytest.mark.parametrize(
    ("kills", "files"), [(1, 60), pytest.param(20, 600, marks=pytest.mark.deep)]
)
def test_the_records_are_those_of_the_files(
    spark: Any, tmp_path: Path, kills: int, files: int
) -> None:
    """After a number of kills at random points, and one run to the end."""
    wanted: Counter[tuple[str, str]] = Counter()
    for number in range(files):
        lines = [f"{number} {i}" for i in range(1 + number % 50)]
        path = write(tmp_path / "in", f"{number:04}", "\n".join(lines).encode())
        wanted.update((line, path) for line in lines)
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    chosen = random.Random(seed)
    assert all(_killed(tmp_path, chosen.uniform(0, 2.0)) for _ in range(kills))
    begun = max(int(p.name) + 1 for p in (tmp_path / "spark" / "offsets").glob("[0-9]*"))
    assert kills < begun < files

    query = stream.start(spark, tmp_path, maxFilesPerTrigger=1000)
    query.awaitTermination()
    assert query.exception() is None
    rows = spark.read.parquet(str(tmp_path / "out")).collect()
    assert Counter((row.value, row.path) for row in rows) == wanted


def _killed(place: Path, seconds: float) -> bool:
    """Start a driver, and kill all of it so long after its first micro-batch; whether it ran on."""
    (place / "tmp").mkdir(exist_ok=True)
    driver = subprocess.Popen(
        [sys.executable, str(PROGRAM), str(place)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "TMPDIR": str(place / "tmp")},
        start_new_session=True,
    )
    patience = Timer(300, _kill, [driver.pid])
    patience.start()
    try:
        assert driver.stdout is not None
        assert driver.stdout.readline() == b"one micro-batch is done\n"
        driver.wait(seconds)
    except subprocess.TimeoutExpired:
        return True
    finally:
        patience.cancel()
        _kill(driver.pid)
        driver.communicate()
    return False


def _kill(group: int) -> None:
    """Kill the processes of a group: Python, and Java with what it started."""
    with suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)
