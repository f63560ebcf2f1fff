"""Model of Python's binary files: seek, tell and state; `python_read` models the reads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from fscontract.contract.models import python_read
from fscontract.contract.models.python_read import REFUSES, Verdict, after_close, is_bytes
from fscontract.contract.models.stream_state import ANY, PAST, Failure, Origin, State
from fscontract.contract.models.transition_table import (
    HUGE,
    ILLEGAL,
    UNSUPPORTED,
    Accepted,
    Call,
    Operation,
    Refusal,
    Row,
    always,
    closed,
    describe_position,
    is_count,
    is_open,
    unexpected,
)
from fscontract.contract.program.outcome import Kind, Outcome


def _answers(clause: Callable[[Call], str], answer: Callable[[Call], bool]) -> Operation:
    """Return the table of a query such as readable(); a closed file may answer or raise."""

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
    clause = "python.closed.before" if is_open(call) else "python.closed.after"
    if outcome.value is (not is_open(call)):
        return Accepted(call.state, (clause,))
    cause = "" if is_open(call) else "close.state"
    return Failure(clause, cause, "raised" if outcome.raised else "value")


def _with(call: Call, outcome: Outcome) -> Verdict:
    if outcome.value is not True:
        return unexpected(call, "python.with.closes", outcome)
    return Accepted(call.state._replace(is_open=False, origin=Origin(call.op)))


def _block(described: str) -> Operation:
    """Return the table of a with block."""
    return Operation(
        refusals=(Refusal("python.with.closed", closed, ILLEGAL, should=True),),
        rows=(Row(("python.with.closes",), is_open, _with, lambda c: (described,)),),
    )


def _write(call: Call, outcome: Outcome) -> Verdict:
    if outcome.kind in UNSUPPORTED:
        return Accepted(call.state)
    return Failure("python.write.refused", "", "raised" if outcome.raised else "value")


def _flush(call: Call, outcome: Outcome) -> Verdict:
    if outcome.raised and outcome.kind is not Kind.UNSUPPORTED:
        return Failure("python.flush", "", "raised")
    return Accepted(call.state.at(call.state.pos, _FLUSHED), ("python.flush",))


_FLUSHED = Origin("py_flush", "python.flush", "python.flush", "python.flush")


def _seekable_clause(call: Call) -> str:
    return "python.seekable.true" if call.has("supports-seek") else "python.seekable.false"


QUERIES: dict[str, Operation] = {
    "py_closed": Operation(
        refusals=(),
        rows=(Row((), always, _closed, lambda c: (f"returns {closed(c)}",)),),
        clauses=("python.closed.before", "python.closed.after"),
    ),
    "py_readable": _answers(lambda c: "python.readable", lambda c: True)._replace(
        clauses=("python.readable",)
    ),
    "py_seekable": _answers(_seekable_clause, lambda c: c.has("supports-seek"))._replace(
        clauses=("python.seekable.true", "python.seekable.false")
    ),
    "py_writable": _answers(lambda c: "python.writable.false", lambda c: False)._replace(
        clauses=("python.writable.false",)
    ),
    "py_with": _block("closed afterwards"),
    "py_with_error": _block("raises the exception and closes the file"),
    "py_write": Operation(
        refusals=(after_close("python.write.closed", ILLEGAL | {Kind.UNSUPPORTED}),),
        rows=(
            Row(
                ("python.write.refused",), is_open, _write, lambda c: ("raises UNSUPPORTED or IO",)
            ),
        ),
    ),
}


FLUSH = Operation(
    refusals=(),
    rows=(
        Row(("python.flush",), is_open, _flush, lambda c: ("does nothing",)),
        Row((), closed, lambda c, o: Accepted(c.state), lambda c: ("anything",)),
    ),
)
#: The clause of a seek by its whence.
WHENCE = {0: "python.seek.set", 1: "python.seek.current", 2: "python.seek.end"}
_STAYS = Origin("py_seek", "python.seek.failed-stays")


def _target(call: Call) -> int | None:
    """Return the target position of a seek; None if it depends on an unknown position."""
    offset, whence = call.args
    state = call.state
    if whence == 1:
        return None if state.pos in (ANY, PAST) else state.pos + offset
    return int(offset + (state.longest if whence == 2 else 0))


def _before_start(call: Call) -> bool:
    target = _target(call)
    return call.args[1] in WHENCE and target is not None and target < 0


def _seek(call: Call, outcome: Outcome) -> Verdict:
    state, target, value = call.state, _target(call), outcome.value
    clause = WHENCE[call.args[1]]
    beyond = target is None or target > state.shortest
    if outcome.raised:
        if not beyond:
            return unexpected(call, clause, outcome)
        possible = target is not None and target < HUGE
        missed = ("python.seek.past-end",) if possible else ()
        return Accepted(state.at(ANY, _STAYS._replace(failed=True)), (), missed)
    if not is_count(value):
        return Failure("python.seek.returns", "", "value")
    if target is not None and target > state.longest and value == state.longest:
        # It reports only that it moved to the end.
        return Accepted(state.at(PAST, Origin("py_seek")), (), ("python.seek.past-end",))
    if not state.changed and target is not None and value != target:
        return Failure("python.seek.returns", clause, "returns")
    if value < _earliest(call):
        return Failure("python.seek.returns", clause, "returns")
    past = target is not None and target > state.longest
    # That a seek past the end succeeds is a SHOULD; the position that it returned must be right.
    said = past or target is None
    origin = Origin("py_seek", "python.seek.returns" if said else clause, clause)
    confirmed = state.origin.moved if call.args[1] == 1 else ""
    succeeds = "python.seek.past-end" if past else ""
    return Accepted(state.at(value, origin), ("python.seek.returns", confirmed, succeeds))


def _earliest(call: Call) -> int:
    """Return the first position that a seek may return; one past the end may move to the end."""
    offset, whence = call.args
    is_from_past = whence == 1 and call.state.pos == PAST
    return max(call.state.shortest + min(offset, 0), 0) if is_from_past else 0


def after_misreported_seek(call: Call, value: Any) -> Iterator[State]:
    """Yield the states after a seek in the file that returned another value than the position.

    The stream is where the seek was to move, or where it says. None if the seek may have failed.
    """
    clause, target = WHENCE.get(call.args[1], ""), _target(call)
    if not clause or not is_open(call) or not call.has("supports-seek"):
        return
    if target is None or not 0 <= target <= call.state.longest:
        return
    for position in (target, value):
        if is_count(position) and position >= 0:
            yield call.state.at(position, Origin("py_seek", clause, clause))


SEEK = Operation(
    refusals=(
        # The whence may be checked first, with the exception of a file that is open.
        after_close("python.seek.closed")._replace(
            tolerates=lambda c, o: c.args[1] not in WHENCE and o.kind in REFUSES
        ),
        Refusal(
            "python.seek.unsupported",
            lambda c: not c.has("supports-seek"),
            REFUSES,
            tolerates=lambda c, o: not o.raised and _target(c) == c.state.pos,
        ),
        Refusal(
            "python.seek.bad-whence",
            lambda c: is_open(c) and c.args[1] not in WHENCE,
            REFUSES,
            _STAYS,
            should=True,
        ),
        Refusal(
            "python.seek.negative",
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
    clauses=("python.seek.returns", "python.seek.past-end", *WHENCE.values()),
)


def _tell(call: Call, outcome: Outcome) -> Verdict:
    state, value = call.state, outcome.value
    if outcome.raised or not is_count(value):
        return unexpected(call, "python.tell.value", outcome)
    known = state.pos not in (ANY, PAST)
    fits = value == state.pos if known else value >= (state.shortest if state.pos == PAST else 0)
    if not fits:
        return Failure("python.tell.value", state.origin.moved, "moved")
    shown_pos = PAST if value >= state.shortest else value
    pos = shown_pos if state.pos == ANY else state.pos
    return Accepted(state.at(pos, Origin("py_tell", "python.tell.stays")), (state.origin.moved,))


TELL = Operation(
    refusals=(after_close("python.tell.closed"),),
    rows=(
        Row(
            ("python.tell.value",),
            always,
            _tell,
            describe_position,
        ),
    ),
    clauses=("python.tell.stays",),
)


TABLES: dict[str, Operation] = {
    "py_read": python_read.READ,
    "py_read_default": python_read.READ,
    "py_readall": python_read.READALL,
    "py_readinto": python_read.READINTO,
    "py_seek": SEEK,
    "py_tell": TELL,
    "py_readline": python_read.READLINE,
    "py_readlines": python_read.READLINES,
    "py_next": python_read.NEXT,
    "py_iterate": python_read.ITERATE,
    "py_read1": python_read.READ1,
    "py_readinto1": python_read.READINTO1,
    "py_peek": python_read.PEEK,
    "py_flush": FLUSH,
    **QUERIES,
}


def delivered(call: Call, outcome: Outcome) -> bytes | None:
    """Return the bytes that a read delivered, empty at the end.

    Return None if the outcome says nothing about the position.
    """
    value = outcome.value
    if call.op in ("py_read", "py_readline") and call.args[0] == 0:
        return None
    if call.op in ("py_read1", "py_peek"):
        # No bytes say nothing about the position, except if any number was asked for.
        tells = bool(value) or (call.op == "py_read1" and python_read.reads_all(call))
        return value if is_bytes(value) and tells else None
    if call.op == "py_readinto1":
        return (outcome.buffer or b"")[:value] if is_count(value) and value > 0 else None
    if call.op == "py_readinto":
        if not is_count(value) or python_read.room(call) == 0:
            return None
        return (outcome.buffer or b"")[: max(value, 0)]
    if call.op in python_read.RETURN_LINES and type(value) is tuple:
        return b"".join(line for line in value if is_bytes(line))
    if call.op == "py_next" and value is None:
        return b""
    return value if type(value) is bytes else None
