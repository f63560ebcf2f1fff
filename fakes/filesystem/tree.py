"""Files and versions of the fake store, its clock, and listings under weak consistency."""

from __future__ import annotations

import itertools
import math
import threading
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass, fields, replace
from posixpath import dirname
from typing import NamedTuple
from zlib import crc32

from fscontract.contract.api.errors import FileNotFoundException, IllegalArgumentException
from fscontract.contract.api.filesystem import FileStatus
from fscontract.implementations.filesystem_base import not_a_file, not_found
from fscontract.implementations.local_stream import Identity, version
from fscontract.implementations.memory import MemoryFileSystem

#: The start time of every clock, in seconds since 1970.
EPOCH = 1_600_000_000.0


class Clock:
    """A clock that only `advance` moves; thread-safe."""

    def __init__(self) -> None:
        self._now = 0.0
        self._lock = threading.Lock()

    @property
    def now(self) -> float:
        """The seconds since the clock was made."""
        return self._now

    @property
    def time(self) -> float:
        """The same time in seconds since 1970, as in a file's status."""
        return EPOCH + self._now

    def advance(self, seconds: float) -> None:
        """Advance by some seconds; IllegalArgumentException if they are negative."""
        if not seconds >= 0:
            raise IllegalArgumentException(f"time goes forward, not by {seconds} seconds")
        with self._lock:
            self._now += seconds

    def __repr__(self) -> str:
        return f"{type(self).__name__}(now={self._now})"


#: Represents an intact copy.
_INTACT = b"intact"
_FLIPPED = bytes(byte ^ 0xFF for byte in range(256))


def flipped(data: bytes) -> bytes:
    """Return the bytes with all bits flipped."""
    return data.translate(_FLIPPED)


class Check(NamedTuple):
    """The CRC-32 of the next `length` bytes at the time of the write."""

    length: int
    crc: int


