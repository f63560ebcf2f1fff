"""Base of the reference filesystems: paths, permissions, writers, statistics, and locks."""

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
    RemoteFileChangedException,
)
from fscontract.contract.api.filesystem import (
    ETAGS_AVAILABLE,
    FileStatus,
    FileSystem,
    FSDataInputStream,
)
from fscontract.contract.api.iostatistics import OP_GET_FILE_STATUS, OP_OPEN, OP_OPENFILE
from fscontract.implementations.input_stream import NO_COUNTS, ReferenceInputStream
from fscontract.implementations.openfile_builder import Builder, OpenOptions

Lock = TypeVar("Lock")
_LOCKS: weakref.WeakSet[Any] = weakref.WeakSet()


def free_in_children(lock: Lock) -> Lock:
    """Return a lock of `threading` that is released in forked children, which lack the owner."""
    _LOCKS.add(lock)
    return lock


def _free() -> None:
    for lock in list(_LOCKS):
        lock._at_fork_reinit()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_free)


#: Maximum number of closed streams whose counts have not been added up.
_MAX_RETIRED = 100


class Statistics:
    """Counters of one filesystem, called `names`: its own, and the sums over its streams.

    Streams count their calls; the sums are computed on request.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._lock = free_in_children(threading.Lock())
        self._counts = dict.fromkeys(names, 0)
        self._open: dict[int, weakref.ref[FSDataInputStream]] = {}
        self._gone: deque[Mapping[str, int]] = deque()  # final counts of closed streams

    def count(self, name: str) -> None:
        """Add 1 to one of the filesystem's own counters."""
        with self._lock:
            self._counts[name] += 1

    def watch(self, stream: FSDataInputStream) -> None:
        """Include the counts of `stream` until `retire`."""
        self._open[id(stream)] = weakref.ref(stream)
        if len(self._gone) > _MAX_RETIRED:
            with self._lock:
                self._add_gone()

    def retire(self, stream: FSDataInputStream) -> None:
        """Keep the final counts of a stream."""
        # No lock: a lost stream may be finalized, and call this, in a thread that holds it.
        self._open.pop(id(stream), None)
        self._gone.append(stream.io_statistics())

    def snapshot(self) -> dict[str, int]:
        """Return all current counters; approximate while streams are in use."""
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


#: Permission bits, as in the last digit of a mode.
_PERMISSIONS = {"r": 4, "w": 2, "x": 1}


def path_elements(path: str) -> list[str]:
    """Return the elements of an absolute path; none for the root.

    Raise IllegalArgumentException for an empty or relative path, a NUL character or an element
    `..`. Empty elements and `.` are dropped.
    """
    if path is None:
        raise NullPointerException("path must not be None")
    if not isinstance(path, str) or not path.startswith("/"):
        raise IllegalArgumentException(
            f"invalid path: {path!r}; must be a string that starts with '/'"
        )
    if "\0" in path:
        raise IllegalArgumentException(f"invalid path: {path!r}; must not contain NUL")
    elements = [element for element in path.split("/") if element not in ("", ".")]
    if ".." in elements:
        raise IllegalArgumentException(f"invalid path: {path!r}; must not contain '..'")
    return elements


def normalize(path: str) -> str:
    """Return the normal form of an absolute path. Raises as `path_elements` does."""
    return "/" + "/".join(path_elements(path))


def permission_bits(mode: int) -> int:
    """Return a valid mode; raise IllegalArgumentException for others."""
    if not 0 <= mode <= 0o7777:
        raise IllegalArgumentException(f"invalid mode: {mode:#o}; must be from 0 to 0o7777")
    return mode


def access_bits(mode: str) -> int:
    """Return the permission bits for text such as "rw"; raise IllegalArgumentException."""
    if not mode or set(mode) - _PERMISSIONS.keys():
        raise IllegalArgumentException(
            f"invalid access mode: {mode!r}; must be a combination of r, w and x"
        )
    return sum(_PERMISSIONS[letter] for letter in set(mode))


