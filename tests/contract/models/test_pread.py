"""Rules of positioned reads: read and readFully at an offset."""

from __future__ import annotations

import pytest

from fscontract.contract.program.outcome import Kind
from tests.contract.models.observed import (
    CLOSE,
    STALE,
    call,
    charged,
    filled,
    missed,
    permits,
    positions,
)

LAX_EXCEPTIONS = ("!supports-strict-exceptions",)
UNDECLARED = ("!supports-positioned-readable",)


class TestPread:
    def test_pread_leaves_the_position_of_the_stream(self) -> None:
        read = call("pread", 1, 4, 1, 2, gives=2, buffer=filled(1, 2, 4, 1))
        assert positions(read) == [0]
        assert permits(read, call("get_pos", gives=0))

    def test_other_position_after_pread_may_be_its_fault(self) -> None:
        read = call("pread", 1, 4, 0, 2, gives=2, buffer=filled(1, 2))
        calls = read, call("get_pos", gives=3)
        assert charged(*calls) == ("getpos.value", "pread.pos-unchanged")

    def test_pread_at_the_end_returns_minus_one(self) -> None:
        assert permits(call("pread", 5, 4, 0, 1, gives=-1, buffer=STALE))

    def test_zero_bytes_at_the_end_violate_pread_eof(self) -> None:
        assert charged(call("pread", 5, 4, 0, 1, gives=0, buffer=STALE)) == ("pread.eof", "")

    def test_pread_of_nothing_past_the_end_returns_or_raises_eof_exception(self) -> None:
        assert permits(call("pread", 9, 4, 0, 0, gives=-1, buffer=STALE))
        assert permits(call("pread", 9, 4, 0, 0, raises=Kind.EOF))

    def test_bytes_of_another_offset_violate_pread_data(self) -> None:
        read = call("pread", 1, 4, 0, 2, gives=2, buffer=filled(2, 2))
        assert charged(read) == ("pread.data", "")

    def test_zero_bytes_before_the_end_violate_pread_count(self) -> None:
        assert charged(call("pread", 0, 4, 0, 2, gives=0, buffer=STALE)) == ("pread.count", "")

    def test_byte_written_behind_the_count_violates_rest_untouched(self) -> None:
        read = call("pread", 0, 4, 0, 2, gives=2, buffer=filled(0, 3))
        assert charged(read) == ("pread.rest-untouched", "")

    def test_fewer_bytes_than_there_are_miss_a_should(self) -> None:
        read = call("pread", 0, 4, 0, 4, gives=3, buffer=filled(0, 3))
        assert missed(read) == ("pread.full",)

    def test_null_buffer_is_an_illegal_argument_or_a_null_pointer(self) -> None:
        assert permits(call("pread", 0, None, 0, 4, raises=Kind.ILLEGAL_ARGUMENT))
        assert permits(call("pread", 0, None, 0, 4, raises=Kind.NULL))
        assert charged(call("pread", 0, None, 0, 4, raises=Kind.IO)) == ("pread.null", "")

    def test_negative_position_raises_eof_exception_with_strict_exceptions(self) -> None:
        refused = call("pread", -1, 4, 0, 4, raises=Kind.ILLEGAL_ARGUMENT)
        assert permits(call("pread", -1, 4, 0, 4, raises=Kind.EOF))
        assert charged(refused) == ("pread.neg-pos", "")
        assert permits(refused, features=LAX_EXCEPTIONS)

    def test_pread_on_a_closed_stream_that_returns_misses_a_should(self) -> None:
        read = call("pread", 0, 4, 0, 4, gives=4, buffer=filled(0, 4))
        assert missed(CLOSE, read) == ("pread.closed",)

    def test_stream_without_positioned_reads_raises_unsupported(self) -> None:
        refused = call("pread", 0, 4, 0, 4, raises=Kind.UNSUPPORTED)
        read = call("pread", 0, 4, 0, 4, gives=4, buffer=filled(0, 4))
        assert permits(refused, features=UNDECLARED)
        assert charged(read, features=UNDECLARED) == ("pread.needs-seek", "")

    def test_negative_offset_for_no_bytes_may_return(self) -> None:
        assert permits(call("pread", 0, 4, -1, 0, gives=0, buffer=STALE))
        assert permits(call("pread", 0, 4, -1, 0, raises=Kind.INDEX))
        refused = call("pread", 0, 4, -1, 0, raises=Kind.IO)
        assert charged(refused) == ("pread.off-neg", "")

    def test_negative_offset_at_the_end_may_return_the_end(self) -> None:
        assert permits(call("pread", 5, 4, -1, 2, gives=-1, buffer=STALE))
        read = call("pread", 4, 4, -1, 2, gives=-1, buffer=STALE)
        assert charged(read) == ("pread.off-neg", "")

    def test_negative_offset_for_no_bytes_that_counts_bytes_violates_off_neg(self) -> None:
        assert charged(call("pread", 0, 4, -1, 0, gives=1, buffer=STALE)) == ("pread.off-neg", "")

    def test_negative_offset_that_returns_violates_off_neg(self) -> None:
        read = call("pread", 0, 4, -1, 2, gives=2, buffer=filled(0, 2))
        assert charged(read) == ("pread.off-neg", "")

    def test_exception_before_the_end_violates_data(self) -> None:
        failed = call("pread", 0, 4, 0, 4, raises=Kind.IO)
        assert charged(failed) == ("pread.data", "open.state")

    def test_end_at_a_huge_offset_may_be_an_io_exception(self) -> None:
        assert permits(call("pread", 2**63 - 1, 4, 0, 4, raises=Kind.IO))


