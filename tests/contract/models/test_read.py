"""Rules of read(), read(buffer, offset, length), skip and available."""

from __future__ import annotations

import pytest

from fscontract.contract.models.stream_state import ANY
from fscontract.contract.program.outcome import FILL, Kind
from tests.contract.models.observed import (
    CLOSE,
    DATA,
    STALE,
    Observed,
    call,
    charged,
    judgement,
    missed,
    permits,
    positions,
    violation,
)

FIRST_BYTE = call("read_byte", gives=DATA[0])


class TestReadByte:
    def test_read_moves_the_stream_by_one(self) -> None:
        assert positions(FIRST_BYTE) == [1]

    def test_read_at_the_end_returns_minus_one(self) -> None:
        assert permits(call("seek", 5), call("read_byte", gives=-1))

    def test_byte_of_another_offset_may_be_a_fault_of_open(self) -> None:
        assert charged(call("read_byte", gives=DATA[1])) == ("read-byte.value", "open.state")

    def test_byte_that_is_not_in_the_file_is_a_fault_of_read(self) -> None:
        assert charged(call("read_byte", gives=0)) == ("read-byte.value", "")

    def test_end_before_the_end_may_be_a_fault_of_open(self) -> None:
        assert charged(call("read_byte", gives=-1)) == ("read-byte.value", "open.state")

    def test_same_byte_again_may_be_a_fault_of_the_read_before(self) -> None:
        assert charged(FIRST_BYTE, FIRST_BYTE) == ("read-byte.value", "read-byte.advance")

    def test_byte_at_the_end_violates_read_byte_eof(self) -> None:
        calls = call("seek", 5), call("read_byte", gives=0)
        assert charged(*calls) == ("read-byte.eof", "seek.at-len")

    def test_position_beyond_the_end_after_a_read_of_the_end_may_be_its_fault(self) -> None:
        end = call("read_byte", gives=-1)
        calls = call("seek", 5), end, call("get_pos", gives=6)
        assert charged(*calls) == ("getpos.value", "read-byte.eof-state")

    def test_closed_stream_raises_an_io_exception(self) -> None:
        assert permits(CLOSE, call("read_byte", raises=Kind.IO))

    def test_read_of_a_closed_stream_may_be_a_fault_of_close(self) -> None:
        assert charged(CLOSE, FIRST_BYTE) == ("read-byte.closed", "close.state")

    def test_two_kinds_of_reads_that_agree_exercise_same_data(self) -> None:
        into = call("read_into", 1, 0, 1, gives=1, buffer=DATA[1:2])
        assert "input-stream.same-data" in judgement(FIRST_BYTE, into).exercised

    def test_exception_at_the_end_violates_read_byte_eof(self) -> None:
        calls = call("seek", 5), call("read_byte", raises=Kind.EOF)
        assert charged(*calls) == ("read-byte.eof", "seek.at-len")


