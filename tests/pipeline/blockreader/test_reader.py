"""Tests of block readers: streams, text, slices, compressed files."""

from __future__ import annotations

import bz2
import gzip
import lzma
from pathlib import Path

import pytest

from fscontract.contract.api.errors import IllegalArgumentException
from fscontract.contract.api.filesystem import FileSystem, FSDataInputStream
from fscontract.implementations.local import LocalFileSystem
from fscontract.implementations.memory import MemoryFileSystem
from fscontract.pipeline.blockreader.batches import Entity
from fscontract.pipeline.blockreader.contexts import FixedBytesReaderContext, ReaderContext
from fscontract.pipeline.blockreader.lines import LineReaderContext, ReadAheadLineReaderContext
from fscontract.pipeline.blockreader.readers import (
    FSBlockReader,
    FSLineReader,
    FSReadAheadLineReader,
    FSRecordReader,
    FSSliceReader,
    as_bytes,
    blocks_of,
    records_of,
    text,
)
from fscontract.pipeline.blockreader.source import (
    BlockReadException,
    RecordConversionException,
    RecordTooLongException,
)
from fscontract.pipeline.blocks import FileBlockMetadata

LINES = b"".join(b"%06d %s\n" % (i, b"x" * (i % 90)) for i in range(5000))


def _put(fs: FileSystem, path: str, data: bytes) -> str:
    with fs.create(path) as file:
        file.write(data)
    return path


@pytest.fixture
def fs() -> FileSystem:
    """Files in memory."""
    return MemoryFileSystem()


@pytest.mark.parametrize("size", [1 << 10, 1 << 17, 1 << 30])
def test_lines_of_a_local_file_are_those_of_python(tmp_path: Path, size: int) -> None:
    """In blocks smaller and larger than the buffers and the file."""
    path = tmp_path / "lines.txt"
    path.write_bytes(LINES)
    found = [r.record for r in records_of(LocalFileSystem(), str(path), size)]
    assert found == LINES.splitlines()


def test_batches_have_the_records_and_their_offsets(fs: FileSystem) -> None:
    """Many at once, equal to those read one at a time."""
    status = fs.get_file_status(_put(fs, "/f", LINES.replace(b"9 ", b"9\r\n")))
    one: list[tuple[int, bytes]] = []
    many: list[tuple[int, bytes]] = []
    with FSReadAheadLineReader(fs, as_bytes) as reader:
        for block in blocks_of(status, 40_000):
            batches = list(reader.process_batches(block))
            many += [p for b in batches for p in zip(b.offsets, b.records, strict=True)]
            one += [(r.offset, r.record) for r in reader.process_block(block)]
            assert len(batches) < 10
    assert many == one
    assert reader.counters.records == 2 * len(one)


def test_next_and_next_batch_may_be_mixed(fs: FileSystem) -> None:
    """A batch does not contain records that `next` has returned."""
    (block,) = blocks_of(fs.get_file_status(_put(fs, "/f", b"a\nbb\nc\n")), 100)
    context = ReadAheadLineReaderContext()
    context.initialize(fs.open("/f"), block, False)
    first, batch = context.next(), context.next_batch()
    assert first is not None
    assert (first.record, first.used_bytes) == (b"a", 2)
    assert batch is not None
    assert (batch.records, batch.offsets, batch.used_bytes) == ([b"bb", b"c"], [2, 5], 5)
    assert context.next() is None


def test_a_line_longer_than_many_blocks_is_held_once(fs: FileSystem) -> None:
    """Blocks inside it read little more than their own bytes."""
    path = _put(fs, "/f", b"a\n" + b"b" * 3_000_000 + b"\nc\n")
    records = list(records_of(fs, path, 100_000))
    assert [len(r.record) for r in records] == [1, 3_000_000, 1]
    block = list(blocks_of(fs.get_file_status(path), 100_000))[5]
    reader = FSReadAheadLineReader(fs, as_bytes)
    assert list(reader.process_block(block)) == []
    stream = reader._stream
    assert stream is not None
    assert stream.get_pos() <= block.end + (1 << 14)


