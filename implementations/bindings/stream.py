"""The binding to our own ports: `FileSystem` and `FSDataInputStream`."""

from __future__ import annotations

from operator import attrgetter
from typing import ClassVar

from fscontract.contract.binding import Action, Binding
from fscontract.contract.ports import FileSystem
from fscontract.contract.program import CHANGES, Step
from fscontract.implementations.bindings.pyops import (
    PYTHON_OPERATIONS,
    bind_python,
    inexpressible,
)
from fscontract.implementations.bindings.scratch import (
    ScratchBinding,
    failure,
    new_prefix,
    prefixes_among,
)
from fscontract.implementations.bindings.streamopener import OpenedStream, StreamOpener
from fscontract.implementations.bindings.streamops import STREAM_OPERATIONS, bind_stream

_file_of = attrgetter("file")


class StreamBinding(ScratchBinding):
    """Programs as calls of an FSDataInputStream that a FileSystem of ours opens."""

    api: ClassVar[str] = "stream"
    #: What `recognise` takes, for messages.
    accepts: ClassVar[str] = "a fscontract.contract.ports.FileSystem"

    def __init__(self, filesystem: FileSystem, name: str, root: str = "/") -> None:
        self.filesystem = filesystem
        self.name = name
        self.operations = STREAM_OPERATIONS | PYTHON_OPERATIONS
        self.changes = frozenset(CHANGES)
        #: Libraries whose version a report should show, with the version.
        self.versions: dict[str, str] = {}
        self._root = root
        self.opener = StreamOpener(self, filesystem)

    @classmethod
    def recognise(cls, obj: object, name: str) -> Binding | None:
        """The binding if `obj` is a FileSystem of ours, None otherwise."""
        return cls(obj, name) if isinstance(obj, FileSystem) else None

    def prepare(self) -> None:
        """Make a random directory below the root; TargetError if that fails."""
        prefix = new_prefix(self._root)
        try:
            self.filesystem.mkdirs(prefix)
        except Exception as error:
            raise failure(self.name, "can't make a directory", error) from error
        self._prefix = prefix

    def change(self, path: str, content: bytes | None) -> None:
        """Overwrite or delete a file; TargetError if that fails."""
        try:
            if content is None:
                self.filesystem.delete(path)
                return
            with self.filesystem.create(path) as file:
                file.write(content)
        except Exception as error:
            raise failure(self.name, f"can't change {path}", error) from error

    def open(self, path: str) -> OpenedStream:
        """Open the file with default options."""
        return OpenedStream(self.filesystem.open(path))

    def bind(self, step: Step) -> Action:
        """A step without anchors as a function of an OpenedStream."""
        if step.op in STREAM_OPERATIONS:
            return bind_stream(step)
        if step.op in PYTHON_OPERATIONS:
            return bind_python(step, _file_of)
        return inexpressible

    def leftovers(self) -> list[str]:
        """The directories below the root that are named like prefixes; TargetError."""
        try:
            found = self.filesystem.list_status(self._root)
            return prefixes_among([s.path for s in found if s.is_directory])
        except Exception as error:
            raise failure(self.name, f"can't list {self._root}", error) from error

    def discard(self, prefix: str) -> None:
        """Delete a prefix; TargetError if it stays."""
        try:
            self.filesystem.delete(prefix, recursive=True)
        except Exception as error:
            raise failure(self.name, f"can't remove {prefix}", error) from error

    def status_length(self, path: str) -> int | None:
        """The length that `get_file_status` reports."""
        return self.filesystem.get_file_status(path).length

    def status_etag(self, path: str) -> str | None:
        """The version that `get_file_status` reports."""
        return self.filesystem.get_file_status(path).etag
