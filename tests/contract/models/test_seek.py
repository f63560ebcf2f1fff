"""Rules of close, getPos, seek, seekToNewSource, unbuffer and hasCapability."""

from __future__ import annotations

from typing import Any

import pytest

from fscontract.contract.models.seek import CAPABILITIES, NAMELESS
from fscontract.contract.models.stream_state import ANY, PAST
from fscontract.contract.program.outcome import Kind, Outcome
from tests.contract.models.observed import (
    CLOSE,
    DATA,
    LAX_SEEK,
    call,
    charged,
    judgement,
    missed,
    permits,
    positions,
    violation,
)

FAILED_SEEK = call("seek", -1, raises=Kind.EOF)
NO_NEW_SOURCE = ("!supports-new-source",)
NEW_SOURCE = ("supports-new-source",)


class TestClose:
    def test_close_leaves_the_stream_closed(self) -> None:
        assert [state.is_open for state in judgement(CLOSE).states] == [False]

    def test_second_close_returns(self) -> None:
        assert permits(CLOSE, CLOSE)

    def test_second_close_that_raises_violates_close_idempotent(self) -> None:
        assert charged(CLOSE, call("close", raises=Kind.IO)) == ("close.idempotent", "")

    def test_close_that_raises_misses_a_should(self) -> None:
        assert missed(call("close", raises=Kind.IO)) == ("close.no-raise",)

    def test_close_that_raises_after_a_failed_call_misses_another_should(self) -> None:
        assert missed(FAILED_SEEK, call("close", raises=Kind.IO)) == ("close.robust",)

    def test_stream_without_close_stays_open(self) -> None:
        text = "AttributeError: 'Reader' object has no attribute 'close'"
        without = CLOSE._replace(outcome=Outcome(Kind.OTHER, detail=text))
        assert [state.is_open for state in judgement(without).states] == [True]
        assert missed(without, without) == ("close.no-raise",)


class TestGetPos:
    def test_position_after_open_is_zero(self) -> None:
        assert permits(call("get_pos", gives=0))

    def test_position_after_a_read_is_behind_its_bytes(self) -> None:
        assert permits(call("read_byte", gives=DATA[0]), call("get_pos", gives=1))

    def test_other_position_after_open_may_be_a_fault_of_open(self) -> None:
        assert charged(call("get_pos", gives=1)) == ("getpos.value", "open.state")

    def test_other_position_after_seek_may_be_a_fault_of_seek(self) -> None:
        calls = call("seek", 2), call("get_pos", gives=0)
        assert charged(*calls) == ("getpos.value", "seek.pos")

    def test_bool_is_not_a_position(self) -> None:
        assert charged(call("get_pos", gives=True)) == ("getpos.value", "")

    @pytest.mark.parametrize("outcome", [{"gives": 77}, {"raises": Kind.IO}], ids=str)
    def test_closed_stream_returns_any_position_or_raises_an_io_exception(
        self, outcome: dict[str, object]
    ) -> None:
        assert permits(CLOSE, call("get_pos", **outcome))  # type: ignore[arg-type]

    def test_closed_stream_that_raises_another_exception_violates_getpos_closed(self) -> None:
        assert charged(CLOSE, call("get_pos", raises=Kind.NULL)) == ("getpos.closed", "")

    @pytest.mark.parametrize("ask", ["get_pos", "py_tell"])
    def test_expected_position_is_the_offset_sought_to(self, ask: str) -> None:
        assert violation(call("seek", 2), call(ask, gives=3)).expected == ("returns 2",)

    @pytest.mark.parametrize("ask", ["get_pos", "py_tell"])
    def test_expected_position_beyond_the_end_is_a_range_without_the_actual_one(
        self, ask: str
    ) -> None:
        calls = call("seek", 9), call(ask, gives=0)
        assert violation(*calls, features=LAX_SEEK).expected == ("returns 5 or more",)


