"""The observer of exceptions that become outcomes."""

from __future__ import annotations

import threading

from fscontract.contract.program.outcome import Kind, raised
from fscontract.contract.program.raising import notice, observed_by


def test_observer_gets_the_exception_of_an_outcome_and_what_to_hide() -> None:
    """The exception itself, which an outcome does not keep."""
    seen: list[tuple[BaseException, tuple[str, ...]]] = []
    error, other = KeyError("a"), ValueError("b")
    with observed_by(lambda error, secrets: seen.append((error, secrets))):
        assert raised(error).kind is Kind.OTHER
        notice(other, ["hide"])
    raised(KeyError("later"))
    assert seen == [(error, ()), (other, ("hide",))]


def test_observer_does_not_see_other_threads() -> None:
    """A thread of an abandoned program may still raise."""
    seen: list[BaseException] = []
    with observed_by(lambda error, _: seen.append(error)):
        thread = threading.Thread(target=notice, args=(KeyError("a"),))
        thread.start()
        thread.join()
    assert seen == []
