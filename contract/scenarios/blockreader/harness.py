"""Drive a block reader over blocks of files in memory, and judge the records that it delivers.

The port of a block reader provides no filesystem, so the files are not instrumented from outside.
"""

from __future__ import annotations

import bz2
import gzip
import io
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NoReturn

from fscontract.contract.api.errors import (
    EOFException,
    FileNotFoundException,
    UnsupportedOperationException,
)
from fscontract.contract.api.filesystem import (
    Allocate,
    Buffer,
    ByteBuffer,
    FileRange,
    FileStatus,
    FileSystem,
    FSDataInputStream,
    FutureDataInputStreamBuilder,
    Release,
    no_release,
)
from fscontract.contract.models.blockreader import (
    DIFFERENCES,
    NONE_TWICE,
    OFFSET,
    ORDER,
    OWNER,
    Block,
    Delivered,
    Layout,
    features_of,
    judge,
    split_blocks,
)
from fscontract.contract.models.violation import Violation
from fscontract.contract.pipeline_bindings import (
    BlockReaderBinding,
    CheckedReader,
    CheckedScaling,
    DeliveredRecord,
    ReaderSettings,
)
from fscontract.contract.scenarios.scenario import Harness

PATH = "/file"


class SparseBytes:
    """The bytes of a file of `length` bytes: line ends, and the bytes `end`."""

    def __init__(self, length: int, end: bytes) -> None:
        self._length = length
        self._end = end

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, part: slice) -> bytes:
        first = self._length - len(self._end)
        blank = min(part.stop, first) - part.start
        rest = self._end[max(0, part.start - first) : max(0, part.stop - first)]
        return bytes(b"\n" * blank + rest)


#: The limit of records of one file: a sparse file has more bytes than can be counted in time.
_MAX_RECORDS = 1 << 17
#: Settings that are part of a layout.
_OF_LAYOUT = frozenset({"context", "delimiter", "length"})
#: How files are decompressed, by the suffix of their paths.
_UNPACKERS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.decompress,
    ".bz2": bz2.decompress,
}
#: Contexts that a reader may lack, and the clause about their records.
OF_CONTEXT = {"fixed": "record.fixed-length", "fixed-width": "record.width-owner"}
#: What the comparisons for a clause observe of the reader, other than records.
_OBSERVED = {
    clause: observed
    for observed, clauses in {
        ("streams",): (
            *("block.reuse", "block.closes-old", "block.idle-close", "block.idle-from-use"),
            *("block.close", "block.failure-closes", "block.other-failure", "block.abandoned"),
        ),
        ("streams", "records"): ("block.failure-forgets",),
        ("options",): ("block.hints",),
        ("reported blocks",): ("block.emitted-after",),
        ("records counted",): ("block.records",),
        ("records", "records counted"): ("block.dropped",),
        ("counters",): ("block.count", "block.bytes", "block.time"),
        ("block ids",): ("block.tagged", OWNER),
        ("offsets",): (OFFSET, "record.data-offset"),
        ("order",): (ORDER,),
        ("reads",): ("record.line-aligned",),
    }.items()
    for clause in clauses
}


@dataclass
class ManualClock:
    """A clock that a scenario sets."""

    now: float = 1000.0

    def __call__(self) -> float:
        """Return the time in seconds."""
        return self.now


