"""Scenarios of streams, failures and counters of a block reader, one per clause."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial
from itertools import cycle, zip_longest
from random import Random
from typing import Any

from fscontract.contract.api.errors import UnsupportedOperationException
from fscontract.contract.api.openfile_options import SPLIT_END, SPLIT_START
from fscontract.contract.models.blockreader import Block, Delivered
from fscontract.contract.pipeline_bindings import CheckedReader
from fscontract.contract.scenarios.blockreader.harness import (
    PATH,
    ManualClock,
    ReaderHarness,
    SparseBytes,
)
from fscontract.contract.scenarios.scenario import Scenarios

scenario = Scenarios[ReaderHarness]()
#: Settings of buffers that need several reads for a block.
_SMALL = {"buffer_size": 4, "overflow_buffer_size": 1}
DATA = b"alpha\nbeta\ngamma\ndelta\nepsilon\n"
OTHER = b"one\ntwo\nthree\nfour\nfive\nsix\nse\n"
ALPHA = [b"alpha", b"beta", b"gamma", b"delta", b"epsilon"]
#: The kinds of contexts, and the length of their records.
CONTEXTS = {"read-ahead": None, "line": None, "fixed": 6, "fixed-width": 6}


def _values(seen: list[Delivered]) -> list[bytes]:
    return [s.record for s in seen]


def _bad(position: int) -> None:
    raise OSError("the disk is gone")


def _bad_from(good: int, position: int) -> None:
    if position >= good:
        _bad(position)


def _none(position: int) -> None:
    """Let a read succeed."""


# Streams -----------------------------------------------------------------------------------------


@scenario("block.reuse")
def blocks_in_a_row_share_a_stream(harness: ReaderHarness) -> None:
    """Consecutive blocks of a file are read with one open."""
    reader = harness.file(DATA).reader()
    harness.read(reader, *harness.blocks(8))
    harness.expect(len(harness.fs.streams), 1, "streams opened")


@scenario("block.reuse")
def hundreds_of_blocks_share_a_stream(harness: ReaderHarness) -> None:
    """More blocks are read in a row than a small counter or pool allows."""
    reader = harness.file(b"a line\n" * 100).reader()
    harness.read(reader, *harness.blocks(2))
    harness.expect(len(harness.fs.streams), 1, "streams opened for 350 blocks")


@scenario("block.fresh")
def another_file_gets_its_own_stream(harness: ReaderHarness) -> None:
    """Blocks of two files are read in turn."""
    expected = [*harness.baseline(DATA, 8), *harness.baseline(OTHER, 8)]
    harness.file(DATA).file(OTHER, "/other")
    mine, others = harness.blocks(8), harness.blocks(8, "/other", 100)
    reader = harness.reader()
    seen = harness.read(reader, *(b for pair in zip(mine, others, strict=False) for b in pair))
    harness.expect(sorted(_values(seen)), sorted(expected))


@scenario("block.closes-old")
def only_one_stream_is_open(harness: ReaderHarness) -> None:
    """The previous stream is closed if the next block does not follow it, or before that."""
    reader = harness.file(DATA).reader()
    harness.read(reader, *reversed(harness.blocks(8)))
    harness.expect(max(harness.fs.open_streams, 1), 1, "open streams after the last block")
    harness.expect(harness.fs.max_open <= 2, True, "at most the old stream and the new one")


@scenario("block.recovered")
def a_reader_may_begin_in_the_middle(harness: ReaderHarness) -> None:
    """The first block is not at the start of the file: another reader has read the blocks before
    it.
    """
    expected = harness.baseline(DATA, 8, first=1)
    reader = harness.file(DATA).reader()
    harness.expect(_values(harness.read(reader, *harness.blocks(8)[1:])), expected)


@scenario("block.hints")
def the_open_says_what_is_read(harness: ReaderHarness) -> None:
    """The open passes the status of the file at split time, and the block as the split."""
    block = harness.file(DATA).blocks(8)[1]
    harness.read(harness.reader(), block)
    harness.expect(len(harness.fs.opened), 1, "opens by a builder")
    builder = harness.fs.opened[0]
    split = (builder.options.get(SPLIT_START), builder.options.get(SPLIT_END))
    harness.expect(split, (block.offset, block.end), "the split")
    length = None if builder.status is None else builder.status.length
    harness.expect(length, len(DATA), "length in the status")


@scenario("block.idle-close")
def an_idle_stream_is_closed(harness: ReaderHarness) -> None:
    """After an idle stream is closed, the next block is still read."""
    expected, clock = harness.baseline(DATA, 8), ManualClock()
    reader = harness.file(DATA).reader(idle_seconds=10.0, clock=clock)
    first, *rest = harness.blocks(8)
    seen = harness.read(reader, first)
    clock.now += 11
    reader.close_if_idle()
    harness.expect(harness.fs.open_streams, 0, "streams open when idle")
    harness.expect(_values(seen + harness.read(reader, *rest)), expected)


@scenario("block.idle-from-use")
def a_stream_in_use_is_not_idle(harness: ReaderHarness) -> None:
    """A stream that was opened long ago, but used recently, is not idle."""
    clock = ManualClock()
    reader = harness.file(DATA).reader(idle_seconds=10.0, clock=clock)
    for block in harness.blocks(8):
        harness.read(reader, block)
        clock.now += 6
        reader.close_if_idle()
    harness.expect(len(harness.fs.streams), 1, "streams opened")


@scenario("block.close")
def a_closed_reader_holds_no_stream(harness: ReaderHarness) -> None:
    """After the last block the stream is kept for another one; close() releases it."""
    reader = harness.file(DATA).reader()
    harness.read(reader, *harness.blocks(8))
    reader.close()
    harness.expect(harness.fs.open_streams, 0, "open streams")


@scenario("block.fresh")
def a_block_that_is_read_again_has_the_bytes_of_now(harness: ReaderHarness) -> None:
    """A file is replaced by one of the same length, and its first block is read again."""
    expected = harness.baseline(OTHER, 100)
    reader = harness.file(DATA).reader()
    first, *_ = harness.blocks(100)
    harness.read(reader, first)
    harness.file(OTHER)
    harness.expect(_values(harness.read(reader, first)), expected)


@scenario("record.none-lost")
def readers_may_take_turns(harness: ReaderHarness) -> None:
    """Two readers share the blocks of a file, and then read two files, record by record."""
    shared, *expected = (harness.baseline(*file) for file in ((DATA, 4), (DATA, 100), (OTHER, 100)))
    first, second = harness.file(DATA).file(OTHER, "/other").reader(), harness.reader()
    turns = zip(cycle((first, second)), harness.blocks(4), strict=False)
    seen = [record for reader, block in turns for record in harness.read(reader, block)]
    harness.expect(sorted(_values(seen)), sorted(shared), "records of the shared blocks")
    (mine,), (others,) = harness.blocks(100), harness.blocks(100, "/other")
    values = [
        (bytes(record.record) for record in harness.records(reader, block))
        for reader, block in ((first, mine), (second, others))
    ]
    columns = zip(*zip_longest(*values), strict=True)
    taken = [sorted(value for value in column if value is not None) for column in columns]
    harness.expect(taken, [*map(sorted, expected)], "records of the two files")


# Failures ----------------------------------------------------------------------------------------


@scenario("block.failure-closes")
def a_failed_read_leaves_no_stream(harness: ReaderHarness) -> None:
    """A read fails in the first block, and in a later one.

    A reader that needs no more reads for the later block has not failed.
    """
    for before, which in ((0, "first"), (2, "third")):
        harness.fs.fail, leaked = _none, harness.fs.open_streams
        reader = harness.file(DATA).reader(**_SMALL)
        blocks = harness.blocks(8)
        harness.read(reader, *blocks[:before])
        harness.fs.fail = _bad
        try:
            harness.read(reader, blocks[before])
        except OSError:
            left = harness.fs.open_streams - leaked
            harness.expect(left, 0, f"open streams after the {which} block")
        else:
            if not before:
                harness.fail("an exception", "no exception")


@scenario("block.other-failure")
def any_other_failure_leaves_no_stream(harness: ReaderHarness) -> None:
    """An exception of the converter is not an I/O error, but also closes the stream."""

    def convert(data: bytes) -> bytes:
        raise KeyError(data)

    reader = harness.file(DATA).reader(converter=convert)
    harness.expect_error(lambda: harness.read(reader, harness.blocks(8)[0]), Exception)
    harness.expect(harness.fs.open_streams, 0, "open streams")


@scenario("block.failure-forgets")
def a_block_after_a_failed_one_is_whole(harness: ReaderHarness) -> None:
    """The failed block is read again on a new stream, then the next block.

    A reader that needs no more reads for the block has not failed.
    """
    expected = harness.baseline(DATA, 8, **_SMALL)
    for good in (0, 12):
        reader = harness.file(DATA).reader(**_SMALL)
        first, second, *rest = harness.blocks(8)
        seen = harness.read(reader, first)
        harness.fs.fail = partial(_bad_from, good)
        try:
            seen += harness.read(reader, second)
        except OSError:
            harness.fs.fail = _none
            opened = len(harness.fs.streams)
            seen += harness.read(reader, second)
            harness.expect(len(harness.fs.streams), opened + 1, "streams opened")
        harness.fs.fail = _none
        seen += harness.read(reader, *rest)
        harness.expect(_values(seen), expected)


@scenario("block.failure-forgets")
def a_block_that_fails_behind_its_first_records_begins_again(harness: ReaderHarness) -> None:
    """A read in the middle of a block fails, once or in every try until the disk is back.

    A reader that reads all of a block at once, or retries the read, returns all records.
    """
    expected = harness.baseline(DATA, 100, **_SMALL)
    for once in (True, False):
        (block,) = harness.file(DATA).blocks(100)
        reader = harness.reader(**_SMALL)

        def fail(position: int, once: bool = once) -> None:
            if position >= 16:
                if once:
                    harness.fs.fail = _none
                _bad(position)

        harness.fs.fail = fail
        try:
            seen = harness.read(reader, block)
        except OSError:
            harness.fs.fail = _none
            seen = harness.read(reader, block)
        harness.fs.fail = _none
        harness.expect(_values(seen), expected)


def _rejecting_once(record: bytes) -> Callable[[bytes], bytes]:
    """Return a converter that raises KeyError for a record, the first time."""
    rejected: list[bytes] = []

    def convert(data: bytes) -> bytes:
        if data == record and not rejected:
            rejected.append(data)
            raise KeyError(data)
        return data

    return convert


@scenario("block.failure-forgets")
def a_block_whose_record_was_rejected_begins_again(harness: ReaderHarness) -> None:
    """The converter rejects a record in the middle of the block, once."""
    expected = harness.baseline(DATA, 100)
    reader = harness.file(DATA).reader(converter=_rejecting_once(ALPHA[2]))
    (block,) = harness.blocks(100)
    with suppress(Exception):
        harness.read(reader, block)
    harness.expect(_values(harness.read(reader, block)), expected)


@scenario("block.failure-named")
def an_error_names_block_and_offset(harness: ReaderHarness) -> None:
    """The message of the error contains block and offset."""
    block = replace(harness.file(DATA).blocks(8)[2], block_id=4711, previous=4710)
    harness.fs.fail = _bad
    error = harness.expect_error(lambda: harness.read(harness.reader(), block), OSError)
    named = ["4711" in str(error), str(block.offset) in str(error)]
    harness.expect(named, [True, True], f"block and offset in {error}")


@scenario("block.abandoned")
def a_block_left_in_the_middle_leaves_no_stream(harness: ReaderHarness) -> None:
    """The caller takes one record only."""
    reader = harness.file(DATA).reader()
    records: Any = iter(reader.process(harness.blocks(100)[0]))
    next(records)
    (records if hasattr(records, "close") else reader).close()
    harness.expect(harness.fs.open_streams, 0, "open streams")


@scenario("record.none-lost")
def a_block_left_in_the_middle_is_read_again(harness: ReaderHarness) -> None:
    """The caller takes one record, and then all records of all blocks."""
    expected = harness.baseline(DATA, 16)
    reader = harness.file(DATA).reader()
    blocks = harness.blocks(16)
    records: Any = iter(reader.process(blocks[0]))
    next(records)
    if not hasattr(records, "close"):
        reader = harness.reader()
    else:
        records.close()
    harness.expect(sorted(_values(harness.read(reader, *blocks))), sorted(expected))


@scenario("record.shorter")
def a_file_that_lost_its_end_is_an_error(harness: ReaderHarness) -> None:
    """The status has a greater length than the file."""
    harness.file(DATA).fs.stated[PATH] = len(DATA) + 5
    blocks = harness.blocks(100)
    for _, _, reader in _readers(harness):
        harness.expect_error(partial(harness.read, reader, *blocks), OSError)


@scenario("record.grown")
def what_was_added_later_is_not_read(harness: ReaderHarness) -> None:
    """The file ends at its length at split time, behind a line or in the middle of one."""
    for length in (len(DATA), len(DATA) - 2):
        blocks = harness.file(DATA[:length]).blocks(8)
        harness.file(DATA + b"zeta\n")
        for context, width, reader in _readers(harness):
            expected = harness.baseline(DATA[:length], 8, context=context, length=width)
            seen = harness.read(reader, *blocks)
            harness.expect(_values(seen), expected, f"records of {context}")


def _readers(harness: ReaderHarness) -> Iterator[tuple[str, int | None, CheckedReader]]:
    """Yield each kind of context with the length of its records and a reader, if it exists."""
    for context, length in CONTEXTS.items():
        harness.restart()
        try:
            reader = harness.reader(context=context, length=length)
        except (NotImplementedError, UnsupportedOperationException):
            if context == "read-ahead":
                raise
        else:
            yield context, length, reader


# Records -----------------------------------------------------------------------------------------


@scenario("record.none-lost")
def a_path_is_opened_as_it_is(harness: ReaderHarness) -> None:
    """Paths have spaces, escapes, and characters beyond ASCII."""
    for name in ("/ a b ", "/a%20b", "/a+b", "/a:b", "/a#b?c", "/\xe4\u6f22"):
        harness.file(name.encode(), name)
        seen = harness.read(harness.reader(), *harness.blocks(100, name))
        harness.expect(_values(seen), [name.encode()], f"records of {name!r}")


@scenario("record.offset", "record.whole")
def an_offset_has_64_bits(harness: ReaderHarness) -> None:
    """Two blocks end behind the first 4 GiB of a file; only a reader that reads no other bytes can
    be checked.
    """
    positions: list[int] = []
    harness.file(b"\n" * 100_000).fs.fail = positions.append
    harness.read(harness.reader(), harness.blocks(10)[-1])
    if min(positions) < 50_000:
        raise UnsupportedOperationException("it reads the whole file")
    end = (1 << 32) + 20
    harness.file(SparseBytes(end, b"".join(b"%03d\n" % number for number in range(10))))
    bounds = [(end - 30, end - 15), (end - 15, end)]
    blocks = [Block(n, *part, n - 1, PATH, end) for n, part in enumerate(bounds, 7)]
    seen = harness.read(harness.reader(), *blocks)
    expected = [b"%03d" % n for n in range(3, 10)]
    harness.expect(sorted(_values(seen)), expected, clause="record.whole")
    harness.expect(sorted(s.offset for s in seen), [*range(end - 28, end, 4)], "offsets")


@scenario("block.tagged")
def an_id_has_64_bits(harness: ReaderHarness) -> None:
    """The ids of blocks have the number of an operator above their low 32 bits."""
    first = (5 << 32) + 7
    seen = harness.read(harness.file(DATA).reader(), *harness.blocks(100, first_id=first))
    harness.expect({s.block_id for s in seen}, {first}, "block ids")


@scenario("block.tagged")
def a_record_says_which_block_it_is_of(harness: ReaderHarness) -> None:
    """A record has the id of the block that was being read."""
    reader = harness.file(b"a\nb\nc\nd\n").reader(context="fixed", length=2)
    seen = harness.read(reader, *harness.blocks(2, first_id=7))
    harness.expect([s.block_id for s in seen], [7, 8, 9, 10], "block ids")


@scenario("block.dropped")
def what_the_converter_drops_is_not_there(harness: ReaderHarness) -> None:
    """A converter that returns None drops a record: it is neither delivered nor counted."""
    expected = [record for record in harness.baseline(DATA, 8) if not record.startswith(b"b")]
    reader = harness.file(DATA).reader(converter=lambda d: None if d.startswith(b"b") else d)
    seen = harness.read(reader, *harness.blocks(8))
    harness.expect(_values(seen), expected)
    harness.expect(reader.counters()["records"], len(expected), "records counted")


@scenario("record.none-lost")
def what_is_false_is_a_record(harness: ReaderHarness) -> None:
    """The converter returns 0 for an empty line, which is not None."""
    reader = harness.file(b"a\n\nbb\n").reader(converter=len)
    harness.expect(sorted(_values(harness.read(reader, *harness.blocks(8)))), [0, 1, 2])


@scenario("block.emitted-after")
def a_block_is_told_of_after_its_records(harness: ReaderHarness) -> None:
    """A block is reported once, after its last record."""
    events: list[object] = []
    expected: list[object] = []
    reader = harness.file(DATA).reader(on_block=events.append)
    for block in harness.blocks(16):
        for record in harness.records(reader, block):
            events.append(record.record)
            expected.append(record.record)
        expected.append(block.block_id)
    harness.expect(events, expected, "records and blocks")


@scenario("block.emitted-after")
def each_block_is_told_of(harness: ReaderHarness) -> None:
    """Blocks without records are reported, too."""
    told: list[int] = []
    blocks = harness.file(DATA).blocks(3)
    harness.read(harness.reader(on_block=told.append), *blocks)
    harness.expect(told, [block.block_id for block in blocks], "blocks that are reported")


@scenario("block.emitted-after")
def a_failed_block_is_told_of_when_it_has_been_read(harness: ReaderHarness) -> None:
    """The converter rejects a record of a block, once; then the block is read again."""
    told: list[int] = []
    (block,) = harness.file(DATA).blocks(100)
    reader = harness.reader(on_block=told.append, converter=_rejecting_once(ALPHA[1]))
    with suppress(Exception):
        harness.read(reader, block)
    harness.read(reader, block)
    harness.expect(told, [block.block_id], "blocks that are reported")


@scenario("block.unconnected")
def nobody_need_listen_for_blocks(harness: ReaderHarness) -> None:
    """Records are delivered without a listener for blocks."""
    expected = harness.baseline(DATA, 8, on_block=lambda block_id: None)
    reader = harness.file(DATA).reader(on_block=None)
    try:
        seen = harness.read(reader, *harness.blocks(8))
    except TypeError as error:
        harness.fail("no error", str(error))
    harness.expect(_values(seen), expected)


@scenario("block.count")
def blocks_are_counted(harness: ReaderHarness) -> None:
    """Blocks that were read to the end are counted."""
    reader = harness.file(DATA).reader()
    blocks = harness.blocks(8)
    harness.read(reader, *blocks)
    harness.expect(reader.counters()["blocks"], len(blocks), "blocks")


@scenario("block.records")
def records_are_counted(harness: ReaderHarness) -> None:
    """Delivered records are counted."""
    reader = harness.file(DATA).reader()
    seen = harness.read(reader, *harness.blocks(8))
    harness.expect(reader.counters()["records"], len(seen), "records")


@scenario("block.records")
def hundreds_of_records_are_counted(harness: ReaderHarness) -> None:
    """A block has more records than a batch, and several blocks are read."""
    reader = harness.file(b"a line\n" * 500).reader()
    seen = harness.read(reader, *harness.blocks(1000))
    harness.expect(reader.counters()["records"], len(seen), "records")


@scenario("block.bytes")
def bytes_are_counted_with_delimiters(harness: ReaderHarness) -> None:
    """All blocks together count each byte of the file once."""
    data = DATA.replace(b"\n", b"\r\n")
    reader = harness.file(data).reader()
    harness.read(reader, *harness.blocks(8))
    harness.expect(reader.counters()["bytes"], len(data), "bytes")


@scenario("block.time")
def time_is_counted(harness: ReaderHarness) -> None:
    """Time is counted from the opening of a block to its last record."""
    clock = ManualClock()

    def slow(position: int) -> None:
        clock.now += 2

    harness.fs.fail = slow
    reader = harness.file(DATA).reader(clock=clock, buffer_size=len(DATA))
    harness.read(reader, *harness.blocks(len(DATA)))
    harness.expect(reader.counters()["time"], clock.now - 1000, "seconds")


@scenario("record.limit-error")
def a_long_record_is_an_error_of_its_block(harness: ReaderHarness) -> None:
    """The record fails its own block only; records before it may be delivered."""
    for before, size, buffer in ((1, 4, 8), (1, 25, 8), (1, 100, 8), (40, 50, 64), (40, 200, 64)):
        length = 50 if before == 1 else 20  # longer than the buffer, or in its middle
        harness.file(b"a\n" * before + b"b" * length + b"\ncccccccccc\nd\n")
        seen, failed = [], []
        for block in harness.blocks(size):
            reader = harness.reader(max_length=10, on_too_long="error", buffer_size=buffer)
            try:
                for record in harness.records(reader, block):
                    seen.append(record.record)
            except OSError:
                failed.append(block.block_id)
        own = 2 * before // size + 1
        harness.expect(failed, [own], f"failed blocks of {size} bytes")
        expected = [b"cccccccccc", b"d"] if own < len(harness.blocks(size)) else []
        complete = seen.count(b"a") <= before and [r for r in seen if r != b"a"] == expected
        harness.expect(complete or seen, True, f"records in blocks of {size}")


@scenario("record.converter-error")
def bytes_that_are_no_text_are_named(harness: ReaderHarness) -> None:
    """The error names block and offset."""
    harness.file(b"good\nbad\xff\nmore\n")
    reader = harness.reader(converter=lambda data: data.decode("utf-8"))
    block = replace(harness.blocks(100)[0], block_id=4711)
    error = harness.expect_error(lambda: harness.read(reader, block), Exception)
    named = ["4711" in str(error), "offset 5" in str(error)]
    harness.expect(named, [True, True], f"block and offset in {error}")


@scenario("record.line-validated")
def with_validation_each_line_comes_once(harness: ReaderHarness) -> None:
    """Partial lines are recognised and dropped."""
    data = b"".join(b"%04d:%s;\n" % (i, b"x" * (i % 7)) for i in range(40))

    def whole(line: bytes) -> bytes | None:
        return line if line[:4].isdigit() and line[4:5] == b":" else None

    for size in (6, 10, 33):
        reader = harness.file(data).reader(context="line", converter=whole)
        seen = harness.read(reader, *harness.blocks(size))
        harness.expect(_values(seen), data.splitlines(), f"lines in blocks of {size}")


@scenario("record.line-aligned")
def an_aligned_line_ends_the_block(harness: ReaderHarness) -> None:
    """Nothing beyond the block is read."""
    reader = harness.file(DATA).reader(context="line")
    harness.read(reader, *harness.blocks(6)[:1])
    harness.expect(harness.fs.furthest, 6, "end of the furthest read")


@scenario("record.slice-default")
def a_slice_is_a_block_of_the_filesystem(harness: ReaderHarness) -> None:
    """A slice has the block size of the filesystem unless its length is set."""
    harness.fs.block_size = 10
    seen = harness.read(harness.file(DATA).reader(context="fixed"), *harness.blocks(1000))
    harness.expect([len(s.record) for s in seen], [10, 10, 10, 1], "bytes of the slices")


@scenario("record.width-needed")
def fixed_width_needs_a_width(harness: ReaderHarness) -> None:
    """There is no useful default."""
    harness.expect_error(lambda: harness.reader(context="fixed-width"), ValueError)


# Compressed files --------------------------------------------------------------------------------


def _zstd(data: bytes) -> bytes:
    """Return a frame of Zstandard with these bytes in blocks that are not compressed."""
    size = 1 << 17
    parts = [data[at : at + size] for at in range(0, len(data), size)] or [b""]
    head = b"\x28\xb5\x2f\xfd\xa0" + len(data).to_bytes(4, "little")
    heads = [len(part) << 3 | (number == len(parts)) for number, part in enumerate(parts, 1)]
    blocks = [n.to_bytes(3, "little") + part for n, part in zip(heads, parts, strict=True)]
    return head + b"".join(blocks)


#: The functions that compress, by the path whose suffix says so.
_PACKERS: dict[str, Callable[[bytes], bytes]] = {"/f.gz": gzip.compress, "/f.bz2": bz2.compress}
#: The same, with those that Hadoop reads only with a native library or not at all.
_ALL_PACKERS = {**_PACKERS, "/f.xz": lzma.compress, "/f.zst": _zstd}
#: Exceptions that refuse no file: the reader fails.
_FAILURES = (AttributeError, NameError, TypeError)


@scenario("record.compressed")
def a_compressed_file_is_read_as_its_content(harness: ReaderHarness) -> None:
    """The suffix of the path selects the compression; the file is read in one block."""
    expected = harness.baseline(DATA, 100)
    harness.fs.shorts = (7, 1000)
    for path, pack in _PACKERS.items():
        harness.file(pack(DATA), path)
        seen = harness.read(harness.reader(), *harness.blocks(1 << 20, path))
        harness.expect(_values(seen), expected, path)


def _packers(harness: ReaderHarness) -> Iterator[tuple[str, Callable[[bytes], bytes]]]:
    """Yield paths that the reader decompresses, each with the function that compresses.

    Raise UnsupportedOperationException if it decompresses none.
    """
    expected = harness.baseline(DATA, 100)
    found = False
    for path, pack in _ALL_PACKERS.items():
        seen = None
        with suppress(*_FAILURES):  # which another clause reports
            seen = _opened(harness, path, DATA)
        if seen == expected:
            found = True
            yield path, pack
    if not found:
        raise UnsupportedOperationException("it decompresses no files")


def _opened(harness: ReaderHarness, path: str, data: bytes) -> list[Any] | None:
    """Return the records of a compressed file; None if the reader refuses it."""
    harness.file(_ALL_PACKERS[path](data), path)
    try:
        return _values(harness.read(harness.reader(), *harness.blocks(1 << 20, path)))
    except _FAILURES:
        raise
    except Exception:
        return None


@cache
def _lines() -> bytes:
    """Return lines that no codec makes shorter, longer than the buffers of codecs."""
    rng = Random(_LINES)
    lines = (rng.randbytes(75).translate(_WITHOUT_LINE_ENDS) for _ in range(_LINES))
    return b"\n".join(lines) + b"\n"


_LINES = 4500
_WITHOUT_LINE_ENDS = bytes.maketrans(b"\r\n", b"..")


@scenario("record.compressed-data")
def a_compressed_file_is_its_content_its_bytes_or_refused(harness: ReaderHarness) -> None:
    """So is one that is longer than the buffers of a codec, as a short one is."""
    contents = {data: harness.baseline(data, len(data)) for data in (DATA, _lines())}
    for path, pack in _ALL_PACKERS.items():
        decompresses = False
        for data, content in contents.items():
            seen = _opened(harness, path, data)
            harness.judged()
            if seen == content:
                decompresses = True
            elif decompresses:
                harness.fail("the records of the content, as of a short file", _count(path, seen))
            elif seen is not None and seen != harness.baseline(pack(data), 1 << 20):
                harness.fail("the records of the content, or of the bytes", _count(path, seen))


def _count(path: str, records: list[Any] | None) -> str:
    count = "refused" if records is None else f"{len(records)} records"
    return f"{count} of {path}"


@scenario("record.compressed-whole")
def a_compressed_file_can_not_be_split(harness: ReaderHarness) -> None:
    """Each block of a split compressed file is an error; the content is not delivered again."""
    for path, pack in _packers(harness):
        harness.file(pack(DATA), path)
        for block in harness.blocks(20, path):
            harness.expect_error(partial(harness.read, harness.reader(), block), OSError)


@scenario("record.members")
def all_members_are_read(harness: ReaderHarness) -> None:
    """A gzip or bzip2 file may consist of several members, one of which is empty."""
    expected = harness.baseline(DATA, 100)
    for path, pack in _packers(harness):
        data = pack(DATA[:8]) + pack(b"") + pack(DATA[8:])
        seen = harness.read(harness.file(data, path).reader(), *harness.blocks(1 << 20, path))
        harness.expect(_values(seen), expected, path)


@scenario("record.compressed-cut")
def a_cut_compressed_file_is_an_error(harness: ReaderHarness) -> None:
    """The file is truncated at any position."""
    for path, pack in _packers(harness):
        data = pack(DATA)
        for length in (len(data) - 1, len(data) // 2, 3):
            harness.file(data[:length], path)
            blocks: list[Block] = harness.blocks(1 << 20, path)
            harness.expect_error(partial(harness.read, harness.reader(), *blocks), OSError)
