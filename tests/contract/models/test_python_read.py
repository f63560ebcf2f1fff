"""Tests of the model of the reads of Python's binary files, buffered ones too."""

from __future__ import annotations

from typing import Any

import pytest

from fscontract.contract.models.stream_state import Failure
from fscontract.contract.program.outcome import FILL, Kind, Outcome
from tests.contract.models import observed
from tests.contract.models.observed import (
    CLOSE,
    DATA,
    STALE,
    Observed,
    call,
    charged,
    filled,
    missed,
    positions,
)

#: A file of three lines, the last one without an end.
LINES = b"ab\ncd\ne"
TO_END = call("seek", 7)


def permits(*calls: Observed) -> bool:
    """Return whether the last call on LINES is permitted."""
    return observed.permits(*calls, data=LINES)


def violation(*calls: Observed) -> Failure:
    """Return the violation by the last call on LINES."""
    return observed.violation(*calls, data=LINES)


class TestRead:
    def test_read_moves_the_file_by_its_bytes(self) -> None:
        assert permits(call("py_read", 3, gives=LINES[:3]), call("py_tell", gives=3))

    def test_read_of_a_negative_size_returns_all(self) -> None:
        assert permits(call("py_read", -1, gives=LINES))
        assert violation(call("py_read", -1, gives=LINES[:4])).clause == "python.read.all"

    def test_more_bytes_than_asked_for_violate_count(self) -> None:
        assert violation(call("py_read", 2, gives=LINES[:3])).clause == "python.read.count"

    def test_value_that_is_not_bytes_violates_bytes(self) -> None:
        wrong = call("py_read", 2, gives=bytearray(LINES[:2]))
        assert violation(wrong).clause == "python.read.bytes"

    def test_no_bytes_before_the_end_violate_progress(self) -> None:
        assert violation(call("py_read", 2, gives=b"")).clause == "python.read.progress"

    def test_no_bytes_at_the_end_are_permitted(self) -> None:
        assert permits(TO_END, call("py_read", 2, gives=b""))

    def test_fewer_bytes_than_there_are_miss_a_should(self) -> None:
        assert missed(call("py_read", 2, gives=LINES[:1]), data=LINES) == ("python.read.full",)

    def test_refused_read_of_none_misses_a_should(self) -> None:
        refused = call("py_read", None, raises=Kind.NULL)
        assert missed(refused, data=LINES) == ("python.read.none",)

    def test_closed_file_raises_value_error(self) -> None:
        assert permits(CLOSE, call("py_read", 1, raises=Kind.ILLEGAL_ARGUMENT))
        assert violation(CLOSE, call("py_read", 1, gives=b"a")).clause == "python.read.closed"

    def test_stream_that_did_not_move_may_be_a_fault_of_the_read(self) -> None:
        calls = call("py_read", 2, gives=DATA[:2]), call("read_byte", gives=DATA[0])
        assert charged(*calls) == ("read-byte.value", "python.read.advance")

    def test_read_of_zero_is_empty(self) -> None:
        assert permits(call("py_read", 0, gives=b""))
        assert violation(call("py_read", 0, gives=b"a")).clause == "python.read.zero"

    def test_other_bytes_violate_data(self) -> None:
        assert violation(call("py_read", 2, gives=b"xy")).clause == "python.read.data"

    def test_exception_violates_data(self) -> None:
        assert violation(call("py_read", 2, raises=Kind.IO)).clause == "python.read.data"

    def test_bytes_at_the_end_violate_eof(self) -> None:
        assert violation(TO_END, call("py_read", 2, gives=b"e")).clause == "python.read.eof"
        assert violation(TO_END, call("py_read", 2, raises=Kind.EOF)).clause == "python.read.eof"

    def test_read_of_none_returns_the_rest_or_is_refused(self) -> None:
        assert permits(call("py_read", None, gives=LINES))
        assert permits(TO_END, call("py_read", None, gives=b""))
        refused = call("py_read", None, raises=Kind.NULL)
        assert missed(TO_END, refused, data=LINES) == ("python.read.none",)


