"""seek and tell."""

from __future__ import annotations

from fscontract.contract.models.python_file.common import (
    REFUSES,
    Verdict,
    after_close,
)
from fscontract.contract.models.rules import (
    Accepted,
    Call,
    Operation,
    Refusal,
    Row,
    always,
    is_count,
    is_open,
    says_position,
    unexpected,
)
from fscontract.contract.models.state import ANY, PAST, Failure, Origin
from fscontract.contract.outcome import Outcome

_WHENCE = {0: "pyio.seek.set", 1: "pyio.seek.current", 2: "pyio.seek.end"}
_STAYS = Origin("py_seek", "pyio.seek.failed-stays", "pyio.seek.failed-stays")


def _target(call: Call) -> int | None:
    """Where the seek leads; None if that depends on a position that is not known."""
    offset, whence = call.args
    state = call.state
    if whence == 1:
        return None if state.pos in (ANY, PAST) else state.pos + offset
    return int(offset + (state.longest if whence == 2 else 0))


def _before_start(call: Call) -> bool:
    target = _target(call)
    return call.args[1] in _WHENCE and target is not None and target < 0


def _seek(call: Call, outcome: Outcome) -> Verdict:
    state, target, value = call.state, _target(call), outcome.value
    clause = _WHENCE[call.args[1]]
    beyond = target is None or target > state.shortest
    if outcome.raised:
        if not beyond:
            return unexpected(call, clause, outcome)
        missed = () if target is None else ("pyio.seek.past-end",)
        return Accepted(state.at(ANY, _STAYS._replace(failed=True)), (), missed)
    if not is_count(value):
        return Failure("pyio.seek.returns", "", "value")
    if target is not None and target > state.longest and value == state.longest:
        # It says that it went to the end only.
        return Accepted(state.at(PAST, Origin("py_seek")), (), ("pyio.seek.past-end",))
    if not state.changed and target is not None and value != target:
        return Failure("pyio.seek.returns", clause, "returns")
    if value < 0:
        return Failure("pyio.seek.returns", clause, "returns")
    past = target is not None and target > state.longest
    origin = Origin("py_seek", "pyio.seek.past-end" if past else clause, clause)
    confirmed = state.origin.moved if call.args[1] == 1 else ""
    return Accepted(state.at(value, origin), ("pyio.seek.returns", confirmed))


SEEK = Operation(
    refusals=(
        after_close("pyio.seek.closed"),
        Refusal(
            "pyio.seek.unsupported",
            lambda c: not c.has("supports-seek"),
            REFUSES,
            tolerates=lambda c, o: not o.raised and _target(c) == c.state.pos,
        ),
        Refusal(
            "pyio.seek.bad-whence",
            lambda c: is_open(c) and c.args[1] not in _WHENCE,
            REFUSES,
            _STAYS,
            should=True,
        ),
        Refusal(
            "pyio.seek.negative",
            lambda c: is_open(c) and _before_start(c),
            REFUSES,
            _STAYS,
            should=True,
        ),
    ),
    rows=(
        Row(
            (),
            always,
            _seek,
            lambda c: (f"returns {_target(c) if _target(c) is not None else 'the position'}",),
        ),
    ),
    clauses=("pyio.seek.returns", "pyio.seek.past-end", *_WHENCE.values()),
)


def _tell(call: Call, outcome: Outcome) -> Verdict:
    state, value = call.state, outcome.value
    if outcome.raised or not is_count(value):
        return unexpected(call, "pyio.tell.value", outcome)
    known = state.pos not in (ANY, PAST)
    fits = value == state.pos if known else value >= (state.shortest if state.pos == PAST else 0)
    if not fits:
        return Failure("pyio.tell.value", state.origin.moved, "moved")
    found = PAST if value >= state.shortest else value
    pos = found if state.pos == ANY else state.pos
    return Accepted(state.at(pos, Origin("py_tell", "pyio.tell.stays")), (state.origin.moved,))


TELL = Operation(
    refusals=(after_close("pyio.tell.closed"),),
    rows=(
        Row(
            ("pyio.tell.value",),
            always,
            _tell,
            says_position,
        ),
    ),
    clauses=("pyio.tell.stays",),
)
