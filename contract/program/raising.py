"""Observe the exceptions of a target where they become outcomes.

An outcome keeps the class and the message of an exception only. Who examines a failure observes the
exception itself; without an observer, as for programs that pass, nothing is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeAlias

#: Called with an exception, and with the texts to hide in its message.
Observer: TypeAlias = Callable[[BaseException, tuple[str, ...]], None]

#: The observer of this thread: threads of abandoned programs have none.
_observer: ContextVar[Observer | None] = ContextVar("observer", default=None)


def notice(error: BaseException, secrets: Iterable[str] = ()) -> None:
    """Pass an exception that becomes an outcome to the observer, if there is one."""
    observer = _observer.get()
    if observer is not None:
        observer(error, tuple(secrets))


@contextmanager
def observed_by(observer: Observer) -> Iterator[None]:
    """Call `observer` with each exception that becomes an outcome in this thread."""
    token = _observer.set(observer)
    try:
        yield
    finally:
        _observer.reset(token)
