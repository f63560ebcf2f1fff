"""Judge a stream while requests to its store fail: the rules of specs/faults.yaml.

The stream's own model still judges every returned value. An error is not a violation if a fault
struck during the call, or if an earlier call of the stream has failed; after an error the stream is
in one of several states.
"""

from __future__ import annotations

from typing import NamedTuple

from fscontract.contract.models.acceptor import delivered, judge_all
from fscontract.contract.models.stream_state import ANY, PAST, Failure, Judgement, Origin, State
from fscontract.contract.models.transition_table import Call, bytes_fit
from fscontract.contract.program.outcome import IO_KINDS, Kind, Outcome
from fscontract.contract.program.program import Step

#: With more possible positions than this, the position is unknown.
_MAX_STATES = 80
#: Requests that one call may make for each range that it reads, beside one for each byte.
REQUESTS = 64
_FAILING = Kind.IO
_UNANSWERED = frozenset({Kind.IO, Kind.NOT_FOUND, Kind.ENVIRONMENT})
_BY_ASPECT = {"data": "fault.data", "end": "fault.end"}


class Circumstances(NamedTuple):
    """The circumstances of a call.

    They are the faults that struck during it, the requests it made without result, and whether an
    earlier call on the stream failed.
    """

    fired: int
    requests: int
    failed: bool


def judge_under_faults(
    step: Step,
    states: tuple[State, ...],
    features: frozenset[str],
    outcome: Outcome,
    around: Circumstances,
) -> Judgement:
    """Judge a call without anchors, on a stream in one of several states."""
    # The fault plan tests the connection to the store; a plan may also say that a file is missing.
    if outcome.kind in (Kind.ENVIRONMENT, Kind.NOT_FOUND):
        outcome = outcome._replace(kind=Kind.IO)
    if around.requests > allowed_requests(step):
        return _broken("fault.retries", "requests", f"at most {allowed_requests(step)} requests")
    excused = around.fired or around.failed
    if excused and step.op == "close" and outcome.raised:
        return _broken("fault.close", "raised", "close() returns")
    if excused and step.op == "read_vectored" and not outcome.raised:
        step, outcome = _without_failed_ranges(step, outcome)
    judgement = _judge(step, states, features, outcome)
    failure = judgement.failure
    if failure is None:
        return _accepted(step, states, features, outcome, around, judgement)
    if outcome.raised:
        return _judge_error(step, states, outcome, around, failure)
    return Judgement((), failure=_wrong(step, outcome, failure, around))


def failed(outcome: Outcome) -> bool:
    """Return whether a call failed, even if only for one of its ranges."""
    parts = outcome.value if type(outcome.value) is tuple else ()
    return outcome.raised or any(isinstance(p, Outcome) and p.raised for p in parts)


def _judge(
    step: Step, states: tuple[State, ...], features: frozenset[str], outcome: Outcome
) -> Judgement:
    """Judge with the stream's own model."""
    possible = tuple(s for state in states for s in _possible_states(step, state))
    judgement = judge_all(step.op, step.args, possible, features, outcome)
    anywhere = [state for state in possible if state.changed and state.pos == ANY]
    if judgement.failure is None or not anywhere:
        return judgement
    # Bytes of several versions also show the position.
    data = delivered(Call(step.op, step.args, anywhere[0], features), outcome) or b""
    fitting = tuple(
        state.at(pos, state.origin)
        for state in anywhere
        for pos in range(state.longest)
        if data and bytes_fit(state, pos, data)
    )
    mixed = judge_all(step.op, step.args, fitting, features, outcome) if fitting else judgement
    return judgement if mixed.failure is not None else mixed


def _possible_states(step: Step, state: State) -> tuple[State, ...]:
    """Return the states in which the stream may be at its end, as the file may have shrunk."""
    beyond = state.changed and state.pos > state.shortest and not step.op.startswith("py_")
    return (state, state.at(PAST, state.origin)) if beyond else (state,)


def _accepted(
    step: Step,
    states: tuple[State, ...],
    features: frozenset[str],
    outcome: Outcome,
    around: Circumstances,
    judgement: Judgement,
) -> Judgement:
    """Return what the model permits; if the file has changed, it permits every IOException."""
    if outcome.kind in IO_KINDS and any(state.changed and state.is_open for state in states):
        if outcome.kind is Kind.EOF and not _may_end(step, states, features, outcome):
            return _broken("fault.end", "raised", "raises IO, for the data does not end here")
        possible = {s: None for state in states for s in _after(step, state)}
        judgement = judgement._replace(states=tuple(possible))
    return judgement._replace(exercised=_survived(step, outcome, around), missed=())