class TestSeek:
    def test_seek_moves_the_stream(self) -> None:
        assert positions(call("seek", 3)) == [3]

    def test_read_after_seek_to_the_length_is_at_the_end(self) -> None:
        assert permits(call("seek", 5), call("read_byte", gives=-1))

    def test_negative_seek_that_returns_violates_seek_negative(self) -> None:
        assert charged(call("seek", -1)) == ("seek.negative", "")

    def test_negative_seek_raises_eof_exception_with_strict_exceptions(self) -> None:
        assert permits(FAILED_SEEK)
        assert charged(call("seek", -1, raises=Kind.IO)) == ("seek.negative", "")

    def test_negative_seek_raises_any_io_exception_without_strict_exceptions(self) -> None:
        refused = call("seek", -1, raises=Kind.IO)
        assert permits(refused, features=("!supports-strict-exceptions",))

    def test_failed_seek_leaves_the_position_open(self) -> None:
        assert positions(FAILED_SEEK) == [ANY]
        assert permits(FAILED_SEEK, call("get_pos", gives=3))

    def test_read_after_a_failed_seek_shows_the_position(self) -> None:
        assert positions(FAILED_SEEK, call("read_byte", gives=DATA[3])) == [4]

    def test_read_after_a_failed_seek_delivers_bytes_of_the_file(self) -> None:
        assert violation(FAILED_SEEK, call("read_byte", gives=0)).clause == "read-byte.value"

    def test_negative_position_after_a_failed_seek_may_be_its_fault(self) -> None:
        calls = FAILED_SEEK, call("get_pos", gives=-1)
        assert charged(*calls) == ("getpos.value", "seek.fail-pos")

    def test_seek_past_the_end_that_returns_violates_seek_past_eof(self) -> None:
        assert charged(call("seek", 6)) == ("seek.past-eof", "")

    def test_seek_past_the_end_is_permitted_if_the_stream_does_not_reject_it(self) -> None:
        assert positions(call("seek", 9), features=LAX_SEEK) == [PAST]

    def test_read_after_a_seek_past_the_end_is_at_the_end(self) -> None:
        assert permits(call("seek", 9), call("read_byte", gives=-1), features=LAX_SEEK)

    def test_position_after_a_seek_past_the_end_may_be_its_offset(self) -> None:
        assert permits(call("seek", 9), call("get_pos", gives=9), features=LAX_SEEK)

    def test_seek_to_a_huge_offset_may_be_refused_by_any_stream(self) -> None:
        refused = call("seek", 2**63 - 1, raises=Kind.EOF)
        assert permits(refused, features=LAX_SEEK)

    def test_read_may_refuse_a_huge_offset_that_seek_accepted(self) -> None:
        sought = call("seek", 2**63 - 1)
        assert permits(sought, call("read_byte", raises=Kind.EOF), features=LAX_SEEK)
        assert permits(sought, call("read_byte", gives=-1), features=LAX_SEEK)

    @pytest.mark.parametrize("outcome", [{"gives": DATA[0]}, {"raises": Kind.OTHER}])
    def test_wrong_read_at_a_huge_offset_is_not_of_a_failed_seek(
        self, outcome: dict[str, Any]
    ) -> None:
        failure = violation(
            call("seek", 2**63 - 1), call("read_byte", **outcome), features=LAX_SEEK
        )
        assert failure.cause == "seek.lax-eof"

    def test_huge_seek_that_returns_violates_seek_past_eof(self) -> None:
        assert charged(call("seek", 2**63 - 1)) == ("seek.past-eof", "")

    def test_refused_seek_to_zero_violates_seek_zero(self) -> None:
        assert charged(call("seek", 0, raises=Kind.EOF)) == ("seek.zero", "open.state")

    def test_refused_seek_to_the_length_violates_seek_at_len(self) -> None:
        assert charged(call("seek", 5, raises=Kind.EOF)) == ("seek.at-len", "open.state")

    def test_refused_seek_to_the_position_of_the_stream_violates_seek_noop(self) -> None:
        calls = call("seek", 2), call("seek", 2, raises=Kind.IO)
        assert charged(*calls) == ("seek.noop", "seek.pos")

    def test_seek_on_a_closed_stream_that_returns_misses_a_should(self) -> None:
        assert missed(CLOSE, call("seek", 3)) == ("seek.open",)

    def test_stream_without_seek_raises_unsupported(self) -> None:
        refused = call("seek", 3, raises=Kind.UNSUPPORTED)
        assert permits(refused, features=("!supports-seek",))
        moved = charged(call("seek", 3), features=("!supports-seek",))
        assert moved == ("seek.supported", "")

    def test_closed_stream_may_accept_a_seek_if_it_declares_that(self) -> None:
        features = ("supports-seek-on-closed-file",)
        assert permits(CLOSE, call("seek", 3), features=features)
        refused = CLOSE, call("seek", 3, raises=Kind.NULL)
        assert charged(*refused, features=features) == ("seek.open", "")


