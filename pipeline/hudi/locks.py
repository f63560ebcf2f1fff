"""Locks between writers, based on atomic file creation."""

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

#: Directory of the locks, below a dataset.
LOCKS = ".hoodie/.locks"
_DIGITS = 12
_RELEASED = ".released"


class LockProvider(Protocol):
    """A lock that one writer at a time holds."""

    def acquire(self) -> None:
        """Wait for the lock and acquire it; raise LockedException on timeout."""

    def check(self) -> None:
        """Raise LockedException if the lock was lost."""

    def release(self) -> None:
        """Release the lock."""


class FileLock:
    """A lock in a directory, for writers on any machine.

    Each holder creates a file with the next number. The filesystem must create a file for only one
    writer, as a local one or S3 does. The file contains the end of the lease: if the holder dies,
    the lock remains until then. A slower holder detects by `check` that it lost the lock.
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
        """Wait for the lock and acquire it; raise LockedException on timeout."""
        end = self._clock() + self._wait
        while not self._try():
            if self._clock() >= end:
                raise LockedException(self._directory, "another writer holds the lock")
            self._sleep(min(0.2, self._wait.total_seconds()))

    def check(self) -> None:
        """Extend the lease; raise LockedException if the lock was lost."""
        if self._number is None or self._last() != self._number:
            raise LockedException(
                self._directory, "the lease expired, and another writer took the lock"
            )
        self._write(self._number, replace=True)

    def release(self) -> None:
        """Release the lock."""
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
        if self._last() != last + 1:  # other writers have locked and cleaned up meanwhile
            self._fs.delete(self._path(last + 1))
            return False
        self._number = last + 1
        for status in list_files(self._fs, self._directory):
            if _number(status.path) < last:
                self._fs.delete(status.path)
        remove_abandoned(self._fs, self._directory)
        return True

    def _free(self, number: int) -> bool:
        """Return True if the holder has released the lock, or its lease expired."""
        path = self._path(number)
        try:
            until = parse_json(read_file(self._fs, path), path)["until"]
            expired = bool(until <= self._clock().timestamp())
        except FileNotFoundError:
            return True
        except (ValueError, KeyError, TypeError):  # the writer died while writing
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
