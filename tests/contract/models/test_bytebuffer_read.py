"""Rules of reads into a ByteBuffer, whose position and limit they may change."""

from __future__ import annotations

from fscontract.contract.program.outcome import Kind
from tests.contract.models.observed import (
    CLOSE,
    STALE,
    call,
    charged,
    filled,
    permits,
    positions,
    violation,
)


class TestReadBuffer:
    """`gives` is the count, and the buffer's position and limit afterwards."""

    def test_read_moves_the_stream_and_the_position_of_the_buffer(self) -> None:
        read = call("read_buffer", 6, 1, 4, gives=(3, 4, 4), buffer=filled(0, 3, 6, 1))
        assert positions(read) == [3]

    def test_other_position_of_the_buffer_violates_bytebuffer_position(self) -> None:
        read = call("read_buffer", 6, 1, 4, gives=(3, 3, 4), buffer=filled(0, 3, 6, 1))
        assert charged(read) == ("bytebuffer.position", "")

    def test_changed_limit_violates_bytebuffer_limit(self) -> None:
        read = call("read_buffer", 6, 1, 4, gives=(3, 4, 6), buffer=filled(0, 3, 6, 1))
        assert charged(read) == ("bytebuffer.limit", "")

    def test_byte_written_beyond_the_limit_violates_rest_untouched(self) -> None:
        read = call("read_buffer", 6, 1, 4, gives=(3, 4, 4), buffer=filled(0, 4, 6, 1))
        assert charged(read) == ("bytebuffer.rest-untouched", "")

    def test_more_bytes_than_fit_violate_bytebuffer_count(self) -> None:
        read = call("read_buffer", 6, 1, 4, gives=(4, 5, 4), buffer=filled(0, 4, 6, 1))
        assert charged(read) == ("bytebuffer.count", "")

    def test_read_at_the_end_returns_minus_one(self) -> None:
        end = call("read_buffer", 4, 0, None, gives=(-1, 0, 4), buffer=STALE)
        assert permits(call("seek", 5), end)
        assert charged(end) == ("bytebuffer.eof", "open.state")

    def test_full_buffer_reads_nothing(self) -> None:
        assert permits(call("read_buffer", 4, 4, None, gives=(0, 4, 4), buffer=STALE))

    def test_stream_without_byte_buffers_raises_unsupported(self) -> None:
        refused = call("read_buffer", 4, 0, None, raises=Kind.UNSUPPORTED)
        assert permits(refused, features=("!supports-bytebuffer-read",))
        assert violation(refused).clause == "bytebuffer.data"

    def test_closed_stream_raises_an_io_exception(self) -> None:
        assert permits(CLOSE, call("read_buffer", 4, 0, None, raises=Kind.IO))

    def test_bytes_of_another_offset_may_be_a_fault_of_open(self) -> None:
        read = call("read_buffer", 4, 0, None, gives=(2, 2, 4), buffer=filled(1, 2))
        assert charged(read) == ("bytebuffer.data", "open.state")

    def test_bytes_at_the_end_violate_eof(self) -> None:
        read = call("read_buffer", 4, 0, None, gives=(2, 2, 4), buffer=filled(0, 2))
        assert charged(call("seek", 5), read) == ("bytebuffer.eof", "seek.at-len")

    def test_exception_at_the_end_violates_eof(self) -> None:
        refused = call("read_buffer", 4, 0, None, raises=Kind.EOF)
        assert charged(call("seek", 5), refused) == ("bytebuffer.eof", "seek.at-len")

    def test_count_for_a_full_buffer_violates_zero(self) -> None:
        read = call("read_buffer", 4, 4, None, gives=(1, 4, 4), buffer=STALE)
        assert charged(read) == ("bytebuffer.zero", "")


