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
    """An open file.

    `advice` on the reads to come is "normal", "sequential" or "random". With `look` the status of
    what was opened is read, and OSError says that it is no regular file. Without, nothing is asked
    of the system but whether reads at a position are possible.
    """

    def __init__(self, path: str, advice: str, look: bool) -> None: ...

    def identity(self) -> Identity:
        """What was opened, as it was when this was first asked for: not a look at the path."""

    def read(self, position: int, view: memoryview) -> int:
        """One read into `view` from `position` on; the count in bytes, 0 at the end."""


class PositionedDescriptor:
    """Reads with `os.preadv`: no shared offset and no lock, so reads run side by side.

    `number` may be read from as long as a reference to this object is held.
    """

    _identity: Identity | None = None

    def __init__(self, path: str, advice: str, look: bool) -> None:
        number = self.number = os.open(path, os.O_RDONLY | os.O_CLOEXEC | _NO_WAITING)
        try:
            if look:
                self.identity()
            else:
                os.pread(number, 0, 0)  # no bytes; an error for directories and pipes
            if hasattr(os, "posix_fadvise"):
                os.posix_fadvise(number, 0, 0, getattr(os, f"POSIX_FADV_{advice.upper()}"))
        except OSError:
            del self.number  # the error's traceback keeps this object
            os.close(number)
            raise

    def identity(self) -> Identity:
        """What was opened, as it was when this was first asked for: not a look at the path."""
        if self._identity is None:
            self._identity = _identity(os.fstat(self.number))
        return self._identity

    def read(self, position: int, view: memoryview) -> int:
        """One read into `view` from `position` on; the count in bytes, 0 at the end."""
        return os.preadv(self.number, (view,), position)

    def __del__(self) -> None:
        if hasattr(self, "number"):
            os.close(self.number)


class PortableDescriptor:
    """Reads through a Python file, one at a time: for Windows, and for faked filesystems."""

    _identity: Identity | None = None

    def __init__(self, path: str, advice: str, look: bool) -> None:
        self._lock = threading.Lock()
        # Closed by __del__; it looks at what it has opened by itself, and refuses directories.
        self._file = open(path, "rb", buffering=0, opener=_opener)  # noqa: SIM115
        try:
            if look:
                self.identity()
            else:
                self._file.seek(0)  # an error for pipes
        except OSError:
            self._file.close()  # the error's traceback keeps this object
            raise

    def identity(self) -> Identity:
        """What was opened, as it was when this was first asked for: not a look at the path."""
        if self._identity is None:
            self._identity = _identity(os.fstat(self._file.fileno()))
        return self._identity

    def read(self, position: int, view: memoryview) -> int:
        """One read into `view` from `position` on; the count in bytes, 0 at the end."""
        with self._lock:
            self._file.seek(position)
            return self._file.readinto(view)

    def __del__(self) -> None:
        if hasattr(self, "_file"):
            self._file.close()


_STRATEGIES: dict[str, type[Descriptor]] = {
    "positioned": PositionedDescriptor,
    "portable": PortableDescriptor,
}
#: Matters for a pipe only: opening one would wait here for somebody to write to it.
_NO_WAITING = getattr(os, "O_NONBLOCK", 0)


def choose(strategy: str | None) -> type[Descriptor]:
    """The strategy of that name; by default "positioned" where the platform has `os.preadv`.

    Nothing is tried: on a faked filesystem `os.preadv` reads another, real file.
    """
    name = strategy or ("positioned" if hasattr(os, "preadv") else "portable")
    if name not in _STRATEGIES:
        raise IllegalArgumentException(f"strategy {name!r}: use {' or '.join(_STRATEGIES)}")
    return _STRATEGIES[name]


def version(identity: Identity) -> str:
    """The etag of a file: another one after each change that the system's clock can tell."""
    _, inode, size, time = identity
    return f"{inode:x}-{time:x}-{size:x}"


def identity_of(found: os.stat_result) -> Identity:
    """What a status says of the file."""
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def _identity(found: os.stat_result) -> Identity:
    if not stat.S_ISREG(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, "not a regular file")
    return identity_of(found)


def _opener(path: str, flags: int) -> int:
    return os.open(path, flags | _NO_WAITING)
