"""Atomic writes of local files: temporary files, their locks, and durability."""

from __future__ import annotations

import errno
import os
import secrets
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext, suppress

from fscontract.implementations.filesystem_base import PendingFile

try:
    import fcntl
except ImportError:  # Windows, which does not delete open files anyway
    fcntl = None  # type: ignore[assignment]

#: Prefix of files being written; listings omit them.
PENDING = ".fscontract-"
#: Without locks, a temporary file of this age in seconds counts as abandoned.
_OLD = 24 * 60 * 60
_NO_SYNC = frozenset({errno.EINVAL, errno.ENOTSUP, errno.ENOSYS, errno.EBADF})


def write_pending(
    target: str,
    overwrite: bool,
    durable: bool,
    errors: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> PendingFile:
    """Return a temporary file next to `target` that replaces it on close.

    A lock shows that the writer is alive: the system releases it when the process ends. With
    `durable`, the bytes are on disk before the name, and both when `close` returns. Errors are
    raised within `errors()`.
    """
    pending, descriptor, lock = _locked_file(os.path.dirname(target))
    raw = open(descriptor, "wb", buffering=0)  # noqa: SIM115 - PendingFile owns it

    def publish() -> None:
        with errors():
            if overwrite:
                os.replace(pending, target)
            else:  # only one of several concurrent creators succeeds
                os.link(pending, target)
                os.unlink(pending)
            if durable:
                sync_directory(os.path.dirname(target))
        lock.close()

    def abandon() -> None:
        try:
            with suppress(FileNotFoundError):
                os.unlink(pending)
        finally:
            lock.close()

    def sync() -> None:
        with errors():
            os.fsync(descriptor)

    return PendingFile(raw, publish, abandon, sync if durable else None)


def remove_abandoned(directory: str, recursive: bool = True) -> list[str]:
    """Delete temporary files below a directory whose writers have died; return their paths.

    A locked file has a live writer. Links are not followed.
    """
    removed = []
    for path in _pending_below(directory, recursive):
        try:
            if _remove(path):
                removed.append(path)
        except OSError:  # another process removes it, or this one may not
            continue
    return removed


def sync_directory(path: str) -> None:
    """Sync a directory to disk, if the system supports it."""
    if os.name == "nt":
        return
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in _NO_SYNC:
            raise
    finally:
        os.close(descriptor)


def sync_files(paths: Iterable[str], below: str) -> None:
    """Sync the existing ones of these files, written by other processes, and their names to disk.

    This includes the names of their parent directories, up to those in `below`.
    """
    directories: set[str] = set()
    for path in paths:
        try:
            descriptor = os.open(path, os.O_RDONLY if os.name != "nt" else os.O_RDWR)
        except FileNotFoundError:
            continue
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        directory = os.path.dirname(path)
        while directory not in directories:
            directories.add(directory)
            if directory in (below, os.path.dirname(directory)):
                break
            directory = os.path.dirname(directory)
    for directory in directories:
        sync_directory(directory)


def make_directories(path: str, durable: bool) -> None:
    """Create a directory and its parents; raise FileExistsError or NotADirectoryError."""
    missing: list[str] = []
    while durable and not os.path.lexists(path if not missing else missing[-1]):
        missing.append(os.path.dirname(missing[-1]) if missing else path)
    os.makedirs(path, exist_ok=True)
    for directory in reversed(missing):
        sync_directory(os.path.dirname(directory))


def _locked_file(directory: str) -> tuple[str, int, _Lock]:
    """Return the path, a descriptor and the lock of a new, locked temporary file."""
    while True:
        path = os.path.join(directory, PENDING + secrets.token_hex(8))
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        descriptor = os.open(path, flags, 0o666)
        if fcntl is None:
            return path, descriptor, _Lock(None)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        except OSError:  # a filesystem without locks
            return path, descriptor, _Lock(None)
        if os.fstat(descriptor).st_nlink:
            return path, descriptor, _Lock(os.dup(descriptor))
        os.close(descriptor)  # another process took it for abandoned before it was locked


def _remove(path: str) -> bool:
    """Delete a temporary file without a writer; return True if it was one."""
    if fcntl is None:
        return _is_old(path) and _unlinked(path)
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return _is_old(path) and _unlinked(path)
    else:
        return _unlinked(path)
    finally:
        os.close(descriptor)


def _unlinked(path: str) -> bool:
    os.unlink(path)
    return True


def _is_old(path: str) -> bool:
    return time.time() - os.lstat(path).st_mtime > _OLD


def _pending_below(directory: str, recursive: bool) -> Iterator[str]:
    for root, directories, files in os.walk(directory):
        yield from (os.path.join(root, name) for name in files if name.startswith(PENDING))
        if not recursive:
            directories.clear()


class _Lock:
    """A lock held until `close` or the end of the process; no lock without a descriptor."""

    def __init__(self, descriptor: int | None) -> None:
        self._descriptor = descriptor

    def close(self) -> None:
        """Release the lock. May be called again."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)
