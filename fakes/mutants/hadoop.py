"""Mutants over Hadoop's own streams and builders."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from posixpath import basename
from typing import Any, ClassVar

from fscontract.contract.api.errors import (
    AccessControlException,
    EOFException,
    FileNotFoundException,
    IllegalArgumentException,
    IndexOutOfBoundsException,
    NullPointerException,
    PathIOException,
    UnsupportedOperationException,
)
from fscontract.contract.api.filesystem import (
    Allocate,
    Buffer,
    ByteBuffer,
    FileRange,
    FileStatus,
    FSDataInputStream,
    LocatedFileStatus,
    Release,
    no_release,
)
from fscontract.contract.api.openfile_options import LENGTH
from fscontract.contract.binding import Binding
from fscontract.contract.program.open_calls import BuilderCall
from fscontract.contract.program.outcome import IO_KINDS, Kind, Outcome
from fscontract.contract.program.program import Step
from fscontract.fakes.mutants.correct_parts import (
    OpeningBuilder,
    OpeningFileSystem,
)
from fscontract.implementations.bindings.hadoop.binding import HadoopBinding
from fscontract.implementations.bindings.hadoop.conversions import java
from fscontract.implementations.bindings.hadoop.statuses import Statuses
from fscontract.implementations.bindings.native import StreamBinding
from fscontract.implementations.bindings.open_file import StreamOpener
from fscontract.implementations.filesystem_base import denied
from fscontract.implementations.input_stream import ReferenceInputStream
from fscontract.implementations.memory import MemoryFileSystem, MemoryInputStream
from fscontract.implementations.openfile_builder import Builder, OpenOptions

#: Exceptions for kinds; the other kinds have PathIOException.
ERRORS: dict[Kind, type[Exception]] = {
    Kind.EOF: EOFException,
    Kind.ILLEGAL_ARGUMENT: IllegalArgumentException,
    Kind.INDEX: IndexOutOfBoundsException,
    Kind.NULL: NullPointerException,
    Kind.UNSUPPORTED: UnsupportedOperationException,
    Kind.OTHER: RuntimeError,
}


class Beneath:
    """Hadoop's files for a mutant: one for each content, written when it is first opened."""

    def __init__(self, binding: Binding) -> None:
        self.binding = binding
        self._paths: dict[bytes, str] = {}

    def open(self, content: bytes) -> Any:
        """Return a new Hadoop stream over these bytes."""
        path = self._paths.get(content)
        if path is None:
            path = self._paths[content] = self.binding.create(content)
        return self.binding.open(path)


