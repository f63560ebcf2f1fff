"""The acceptor follows a stream through calls, with all states that it may be in."""

from __future__ import annotations

import pytest

from fscontract.contract.models.acceptor import Acceptor, about, candidates, delivered, judge_all
from fscontract.contract.models.stream_state import ANY, PAST, Judgement, Origin, State, opened
from fscontract.contract.models.transition_table import Call
from fscontract.contract.program.content import content, replacement
from fscontract.contract.program.outcome import Kind, Outcome, returned
from fscontract.contract.program.program import Step
from fscontract.contract.spec.profiles import load_profile
from tests.contract.models.observed import (
    CLOSE,
    DATA,
    STALE,
    call,
    judgement,
    missed,
    permits,
    violation,
)

FEATURES = load_profile("reference").features
OLD = content(5)
NEW = replacement(OLD)
READ = Step("read_into", (5, 0, 5))
READ_BYTE = Step("read_byte")
#: A file in which "ab" occurs twice.
REPEATED = b"abcab"


def unknown(pos: int = ANY, data: bytes = REPEATED) -> State:
    """Return the state of a stream of unknown position."""
    return opened(data).at(pos, Origin("seek"))


def read_of(data: bytes) -> tuple[Step, Outcome]:
    """Return a read of these bytes and its outcome."""
    return Step("read_into", (len(data), 0, len(data))), returned(len(data), data)


class TestStates:
    def test_read_narrows_an_unknown_position_to_where_its_bytes_occur(self) -> None:
        step, outcome = read_of(b"ab")
        judged = judge_all(step.op, step.args, (unknown(),), FEATURES, outcome)
        assert [state.pos for state in judged.states] == [2, 5]

    def test_next_read_rules_out_states_that_do_not_fit(self) -> None:
        step, outcome = read_of(b"c")
        states = unknown(2), unknown(5)
        judged = judge_all(step.op, step.args, states, FEATURES, outcome)
        assert [state.pos for state in judged.states] == [3]

    def test_outcome_that_no_state_permits_is_a_violation(self) -> None:
        states = unknown(0), unknown(3)
        judged = judge_all("read_byte", (), states, FEATURES, returned(ord("c")))
        assert judged.failure is not None
        assert judged.states == ()

    def test_should_is_missed_only_if_every_state_misses_it(self) -> None:
        at_start, at_end = unknown(0), unknown(5)
        both = judge_all("skip", (1,), (at_start, at_end), FEATURES, returned(0))
        alone = judge_all("skip", (1,), (at_start,), FEATURES, returned(0))
        assert (both.missed, alone.missed) == ((), ("skip.progress",))

    def test_end_of_file_puts_an_unknown_position_at_the_end(self) -> None:
        end = candidates(Call("read_byte", (), unknown(), FEATURES), returned(-1))
        assert [state.pos for state in end] == [PAST]

    @pytest.mark.parametrize(("position", "accepted"), [(1 << 62, True), (1 << 40, False)])
    def test_a_read_may_refuse_a_position_beyond_any_file(
        self, position: int, accepted: bool
    ) -> None:
        refused = Outcome(Kind.ILLEGAL_ARGUMENT, detail="OverflowError")
        judged = judge_all("py_read", (1,), (unknown(position),), FEATURES, refused)
        assert (judged.failure is None) is accepted

    @pytest.mark.parametrize(("position", "accepted"), [(1 << 62, True), (1 << 40, False)])
    def test_a_read_may_refuse_such_a_position_after_a_failed_seek(
        self, position: int, accepted: bool
    ) -> None:
        features = frozenset({"supports-seek"})
        sought = judge_all("seek", (position,), (unknown(0),), features, returned(None)).states
        refused = Outcome(Kind.IO, detail="OSError")
        lost = judge_all("seek", (-1,), sought, features, refused).states
        judged = judge_all("read_into", (1, 0, 1), lost, features, refused)
        assert (judged.failure is None) is accepted

    def test_the_position_before_a_failed_seek_is_the_likeliest(self) -> None:
        refused = Outcome(Kind.OTHER, detail="negative")
        (lost,) = judge_all("py_seek", (0, 9), (unknown(3, b"abcab"),), FEATURES, refused).states
        found = candidates(Call("read_byte", (), lost, FEATURES), returned(ord("a")))
        assert [state.pos for state in found] == [3, 0]

    def test_byte_in_too_many_places_leaves_the_position_unknown(self) -> None:
        everywhere = unknown(data=b"a" * 100)
        assert candidates(Call("read_byte", (), everywhere, FEATURES), returned(97)) == ()
        judged = judge_all("read_byte", (), (everywhere,), FEATURES, returned(97))
        assert judged.states == (everywhere,)

    def test_call_that_the_api_can_not_make_is_not_judged(self) -> None:
        judged = judgement(call("seek", -1, raises=Kind.INEXPRESSIBLE))
        assert judged.failure is None
        assert judged.exercised == ()
        assert judged.unsaid == ("seek.negative", "seek.fail-pos")

    def test_two_broken_preconditions_permit_the_exceptions_of_both(self) -> None:
        assert permits(call("read_into", 4, -1, -1, raises=Kind.ILLEGAL_ARGUMENT))
        assert permits(call("read_into", 4, -1, -1, raises=Kind.INDEX))

    def test_two_broken_preconditions_exercise_neither_clause(self) -> None:
        assert judgement(call("read_into", 4, -1, -1, raises=Kind.INDEX)).exercised == ()

    def test_clauses_about_a_call_are_those_of_its_preconditions_if_it_breaks_one(self) -> None:
        assert "seek.negative" in about("seek", (-1,), opened(OLD))
        assert "seek.pos" in about("seek", (2,), opened(OLD))

    @pytest.mark.parametrize(
        ("step", "outcome", "data"),
        [
            (Step("read_byte"), returned(7), b"\x07"),
            (Step("read_byte"), returned(-1), b""),
            (Step("read_into", (4, 1, 2)), returned(2, b"\x01ab\x01"), b"ab"),
            (Step("read_buffer", (4, 1, None)), returned((2, 3, 4), b"\x01ab\x01"), b"ab"),
            (Step("py_read", (2,)), returned(b"ab"), b"ab"),
            (Step("seek", (2,)), returned(), None),
            (Step("read_byte"), Outcome(Kind.IO), None),
        ],
        ids=str,
    )
    def test_delivered_bytes_are_those_that_tell_the_position(
        self, step: Step, outcome: Outcome, data: bytes | None
    ) -> None:
        assert delivered(Call(step.op, step.args, unknown(), FEATURES), outcome) == data