class ReaderHarness(Harness):
    """Files, and readers of their blocks."""

    collects: ClassVar[bool] = True
    longest_repr = 300
    usual = frozenset({"process", "read-ahead"})

    def __init__(self, binding: BlockReaderBinding, clause: str = "") -> None:
        super().__init__(clause)
        self.binding = binding
        self.fs = InstrumentedFiles({})
        #: The settings of each reader, and the blocks that it was given.
        self._blocks_of: dict[CheckedReader, tuple[ReaderSettings, list[Block]]] = {}

    def file(self, data: bytes | SparseBytes, path: str = PATH) -> ReaderHarness:
        """Add a file."""
        self.fs.files[path] = data
        return self

    def reader(self, **settings: Any) -> CheckedReader:
        """Return a reader with these settings."""
        made = ReaderSettings(**settings)
        self.use(*(name for name, value in settings.items() if value and name not in _OF_LAYOUT))
        reader = self.noted(self.binding.reader(self.fs, made))
        self._blocks_of[reader] = made, []
        return reader

    def restart(self) -> None:
        """Forget the readers so far and what they used: they don't show what follows."""
        self._used.clear()
        self._blocks_of.clear()

    @property
    def uses(self) -> frozenset[str]:
        """The calls, settings and features of files that the scenario has used of the part."""
        used = set(super().uses)
        if self.fs.shorts or any(n > len(self.fs.files[p]) for p, n in self.fs.stated.items()):
            used.add("short reads")
        for settings, blocks in self._blocks_of.values():
            paths = {block.path for block in blocks}
            used |= {"several files"} if len(paths) > 1 else set()
            for path in paths:
                mine = [block for block in blocks if block.path == path]
                used |= {*features_of(self._layout(settings, mine[0]), mine)}
        return frozenset(used)

    def _layout(self, settings: ReaderSettings, block: Block) -> Layout:
        """Return the file of a block, as text, with the settings of its reader."""
        data = self.fs.files.get(block.path, b"")
        text = b"" if isinstance(data, SparseBytes) else data
        for suffix, unpack in _UNPACKERS.items():
            if block.path.endswith(suffix):
                self.use("a compressed file")
                with suppress(Exception):  # it may be cut
                    text = unpack(text)
        length = settings.length or self.fs.block_size
        return Layout(
            text[: block.file_length] if text is data else text,
            settings.context,
            settings.delimiter,
            length,
            settings.data_offset,
        )

    def scaling(self, *settings: Any) -> CheckedScaling:
        """Return a scaling, given the least and the most readers, the interval and if it is on."""
        return self.noted(self.binding.scaling(*settings))

    def observed(self, clause: str, what: str) -> tuple[str, ...]:
        """Return what a comparison observes of the reader: records if nothing else."""
        return _OBSERVED.get(what) or _OBSERVED.get(clause, ("records",))

    def blocks(self, size: int, path: str = PATH, first_id: int = 1) -> list[Block]:
        """Return the blocks of a file."""
        length = self.fs.get_file_status(path).length
        return split_blocks(length, size, 0, path, first_id)

    def read(self, reader: CheckedReader, *blocks: Block) -> list[Delivered]:
        """Return the records of blocks."""
        return [
            Delivered(record.block_id, record.offset, _plain(record.record))
            for block in blocks
            for record in self.records(reader, block)
        ]

    def baseline(self, data: bytes, size: int, first: int = 0, **settings: Any) -> list[bytes]:
        """Return the records of a file in blocks of `size`, each read once by a new reader.

        These are the records from the block `first` on, counted from 0. Scenarios compare with what
        this reader usually delivers. The model judges that: a general bug of records violates
        the clauses of the model, and not those of the scenarios.
        """
        other = ReaderHarness(self.binding, NONE_TWICE).file(data)
        blocks = other.blocks(size)
        try:
            with closing(other.reader(**settings)) as reader:
                by_block = [other.read(reader, block) for block in blocks]
            layout = other._layout(ReaderSettings(**settings), blocks[0])
            delivered = [record for records in by_block for record in records]
            other.expect_records(layout, blocks, delivered, OF_CONTEXT.get(layout.context, ""))
        finally:
            self.violations += other.violations
            self.exercised += other.exercised
        return [record.record for records in by_block[first:] for record in records]

    def expect_records(
        self,
        layout: Layout,
        blocks: Sequence[Block],
        delivered: Sequence[Delivered],
        clause: str = "",
    ) -> None:
        """Judge the records of blocks by the model.

        A wrong one violates `clause`, by default the one that the model names; so does a wrong
        order, which is a matter of record.order alone.
        """
        violation = judge(layout, blocks, delivered, self.exercised)
        if violation is not None:
            named = violation.clause if violation.clause == ORDER else clause or violation.clause
            self.record(as_reported(violation, named))

    def records(self, reader: CheckedReader, block: Block) -> Iterator[DeliveredRecord]:
        """Yield the records of a block; it is a violation if they exceed the bytes of the files."""
        limit = 50 + sum(min(len(data), _MAX_RECORDS) for data in self.fs.files.values())
        self.fs.reads = 0
        self.step()
        self._blocks_of[reader][1].append(block)
        try:
            for count, record in enumerate(reader.process(block)):
                if count >= limit:
                    self.fail(f"at most {limit} records", "records without end")
                yield record
        except Exception:
            self.use("an error")
            raise

    def expect_error(
        self, call: Callable[[], object], *kinds: type[BaseException]
    ) -> BaseException:
        """Judge the clause by whether a call raises one of these exceptions; return it."""
        self.judged()
        self.use("an error")
        try:
            result = call()
        except kinds as error:
            return error
        return self.fail("an exception", f"{result!r:.300}")