class TestReadFully:
    def test_all_bytes_are_delivered_and_the_position_stays(self) -> None:
        assert positions(call("read_fully", 1, 4, 0, 4, buffer=filled(1, 4))) == [0]

    def test_fewer_bytes_than_asked_for_violate_exact(self) -> None:
        short = call("read_fully", 0, 4, 0, 4, buffer=filled(0, 2))
        assert charged(short) == ("read-fully.exact", "")

    def test_range_beyond_the_end_raises_eof_exception(self) -> None:
        assert permits(call("read_fully", 3, 4, 0, 4, raises=Kind.EOF))

    def test_range_beyond_the_end_that_returns_violates_read_fully_eof(self) -> None:
        short = call("read_fully", 3, 4, 0, 4, buffer=filled(3, 2))
        assert charged(short) == ("read-fully.eof", "")

    def test_range_beyond_the_end_with_a_bad_offset_may_raise_eof_exception(self) -> None:
        assert permits(call("read_fully", 3, 4, -1, 4, raises=Kind.EOF))

    def test_bad_offset_inside_the_file_violates_off_neg_if_it_raises_eof_exception(self) -> None:
        refused = call("read_fully", 1, 4, -1, 2, raises=Kind.EOF)
        assert charged(refused) == ("read-fully.off-neg", "")

    def test_negative_offset_for_no_bytes_may_return(self) -> None:
        assert permits(call("read_fully", 0, 4, -1, 0, buffer=STALE))

    def test_read_of_nothing_past_the_end_returns(self) -> None:
        assert permits(call("read_fully", 9, 4, 0, 0, buffer=STALE))

    @pytest.mark.parametrize("kind", [Kind.NULL, Kind.ILLEGAL_ARGUMENT], ids=str)
    def test_null_buffer_is_refused(self, kind: Kind) -> None:
        assert permits(call("read_fully", 0, None, 0, 4, raises=kind))


class TestReadFullyAll:
    def test_whole_buffer_is_filled(self) -> None:
        assert permits(call("read_fully_all", 1, 4, buffer=filled(1, 4)))

    def test_other_bytes_violate_whole(self) -> None:
        other = call("read_fully_all", 1, 4, buffer=filled(0, 4))
        assert charged(other) == ("read-fully.whole", "")
