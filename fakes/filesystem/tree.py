"""Which files there are, as they are and as a store of weak consistency shows them."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator
from dataclasses import replace

from fscontract.contract.errors import FileNotFoundException
from fscontract.contract.ports import FileStatus
from fscontract.fakes.filesystem.clock import EPOCH, Clock
from fscontract.fakes.filesystem.consistency import Change, Consistency, History
from fscontract.fakes.filesystem.versions import Version
from fscontract.implementations.filesystem import not_a_file, not_found
from fscontract.implementations.memory import MemoryFileSystem


class Tree:
    """Directories and versions of files; safe to use from several threads. Paths are normalized.

    Names, directories and permissions are kept by a MemoryFileSystem, whose files are empty: their
    etags are the keys of the versions.
    """

    def __init__(
        self, clock: Clock, consistency: Consistency, block_size: int, replicas: int
    ) -> None:
        self.block_size = block_size
        self.replicas = replicas
        self.history = History(clock, consistency)
        self._clock = clock
        self._names = MemoryFileSystem()
        self._versions: dict[str, Version] = {}
        self._numbers = itertools.count(1)
        self._lock = threading.RLock()

    # What is seen -----------------------------------------------------------------------------

    def readable(self, path: str) -> Version:
        """The version that a reader gets; FileNotFoundException, AccessControlException."""
        there = self.version(path)
        seen = self.history.read(path)
        version = there if seen is None else seen.version
        if version is None:
            raise not_a_file(path) if self._is_directory(path) else not_found(path)
        if version is there:
            self._names.access(path, "r")
        return version

    def status(self, path: str) -> FileStatus:
        """The status that a reader gets; FileNotFoundException."""
        seen = None if self._is_directory(path) else self.history.read(path)
        if seen is None:
            return self._status(self._names.get_file_status(path))
        if seen.version is None:
            raise not_found(path)
        return _of_version(path, seen.version)

    def children(self, path: str) -> list[FileStatus]:
        """What a listing shows of a directory, sorted by path; of a file its status."""
        with self._lock:
            if not self._is_directory(path):
                return [self.status(path)]
            shown = {s.path: self._status(s) for s in self._names.list_status(path)}
        for child in self.history.children(path):
            seen = self.history.listed(child)
            if seen is not None and not self._is_directory(child):
                _show(shown, child, seen)
        return [shown[child] for child in sorted(shown)]

    def version(self, path: str) -> Version | None:
        """The version that is there; None if there is no file."""
        with self._lock:
            key = self._key(path)
            return None if key is None else self._versions[key]

    # What changes it --------------------------------------------------------------------------

    def reserve(self, path: str, overwrite: bool) -> None:
        """Make the parents of a file to come; PathIOException if it can't be put there."""
        self._names.create(path, overwrite)  # and lost at once, so that nothing appears

    def put(self, path: str, data: bytes, overwrite: bool = True) -> None:
        """Make or replace a file; PathIOException if it can't be or must not be."""
        with self._lock:
            before = self._key(path)
            self._names.create(path, overwrite).close()
            old = None if before is None else self._versions.pop(before)
            new = Version(
                next(self._numbers), data, self._clock.time, self.block_size, self.replicas
            )
            self._versions[self._key(path) or ""] = new
            self.history.record(path, old, new)

    def mkdirs(self, path: str) -> None:
        """Make a directory and its parents; PathIOException if a file is in the way."""
        self._names.mkdirs(path)

    def delete(self, path: str, recursive: bool = False) -> bool:
        """Delete a path; False if it was not there. PathIOException as the port has it."""
        with self._lock:
            files = list(self._files(path))
            done = self._names.delete(path, recursive)
            for file, key in files:
                self.history.record(file, self._versions.pop(key), None)
            return done

    def rename(self, source: str, target: str) -> None:
        """Move a file or directory; FileNotFoundException, PathIOException."""
        with self._lock:
            files = list(self._files(source))
            self._names.rename(source, target)
            for file, key in files:
                version = self._versions[key]
                self.history.record(file, version, None)
                self.history.record(target + file[len(source) :], None, version)

    def set_permission(self, path: str, mode: int) -> None:
        """Set the permission bits of a path; FileNotFoundException."""
        self._names.set_permission(path, mode)

    def access(self, path: str, mode: str) -> None:
        """Check what the owner may do; AccessControlException."""
        self._names.access(path, mode)

    # How it is kept ---------------------------------------------------------------------------

    def _key(self, path: str) -> str | None:
        """The key of the version at a path; None if there is no file."""
        try:
            return self._names.get_file_status(path).etag
        except FileNotFoundException:
            return None

    def _is_directory(self, path: str) -> bool:
        try:
            return self._names.get_file_status(path).is_directory
        except FileNotFoundException:
            return False

    def _files(self, path: str) -> Iterator[tuple[str, str]]:
        """Every file at or below a path, with its key."""
        try:
            children = list(self._names.list_status(path))
        except FileNotFoundException:
            return
        for child in children:
            if child.is_directory:
                yield from self._files(child.path)
            else:
                yield child.path, child.etag or ""

    def _status(self, name: FileStatus) -> FileStatus:
        """The status that goes with a name."""
        if name.is_directory:
            return replace(name, modification_time=EPOCH)
        version = self.version(name.path)
        return name if version is None else _of_version(name.path, version)


def _of_version(path: str, version: Version) -> FileStatus:
    return FileStatus(
        path,
        version.length,
        modification_time=version.time,
        etag=version.etag,
        block_size=version.block_size,
    )


def _show(shown: dict[str, FileStatus], path: str, seen: Change) -> None:
    if seen.version is None:
        shown.pop(path, None)
    else:
        shown[path] = _of_version(path, seen.version)
