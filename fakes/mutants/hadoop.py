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

#: Exceptions that stand for kinds; for the others there is PathIOException.
ERRORS: dict[Kind, type[Exception]] = {
    Kind.EOF: EOFException,
    Kind.ILLEGAL_ARGUMENT: IllegalArgumentException,
    Kind.INDEX: IndexOutOfBoundsException,
    Kind.NULL: NullPointerException,
    Kind.UNSUPPORTED: UnsupportedOperationException,
    Kind.OTHER: RuntimeError,
}


class Beneath:
    """Hadoop's files below a mutant: one for each content, written when it is first opened."""

    def __init__(self, binding: Binding) -> None:
        self.binding = binding
        self._paths: dict[bytes, str] = {}

    def open(self, content: bytes) -> Any:
        """A new stream of Hadoop over these bytes."""
        path = self._paths.get(content)
        if path is None:
            path = self._paths[content] = self.binding.create(content)
        return self.binding.open(path)


class OverHadoop(MemoryInputStream):
    """A stream that does nothing itself: it makes each call on a stream of Hadoop.

    Where it is and whether it is closed are Hadoop's, too: a mutant that sets one of them moves
    or closes that stream.
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
        """A stream of Hadoop over these bytes; what length was declared is nothing to it."""
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
        """As the stream beneath, whose bytes are copied into the buffers of `allocate`."""
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
    """Hadoop's files below a mutant, at the paths that it has for them, and its builders."""

    def __init__(self, binding: HadoopBinding) -> None:
        super().__init__(binding)
        self.opener = binding.opener
        #: The length that was declared, of which Hadoop's local streams make nothing.
        self.declared: int | None = None
        self._root = f"{binding.prefix}/{basename(binding.new_path())}"
        self._statuses = Statuses(java())
        #: What build() gave, and then the stream and its bytes, until somebody takes it.
        self._future: Any = None
        self._fresh: tuple[bytes, Any] | None = None

    def at(self, path: str) -> str:
        """Where Hadoop has what lies at `path`; a path of another scheme stays."""
        return path if "://" in path else self._root + path

    # A builder, by steps ------------------------------------------------------------------------

    def start(self, path: str) -> Any:
        """A builder of Java's."""
        return self._try(path, lambda: self.opener.open_file(self.at(path)))

    def call(self, path: str, builder: Any, call: BuilderCall) -> Any:
        """The builder after a call."""
        method, *args = call
        if method == "with_file_status":
            ready: BuilderCall = (method, self._status(args[0]))
        else:
            ready = self.opener.ready(path, call)
        return self._try(path, lambda: self.opener.call(builder, ready))

    def build(self, path: str, builder: Any) -> Any:
        """The future of Java's."""
        return self._try(path, lambda: self.opener.build(builder))

    def offer(self, future: Any) -> None:
        """The next stream that is opened is that of this future; one that nobody took is closed."""
        self._let_go()
        self._future = future

    def content(self, path: str) -> bytes:
        """The bytes of the stream that is opened next; whatever Hadoop's future raises."""
        future, self._future = self._future, None
        if future is None:
            opened = self._try(path, lambda: self.binding.open(self.at(path)))
        else:
            opened = self._try(path, lambda: self.opener.get(future))
        data = Path(self.at(path)).read_bytes()
        self._fresh = data, opened
        return data

    def opened(self, content: bytes, length: int | None) -> Any:
        """The stream of the future if it has these bytes, or else one over a file that has.

        A mutant that goes by a length which nobody declared gets a file of that length.
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
        """What an action gives; an exception of Java's as one of ours."""
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
    """The stream that Hadoop's future gives, as a mutant of streams sees it."""

    beneath: ClassVar[Opened]

    def _start(self, data: bytes, declared: int | None) -> Any:
        return self.beneath.opened(data, declared)


class BuilderOverHadoop(OpeningBuilder):
    """A builder that makes each call of one of Hadoop's, too.

    What a mutant has changed in what was set is told to Hadoop's before it builds.
    """

    filesystem: FilesOverHadoop
    #: A value that is about to be set, before it was made a whole number.
    _double: float | None = None
    _told: FileStatus | None = None

    def start(self) -> None:
        """Make the builder beneath."""
        self._at = self._path
        self._java = self.filesystem.beneath.start(self._path)
        #: What was set there by opt(): as text, and as it was given.
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
        """Let Hadoop's builder build, by what is set now."""
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
        """The length that was declared of this very file."""
        plain = Builder(self._path, self._opener)
        plain._values = {key: text for key, (text, _) in self._sent.items()}
        return plain.with_file_status(self._own(self._told))._options().length

    def _options(self) -> OpenOptions:
        """Without a status of another name: Hadoop's local streams go by none."""
        status, self._status = self._status, self._own(self._status)
        try:
            return super()._options()
        finally:
            self._status = status

    def _own(self, status: FileStatus | None) -> FileStatus | None:
        """A status if it has the name of the file."""
        named = status is not None and basename(status.path) == basename(self._path)
        return status if named else None

    def build(self) -> Future[FSDataInputStream]:
        """As the builder beneath; names are for it to check."""
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
    """Files that Hadoop opens. They are kept in memory, and shown to it when it is to open one."""

    own_keys = frozenset()
    unsupported_keys: ClassVar[frozenset[str]] = frozenset()
    beneath: ClassVar[Opened]

    def open_file(self, path: str) -> OpeningBuilder:
        """A builder over Hadoop's."""
        builder = super().open_file(path)
        assert isinstance(builder, BuilderOverHadoop)
        self.show(path)
        builder.start()
        return builder

    def access(self, path: str, mode: str) -> None:
        """Whether this process may read what Hadoop would open; AccessControlException."""
        self.show(path)
        if not os.access(self.beneath.at(path), os.R_OK):
            raise denied(path)

    def show(self, path: str) -> None:
        """Put on disk what lies at `path` now."""
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
    """Opens by the mutant's builder what Hadoop's has words for."""

    def __init__(self, binding: StreamBinding, files: FilesOverHadoop) -> None:
        super().__init__(binding, files)
        self._hadoop = files.beneath.opener

    def ready(self, path: str, call: BuilderCall) -> BuilderCall:
        """A call that Java can be given, too; NoScene."""
        method, *args = call
        if method != "with_file_status":
            self._hadoop.ready(path, call)
        elif args[1] is not None:
            self._hadoop.ready(path, ("opt_long", LENGTH, args[1]))
        return super().ready(path, call)


def opening_over_hadoop(
    part: type[MemoryFileSystem], beneath: HadoopBinding, name: str
) -> StreamBinding:
    """A binding to a mutant of openFile(), all but whose mistake is Hadoop's."""
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
    """Return a class that does what `part` does wrong, and everything else as `mixed`."""
    bases = (mixed,) if issubclass(mixed, part) else (part, mixed)
    return type(part.__name__, bases, {})


def _typed(method: str, key: str, value: Any) -> BuilderCall:
    """opt() or must() by the method for a value of its type."""
    if isinstance(value, float):
        return f"{method}_double", key, value
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{method}_long", key, value
    return method, key, value