class TestReadInto:
    def test_read_may_return_fewer_bytes_than_asked_for(self) -> None:
        short = call("read_into", 4, 0, 4, gives=1, buffer=bytes([DATA[0]]) + STALE[1:])
        assert positions(short) == [1]

    def test_read_fills_the_buffer_at_the_offset(self) -> None:
        buffer = bytes([FILL]) + DATA[:2] + bytes([FILL])
        read = call("read_into", 4, 1, 2, gives=2, buffer=buffer)
        assert permits(read, call("read_byte", gives=DATA[2]))

    def test_read_of_nothing_returns_zero(self) -> None:
        assert permits(call("read_into", 4, 0, 0, gives=0, buffer=STALE))
        assert permits(call("read_into", 0, 0, 0, gives=0, buffer=b""))

    def test_read_at_the_end_returns_minus_one(self) -> None:
        end = call("read_into", 4, 0, 4, gives=-1, buffer=STALE)
        assert judgement(call("seek", 5), end).exercised[0] == "read-into.eof"

    def test_zero_bytes_before_the_end_violate_at_least_one(self) -> None:
        nothing = call("read_into", 4, 0, 4, gives=0, buffer=STALE)
        assert charged(nothing) == ("read-into.at-least-one", "")

    def test_end_before_the_end_violates_progress(self) -> None:
        end = call("read_into", 4, 0, 4, gives=-1, buffer=STALE)
        assert charged(end) == ("read-into.progress", "open.state")

    def test_more_bytes_than_the_file_has_violate_count(self) -> None:
        more = call("read_into", 9, 0, 6, gives=6, buffer=DATA + bytes([FILL]) * 4)
        assert charged(more) == ("read-into.count", "")

    def test_more_bytes_than_asked_for_violate_count(self) -> None:
        more = call("read_into", 4, 0, 2, gives=4, buffer=DATA[:4])
        assert charged(more) == ("read-into.count", "")

    def test_byte_written_behind_the_count_violates_rest_untouched(self) -> None:
        stray = call("read_into", 4, 0, 2, gives=2, buffer=DATA[:3] + STALE[:1])
        assert charged(stray) == ("read-into.rest-untouched", "")

    @pytest.mark.parametrize(
        ("count", "clause"), [(2, "read-into.data"), (3, "read-into.count")], ids=str
    )
    def test_byte_behind_a_wrong_result_violates_rest_untouched_as_well(
        self, count: int, clause: str
    ) -> None:
        stray = STALE[:count].replace(STALE[:1], b"?") + bytes(4 - count)
        failure = violation(call("read_into", 4, 0, 2, gives=count, buffer=stray))
        assert (failure.clause, failure.also) == (clause, ("read-into.rest-untouched",))

    def test_count_of_bytes_that_were_not_written_violates_data(self) -> None:
        unwritten = call("read_into", 4, 0, 4, gives=4, buffer=STALE)
        assert charged(unwritten) == ("read-into.data", "")

    @pytest.mark.parametrize("kind", [Kind.NULL, Kind.ILLEGAL_ARGUMENT], ids=str)
    def test_null_buffer_is_refused(self, kind: Kind) -> None:
        assert permits(call("read_into", None, 0, 4, raises=kind))

    def test_negative_offset_that_is_accepted_violates_offset_neg(self) -> None:
        accepted = call("read_into", 4, -1, 2, gives=2, buffer=STALE)
        assert charged(accepted) == ("read-into.offset-neg", "")

    def test_length_beyond_the_buffer_raises_index_out_of_bounds(self) -> None:
        assert permits(call("read_into", 4, 0, 5, raises=Kind.INDEX))
        assert charged(call("read_into", 4, 0, 5, raises=Kind.IO)) == ("read-into.space", "")

    def test_position_after_a_refused_read_may_be_its_fault(self) -> None:
        refused = call("read_into", 4, 0, 5, raises=Kind.INDEX)
        calls = refused, call("get_pos", gives=4)
        assert charged(*calls) == ("getpos.value", "read-into.reject-stays")

    def test_closed_stream_raises_an_io_exception(self) -> None:
        assert permits(CLOSE, call("read_into", 4, 0, 4, raises=Kind.IO))

    def test_closed_stream_may_return_zero_for_nothing(self) -> None:
        assert permits(CLOSE, call("read_into", 4, 0, 0, gives=0, buffer=STALE))

    def test_exception_for_nothing_violates_zero(self) -> None:
        assert charged(call("read_into", 4, 0, 0, raises=Kind.IO)) == (
            "read-into.zero",
            "open.state",
        )

    def test_byte_written_for_nothing_violates_rest_untouched(self) -> None:
        stray = call("read_into", 4, 0, 0, gives=0, buffer=b"\x00" + STALE[1:])
        assert charged(stray) == ("read-into.rest-untouched", "")

    def test_null_buffer_may_return_zero_for_nothing(self) -> None:
        assert permits(call("read_into", None, 0, 0, gives=0))

    def test_exception_at_the_end_violates_eof(self) -> None:
        calls = call("seek", 5), call("read_into", 4, 0, 4, raises=Kind.EOF)
        assert charged(*calls) == ("read-into.eof", "seek.at-len")

    def test_byte_written_at_the_end_violates_rest_untouched(self) -> None:
        stray = call("read_into", 4, 0, 4, gives=-1, buffer=b"\x00" + STALE[1:])
        assert charged(call("seek", 5), stray) == ("read-into.rest-untouched", "")

    @pytest.mark.parametrize(
        "read",
        [
            call("read_into", 4, 0, 4, raises=Kind.NULL),
            call("read_buffer", 6, 1, 4, raises=Kind.NULL),
        ],
    )
    def test_bytes_at_an_unknown_position_are_described_without_one(self, read: Observed) -> None:
        """It is unknown after a failed seek."""
        failed = call("seek", -1, raises=Kind.EOF)
        expected = violation(failed, read, features=("supports-bytebuffer-read",)).expected
        assert any("bytes of the file" in text for text in expected)
        assert not any("-1:" in text or "from -" in text for text in expected)