class TestReadAll:
    def test_readall_returns_the_rest(self) -> None:
        assert permits(call("seek", 3), call("py_readall", gives=LINES[3:]))

    def test_less_than_the_rest_violates_data(self) -> None:
        assert violation(call("py_readall", gives=b"ab")).clause == "python.readall.data"

    def test_other_bytes_violate_data(self) -> None:
        assert violation(call("py_readall", gives=b"x" * 7)).clause == "python.readall.data"

    def test_exception_violates_data(self) -> None:
        assert violation(call("py_readall", raises=Kind.IO)).clause == "python.readall.data"

    def test_value_that_is_not_bytes_violates_data(self) -> None:
        assert violation(call("py_readall", gives="text")).clause == "python.readall.data"

    def test_bytes_at_the_end_violate_eof(self) -> None:
        assert violation(TO_END, call("py_readall", gives=b"e")).clause == "python.readall.eof"


class TestReadInto:
    def test_readinto_fills_the_buffer(self) -> None:
        assert permits(call("py_readinto", "B", 4, gives=4, buffer=LINES[:4]))

    def test_buffer_of_other_items_is_filled_by_bytes(self) -> None:
        assert permits(call("py_readinto", "I", 1, gives=4, buffer=LINES[:4]))

    def test_unfilled_buffer_of_other_items_violates_formats(self) -> None:
        unfilled = call("py_readinto", "I", 1, gives=1, buffer=bytes([FILL]) * 4)
        assert violation(unfilled).clause == "python.readinto.formats"

    def test_zero_before_the_end_violates_progress(self) -> None:
        nothing = call("py_readinto", "B", 4, gives=0, buffer=bytes([FILL]) * 4)
        assert violation(nothing).clause == "python.readinto.progress"

    def test_zero_at_the_end_is_permitted(self) -> None:
        assert permits(TO_END, call("py_readinto", "B", 4, gives=0, buffer=bytes([FILL]) * 4))

    def test_more_bytes_than_fit_violate_count(self) -> None:
        more = call("py_readinto", "B", 2, gives=3, buffer=LINES[:2])
        assert violation(more).clause == "python.readinto.count"

    def test_other_bytes_violate_data(self) -> None:
        other = call("py_readinto", "B", 2, gives=2, buffer=b"xy")
        assert violation(other).clause == "python.readinto.data"

    def test_exception_violates_data(self) -> None:
        refused = call("py_readinto", "B", 2, raises=Kind.IO)
        assert violation(refused).clause == "python.readinto.data"

    def test_byte_written_behind_the_count_violates_rest_untouched(self) -> None:
        stray = call("py_readinto", "B", 4, gives=2, buffer=LINES[:3] + bytes([FILL]))
        assert violation(stray).clause == "python.readinto.rest-untouched"

    def test_fewer_bytes_than_there_are_miss_a_should(self) -> None:
        short = call("py_readinto", "B", 4, gives=2, buffer=LINES[:2] + bytes([FILL]) * 2)
        assert missed(short, data=LINES) == ("python.readinto.full",)

    def test_empty_buffer_returns_zero(self) -> None:
        assert permits(call("py_readinto", "B", 0, gives=0, buffer=b""))
        wrong = call("py_readinto", "B", 0, raises=Kind.IO)
        assert violation(wrong).clause == "python.readinto.zero"

    def test_count_at_the_end_violates_eof(self) -> None:
        read = call("py_readinto", "B", 4, gives=1, buffer=LINES[:1] + bytes([FILL]) * 3)
        assert violation(TO_END, read).clause == "python.readinto.eof"

    def test_bytes_at_the_end_are_not_changed(self) -> None:
        changed = call("py_readinto", "B", 2, gives=0, buffer=b"\0\0")
        assert violation(TO_END, changed).clause == "python.readinto.rest-untouched"

    def test_expected_is_said_of_a_buffer_that_became_shorter(self) -> None:
        shorter = call("py_readinto", "B", 4, gives=2, buffer=LINES[:2])
        assert violation(shorter).clause == "python.readinto.rest-untouched"
        assert "a buffer of 4 bytes" in " ".join(violation(shorter).expected)

    def test_bytes_around_a_slice_are_not_changed(self) -> None:
        around = bytes([FILL]) * 6
        assert permits(call("py_readinto", "slice", 2, gives=2, buffer=LINES[:2] + around))
        stray = call("py_readinto", "slice", 2, gives=2, buffer=LINES[:2] + b"x" + around[1:])
        assert violation(stray).clause == "python.readinto.rest-untouched"

    def test_buffer_of_another_size_afterwards_violates_rest_untouched(self) -> None:
        cut = call("py_readinto", "bytearray", 9, gives=7, buffer=LINES)
        assert violation(cut).clause == "python.readinto.rest-untouched"

    def test_gaps_of_a_buffer_are_not_filled(self) -> None:
        assert permits(call("py_readinto", "strided", 2, raises=Kind.NULL))
        gaps = bytes([FILL]) * 2
        assert permits(call("py_readinto", "strided", 2, gives=2, buffer=LINES[:2] + gaps))
        wrong = call("py_readinto", "strided", 2, gives=2, buffer=LINES[:1] + gaps + LINES[1:2])
        assert violation(wrong).clause == "python.readinto.strided"

    def test_buffer_that_cannot_be_written_is_refused(self) -> None:
        assert permits(call("py_readinto", "readonly", 2, raises=Kind.OTHER))
        assert permits(
            TO_END, call("py_readinto", "readonly", 2, gives=0, buffer=bytes([FILL]) * 2)
        )
        copied = call("py_readinto", "readonly", 2, gives=2, buffer=bytes([FILL]) * 2)
        assert violation(copied).clause == "python.readinto.readonly"
        written = observed.Observed(
            "py_readinto", ("readonly", 2), Outcome(Kind.NULL, None, LINES[:2])
        )
        assert violation(written).clause == "python.readinto.readonly"

    def test_position_after_a_refused_buffer_is_a_should(self) -> None:
        refused = call("py_readinto", "readonly", 2, raises=Kind.NULL)
        moved = call("py_tell", gives=2)
        assert violation(refused, moved).cause == "python.readinto.readonly-stays"


