"""Model of the reads that only buffered files of Python have: read1, readinto1 and peek.

A file may return fewer bytes than there are, so only its end says anything about how many.
"""

from __future__ import annotations

from fscontract.contract.models.python_read import (
    Verdict,
    after_close,
    bytes_here,
    bytes_left,
    is_bytes,
    moved,
    room,
)
from fscontract.contract.models.stream_state import ANY, Failure, Origin
from fscontract.contract.models.transition_table import (
    Accepted,
    Call,
    Operation,
    Row,
    bytes_fit,
    is_count,
    is_open,
    unexpected,
    untouched,
    wrong_bytes,
)
from fscontract.contract.program.outcome import FILL, Outcome


def _has_no_limit(call: Call) -> bool:
    return bool(call.args[0] < 0)


def _read1(call: Call, outcome: Outcome) -> Verdict:
    state, size, value = call.state, call.args[0], outcome.value
    if outcome.raised or not is_bytes(value):
        return unexpected(call, "python.read1", outcome)
    if len(value) > (bytes_left(state) if size < 0 else size):
        return Failure("python.read1", state.origin.moved, "end")
    if not value:
        if size < 0 and 0 <= state.pos < state.shortest:
            return Failure("python.read1.progress", state.origin.moved, "end")
        return Accepted(state.at(state.pos, Origin(call.op, "python.read1")))
    if state.pos == ANY or not bytes_fit(state, state.pos, value):
        return wrong_bytes(call, "python.read1", value, by_position=True)
    accepted = moved(call, len(value), "python.read1")
    progress = ("python.read1.progress",) if size < 0 else ()
    return accepted._replace(exercised=(*accepted.exercised, *progress))


READ1 = Operation(
    refusals=(after_close("python.read1.closed"),),
    rows=(
        Row(
            ("python.read1",),
            is_open,
            _read1,
            lambda c: (
                f"returns {'some' if _has_no_limit(c) else f'up to {c.args[0]}'} bytes of "
                f"{bytes_here(c, None if _has_no_limit(c) else c.args[0])}",
            ),
        ),
    ),
    clauses=("python.read1.progress",),
    moves=True,
)


def _into(call: Call, outcome: Outcome) -> Verdict:
    state, count, buffer = call.state, outcome.value, outcome.buffer or b""
    if outcome.raised or not is_count(count):
        return unexpected(call, "python.readinto1", outcome)
    if not 0 <= count <= min(len(buffer), bytes_left(state)):
        return Failure("python.readinto1", state.origin.moved, "end")
    data = buffer[:count]
    if count and (state.pos == ANY or not bytes_fit(state, state.pos, data)):
        if bytes([FILL]) in data:  # returned a greater count than it wrote
            return Failure("python.readinto1", "", "data")
        return wrong_bytes(call, "python.readinto1", data, by_position=True)
    if not untouched(buffer, 0, count):
        return Failure("python.readinto1", "", "data")
    return moved(call, count, "python.readinto1")


READINTO1 = Operation(
    refusals=(after_close("python.readinto1.closed"),),
    rows=(
        Row(
            ("python.readinto1",),
            is_open,
            _into,
            lambda c: (f"returns a count, and that many of the bytes {bytes_here(c, room(c))}",),
        ),
    ),
    moves=True,
)


def _peek(call: Call, outcome: Outcome) -> Verdict:
    state, value = call.state, outcome.value
    if outcome.raised or not isinstance(value, bytes | bytearray | memoryview):
        return unexpected(call, "python.peek", outcome)
    data = bytes(value)
    if len(data) > bytes_left(state):
        return Failure("python.peek", state.origin.moved, "end")
    if data and (state.pos == ANY or not bytes_fit(state, state.pos, data)):
        return wrong_bytes(call, "python.peek", data, by_position=True)
    confirmed = state.origin[1:4] if data else ()
    return Accepted(state.at(state.pos, Origin(call.op, "python.peek", "python.peek")), confirmed)


PEEK = Operation(
    refusals=(after_close("python.peek.closed"),),
    rows=(
        Row(
            ("python.peek",),
            is_open,
            _peek,
            lambda c: (f"returns any number of the bytes {bytes_here(c)}",),
        ),
    ),
    moves=True,
)
