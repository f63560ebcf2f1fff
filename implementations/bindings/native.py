"""Binding to this package's interfaces, `FileSystem` and `FSDataInputStream`."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter, methodcaller
from typing import Any, ClassVar

from fscontract.contract.api.filesystem import ByteBuffer, FileSystem
from fscontract.contract.binding import Action, Binding, Injector, Opened
from fscontract.contract.program.outcome import Kind, Outcome, raised
from fscontract.contract.program.program import CHANGES, Program, Step
from fscontract.contract.script.calls import ScriptApi, Source
from fscontract.implementations.bindings.common import (
    ScratchBinding,
    blank,
    failure,
    filled,
    new_prefix,
    prefixes_among,
)
from fscontract.implementations.bindings.file_operations import (
    PYTHON_OPERATIONS,
    bind_python,
    inexpressible,
)
from fscontract.implementations.bindings.open_file import OpenedStream, StreamOpener
from fscontract.implementations.bindings.range_buffers import Pairs, bind_vectored
from fscontract.implementations.bindings.script_setup import stream_setup
from fscontract.implementations.bindings.spelling import spell_stream

_RETURNED = Kind.RETURNED


def bind_stream(step: Step) -> Action:
    """Return a step as a function of an OpenedStream."""
    return _MAKERS[step.op](*step.args)


def _call(name: str) -> Callable[..., Action]:
    def make(*args: Any) -> Action:
        call = methodcaller(name, *args)

        def run(opened: Opened) -> Outcome:
            try:
                return Outcome(_RETURNED, call(opened.stream))
            except Exception as error:
                return raised(error)

        return run

    return make


def _read_into(size: int | None, offset: int, length: int) -> Action:
    return _fill("read_into", (), size, (offset, length))


def _positioned(name: str) -> Callable[..., Action]:
    def make(position: int, size: int | None, *window: int) -> Action:
        return _fill(name, (position,), size, window)

    return make


def _fill(name: str, before: tuple[int, ...], size: int | None, after: tuple[int, ...]) -> Action:
    if size is None:
        return _call(name)(*before, None, *after)
    source = blank(size)

    def run(opened: Opened) -> Outcome:
        buffer = bytearray(source)
        try:
            value = getattr(opened.stream, name)(*before, buffer, *after)
        except Exception as error:
            return raised(error)
        return Outcome(_RETURNED, value, bytes(buffer))

    return run


def _with_byte_buffer(name: str, positions: int) -> Callable[..., Action]:
    def make(*args: Any) -> Action:
        before, (size, start, limit) = args[:positions], args[positions:]
        if size is None:
            return _call(name)(*before, None)
        end = size if limit is None else limit
        if not 0 <= start <= end <= size:
            return inexpressible
        source = blank(size)

        def run(opened: Opened) -> Outcome:
            memory = bytearray(source)
            buffer = ByteBuffer(memory)
            buffer.limit, buffer.position = end, start
            try:
                result = getattr(opened.stream, name)(*before, buffer)
            except Exception as error:
                return raised(error)
            return Outcome(_RETURNED, (result, buffer.position, buffer.limit), bytes(memory))

        return run

    return make


def _read_vectored(ranges: Pairs | None, allocate: str, release: str) -> Action:
    if ranges is not None:
        return bind_vectored(ranges, allocate, release)
    releases = {"given": (_keep_nothing,), "absent": (), "null": (None,)}[release]
    return _call("read_vectored")(None, None if allocate == "null" else filled, *releases)


def _keep_nothing(_buffer: bytearray | memoryview) -> None:
    return None


def _close() -> Action:
    call = _call("close")()

    def run(opened: Opened) -> Outcome:
        try:
            return call(opened)
        finally:
            opened.take_back()

    return run


_MAKERS: dict[str, Callable[..., Action]] = {
    "close": _close,
    "get_pos": _call("get_pos"),
    "read_byte": _call("read_byte"),
    "read_into": _read_into,
    "seek": _call("seek"),
    "seek_to_new_source": _call("seek_to_new_source"),
    "unbuffer": _call("unbuffer"),
    "has_capability": _call("has_capability"),
    "skip": _call("skip"),
    "available": _call("available"),
    "pread": _positioned("pread"),
    "read_fully": _positioned("read_fully"),
    "read_fully_all": _positioned("read_fully"),
    "read_vectored": _read_vectored,
    "read_buffer": _with_byte_buffer("read_buffer", 0),
    "pread_buffer": _with_byte_buffer("pread_buffer", 1),
    "read_fully_buffer": _with_byte_buffer("read_fully_buffer", 1),
}
#: All operations that FSDataInputStream has methods for.
STREAM_OPERATIONS = frozenset(_MAKERS)


_file_of = attrgetter("file")


def _opening(program: Program, name: str) -> tuple[str, ...]:
    """Return the statements that open a stream, and its Python file if the program uses it."""
    as_file = any(step.op.startswith("py_") for step in program.steps)
    return (f"{name} = fs.open(path)", *([f"{name}_file = {name}.as_file()"] if as_file else []))


def _failed(step: Step, error: Exception, closed: bool) -> Outcome:
    return raised(error)


class StreamBinding(ScratchBinding):
    """Runs programs on the FSDataInputStreams that a FileSystem of this package opens."""

    api: ClassVar[str] = "stream"
    #: Object that `recognise` accepts, for messages.
    accepts: ClassVar[str] = "a fscontract.FileSystem"

    def __init__(self, filesystem: FileSystem, name: str, root: str = "/") -> None:
        self.filesystem = filesystem
        self.name = name
        self.operations = STREAM_OPERATIONS | PYTHON_OPERATIONS
        self.changes = frozenset(CHANGES)
        #: Libraries and their versions, for reports.
        self.versions: dict[str, str] = {}
        self._root = root
        self.opener = StreamOpener(self, filesystem)

    @classmethod
    def recognise(cls, obj: object, name: str) -> Binding | None:
        """Return a binding if `obj` is a FileSystem of this package, else None.

        Its attribute `injector`, if it has one, makes its requests fail.
        """
        if not isinstance(obj, FileSystem):
            return None
        binding = cls(obj, name)
        injector = getattr(obj, "injector", None)
        binding.injector = injector if isinstance(injector, Injector) else None
        return binding

    def prepare(self) -> None:
        """Create a random directory below the root; raise TargetError on failure."""
        prefix = new_prefix(self._root)
        try:
            self.filesystem.mkdirs(prefix)
        except Exception as error:
            raise failure(self.name, "can't create a directory", error) from error
        self._prefix = prefix

    def change(self, path: str, content: bytes | None) -> None:
        """Overwrite or delete a file; raise TargetError on failure."""
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
        """Return a step without anchors as a function of an OpenedStream."""
        if step.op in STREAM_OPERATIONS:
            return bind_stream(step)
        if step.op in PYTHON_OPERATIONS:
            return bind_python(step, _file_of)
        return inexpressible

    def script_api(self, source: Source) -> ScriptApi:
        """Return the filesystem and its streams as scripts use them; raise NoScript."""
        return ScriptApi(
            setup=stream_setup(source),
            write="with fs.create(path) as out:\n    out.write({})",
            delete="fs.delete(path)",
            spell=spell_stream,
            opening=_opening,
            failed=_failed,
            status="fs.get_file_status(path).length",
            makes_directory="fs.mkdirs(path)",
            builder="fs.open_file(path)",
            injector="fs.injector" if self.injector is not None else "",
            remote=self.remote,
        )

    def leftovers(self) -> list[str]:
        """Return the directories below the root named like prefixes; raise TargetError."""
        try:
            statuses = self.filesystem.list_status(self._root)
            return prefixes_among([s.path for s in statuses if s.is_directory])
        except Exception as error:
            raise failure(self.name, f"can't list {self._root}", error) from error

    def discard(self, prefix: str) -> None:
        """Delete a prefix; raise TargetError on failure."""
        try:
            self.filesystem.delete(prefix, recursive=True)
        except Exception as error:
            raise failure(self.name, f"can't remove {prefix}", error) from error

    def status_length(self, path: str) -> int | None:
        """Return the length that `get_file_status` reports."""
        return self.filesystem.get_file_status(path).length

    def status_etag(self, path: str) -> str | None:
        """Return the ETag that `get_file_status` reports."""
        return self.filesystem.get_file_status(path).etag