class TestSkip:
    def test_skip_moves_the_stream_by_its_count(self) -> None:
        assert positions(call("skip", 9, gives=5)) == [5]
        assert permits(call("skip", 9, gives=5), call("get_pos", gives=5))

    def test_more_than_asked_for_violates_skip_advance(self) -> None:
        assert charged(call("skip", 2, gives=3)) == ("skip.advance", "")

    def test_skip_beyond_the_end_misses_a_should(self) -> None:
        assert missed(call("skip", 9, gives=9)) == ("skip.count",)

    def test_skip_beyond_the_end_moves_the_stream_there(self) -> None:
        assert permits(call("skip", 9, gives=9), call("get_pos", gives=9))
        assert permits(call("skip", 9, gives=9), call("read_byte", gives=-1))

    @pytest.mark.parametrize(("skipped", "position"), [(9, 5), (7, 9)])
    def test_other_position_after_a_skip_beyond_the_end_may_be_its_fault(
        self, skipped: int, position: int
    ) -> None:
        calls = call("skip", 9, gives=skipped), call("get_pos", gives=position)
        assert charged(*calls) == ("getpos.value", "skip.advance")

    def test_skip_of_no_byte_before_the_end_misses_a_should(self) -> None:
        assert missed(call("skip", 2, gives=0)) == ("skip.progress",)

    def test_negative_skip_that_moves_misses_a_should_and_loses_the_position(self) -> None:
        back = call("skip", -1, gives=-1)
        assert missed(call("seek", 3), back) == ("skip.negative",)
        assert positions(call("seek", 3), back) == [ANY]

    def test_skip_on_a_closed_stream_that_returns_misses_a_should(self) -> None:
        assert missed(CLOSE, call("skip", 1, gives=1)) == ("skip.closed",)

    def test_exception_violates_skip_advance(self) -> None:
        assert charged(call("skip", 2, raises=Kind.IO)) == ("skip.advance", "open.state")

    def test_skip_of_zero_returns_zero(self) -> None:
        assert permits(call("skip", 0, gives=0))
        assert charged(call("skip", 0, gives=1)) == ("skip.zero", "")

    def test_negative_skip_that_returns_zero_keeps_the_position(self) -> None:
        assert positions(call("seek", 3), call("skip", -1, gives=0)) == [3]


class TestAvailable:
    def test_available_is_at_most_what_is_left(self) -> None:
        assert permits(call("available", gives=3))
        assert charged(call("available", gives=6)) == ("available.bounds", "open.state")

    def test_zero_before_the_end_misses_a_should(self) -> None:
        assert missed(call("available", gives=0)) == ("available.positive",)

    def test_more_than_zero_at_the_end_violates_available_eof(self) -> None:
        calls = call("seek", 5), call("available", gives=1)
        assert charged(*calls) == ("available.eof", "seek.at-len")

    def test_closed_stream_raises_an_io_exception(self) -> None:
        assert permits(CLOSE, call("available", raises=Kind.IO))

    def test_exception_on_an_open_stream_violates_bounds(self) -> None:
        assert charged(call("available", raises=Kind.IO)) == ("available.bounds", "open.state")

    def test_closed_stream_may_answer_if_it_declares_that(self) -> None:
        features = ("supports-available-on-closed-file",)
        assert permits(CLOSE, call("available", gives=7), features=features)
        refused = CLOSE, call("available", raises=Kind.NULL)
        assert charged(*refused, features=features) == ("available.closed", "")