def _may_end(
    step: Step, states: tuple[State, ...], features: frozenset[str], outcome: Outcome
) -> bool:
    """Return whether one of the versions ends where the call found an end."""
    alone = tuple(
        state._replace(versions=(version,), changed=False)
        for state in states
        for version in dict.fromkeys(state.versions)
    )
    return judge_all(step.op, step.args, alone, features, outcome).failure is None


def _without_failed_ranges(step: Step, outcome: Outcome) -> tuple[Step, Outcome]:
    """Return a vectored read without its failed ranges; each range may fail on its own."""
    parts = zip(step.args[0], outcome.value, strict=True)
    came = [(pair, part) for pair, part in parts if part.kind not in _UNANSWERED]
    ranges = tuple(pair for pair, _ in came)
    return Step(step.op, (ranges, *step.args[1:]), step.stream), outcome._replace(
        value=tuple(part for _, part in came)
    )


def allowed_requests(step: Step) -> int:
    """Return the most requests that a call may make, however often the store fails."""
    ranges: tuple[tuple[int, int] | None, ...] = ()
    if step.op == "read_vectored":
        ranges = step.args[0] or ()
    asked = sum(pair[1] for pair in ranges if pair is not None and pair[1] > 0)
    numbers = [value for value in step.args if type(value) is int]
    return REQUESTS * max(1, len(ranges)) + asked + sum(n for n in numbers if 0 < n <= 1 << 20)


def _survived(step: Step, outcome: Outcome, around: Circumstances) -> tuple[str, ...]:
    after = ("fault.next", "fault.position") if around.failed else ()
    during = ("fault.data", "fault.end") if around.fired and not outcome.raised else ()
    return ("fault.retries", *after, *during)


def _judge_error(
    step: Step,
    states: tuple[State, ...],
    outcome: Outcome,
    around: Circumstances,
    failure: Failure,
) -> Judgement:
    if outcome.kind is Kind.EOF:
        return _broken("fault.end", "raised", "raises IO, for the data does not end here")
    if not around.fired and not around.failed:
        return Judgement((), failure=failure)
    clause = "fault.clean" if around.fired else "fault.next"
    if outcome.kind is not _FAILING:
        return _broken(clause, "raised", "raises IO", *failure.expected)
    possible = {s: None for state in states for s in _after(step, state)}
    return Judgement(tuple(possible), (clause,))


def _after(step: Step, state: State) -> tuple[State, ...]:
    """Return the states after a failed call: from the old position up to that of a success."""
    origin = Origin(step.op, "fault.position", "fault.next", "fault.data", failed=True)
    if step.op == "close":
        return (State(state.pos, False, origin, state.versions, state.changed),)
    if state.pos in (ANY, PAST):
        return (state.at(state.pos, origin),)
    if step.op in ("seek", "seek_to_new_source"):
        return state.at(state.pos, origin), state.at(step.args[0], origin)
    reach = _reach(step, state.longest)
    if reach > _MAX_STATES:
        return (state.at(ANY, origin),)
    last = max(state.pos, min(state.pos + reach, state.longest))
    return tuple(state.at(pos, origin) for pos in range(state.pos, last + 1))


def _reach(step: Step, maximum: int) -> int:
    """Return the greatest distance that a call may have moved the stream, in bytes."""
    if step.op == "read_byte":
        return 1
    if step.op == "read_into":
        return max(0, int(step.args[2]))
    if step.op == "skip":
        return max(0, int(step.args[0]))
    if step.op == "read_buffer" or step.op.startswith("py_"):
        return maximum
    return 0


def _wrong(step: Step, outcome: Outcome, failure: Failure, around: Circumstances) -> Failure:
    """Return the failure with the clause that an unexpected result violates."""
    if step.op == "read_vectored" and failed(outcome):  # a range, in a way that is not permitted
        ends = any(part.kind is Kind.EOF for part in outcome.value)
        clause = "fault.clean" if around.fired else "fault.next"
        return failure._replace(clause="fault.end" if ends else clause)
    if failure.aspect in _BY_ASPECT:
        return failure._replace(clause=_BY_ASPECT[failure.aspect])
    if step.op in ("get_pos", "py_tell"):
        return failure._replace(clause="fault.position")
    if failure.aspect == "moved":  # by an earlier call, or this one read at a wrong position
        struck_alone = around.fired and not around.failed
        return failure._replace(clause="fault.data" if struck_alone else "fault.position")
    return failure


def _broken(clause: str, aspect: str, *expected: str) -> Judgement:
    return Judgement((), failure=Failure(clause, "", aspect, expected))
