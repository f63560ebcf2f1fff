"""Rules of Python's binary files: seek, tell, state, and what a closed one refuses."""

from __future__ import annotations

import pytest

from fscontract.contract.models.python_file import delivered
from fscontract.contract.models.stream_state import ANY, opened
from fscontract.contract.models.transition_table import Call
from fscontract.contract.program.outcome import Kind, Outcome, returned
from fscontract.contract.program.program import Step
from tests.contract.models.observed import (
    CLOSE,
    LAX_SEEK,
    call,
    charged,
    judgement,
    missed,
    permits,
    positions,
    violation,
)

PAST_END = call("py_seek", 9, 0, gives=9)


class TestSeek:
    def test_seek_counts_from_the_start_the_position_or_the_end(self) -> None:
        forward = call("py_seek", 2, 0, gives=2)
        assert positions(forward) == [2]
        assert positions(forward, call("py_seek", 1, 1, gives=3)) == [3]
        assert positions(forward, call("py_seek", -1, 2, gives=4)) == [4]

    def test_seek_that_returns_another_position_violates_returns(self) -> None:
        assert violation(call("py_seek", 2, 0, gives=3)).clause == "python.seek.returns"

    def test_read_after_a_seek_past_the_end_is_empty(self) -> None:
        assert permits(PAST_END, call("py_read", 1, gives=b""))

    def test_file_may_be_past_the_end_where_the_stream_is_at_the_end(self) -> None:
        assert permits(PAST_END, call("get_pos", gives=5), call("py_tell", gives=9))

    def test_refused_seek_of_the_stream_leaves_the_file_past_the_end(self) -> None:
        refused = call("seek", 7, raises=Kind.EOF)
        assert permits(PAST_END, refused, call("get_pos", gives=5), call("py_tell", gives=9))

    def test_seek_past_the_end_that_is_refused_misses_a_should(self) -> None:
        assert missed(call("py_seek", 9, 0, raises=Kind.IO)) == ("python.seek.past-end",)

    def test_no_file_has_to_be_as_large_as_its_greatest_position(self) -> None:
        """Systems limit positions to 63 bits, and some reject the greatest of them."""
        assert permits(call("py_seek", 2**63 - 1, 0, raises=Kind.IO))
        assert permits(call("py_seek", 2**64, 0, raises=Kind.ILLEGAL_ARGUMENT))
        assert missed(call("py_seek", 2**32, 0, raises=Kind.IO)) == ("python.seek.past-end",)

    def test_seek_before_the_start_that_returns_misses_a_should_and_loses_the_position(
        self,
    ) -> None:
        before = call("py_seek", -1, 0, gives=0)
        assert missed(before) == ("python.seek.negative",)
        assert positions(before) == [ANY]

    def test_refused_seek_before_the_start_keeps_the_position(self) -> None:
        refused = call("py_seek", -1, 0, raises=Kind.ILLEGAL_ARGUMENT)
        calls = refused, call("get_pos", gives=1)
        assert charged(*calls) == ("getpos.value", "python.seek.failed-stays")

    def test_refused_seek_inside_the_file_violates_its_clause(self) -> None:
        refused = call("py_seek", 2, 0, raises=Kind.IO)
        assert charged(refused) == ("python.seek.set", "open.state")

    def test_value_that_is_not_a_position_violates_returns(self) -> None:
        assert violation(call("py_seek", 2, 0, gives=None)).clause == "python.seek.returns"

    def test_seek_past_the_end_that_returns_the_length_misses_a_should(self) -> None:
        assert missed(call("py_seek", 9, 0, gives=5)) == ("python.seek.past-end",)

    def test_unknown_whence_is_refused(self) -> None:
        assert permits(call("py_seek", 0, 7, raises=Kind.ILLEGAL_ARGUMENT))
        assert missed(call("py_seek", 0, 7, gives=0)) == ("python.seek.bad-whence",)

    def test_closed_file_may_check_the_whence_first(self) -> None:
        assert permits(CLOSE, call("py_seek", 0, 7, raises=Kind.IO))
        refused = violation(CLOSE, call("py_seek", 0, 0, raises=Kind.IO))
        assert refused.clause == "python.seek.closed"


