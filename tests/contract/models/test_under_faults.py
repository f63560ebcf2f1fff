"""The rules for a stream while requests to its store fail."""

from __future__ import annotations

import pytest

from fscontract.contract.models.stream_state import ANY, Judgement, State, opened
from fscontract.contract.models.under_faults import (
    Circumstances,
    allowed_requests,
    failed,
    judge_under_faults,
)
from fscontract.contract.program.content import replacement
from fscontract.contract.program.outcome import Kind, Outcome, returned
from fscontract.contract.program.program import Step

DATA = bytes(range(10, 40))
FEATURES = frozenset(
    {"supports-seek", "rejects-seek-past-eof", "supports-positioned-readable", "supports-skip"}
)
QUIET = Circumstances(0, 1, False)
STRUCK = Circumstances(1, 1, False)
AFTERWARDS = Circumstances(0, 1, True)
IO = Outcome(Kind.IO)
READ = Step("read_into", (4, 0, 4))


def judge(step: Step, outcome: Outcome, around: Circumstances, *states: State) -> Judgement:
    """Return the judgement on a call of a stream just opened, or in one of these states."""
    return judge_under_faults(step, states or (opened(DATA),), FEATURES, outcome, around)


def clause(judgement: Judgement) -> str:
    """Return the violated clause, "" if none is."""
    return "" if judgement.failure is None else judgement.failure.clause


def test_call_hit_by_a_fault_may_raise_an_io_exception() -> None:
    assert judge(READ, IO, STRUCK).exercised == ("fault.clean",)


def test_call_hit_by_a_fault_that_raises_another_exception_violates_clean() -> None:
    assert clause(judge(READ, Outcome(Kind.OTHER), STRUCK)) == "fault.clean"


def test_timeout_of_the_connection_counts_as_an_io_exception() -> None:
    assert clause(judge(READ, Outcome(Kind.ENVIRONMENT), STRUCK)) == ""


def test_exception_without_a_fault_violates_the_clause_of_the_call() -> None:
    assert not clause(judge(READ, IO, QUIET)).startswith("fault.")


def test_call_after_a_failure_may_raise_an_io_exception_only() -> None:
    assert judge(READ, IO, AFTERWARDS).exercised == ("fault.next",)
    assert clause(judge(READ, Outcome(Kind.NULL), AFTERWARDS)) == "fault.next"


def test_end_or_eof_exception_in_place_of_a_failed_request_violates_end() -> None:
    assert clause(judge(READ, returned(-1, bytes([1] * 4)), STRUCK)) == "fault.end"
    assert clause(judge(READ, Outcome(Kind.EOF), STRUCK)) == "fault.end"


def test_bytes_that_are_not_in_the_file_violate_data() -> None:
    assert clause(judge(READ, returned(4, b"\xf0\xf1\xf2\xf3"), STRUCK)) == "fault.data"


def test_failed_read_leaves_the_position_within_its_range() -> None:
    after = judge(READ, IO, STRUCK).states
    assert [state.pos for state in after] == [0, 1, 2, 3, 4]
    position = Step("get_pos")
    assert clause(judge(position, returned(3), AFTERWARDS, *after)) == ""
    assert clause(judge(position, returned(5), AFTERWARDS, *after)) == "fault.position"


def test_failed_positioned_read_leaves_the_position() -> None:
    after = judge(Step("pread", (8, 4, 0, 4)), IO, STRUCK).states
    assert [state.pos for state in after] == [0]
    moved = judge(READ, returned(4, DATA[8:12]), AFTERWARDS, *after)
    assert clause(moved) == "fault.position"


def test_failed_seek_leaves_the_old_or_the_new_position() -> None:
    after = judge(Step("seek", (7,)), IO, STRUCK).states
    assert [state.pos for state in after] == [0, 7]


def test_failed_read_of_a_long_range_leaves_the_position_unknown() -> None:
    big = opened(bytes(5 + i % 251 for i in range(1000)))
    after = judge(Step("read_into", (900, 0, 900)), IO, STRUCK, big).states
    assert [state.pos for state in after] == [ANY]


def test_byte_at_too_many_offsets_leaves_the_position_unknown() -> None:
    everywhere = opened(bytes([7]) * 500)
    after = judge(Step("read_into", (400, 0, 400)), IO, STRUCK, everywhere).states
    found = judge(Step("read_byte"), returned(7), AFTERWARDS, *after)
    assert clause(found) == ""
    assert [state.pos for state in found.states] == [ANY]


def test_more_requests_than_allowed_violate_retries() -> None:
    least = allowed_requests(READ)
    assert clause(judge(READ, IO, Circumstances(1, least, False))) == ""
    assert clause(judge(READ, IO, Circumstances(1, least + 1, False))) == "fault.retries"


def test_each_range_of_a_vectored_read_may_be_retried() -> None:
    one = allowed_requests(Step("read_vectored", (((0, 4),), "heap", "given")))
    two = allowed_requests(Step("read_vectored", (((0, 4), (9, 4)), "heap", "given")))
    assert two >= 2 * one - 8


