"""The parts that all tables are made of: refusals, conditions, and comparisons of bytes."""

from __future__ import annotations

import pytest

from fscontract.contract.models.stream_state import ANY, PAST, Origin, State, opened
from fscontract.contract.models.transition_table import (
    EOF,
    IO,
    STRICT,
    Accepted,
    Call,
    Operation,
    Refusal,
    Row,
    always,
    bytes_fit,
    is_count,
    may_be_at_end,
    may_have_data,
    span,
    unexpected,
    untouched,
    wrong_bytes,
)
from fscontract.contract.program.outcome import Kind, Outcome, returned

ORIGIN = Origin("seek", "seek.moved", "seek.works", "seek.data")
NEGATIVE = Refusal(
    "seek.negative", lambda c: c.args[0] < 0, IO, ORIGIN, strict=EOF, loses_position=True
)


def call(pos: int = 0, *features: str, changed: bool = False) -> Call:
    """Return a seek on a stream of the file "abcde"."""
    versions = (b"abcde", b"ABC") if changed else (b"abcde",)
    state = State(pos, True, ORIGIN, versions, changed)
    return Call("seek", (-1,), state, frozenset(features))


class TestRefusal:
    def test_io_exception_is_permitted_without_strict_exceptions(self) -> None:
        assert NEGATIVE.permits(call(), Outcome(Kind.IO))
        assert not NEGATIVE.permits(call(), Outcome(Kind.INDEX))

    def test_only_strict_kinds_are_permitted_with_strict_exceptions(self) -> None:
        assert not NEGATIVE.permits(call(0, STRICT), Outcome(Kind.IO))
        assert NEGATIVE.permits(call(0, STRICT), Outcome(Kind.EOF))

    def test_tolerated_value_is_permitted(self) -> None:
        lenient = NEGATIVE._replace(tolerates=lambda c, o: o.value == 0)
        assert lenient.permits(call(), returned(0))
        assert not lenient.permits(call(), returned(1))

    def test_refusal_loses_the_position_if_the_table_says_so(self) -> None:
        assert NEGATIVE.after(call(3)).pos == ANY
        assert NEGATIVE._replace(loses_position=False).after(call(3)).pos == 3

    def test_origin_after_a_refusal_is_that_of_a_failed_call(self) -> None:
        asked = call()
        after = NEGATIVE.after(asked).origin
        assert after == ORIGIN._replace(failed=True, before=asked.state.pos)

    def test_expected_text_names_the_permitted_exceptions(self) -> None:
        assert NEGATIVE.says(call()) == ("raises EOF or IO",)
        assert NEGATIVE.says(call(0, STRICT)) == ("raises EOF",)


def test_clauses_of_an_operation_are_those_of_refusals_origins_and_rows() -> None:
    row = Row(("seek.pos",), always, lambda c, o: Accepted(c.state), lambda c: ())
    operation = Operation((NEGATIVE,), (row,), ("seek.noop",))
    assert operation.all_clauses == {
        *("seek.negative", "seek.moved", "seek.works", "seek.data", "seek.pos", "seek.noop")
    }


class TestPosition:
    @pytest.mark.parametrize(
        ("pos", "data", "end"),
        [(4, True, False), (5, False, True), (PAST, False, True), (ANY, True, False)],
    )
    def test_stream_has_data_or_is_at_the_end(self, pos: int, data: bool, end: bool) -> None:
        assert (may_have_data(call(pos)), may_be_at_end(call(pos))) == (data, end)

    def test_stream_of_a_changed_file_may_have_data_and_be_at_the_end(self) -> None:
        assert may_have_data(call(4, changed=True))
        assert may_be_at_end(call(4, changed=True))


class TestBytes:
    def test_bytes_of_one_version_fit_at_their_offset_only(self) -> None:
        state = opened(b"abcde")
        assert bytes_fit(state, 1, b"bc")
        assert not bytes_fit(state, 0, b"bc")

    def test_bytes_of_several_versions_fit_if_each_is_in_one(self) -> None:
        state = call(changed=True).state
        assert bytes_fit(state, 0, b"aBc")
        assert not bytes_fit(state, 0, b"axc")

    def test_bytes_from_elsewhere_may_be_a_fault_of_the_call_that_moved_the_stream(self) -> None:
        failure = wrong_bytes(call(), "read", b"cd", by_position=True)
        assert (failure.cause, failure.aspect) == ("seek.moved", "moved")

    def test_bytes_that_are_nowhere_in_the_file_are_wrong_data(self) -> None:
        failure = wrong_bytes(call(), "read", b"xy", by_position=True)
        assert (failure.cause, failure.aspect) == ("seek.data", "data")

    def test_positioned_read_of_bytes_from_elsewhere_is_wrong_data(self) -> None:
        assert wrong_bytes(call(), "pread", b"cd", by_position=False).aspect == "data"

    def test_buffer_is_untouched_if_every_byte_outside_is_the_fill(self) -> None:
        assert untouched(b"\x01ab\x01", 1, 2)
        assert not untouched(b"\x01ab\x00", 1, 2)
        assert not untouched(b"\x00ab\x01", 1, 2)


class TestUnexpected:
    def test_exception_may_be_a_fault_of_the_call_before(self) -> None:
        failure = unexpected(call(), "read", Outcome(Kind.IO))
        assert (failure.clause, failure.cause, failure.aspect) == ("read", "seek.works", "raised")

    def test_wrong_value_is_a_fault_of_the_call(self) -> None:
        failure = unexpected(call(), "read", returned("x"))
        assert (failure.cause, failure.aspect) == ("", "value")


@pytest.mark.parametrize("value", [True, 1.0, "1", None])
def test_only_an_int_is_a_count(value: object) -> None:
    assert is_count(1)
    assert not is_count(value)


@pytest.mark.parametrize(
    ("low", "high", "text"), [(0, 5, "0 to 5"), (1, 2, "1 to 2"), (0, 0, "0"), (1, 1, "1")]
)
def test_span_of_one_number_is_that_number(low: int, high: int, text: str) -> None:
    assert span(low, high) == text