class TestTell:
    def test_tell_returns_the_position(self) -> None:
        assert permits(call("seek", 2), call("py_tell", gives=2))
        assert charged(call("seek", 2), call("py_tell", gives=3)) == (
            "python.tell.value",
            "seek.pos",
        )

    def test_tell_past_the_end_returns_the_length_or_more(self) -> None:
        assert permits(call("seek", 9), call("py_tell", gives=5), features=LAX_SEEK)
        assert not permits(call("seek", 9), call("py_tell", gives=4), features=LAX_SEEK)

    def test_tell_that_raises_violates_value(self) -> None:
        assert charged(call("py_tell", raises=Kind.IO)) == ("python.tell.value", "open.state")

    def test_tell_on_a_closed_file_raises_value_error(self) -> None:
        assert permits(CLOSE, call("py_tell", raises=Kind.ILLEGAL_ARGUMENT))
        assert violation(CLOSE, call("py_tell", gives=0)).clause == "python.tell.closed"


class TestState:
    def test_closed_is_false_before_and_true_after_close(self) -> None:
        assert permits(call("py_closed", gives=False))
        assert permits(CLOSE, call("py_closed", gives=True))

    def test_open_file_that_says_it_is_closed_violates_closed_before(self) -> None:
        assert violation(call("py_closed", gives=True)).clause == "python.closed.before"

    def test_closed_file_that_says_it_is_open_may_be_a_fault_of_close(self) -> None:
        failure = charged(CLOSE, call("py_closed", gives=False))
        assert failure == ("python.closed.after", "close.state")

    def test_seekable_is_true_if_the_stream_declares_seek(self) -> None:
        denied = call("py_seekable", gives=False)
        assert violation(denied).clause == "python.seekable.true"
        assert permits(denied, features=("!supports-seek",))

    def test_file_is_readable_and_not_writable(self) -> None:
        assert permits(call("py_readable", gives=True))
        assert violation(call("py_writable", gives=True)).clause == "python.writable.false"


class TestFlush:
    @pytest.mark.parametrize("raises", [None, Kind.UNSUPPORTED])
    def test_flush_returns_or_is_unsupported_and_does_not_move(self, raises: Kind | None) -> None:
        flushed = call("py_flush", raises=raises)
        assert permits(flushed, call("py_tell", gives=0))
        assert charged(flushed, call("py_tell", gives=1)) == ("python.tell.value", "python.flush")

    def test_flush_that_raises_violates_its_clause(self) -> None:
        assert violation(call("py_flush", raises=Kind.OTHER)).clause == "python.flush"

    def test_flush_of_a_closed_file_is_left_open(self) -> None:
        assert permits(CLOSE, call("py_flush", raises=Kind.ILLEGAL_ARGUMENT))
        assert permits(CLOSE, call("py_flush"))


class TestWith:
    def test_end_of_a_with_block_closes_the_file(self) -> None:
        closed = call("py_with", gives=True)
        assert [state.is_open for state in judgement(closed).states] == [False]
        assert permits(closed, call("py_read", 1, raises=Kind.ILLEGAL_ARGUMENT))

    def test_file_that_is_open_after_a_with_block_violates_closes(self) -> None:
        assert violation(call("py_with", gives=False)).clause == "python.with.closes"

    @pytest.mark.parametrize("value", [False, "the exception was suppressed"])
    def test_block_that_an_exception_ends_closes_the_file(self, value: object) -> None:
        closed = call("py_with_error", gives=True)
        assert [state.is_open for state in judgement(closed).states] == [False]
        assert violation(call("py_with_error", gives=value)).clause == "python.with.closes"


class TestWrite:
    def test_write_is_refused(self) -> None:
        assert permits(call("py_write", raises=Kind.UNSUPPORTED))

    def test_write_that_returns_violates_refused(self) -> None:
        assert violation(call("py_write", gives=1)).clause == "python.write.refused"


@pytest.mark.parametrize(
    ("step", "outcome", "data"),
    [
        (Step("py_read", (0,)), returned(b""), None),
        (Step("py_readinto", ("B", 3)), returned(2, b"ab\x01"), b"ab"),
        (Step("py_readinto", ("B", 0)), returned(0, b""), None),
        (Step("py_readlines", (None,)), returned((b"a\n", b"b")), b"a\nb"),
        (Step("py_next"), returned(None), b""),
        (Step("py_tell"), returned(3), None),
    ],
    ids=str,
)
def test_delivered_bytes_are_those_that_tell_the_position(
    step: Step, outcome: Outcome, data: bytes | None
) -> None:
    call = Call(step.op, step.args, opened(b"ab"), frozenset())
    assert delivered(call, outcome) == data
