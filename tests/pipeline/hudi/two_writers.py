"""Two processes that commit to one table, and kill themselves at a call of their filesystem.

    python -m tests.pipeline.hudi.two_writers ROOT ROUNDS SEED

ROOT is a directory, or a bucket as JSON of the arguments of S3FileSystem. Prints as JSON the
commits that were acknowledged, those that the table lists, the files in the directories, the
number of killed processes, and how often a writer lost and tried again.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from fscontract.contract.api.filesystem import FileSystem
from fscontract.implementations.local import LocalFileSystem
from fscontract.implementations.s3.filesystem import S3FileSystem
from fscontract.pipeline.hudi.io import LockedException, RolledBackException
from fscontract.pipeline.hudi.listing import FileListing, sizes_of
from fscontract.pipeline.hudi.locks import LOCKS, FileLock
from fscontract.pipeline.hudi.table import MetadataTable
from fscontract.pipeline.hudi.writer import Change, MetadataWriter, Services
from tests.pipeline.hudi.support import PATH, dataset

PARTITION = "city=a"
_CALLS = ("create", "delete", "open_file", "list_status", "get_file_status")
#: A commit takes about 60 calls, and a compaction 30 more.
_LAST_CALL = 400
_LEASE = timedelta(seconds=1)


def opened(root: str) -> FileSystem:
    """Return the filesystem of ROOT."""
    if root.startswith("{"):
        return S3FileSystem(**json.loads(root))
    return LocalFileSystem(root, durable=False)


class Doomed:
    """A filesystem whose process is killed at a call, before or after its effect."""

    def __init__(self, inner: FileSystem, number: int, after: bool) -> None:
        self._inner, self._last, self._after = inner, number, after
        self._numbers = count(1)  # of calls, which may be made in several threads

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        return self._counted(found) if name in _CALLS else found

    def _counted(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*args: Any, **kwargs: Any) -> Any:
            is_last = next(self._numbers) == self._last
            if is_last and not self._after:
                os.kill(os.getpid(), signal.SIGKILL)
            try:
                return call(*args, **kwargs)
            finally:
                if is_last:  # also if it raised: no other call is the last one
                    os.kill(os.getpid(), signal.SIGKILL)

        return counted


def _write(fs: FileSystem, name: str, say: Callable[[str], None], commits: int | None) -> None:
    """Commit files until the process is killed, or a number of times; repeat what was lost."""
    lock = FileLock(fs, f"{PATH}/{LOCKS}", lease=_LEASE, wait=timedelta(minutes=5))
    services = Services(compact_after=4)
    writer = MetadataWriter(fs, PATH, lock=lock, services=services, patience=_LEASE)
    done = 0
    while commits is None or done < commits:
        try:
            instant = writer.begin()
            file = f"{name}-{done}_0-1-0_{instant.time}.parquet"
            with fs.create(f"{PATH}/{PARTITION}/{file}") as out:
                out.write(b"12345")
            writer.finish(instant, Change({PARTITION: {file: 5}}))
        except (LockedException, RolledBackException):
            say("lost")
            continue
        say(file)
        done += 1


def _doomed(name: str, seed: int, fs: FileSystem, say: Callable[[str], None]) -> None:
    """Commit files until the process kills itself, at a random call."""
    chance = random.Random(seed)
    doomed: Any = Doomed(fs, chance.randint(1, _LAST_CALL), chance.random() < 0.5)
    _write(doomed, name, say, None)


def _child(root: str, file: Path, work: Callable[[FileSystem, Callable[[str], None]], None]) -> int:
    """Run work in a process that appends lines to a file; return its id."""
    if (child := os.fork()) == 0:
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            work(opened(root), lambda line: void(os.write(descriptor, f"{line}\n".encode())))
        except BaseException as error:
            os.write(2, f"{type(error).__name__}: {error}\n".encode())
            os._exit(1)
        os._exit(0)
    return child


def void(_: object) -> None:
    """Return nothing."""


def _status(child: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def campaign(root: str, folder: Path, rounds: int, seed: int) -> dict[str, Any]:
    """Kill two writers in each round; let a last one commit, and read the table."""
    chance, acknowledged, killed = random.Random(seed), folder / "acknowledged", 0
    first = _child(root, acknowledged, lambda fs, say: void(dataset(fs, [PARTITION], 0)))
    assert _status(first) == 0
    for turn in range(rounds):
        children = [
            _child(root, acknowledged, partial(_doomed, f"{name}{turn}", chance.getrandbits(32)))
            for name in ("a", "b")
        ]
        for child in children:
            status = _status(child)
            assert status == -signal.SIGKILL, status
            killed += 1
    last = _child(root, acknowledged, lambda fs, say: _write(fs, "last", say, 1))
    assert _status(last) == 0
    lines = acknowledged.read_text().splitlines()
    fs = opened(root)
    with MetadataTable(fs, PATH) as table:
        listed = sizes_of(dict(table.list_all()))
    actual = sizes_of(FileListing(fs, PATH, enabled=False).list_all())
    return {
        "acknowledged": [line for line in lines if line != "lost"],
        "lost": lines.count("lost"),
        "killed": killed,
        "listed": listed.get(PARTITION, {}),
        "files": actual.get(PARTITION, {}),
    }


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as scratch:
        print(json.dumps(campaign(sys.argv[1], Path(scratch), int(sys.argv[2]), int(sys.argv[3]))))
