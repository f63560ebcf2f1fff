"""In-memory filesystem: the fast reference implementation of the contract."""

from __future__ import annotations

import io
import itertools
import threading
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, cast

from fscontract.contract.api.errors import (
    FileAlreadyExistsException,
    PathIOException,
    RemoteFileChangedException,
)
from fscontract.contract.api.filesystem import (
    ETAGS_AVAILABLE,
    ETAGS_PRESERVED_IN_RENAME,
    Buffer,
    FileStatus,
)
from fscontract.contract.api.iostatistics import OP_GET_FILE_STATUS
from fscontract.implementations.filesystem_base import (
    MemorySink,
    PendingFile,
    ReferenceFileSystem,
    access_bits,
    denied,
    normalize,
    not_a_file,
    not_found,
    path_elements,
    permission_bits,
)
from fscontract.implementations.input_stream import (
    ReferenceInputStream,
    positioned_length,
    stream_length,
)
from fscontract.implementations.openfile_builder import OpenOptions

if TYPE_CHECKING:
    from fscontract.implementations.fsspec_adapter import MemoryFsspec


class MemoryInputStream(ReferenceInputStream):
    """A stream over `data`, an immutable snapshot of the file at `path`.

    It ends at the `declared` length if there is one, even if the file is longer or shorter.
    Subclasses override operations and read the file's bytes from the attribute `data`; pass the
    subclass to `MemoryFileSystem(stream_class=...)`. It sends no requests, so the bytes from the
    store are those returned to the reader.
    """

    def __init__(self, data: bytes, path: str = "/memory", declared: int | None = None) -> None:
        super().__init__(path)
        self.data = data
        self._view = memoryview(data)[:declared]
        self._stop = len(self._view)
        self._size = self._stop if declared is None else declared

    def _length(self) -> int:
        return self._size

    def _read_at(self, position: int, view: memoryview) -> int:
        chunk = self._view[position : position + len(view)]
        count = len(chunk)
        view[:count] = chunk
        return count

    def read_byte(self) -> int:
        """Return the next byte, 0 to 255, or -1 at EOF. (InputStream.read())"""
        if self._closed:
            self._reject_closed()
        position = self._pos
        if position >= self._stop:
            return -1
        self._pos = position + 1
        self._single_reads += 1
        return self.data[position]

    def read_into(self, buffer: Buffer, offset: int = 0, length: int | None = None) -> int:
        """Fill as much of `buffer` as the file allows; see the base class."""
        if self._closed:
            self._reject_closed()
        length = stream_length(buffer, offset, length)
        position = self._pos
        chunk = self._view[position : position + length]
        count = len(chunk)
        if count == 0:
            return -1 if length else 0
        memoryview(buffer)[offset : offset + count] = chunk
        self._pos = position + count
        self._reads += 1
        self._bytes += count
        return count

    def pread(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> int:
        """Read at `position` without moving the stream; see the base class."""
        if self._closed:
            self._reject_closed()
        length = positioned_length(position, buffer, offset, length)
        chunk = self._view[position : position + length]
        count = len(chunk)
        if count == 0:
            return -1 if length else 0
        memoryview(buffer)[offset : offset + count] = chunk
        self._reads += 1
        self._bytes += count
        return count


class _File:
    def __init__(self, data: bytes, version: int) -> None:
        self.data = data
        self.time = time.time()
        self.version = version
        self.mode = 0o644

    @property
    def etag(self) -> str:
        """ETag of this version of the file."""
        return f"{self.version}-{len(self.data)}"


class _Directory:
    def __init__(self) -> None:
        self.time = time.time()
        self.mode = 0o755
        self.children: dict[str, _Node] = {}


_Node = _File | _Directory


class MemoryFileSystem(ReferenceFileSystem):
    """A tree of directories and immutable file versions. Thread-safe.

    Files open as streams of `stream_class`, which takes the file's bytes, its path, and the length
    that the open declares, or None. Of the permissions, only the owner's read permission is
    checked.
    """

    path_capabilities = frozenset({ETAGS_AVAILABLE, ETAGS_PRESERVED_IN_RENAME})

    def __init__(self, stream_class: type[MemoryInputStream] = MemoryInputStream) -> None:
        super().__init__()
        self.stream_class = stream_class
        self._root = _Directory()
        self._lock = threading.RLock()
        self._versions = itertools.count(1)

    def _open(self, path: str, options: OpenOptions) -> MemoryInputStream:
        node = self._find(path)
        if isinstance(node, _Directory):
            raise not_a_file(path)
        if not node.mode & 0o400:
            raise denied(path)
        if options.etag is not None and options.etag != node.etag:
            raise RemoteFileChangedException(
                path, "the status belongs to another version of the file"
            )
        return self.stream_class(node.data, path, options.length)

    def create(self, path: str, overwrite: bool = True) -> io.BufferedIOBase:
        """Return a binary file for writing; raise PathIOException if the path can't be replaced."""
        path = normalize(path)
        sink = MemorySink()

        def publish() -> None:
            with self._lock:
                parent, name = self._new_entry(path, overwrite)
                parent.children[name] = _File(sink.content, next(self._versions))

        with self._lock:
            self._new_entry(path, overwrite)
        return PendingFile(cast(io.RawIOBase, sink), publish, lambda: None)

    def get_file_status(self, path: str) -> FileStatus:
        """Return the status of a file or directory; raise FileNotFoundException."""
        path = normalize(path)
        self._statistics.count(OP_GET_FILE_STATUS)
        return _status(path, self._find(path))

    def list_status(self, path: str) -> Iterator[FileStatus]:
        """Yield the children of a directory, sorted by path, or the file itself."""
        path = normalize(path)
        node = self._find(path)
        if isinstance(node, _File):
            return iter([_status(path, node)])
        with self._lock:
            children = sorted(node.children.items())
        prefix = path.rstrip("/")
        return iter([_status(f"{prefix}/{name}", child) for name, child in children])

    def mkdirs(self, path: str) -> None:
        """Create a directory and its parents; raise PathIOException if a file is in the way."""
        with self._lock:
            self._directory(path_elements(path))

    def delete(self, path: str, recursive: bool = False) -> bool:
        """Delete a path; return False if it does not exist.

        Raise PathIOException for the root, and for a non-empty directory unless `recursive`.
        """
        with self._lock:
            try:
                node = self._find(path)
            except FileNotFoundError:
                return False
            if isinstance(node, _Directory) and node.children and not recursive:
                raise PathIOException(path, "the directory is not empty; expected recursive=True")
            parent, name = self._parent(path)
            del parent.children[name]
            return True

    def rename(self, source: str, target: str) -> None:
        """Move a file or directory; create the target's parents.

        Raise FileNotFoundException, or PathIOException if the target exists or lies in the source.
        """
        with self._lock:
            node = self._find(source)
            old, new = path_elements(source), path_elements(target)
            if new[: len(old)] == old and isinstance(node, _Directory):
                raise PathIOException(target, f"can't move {source!r} into itself")
            if self._exists(target):
                raise PathIOException(target, "the target already exists")
            parent = self._directory(new[:-1])
            source_parent, name = self._parent(source)
            del source_parent.children[name]
            parent.children[new[-1]] = node

    def set_permission(self, path: str, mode: int) -> None:
        """Set the permission bits of a path. (FileSystem.setPermission)"""
        self._find(path).mode = permission_bits(mode)

    def access(self, path: str, mode: str) -> None:
        """Check the owner's permissions; raise AccessControlException. (FileSystem.access)"""
        bits = access_bits(mode) << 6
        if self._find(path).mode & bits != bits:
            raise denied(path)

    def as_fsspec(self) -> MemoryFsspec:
        """Return this filesystem as an `fsspec.AbstractFileSystem`."""
        from fscontract.implementations.fsspec_adapter import MemoryFsspec

        return MemoryFsspec(fs=self)

    def _find(self, path: str) -> _Node:
        node: _Node = self._root
        for element in path_elements(path):
            child = node.children.get(element) if isinstance(node, _Directory) else None
            if child is None:
                raise not_found(path)
            node = child
        return node

    def _exists(self, path: str) -> bool:
        try:
            self._find(path)
        except FileNotFoundError:
            return False
        return True

    def _directory(self, elements: list[str]) -> _Directory:
        """Return the directory at `elements`; create it if missing."""
        node = self._root
        for depth, element in enumerate(elements, 1):
            child = node.children.setdefault(element, _Directory())
            if isinstance(child, _File):
                raise PathIOException(
                    "/" + "/".join(elements[:depth]), "path is a file, expected a directory"
                )
            node = child
        return node

    def _parent(self, path: str) -> tuple[_Directory, str]:
        elements = path_elements(path)
        if not elements:
            raise PathIOException(path, "operation not supported on the root directory")
        return self._directory(elements[:-1]), elements[-1]

    def _new_entry(self, path: str, overwrite: bool) -> tuple[_Directory, str]:
        """Return the directory and name for a new file, after checking that it can be created."""
        parent, name = self._parent(path)
        present = parent.children.get(name)
        if isinstance(present, _Directory):
            raise PathIOException(path, "path is a directory, expected a file")
        if present is not None and not overwrite:
            raise FileAlreadyExistsException(path, "the file already exists")
        return parent, name


def _status(path: str, node: _Node) -> FileStatus:
    if isinstance(node, _Directory):
        return FileStatus(path, 0, is_directory=True, modification_time=node.time)
    return FileStatus(path, len(node.data), modification_time=node.time, etag=node.etag)
