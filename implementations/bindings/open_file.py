"""Opening of this package's streams through `open_file`."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from posixpath import basename, dirname
from typing import Any

from fscontract.contract.api.errors import AccessControlException
from fscontract.contract.api.filesystem import (
    BlockLocation,
    FileStatus,
    FileSystem,
    FSDataInputStream,
    LocatedFileStatus,
)
from fscontract.contract.api.iostatistics import counters_of
from fscontract.contract.binding import NoScene, Opener
from fscontract.contract.program.content import content, replacement
from fscontract.contract.program.open_calls import MISNAMED, SCENES, STATUSES
from fscontract.implementations.bindings.common import LARGEST, ScratchBinding, failure, told
from fscontract.implementations.bindings.range_buffers import RangeBuffers, restore

#: URL with a scheme that no filesystem of this package supports.
FOREIGN = "gopher://localhost"


class OpenedStream:
    """A stream, the buffers of its vectored reads, and its Python file, made when first used."""

    __slots__ = ("_buffers", "_file", "stream")

    def __init__(self, stream: FSDataInputStream) -> None:
        self.stream = stream
        self._buffers: RangeBuffers | None = None
        self._file: io.RawIOBase | None = None

    @property
    def buffers(self) -> RangeBuffers:
        """Buffers of vectored reads."""
        if self._buffers is None:
            self._buffers = RangeBuffers()
        return self._buffers

    def take_back(self) -> None:
        """Undo what the caller did to buffers that it got."""
        if self._buffers is not None:
            restore(self._buffers.take())

    @property
    def file(self) -> io.RawIOBase:
        """Python file over the stream, always the same object."""
        if self._file is None:
            self._file = self.stream.as_file()
        return self._file


class ForeignStatus(FileStatus):
    """A status of a class that no filesystem knows."""


class StreamOpener(Opener):
    """`open_file` of a FileSystem, for files below the prefix of `binding`."""

    statistics = True

    def __init__(self, binding: ScratchBinding, filesystem: FileSystem) -> None:
        self.scenes = frozenset(SCENES)
        self.statuses = frozenset(STATUSES)
        self._binding = binding
        self._filesystem = filesystem
        self._others: set[str] = set()

    def place(self, scene: str, content: bytes) -> str:
        """Create the scene and return its path; raise NoScene if permissions have no effect."""
        if scene in ("missing", "late"):
            return self._binding.new_path()
        if scene == "directory":
            return self._make_directory()
        path = self._binding.create(content)
        if scene == "unreadable":
            self._forbid(path)
        return FOREIGN + path if scene == "foreign" else path

    def appear(self, path: str, content: bytes) -> None:
        """Write the file at `path`; raise TargetError."""
        self._binding.change(path, content)

    def status(self, path: str, kind: str, length: int | None) -> FileStatus | None:
        """Return a status of a kind; its length is unknown without a file.

        For a status with another path, this creates a file with other bytes at that path.
        """
        if kind == "none":
            return None
        own = known_status(lambda: self._filesystem.get_file_status(path), path)
        known = KINDS[kind](own if length is None else replace(own, length=length))
        if kind in MISNAMED and known.path not in self._others and own.length >= 0:
            self._binding.change(known.path, replacement(content(bounded(own.length))))
            self._others.add(known.path)
        return known

    def open_file(self, path: str) -> Any:
        """Return a new builder of the filesystem."""
        return self._filesystem.open_file(path)

    def get(self, future: Any) -> OpenedStream:
        """Return the stream of the future."""
        return OpenedStream(super().get(future))

    def counters(self, opened: Any) -> Mapping[str, int]:
        """Return statistics of the filesystem; stream counters come only from the stream."""
        stream = {} if opened is None else opened.stream.io_statistics()
        return counters_of(self._filesystem.io_statistics(), stream)

    def _make_directory(self) -> str:
        path = self._binding.new_path()
        try:
            self._filesystem.mkdirs(path)
        except Exception as error:
            raise failure(self._binding.name, "can't create a directory", error) from error
        return path

    def _forbid(self, path: str) -> None:
        try:
            self._filesystem.set_permission(path, 0)
            self._filesystem.access(path, "r")
        except AccessControlException:
            return
        except Exception as error:
            self.scenes -= {"unreadable"}
            raise NoScene(told(error)) from error
        self.scenes -= {"unreadable"}
        raise NoScene("this process can read files without permission")


def known_status(ask: Callable[[], Any], path: str) -> FileStatus:
    """Return the status from a filesystem, or one of unknown length if there is none.

    In the latter case the path is not a file.
    """
    try:
        status = ask()
        if (
            isinstance(status, FileStatus)
            and isinstance(status.path, str)
            and isinstance(status.length, int)
        ):
            return status
    except Exception:  # noqa: S110 - this fetches a status, it does not check it
        pass
    return FileStatus(path, -1)


def bounded(length: int) -> int:
    """Return the file length in a status; raise NoScene if it exceeds files of a run."""
    if length > LARGEST:
        raise NoScene(f"the status reports an implausible length: {length} bytes")
    return length


def _foreign_class(status: FileStatus) -> FileStatus:
    return ForeignStatus(**_values(status))


def _located(status: FileStatus) -> FileStatus:
    where = (BlockLocation(0, max(0, status.length), ("host1", "host2")),)
    return LocatedFileStatus(**_values(status), block_locations=where)


def _renamed(status: FileStatus) -> FileStatus:
    return replace(status, path=f"{dirname(status.path)}/other-{basename(status.path)}")


def _values(status: FileStatus) -> dict[str, Any]:
    return {field.name: getattr(status, field.name) for field in fields(FileStatus)}


#: Kinds of STATUSES, as functions of the file's own status.
KINDS: dict[str, Callable[[FileStatus], FileStatus]] = {
    "own": lambda status: status,
    "stale": lambda status: status,
    "parents": lambda status: replace(status, path=f"/other/parents/{basename(status.path)}"),
    "scheme": lambda status: replace(status, path=FOREIGN + status.path),
    "subclass": _foreign_class,
    "located": _located,
    "name": _renamed,
    "name-subclass": lambda status: _foreign_class(_renamed(status)),
}