class OverHadoop(MemoryInputStream):
    """A stream that delegates each call to a stream of Hadoop.

    Its position and its closed state are also Hadoop's: a mutant that sets one of them moves or
    closes that stream.
    """

    beneath: ClassVar[Beneath]
    _opened: Any = None
    _last = 0
    _shut = True

    def __init__(self, data: bytes, path: str = "/hadoop", declared: int | None = None) -> None:
        self._opened = None
        super().__init__(data, path, declared)
        self._opened = self._start(data, declared)

    def _start(self, data: bytes, declared: int | None) -> Any:
        """Return a Hadoop stream over these bytes; it ignores a declared length."""
        return self.beneath.open(data)

    @property
    def _closed(self) -> bool:
        return self._shut

    @_closed.setter
    def _closed(self, closed: bool) -> None:
        self._shut = closed
        if closed and self._opened is not None:
            self._do("close")

    @property
    def _pos(self) -> int:
        if self._opened is not None and not self._closed:
            self._last = int(self._do("get_pos"))
        return self._last

    @_pos.setter
    def _pos(self, position: int) -> None:
        self._last = position
        if self._opened is not None and not self._closed:
            self._do("seek", position)

    def _step(self, op: str, *args: Any) -> Outcome:
        return self.beneath.binding.bind(Step(op, args))(self._opened)

    def _do(self, op: str, *args: Any) -> Any:
        return self._value(self._step(op, *args))

    def _fill(self, op: str, before: tuple[int, ...], buffer: Buffer, *after: int) -> Any:
        if buffer is None:
            return self._do(op, *before, None, *after)
        outcome = self._step(op, *before, len(buffer), *after)
        if outcome.buffer is not None:
            count = outcome.value if outcome.value is not None else after[1]
            start = after[0]
            if count > 0:
                buffer[start : start + count] = outcome.buffer[start : start + count]
        return self._value(outcome)

    def _value(self, outcome: Outcome) -> Any:
        if outcome.kind is Kind.RETURNED:
            return outcome.value
        error = ERRORS.get(outcome.kind)
        raise PathIOException(self.path, outcome.detail) if error is None else error(outcome.detail)

    def get_pos(self) -> int:
        return int(self._do("get_pos"))

    def seek(self, position: int) -> None:
        self._do("seek", position)

    def seek_to_new_source(self, position: int) -> bool:
        return bool(self._do("seek_to_new_source", position))

    def read_byte(self) -> int:
        return int(self._do("read_byte"))

    def read_into(self, buffer: Buffer, offset: int = 0, length: int | None = None) -> int:
        return int(self._fill("read_into", (), buffer, offset, _length(buffer, offset, length)))

    def skip(self, count: int) -> int:
        return int(self._do("skip", count))

    def available(self) -> int:
        return int(self._do("available"))

    def pread(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> int:
        length = _length(buffer, offset, length)
        return int(self._fill("pread", (position,), buffer, offset, length))

    def read_fully(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> None:
        self._fill("read_fully", (position,), buffer, offset, _length(buffer, offset, length))

    def read_vectored(
        self,
        ranges: Sequence[FileRange],
        allocate: Allocate = bytearray,
        release: Release = no_release,
    ) -> None:
        """Call the underlying stream; copy its bytes into the buffers of `allocate`."""
        pairs = (
            None
            if ranges is None
            else tuple(None if r is None else (r.offset, r.length) for r in ranges)
        )
        makes = "null" if allocate is None else "heap"
        parts = self._do("read_vectored", pairs, makes, "null" if release is None else "given")
        for item, part in zip(ranges, parts, strict=True):
            item.data = self._delivered(part, allocate)

    def _delivered(self, part: Outcome, allocate: Allocate) -> Future[memoryview]:
        future: Future[memoryview] = Future()
        try:
            self._value(part)
            data = part.buffer or b""
            target = memoryview(allocate(len(data)))[: len(data)]
            target[:] = data
            future.set_result(target)
        except Exception as error:
            future.set_exception(error)
        return future

    def read_buffer(self, buffer: ByteBuffer) -> int:
        return int(self._through(buffer, "read_buffer"))

    def pread_buffer(self, position: int, buffer: ByteBuffer) -> int:
        return int(self._through(buffer, "pread_buffer", position))

    def read_fully_buffer(self, position: int, buffer: ByteBuffer) -> None:
        self._through(buffer, "read_fully_buffer", position)

    def _through(self, buffer: ByteBuffer, op: str, *before: int) -> Any:
        if buffer is None:
            return self._do(op, *before, None)
        raise UnsupportedOperationException(f"{op}: no local stream of Hadoop has it")

    def unbuffer(self) -> None:
        self._do("unbuffer")

    def has_capability(self, name: str) -> bool:
        return bool(self._do("has_capability", name))


def _length(buffer: Buffer, offset: int, length: int | None) -> int:
    return length if length is not None else 0 if buffer is None else len(buffer) - offset


def over_hadoop(stream: type[MemoryInputStream], beneath: Beneath) -> type[MemoryInputStream]:
    """Return a class that calls streams of Hadoop, except for what `stream` overrides."""
    bases = (stream, OverHadoop) if stream is not MemoryInputStream else (OverHadoop,)
    return type(stream.__name__, bases, {"beneath": beneath})


_DENIED = "Permission denied"


class Opened(Beneath):
    """Hadoop's files for a mutant, at the mutant's paths, and its builders."""

    def __init__(self, binding: HadoopBinding) -> None:
        super().__init__(binding)
        self.opener = binding.opener
        #: The declared length, which Hadoop's local streams ignore.
        self.declared: int | None = None
        self._root = f"{binding.prefix}/{basename(binding.new_path())}"
        self._statuses = Statuses(java())
        #: The result of build(), then the stream and its bytes, until they are fetched.
        self._future: Any = None
        self._fresh: tuple[bytes, Any] | None = None

    def at(self, path: str) -> str:
        """Return Hadoop's path of a file; a path of another scheme is unchanged."""
        return path if "://" in path else self._root + path

    # A builder, by steps ------------------------------------------------------------------------

    def start(self, path: str) -> Any:
        """Return a Java builder."""
        return self._try(path, lambda: self.opener.open_file(self.at(path)))

    def call(self, path: str, builder: Any, call: BuilderCall) -> Any:
        """Return the builder after a call."""
        method, *args = call
        if method == "with_file_status":
            ready: BuilderCall = (method, self._status(args[0]))
        else:
            ready = self.opener.ready(path, call)
        return self._try(path, lambda: self.opener.call(builder, ready))

    def build(self, path: str, builder: Any) -> Any:
        """Return the Java future."""
        return self._try(path, lambda: self.opener.build(builder))

    def offer(self, future: Any) -> None:
        """Store this future for the next opened stream; close a stored stream."""
        self._let_go()
        self._future = future

    def content(self, path: str) -> bytes:
        """Return the bytes of the next opened stream; raise the error of Hadoop's future."""
        future, self._future = self._future, None
        if future is None:
            opened = self._try(path, lambda: self.binding.open(self.at(path)))
        else:
            opened = self._try(path, lambda: self.opener.get(future))
        data = Path(self.at(path)).read_bytes()
        self._fresh = data, opened
        return data

    def opened(self, content: bytes, length: int | None) -> Any:
        """Return the stream of the future if it has these bytes, otherwise one over a file that
        has.

        A mutant that uses a length that was not declared gets a file of that length.
        """
        if length is not None and length != self.declared:
            content = content[:length]
        if self._fresh is not None and self._fresh[0] == content:
            (_, stream), self._fresh = self._fresh, None
            return stream
        self._let_go()
        return self.open(content)

    def _let_go(self) -> None:
        streams = []
        if self._future is not None:
            future, self._future = self._future, None
            with suppress(Exception):
                streams.append(self.opener.get(future))
        if self._fresh is not None:
            (_, stream), self._fresh = self._fresh, None
            streams.append(stream)
        for opened in streams:
            opened.stream.close()

    def _status(self, status: FileStatus | None) -> Any:
        if status is None:
            return self._statuses.null
        kind = {FileStatus: "own", LocatedFileStatus: "located"}.get(type(status), "subclass")
        path = java().path(self.at(status.path))
        return self._statuses.like(kind, path, status.length, status.is_directory)

    def _try(self, path: str, action: Callable[[], Any]) -> Any:
        """Return the result of an action; convert exceptions of Java."""
        try:
            return action()
        except Exception as error:
            raise self._ours(path, error) from error

    def _ours(self, path: str, error: Exception) -> Exception:
        outcome = self.opener.outcome(error)
        detail = outcome.detail
        if outcome.kind in ERRORS and outcome.kind not in IO_KINDS:
            return ERRORS[outcome.kind](detail)
        if detail.startswith("FileNotFoundException"):
            kind = AccessControlException if _DENIED in detail else FileNotFoundException
            return kind(path, detail)
        return PathIOException(path, detail)


class StreamOverHadoop(OverHadoop):
    """The stream of Hadoop's future, as the base of mutants of streams."""

    beneath: ClassVar[Opened]

    def _start(self, data: bytes, declared: int | None) -> Any:
        return self.beneath.opened(data, declared)


class BuilderOverHadoop(OpeningBuilder):
    """A builder that repeats each call on one of Hadoop's.

    Values that a mutant has changed are set on Hadoop's builder before it builds.
    """

    filesystem: FilesOverHadoop
    #: A value that is about to be set, before its conversion to a whole number.
    _double: float | None = None
    _told: FileStatus | None = None

    def start(self) -> None:
        """Make the underlying builder."""
        self._at = self._path
        self._java = self.filesystem.beneath.start(self._path)
        #: The values set there by opt(): as text, and as given.
        self._sent: dict[str, tuple[str, Any]] = {}

    def opt_double(self, key: str, value: float) -> Builder[FSDataInputStream]:
        self._double = value
        return super().opt_double(key, value)

    def must_double(self, key: str, value: float) -> Builder[FSDataInputStream]:
        self._double = value
        return super().must_double(key, value)

    def _set(self, key: str, value: Any) -> None:
        double, self._double = self._double, None
        exact = value if double is None else double
        self._tell(_typed("opt", key, exact))
        super()._set(key, value)
        self._sent[key] = self._values[key], exact

    def with_file_status(self, status: FileStatus | None) -> Builder[FSDataInputStream]:
        self._tell(("with_file_status", status))
        self._told = status
        return super().with_file_status(status)

    def _tell(self, call: BuilderCall) -> None:
        self._java = self.filesystem.beneath.call(self._path, self._java, call)

    def _check_keys(self) -> None:
        """Let Hadoop's builder check the current keys."""
        files = self.filesystem
        files.show(self._path)
        declared = self._declared()
        if self._path != self._at:
            self.start()
        for key, text in self._values.items():
            sent, value = self._sent.get(key, (None, text))
            if key in self._mandatory or text != sent:
                method = "must" if key in self._mandatory else "opt"
                self._tell(_typed(method, key, value if text == sent else text))
        if self._status is not self._told:
            self._tell(("with_file_status", self._status))
        files.beneath.offer(None)
        files.beneath.offer(files.beneath.build(self._path, self._java))
        files.beneath.declared = declared

    def _declared(self) -> int | None:
        """Return the length that was declared of this file."""
        plain = Builder(self._path, self._opener)
        plain._values = {key: text for key, (text, _) in self._sent.items()}
        return plain.with_file_status(self._own(self._told))._options().length

    def _options(self) -> OpenOptions:
        """Return the options without a status of another name, which Hadoop's local streams
        ignore.
        """
        status, self._status = self._status, self._own(self._status)
        try:
            return super()._options()
        finally:
            self._status = status

    def _own(self, status: FileStatus | None) -> FileStatus | None:
        """Return the status if it has the name of the file."""
        named = status is not None and basename(status.path) == basename(self._path)
        return status if named else None

    def build(self) -> Future[FSDataInputStream]:
        """Build with the underlying builder, after the check of names."""
        self._check_keys()
        future: Future[FSDataInputStream] = Future()
        try:
            future.set_result(self._opener(self._path, self._options()))
        except Exception as error:
            future.set_exception(error)
        finally:
            self.filesystem.beneath.offer(None)
        return future


class FilesOverHadoop(OpeningFileSystem):
    """Files that Hadoop opens. They are kept in memory, and written to disk before an open."""

    own_keys = frozenset()
    unsupported_keys: ClassVar[frozenset[str]] = frozenset()
    beneath: ClassVar[Opened]

    def open_file(self, path: str) -> OpeningBuilder:
        """Return a builder over Hadoop's."""
        builder = super().open_file(path)
        assert isinstance(builder, BuilderOverHadoop)
        self.show(path)
        builder.start()
        return builder

    def access(self, path: str, mode: str) -> None:
        """Check whether this process may read the file. Raise AccessControlException."""
        self.show(path)
        if not os.access(self.beneath.at(path), os.R_OK):
            raise denied(path)

    def show(self, path: str) -> None:
        """Write the current content of `path` to disk."""
        if "://" in path:
            return
        host = Path(self.beneath.at(path))
        if host.is_dir():
            shutil.rmtree(host)
        host.unlink(missing_ok=True)
        if not self._exists(path):
            return
        if self.get_file_status(path).is_directory:
            host.mkdir(parents=True)
            return
        host.parent.mkdir(parents=True, exist_ok=True)
        node: Any = self._find(path)
        host.write_bytes(node.data)
        host.chmod(node.mode)

    def _opened(self, operation: str, path: str, options: OpenOptions) -> ReferenceInputStream:
        stream: ReferenceInputStream = self._open(path, options)
        return stream

    def _data(self, path: str, options: OpenOptions) -> bytes:
        return self.beneath.content(path)


class OpenerOverHadoop(StreamOpener):
    """Opens with the mutant's builder, limited to the calls of Hadoop's."""

    def __init__(self, binding: StreamBinding, files: FilesOverHadoop) -> None:
        super().__init__(binding, files)
        self._hadoop = files.beneath.opener

    def ready(self, path: str, call: BuilderCall) -> BuilderCall:
        """Return a call that Java supports, too. Raise NoScene."""
        method, *args = call
        if method != "with_file_status":
            self._hadoop.ready(path, call)
        elif args[1] is not None:
            self._hadoop.ready(path, ("opt_long", LENGTH, args[1]))
        return super().ready(path, call)


def opening_over_hadoop(
    part: type[MemoryFileSystem], beneath: HadoopBinding, name: str
) -> StreamBinding:
    """Return a binding to a mutant of openFile() over Hadoop."""
    assert issubclass(part, OpeningFileSystem)
    opened = Opened(beneath)
    stream = _over(part.stream, StreamOverHadoop)
    stream.beneath = opened
    files = _over(part, FilesOverHadoop)
    files.beneath = opened
    files.builder = _over(part.builder, BuilderOverHadoop)
    files.stream = stream
    files.own_keys = files.unsupported_keys = frozenset()
    filesystem: FilesOverHadoop = files()
    binding = StreamBinding(filesystem, name)
    binding.opener = OpenerOverHadoop(binding, filesystem)
    return binding


def _over(part: type, mixed: type) -> Any:
    """Return a class with the bug of `part`, and everything else from `mixed`."""
    bases = (mixed,) if issubclass(mixed, part) else (part, mixed)
    return type(part.__name__, bases, {})


def _typed(method: str, key: str, value: Any) -> BuilderCall:
    """Return the variant of opt() or must() for a value of its type."""
    if isinstance(value, float):
        return f"{method}_double", key, value
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{method}_long", key, value
    return method, key, value