class TestAcceptor:
    def test_equal_sets_of_states_are_one_node(self) -> None:
        acceptor = Acceptor(FEATURES)
        assert acceptor.start(OLD) == acceptor.start(OLD)
        assert acceptor.start(OLD) != acceptor.start(OLD, NEW)

    def test_repeated_call_is_judged_once_and_counted_twice(self) -> None:
        acceptor = Acceptor(FEATURES)
        number, outcome = acceptor.number(READ_BYTE), returned(OLD[0])
        first = acceptor.step(acceptor.start(OLD), number, READ_BYTE, outcome)
        again = acceptor.step(acceptor.start(OLD), number, READ_BYTE, outcome)
        assert first is again
        assert acceptor.counts["read-byte.value"] == 2

    def test_true_is_not_taken_for_one(self) -> None:
        acceptor = Acceptor(FEATURES)
        step = Step("get_pos")
        node, number = acceptor.start(b""), acceptor.number(step)
        zero = acceptor.step(node, number, step, returned(0)).judgement
        false = acceptor.step(node, number, step, returned(False)).judgement
        assert zero.failure is None
        assert false.failure is not None

    def test_value_that_can_not_be_hashed_is_judged(self) -> None:
        acceptor = Acceptor(FEATURES)
        step, outcome = Step("py_read", (2,)), returned(bytearray(OLD[:2]))
        judged = acceptor.step(acceptor.start(OLD), acceptor.number(step), step, outcome).judgement
        assert judged.failure is not None
        assert judged.failure.clause == "python.read.bytes"

    def test_violation_leads_to_no_node(self) -> None:
        acceptor = Acceptor(FEATURES)
        number = acceptor.number(READ_BYTE)
        assert acceptor.step(acceptor.start(OLD), number, READ_BYTE, returned(0)).target == -1

    def test_counts_survive_a_full_memory(self) -> None:
        acceptor = Acceptor(FEATURES)
        number, outcome = acceptor.number(READ_BYTE), returned(OLD[0])
        for _ in range(2):
            acceptor.step(acceptor.start(OLD), number, READ_BYTE, outcome)
            acceptor._forget()
        assert acceptor.counts["read-byte.value"] == 2

    def test_states_of_a_node_are_those_it_was_made_of(self) -> None:
        acceptor = Acceptor(FEATURES)
        assert acceptor.states(acceptor.start(OLD, NEW)) == (opened(OLD), opened(NEW))


