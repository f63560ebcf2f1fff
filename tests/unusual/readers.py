"""Block readers that are right: they read the bytes of a block in other ways than the kit's own.

They take the records from the model, and share nothing with the kit's readers.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import queue
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from types import SimpleNamespace
from typing import Any, ClassVar, NamedTuple

from fscontract.contract.api.filesystem import ByteBuffer, FileRange, FileSystem, FSDataInputStream
from fscontract.contract.models.blockreader import BOM, Block, Layout, Record, expected_of
from fscontract.contract.pipeline_bindings import (
    BlockReaderBinding,
    CheckedReader,
    CheckedScaling,
    ReaderSettings,
)
from fscontract.pipeline.blockreader.binding import ReaderBinding

_CODECS = {".gz": gzip.decompress, ".bz2": bz2.decompress, ".xz": lzma.decompress}


class _Read(NamedTuple):
    """A record that was read."""

    block_id: int
    record: Any
    offset: int


class WholeFile(CheckedReader):
    """Reads the whole file for each block by one call, whatever the size of buffers."""

    codecs: ClassVar[Mapping[str, Callable[[bytes], bytes]]] = _CODECS

    def __init__(self, fs: FileSystem, settings: ReaderSettings) -> None:
        if settings.context == "fixed-width" and settings.length is None:
            raise ValueError("fixed-width records need a length")
        self.fs = fs
        self.settings = settings
        self.clock = settings.clock or time.monotonic
        self.stream: FSDataInputStream | None = None
        self.last: Block | None = None
        self.used = 0.0
        self.counted: dict[str, float] = dict.fromkeys(("blocks", "records", "bytes", "time"), 0)

    def read(self, stream: FSDataInputStream, length: int) -> bytes:
        """Return the first `length` bytes of a stream; OSError if there are fewer."""
        buffer = bytearray(length)
        stream.read_fully(0, buffer)
        return bytes(buffer)

    def records(self, stream: FSDataInputStream, block: Block) -> Iterator[Record]:
        """Yield the records of a block, uncut and undropped."""
        settings, data = self.settings, self.read(stream, block.file_length)
        suffix = block.path[block.path.rfind(".") :] if "." in block.path else ""
        if suffix in self.codecs:
            if (block.offset, block.end) != (settings.data_offset, block.file_length):
                raise OSError("a part of a compressed file")
            data = self.codecs[suffix](data)
            block = Block(block.block_id, settings.data_offset, len(data), block.previous)
        length = settings.length or self.fs.get_file_status("/").block_size
        yield from expected_of(
            Layout(data, settings.context, settings.delimiter, length, settings.data_offset), block
        )

    def process(self, block: Block) -> Iterator[_Read]:
        start, offset = self.clock(), block.offset
        try:
            for offset, data, end in self.records(self._opened(block), block):
                self.counted["bytes"] += end - offset
                value = self._value(data)
                if value is not None:
                    self.counted["records"] += 1
                    yield _Read(block.block_id, value, offset)
            self.last, self.used = block, self.clock()
        except Exception as error:
            text = f"block {block.block_id} at offset {offset}: {error}"
            raise OSError(text) from error
        finally:
            if self.last is not block:
                self.close()
        self.counted["blocks"] += 1
        self.counted["time"] += self.used - start
        if self.settings.on_block is not None:
            self.settings.on_block(block.block_id)

    def _opened(self, block: Block) -> FSDataInputStream:
        last = self.last
        if last is None or (last.path, last.block_id) != (block.path, block.previous):
            self.close()
        if self.stream is None:
            self.stream = self.fs.open(block.path)
        self.last = None
        return self.stream

    def _value(self, data: bytes) -> Any:
        settings, limit = self.settings, self.settings.max_length
        if not settings.context.startswith("fixed"):
            if settings.drop_blank and not data:
                return None
            if limit is not None and len(data) > limit:
                if settings.on_too_long not in {"truncate", "skip"}:
                    raise ValueError(f"more than {limit} bytes")
                data = data[:limit]
                if settings.on_too_long == "skip":
                    return None
        return data if settings.converter is None else settings.converter(data)

    def counters(self) -> Mapping[str, float]:
        return dict(self.counted)

    def close_if_idle(self) -> None:
        idle = self.settings.idle_seconds
        if idle is not None and self.clock() - self.used >= idle:
            self.close()

    def close(self) -> None:
        stream, self.stream, self.last = self.stream, None, None
        if stream is not None:
            stream.close()


class AsStored(WholeFile):
    """Delivers the stored bytes of compressed files, and byte order marks."""

    codecs: ClassVar[Mapping[str, Callable[[bytes], bytes]]] = {}

    def records(self, stream: FSDataInputStream, block: Block) -> Iterator[Record]:
        mark = BOM if self.read(stream, block.file_length).startswith(BOM) else b""
        for offset, data, end in super().records(stream, block):
            yield Record(offset, data if offset else mark + data, end)


class SingleBytes(WholeFile):
    """Reads byte by byte."""

    def read(self, stream: FSDataInputStream, length: int) -> bytes:
        stream.seek(0)
        data = [stream.read_byte() for _ in range(length)]
        if -1 in data:
            raise EOFError("the file is shorter")
        return bytes(data)


class ReadsOnce(WholeFile):
    """Reads a file once for all blocks that are read from one stream."""

    _known: tuple[FSDataInputStream, bytes] | None = None

    def read(self, stream: FSDataInputStream, length: int) -> bytes:
        if self._known is None or self._known[0] is not stream:
            self._known = stream, super().read(stream, length)
        return self._known[1]


class Ranges(WholeFile):
    """Reads ranges of 999 bytes by one vectored read."""

    def read(self, stream: FSDataInputStream, length: int) -> bytes:
        ranges = [FileRange(at, min(999, length - at)) for at in range(0, length, 999)]
        stream.read_vectored(ranges)
        return b"".join(bytes(r.data.result()) for r in ranges if r.data is not None)


class PythonFile(WholeFile):
    """Reads through a buffered Python file."""

    opened: FSDataInputStream | None = None
    file: io.BufferedReader

    def read(self, stream: FSDataInputStream, length: int) -> bytes:
        if stream is not self.opened:  # a file closes its stream when it is collected
            self.opened, self.file = stream, io.BufferedReader(stream.as_file(), 16)
        self.file.seek(0)
        data = self.file.read(length)
        if len(data) < length:
            raise EOFError("the file is shorter")
        return data


class PythonFiles(WholeFile):
    """Reads through a new Python file each time, and does not close it."""

    def read(self, stream: FSDataInputStream, length: int) -> bytes:
        file = stream.as_file()
        file.seek(0)
        parts = iter(lambda: file.read(1000), b"")
        data = b"".join(parts)
        if len(data) < length:
            raise OSError(f"the file ends at {len(data)}")
        return data[:length]


class ByteBuffers(WholeFile):
    """Fills a ByteBuffer."""

    def read(self, stream: FSDataInputStream, length: int) -> bytes:
        buffer = ByteBuffer.allocate(length)
        stream.read_fully_buffer(0, buffer)
        return bytes(buffer.view)


class Prefetched(WholeFile):
    """A thread finds the records; the caller takes them from a queue."""

    def records(self, stream: FSDataInputStream, block: Block) -> Iterator[Record]:
        found: queue.Queue[Record | BaseException | None] = queue.Queue()

        def find() -> None:
            try:
                for record in super(Prefetched, self).records(stream, block):
                    found.put(record)
                found.put(None)
            except BaseException as error:
                found.put(error)

        thread = threading.Thread(target=find)
        thread.start()
        try:
            while (record := found.get()) is not None:
                if isinstance(record, BaseException):
                    raise record
                yield record
        finally:
            thread.join()


class OtherBytes(WholeFile):
    """Delivers records as a bytearray or a memoryview."""

    def _value(self, data: bytes) -> Any:
        value = super()._value(data)
        if type(value) is not bytes:
            return value
        return bytearray(value) if len(value) % 2 else memoryview(value)


class _Number(int):
    """An integer of another class, such as that of an array library."""

    def __repr__(self) -> str:
        return f"number({int(self)})"


class _Data(bytes):
    """Bytes of another class."""


class OtherClasses(WholeFile):
    """Delivers records, offsets and ids of classes of its library; a record has more fields."""

    def process(self, block: Block) -> Iterator[Any]:
        for read in super().process(block):
            value = _Data(read.record) if type(read.record) is bytes else read.record
            yield SimpleNamespace(
                block_id=_Number(read.block_id),
                record=value,
                offset=_Number(read.offset),
                partition=0,
            )


class Unclosable(WholeFile):
    """Returns an iterator without a method to close it."""

    def process(self, block: Block) -> Iterator[_Read]:
        return map(_Read._make, super().process(block))


class ReusesRecord(WholeFile):
    """Yields one object again and again, as row readers of some libraries do."""

    def process(self, block: Block) -> Iterator[Any]:
        row = SimpleNamespace()
        for read in super().process(block):
            row.block_id, row.record, row.offset = read
            yield row


class _Patient(CheckedScaling):
    """The kit's decisions, but none before the first interval is over."""

    def __init__(self, inner: CheckedScaling, interval: float) -> None:
        self.inner = inner
        self.interval = interval
        self.begun: float | None = None

    def report(self, partition: int, queue_size: int | None, now: float) -> bool:
        self.begun = now if self.begun is None else self.begun
        if now - self.begun < self.interval:
            return False
        return self.inner.report(partition, queue_size, now)

    @property
    def count(self) -> int:
        return self.inner.count

    def define(self, *arguments: Any) -> Any:
        return self.inner.define(*arguments)


class _Binding(BlockReaderBinding):
    """Makes readers of one class."""

    def __init__(self, kind: type[WholeFile]) -> None:
        self.kind = kind
        self.name = kind.__name__

    def reader(self, filesystem: FileSystem, settings: ReaderSettings) -> CheckedReader:
        return self.kind(filesystem, settings)

    def scaling(self, low: int, high: int, interval: float, collect: bool) -> CheckedScaling:
        return _Patient(ReaderBinding().scaling(low, high, interval, collect), interval)


class _WithoutScaling(BlockReaderBinding):
    """Readers whose number is fixed."""

    name = "WithoutScaling"

    def reader(self, filesystem: FileSystem, settings: ReaderSettings) -> CheckedReader:
        return WholeFile(filesystem, settings)


ALL = (
    *map(_Binding, (WholeFile, AsStored, ReadsOnce, Ranges, PythonFile, PythonFiles, ByteBuffers)),
    *map(_Binding, (OtherBytes, OtherClasses, Unclosable, ReusesRecord)),
    _WithoutScaling(),
)
#: Readers that take long.
SLOW = tuple(map(_Binding, (SingleBytes, Prefetched)))