class TestReadLine:
    def test_line_ends_with_its_newline(self) -> None:
        assert permits(call("py_readline", None, gives=b"ab\n"))

    @pytest.mark.parametrize("value", [b"ab", b"ab\ncd\n"])
    def test_part_of_a_line_or_two_lines_violate_line(self, value: bytes) -> None:
        assert violation(call("py_readline", None, gives=value)).clause == "python.readline.line"

    def test_limit_cuts_a_line(self) -> None:
        assert permits(call("py_readline", 2, gives=b"ab"))

    def test_more_than_the_limit_violates_limit(self) -> None:
        assert violation(call("py_readline", 2, gives=b"ab\n")).clause == "python.readline.limit"

    def test_line_at_the_end_is_empty(self) -> None:
        assert permits(TO_END, call("py_readline", None, gives=b""))

    def test_line_after_a_seek_from_the_end_is_the_rest(self) -> None:
        assert permits(call("py_seek", -1, 2, gives=6), call("py_read", 4, gives=b"e"))

    def test_limit_of_zero_reads_nothing(self) -> None:
        assert permits(call("py_readline", 0, gives=b""))
        assert violation(call("py_readline", 0, gives=b"a")).clause == "python.readline.limit"

    def test_line_of_another_offset_may_be_a_fault_of_seek(self) -> None:
        failure = violation(call("seek", 3), call("py_readline", None, gives=b"ab\n"))
        assert (failure.clause, failure.cause) == ("python.readline.line", "seek.pos")

    def test_exception_violates_line(self) -> None:
        refused = call("py_readline", None, raises=Kind.IO)
        assert violation(refused).clause == "python.readline.line"

    def test_bytes_at_the_end_violate_eof(self) -> None:
        assert violation(TO_END, call("py_readline", None, gives=b"e")).clause == (
            "python.readline.eof"
        )


