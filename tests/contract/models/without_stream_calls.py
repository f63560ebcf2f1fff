"""Judge calls that read without an opened stream, for the tests of their rules."""

from __future__ import annotations

from typing import Any

from fscontract.contract.models.acceptor import judge_all
from fscontract.contract.models.stream_state import Judgement, opened
from fscontract.contract.program.filesystem_calls import FEATURE_OF
from fscontract.contract.program.outcome import Kind, Outcome, returned

#: The content of the file.
DATA = b"abcdef"


def judged(op: str, *args: Any, gives: Any = None, raises: Kind | None = None) -> Judgement:
    """Return the verdict on a call that returned `gives`, or raised an exception of a kind."""
    outcome = returned(gives) if raises is None else Outcome(raises)
    return judge_all(op, args, (opened(DATA),), frozenset({FEATURE_OF[op]}), outcome)


def assert_judged_by(clause: str, call: tuple[Any, ...], right: Any) -> None:
    """Assert that a clause is satisfied by the right result of a call, and by no other one."""
    found = judged(*call, gives=right)
    assert (found.exercised, found.missed) == ((clause,), ())
    wrong = judged(*call, gives=-7)
    assert (wrong.missed or (wrong.failure and wrong.failure.clause,)) == (clause,)
