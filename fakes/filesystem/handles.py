"""Open handles of the fake filesystem: files that were opened and not closed."""

from __future__ import annotations

import itertools
import sys
import threading
from typing import NamedTuple

#: The most handles that are kept; beyond it the oldest are forgotten.
MOST_HANDLES = 10_000
#: Modules that open files for their callers.
_PASSING = ("fscontract", "fsspec", "contextlib", "pyarrow")
#: Libraries that leave closing the files that they read to the garbage collector.
_COLLECTING = "pyarrow"


class Handle(NamedTuple):
    """A file that was opened in `mode` at the line `where`, and not closed.

    It is `lost` if it was garbage-collected without a call of `close`. PyArrow's readers close no
    file, so one that PyArrow opened is not `kept` after that.
    """

    path: str
    mode: str
    where: str
    lost: bool = False
    kept: bool = True

    def __str__(self) -> str:
        end = ", garbage-collected without close()" if self.lost else ""
        return f"{self.path} opened as {self.mode!r} at {self.where}{end}"


class Handles:
    """The handles of a store that are not closed; thread-safe."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self._open: dict[int, Handle] = {}
        self._lock = threading.RLock()  # a finalizer may run in a thread that holds it

    def opened(self, path: str, mode: str) -> int:
        """Add a handle, and return its number."""
        with self._lock:
            number = next(self._numbers)
            where, passed = _caller()
            self._open[number] = Handle(path, mode, where, kept=_COLLECTING not in passed)
            if len(self._open) > MOST_HANDLES:
                del self._open[next(iter(self._open))]
        return number

    def closed(self, number: int) -> None:
        """Drop a handle, unless it was lost."""
        with self._lock:
            handle = self._open.get(number)
            if handle is not None and not handle.lost:
                del self._open[number]

    def lost(self, number: int) -> None:
        """Note that a handle was garbage-collected; closing it afterwards has no effect."""
        with self._lock:
            handle = self._open.get(number)
            if handle is not None and handle.kept:
                self._open[number] = handle._replace(lost=True)
            else:
                self._open.pop(number, None)

    def open(self) -> tuple[Handle, ...]:
        """Return the handles that are not closed, the oldest first."""
        with self._lock:
            return tuple(self._open.values())


def _caller() -> tuple[str, set[str]]:
    """Return the line that opens a file, and the libraries that pass its call on."""
    frame, passed = sys._getframe(2), set[str]()
    while frame.f_back is not None:
        library = str(frame.f_globals.get("__name__", "")).partition(".")[0]
        if library not in _PASSING:
            break
        passed.add(library)
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}", passed