class TestReadLines:
    def test_readlines_returns_all_lines(self) -> None:
        assert permits(call("py_readlines", None, gives=(b"ab\n", b"cd\n", b"e")))

    @pytest.mark.parametrize("lines", [(b"ab\n",), (b"ab\n", b"cd\n")])
    def test_readlines_stops_once_the_hint_is_reached(self, lines: tuple[bytes, ...]) -> None:
        assert permits(call("py_readlines", 3, gives=lines))

    def test_line_after_the_hint_was_exceeded_violates_hint(self) -> None:
        more = call("py_readlines", 1, gives=(b"ab\n", b"cd\n"))
        assert violation(more).clause == "python.readlines.hint"

    @pytest.mark.parametrize("hint", [0, -2])
    def test_hint_of_0_or_less_is_none(self, hint: int) -> None:
        assert permits(call("py_readlines", hint, gives=(b"ab\n", b"cd\n", b"e")))
        assert violation(call("py_readlines", hint, gives=())).clause == "python.readlines.hint"

    def test_two_lines_in_one_violate_all(self) -> None:
        joined = call("py_readlines", None, gives=(b"ab\ncd\n", b"e"))
        assert violation(joined).clause == "python.readlines.all"

    def test_other_bytes_violate_all(self) -> None:
        other = call("py_readlines", None, gives=(b"xy\n",))
        assert violation(other).clause == "python.readlines.all"

    def test_value_that_is_not_a_list_of_bytes_violates_all(self) -> None:
        assert violation(call("py_readlines", None, gives=None)).clause == "python.readlines.all"

    def test_missing_last_line_violates_all(self) -> None:
        short = call("py_readlines", None, gives=(b"ab\n", b"cd\n"))
        assert violation(short).clause == "python.readlines.all"

    def test_empty_line_after_the_last_one_violates_all(self) -> None:
        assert violation(TO_END, call("py_readlines", None, gives=(b"",))).clause == (
            "python.readlines.all"
        )


class TestIteration:
    def test_iteration_continues_where_readline_ended(self) -> None:
        assert permits(call("py_readline", None, gives=b"ab\n"), call("py_next", gives=b"cd\n"))

    def test_end_of_iteration_before_the_last_line_violates_lines(self) -> None:
        assert violation(call("py_next", gives=None)).clause == "python.iter.lines"

    @pytest.mark.parametrize("value", [None, b"x"])
    def test_iteration_ends_at_the_end(self, value: Any) -> None:
        assert permits(TO_END, call("py_next", gives=value)) is (value is None)

    def test_loop_gets_the_lines_from_the_position_and_ends_at_the_end(self) -> None:
        rest = call("py_iterate", gives=(b"cd\n", b"e"))
        assert permits(call("py_readline", None, gives=b"ab\n"), rest, call("py_tell", gives=7))

    @pytest.mark.parametrize("lines", [(), (b"ab\n",), (b"ab\n", b"cd\n")])
    def test_loop_that_ends_before_the_last_line_violates_end(self, lines: Any) -> None:
        assert violation(call("py_iterate", gives=lines)).clause == "python.iter.end"

    @pytest.mark.parametrize("lines", [None, (b"ab\ncd\n", b"e"), (b"ab\n", b"cd\n", b"e", b"")])
    def test_loop_that_gets_something_else_violates_lines(self, lines: Any) -> None:
        assert violation(call("py_iterate", gives=lines)).clause == "python.iter.lines"


SOUGHT_TO_END = call("seek", 5)