class ReferenceFileSystem(FileSystem):
    """A filesystem whose opens all go through `_open`, and whose files all have etags."""

    #: Path capabilities, the same for every path.
    path_capabilities: ClassVar[frozenset[str]] = frozenset({ETAGS_AVAILABLE})

    def __init__(self) -> None:
        self._statistics = Statistics((OP_OPEN, OP_OPENFILE, OP_GET_FILE_STATUS, *NO_COUNTS))

    @abstractmethod
    def _open(self, path: str, options: OpenOptions) -> ReferenceInputStream:
        """Open the file at a normalized path; raise FileNotFoundException."""

    def open(self, path: str, buffer_size: int | None = None) -> FSDataInputStream:
        """Open a file at position 0; raise FileNotFoundException if it is not a file."""
        return self._opened(OP_OPEN, path, OpenOptions(buffer_size=buffer_size))

    def open_file(self, path: str) -> Builder[FSDataInputStream]:
        """Return a builder to open a file; raise NullPointerException without a path.

        Other errors of the path are set on the future.
        """
        if path is None:
            raise NullPointerException("path must not be None")
        return Builder(path, lambda path, options: self._opened(OP_OPENFILE, path, options))

    def open_with(self, path: str, options: OpenOptions) -> ReferenceInputStream:
        """Open a file with options that a builder has collected, possibly in another process."""
        return self._opened(OP_OPENFILE, path, options)

    def has_path_capability(self, path: str, name: str) -> bool:
        """Return whether the filesystem has a capability, which is the same for all paths."""
        normalize(path)
        return name.lower() in self.path_capabilities

    def io_statistics(self) -> Mapping[str, int]:
        """Return statistics of the filesystem and its streams (IOStatisticsSource).

        `op_get_file_status` includes calls of `get_file_status` by `list_status`. Opening a file
        does not request its status.
        """
        return self._statistics.snapshot()

    def _length_to_open(self, path: str, options: OpenOptions) -> int:
        """Return the length of the file to open; its status is requested only if needed for that.

        Raise FileNotFoundException for a directory, RemoteFileChangedException if the options have
        a status of another version.
        """
        expected, length = options.status, options.length
        version = None if expected is None else version_of(expected)
        if version is not None or length is None:
            status = self.get_file_status(path)
            if status.is_directory:
                raise not_a_file(path)
            if version not in (None, version_of(status)):
                raise RemoteFileChangedException(path, "the file was changed after it was listed")
            length = status.length if length is None else length
        return length

    def _opened(self, operation: str, path: str, options: OpenOptions) -> ReferenceInputStream:
        self._statistics.count(operation)
        stream = self._open(normalize(path), options)
        self._statistics.watch(stream)
        stream.when_done(self._statistics.retire)
        return stream


def version_of(status: FileStatus) -> object:
    """Return what statuses of the same version of a file share, None if it is unknown.

    That is the etag, or the time of the last change in milliseconds. Several versions may have the
    same time if it is in whole seconds, so the length counts, too.
    """
    if status.etag:
        return status.etag
    milliseconds = int(status.modification_time * 1000)
    if milliseconds % 1000:
        return milliseconds
    return (milliseconds, status.length) if milliseconds else None


def not_found(path: str) -> FileNotFoundException:
    """Return the error for a missing path."""
    return FileNotFoundException(path, "no such file or directory")


def not_a_file(path: str) -> FileNotFoundException:
    """Return the error for reading a directory or another path that is not a regular file."""
    return FileNotFoundException(path, "not a regular file")


def denied(path: str) -> AccessControlException:
    """Return the error for an operation that the path's permissions forbid."""
    return AccessControlException(path, "permission denied")


class MemorySink(io.BytesIO):
    """A BytesIO that keeps its content after close."""

    content = b""

    def close(self) -> None:
        """Keep the content, and close."""
        if not self.closed:
            self.content = self.getvalue()
        super().close()


class PendingFile(io.BufferedWriter):
    """Writes to `raw`; `publish` makes the file visible, `abandon` drops it.

    Closing publishes. Leaving a `with` block by an exception, or losing the file without closing
    it, abandons. With `autocommit` off, closing does neither: call `commit` or `discard`. `sync` is
    called after the last byte, before `raw` is closed.
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
        """Flush and publish; abandon the file if that fails."""
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
        """Close and drop the file, also after it was closed with `autocommit` off."""
        pending = not self.closed or not self.autocommit
        self.raw.close()  # not self.close(), because the rest of the file is not needed
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
