"""What the tables of Python's file protocol share."""

from __future__ import annotations

from typing import Any, TypeAlias

from fscontract.contract.models.rules import ILLEGAL, IO, Accepted, Call, Refusal, closed
from fscontract.contract.models.state import ANY, PAST, Failure, Origin, State
from fscontract.contract.outcome import Kind, show_bytes

Verdict: TypeAlias = Accepted | Failure
#: How a file says no: OSError, ValueError, or the exception that is both.
REFUSES = IO | ILLEGAL | {Kind.UNSUPPORTED}


def after_close(clause: str, kinds: frozenset[Kind] = ILLEGAL) -> Refusal:
    """A closed file raises ValueError."""
    return Refusal(clause, closed, kinds, cause="close.state")


def moved(call: Call, count: int, clause: str) -> Accepted:
    """Reading on by `count` bytes: what it confirms is the operation before it."""
    state = call.state
    pos = state.pos if state.pos in (ANY, PAST) else state.pos + count
    return Accepted(state.at(pos, Origin(call.op, clause, clause)), state.origin[1:4])


def left(state: State) -> int:
    """The most bytes there may be between the position and the end."""
    return 0 if state.pos == PAST else max(state.longest - max(state.pos, 0), 0)


def here(call: Call, most: int | None = None) -> str:
    """The bytes at the position, for a report."""
    state = call.state
    start = max(state.pos, 0)
    rest = state.versions[-1][start:] if state.pos != PAST else b""
    return show_bytes(rest if most is None else rest[:most])


def is_bytes(value: Any) -> bool:
    """Whether a value is bytes, and not merely like bytes."""
    return type(value) is bytes


def says_empty(call: Call) -> tuple[str, ...]:
    """The end, as reads of bytes tell it."""
    return ("returns b''",)