def test_one_range_of_a_vectored_read_may_fail_alone() -> None:
    step = Step("read_vectored", (((0, 2), (9, 2)), "heap", "given"))
    came = returned((returned(2, DATA[:2]), IO))
    features = FEATURES | {"supports-vectored-io"}
    found = judge_under_faults(step, (opened(DATA),), features, came, STRUCK)
    assert clause(found) == ""
    wrong = returned((returned(2, b"\xf0\xf0"), IO))
    found = judge_under_faults(step, (opened(DATA),), features, wrong, STRUCK)
    assert clause(found) == "fault.data"


def test_read_that_survives_a_fault_exercises_data_and_end() -> None:
    found = judge(READ, returned(4, DATA[:4]), STRUCK)
    assert {"fault.data", "fault.end", "fault.retries"} <= set(found.exercised)


def test_close_that_raises_violates_close_even_after_a_failure() -> None:
    assert clause(judge(Step("close"), IO, STRUCK)) == "fault.close"
    assert clause(judge(Step("close"), IO, AFTERWARDS)) == "fault.close"


def test_eof_exception_inside_the_file_violates_end_after_faults_too() -> None:
    """A stream that believes an end too early later refuses to seek there."""
    assert clause(judge(Step("seek", (20,)), Outcome(Kind.EOF), QUIET)) == "fault.end"


def test_range_of_a_vectored_read_may_fail_after_an_earlier_failure() -> None:
    step = Step("read_vectored", (((0, 2), (9, 2)), "heap", "given"))
    came = returned((returned(2, DATA[:2]), IO))
    features = FEATURES | {"supports-vectored-io"}
    assert clause(judge_under_faults(step, (opened(DATA),), features, came, AFTERWARDS)) == ""
    found = judge_under_faults(step, (opened(DATA),), features, came, QUIET)
    assert not clause(found).startswith("fault.end")
    assert clause(found) != ""


def test_range_that_fails_with_an_end_or_another_exception_is_a_violation() -> None:
    step = Step("read_vectored", (((0, 2), (9, 2)), "heap", "given"))
    features = FEATURES | {"supports-vectored-io"}
    for kind, broken in ((Kind.EOF, "fault.end"), (Kind.OTHER, "fault.clean")):
        came = returned((returned(2, DATA[:2]), Outcome(kind)))
        found = judge_under_faults(step, (opened(DATA),), features, came, STRUCK)
        assert clause(found) == broken


def test_call_failed_if_one_of_its_ranges_did() -> None:
    assert failed(IO)
    assert failed(returned((returned(2, DATA[:2]), IO)))
    assert not failed(returned((returned(2, DATA[:2]),)))


def test_bytes_from_elsewhere_are_wrong_data_during_and_a_wrong_position_after_a_fault() -> None:
    elsewhere = returned(4, DATA[8:12])
    assert clause(judge(READ, elsewhere, STRUCK)) == "fault.data"
    assert clause(judge(READ, elsewhere, AFTERWARDS)) == "fault.position"
    assert clause(judge(Step("get_pos"), returned(3), QUIET)) == "fault.position"


CHANGED = opened(DATA)._replace(versions=(DATA, replacement(DATA)), changed=True)


def test_failed_read_of_a_changed_file_leaves_the_position_within_its_range() -> None:
    after = judge(READ, IO, STRUCK, CHANGED).states
    assert [state.pos for state in after] == [0, 1, 2, 3, 4]


def test_changed_file_ends_only_where_one_of_its_versions_ends() -> None:
    fully = Step("read_fully", (20, 4, 0, 4))
    assert clause(judge(fully, Outcome(Kind.EOF), STRUCK, CHANGED)) == "fault.end"
    cut = CHANGED._replace(versions=(DATA, DATA[:15]))
    assert clause(judge(fully, Outcome(Kind.EOF), STRUCK, cut)) == ""


def test_stream_of_unknown_position_may_deliver_bytes_of_several_versions() -> None:
    """A deep run found this: a read in two requests, with a change between them, after a failed
    seek."""
    mixed = DATA[7:9] + replacement(DATA)[9:11]
    anywhere = CHANGED._replace(pos=ANY)
    found = judge(READ, returned(4, mixed), STRUCK, anywhere)
    assert clause(found) == ""
    assert [state.pos for state in found.states] == [11]
    wrong = DATA[7:9] + replacement(DATA)[10:12]
    assert clause(judge(READ, returned(4, wrong), STRUCK, anywhere)) == "fault.data"


@pytest.mark.parametrize(
    ("step", "positions"),
    [
        (Step("read_byte"), [0, 1]),
        (Step("skip", (2,)), [0, 1, 2]),
        (Step("read_buffer", (4, 0, None)), [*range(31)]),
        (Step("get_pos"), [0]),
    ],
    ids=str,
)
def test_failed_call_leaves_the_position_within_its_reach(step: Step, positions: list[int]) -> None:
    features = FEATURES | {"supports-bytebuffer-read"}
    after = judge_under_faults(step, (opened(DATA),), features, IO, STRUCK).states
    assert [state.pos for state in after] == positions


def test_close_of_a_changed_file_after_a_failure_is_permitted() -> None:
    assert clause(judge(Step("close"), returned(), AFTERWARDS, CHANGED)) == ""


def test_failed_call_of_a_stream_of_unknown_position_leaves_it_unknown() -> None:
    anywhere = opened(DATA)._replace(pos=ANY)
    assert [state.pos for state in judge(READ, IO, STRUCK, anywhere).states] == [ANY]
