"""readinto: reading into any writable buffer."""

from __future__ import annotations

from collections.abc import Callable

from fscontract.contract.models.python_file.common import (
    Verdict,
    after_close,
    here,
    left,
    moved,
)
from fscontract.contract.models.rules import (
    Accepted,
    Call,
    Operation,
    Row,
    bytes_fit,
    is_count,
    may_be_at_end,
    may_have_data,
    span,
    unexpected,
    untouched,
    wrong_bytes,
)
from fscontract.contract.models.state import ANY, Failure
from fscontract.contract.outcome import FILL, Outcome

#: Bytes of an item of each buffer format.
_ITEM = {"B": 1, "I": 4, "2d": 2}


def room(call: Call) -> int:
    """The size of the buffer in bytes."""
    return int(_ITEM[call.args[0]] * call.args[1])


def _into(call: Call, outcome: Outcome) -> Verdict:
    state, count = call.state, outcome.value
    special = call.args[0] != "B"

    def clause(name: str) -> str:
        return "pyio.readinto.formats" if special else f"pyio.readinto.{name}"

    if outcome.raised or not is_count(count):
        return unexpected(call, clause("data"), outcome)
    if count == 0:
        return Failure("pyio.readinto.progress", state.origin.moved, "end")
    if not 0 < count <= min(room(call), left(state)):
        return Failure(clause("count"), "", "end")
    buffer = outcome.buffer or b""
    data = buffer[:count]
    if state.pos == ANY or not bytes_fit(state, state.pos, data):
        if bytes([FILL]) in data:  # counted more than it wrote
            return Failure(clause("data"), "", "data")
        return wrong_bytes(call, clause("data"), data, by_position=True)
    if not untouched(buffer, 0, count):
        return Failure("pyio.readinto.rest-untouched", "", "data")
    accepted = moved(call, count, "pyio.readinto.advance")
    seen = ("pyio.readinto.progress", *(("pyio.readinto.formats",) if special else ()))
    clauses = (*accepted.exercised, *seen)
    if count < min(room(call), state.shortest - state.pos):
        return Accepted(accepted.state, clauses, ("pyio.readinto.full",))
    return Accepted(accepted.state, (*clauses, "pyio.readinto.full"))


def _into_zero(clause: str) -> Callable[[Call, Outcome], Verdict]:
    def accept(call: Call, outcome: Outcome) -> Verdict:
        if outcome.raised or not is_count(outcome.value):
            return unexpected(call, clause, outcome)
        if outcome.value != 0:
            return Failure(clause, call.state.origin.moved, "end")
        return moved(call, 0, clause)

    return accept


READINTO = Operation(
    refusals=(after_close("pyio.readinto.closed"),),
    rows=(
        Row(
            ("pyio.readinto.zero",),
            lambda c: room(c) == 0,
            _into_zero("pyio.readinto.zero"),
            lambda c: ("returns 0",),
        ),
        Row(
            ("pyio.readinto.count", "pyio.readinto.data", "pyio.readinto.rest-untouched"),
            lambda c: room(c) > 0 and may_have_data(c),
            _into,
            lambda c: (f"returns {span(1, min(room(c), left(c.state)))}, the bytes {here(c)}",),
        ),
        Row(
            ("pyio.readinto.eof",),
            lambda c: room(c) > 0 and may_be_at_end(c),
            _into_zero("pyio.readinto.eof"),
            lambda c: ("returns 0",),
        ),
    ),
    clauses=(
        "pyio.readinto.advance",
        "pyio.readinto.formats",
        "pyio.readinto.full",
        "pyio.readinto.progress",
    ),
    moves=True,
)
