"""Locks between writers: a file that the filesystem creates once, for one of them."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Protocol

from fscontract.contract.api.errors import FileAlreadyExistsException
from fscontract.contract.api.filesystem import FileSystem
from fscontract.contract.untrusted import parse_json
from fscontract.pipeline.hudi.io import (
    LockedException,
    list_files,
    read_file,
    remove_abandoned,
    write_file,
)
from fscontract.pipeline.hudi.timeline import Clock, utc_now

#: Where the locks of a dataset are, below it.
LOCKS = ".hoodie/.locks"
_DIGITS = 12
_RELEASED = ".released"


class LockProvider(Protocol):
    """A lock that one writer at a time holds."""

    def acquire(self) -> None:
        """Wait for the lock, and take it; LockedException if that takes too long."""

    def check(self) -> None:
        """LockedException if the lock was lost meanwhile."""

    def release(self) -> None:
        """Give the lock back."""


class FileLock:
    """A lock in a directory, for writers on any machine.

    Each holder makes a file with the next number, which a filesystem that creates files once, such
    as a local one or S3, lets one writer do. The file says until when the lock is held: who died
    with it keeps it for `lease`. Who is slower than that finds by `check` that it is lost.
    """

    def __init__(
        self,
        fs: FileSystem,
        directory: str,
        lease: timedelta = timedelta(minutes=1),
        wait: timedelta = timedelta(minutes=2),
        clock: Clock = utc_now,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._fs = fs
        self._directory = directory.rstrip("/")
        self._lease = lease
        self._wait = wait
        self._clock = clock
        self._sleep = sleep
        self._owner = secrets.token_hex(8)
        self._number: int | None = None

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._directory!r}, number={self._number})"

    def acquire(self) -> None:
        """Wait for the lock, and take it; LockedException if that takes too long."""
        end = self._clock() + self._wait
        while not self._try():
            if self._clock() >= end:
                raise LockedException(self._directory, "another writer has the lock")
            self._sleep(min(0.2, self._wait.total_seconds()))

    def check(self) -> None:
        """Hold it for another lease; LockedException if it was lost meanwhile."""
        if self._number is None or self._last() != self._number:
            raise LockedException(self._directory, "the lock was held too long, and is another's")
        self._write(self._number, replace=True)

    def release(self) -> None:
        """Give the lock back."""
        number, self._number = self._number, None
        if number is not None and self._last() == number:
            write_file(self._fs, f"{self._path(number)}{_RELEASED}", b"", replace=True)

    def _try(self) -> bool:
        last = self._last()
        if last and not self._free(last):
            return False
        try:
            self._write(last + 1, replace=False)
        except FileAlreadyExistsException:
            return False
        if self._last() != last + 1:  # others were here meanwhile, and have swept behind them
            self._fs.delete(self._path(last + 1))
            return False
        self._number = last + 1
        for status in list_files(self._fs, self._directory):
            if _number(status.path) < last:
                self._fs.delete(status.path)
        remove_abandoned(self._fs, self._directory)
        return True

    def _free(self, number: int) -> bool:
        """Return whether the holder has released it, or has held it too long."""
        path = self._path(number)
        try:
            until = parse_json(read_file(self._fs, path), path)["until"]
            expired = bool(until <= self._clock().timestamp())
        except FileNotFoundError:
            return True
        except (ValueError, KeyError, TypeError):  # who wrote that did not come to its end
            expired = True
        return expired or any(
            status.path == f"{path}{_RELEASED}" for status in list_files(self._fs, self._directory)
        )

    def _write(self, number: int, replace: bool) -> None:
        until = (self._clock() + self._lease).timestamp()
        content = json.dumps({"owner": self._owner, "until": until}).encode()
        write_file(self._fs, self._path(number), content, replace)

    def _last(self) -> int:
        locks = list_files(self._fs, self._directory)
        return max((_number(status.path) for status in locks), default=0)

    def _path(self, number: int) -> str:
        return f"{self._directory}/{number:0{_DIGITS}}"


def _number(path: str) -> int:
    name = path.rpartition("/")[2].removesuffix(_RELEASED)
    return int(name) if name.isascii() and name.isdigit() else 0