def as_reported(violation: Violation, clause: str) -> Violation:
    """Return a violation of the model as one of a clause, with its kind and difference."""
    return replace(
        violation,
        clause=clause,
        kind=violation.kind or violation.clause,
        difference=violation.difference or DIFFERENCES.get(violation.clause, ""),
    )


def _plain(record: Any) -> Any:
    """Return a record of any type of bytes as bytes."""
    return bytes(record) if isinstance(record, bytearray | memoryview) else record


def _advanced(buffer: ByteBuffer, count: int) -> int:
    buffer.position += max(count, 0)
    return count


class _StreamFile(io.RawIOBase):
    """A Python file over a stream, which it closes; `length` is that of the stream in bytes."""

    def __init__(self, stream: FSDataInputStream, length: int) -> None:
        self._stream = stream
        self._length = length

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer).cast("B")
        return max(self._stream.read_into(view), 0)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = {io.SEEK_CUR: self._stream.get_pos(), io.SEEK_END: self._length}.get(whence, 0)
        self._stream.seek(start + offset)
        return start + offset

    def tell(self) -> int:
        return self._stream.get_pos()

    def close(self) -> None:
        self._stream.close()
        super().close()

    def __del__(self) -> None:
        """Leave the stream open, which its owner may still use."""


#: Reads that find no bytes, such as those at the end of a block, for any file.
_FEW = 1000


class TooManyCalls(Exception):
    """A reader makes more reads than any file needs."""


def _unsupported(self: object, *args: object, **kwargs: object) -> NoReturn:
    raise UnsupportedOperationException("these files have no such operation")


class InstrumentedFiles(FileSystem):
    """Files that can only be read.

    `shorts` limits the bytes of one read after the other, cyclically; `fail` may raise before a
    read at a position. A reader that makes more than `patience` reads for each byte in one block
    is stopped: it never ends.
    """

    def __init__(self, files: dict[str, bytes | SparseBytes], patience: int = 20) -> None:
        self.files = files
        self.shorts: Sequence[int] = ()
        self.fail: Callable[[int], None] = lambda position: None
        self.patience = patience
        self.block_size = 128
        #: The lengths of statuses, where they are wrong.
        self.stated: dict[str, int] = {}
        self.opened: list[InstrumentedBuilder] = []
        self.streams: list[InstrumentedStream] = []
        self.max_open = 0
        #: The end of the furthest read.
        self.furthest = 0
        self.reads = 0

    @property
    def open_streams(self) -> int:
        """The number of open streams."""
        return sum(not stream.closed for stream in self.streams)

    def limit_read(self, position: int, length: int) -> int:
        """Log a read, and return how many bytes it may give."""
        self.reads += 1
        size = sum(map(len, self.files.values()))
        if self.reads > self.patience * (size + _FEW):
            raise TooManyCalls(f"no end after {self.reads:,} reads of {size:,} bytes")
        self.fail(position)
        if not self.shorts:
            return length
        return min(length, self.shorts[self.reads % len(self.shorts)])

    def open_file(self, path: str) -> FutureDataInputStreamBuilder[FSDataInputStream]:
        """Return a builder that logs its options."""
        return InstrumentedBuilder(self, path)

    def open(self, path: str, buffer_size: int | None = None) -> FSDataInputStream:
        """Open a stream without a builder."""
        if path not in self.files:
            raise FileNotFoundException(path, "no such file")
        self.streams.append(InstrumentedStream(self, self.files[path]))
        self.max_open = max(self.max_open, self.open_streams)
        return self.streams[-1]

    def get_file_status(self, path: str) -> FileStatus:
        """Return the status, with the length that is stated if there is one; "/" is a directory."""
        if path == "/":
            return FileStatus(path, 0, is_directory=True, block_size=self.block_size)
        if path not in self.files:
            raise FileNotFoundException(path, "no such file")
        length = self.stated.get(path, len(self.files[path]))
        return FileStatus(path, length, block_size=self.block_size)

    list_status = create = mkdirs = delete = rename = as_fsspec = _unsupported


