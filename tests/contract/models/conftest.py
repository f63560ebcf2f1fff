"""Following a stream through outcomes that a test makes up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import pytest

from fscontract.contract.models.acceptor import judge_all
from fscontract.contract.models.stream_state import Judgement, State, opened
from fscontract.contract.program.content import content
from fscontract.contract.program.outcome import FILL, Kind, Outcome, returned
from fscontract.contract.spec.profiles import load_profile

#: A call, its arguments, and what it did.
Observed: TypeAlias = tuple[str, tuple[Any, ...], Outcome]
Follow: TypeAlias = Callable[..., Judgement]

DATA = content(5)


def bytes_at(position: int, count: int, size: int, offset: int = 0) -> bytes:
    """A buffer of `size` bytes into which `count` bytes of the file were read at `offset`."""
    data = DATA[position : position + count]
    return bytes([FILL]) * offset + data + bytes([FILL]) * (size - offset - len(data))


def read(position: int, count: int, size: int = 4, offset: int = 0) -> Outcome:
    """A read that returned `count` bytes from `position` in a buffer of `size` bytes."""
    return returned(count, bytes_at(position, count, size, offset))


def failed(kind: Kind) -> Outcome:
    """A call that raised."""
    return Outcome(kind, None, None, "made up")


@pytest.fixture
def follow() -> Follow:
    """Judge calls one after the other; the judgement of the last, all before it permitted."""

    def run(*observed: Observed, features: tuple[str, ...] = (), data: bytes = DATA) -> Judgement:
        declared = load_profile("reference").with_features(features).features
        states: tuple[State, ...] = (opened(data),)
        judgement = Judgement(states)
        for number, (op, args, outcome) in enumerate(observed, 1):
            judgement = judge_all(op, args, states, declared, outcome)
            if number < len(observed):
                assert judgement.failure is None, f"{op} was not permitted: {judgement.failure}"
            states = judgement.states
        return judgement

    return run
