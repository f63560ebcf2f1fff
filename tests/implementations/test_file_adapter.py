"""Tests of streams as Python files."""

from __future__ import annotations

import errno
import io
import zipfile
from array import array
from typing import Any

import pytest

from fscontract.contract.api.filesystem import FileSystem
from fscontract.contract.program.content import content
from fscontract.implementations.memory import MemoryInputStream

from .support import write

DATA = content(10_000)


class TestReading:
    def test_it_reads_seeks_and_tells_like_bytesio(self, fs: FileSystem) -> None:
        write(fs, "/a", DATA)
        with fs.open("/a").as_file() as file, io.BytesIO(DATA) as model:
            for size in (0, 1, 5000, 0, 5000, 1, -1):
                assert file.read(size) == model.read(size)
                assert file.tell() == model.tell()
            for offset, whence in ((5, 0), (-3, 1), (9, 1), (-4, 2), (0, 2), (3, 2), (20_000, 0)):
                assert file.seek(offset, whence) == model.seek(offset, whence)
                assert file.tell() == model.tell()
                assert file.read(2) == model.read(2)

    def test_readall_gives_the_rest(self, fs: FileSystem) -> None:
        write(fs, "/a", DATA)
        with fs.open("/a").as_file() as file:
            file.seek(10)
            assert file.readall() == DATA[10:]
            assert file.readall() == b""
            file.seek(5, io.SEEK_END)
            assert file.readall() == b""

    def test_no_size_means_the_rest(self) -> None:
        file: Any = MemoryInputStream(DATA).as_file()
        assert file.read(None) == DATA

    def test_lines_are_those_of_bytesio(self) -> None:
        text = b"one\ntwo\n\nlast"
        file = MemoryInputStream(text).as_file()
        assert file.readlines() == io.BytesIO(text).readlines()

    @pytest.mark.parametrize("size", [-1, 0, 1, 700, 1023, 1024, 1025, 5000])
    def test_a_line_of_any_length_ends_where_that_of_bytesio_does(self, size: int) -> None:
        text = b"".join(b"x" * length + b"\n" for length in (0, 1022, 1023, 1024, 3000)) + b"last"
        with MemoryInputStream(text).as_file() as file, io.BytesIO(text) as model:
            for _ in range(12):
                assert (file.readline(size), file.tell()) == (model.readline(size), model.tell())

    def test_a_line_takes_few_reads_of_the_stream(self) -> None:
        reads: list[int] = []

        class Counted(MemoryInputStream):
            def read_into(self, buffer: Any, *window: Any) -> int:
                reads.append(len(buffer))
                return super().read_into(buffer, *window)

        lines = Counted(b"x" * 99 + b"\n" * 100).as_file()
        assert len(lines.readline()) == 100
        assert len(reads) == 1

    def test_a_zip_archive_opens_through_it(self, fs: FileSystem) -> None:
        with fs.create("/z") as file, zipfile.ZipFile(file, "w") as archive:
            archive.writestr("inside", DATA)
        with fs.open("/z").as_file() as raw, zipfile.ZipFile(io.BufferedReader(raw)) as archive:
            assert archive.read("inside") == DATA


class TestPosition:
    def test_it_is_the_streams(self) -> None:
        stream = MemoryInputStream(DATA)
        file = stream.as_file()
        stream.seek(5)
        assert file.tell() == 5
        assert file.read(3) == DATA[5:8]
        assert stream.get_pos() == 8

    def test_beyond_the_end_it_is_kept_by_the_file(self) -> None:
        stream = MemoryInputStream(DATA)
        file = stream.as_file()
        file.seek(10_005)
        assert (file.tell(), stream.get_pos()) == (10_005, 10_000)
        assert file.read(1) == b""
        assert file.seek(-6, io.SEEK_CUR) == 9_999
        assert file.read(5) == DATA[-1:]

    def test_moving_the_stream_ends_a_position_beyond_the_end(self) -> None:
        stream = MemoryInputStream(DATA)
        file = stream.as_file()
        file.seek(10_005)
        stream.seek(3)
        assert (file.tell(), file.read(1)) == (3, DATA[3:4])

    @pytest.mark.parametrize(("offset", "whence"), [(-1, 0), (-1, 1), (-10_001, 2)])
    def test_before_the_start_is_an_invalid_argument(self, offset: int, whence: int) -> None:
        file = MemoryInputStream(DATA).as_file()
        with pytest.raises(OSError, match="seek") as caught:
            file.seek(offset, whence)
        assert caught.value.errno == errno.EINVAL
        assert file.tell() == 0

    def test_whence_is_0_1_or_2(self) -> None:
        with pytest.raises(ValueError, match="whence"):
            MemoryInputStream(DATA).as_file().seek(0, 3)


class TestBuffers:
    def test_any_contiguous_writable_buffer_is_filled(self) -> None:
        file = MemoryInputStream(DATA).as_file()
        numbers = array("I", [0] * 5)
        assert file.readinto(numbers) == 20
        assert numbers.tobytes() == DATA[:20]
        square = memoryview(bytearray(12)).cast("B", (3, 4))
        assert file.readinto(square) == 12
        assert square.tobytes() == DATA[20:32]

    def test_an_empty_buffer_reads_nothing(self) -> None:
        assert MemoryInputStream(DATA).as_file().readinto(bytearray()) == 0

    def test_gaps_in_a_buffer_are_rejected(self) -> None:
        with pytest.raises(BufferError):
            MemoryInputStream(DATA).as_file().readinto(memoryview(bytearray(8))[::2])

    def test_a_read_only_buffer_is_rejected(self) -> None:
        buffer: Any = b"12345"
        with pytest.raises(TypeError):
            MemoryInputStream(DATA).as_file().readinto(buffer)


class TestClosing:
    def test_closing_the_file_closes_the_stream(self) -> None:
        stream = MemoryInputStream(DATA)
        file = stream.as_file()
        file.close()
        file.close()
        assert stream.closed
        assert file.closed

    def test_closing_the_stream_closes_the_file(self) -> None:
        stream = MemoryInputStream(DATA)
        file = stream.as_file()
        stream.close()
        assert file.closed
        assert stream.as_file().closed

    @pytest.mark.parametrize(
        "call", ["read", "readall", "tell", "readline", "readable", "seekable", "__enter__"]
    )
    def test_a_closed_file_raises_valueerror(self, call: str) -> None:
        stream = MemoryInputStream(DATA)
        file = stream.as_file()
        stream.close()
        with pytest.raises(ValueError, match="closed file"):
            getattr(file, call)()

    def test_a_closed_file_raises_valueerror_for_an_empty_line_too(self) -> None:
        file = MemoryInputStream(DATA).as_file()
        file.close()
        with pytest.raises(ValueError, match="closed file"):
            file.readline(0)

    def test_dropping_the_file_leaves_the_stream_open(self) -> None:
        stream = MemoryInputStream(DATA)
        assert stream.as_file().read(2) == DATA[:2]
        assert stream.read_byte() == DATA[2]

    def test_it_is_for_reading(self) -> None:
        file = MemoryInputStream(DATA).as_file()
        assert (file.readable(), file.seekable(), file.writable()) == (True, True, False)
        with pytest.raises(io.UnsupportedOperation):
            file.write(b"x")
        with pytest.raises(io.UnsupportedOperation):
            file.truncate()
