"""What a reader does around the records: streams, failures, counters. One scenario a clause."""

from __future__ import annotations

import bz2
import gzip
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias

from fscontract.contract.api.openfile_options import SPLIT_END, SPLIT_START
from fscontract.contract.models.blockreader import Block, Seen
from fscontract.contract.scenarios.blockreader.harness import PATH, Bench, Clock

Scenario: TypeAlias = Callable[[Bench], None]
#: What each clause is judged by.
SCENARIOS: list[tuple[str, Scenario]] = []
DATA = b"alpha\nbeta\ngamma\ndelta\nepsilon\n"
OTHER = b"one\ntwo\nthree\nfour\nfive\nsix\nse\n"
ALPHA = [b"alpha", b"beta", b"gamma", b"delta", b"epsilon"]


def scenario(clause: str) -> Callable[[Scenario], Scenario]:
    """Register a scenario of a clause."""

    def register(play: Scenario) -> Scenario:
        SCENARIOS.append((clause, play))
        return play

    return register


def _values(seen: list[Seen]) -> list[bytes]:
    return [s.record for s in seen]


def _bad(position: int) -> None:
    raise OSError("the disk is gone")


# Streams -----------------------------------------------------------------------------------------


@scenario("block.reuse")
def blocks_in_a_row_share_a_stream(bench: Bench) -> None:
    """One open for a file whose blocks come in order."""
    reader = bench.file(DATA).reader()
    bench.read(reader, *bench.blocks(8))
    bench.want(len(bench.stage.streams), 1, "streams opened")


@scenario("block.fresh")
def another_file_gets_its_own_stream(bench: Bench) -> None:
    """Blocks of two files by turns."""
    bench.file(DATA).file(OTHER, "/other")
    mine, others = bench.blocks(8), bench.blocks(8, "/other", 100)
    reader = bench.reader()
    seen = bench.read(reader, *(b for pair in zip(mine, others, strict=False) for b in pair))
    bench.want(sorted(_values(seen)), sorted([*ALPHA, *OTHER.split()]))


@scenario("block.closes-old")
def only_one_stream_is_open(bench: Bench) -> None:
    """The stream of before is closed for a block that does not follow."""
    reader = bench.file(DATA).reader()
    bench.read(reader, *reversed(bench.blocks(8)))
    bench.want(bench.stage.open_streams, 1, "open streams after the last block")
    bench.want(bench.stage.most_open <= 2, True, "at most the old stream and the new one")


@scenario("block.recovered")
def a_reader_may_begin_in_the_middle(bench: Bench) -> None:
    """The first block that it sees has one before it, which another reader has read."""
    reader = bench.file(DATA).reader()
    bench.want(_values(bench.read(reader, *bench.blocks(8)[1:])), ALPHA[2:])


@scenario("block.hints")
def the_open_says_what_is_read(bench: Bench) -> None:
    """The status of the file as it was split, and the block as the split."""
    block = bench.file(DATA).blocks(8)[1]
    bench.read(bench.reader(), block)
    bench.want(len(bench.stage.opened), 1, "opens by a builder")
    builder = bench.stage.opened[0]
    split = (builder.options.get(SPLIT_START), builder.options.get(SPLIT_END))
    bench.want(split, (block.offset, block.end), "the split")
    length = None if builder.status is None else builder.status.length
    bench.want(length, len(DATA), "length in the status")


@scenario("block.idle-close")
def an_idle_stream_is_closed(bench: Bench) -> None:
    """And the next block is read all the same."""
    clock = Clock()
    reader = bench.file(DATA).reader(idle_seconds=10.0, clock=clock)
    first, *rest = bench.blocks(8)
    seen = bench.read(reader, first)
    clock.now += 11
    reader.close_if_idle()
    bench.want(bench.stage.open_streams, 0, "streams open when idle")
    bench.want(_values(seen + bench.read(reader, *rest)), ALPHA)


@scenario("block.idle-from-use")
def a_stream_in_use_is_not_idle(bench: Bench) -> None:
    """It was opened long ago, but read from just now."""
    clock = Clock()
    reader = bench.file(DATA).reader(idle_seconds=10.0, clock=clock)
    for block in bench.blocks(8):
        bench.read(reader, block)
        clock.now += 6
        reader.close_if_idle()
    bench.want(len(bench.stage.streams), 1, "streams opened")


@scenario("block.close")
def a_closed_reader_holds_no_stream(bench: Bench) -> None:
    """After the last block the stream waits for another one, and close() ends that."""
    reader = bench.file(DATA).reader()
    bench.read(reader, *bench.blocks(8))
    reader.close()
    bench.want(bench.stage.open_streams, 0, "open streams")


# Failures ----------------------------------------------------------------------------------------


@scenario("block.failure-closes")
def a_failed_read_leaves_no_stream(bench: Bench) -> None:
    """Of the first block, and of a later one."""
    for before in (0, 2):
        bench.stage.fail = lambda position: None
        reader = bench.file(DATA).reader(buffer_size=4, overflow_buffer_size=1)
        blocks = bench.blocks(8)
        bench.read(reader, *blocks[:before])
        bench.stage.fail = _bad
        bench.failure(partial(bench.read, reader, blocks[before]), OSError)
        bench.want(bench.stage.open_streams, 0, f"open streams after block {before + 1}")


@scenario("block.other-failure")
def any_other_failure_leaves_no_stream(bench: Bench) -> None:
    """What a converter raises is no I/O error."""

    def convert(data: bytes) -> bytes:
        raise KeyError(data)

    reader = bench.file(DATA).reader(converter=convert)
    bench.failure(lambda: bench.read(reader, bench.blocks(8)[0]), Exception)
    bench.want(bench.stage.open_streams, 0, "open streams")


@scenario("block.failure-forgets")
def a_block_after_a_failed_one_is_whole(bench: Bench) -> None:
    """The failed block is read again, on a stream of its own; then the next."""
    reader = bench.file(DATA).reader(buffer_size=4, overflow_buffer_size=1)
    first, second, *rest = bench.blocks(8)
    seen = bench.read(reader, first)
    bench.stage.fail = lambda position: _bad(position) if position >= 12 else None
    bench.failure(lambda: bench.read(reader, second), OSError)
    bench.stage.fail = lambda position: None
    opened = len(bench.stage.streams)
    seen += bench.read(reader, second, *rest)
    bench.want(len(bench.stage.streams), opened + 1, "streams opened")
    bench.want(_values(seen), ALPHA)


@scenario("block.failure-named")
def an_error_names_block_and_offset(bench: Bench) -> None:
    """In its message."""
    block = replace(bench.file(DATA).blocks(8)[2], block_id=4711, previous=4710)
    bench.stage.fail = _bad
    error = bench.failure(lambda: bench.read(bench.reader(), block), OSError)
    named = ["4711" in str(error), str(block.offset) in str(error)]
    bench.want(named, [True, True], f"block and offset in {error}")


@scenario("block.abandoned")
def a_block_left_in_the_middle_leaves_no_stream(bench: Bench) -> None:
    """The caller takes one record, and no more."""
    reader = bench.file(DATA).reader()
    records: Any = reader.process(bench.blocks(100)[0])
    next(records)
    records.close()
    bench.want(bench.stage.open_streams, 0, "open streams")


@scenario("record.shorter")
def a_file_that_lost_its_end_is_an_error(bench: Bench) -> None:
    """The status says more than there is."""
    bench.file(DATA).stage.stated[PATH] = len(DATA) + 5
    blocks = bench.blocks(100)
    bench.failure(lambda: bench.read(bench.reader(), *blocks), OSError)


@scenario("record.grown")
def what_was_added_later_is_not_read(bench: Bench) -> None:
    """The file ends where it did when it was split."""
    bench.file(DATA + b"zeta\n").stage.stated[PATH] = len(DATA)
    bench.want(_values(bench.read(bench.reader(), *bench.blocks(8))), ALPHA)


# Records -----------------------------------------------------------------------------------------


@scenario("block.tagged")
def a_record_says_which_block_it_is_of(bench: Bench) -> None:
    """The id of the block that was being read."""
    reader = bench.file(b"a\nb\nc\nd\n").reader(context="fixed", length=2)
    seen = bench.read(reader, *bench.blocks(2, first_id=7))
    bench.want([s.block_id for s in seen], [7, 8, 9, 10], "block ids")


@scenario("block.dropped")
def what_the_converter_drops_is_not_there(bench: Bench) -> None:
    """None is no record, is not counted, and ends nothing."""
    reader = bench.file(DATA).reader(converter=lambda d: None if d.startswith(b"b") else d)
    seen = bench.read(reader, *bench.blocks(8))
    bench.want(_values(seen), [v for v in ALPHA if v != b"beta"])
    bench.want(reader.counters()["records"], 4, "records counted")


@scenario("block.emitted-after")
def a_block_is_told_of_after_its_records(bench: Bench) -> None:
    """Once, when they are all out."""
    events: list[object] = []
    reader = bench.file(DATA).reader(on_block=events.append)
    for block in bench.blocks(16):
        for record in bench.records(reader, block):
            events.append(record.record)
    bench.want(events, [*ALPHA[:3], 1, *ALPHA[3:], 2], "records and blocks")


@scenario("block.unconnected")
def nobody_need_listen_for_blocks(bench: Bench) -> None:
    """Without a listener the records come all the same."""
    reader = bench.file(DATA).reader(on_block=None)
    try:
        seen = bench.read(reader, *bench.blocks(8))
    except TypeError as error:
        bench.want(str(error), "")
    bench.want(_values(seen), ALPHA)


@scenario("block.count")
def blocks_are_counted(bench: Bench) -> None:
    """Those that were read to the end."""
    reader = bench.file(DATA).reader()
    blocks = bench.blocks(8)
    bench.read(reader, *blocks)
    bench.want(reader.counters()["blocks"], len(blocks), "blocks")


@scenario("block.records")
def records_are_counted(bench: Bench) -> None:
    """Those that were delivered."""
    reader = bench.file(DATA).reader()
    bench.read(reader, *bench.blocks(8))
    bench.want(reader.counters()["records"], 5, "records")


@scenario("block.bytes")
def bytes_are_counted_with_delimiters(bench: Bench) -> None:
    """All blocks together take each byte of the file once."""
    data = DATA.replace(b"\n", b"\r\n")
    reader = bench.file(data).reader()
    bench.read(reader, *bench.blocks(8))
    bench.want(reader.counters()["bytes"], len(data), "bytes")


@scenario("block.time")
def time_is_counted(bench: Bench) -> None:
    """From the block's opening to its last record."""
    clock = Clock()

    def slow(position: int) -> None:
        clock.now += 2

    bench.stage.fail = slow
    reader = bench.file(DATA).reader(clock=clock, buffer_size=len(DATA))
    bench.read(reader, *bench.blocks(len(DATA)))
    bench.want(reader.counters()["time"], clock.now - 1000, "seconds")


@scenario("record.limit-error")
def a_long_record_is_an_error_of_its_block(bench: Bench) -> None:
    """Of the block that it belongs to, and of no other; records before it are delivered."""
    bench.file(b"a\n" + b"b" * 50 + b"\nc\nd\n")
    for size in (4, 25, 100):
        seen, failed = [], []
        for block in bench.blocks(size):
            reader = bench.reader(max_length=10, on_too_long="error", buffer_size=8)
            try:
                for record in bench.records(reader, block):
                    seen.append(record.record)
            except OSError:
                failed.append(block.block_id)
        bench.want(failed, [1], f"failed blocks of {size} bytes")
        bench.want(seen[:1], [b"a"], f"records in blocks of {size} bytes")


@scenario("record.converter-error")
def bytes_that_are_no_text_are_named(bench: Bench) -> None:
    """By block and offset."""
    bench.file(b"good\nbad\xff\nmore\n")
    reader = bench.reader(converter=lambda data: data.decode("utf-8"))
    block = replace(bench.blocks(100)[0], block_id=4711)
    error = bench.failure(lambda: bench.read(reader, block), ValueError)
    named = ["4711" in str(error), "offset 5" in str(error)]
    bench.want(named, [True, True], f"block and offset in {error}")


@scenario("record.line-validated")
def with_validation_each_line_comes_once(bench: Bench) -> None:
    """Rests of lines are told from lines, and dropped."""
    data = b"".join(b"%04d:%s;\n" % (i, b"x" * (i % 7)) for i in range(40))

    def whole(line: bytes) -> bytes | None:
        return line if line[:4].isdigit() and line[4:5] == b":" else None

    for size in (6, 10, 33):
        reader = bench.file(data).reader(context="line", converter=whole)
        seen = bench.read(reader, *bench.blocks(size))
        bench.want(_values(seen), data.splitlines(), f"lines in blocks of {size}")


@scenario("record.line-aligned")
def an_aligned_line_ends_the_block(bench: Bench) -> None:
    """Nothing behind the block is read."""
    reader = bench.file(DATA).reader(context="line")
    bench.read(reader, *bench.blocks(6)[:1])
    bench.want(bench.stage.furthest, 6, "end of the furthest read")


@scenario("record.slice-default")
def a_slice_is_a_block_of_the_filesystem(bench: Bench) -> None:
    """Unless its length is told."""
    bench.stage.block_size = 10
    seen = bench.read(bench.file(DATA).reader(context="fixed"), *bench.blocks(1000))
    bench.want([len(s.record) for s in seen], [10, 10, 10, 1], "bytes of the slices")


@scenario("record.width-needed")
def fixed_width_needs_a_width(bench: Bench) -> None:
    """There is no sensible default."""
    bench.failure(lambda: bench.reader(context="fixed-width"), ValueError)


# Compressed files --------------------------------------------------------------------------------


@scenario("record.compressed")
def a_compressed_file_is_read_as_its_content(bench: Bench) -> None:
    """By the suffix of its path, in one block."""
    bench.stage.shorts = (7, 1000)
    for path, data in (("/f.gz", gzip.compress(DATA)), ("/f.bz2", bz2.compress(DATA))):
        seen = bench.read(bench.file(data, path).reader(), *bench.blocks(1 << 20, path))
        bench.want(_values(seen), ALPHA, path)


@scenario("record.compressed-whole")
def a_compressed_file_can_not_be_split(bench: Bench) -> None:
    """Each block of a split one is an error, not the file once more."""
    bench.file(gzip.compress(DATA), "/f.gz")
    for block in bench.blocks(20, "/f.gz"):
        bench.failure(partial(bench.read, bench.reader(), block), OSError)


@scenario("record.members")
def all_members_are_read(bench: Bench) -> None:
    """A gzip or bzip2 file may be several in a row."""
    for path, pack in (("/f.gz", gzip.compress), ("/f.bz2", bz2.compress)):
        data = pack(DATA[:8]) + pack(DATA[8:])
        seen = bench.read(bench.file(data, path).reader(), *bench.blocks(1 << 20, path))
        bench.want(_values(seen), ALPHA, path)


@scenario("record.compressed-cut")
def a_cut_compressed_file_is_an_error(bench: Bench) -> None:
    """Wherever it is cut."""
    for path, pack in (("/f.gz", gzip.compress), ("/f.bz2", bz2.compress)):
        data = pack(DATA)
        for length in (len(data) - 1, len(data) // 2, 3):
            bench.file(data[:length], path)
            blocks: list[Block] = bench.blocks(1 << 20, path)
            bench.failure(partial(bench.read, bench.reader(), *blocks), OSError)
