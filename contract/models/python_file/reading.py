"""read and readall."""

from __future__ import annotations

from collections.abc import Callable

from fscontract.contract.models.python_file.common import (
    Verdict,
    after_close,
    here,
    is_bytes,
    moved,
    says_empty,
)
from fscontract.contract.models.rules import (
    Accepted,
    Call,
    Operation,
    Row,
    bytes_fit,
    may_be_at_end,
    may_have_data,
    span,
    unexpected,
    wrong_bytes,
)
from fscontract.contract.models.state import ANY, Failure, Origin
from fscontract.contract.outcome import Outcome


def _reads_all(call: Call) -> bool:
    return call.op == "py_readall" or call.args[0] is None or call.args[0] < 0


def _read_some(call: Call, outcome: Outcome) -> Verdict:
    state, wanted, value = call.state, call.args[0], outcome.value
    if outcome.raised:
        return unexpected(call, "pyio.read.data", outcome)
    if not is_bytes(value):
        return Failure("pyio.read.bytes", "", "value")
    if not value:
        return Failure("pyio.read.progress", state.origin.moved, "end")
    if len(value) > wanted:
        return Failure("pyio.read.count", "", "end")
    if state.pos == ANY or not bytes_fit(state, state.pos, value):
        return wrong_bytes(call, "pyio.read.data", value, by_position=True)
    accepted = moved(call, len(value), "pyio.read.advance")
    clauses = (*accepted.exercised, "pyio.read.progress", "pyio.read.bytes")
    if len(value) < min(wanted, state.shortest - state.pos):
        return Accepted(accepted.state, clauses, ("pyio.read.full",))
    return Accepted(accepted.state, (*clauses, "pyio.read.full"))


def _all_clause(call: Call) -> str:
    if call.op == "py_readall":
        return "pyio.readall.data"
    return "pyio.read.none" if call.args[0] is None else "pyio.read.all"


def _read_all(call: Call, outcome: Outcome) -> Verdict:
    state, value, clause = call.state, outcome.value, _all_clause(call)
    if outcome.raised and clause == "pyio.read.none":
        return Accepted(state.at(ANY, Origin(call.op, failed=True)), (), (clause,))
    if outcome.raised:
        return unexpected(call, clause, outcome)
    if not is_bytes(value):
        return Failure(clause if clause != "pyio.read.all" else "pyio.read.bytes", "", "value")
    if state.pos == ANY or not bytes_fit(state, state.pos, value):
        return wrong_bytes(call, clause, value, by_position=True)
    if state.pos + len(value) < state.shortest:
        return Failure(clause, "", "end")
    ending = "pyio.readall.advance" if call.op == "py_readall" else "pyio.read.advance"
    accepted = moved(call, len(value), ending)
    return Accepted(accepted.state, (*accepted.exercised, clause))


def _read_end(clause: str) -> Callable[[Call, Outcome], Verdict]:
    def accept(call: Call, outcome: Outcome) -> Verdict:
        if outcome.raised:
            return unexpected(call, clause, outcome)
        if outcome.value != b"" or not is_bytes(outcome.value):
            return Failure(clause, call.state.origin.moved, "end")
        return moved(call, 0, clause)

    return accept


def _refuses_none(call: Call, outcome: Outcome) -> Verdict:
    stays = call.state.at(call.state.pos, Origin(call.op))
    if outcome.raised:
        return Accepted(stays, (), ("pyio.read.none",))
    return _read_end("pyio.read.none")(call, outcome)


def _read_nothing(call: Call, outcome: Outcome) -> Verdict:
    if outcome.raised or outcome.value != b"":
        return unexpected(call, "pyio.read.zero", outcome)
    return moved(call, 0, "pyio.read.zero")._replace(exercised=())


def _says_rest(call: Call) -> tuple[str, ...]:
    return (f"returns {here(call)}",)


READ = Operation(
    refusals=(
        after_close("pyio.read.closed")._replace(
            # Which of the two faults is told first is open.
            tolerates=lambda c, o: c.args[0] is None and o.raised
        ),
    ),
    rows=(
        Row(("pyio.read.zero",), lambda c: c.args[0] == 0, _read_nothing, says_empty),
        Row(
            (),
            lambda c: c.args[0] != 0 and _reads_all(c) and may_have_data(c),
            _read_all,
            _says_rest,
        ),
        Row(
            ("pyio.read.count", "pyio.read.data"),
            lambda c: c.args[0] != 0 and not _reads_all(c) and may_have_data(c),
            _read_some,
            lambda c: (f"returns {span(1, c.args[0])} bytes of {here(c, c.args[0])}",),
        ),
        Row(
            (),
            lambda c: c.args[0] is None and may_be_at_end(c),
            _refuses_none,
            says_empty,
        ),
        Row(
            ("pyio.read.eof",),
            lambda c: c.args[0] not in (0, None) and may_be_at_end(c),
            _read_end("pyio.read.eof"),
            says_empty,
        ),
    ),
    clauses=(
        "pyio.read.advance",
        "pyio.read.all",
        "pyio.read.bytes",
        "pyio.read.full",
        "pyio.read.none",
        "pyio.read.progress",
    ),
    moves=True,
)

READALL = Operation(
    refusals=(after_close("pyio.readall.closed"),),
    rows=(
        Row(("pyio.readall.data",), may_have_data, _read_all, _says_rest),
        Row(("pyio.readall.eof",), may_be_at_end, _read_end("pyio.readall.eof"), says_empty),
    ),
    clauses=("pyio.readall.advance",),
    moves=True,
)