class TestRead1:
    def test_any_number_of_bytes_up_to_the_size_is_permitted(self) -> None:
        for count in range(4):
            assert observed.permits(call("py_read1", 3, gives=DATA[:count]))
        assert observed.violation(call("py_read1", 3, gives=DATA[:4])).clause == "python.read1"

    def test_read_of_any_size_makes_progress(self) -> None:
        assert observed.permits(call("py_read1", -1, gives=DATA[:1]))
        assert observed.violation(call("py_read1", -1, gives=b"")).clause == "python.read1.progress"
        assert observed.permits(SOUGHT_TO_END, call("py_read1", -1, gives=b""))

    def test_read_without_a_size_is_one_of_any_size(self) -> None:
        assert observed.permits(call("py_read1", None, gives=DATA[:1]))
        assert observed.violation(call("py_read1", None, gives=b"")).clause == (
            "python.read1.progress"
        )
        assert observed.violation(call("py_read1", None, raises=Kind.NULL)).clause == "python.read1"

    def test_unknown_position_may_be_the_end(self) -> None:
        failed = call("seek", -2, raises=Kind.EOF)
        assert observed.permits(failed, call("py_read1", -1, gives=b""))

    def test_bytes_of_elsewhere_or_another_type_violate_it(self) -> None:
        assert observed.violation(call("py_read1", 2, gives=DATA[1:3])).clause == "python.read1"
        assert (
            observed.violation(call("py_read1", 2, gives=bytearray(DATA[:2]))).clause
            == "python.read1"
        )

    def test_it_moves_the_file_by_its_bytes(self) -> None:
        assert positions(call("py_read1", 3, gives=DATA[:2])) == [2]

    def test_closed_file_raises_value_error(self) -> None:
        assert observed.permits(CLOSE, call("py_read1", 1, raises=Kind.ILLEGAL_ARGUMENT))
        assert (
            observed.violation(CLOSE, call("py_read1", 1, gives=b"")).clause
            == "python.read1.closed"
        )


class TestReadinto1:
    def test_any_count_of_the_files_bytes_is_permitted(self) -> None:
        assert observed.permits(call("py_readinto1", "B", 4, gives=2, buffer=filled(0, 2)))
        assert observed.permits(call("py_readinto1", "B", 4, gives=0, buffer=STALE))

    def test_rest_of_the_buffer_is_left_alone(self) -> None:
        wrong = call("py_readinto1", "B", 4, gives=2, buffer=filled(0, 3))
        assert observed.violation(wrong).clause == "python.readinto1"

    def test_greater_count_than_bytes_violates_it(self) -> None:
        for count in (4, 5):
            wrong = call("py_readinto1", "B", 4, gives=count, buffer=filled(0, 2))
            assert observed.violation(wrong).clause == "python.readinto1"

    def test_closed_file_raises_value_error(self) -> None:
        wrong = call("py_readinto1", "B", 4, gives=0, buffer=STALE)
        assert observed.violation(CLOSE, wrong).clause == "python.readinto1.closed"


class TestPeek:
    def test_any_number_of_bytes_is_permitted(self) -> None:
        for count in range(6):
            assert observed.permits(call("py_peek", 2, gives=DATA[:count]))
        assert observed.permits(call("py_peek", 2, gives=memoryview(DATA)))

    def test_bytes_of_elsewhere_violate_it(self) -> None:
        assert observed.violation(call("py_peek", 2, gives=DATA[1:])).clause == "python.peek"
        assert observed.violation(call("py_peek", 2, gives=DATA + b"x")).clause == "python.peek"

    def test_moved_position_may_be_its_fault(self) -> None:
        calls = call("py_peek", 2, gives=DATA[:2]), call("py_tell", gives=2)
        assert charged(*calls) == ("python.tell.value", "python.peek")

    def test_closed_file_raises_value_error(self) -> None:
        assert (
            observed.violation(CLOSE, call("py_peek", 1, gives=b"")).clause == "python.peek.closed"
        )