class TestSeekToNewSource:
    def test_stream_without_other_sources_returns_false(self) -> None:
        asked = call("seek_to_new_source", 0, gives=False)
        assert judgement(asked).exercised == ("new-source.unsupported-false",)

    def test_stream_without_other_sources_may_raise_unsupported(self) -> None:
        asked = call("seek_to_new_source", 0, raises=Kind.UNSUPPORTED)
        assert judgement(asked).exercised == ("new-source.unsupported-raise",)

    def test_stream_without_other_sources_that_returns_true_is_wrong(self) -> None:
        asked = call("seek_to_new_source", 0, gives=True)
        assert charged(asked, features=NO_NEW_SOURCE) == ("new-source.unsupported-false", "")

    def test_other_bytes_from_a_new_source_violate_new_source_same_data(self) -> None:
        calls = call("seek_to_new_source", 0, gives=True), call("read_byte", gives=0)
        assert charged(*calls, features=NEW_SOURCE) == ("read-byte.value", "new-source.same-data")

    def test_new_source_that_raises_violates_moved(self) -> None:
        asked = call("seek_to_new_source", 0, raises=Kind.IO)
        assert charged(asked, features=NEW_SOURCE) == ("new-source.moved", "open.state")

    def test_stream_without_other_sources_that_raises_another_exception_is_wrong(self) -> None:
        asked = call("seek_to_new_source", 0, raises=Kind.NULL)
        assert charged(asked, features=NO_NEW_SOURCE) == ("new-source.unsupported-raise", "")


class TestUnbuffer:
    def test_unbuffer_keeps_the_position(self) -> None:
        assert positions(call("seek", 2), call("unbuffer")) == [2]

    def test_other_position_after_unbuffer_may_be_its_fault(self) -> None:
        calls = call("seek", 2), call("unbuffer"), call("get_pos", gives=0)
        features = ("supports-unbuffer",)
        assert charged(*calls, features=features) == ("getpos.value", "unbuffer.pos")

    def test_unbuffer_on_a_closed_stream_returns(self) -> None:
        assert permits(CLOSE, CLOSE, call("unbuffer"))

    def test_unbuffer_on_a_closed_stream_that_raises_violates_unbuffer_closed(self) -> None:
        assert charged(CLOSE, call("unbuffer", raises=Kind.IO)) == ("unbuffer.closed", "")

    def test_unbuffer_that_raises_violates_default_or_reacquire(self) -> None:
        refused = call("unbuffer", raises=Kind.IO)
        assert charged(refused, features=("!supports-unbuffer",))[0] == "unbuffer.default"
        assert charged(refused, features=("supports-unbuffer",))[0] == "unbuffer.reacquire"


class TestHasCapability:
    def test_declared_feature_is_a_capability(self) -> None:
        assert permits(call("has_capability", "in:unbuffer", gives=True))

    def test_declared_feature_that_is_denied_violates_its_clause(self) -> None:
        denied = call("has_capability", "in:unbuffer", gives=False)
        assert charged(denied) == (CAPABILITIES["in:unbuffer"][0], "")

    def test_name_in_another_case_that_is_denied_misses_a_should(self) -> None:
        assert missed(call("has_capability", "IN:UNBUFFER", gives=False)) == ("capabilities.case",)

    def test_unknown_capability_that_is_claimed_violates_capabilities_unknown(self) -> None:
        claimed = call("has_capability", "fscontract:no-such-capability", gives=True)
        assert charged(claimed) == ("capabilities.unknown", "")

    def test_names_of_no_capability_are_denied(self) -> None:
        for name in NAMELESS:
            claimed = call("has_capability", name, gives=True)
            assert charged(claimed) == ("capabilities.unknown", "")
            assert permits(call("has_capability", name, gives=False))

    def test_claim_of_what_a_stream_lacks_violates_capabilities_kept(self) -> None:
        lacks = ("!supports-bytebuffer-read",)
        claimed = call("has_capability", "in:readbytebuffer", gives=True)
        assert charged(claimed, features=lacks) == ("capabilities.kept", "")
        assert permits(call("has_capability", "in:readbytebuffer", gives=False), features=lacks)
        assert permits(call("has_capability", "in:dropbehind", gives=True))

    def test_closed_stream_may_answer_anything(self) -> None:
        assert permits(CLOSE, call("has_capability", "in:unbuffer", raises=Kind.OTHER))
