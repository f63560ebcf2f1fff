"""Base of the reference filesystems: paths, permissions, writers, statistics and locks in forks."""

from __future__ import annotations

import io
import os
import threading
import weakref
from abc import abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from types import TracebackType
from typing import Any, ClassVar, TypeVar

from fscontract.contract.api.errors import (
    AccessControlException,
    FileNotFoundException,
    IllegalArgumentException,
    NullPointerException,
)
from fscontract.contract.api.filesystem import ETAGS_AVAILABLE, FileSystem, FSDataInputStream
from fscontract.contract.api.iostatistics import OP_GET_FILE_STATUS, OP_OPEN, OP_OPENFILE
from fscontract.implementations.input_stream import NO_COUNTS, ReferenceInputStream
from fscontract.implementations.openfile_builder import Builder, OpenOptions

Lock = TypeVar("Lock")
_LOCKS: weakref.WeakSet[Any] = weakref.WeakSet()


def free_in_children(lock: Lock) -> Lock:
    """The lock, one of `threading`: free in a child, which has no thread that would release it."""
    _LOCKS.add(lock)
    return lock


def _free() -> None:
    for lock in list(_LOCKS):
        lock._at_fork_reinit()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_free)


#: How many streams may be gone before somebody adds their counts to the others.
_MAX_RETIRED = 100


class Statistics:
    """The counters of one filesystem, called `names`: its own, and the sums over its streams.

    Streams count for themselves; the sums are taken when somebody asks for them.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._lock = free_in_children(threading.Lock())
        self._counts = dict.fromkeys(names, 0)
        self._open: dict[int, weakref.ref[FSDataInputStream]] = {}
        self._gone: deque[Mapping[str, int]] = deque()  # the last counts of streams

    def count(self, name: str) -> None:
        """Add 1 to one of the filesystem's own counters."""
        with self._lock:
            self._counts[name] += 1

    def watch(self, stream: FSDataInputStream) -> None:
        """Count what `stream` does, until it is given to `retire`."""
        self._open[id(stream)] = weakref.ref(stream)
        if len(self._gone) > _MAX_RETIRED:
            with self._lock:
                self._add_gone()

    def retire(self, stream: FSDataInputStream) -> None:
        """Keep the counts of a stream that does nothing more."""
        # No lock: a stream may be lost, and end here, in a thread that holds it.
        self._open.pop(id(stream), None)
        self._gone.append(stream.io_statistics())

    def snapshot(self) -> dict[str, int]:
        """All counters as they are now; approximate while streams are in use."""
        with self._lock:
            self._add_gone()
            total = self._counts.copy()
        streams = [reference() for reference in list(self._open.values())]
        _add(total, (s.io_statistics() for s in streams if s is not None))
        return total

    def _add_gone(self) -> None:
        _add(self._counts, (self._gone.popleft() for _ in range(len(self._gone))))


def _add(total: dict[str, int], counts: Iterable[Mapping[str, int]]) -> None:
    for one in counts:
        for name, count in one.items():
            if count:
                total[name] = total.get(name, 0) + count


#: The bits of a permission, as they stand in the last digit of a mode.
_PERMISSIONS = {"r": 4, "w": 2, "x": 1}


def path_elements(path: str) -> list[str]:
    """The elements of an absolute path, none for the root.

    IllegalArgumentException for an empty or relative path, a NUL character or an element `..`;
    empty elements and `.` are dropped.
    """
    if path is None:
        raise NullPointerException("no path")
    if not isinstance(path, str) or not path.startswith("/"):
        raise IllegalArgumentException(f"a path must be text that starts with '/': {path!r}")
    if "\0" in path:
        raise IllegalArgumentException(f"a path must not hold NUL: {path!r}")
    elements = [element for element in path.split("/") if element not in ("", ".")]
    if ".." in elements:
        raise IllegalArgumentException(f"a path must not hold '..': {path!r}")
    return elements


def normalize(path: str) -> str:
    """The one spelling of an absolute path; errors as in `path_elements`."""
    return "/" + "/".join(path_elements(path))


def permission_bits(mode: int) -> int:
    """The mode, if it is one; IllegalArgumentException."""
    if not 0 <= mode <= 0o7777:
        raise IllegalArgumentException(f"a mode is 0 to 0o7777, not {mode:#o}")
    return mode


