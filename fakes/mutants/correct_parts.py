"""Correct parts that mutants derive from: filesystems, streams, builders, files, scaling."""

from __future__ import annotations

import io
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, ClassVar, NamedTuple

from fscontract.contract.api.errors import (
    FileNotFoundException,
    NullPointerException,
    UnsupportedOperationException,
)
from fscontract.contract.api.filesystem import FileStatus, FSDataInputStream
from fscontract.contract.api.iostatistics import OP_OPENFILE
from fscontract.contract.api.openfile_options import option_table
from fscontract.contract.binding import Binding
from fscontract.fakes.faulty_local import FaultyLocalFileSystem
from fscontract.fakes.filesystem.client import Client, FakeInputStream
from fscontract.fakes.filesystem.filesystem import FakeBinding, FakeFileSystem
from fscontract.fakes.mutants.stream.variants import NoSeek
from fscontract.implementations.file_adapter import StreamFile
from fscontract.implementations.input_stream import ReferenceInputStream
from fscontract.implementations.local_stream import (
    DEFAULT_BUFFER,
    FOOTER,
    Identity,
    LocalInputStream,
)
from fscontract.implementations.memory import MemoryFileSystem, MemoryInputStream
from fscontract.implementations.openfile_builder import Builder, OpenOptions
from fscontract.implementations.targets import LocalBinding
from fscontract.pipeline.blockreader import scaling
from fscontract.pipeline.blockreader.scaling import (
    Decision,
    Partition,
    ScalingState,
)

#: An additional key of these filesystems, and one that they can't support.
OWN_KEY = "fs.mutant.key"
UNSUPPORTED_KEY = "fs.mutant.select"


class OptionStream(MemoryInputStream):
    """A stream that knows the options of its open."""

    def __init__(self, data: bytes, path: str, options: OpenOptions) -> None:
        super().__init__(data, path, options.length)
        self.options = options


class OpeningBuilder(Builder[FSDataInputStream]):
    """A builder that knows its filesystem."""

    filesystem: OpeningFileSystem

    @property
    def optional(self) -> set[str]:
        """The keys that are set and not mandatory."""
        return self._values.keys() - self._mandatory

    def text(self, key: str) -> str:
        """Return the value of a key, "" if it is not set."""
        return self._values.get(key, "")


class OpeningFileSystem(MemoryFileSystem):
    """Files in memory, opened by builders of the class `builder` as streams of the class `stream`.

    Parts that a subclass does not override stay correct.
    """

    #: The differences from the profile "reference", with "!" before missing features.
    features: ClassVar[tuple[str, ...]] = ()
    own_keys: ClassVar[frozenset[str]] = frozenset({OWN_KEY})
    unsupported_keys: ClassVar[frozenset[str]] = frozenset({UNSUPPORTED_KEY})
    builder: ClassVar[type[OpeningBuilder]] = OpeningBuilder
    stream: ClassVar[type[OptionStream]] = OptionStream

    def open_file(self, path: str) -> OpeningBuilder:
        """Start building an open with options; NullPointerException if there is no path."""
        if path is None:
            raise NullPointerException("no path")
        builder = self.builder(path, self._open_by, self.own_keys, self.unsupported_keys)
        builder.filesystem = self
        return builder

    def _open_by(self, path: str, options: OpenOptions) -> ReferenceInputStream:
        """Open the file for `build`."""
        return self._opened(OP_OPENFILE, path, options)

    def _open(self, path: str, options: OpenOptions) -> Any:  # a stream of any class
        return self.stream(self._data(path, options), path, options)

    def _data(self, path: str, options: OpenOptions) -> bytes:
        """Return the file's bytes; raise every error of opening it."""
        return super()._open(path, options).data


