"""closed, readable, seekable, writable, with and write."""

from __future__ import annotations

from collections.abc import Callable

from fscontract.contract.models.python_file.common import (
    Verdict,
    after_close,
)
from fscontract.contract.models.rules import (
    ILLEGAL,
    UNSUPPORTED,
    Accepted,
    Call,
    Operation,
    Refusal,
    Row,
    always,
    closed,
    is_open,
    unexpected,
)
from fscontract.contract.models.state import Failure, Origin
from fscontract.contract.outcome import Kind, Outcome


def _answers(clause: Callable[[Call], str], answer: Callable[[Call], bool]) -> Operation:
    """An inquiry of an open file; a closed one may answer or raise."""

    def accept(call: Call, outcome: Outcome) -> Verdict:
        if outcome.value is answer(call):
            return Accepted(call.state, (clause(call),))
        return Failure(clause(call), "", "raised" if outcome.raised else "value")

    return Operation(
        refusals=(),
        rows=(
            Row((), is_open, accept, lambda c: (f"returns {answer(c)}",)),
            Row((), closed, lambda c, o: Accepted(c.state), lambda c: ("anything",)),
        ),
    )


def _closed(call: Call, outcome: Outcome) -> Verdict:
    clause = "pyio.closed.before" if is_open(call) else "pyio.closed.after"
    if outcome.value is (not is_open(call)):
        return Accepted(call.state, (clause,))
    cause = "" if is_open(call) else "close.state"
    return Failure(clause, cause, "raised" if outcome.raised else "value")


def _with(call: Call, outcome: Outcome) -> Verdict:
    if outcome.value is not True:
        return unexpected(call, "pyio.with.closes", outcome)
    return Accepted(call.state._replace(is_open=False, origin=Origin("py_with")))


def _write(call: Call, outcome: Outcome) -> Verdict:
    if outcome.kind in UNSUPPORTED:
        return Accepted(call.state)
    return Failure("pyio.write.refused", "", "raised" if outcome.raised else "value")


def _says_refused(call: Call) -> tuple[str, ...]:
    return ("raises UNSUPPORTED or IO",)


def _seekable_clause(call: Call) -> str:
    return "pyio.seekable.true" if call.has("supports-seek") else "pyio.seekable.false"


TABLES: dict[str, Operation] = {
    "py_closed": Operation(
        refusals=(),
        rows=(Row((), always, _closed, lambda c: (f"returns {closed(c)}",)),),
        clauses=("pyio.closed.before", "pyio.closed.after"),
    ),
    "py_readable": _answers(lambda c: "pyio.readable", lambda c: True)._replace(
        clauses=("pyio.readable",)
    ),
    "py_seekable": _answers(_seekable_clause, lambda c: c.has("supports-seek"))._replace(
        clauses=("pyio.seekable.true", "pyio.seekable.false")
    ),
    "py_writable": _answers(lambda c: "pyio.writable.false", lambda c: False)._replace(
        clauses=("pyio.writable.false",)
    ),
    "py_with": Operation(
        refusals=(Refusal("pyio.with.closed", closed, ILLEGAL, should=True),),
        rows=(Row(("pyio.with.closes",), is_open, _with, lambda c: ("closed afterwards",)),),
    ),
    "py_write": Operation(
        refusals=(after_close("pyio.write.closed", ILLEGAL | {Kind.UNSUPPORTED}),),
        rows=(
            Row(("pyio.write.refused",), is_open, _write, lambda c: ("raises UNSUPPORTED or IO",)),
        ),
    ),
}
