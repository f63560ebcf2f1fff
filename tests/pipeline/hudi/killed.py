"""Processes killed when a file becomes visible, in directories below the first argument."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fscontract.implementations.atomic_write import PENDING
from fscontract.implementations.local import LocalFileSystem
from fscontract.pipeline.hudi.locks import LOCKS, FileLock
from fscontract.pipeline.hudi.writer import Change, MetadataWriter
from tests.pipeline.hudi.support import PATH, Ticks, dataset, seen

A, B = "city=a", "city=b"
_LATER = 10**9


def left(directory: Path) -> list[Path]:
    """Return the temporary files below a directory."""
    return sorted(directory.rglob(f"{PENDING}*"))


def _write(root: Path, number: int) -> None:
    """Commit, compact and clean; die at the given call that creates or removes a name."""
    calls = 0

    def watched(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            nonlocal calls
            calls += 1
            if calls == number:
                os.kill(os.getpid(), signal.SIGKILL)
            return real(*args, **kwargs)

        return call

    for name in ("replace", "link", "unlink"):
        setattr(os, name, watched(getattr(os, name)))
    fs = LocalFileSystem(str(root), durable=False)
    writer = MetadataWriter(fs, PATH, lock=FileLock(fs, f"{PATH}/{LOCKS}"))
    instant = writer.begin()
    new = f"new_{instant.time}.parquet"
    with fs.create(f"{PATH}/{A}/{new}") as file:
        file.write(b"12345")
    writer.finish(instant, Change({A: {new: 5}}))
    writer.compact()
    writer.clean_table()


def dies(root: Path, number: int) -> tuple[bool, int]:
    """Return if the process died, and the number of its files; the next writer removes them."""
    fs = LocalFileSystem(str(root), durable=False)
    dataset(fs)
    child = os.fork()
    if child == 0:
        _write(root, number)
        os._exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert status in (0, -signal.SIGKILL), status
    found = len(left(root))
    lock = FileLock(fs, f"{PATH}/{LOCKS}", clock=Ticks(_LATER))
    writer = MetadataWriter(fs, PATH, Ticks(_LATER), lock=lock)
    writer.commit(Change({B: {"next": 1}}))
    writer.compact()
    assert left(root) == [], (number, left(root))
    assert seen(fs)[B]["next"] == 1
    return status != 0, found


def main(root: Path) -> int:
    """Kill at each call; return the number of temporary files left by killed processes."""
    found = 0
    for number in range(1, 100):
        died, some = dies(root / str(number), number)
        found += some
        if not died:
            return found
    raise AssertionError("more calls than were tried")


if __name__ == "__main__":
    print(main(Path(sys.argv[1])))