class TestPreadBuffer:
    def test_pread_leaves_the_position_of_the_stream(self) -> None:
        read = call("pread_buffer", 1, 4, 0, None, gives=(2, 2, 4), buffer=filled(1, 2))
        assert positions(call("seek", 3), read) == [3]

    def test_other_position_of_the_stream_may_be_its_fault(self) -> None:
        read = call("pread_buffer", 1, 4, 0, None, gives=(2, 2, 4), buffer=filled(1, 2))
        calls = read, call("get_pos", gives=3)
        assert charged(*calls) == ("getpos.value", "bytebuffer-pread.pos-unchanged")

    def test_bytes_of_another_offset_violate_data(self) -> None:
        read = call("pread_buffer", 1, 4, 0, None, gives=(2, 2, 4), buffer=filled(2, 2))
        assert charged(read) == ("bytebuffer-pread.data", "")

    def test_pread_at_the_end_returns_minus_one(self) -> None:
        assert permits(call("pread_buffer", 5, 4, 0, None, gives=(-1, 0, 4), buffer=STALE))

    def test_count_at_the_end_violates_eof(self) -> None:
        read = call("pread_buffer", 5, 4, 0, None, gives=(1, 1, 4), buffer=STALE)
        assert charged(read) == ("bytebuffer-pread.eof", "")

    def test_zero_bytes_before_the_end_violate_count(self) -> None:
        read = call("pread_buffer", 1, 4, 0, None, gives=(0, 0, 4), buffer=STALE)
        assert charged(read) == ("bytebuffer-pread.count", "")

    def test_exception_before_the_end_violates_data(self) -> None:
        refused = call("pread_buffer", 1, 4, 0, None, raises=Kind.IO)
        assert charged(refused) == ("bytebuffer-pread.data", "open.state")

    def test_changed_buffer_violates_position_limit_or_rest_untouched(self) -> None:
        for gives, buffer, clause in (
            ((2, 1, 4), filled(1, 2), "position"),
            ((2, 2, 3), filled(1, 2), "limit"),
            ((2, 2, 4), filled(1, 3), "rest-untouched"),
        ):
            read = call("pread_buffer", 1, 4, 0, None, gives=gives, buffer=buffer)
            assert charged(read) == (f"bytebuffer-pread.{clause}", "")

    def test_full_buffer_reads_nothing(self) -> None:
        assert permits(call("pread_buffer", 1, 4, 4, None, gives=(0, 4, 4), buffer=STALE))
        assert permits(call("pread_buffer", 9, 4, 4, None, raises=Kind.EOF))
        read = call("pread_buffer", 1, 4, 4, None, gives=(-1, 4, 4), buffer=STALE)
        assert charged(read) == ("bytebuffer-pread.zero", "")

    def test_negative_position_raises_eof_exception(self) -> None:
        assert permits(call("pread_buffer", -1, 4, 0, None, raises=Kind.EOF))
        read = call("pread_buffer", -1, 4, 0, None, gives=(1, 1, 4), buffer=filled(0, 1))
        assert charged(read) == ("bytebuffer-pread.neg-pos", "")


class TestReadFullyBuffer:
    def test_buffer_is_filled_up_to_its_limit(self) -> None:
        read = call("read_fully_buffer", 1, 4, 0, 3, gives=(None, 3, 3), buffer=filled(1, 3))
        assert permits(read)

    def test_fewer_bytes_violate_data(self) -> None:
        read = call("read_fully_buffer", 1, 4, 0, 3, gives=(None, 3, 3), buffer=filled(1, 2))
        assert charged(read) == ("bytebuffer-read-fully.data", "")

    def test_buffer_larger_than_the_rest_raises_eof_exception(self) -> None:
        assert permits(call("read_fully_buffer", 3, 4, 0, None, raises=Kind.EOF))
        short = call("read_fully_buffer", 3, 4, 0, None, gives=(None, 2, 4), buffer=filled(3, 2))
        assert charged(short) == ("bytebuffer-read-fully.eof", "")

    def test_exception_before_the_end_violates_data(self) -> None:
        refused = call("read_fully_buffer", 1, 4, 0, 3, raises=Kind.IO)
        assert charged(refused) == ("bytebuffer-read-fully.data", "open.state")