class _Blob:
    """A version of a file as an opened source of bytes."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def identity(self) -> Identity:
        return 0, id(self._data), len(self._data), 0

    def read(self, position: int, view: memoryview) -> int:
        chunk = self._data[position : position + len(view)]
        view[: len(chunk)] = chunk
        return len(chunk)


class StoredStream(LocalInputStream):
    """A stream that reads ahead and keeps footers, and counts its requests to the store."""


class StoredFiles(OpeningFileSystem):
    """Files in a store that counts opens and requests; their streams are `stored`."""

    stored: ClassVar[type[StoredStream]] = StoredStream

    def _open(self, path: str, options: OpenOptions) -> Any:
        data = self._data(path, options)
        size, footer = self._buffer_size(options), self._footer(options)
        return self.stored(path, lambda look: _Blob(data), size, options.length, None, footer)

    def _buffer_size(self, options: OpenOptions) -> int:
        """Return the number of bytes that a stream reads ahead."""
        if options.buffer_size is not None:
            return options.buffer_size
        return self._size_for(options.read_policy)

    def _size_for(self, policy: str | None) -> int:
        """Return the same number, if only the policy sets it."""
        size = None if policy is None else option_table().policies[policy].buffer
        return size or DEFAULT_BUFFER

    def _footer(self, options: OpenOptions) -> int:
        """Return the number of bytes at the end that a stream keeps."""
        return FOOTER if options.footer_cache else 0


def filesystem_of(broken: type) -> type[OpeningFileSystem]:
    """Return a class of filesystems that uses the part, which may be that class."""
    if issubclass(broken, OpeningFileSystem):
        return broken
    base, seam = OpeningFileSystem, "stream"
    if issubclass(broken, OpeningBuilder):
        seam = "builder"
    elif issubclass(broken, StoredStream):
        base, seam = StoredFiles, "stored"
    return type(broken.__name__, (base,), {seam: broken})


class MutantFileSystem(MemoryFileSystem):
    """Files in memory, opened as streams of the class `stream`."""

    #: The differences from the profile "reference", with "!" before missing features.
    features: ClassVar[tuple[str, ...]] = ()

    def __init__(self, stream: type[MemoryInputStream] = MemoryInputStream) -> None:
        super().__init__()
        self._stream = stream

    def _open(self, path: str, options: OpenOptions) -> MemoryInputStream:
        data = super()._open(path, options).data
        stream = self._stream(data, path)
        if isinstance(stream, LiveStream):
            stream.look = lambda: self._now(path, options)
        return stream

    def _now(self, path: str, options: OpenOptions) -> bytes | None:
        try:
            return super()._open(path, options).data
        except FileNotFoundError:
            return None


class LiveStream(MemoryInputStream):
    """A correct stream that can access the current content of its file."""

    #: Returns the file's current content, None once it is deleted.
    look: Callable[[], bytes | None]

    @property
    def is_changed(self) -> bool:
        """True if the file differs from the one that was opened."""
        return self.look() != self.data


class View(MemoryFileSystem):
    """The unchanged files of another filesystem in memory."""

    def __init__(self, other: MemoryFileSystem) -> None:
        super().__init__()
        self._other = other

    def get_file_status(self, path: str) -> FileStatus:
        """Return the status of the other filesystem, or of a file that was written here."""
        try:
            return super().get_file_status(path)
        except FileNotFoundException:
            return self.other_status(self._other.get_file_status(path))

    def other_status(self, status: FileStatus) -> FileStatus:
        """Return the visible status of a file of the other filesystem."""
        return status

    def other_data(self, data: bytes) -> bytes:
        """Return the visible bytes of a file of the other filesystem."""
        return data

    def _open(self, path: str, options: OpenOptions) -> MemoryInputStream:
        try:
            return super()._open(path, options)
        except FileNotFoundException:
            stream = self._other._open(path, OpenOptions())
            return MemoryInputStream(self.other_data(stream.data), path)


class PlainFile(StreamFile):
    """A correct file, whose methods do not depend on overridden ones."""

    #: The class of the underlying streams.
    stream_class: ClassVar[type[MemoryInputStream]] = MemoryInputStream

    def read(self, size: int | None = -1) -> bytes:
        return self.take(size)

    def readall(self) -> bytes:
        return self.take(None)

    def readline(self, size: int | None = -1, /) -> bytes:
        return self.take_line(size)

    def readlines(self, hint: int | None = -1, /) -> list[bytes]:
        return self.take_lines(hint)

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        if whence != os.SEEK_CUR:
            return super().seek(offset, whence)
        self._check_open()
        return super().seek(StreamFile.tell(self) + offset)

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        line = self.take_line(None)
        if not line:
            raise StopIteration
        return line

    def take(self, size: int | None) -> bytes:
        """Read `size` bytes, or all if it is None or negative."""
        self._check_open()
        rest = self.left()
        data = bytearray(rest if size is None or size < 0 else min(size, rest))
        if data:
            self._stream.read_into(data)
        return bytes(data)

    def take_line(self, size: int | None) -> bytes:
        """Read a line, of at most `size` bytes if that is 0 or more."""
        self._check_open()
        rest = bytearray(self.left())
        self._stream.pread(StreamFile.tell(self), rest)
        end = rest.find(b"\n") + 1 or len(rest)
        return self.take(end if size is None or size < 0 else min(size, end))

    def take_lines(self, hint: int | None) -> list[bytes]:
        """Read lines until they have `hint` bytes together, or all."""
        self._check_open()
        lines: list[bytes] = []
        while self.left() and not (hint and 0 < hint <= sum(map(len, lines))):
            lines.append(self.take_line(None))
        return lines

    def left(self) -> int:
        """Return the number of bytes between the position and the end."""
        return max(0, self._length() - StreamFile.tell(self))

    def move(self, count: int) -> None:
        """Move the position by `count` bytes."""
        StreamFile.seek(self, StreamFile.tell(self) + count)

    @property
    def is_closed(self) -> bool:
        """True if the file is closed, independently of `closed`."""
        return bool(StreamFile.closed.__get__(self))

    def _check_open(self) -> None:
        if self.is_closed:
            raise ValueError("I/O operation on closed file")


class BufferedFile(PlainFile):
    """A correct file with the reads of a buffered one; each returns what its buffer has."""

    def read1(self, size: int = -1) -> bytes:
        return self.take(self.buffered() if size < 0 else min(size, self.buffered()))

    def readinto1(self, buffer: Any) -> int:
        self._check_open()
        view = (
            memoryview(buffer).cast("B") if memoryview(buffer).nbytes else memoryview(bytearray())
        )
        data = self.take(min(len(view), self.buffered()))
        view[: len(data)] = data
        return len(data)

    def peek(self, size: int = 0) -> bytes:
        data = self.take(self.buffered())
        if data:
            self.move(-len(data))
        return data

    def buffered(self) -> int:
        """Return the number of bytes up to the next multiple of four."""
        self._check_open()
        return min(self.left(), 4 - StreamFile.tell(self) % 4)


class UnseekableFile(PlainFile):
    """A correct file over a stream without seek."""

    stream_class = NoSeek

    def seekable(self) -> bool:
        self._check_open()
        return False

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        self._check_open()
        raise UnsupportedOperationException("seek is not possible")


def stream_of(file: type[PlainFile]) -> type[MemoryInputStream]:
    """Return a class of streams whose Python files are of the class `file`."""

    def as_file(self: MemoryInputStream) -> io.RawIOBase:
        return file(self, self._length, lambda: self._seeks)

    return type(file.__name__, (file.stream_class,), {"as_file": as_file})


Partitions = list[Partition[Any]]


class Report(NamedTuple):
    """The values that a partition reports at a time, and those that judge them."""

    state: ScalingState
    policy: scaling.ScalingPolicy
    partition: int
    size: Any
    now: float


class Scaler:
    """Correct scaling, with the functions of `scaling`."""

    ScalingPolicy: Any = scaling.ScalingPolicy

    def process_stats(
        self,
        state: ScalingState,
        policy: scaling.ScalingPolicy,
        partition: int,
        size: Any,
        now: float,
    ) -> Decision:
        return self.decide(Report(state, policy, partition, size, now))

    def define_partitions(
        self,
        old: Sequence[Partition[Any]],
        required: int,
        make: Callable[[], Any],
        first: bool = False,
    ) -> Partitions:
        return self.redefined(scaling.define_partitions(old, required, make, first), list(old))

    def decide(self, report: Report) -> Decision:
        """Decide the number of partitions by a report."""
        return scaling.process_stats(*report)

    def redefined(self, new: Partitions, old: Partitions) -> Partitions:
        """Return the partitions `new` that replace `old`."""
        return new


#: The number of retries of the fake's client.
RETRIES = 3


class FaultyStore(FakeFileSystem):
    """Files in a fake store, opened as streams of the class `stream` through a `client`."""

    def __init__(
        self,
        stream: type[FakeInputStream] = FakeInputStream,
        client: type[Client] = Client,
        retries: int = RETRIES,
    ) -> None:
        super().__init__()
        self._stream = stream
        self._client = client(self.store, retries)

    def _open(self, path: str, options: OpenOptions) -> FakeInputStream:
        return self._stream(path, self._client)


class FaultyDisk(FaultyLocalFileSystem):
    """Files on this machine whose requests fail according to a plan, opened as streams of
    `stream`.
    """

    stream: ClassVar[type[LocalInputStream]] = LocalInputStream

    def __init__(self) -> None:
        super().__init__(tempfile.gettempdir())

    def _open(self, path: str, options: OpenOptions) -> LocalInputStream:
        opener = partial(self._open_descriptor, path, self._follow(path), "normal")
        return self.stream(path, opener, DEFAULT_BUFFER)


def fault_binding(
    filesystem: FaultyStore | FaultyDisk, kinds: Iterable[str] | None = None
) -> Binding:
    """Return a binding to the filesystem, with faults of these kinds, or of all."""
    binding: Binding
    if isinstance(filesystem, FaultyStore):
        binding = FakeBinding(filesystem)
    else:
        binding = LocalBinding(filesystem)
        binding.injector = filesystem.injector
    if kinds is not None and binding.injector is not None:
        binding.injector.kinds = binding.injector.kinds & set(kinds)
    return binding
