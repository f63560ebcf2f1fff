"""Two ways to read an open local file at a position, and which one a platform gets.

A descriptor is closed when the last reference to it goes. So a stream that is closed while another
thread reads never hands that read a descriptor number which means another file by then, and
positioned reads need no lock to make sure of it.
"""

from __future__ import annotations

import errno
import os
import stat
import threading
from typing import Protocol

from fscontract.contract.errors import IllegalArgumentException

#: What makes an open file the same as one opened before: device, inode, size, modification time.
Identity = tuple[int, int, int, int]


class Descriptor(Protocol):
    """An open regular file; `identity[2]` is its length in bytes when it was opened.

    `advice` on the reads to come is "normal", "sequential" or "random".
    """

    identity: Identity

    def __init__(self, path: str, advice: str) -> None: ...

    def read(self, position: int, view: memoryview) -> int:
        """Fill `view` from `position` on; fewer bytes only at the end of the file."""


class PositionedDescriptor:
    """Reads with `os.preadv`: no shared offset and no lock, so reads run side by side.

    `number` may be read from as long as a reference to this object is held.
    """

    def __init__(self, path: str, advice: str) -> None:
        # Not blocking matters for a FIFO only, which would wait here for somebody to write to it.
        self.number = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        self.identity = _identity(path, os.fstat(self.number))
        if hasattr(os, "posix_fadvise"):
            os.posix_fadvise(self.number, 0, 0, getattr(os, f"POSIX_FADV_{advice.upper()}"))

    def read(self, position: int, view: memoryview) -> int:
        """Fill `view` from `position` on; fewer bytes only at the end of the file."""
        count = more = os.preadv(self.number, (view,), position)
        while more and count < len(view):
            more = os.preadv(self.number, (view[count:],), position + count)
            count += more
        return count

    def __del__(self) -> None:
        if hasattr(self, "number"):
            os.close(self.number)


class PortableDescriptor:
    """Reads through a Python file, one at a time: for Windows, and for faked filesystems."""

    def __init__(self, path: str, advice: str) -> None:
        _identity(path, os.stat(path))  # before opening: a FIFO would wait for a writer
        self._lock = threading.Lock()
        self._file = open(path, "rb", buffering=0)  # noqa: SIM115 - closed by __del__
        self.identity = _identity(path, os.fstat(self._file.fileno()))

    def read(self, position: int, view: memoryview) -> int:
        """Fill `view` from `position` on; fewer bytes only at the end of the file."""
        with self._lock:
            self._file.seek(position)
            count = more = self._file.readinto(view)
            while more and count < len(view):
                more = self._file.readinto(view[count:])
                count += more
        return count

    def __del__(self) -> None:
        if hasattr(self, "_file"):
            self._file.close()


_STRATEGIES: dict[str, type[Descriptor]] = {
    "positioned": PositionedDescriptor,
    "portable": PortableDescriptor,
}


def choose(strategy: str | None) -> type[Descriptor]:
    """The strategy of that name; by default "positioned" where the platform has `os.preadv`.

    Nothing is tried: on a faked filesystem `os.preadv` reads another, real file.
    """
    name = strategy or ("positioned" if hasattr(os, "preadv") else "portable")
    if name not in _STRATEGIES:
        raise IllegalArgumentException(f"strategy {name!r}: use {' or '.join(_STRATEGIES)}")
    return _STRATEGIES[name]


def _identity(path: str, found: os.stat_result) -> Identity:
    if not stat.S_ISREG(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, "not a regular file", path)
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns
