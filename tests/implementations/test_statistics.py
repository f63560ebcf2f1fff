"""Tests of I/O statistics of streams and filesystems against the actual operations."""

from __future__ import annotations

import gc
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from fscontract.contract.api.filesystem import ByteBuffer, FileRange, FileSystem, FSDataInputStream
from fscontract.contract.api.iostatistics import METERS
from fscontract.contract.program.content import content
from fscontract.implementations.input_stream import NO_COUNTS
from fscontract.implementations.local import LocalFileSystem
from fscontract.implementations.memory import MemoryFileSystem, MemoryInputStream

from .support import counted, rest_of, write

DATA = content(200_000)
OPENS = ("op_open", "op_openfile", "op_get_file_status")


class TestStream:
    def test_a_new_one_has_read_nothing(self, fs: FileSystem) -> None:
        """All counters exist from the start."""
        write(fs, "/a", DATA)
        with fs.open("/a") as stream:
            counts = dict(stream.io_statistics())
            assert counts.pop("stream_read_opened") == isinstance(fs, LocalFileSystem)
            assert not any(counts.values())
            assert {*counts, "stream_read_opened"} == NO_COUNTS.keys()

    def test_statistics_are_a_snapshot(self, fs: FileSystem) -> None:
        write(fs, "/a", DATA)
        with fs.open("/a") as stream:
            before: Any = stream.io_statistics()
            before["stream_read_bytes"] = 99
            stream.read_byte()
            assert (before["stream_read_bytes"], *counted(stream, "bytes")) == (99, 1)

    def test_bytes_and_operations_are_those_that_a_reader_got(self, fs: FileSystem) -> None:
        """Not bytes that a failed read has put into its buffer."""
        write(fs, "/a", DATA[:10_000])
        buffer = bytearray(4096)
        with fs.open("/a") as stream:
            stream.seek(9_990)
            assert stream.read_into(buffer) == 10
            assert stream.read_into(buffer) == stream.read_byte() == -1
            assert stream.pread(0, buffer) == 4096
            assert stream.pread(10_000, buffer) == -1
            stream.read_fully(0, buffer, 0, 4)
            with pytest.raises(EOFError):
                stream.read_fully(9_999, buffer)
            assert counted(stream, "operations", "bytes") == [3, 4110]
            assert counted(stream, "total_bytes")[0] == 4111

    def test_each_kind_of_call_has_its_counter(self, fs: FileSystem) -> None:
        write(fs, "/a", DATA[:100])
        with fs.open("/a") as stream:
            stream.seek(5)
            stream.seek(5)
            with pytest.raises(EOFError):
                stream.seek(101)
            stream.unbuffer()
            stream.read_fully(0, bytearray(3))
            stream.read_fully_buffer(0, ByteBuffer.allocate(3))
            stream.read_vectored([FileRange(0, 3), FileRange(50, 4)])
        stream.unbuffer()
        assert counted(
            stream,
            *("seek_operations", "unbuffered", "fully_operations", "vectored_operations"),
            *("vectored_incoming_ranges", "operations", "bytes"),
        ) == [2, 1, 2, 1, 2, 4, 13]

    def test_seek_skip_and_unbuffer_return_nothing(self, fs: FileSystem) -> None:
        write(fs, "/a", DATA)
        with fs.open("/a") as stream:
            stream.seek(100)
            stream.skip(100)
            stream.unbuffer()
            assert counted(stream, "bytes", "operations") == [0, 0]
            assert counted(stream, "total_bytes", "store_io_request") == [0, 0]

    def test_it_has_the_capability(self, fs: FileSystem) -> None:
        write(fs, "/a", b"")
        with fs.open("/a") as stream:
            assert stream.has_capability("IOStatistics")

    def test_nothing_is_opened_for_memory(self) -> None:
        """Its content is in memory: no descriptor, no request."""
        stream = MemoryInputStream(DATA)
        rest_of(stream)
        stream.close()
        assert counted(stream, "opened", "closed", "store_io_request") == [0, 0, 0]
        assert counted(stream, "bytes", "total_bytes") == [len(DATA)] * 2

    def test_a_stream_need_not_count(self) -> None:
        """The base class returns nothing."""
        assert FSDataInputStream.io_statistics(MemoryInputStream(b"")) == {}
        assert FileSystem.io_statistics(MemoryFileSystem()) == {}


class TestFileSystem:
    def test_every_counter_is_there_from_the_start(self, fs: FileSystem) -> None:
        counts = fs.io_statistics()
        assert not any(counts.values())
        assert counts.keys() == {*OPENS, *NO_COUNTS}
        assert all(any(name in counts for name in added) for added, _ in METERS.values())

    def test_opens_and_looks_are_counted(self, fs: FileSystem) -> None:
        """Including failed ones, and none before `build`."""
        write(fs, "/a", b"x")
        fs.open("/a").close()
        builder = fs.open_file("/a")
        assert counted(fs, *OPENS) == [1, 0, 0]
        builder.build().result().close()
        builder.with_file_status(fs.get_file_status("/a")).build().result().close()
        with pytest.raises(FileNotFoundError):
            fs.open("/b")
        assert fs.open_file("/b").build().exception()
        with pytest.raises(FileNotFoundError):
            fs.get_file_status("/b")
        assert counted(fs, *OPENS) == [2, 3, 2]

    def test_it_adds_up_streams_that_are_open_closed_or_lost(self, fs: FileSystem) -> None:
        """Each once, for every way of ending."""
        write(fs, "/a", DATA[:100])
        streams = [fs.open("/a") for _ in range(3)]
        for number, stream in enumerate(streams, 1):
            stream.read_fully(0, bytearray(number))
        streams[0].close()
        streams[0].close()
        assert counted(fs, "bytes", "operations") == [6, 3]
        del streams[1], stream
        gc.collect()
        assert counted(fs, "bytes", "operations") == [6, 3]
        streams.clear()
        gc.collect()
        assert counted(fs, "bytes", "operations") == [6, 3]
        opened, closed = counted(fs, "opened", "closed")
        assert opened == closed

    def test_streams_held_are_the_difference(self, local: LocalFileSystem) -> None:
        write(local, "/a", DATA)
        streams = [local.open("/a") for _ in range(4)]
        streams[0].close()
        streams[1].unbuffer()
        assert counted(local, "opened", "closed") == [4, 2]
        streams[1].read_byte()
        assert counted(local, "opened", "closed") == [5, 2]

    def test_many_streams_in_many_threads_are_all_there(self, fs: FileSystem) -> None:
        """Counts of ended streams are kept until they are added up."""
        write(fs, "/a", DATA[:10])

        def work(_: int) -> None:
            with fs.open("/a") as stream:
                stream.read_into(bytearray(10))

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(work, range(500)))
        assert counted(fs, "op_open", "bytes", "operations") == [500, 5000, 500]

    def test_filesystems_do_not_share_them(self) -> None:
        one, other = MemoryFileSystem(), MemoryFileSystem()
        write(one, "/a", b"x")
        one.open("/a").close()
        assert counted(one, "op_open") == [1]
        assert Counter(other.io_statistics()).total() == 0
