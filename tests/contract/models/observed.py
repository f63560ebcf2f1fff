"""Calls on a stream of a file of five bytes, with outcomes that a test makes up."""

from __future__ import annotations

from typing import Any, NamedTuple

from fscontract.contract.models.acceptor import judge_all
from fscontract.contract.models.stream_state import Failure, Judgement, State, opened
from fscontract.contract.program.content import content
from fscontract.contract.program.outcome import FILL, Kind, Outcome, returned
from fscontract.contract.spec.profiles import load_profile

DATA = content(5)
#: A buffer of four bytes that no call has written to.
STALE = bytes([FILL]) * 4
#: Features of a stream that can be sought beyond its end.
LAX_SEEK = ("!rejects-seek-past-eof",)


class Observed(NamedTuple):
    """A call, its arguments, and its outcome."""

    op: str
    args: tuple[Any, ...]
    outcome: Outcome


def call(
    op: str,
    *args: Any,
    gives: Any = None,
    buffer: bytes | None = None,
    raises: Kind | None = None,
) -> Observed:
    """Return a call that returned `gives`, with `buffer` filled, or raised."""
    if raises is not None:
        return Observed(op, args, Outcome(raises, None, None, "made up"))
    return Observed(op, args, returned(gives, buffer))


CLOSE = call("close")


def filled(position: int, count: int, size: int = 4, offset: int = 0) -> bytes:
    """Return a buffer of `size` bytes with `count` bytes of the file at `offset`."""
    data = DATA[position : position + count]
    return bytes([FILL]) * offset + data + bytes([FILL]) * (size - offset - len(data))


def judgement(*calls: Observed, features: tuple[str, ...] = (), data: bytes = DATA) -> Judgement:
    """Return the judgement of the last call; those before it must be permitted.

    `features` are added to those of the reference profile, or removed with a `!`.
    """
    declared = load_profile("reference").with_features(features).features
    states: tuple[State, ...] = (opened(data),)
    result = Judgement(states)
    for number, (op, args, outcome) in enumerate(calls, 1):
        result = judge_all(op, args, states, declared, outcome)
        if number < len(calls):
            assert result.failure is None, f"{op} was not permitted: {result.failure}"
        states = result.states
    return result


def permits(*calls: Observed, features: tuple[str, ...] = (), data: bytes = DATA) -> bool:
    """Return whether the contract permits the last call."""
    return judgement(*calls, features=features, data=data).failure is None


def violation(*calls: Observed, features: tuple[str, ...] = (), data: bytes = DATA) -> Failure:
    """Return the violation by the last call."""
    failure = judgement(*calls, features=features, data=data).failure
    assert failure is not None, f"{calls[-1].op} is permitted"
    return failure


def charged(
    *calls: Observed, features: tuple[str, ...] = (), data: bytes = DATA
) -> tuple[str, str]:
    """Return the clause that the last call violates, and the earlier one that may explain it."""
    failure = violation(*calls, features=features, data=data)
    return failure.clause, failure.cause


def missed(*calls: Observed, features: tuple[str, ...] = (), data: bytes = DATA) -> tuple[str, ...]:
    """Return the SHOULDs that the last call misses; it must be permitted."""
    assert permits(*calls, features=features, data=data)
    return judgement(*calls, features=features, data=data).missed


def positions(*calls: Observed, features: tuple[str, ...] = (), data: bytes = DATA) -> list[int]:
    """Return where the stream may be after the last call."""
    return [state.pos for state in judgement(*calls, features=features, data=data).states]