class Version:
    """One version of a file, with a unique `etag`.

    A copy of a block may be corrupt or lost; checksums of the written content are kept.
    """

    def __init__(
        self,
        number: int,
        data: bytes,
        time: float,
        block_size: int,
        replicas: int,
        before: bytes = b"",
    ) -> None:
        self.data = data
        #: The bytes of the version that this one replaced; empty if there was none.
        self.before = before
        self.time = time
        self.block_size = block_size
        self.replicas = replicas
        #: The identity of the file for streams of the kit.
        self.identity: Identity = (0, number, len(data), 0)
        self.etag = version(self.identity)
        #: By block and replica: the bytes of a corrupt copy, None for a lost one.
        self._damaged: dict[tuple[int, int], bytes | None] = {}

    @property
    def length(self) -> int:
        """The length in bytes."""
        return len(self.data)

    @property
    def blocks(self) -> int:
        """The number of blocks; 0 for an empty file."""
        return -(-len(self.data) // self.block_size)

    def holders(self, block: int) -> tuple[int, ...]:
        """Return the replicas that have a copy of the block, corrupt ones included."""
        lost = {key for key, copy in self._damaged.items() if copy is None}
        return tuple(r for r in range(self.replicas) if (block, r) not in lost)

    def corrupt(self, block: int, replica: int) -> None:
        """Flip every bit of one copy of a block; IllegalArgumentException if there is none."""
        self._check(block, replica)
        self._damaged[block, replica] = flipped(self._written(block))

    def damage(self, data: bytes) -> None:
        """Let all copies have the bytes of `data` instead, which may be shorter."""
        for block in range(self.blocks):
            copy = data[block * self.block_size : (block + 1) * self.block_size]
            self._damaged.update(((block, replica), copy) for replica in range(self.replicas))

    def lose(self, block: int, replica: int) -> None:
        """Remove one copy of a block; IllegalArgumentException if there is none."""
        self._check(block, replica)
        self._damaged[block, replica] = None

    def read(self, offset: int, length: int, replica: int) -> tuple[bytes, tuple[Check, ...]]:
        """Return the current bytes of one replica, and the checksums of the written ones.

        They end before a block that the replica has lost.
        """
        if not self._damaged:
            body = self.data[offset : offset + length]
            return body, (Check(len(body), crc32(body)),)
        pieces, checks = [], []
        for written, stored in self._pieces(offset, offset + length, replica):
            if stored is None:
                break
            pieces.append(stored)
            checks.append(Check(len(written), crc32(written)))
        return b"".join(pieces), tuple(checks)

    def _pieces(self, offset: int, end: int, replica: int) -> Iterator[tuple[bytes, bytes | None]]:
        """Yield the bytes of each block as written and as the replica has them."""
        while offset < min(end, len(self.data)):
            block = offset // self.block_size
            start = block * self.block_size
            stop = min(end, start + self.block_size)
            written = self.data[offset:stop]
            copy = self._damaged.get((block, replica), _INTACT)
            if copy is _INTACT:
                yield written, written
            else:
                yield written, None if copy is None else copy[offset - start : stop - start]
            offset = stop

    def _written(self, block: int) -> bytes:
        return self.data[block * self.block_size : (block + 1) * self.block_size]

    def _check(self, block: int, replica: int) -> None:
        if not 0 <= block < self.blocks:
            raise IllegalArgumentException(f"no block {block}: the file has {self.blocks}")
        if not 0 <= replica < self.replicas:
            raise IllegalArgumentException(f"no replica {replica}: there are {self.replicas}")


@dataclass(frozen=True)
class Consistency:
    """Seconds until changes of files are visible; all 0 is strict consistency.

    A new file or version is listed after `list_after`; a deleted one is listed until
    `delete_after`. Opens, reads and statuses show a path as before a change until `read_after`: a
    new file is missing, an overwritten one has the old content, a deleted one exists. Operations
    that change the tree use its current state. Directories are always visible immediately.
    """

    list_after: float = 0.0
    delete_after: float = 0.0
    read_after: float = 0.0

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not (value >= 0 and math.isfinite(value)):
                raise IllegalArgumentException(f"{field.name} must be 0 or more, not {value!r}")

    @property
    def window(self) -> float:
        """Seconds after which every change is visible."""
        return max(self.list_after, self.delete_after, self.read_after)


class Change(NamedTuple):
    """The new state of a path: a version of a file, or None after a deletion."""

    at: float
    version: Version | None


class _Changes:
    """Changes of each path, kept for a window of seconds."""

    def __init__(self) -> None:
        self.window = 0.0
        self.of: dict[str, list[Change]] = {}


class History:
    """Recent states of paths, as far as they affect visibility."""

    def __init__(
        self, clock: Clock, consistency: Consistency, changes: _Changes | None = None
    ) -> None:
        self._clock = clock
        self.consistency = consistency
        self._kept = _Changes() if changes is None else changes
        self._kept.window = max(self._kept.window, consistency.window)

    def view(self, consistency: Consistency) -> History:
        """Return the same changes with another visibility, which applies to later changes."""
        return History(self._clock, consistency, self._kept)

    def record(self, path: str, before: Version | None, after: Version | None) -> None:
        """Record a change at the current time."""
        if self._kept.window > 0:
            self._recent(path)  # otherwise old changes would be kept indefinitely
            changes = self._kept.of.setdefault(path, [Change(-math.inf, before)])
            changes.append(Change(self._clock.now, after))

    def listed(self, path: str) -> Change | None:
        """Return the state of the path in listings; None if it is the current one."""
        rules = self.consistency
        return self._seen(path, rules.list_after, rules.delete_after)

    def read(self, path: str) -> Change | None:
        """Return the state of the path for opens and reads; None if it is the current one."""
        rules = self.consistency
        return self._seen(path, rules.read_after, rules.read_after)

    def children(self, path: str) -> Iterator[str]:
        """Return the paths in a directory with recent changes."""
        return (child for child in tuple(self._kept.of) if dirname(child) == path)

    def _seen(self, path: str, appears: float, vanishes: float) -> Change | None:
        changes = self._recent(path)
        if not changes:
            return None
        visible, now = changes[0], self._clock.now
        for change in changes[1:]:
            if change.at + (vanishes if change.version is None else appears) <= now:
                visible = change
        return visible

    def _recent(self, path: str) -> list[Change]:
        """Return the changes of a path, none if the last one is visible everywhere."""
        changes = self._kept.of.get(path, [])
        if changes and changes[-1].at + self._kept.window <= self._clock.now:
            self._kept.of.pop(path, None)
            return []
        return changes


class Tree:
    """Directories and versions of files; thread-safe. Paths are normalized.

    Names, directories and permissions are kept by a MemoryFileSystem, whose files are empty: their
    etags are the keys of the versions. With `implicit_directories`, a directory exists while a file
    or a marker lies in or below it, as in S3: `mkdirs` marks a new directory, and so does the
    removal of its last subdirectory.
    """

    def __init__(
        self,
        clock: Clock,
        consistency: Consistency,
        block_size: int,
        replicas: int,
        implicit_directories: bool = False,
    ) -> None:
        self.block_size = block_size
        self.replicas = replicas
        self.implicit_directories = implicit_directories
        self.history = History(clock, consistency)
        self._clock = clock
        self._names = MemoryFileSystem()
        self._marked: set[str] = set()
        self._versions: dict[str, Version] = {}
        self._numbers = itertools.count(1)
        self._lock = threading.RLock()

    def view(
        self, consistency: Consistency, block_size: int, replicas: int, implicit_directories: bool
    ) -> Tree:
        """Return the same tree with other settings, for changes that are made through it."""
        other = copy(self)
        other.block_size, other.replicas = block_size, replicas
        other.implicit_directories = implicit_directories
        other.history = self.history.view(consistency)
        return other

    # What is seen -----------------------------------------------------------------------------

    def readable(self, path: str) -> Version:
        """Return the version for a reader. Raise FileNotFoundException, AccessControlException."""
        there = self.version(path)
        change = self.history.read(path)
        version = there if change is None else change.version
        if version is None:
            raise not_a_file(path) if self._is_directory(path) else not_found(path)
        if version is there:
            self._names.access(path, "r")
        return version

    def status(self, path: str) -> FileStatus:
        """Return the status for a reader. Raise FileNotFoundException."""
        change = None if self._is_directory(path) else self.history.read(path)
        if change is None:
            return self._status(self._names.get_file_status(path))
        if change.version is None:
            raise not_found(path)
        return _of_version(path, change.version)

    def children(self, path: str) -> list[FileStatus]:
        """Return the listing of a directory, sorted by path; of a file its status."""
        with self._lock:
            if not self._is_directory(path):
                return [self.status(path)]
            statuses = {s.path: self._status(s) for s in self._names.list_status(path)}
        for child in self.history.children(path):
            change = self.history.listed(child)
            if change is not None and not self._is_directory(child):
                _show(statuses, child, change)
        return [statuses[child] for child in sorted(statuses)]

    def version(self, path: str) -> Version | None:
        """Return the current version; None if there is no file."""
        with self._lock:
            key = self._key(path)
            return None if key is None else self._versions[key]

    # What changes it --------------------------------------------------------------------------

    def reserve(self, path: str, overwrite: bool) -> None:
        """Make the parents of a new file; PathIOException if it can't be created."""
        with self._lock:
            # the file is deleted immediately, so that nothing appears
            self._names.create(path, overwrite)
            self._prune(dirname(path))

    def put(self, path: str, data: bytes, overwrite: bool = True) -> Version:
        """Make or replace a file, and return its version.

        Raise PathIOException if that is not possible or not allowed.
        """
        with self._lock:
            before = self._key(path)
            self._names.create(path, overwrite).close()
            old = None if before is None else self._versions.pop(before)
            new = Version(
                next(self._numbers),
                data,
                self._clock.time,
                self.block_size,
                self.replicas,
                b"" if old is None else old.data,
            )
            self._versions[self._key(path) or ""] = new
            self.history.record(path, old, new)
            return new

    def mkdirs(self, path: str) -> None:
        """Make a directory and its parents; PathIOException if a parent is a file."""
        with self._lock:
            is_new = not self._is_directory(path)
            self._names.mkdirs(path)
            if is_new:
                self._marked.add(path)

    def delete(self, path: str, recursive: bool = False) -> bool:
        """Delete a path; return False if it did not exist. Raise PathIOException."""
        with self._lock:
            files, kept = list(self._files(path)), self._kept_parent(path)
            done = self._names.delete(path, recursive)
            for file, key in files:
                self.history.record(file, self._versions.pop(key), None)
            self._marked.difference_update(self._marks(path))
            self._marked.update(kept)
            self._prune(dirname(path))
            return done

    def rename(self, source: str, target: str) -> None:
        """Move a file or directory. Raise FileNotFoundException, PathIOException."""
        with self._lock:
            files, kept = list(self._files(source)), self._kept_parent(source)
            self._names.rename(source, target)
            marks = self._marks(source)
            self._marked.difference_update(marks)
            self._marked.update(kept, (target + mark[len(source) :] for mark in marks))
            self._prune(dirname(source))
            for file, key in files:
                version = self._versions[key]
                self.history.record(file, version, None)
                self.history.record(target + file[len(source) :], None, version)

    def set_permission(self, path: str, mode: int) -> None:
        """Set the permission bits of a path. Raise FileNotFoundException."""
        self._names.set_permission(path, mode)

    def access(self, path: str, mode: str) -> None:
        """Check the permissions of the owner. Raise AccessControlException."""
        self._names.access(path, mode)

    # How it is kept ---------------------------------------------------------------------------

    def _key(self, path: str) -> str | None:
        """Return the key of the version at a path; None if there is no file."""
        try:
            return self._names.get_file_status(path).etag
        except FileNotFoundException:
            return None

    def _is_directory(self, path: str) -> bool:
        try:
            return self._names.get_file_status(path).is_directory
        except FileNotFoundException:
            return False

    def _kept_parent(self, path: str) -> set[str]:
        """Return the parent of a directory that is its only child, else nothing."""
        parent = dirname(path)
        if parent in ("/", path) or not self._is_directory(path):
            return set()
        return {parent} if len(list(self._names.list_status(parent))) == 1 else set()

    def _marks(self, path: str) -> list[str]:
        """Return the marked directories at and below a path."""
        return [mark for mark in self._marked if f"{mark}/".startswith(f"{path}/")]

    def _prune(self, path: str) -> None:
        """Remove directories that have no file and no mark, from `path` upwards."""
        while self.implicit_directories and path != "/" and path not in self._marked:
            if not self._is_directory(path) or list(self._names.list_status(path)):
                return
            self._names.delete(path)
            path = dirname(path)

    def _files(self, path: str) -> Iterator[tuple[str, str]]:
        """Yield every file at or below a path, with its key."""
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
        """Return the status for a name."""
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


def _show(statuses: dict[str, FileStatus], path: str, change: Change) -> None:
    if change.version is None:
        statuses.pop(path, None)
    else:
        statuses[path] = _of_version(path, change.version)