class TestChangedFile:
    """Only the clauses of consistency hold once the file changed under the stream."""

    @staticmethod
    def after_change(new: bytes | None, step: Step, outcome: Outcome) -> Judgement:
        """Return the judgement on one call after the file changed from OLD to `new`."""
        acceptor = Acceptor(FEATURES)
        node = acceptor.change(acceptor.start(OLD), new)
        return acceptor.step(node, acceptor.number(step), step, outcome).judgement

    @pytest.mark.parametrize(
        "data",
        [OLD, NEW, OLD[:2] + NEW[2:], NEW[:1] + OLD[1:4] + NEW[4:]],
        ids=["old", "new", "mixed", "mixed twice"],
    )
    def test_every_byte_may_be_old_or_new(self, data: bytes) -> None:
        assert self.after_change(NEW, READ, returned(5, data)).failure is None

    @pytest.mark.parametrize(
        ("new", "data"), [(NEW, bytes(5)), (OLD[:2], OLD[:2] + bytes(3))], ids=["other", "zeros"]
    )
    def test_byte_that_is_neither_old_nor_new_violates_either(
        self, new: bytes, data: bytes
    ) -> None:
        failure = self.after_change(new, READ, returned(5, data)).failure
        assert failure is not None
        assert failure.clause == "consistency.either"

    def test_bytes_after_the_count_are_of_no_version_of_the_file(self) -> None:
        step = Step("read_into", (4, 0, 3))
        failure = self.after_change(NEW, step, returned(2, OLD[:2] + b"\0\1")).failure
        assert failure is not None
        assert failure.clause == "read-into.rest-untouched"

    def test_end_may_be_the_old_or_the_new_one(self) -> None:
        step = Step("pread", (2, 4, 0, 1))
        buffer = bytes([OLD[2], 1, 1, 1])
        assert self.after_change(OLD[:2], step, returned(-1, bytes([1] * 4))).failure is None
        assert self.after_change(OLD[:2], step, returned(1, buffer)).failure is None

    def test_end_that_the_file_never_had_violates_length(self) -> None:
        failure = self.after_change(None, READ_BYTE, returned(-1)).failure
        assert failure is not None
        assert failure.clause == "consistency.length"

    def test_io_exception_is_permitted(self) -> None:
        judged = self.after_change(None, READ_BYTE, Outcome(Kind.IO))
        assert judged.exercised == ("consistency.errors",)

    def test_other_exception_violates_errors(self) -> None:
        failure = self.after_change(None, READ_BYTE, Outcome(Kind.NULL)).failure
        assert failure is not None
        assert failure.clause == "consistency.errors"


def test_large_outcomes_are_counted_and_not_remembered() -> None:
    """They would take the memory of all bytes that a run reads."""
    data = content(20_000)
    acceptor = Acceptor(FEATURES)
    step = Step("read_into", (20_000, 0, 20_000))
    number, start = acceptor.number(step), acceptor.start(data)
    nodes = {acceptor.step(start, number, step, returned(20_000, data)).target for _ in range(3)}
    assert len(nodes) == 1
    assert acceptor.counts["read-into.data"] == 3
    assert acceptor.reached >= {"read-into.data"}


class TestMustsBesideShoulds:
    """A SHOULD that applies, too, does not excuse the outcome that a MUST forbids."""

    def test_closed_stream_refuses_a_negative_position(self) -> None:
        at_minus_one = call("pread", -1, 4, 0, 4, gives=-1, buffer=STALE)
        assert violation(CLOSE, at_minus_one).clause == "pread.neg-pos"
        assert permits(CLOSE, call("pread", -1, 4, 0, 4, raises=Kind.IO))

    def test_exception_of_a_closed_stream_may_be_about_its_state_alone(self) -> None:
        raised = call("pread", 0, 4, 0, -1, raises=Kind.NULL)
        assert missed(CLOSE, raised) == ("pread.closed",)

    def test_closed_stream_that_reads_misses_a_should(self) -> None:
        assert missed(CLOSE, call("pread", 0, 4, 0, 4, gives=-1, buffer=STALE)) == ("pread.closed",)
        late = call("read_fully", 4, 4, 0, 4, gives=None, buffer=STALE)
        assert missed(CLOSE, late) == ("read-fully.closed",)

    def test_skip_back_that_returns_zero_has_not_moved(self) -> None:
        calls = call("read_byte", gives=DATA[0]), call("skip", -1, gives=0)
        assert violation(*calls, call("get_pos", gives=0)).cause == "skip.advance"

    def test_seek_past_the_end_is_where_it_says(self) -> None:
        calls = call("py_seek", 7, 0, gives=7), call("py_read", 1, gives=DATA[2:3])
        assert violation(*calls).cause == "python.seek.returns"

    def test_read_after_a_vectored_one_works(self) -> None:
        read = call("read_vectored", (), "heap", "given", gives=())
        assert violation(read, call("read_byte", raises=Kind.IO)).cause == ""

    def test_read_of_none_delivers_bytes_of_the_file(self) -> None:
        assert violation(call("py_read", None, gives=b"xy")).clause == "python.read.data"
        assert violation(call("py_read", None, gives=[1])).clause == "python.read.bytes"
        assert missed(call("py_read", None, raises=Kind.NULL)) == ("python.read.none",)
