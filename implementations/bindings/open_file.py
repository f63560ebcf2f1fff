"""Opening streams of our own through `open_file`, for programs that start with one."""

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
from fscontract.contract.api.iostatistics import STORE_IO_REQUEST
from fscontract.contract.binding import NoScene, Opener
from fscontract.contract.program.content import content, replacement
from fscontract.contract.program.open_calls import MISNAMED, SCENES, STATUSES
from fscontract.implementations.bindings.common import LARGEST, ScratchBinding, failure, told

#: What no filesystem of ours serves.
FOREIGN = "gopher://localhost"
#: What a stream counts for itself: all of these names, and those that start so.
_OF_STREAMS = ("stream_", STORE_IO_REQUEST)


class OpenedStream:
    """A stream, and its one Python file once a `py_*` operation has asked for it."""

    __slots__ = ("_file", "stream")

    def __init__(self, stream: FSDataInputStream) -> None:
        self.stream = stream
        self._file: io.RawIOBase | None = None

    @property
    def file(self) -> io.RawIOBase:
        """The Python file over the stream, always the same one."""
        if self._file is None:
            self._file = self.stream.as_file()
        return self._file


class ForeignStatus(FileStatus):
    """A status of a class that no filesystem has ever heard of."""


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
        """Make the scene and return its path; NoScene if this process can read every file."""
        if scene in ("missing", "late"):
            return self._binding.new_path()
        if scene == "directory":
            return self._make_directory()
        path = self._binding.create(content)
        if scene == "unreadable":
            self._forbid(path)
        return FOREIGN + path if scene == "foreign" else path

    def appear(self, path: str, content: bytes) -> None:
        """Write the file at `path`; TargetError."""
        self._binding.change(path, content)

    def status(self, path: str, kind: str, length: int | None) -> FileStatus | None:
        """A status of a kind; one of no known length if there is no file yet.

        Where a status of another name leads, there is a file with other bytes.
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
        """A new builder of the filesystem."""
        return self._filesystem.open_file(path)

    def get(self, future: Any) -> OpenedStream:
        """The stream of the future."""
        return OpenedStream(super().get(future))

    def counters(self, opened: Any) -> Mapping[str, int]:
        """The filesystem's statistics, with those of streams only from the stream itself."""
        counts = self._filesystem.io_statistics()
        own = {name: n for name, n in counts.items() if not name.startswith(_OF_STREAMS)}
        return own if opened is None else {**own, **opened.stream.io_statistics()}

    def _make_directory(self) -> str:
        path = self._binding.new_path()
        try:
            self._filesystem.mkdirs(path)
        except Exception as error:
            raise failure(self._binding.name, "can't make a directory", error) from error
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
        raise NoScene("no permission keeps this process from reading")


def known_status(ask: Callable[[], Any], path: str) -> FileStatus:
    """Return the status that a filesystem gives; one of no known length if it gives none.

    What lies at the path is no file then, and may be anything.
    """
    try:
        status = ask()
        if (
            isinstance(status, FileStatus)
            and type(status.path) is str
            and type(status.length) is int
        ):
            return status
    except Exception:  # noqa: S110 - a status is asked for, not judged
        pass
    return FileStatus(path, -1)


def bounded(length: int) -> int:
    """Return the length of a file of a run; NoScene if a status says that it is far longer."""
    if length > LARGEST:
        raise NoScene(f"the file has a status of {length} bytes")
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


#: The kinds of STATUSES as what becomes of the file's own.
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
