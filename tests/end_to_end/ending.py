"""Filesystems that end their process, or the connection to the suite: `ending.py:make`.

`-o how=exits -o where=read` ends it in a read, ENDING_AT_IMPORT=exits at the import of this
module.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from fscontract.implementations.local import LocalFileSystem


def _in_thread(call: Callable[[], Any]) -> None:
    threading.Thread(target=call, daemon=True).start()
    time.sleep(60)


#: Ways to end, none of which says what came out.
HOW: dict[str, Callable[[], Any]] = {
    "exits": lambda: os._exit(0),
    "exits-in-thread": lambda: _in_thread(lambda: os._exit(0)),
    "closes-all": lambda: os.closerange(0, 1 << 12),
    "execs": lambda: os.execv("/bin/true", ["true"]),
    "is-killed": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "says-exit": lambda: sys.exit(0),
    "forks": os.fork,
    "hangs": lambda: time.sleep(3600),
}
if "ENDING_AT_IMPORT" in os.environ:
    HOW[os.environ["ENDING_AT_IMPORT"]]()


class _Finalized:
    def __init__(self, how: str) -> None:
        self._how = how

    def __del__(self) -> None:
        HOW[self._how]()


class Ending(LocalFileSystem):
    """The files below `root`, with one call that ends the process."""

    def __init__(self, root: str, how: str, where: str) -> None:
        super().__init__(root)
        self.how, self.where = how, where

    def _do(self, where: str) -> None:
        if self.where == where:
            HOW[self.how]()

    def _open(self, path: str, options: Any) -> Any:
        stream = super()._open(path, options)
        read, answer = stream.read_byte, stream.has_capability

        def read_byte() -> int:
            self._do("read")
            if self.where == "finalizer":
                _Finalized(self.how)
            return read()

        def has_capability(name: str) -> Any:
            self._do("capability")
            return answer(name)

        stream.read_byte = read_byte  # type: ignore[method-assign]
        stream.has_capability = has_capability  # type: ignore[method-assign]
        return stream

    def mkdirs(self, path: str) -> None:
        self._do("prepare")
        super().mkdirs(path)

    def delete(self, path: str, recursive: bool = False) -> bool:
        done = super().delete(path, recursive)
        if recursive:
            self._do("dispose")
        return done


def make(root: str, how: str = "exits", where: str = "") -> Any:
    """Return a filesystem that ends the process in one way, at one place."""
    if where == "factory":
        HOW[how]()
    if where == "atexit":
        atexit.register(HOW[how])
    return Ending(root, how, where)