def test_invalid_text_error_names_block_and_offset(fs: FileSystem) -> None:
    """A ValueError and an OSError, with the file's path."""
    (block,) = blocks_of(fs.get_file_status(_put(fs, "/f", b"ok\n\xff\n")), 100)
    with pytest.raises(RecordConversionException, match=r"block 1 at offset 3.*'/f'") as raised:
        list(FSReadAheadLineReader(fs, text()).process_block(block))
    assert (raised.value.block_id, raised.value.offset) == (1, 3)
    escaped = FSReadAheadLineReader(fs, text(errors="surrogateescape")).process_block(block)
    assert [r.record.encode("utf-8", "surrogateescape") for r in escaped] == [b"ok", b"\xff"]


def test_a_missing_file_is_named(fs: FileSystem) -> None:
    """With its block."""
    (block,) = blocks_of(fs.get_file_status(_put(fs, "/f", b"a")), 100)
    fs.delete("/f")
    with pytest.raises(BlockReadException, match="block 1 at offset 0"):
        list(FSReadAheadLineReader(fs, as_bytes).process_block(block))


def test_a_file_that_was_replaced_is_an_error(fs: FileSystem) -> None:
    """The blocks belong to another file."""
    first, second = blocks_of(fs.get_file_status(_put(fs, "/f", b"abc\ndef\n")), 4)
    assert first.etag is not None
    _put(fs, "/f", b"xyz\nuvw\n")
    with pytest.raises(BlockReadException, match="block 2"):
        list(FSReadAheadLineReader(fs, as_bytes).process_block(second))


def test_two_blocks_can_not_be_read_at_the_same_time(fs: FileSystem) -> None:
    """The first one must be finished or closed."""
    first, second = blocks_of(fs.get_file_status(_put(fs, "/f", b"a\nb\nc\nd\n")), 4)
    reader = FSReadAheadLineReader(fs, as_bytes)
    records = reader.process_block(first)
    next(records)
    with pytest.raises(RuntimeError, match="block 1"):
        next(reader.process_block(second))
    assert [r.record for r in records] == [b"b", b"c"]


def test_a_record_that_is_too_long_is_named(fs: FileSystem) -> None:
    """The error has its start."""
    path = _put(fs, "/f", b"ab\n" + b"c" * 100 + b"\n")
    with pytest.raises(RecordTooLongException, match=r"offset 3.*exceeds 10 bytes"):
        list(records_of(fs, path, 7, max_record_length=10))


def test_slice_has_the_configured_length(fs: FileSystem) -> None:
    """Or a block of the filesystem."""
    (block,) = blocks_of(fs.get_file_status(_put(fs, "/f", bytes(25))), 100)
    assert [len(r.record) for r in FSSliceReader(fs, 10).process_block(block)] == [10, 10, 5]
    assert [len(r.record) for r in FSSliceReader(fs).process_block(block)] == [25]


def test_custom_records_are_delimited_or_fixed_width(fs: FileSystem) -> None:
    """The converter returns any object."""
    blocks = list(blocks_of(fs.get_file_status(_put(fs, "/f", b"11;22;33;")), 4))
    delimited = FSRecordReader(fs, int, context_options={"delimiter": b";"})
    assert [r.record for b in blocks for r in delimited.process_block(b)] == [11, 22, 33]
    fixed = FSRecordReader(fs, lambda d: int(d[:2]), "fixed-width", record_length=3)
    assert [r.record for b in blocks for r in fixed.process_block(b)] == [11, 22, 33]