class InstrumentedBuilder(FutureDataInputStreamBuilder[FSDataInputStream]):
    """Logs `options` and the `status`, and opens as `open` does."""

    def __init__(self, files: InstrumentedFiles, path: str) -> None:
        self._files = files
        self.path = path
        self.options: dict[str, object] = {}
        self.status: FileStatus | None = None

    def opt(self, key: str, value: str | float | bool) -> InstrumentedBuilder:
        """Log an option."""
        self.options[key] = value
        return self

    must = opt_long = must_long = opt_double = must_double = opt

    def buffer_size(self, size: int) -> InstrumentedBuilder:
        """Ignore the size."""
        return self

    def with_file_status(self, status: FileStatus | None) -> InstrumentedBuilder:
        """Log the status."""
        self.status = status
        return self

    def build(self) -> Future[FSDataInputStream]:
        """Open the file."""
        future: Future[FSDataInputStream] = Future()
        self._files.opened.append(self)
        try:
            future.set_result(self._files.open(self.path))
        except OSError as error:
            future.set_exception(error)
        return future


class InstrumentedStream(FSDataInputStream):
    """A stream whose reads its files limit, fail and log."""

    def __init__(self, files: InstrumentedFiles, data: bytes | SparseBytes) -> None:
        self._files = files
        self._data = data
        self._position = 0
        self.closed = False

    def close(self) -> None:
        """Close the stream."""
        self.closed = True

    def get_pos(self) -> int:
        """Return the position."""
        return self._position

    def seek(self, position: int) -> None:
        """Seek; EOFException outside of the file."""
        self._check()
        if not 0 <= position <= len(self._data):
            raise EOFException(f"can't seek to {position} of {len(self._data)}")
        self._position = position

    def seek_to_new_source(self, position: int) -> bool:
        """Return False: there is one source."""
        return False

    def read_byte(self) -> int:
        """Return the next byte, -1 at the end of the file."""
        byte = bytearray(1)
        return byte[0] if self.read_into(byte) == 1 else -1

    def read_into(self, buffer: Buffer, offset: int = 0, length: int | None = None) -> int:
        """Read as many bytes as the files allow."""
        count = self.pread(self._position, buffer, offset, length)
        self._position += max(count, 0)
        return count

    def skip(self, count: int) -> int:
        """Skip bytes up to the end of the file."""
        step = max(0, min(count, len(self._data) - self._position))
        self._position += step
        return step

    def available(self) -> int:
        """Return 0: nothing is buffered."""
        return 0

    def pread(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> int:
        """Read as many bytes as the files allow."""
        self._check()
        remaining = len(buffer) - offset if length is None else length
        if remaining == 0:
            return 0
        count = min(self._files.limit_read(position, remaining), len(self._data) - position)
        if count <= 0:
            return -1
        memoryview(buffer)[offset : offset + count] = self._data[position : position + count]
        self._files.furthest = max(self._files.furthest, position + count)
        return count

    def read_fully(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> None:
        """Read all bytes, by several reads."""
        size = len(buffer) - offset if length is None else length
        done = 0
        while done < size:
            count = self.pread(position + done, buffer, offset + done, size - done)
            if count < 0:
                raise EOFException(f"no {size} bytes at {position}")
            done += count

    def read_vectored(
        self,
        ranges: Sequence[FileRange],
        allocate: Allocate = bytearray,
        release: Release = no_release,
    ) -> None:
        """Read the ranges, one after the other."""
        for each in ranges:
            each.data = Future()
            buffer = allocate(each.length)
            try:
                self.read_fully(each.offset, buffer, 0, each.length)
            except OSError as error:
                release(buffer)
                each.data.set_exception(error)
            else:
                each.data.set_result(memoryview(buffer)[: each.length])

    def read_buffer(self, buffer: ByteBuffer) -> int:
        """Read into a ByteBuffer as many bytes as the files allow."""
        return _advanced(buffer, self.read_into(buffer.window()))

    def pread_buffer(self, position: int, buffer: ByteBuffer) -> int:
        """Read at a position into a ByteBuffer."""
        return _advanced(buffer, self.pread(position, buffer.window()))

    def read_fully_buffer(self, position: int, buffer: ByteBuffer) -> None:
        """Fill a ByteBuffer, by several reads."""
        self.read_fully(position, buffer.window())
        _advanced(buffer, buffer.remaining)

    def as_file(self) -> io.RawIOBase:
        """Return a Python file over this stream."""
        return _StreamFile(self, len(self._data))

    def unbuffer(self) -> None:
        """Do nothing: there is no buffer."""

    def has_capability(self, name: str) -> bool:
        """Return False: there are no capabilities."""
        return False

    def _check(self) -> None:
        if self.closed:
            raise OSError("the stream is closed")