def access_bits(mode: str) -> int:
    """The last digit of the mode that grants everything in "rwx" text; IllegalArgumentException."""
    if not mode or set(mode) - _PERMISSIONS.keys():
        raise IllegalArgumentException(f"access is asked for by letters of 'rwx', not {mode!r}")
    return sum(_PERMISSIONS[letter] for letter in set(mode))


class ReferenceFileSystem(FileSystem):
    """A filesystem whose opens all go through `_open`, and whose files all have etags."""

    #: The path capabilities of every path.
    path_capabilities: ClassVar[frozenset[str]] = frozenset({ETAGS_AVAILABLE})

    def __init__(self) -> None:
        self._statistics = Statistics((OP_OPEN, OP_OPENFILE, OP_GET_FILE_STATUS, *NO_COUNTS))

    @abstractmethod
    def _open(self, path: str, options: OpenOptions) -> ReferenceInputStream:
        """Open the file at a normalized path; FileNotFoundException."""

    def open(self, path: str, buffer_size: int | None = None) -> FSDataInputStream:
        """Open a file at position 0; FileNotFoundException for a missing path or a directory."""
        return self._opened(OP_OPEN, path, OpenOptions(buffer_size=buffer_size))

    def open_file(self, path: str) -> Builder[FSDataInputStream]:
        """Start building an open with options; NullPointerException if there is no path.

        Whatever else is wrong with the path comes out of the future.
        """
        if path is None:
            raise NullPointerException("no path")
        return Builder(path, lambda path, options: self._opened(OP_OPENFILE, path, options))

    def open_with(self, path: str, options: OpenOptions) -> ReferenceInputStream:
        """Open a file with options that a builder has collected before, perhaps elsewhere."""
        return self._opened(OP_OPENFILE, path, options)

    def has_path_capability(self, path: str, name: str) -> bool:
        """Return whether the filesystem has a capability, which is the same for all paths."""
        normalize(path)
        return name.lower() in self.path_capabilities

    def io_statistics(self) -> Mapping[str, int]:
        """What the filesystem and its streams did. (IOStatisticsSource)

        `op_get_file_status` counts calls of `get_file_status`, also those that `list_status`
        makes. No open asks for the status of a path.
        """
        return self._statistics.snapshot()

    def _opened(self, operation: str, path: str, options: OpenOptions) -> ReferenceInputStream:
        self._statistics.count(operation)
        stream = self._open(normalize(path), options)
        self._statistics.watch(stream)
        stream.when_done(self._statistics.retire)
        return stream


def not_found(path: str) -> FileNotFoundException:
    """The error for a path that is not there."""
    return FileNotFoundException(path, "no such file or directory")


def not_a_file(path: str) -> FileNotFoundException:
    """The error for reading a directory, or anything else that is not a regular file."""
    return FileNotFoundException(path, "not a regular file")


def denied(path: str) -> AccessControlException:
    """The error for a path whose permissions forbid what was asked."""
    return AccessControlException(path, "permission denied")


class PendingFile(io.BufferedWriter):
    """Writes to `raw`; `publish` makes the file appear, `abandon` throws it away.

    Closing publishes; leaving a `with` block by an exception, or losing the file without closing
    it, abandons. With `autocommit` off, closing does neither: `commit` or `discard` follow.
    `sync` is called between the last byte and the end of `raw`.
    """

    def __init__(
        self,
        raw: io.RawIOBase,
        publish: Callable[[], None],
        abandon: Callable[[], None],
        sync: Callable[[], None] | None = None,
    ) -> None:
        super().__init__(raw, 1 << 16)
        self.autocommit = True
        self._publish = publish
        self._abandon = abandon
        self._sync = sync

    def close(self) -> None:
        """Write out the rest and publish; a failure to do so abandons the file."""
        if self.closed:
            return
        try:
            if self._sync is not None:
                self.flush()
                self._sync()
            super().close()
            if self.autocommit:
                self._publish()
        except BaseException:
            self._abandon()
            raise

    def commit(self) -> None:
        """Publish a file that was closed with `autocommit` off."""
        self._publish()

    def discard(self) -> None:
        """Close and throw the file away, also one closed with `autocommit` off."""
        pending = not self.closed or not self.autocommit
        self.raw.close()  # not self.close(): nothing more of this file is wanted
        if pending:
            self._abandon()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            self.close()
        else:
            self.discard()

    def __del__(self) -> None:
        self.discard()