@pytest.mark.parametrize(
    ("suffix", "pack"), [(".gz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress)]
)
def test_members_of_a_compressed_file_follow_each_other(
    fs: FileSystem, suffix: str, pack: type[bytes]
) -> None:
    """With more than a buffer of each, and zeros after the last."""
    path = _put(fs, f"/f{suffix}", pack(LINES) + pack(LINES) + bytes(512))
    assert [r.record for r in records_of(fs, path, 1000)] == 2 * LINES.splitlines()


def test_zstd_is_read_by_pyarrow(fs: FileSystem) -> None:
    """With several frames; a truncated one raises."""
    pyarrow = pytest.importorskip("pyarrow")
    frame = pyarrow.compress(LINES, codec="zstd", asbytes=True)
    path = _put(fs, "/f.zst", frame + frame)
    assert [r.record for r in records_of(fs, path, 1000)] == 2 * LINES.splitlines()
    _put(fs, "/cut.zst", frame[:-5])
    with pytest.raises(BlockReadException, match="decompress"):
        list(records_of(fs, "/cut.zst", 1000))


def test_garbage_in_a_compressed_file_raises(fs: FileSystem) -> None:
    """At the start, or after a member."""
    for data in (b"rubbish", gzip.compress(LINES) + b"rubbish"):
        with pytest.raises(BlockReadException, match="can't decompress"):
            list(records_of(fs, _put(fs, "/f.gz", data), 1000))


def test_unsupported_codec_raises(fs: FileSystem) -> None:
    """An error instead of no records; compression=None reads the bytes."""
    path = _put(fs, "/f.lz4", b"a\nb\n")
    with pytest.raises(
        IllegalArgumentException, match=r"unsupported compression of '/f\.lz4', by its suffix"
    ):
        list(records_of(fs, path, 1000))
    assert [r.record for r in records_of(fs, path, 1000, compression=None)] == [b"a", b"b"]


@pytest.mark.parametrize(
    "options",
    [
        {"delimiter": b""},
        {"buffer_size": 0},
        {"overflow_buffer_size": 0},
        {"max_record_length": -1},
        {"on_too_long": "weep"},
        {"compression": "rar"},
    ],
)
def test_invalid_options_are_rejected(options: dict[str, object]) -> None:
    """With one line, when the context is created."""
    with pytest.raises(IllegalArgumentException):
        LineReaderContext(**options)  # type: ignore[arg-type]


def test_a_record_has_at_least_one_byte() -> None:
    """With fixed length."""
    with pytest.raises(IllegalArgumentException):
        FixedBytesReaderContext(0)


def test_lines_without_reading_ahead_need_a_converter_that_looks(fs: FileSystem) -> None:
    """It receives only the bytes."""
    blocks = list(blocks_of(fs.get_file_status(_put(fs, "/f", b"abcdef\nghijkl\n")), 4))
    with FSLineReader(fs, as_bytes) as reader:
        found = [r.record for b in blocks for r in reader.process_block(b)]
    assert found == [b"abcdef", b"ef", b"ghijkl", b"hijkl", b"l"]


class PrefixedContext(ReaderContext[FileBlockMetadata, FSDataInputStream]):
    """Records behind a byte with their length; a file is one block."""

    def initialize(
        self, stream: FSDataInputStream, block: FileBlockMetadata, consecutive: bool
    ) -> None:
        """Start at the first record."""
        super().initialize(stream, block, consecutive)
        self._stream = stream
        stream.seek(block.offset)

    @property
    def position(self) -> int:
        """Position of the stream."""
        return self._stream.get_pos()

    def next(self) -> Entity | None:
        """Return the record behind the next length."""
        start = self.position
        if start >= self.block.end:
            return None
        record = bytearray(self._stream.read_byte())
        self._stream.read_fully(start + 1, record)
        self._stream.seek(start + 1 + len(record))
        return Entity(bytes(record), 1 + len(record), start)


def test_a_context_for_another_format_reads_files(fs: FileSystem) -> None:
    status = fs.get_file_status(_put(fs, "/f", b"\x03one\x00\x05three"))
    (block,) = blocks_of(status, 100)
    with FSBlockReader(fs, PrefixedContext(), as_bytes) as reader:
        records = [(r.offset, r.record) for r in reader.process_block(block)]
    assert records == [(0, b"one"), (4, b""), (5, b"three")]
    assert reader.counters.bytes == status.length


def test_truncated_file_of_another_format_is_named(fs: FileSystem) -> None:
    (block,) = blocks_of(fs.get_file_status(_put(fs, "/f", b"\x03one\x05thr")), 100)
    reader = FSBlockReader(fs, PrefixedContext(), as_bytes)
    with pytest.raises(BlockReadException, match=r"block 1 at offset 5: .*'/f'"):
        list(reader.process_block(block))
