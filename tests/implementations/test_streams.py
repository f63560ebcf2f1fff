"""Tests of the reference streams where the contract leaves a choice, and of their bookkeeping."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from fscontract.contract.api.errors import (
    EOFException,
    IllegalArgumentException,
    IndexOutOfBoundsException,
    NullPointerException,
    PathIOException,
)
from fscontract.contract.api.filesystem import Buffer, ByteBuffer, FileRange, FileSystem
from fscontract.contract.program.content import content
from fscontract.implementations.input_stream import CAPABILITIES
from fscontract.implementations.memory import MemoryInputStream

from .support import write

DATA = content(10_000)
BIG = 2**63 - 1


@pytest.fixture
def stream(fs: FileSystem) -> Any:
    """A stream of each filesystem on DATA."""
    write(fs, "/dir/file", DATA)
    with fs.open("/dir/file") as opened:
        yield opened


class TestArguments:
    @pytest.mark.parametrize(
        ("buffer", "offset", "length", "error"),
        [
            (None, 0, 1, NullPointerException),
            (None, -1, -1, NullPointerException),
            (10, 0, -1, IndexOutOfBoundsException),
            (10, -1, 5, IndexOutOfBoundsException),
            (10, 11, 0, IndexOutOfBoundsException),
            (10, 11, None, IndexOutOfBoundsException),
            (10, 0, 11, IndexOutOfBoundsException),
            (10, 5, BIG, IndexOutOfBoundsException),
        ],
    )
    def test_a_stream_read_rejects(
        self, stream: Any, buffer: int | None, offset: int, length: Any, error: type[Exception]
    ) -> None:
        stream.seek(3)
        with pytest.raises(error):
            stream.read_into(None if buffer is None else bytearray(buffer), offset, length)
        assert stream.get_pos() == 3

    @pytest.mark.parametrize("call", ["pread", "read_fully"])
    @pytest.mark.parametrize(
        ("arguments", "error"),
        [
            ((0, None, 0, 1), IllegalArgumentException),
            ((0, bytearray(10), 0, -1), IllegalArgumentException),
            ((-1, bytearray(10), -1, -1), IllegalArgumentException),
            ((0, bytearray(10), -1, 5), IndexOutOfBoundsException),
            ((0, bytearray(10), 11, None), IndexOutOfBoundsException),
            ((-1, bytearray(10), 0, 11), IndexOutOfBoundsException),
            ((-1, bytearray(10), 0, 10), EOFException),
            ((-1, bytearray(10), 0, 0), EOFException),
        ],
    )
    def test_a_positioned_read_rejects(
        self, stream: Any, call: str, arguments: tuple[Any, ...], error: type[Exception]
    ) -> None:
        stream.seek(3)
        with pytest.raises(error):
            getattr(stream, call)(*arguments)
        assert stream.get_pos() == 3

    @pytest.mark.parametrize("offset", [0, 10])
    def test_no_bytes_may_be_read_anywhere(self, stream: Any, offset: int) -> None:
        stream.seek(len(DATA))
        assert stream.read_into(bytearray(10), offset, 0) == 0
        assert stream.pread(BIG, bytearray(10), offset, 0) == 0
        stream.read_fully(BIG, bytearray(10), offset, 0)

    @pytest.mark.parametrize("position", [-1, len(DATA) + 1, BIG])
    def test_a_seek_out_of_the_file_does_not_move(self, stream: Any, position: int) -> None:
        stream.seek(7)
        with pytest.raises(EOFException):
            stream.seek(position)
        assert stream.get_pos() == 7

    @pytest.mark.parametrize(("count", "skipped"), [(-5, 0), (0, 0), (3, 3), (BIG, 9_993)])
    def test_skip_stays_in_the_file(self, stream: Any, count: int, skipped: int) -> None:
        stream.seek(7)
        assert stream.skip(count) == skipped
        assert stream.available() == 9_993 - skipped

    def test_reads_give_all_there_is(self, stream: Any) -> None:
        buffer = bytearray(20_000)
        assert stream.read_into(buffer, 5) == 10_000
        assert buffer[5:10_005] == DATA
        assert stream.read_into(buffer) == -1
        assert stream.pread(9_990, buffer) == 10
        assert stream.pread(10_000, buffer) == -1
        assert stream.pread(BIG, buffer) == -1
        with pytest.raises(EOFException):
            stream.read_fully(9_990, buffer, 0, 11)


CLOSED: list[Callable[[Any], Any]] = [
    lambda s: s.get_pos(),
    lambda s: s.seek(0),
    lambda s: s.seek_to_new_source(0),
    lambda s: s.read_byte(),
    lambda s: s.read_into(None, -1, -1),
    lambda s: s.skip(0),
    lambda s: s.available(),
    lambda s: s.pread(-1, None, -1, -1),
    lambda s: s.read_fully(-1, None, -1, -1),
    lambda s: s.read_vectored(None),
    lambda s: s.read_buffer(None),
    lambda s: s.pread_buffer(-1, None),
    lambda s: s.read_fully_buffer(-1, None),
]


class TestClosed:
    @pytest.mark.parametrize("call", CLOSED)
    def test_every_read_raises_before_it_looks_at_arguments(
        self, stream: Any, call: Callable[[Any], Any]
    ) -> None:
        stream.read_byte()
        stream.close()
        with pytest.raises(PathIOException, match="closed") as caught:
            call(stream)
        assert caught.value.path == "/dir/file"

    def test_close_unbuffer_and_capabilities_work(self, stream: Any) -> None:
        stream.close()
        stream.close()
        stream.unbuffer()
        assert stream.has_capability("in:readvectored")


class TestVectored:
    def test_every_range_is_read_and_the_position_stays(self, stream: Any) -> None:
        stream.seek(5)
        ranges = [FileRange(*pair) for pair in ((9_000, 1_000), (0, 10), (10, 5), (50, 0))]
        stream.read_vectored(ranges)
        for item in ranges:
            assert item.data is not None
            assert item.data.result(0) == DATA[item.offset : item.offset + item.length]
        assert stream.get_pos() == 5

    @pytest.mark.parametrize(
        ("arguments", "error"),
        [
            ((None,), NullPointerException),
            (([None],), NullPointerException),
            (([], None), NullPointerException),
            (([], bytearray, None), NullPointerException),
            (([FileRange(-1, 5)],), EOFException),
            (([FileRange(0, -5)],), IllegalArgumentException),
            (([FileRange(5, 5), FileRange(0, 6)],), IllegalArgumentException),
            (([FileRange(5, 5), FileRange(5, 5)],), IllegalArgumentException),
            (([FileRange(9_999, 2)],), EOFException),
        ],
    )
    def test_bad_arguments_raise_from_the_call(
        self, stream: Any, arguments: tuple[Any, ...], error: type[Exception]
    ) -> None:
        with pytest.raises(error):
            stream.read_vectored(*arguments)

    def test_the_same_empty_range_twice_does_not_overlap(self, stream: Any) -> None:
        ranges = [FileRange(5, 0), FileRange(5, 0)]
        stream.read_vectored(ranges)
        assert [item.data.result(0) for item in ranges if item.data] == [b"", b""]

    def test_a_larger_buffer_is_cut_to_the_range(self, stream: Any) -> None:
        item = FileRange(3, 4)
        stream.read_vectored([item], lambda size: memoryview(bytearray(size + 9)))
        assert item.data is not None
        assert bytes(item.data.result(0)) == DATA[3:7]

    @pytest.mark.parametrize("buffer", [bytearray(3), None])
    def test_a_bad_allocation_fails_its_range_and_is_released(
        self, stream: Any, buffer: Any
    ) -> None:
        released: list[Buffer] = []
        bad, good = FileRange(0, 4), FileRange(4, 2)
        stream.read_vectored(
            [bad, good], lambda size: buffer if size == 4 else bytearray(size), released.append
        )
        assert bad.data is not None
        assert good.data is not None
        assert isinstance(bad.data.exception(0), (ValueError, TypeError))
        assert good.data.result(0) == DATA[4:6]
        assert released == [buffer][: buffer is not None]


class TestByteBuffers:
    def test_the_window_is_filled_and_the_position_moves(self, stream: Any) -> None:
        buffer = ByteBuffer.allocate(10)
        buffer.position, buffer.limit = 2, 6
        assert stream.read_buffer(buffer) == 4
        assert bytes(buffer.view) == b"\0\0" + DATA[:4] + b"\0\0\0\0"
        assert (buffer.position, buffer.limit, stream.get_pos()) == (6, 6, 4)
        assert stream.read_buffer(buffer) == 0

    def test_positioned_ones_leave_the_stream_alone(self, stream: Any) -> None:
        buffer = ByteBuffer.allocate(10)
        assert stream.pread_buffer(9_996, buffer) == 4
        assert (buffer.position, stream.get_pos()) == (4, 0)
        stream.read_fully_buffer(0, buffer)
        assert bytes(buffer.view) == DATA[-4:] + DATA[:6]

    def test_at_the_end(self, stream: Any) -> None:
        buffer = ByteBuffer.allocate(10)
        stream.seek(len(DATA))
        assert stream.read_buffer(buffer) == -1
        assert stream.pread_buffer(len(DATA), buffer) == -1
        with pytest.raises(EOFException):
            stream.read_fully_buffer(len(DATA) - 9, buffer)
        assert buffer.position == 0

    def test_bad_arguments(self, stream: Any) -> None:
        for call in (stream.pread_buffer, stream.read_fully_buffer):
            with pytest.raises(EOFException):
                call(-1, ByteBuffer.allocate(0))
            with pytest.raises(NullPointerException):
                call(0, None)
        with pytest.raises(NullPointerException):
            stream.read_buffer(None)


class TestTheRest:
    def test_capabilities_are_found_in_any_case(self, stream: Any) -> None:
        assert all(stream.has_capability(name.upper()) for name in CAPABILITIES)
        assert not stream.has_capability("in:unknown")
        with pytest.raises(NullPointerException):
            stream.has_capability(None)

    def test_there_is_no_other_source(self, stream: Any) -> None:
        assert stream.seek_to_new_source(5) is False

    def test_repr_shows_path_position_and_statistics(self) -> None:
        stream = MemoryInputStream(b"0123456789", "/a/b")
        assert repr(stream) == "<MemoryInputStream '/a/b' pos=0/10 open>"
        stream.read_byte()
        stream.read_into(bytearray(2))
        counts = "stream_read_operations=2, stream_read_bytes=3, stream_read_total_bytes=3"
        assert repr(stream) == f"<MemoryInputStream '/a/b' pos=3/10 open, {counts}>"
        stream.seek(0)
        stream.close()
        assert "pos=0/10 closed, " in repr(stream)
        assert "stream_read_seek_operations=1" in repr(stream)

    def test_positioned_reads_run_beside_each_other_and_the_stream(self, stream: Any) -> None:
        def pread(position: int) -> bool:
            buffer = bytearray(100)
            return stream.pread(position, buffer) == 100 and buffer == DATA[position:][:100]

        with ThreadPoolExecutor(4) as pool:
            results = pool.map(pread, [i * 37 % 9_900 for i in range(2_000)])
            assert [stream.read_byte() for _ in range(10_000)] == list(DATA)
            assert all(results)

    def test_one_changed_operation_changes_no_other(self) -> None:
        class Broken(MemoryInputStream):
            def read_byte(self) -> int:
                raise AssertionError

            seek = skip = get_pos = available = read_byte  # type: ignore[assignment]

        stream, buffer = Broken(b"0123"), bytearray(2)
        assert stream.read_into(buffer) == stream.pread(2, buffer) == 2
        stream.read_fully(0, buffer)
        assert stream.read_buffer(ByteBuffer(buffer)) == 2
