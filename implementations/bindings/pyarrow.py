"""Binding to PyArrow filesystems: files of `open_input_file`."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from fscontract.contract.binding import Action, Binding, Opened
from fscontract.contract.program.filesystem_calls import (
    ARROW_OPERATIONS,
    READER_OPERATIONS,
)
from fscontract.contract.program.outcome import Outcome
from fscontract.contract.program.program import Step
from fscontract.contract.script.calls import Call, Form, Source
from fscontract.contract.spec.inherited_failures import class_name
from fscontract.implementations.bindings.common import OpenedFile
from fscontract.implementations.bindings.file_operations import inexpressible, translate
from fscontract.implementations.bindings.filesystem_calls import Target
from fscontract.implementations.bindings.fsspec_quirks import (
    below_directories,
    is_remote_protocol,
)
from fscontract.implementations.bindings.library_readers import (
    Wording,
    bind_reader,
    reader_operations,
    spell_reader,
)
from fscontract.implementations.bindings.method_sources import (
    FILE_METHODS,
    WRAPPED,
    sources_of,
)
from fscontract.implementations.bindings.object_stores import Store, StoreBinding
from fscontract.implementations.bindings.positioned_reads import bind_pread
from fscontract.implementations.bindings.pyarrow_calls import bind_arrow, spell_arrow
from fscontract.implementations.bindings.script_setup import pyarrow_setup

_WORDING = Wording(
    "fs.open_input_file(name)", "with fs.open_output_stream(name) as out: out.write(data)"
)
#: Types of local filesystems, and for those from fsspec the part after the +.
_LOCAL = frozenset({"local", "mock", "file", "memory"})


class PyArrowStore(Store):
    """Files below `root`, a path of the filesystem `fs`."""

    def __init__(self, fs: Any, root: str) -> None:
        self.fs = fs
        self.root = root.rstrip("/")

    def make(self, directory: str) -> None:
        """Create a directory if the store has directories."""
        if not _is_flat(self.fs):
            self.fs.create_dir(directory, recursive=False)

    def write(self, path: str, content: bytes) -> None:
        """Write a file; replace an existing one."""
        with self.fs.open_output_stream(path) as file:
            file.write(content)

    def delete(self, path: str) -> None:
        """Delete a file."""
        self.fs.delete_file(path)

    def length(self, path: str) -> int:
        """Return the size that `get_file_info` reports."""
        return int(self.fs.get_file_info(path).size)

    def directories(self) -> Iterable[str]:
        """Return the directories directly below the root."""
        from pyarrow.fs import FileSelector, FileType

        entries = self.fs.get_file_info(FileSelector(self.root, allow_not_found=True))
        return [info.path for info in entries if info.type == FileType.Directory]

    def delete_all(self, directory: str) -> None:
        """Delete a directory. On S3, PyArrow then adds a marker for the parent if it is empty."""
        from pyarrow.fs import FileType

        if self.fs.get_file_info(directory).type == FileType.Directory:
            self.fs.delete_dir(directory)


class PyArrowBinding(StoreBinding):
    """Runs programs on the NativeFile that a PyArrow filesystem opens."""

    api: ClassVar[str] = "pyarrow"
    default_profile: ClassVar[str] = "pyarrow"
    opening = "fs.open_input_file(path)"
    writing = "with fs.open_output_stream(path) as out:\n    out.write({})"
    deleting = "fs.delete_file(path)"
    status_in_script = "fs.get_file_info(path).size"
    making_directory = "fs.create_dir(path)"
    packages = ("pyarrow",)
    #: Object that `recognise` accepts, for messages.
    accepts: ClassVar[str] = "a pyarrow.fs.FileSystem"

    def __init__(self, fs: Any, root: str, name: str, secrets: tuple[str, ...] = ()) -> None:
        super().__init__(PyArrowStore(fs, root), name, secrets)
        self.fs = fs
        self.operations |= {"pread"} | ARROW_OPERATIONS.keys() | reader_operations()
        self.remote = _is_remote(fs)

    def sources(self, path: str) -> Mapping[str, frozenset[str]]:
        """Return the classes of PyArrow behind the files of a handler of one's own; else none."""
        inner = _innermost(self.fs)
        handler = getattr(inner, "handler", None)
        if handler is None:
            return {}
        own = below_directories(getattr(handler, "fs", handler))
        with self.fs.open_input_file(path) as file:
            found = sources_of(file, {**FILE_METHODS, "pread": ("read_at",)}, own)
        with handler.open_input_file(_innermost_path(self.fs, path)) as file:
            wrapped = frozenset(class_name(type(one)) for one in (inner, file))
        return found and {**found, WRAPPED: wrapped}

    @classmethod
    def connect(cls, url: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Return a filesystem and the path in it; `arguments` are those of its class."""
        from pyarrow import fs

        scheme, _, path = url.partition("://")
        if scheme == "s3":
            return {"fs": fs.S3FileSystem(**arguments), "root": path}
        if scheme == "file":
            return {"fs": fs.LocalFileSystem(**arguments), "root": path}
        if arguments:
            raise ValueError(
                "options are supported only for s3:// and file:// URLs; use the query of the URL "
                "instead"
            )
        source, root = fs.FileSystem.from_uri(url)
        return {"fs": source, "root": root}

    @classmethod
    def recognise(cls, obj: object, name: str) -> Binding | None:
        """Return a binding if `obj` is a PyArrow filesystem, else None."""
        module = sys.modules.get("pyarrow.fs")
        if module is None or not isinstance(obj, module.FileSystem):
            return None
        root = tempfile.gettempdir() if isinstance(obj, module.LocalFileSystem) else ""
        return cls(obj, root, name)

    def open_file(self, path: str) -> OpenedFile:
        """Open the file for reading at any position."""
        return OpenedFile(self.fs.open_input_file(path), path)

    def file(self, opened: Opened) -> Any:
        """Return the NativeFile."""
        return opened.file

    def bind_positioned(self, step: Step) -> Action:
        """Return `read_at`, which does not move the position, as a function of an opened file.

        Calls of ARROW_OPERATIONS open the file themselves.
        """
        target = Target(self.fs, self._store.write)
        if step.op in ARROW_OPERATIONS:
            return bind_arrow(step, target, self._fail)
        if step.op in READER_OPERATIONS:
            return bind_reader(step, target, lambda fs, path: fs.open_input_file(path), self._fail)
        if step.op != "pread":
            return inexpressible
        return bind_pread(step, _read_at, self.failed, negative=True)

    def script_setup(self, source: Source) -> tuple[str, ...]:
        """Return the statements that make the store and `path`; raise NoScript."""
        return pyarrow_setup(source)

    def spell_positioned(self, step: Step, name: str) -> Call | None:
        """Return a pread as a call of the API."""
        if step.op != "pread":
            return spell_arrow(step) or spell_reader(step, _WORDING)
        position, _size, _offset, length = step.args
        return Call(f"{name}.read_at({length}, {position})", Form.BYTES)

    def failed(self, error: Exception, opened: Opened) -> Outcome:
        """Return the outcome of a `read_at` that raised, which is a call of the file."""
        return translate("pread", error, getattr(opened, "file", opened), self._fail)


def _read_at(opened: OpenedFile, position: int, length: int) -> Any:
    return opened.file.read_at(length, position)


def _innermost(fs: Any) -> Any:
    """Return the filesystem below those that only change paths."""
    while hasattr(fs, "base_fs"):
        fs = fs.base_fs
    return fs


def _innermost_path(fs: Any, path: str) -> str:
    """Return a path as the filesystem below those that only change paths gets it."""
    while hasattr(fs, "base_fs"):
        fs, path = fs.base_fs, f"{fs.base_path.rstrip('/')}/{path.lstrip('/')}"
    return path


def _kinds(fs: Any) -> set[str]:
    """Return the types of the filesystem and of those that it wraps."""
    return set(str(_innermost(fs).type_name).rpartition("+")[2].split("::"))


def _is_remote(fs: Any) -> bool:
    return any(map(is_remote_protocol, _kinds(fs)))


def _is_flat(fs: Any) -> bool:
    return not _kinds(fs) & (_LOCAL | {"hdfs"})
