"""What Java's exceptions mean: by class, and by the classes it extends."""

from __future__ import annotations

from collections.abc import Iterable

from fscontract.contract.outcome import Kind, Outcome, text_of
from fscontract.implementations.bindings.privacy import hide

#: The nearest of these above a class says what it means; one with none is OTHER, as an Error is.
_KINDS = {
    "java.io.EOFException": Kind.EOF,
    "java.io.IOException": Kind.IO,
    "java.lang.IllegalArgumentException": Kind.ILLEGAL_ARGUMENT,
    "java.lang.IndexOutOfBoundsException": Kind.INDEX,
    "java.lang.NullPointerException": Kind.NULL,
    "java.lang.UnsupportedOperationException": Kind.UNSUPPORTED,
    # the way to the store failed
    "java.net.ConnectException": Kind.ENVIRONMENT,
    "java.net.NoRouteToHostException": Kind.ENVIRONMENT,
    "java.net.UnknownHostException": Kind.ENVIRONMENT,
    "java.net.SocketTimeoutException": Kind.ENVIRONMENT,
}
#: What the classes met so far mean: the names of Java's classes take long to come by.
_kinds_of: dict[type[BaseException], Kind] = {}
#: What stands for its cause.
_WRAPPERS = frozenset(
    {
        "java.util.concurrent.ExecutionException",
        "java.util.concurrent.CompletionException",
        "java.io.UncheckedIOException",
        "java.lang.reflect.InvocationTargetException",
        "java.lang.reflect.UndeclaredThrowableException",
    }
)
#: How many causes are looked at.
_DEEPEST = 16
_LONGEST = 160


def outcome_of(error: BaseException, secrets: Iterable[str] = ()) -> Outcome:
    """The outcome of a call that raised."""
    error = unwrapped(error)
    kind = _kind(error)
    if kind is Kind.IO and _cant_be_reached(error):
        kind = Kind.ENVIRONMENT
    return Outcome(kind, detail=told(error, secrets, full=kind is Kind.OTHER))


def unwrapped(error: BaseException) -> BaseException:
    """The exception that others were wrapped around."""
    for _ in range(_DEEPEST):
        if type(error).__name__ not in _WRAPPERS:
            break
        cause = _cause(error)
        if cause is None:
            break
        error = cause
    return error


def told(error: BaseException, secrets: Iterable[str] = (), full: bool = False) -> str:
    """Class and message on one line; `full` names the class with its package."""
    name = type(error).__name__
    text = text_of(error)
    if text.startswith(name):  # as Throwable.toString has it
        text = text[len(name) :].lstrip(": ")
    text = hide(text, secrets) if secrets or "://" in text else " ".join(text.split())
    shown = name if full else name.rpartition(".")[2]
    return f"{shown}: {text[:_LONGEST]}" if text else shown


def _kind(error: BaseException) -> Kind:
    kind = _kinds_of.get(type(error))
    if kind is None:
        names = (cls.__name__ for cls in type(error).__mro__)
        kind = next((_KINDS[name] for name in names if name in _KINDS), Kind.OTHER)
        _kinds_of[type(error)] = kind
    return kind


def _cant_be_reached(error: BaseException) -> bool:
    for _ in range(_DEEPEST):
        cause = _cause(error)
        if cause is None:
            return False
        if _kind(cause) is Kind.ENVIRONMENT:
            return True
        error = cause
    return False


def _cause(error: BaseException) -> BaseException | None:
    """What Java says is the cause; None for an exception of Python, or if it can't be had."""
    getter = getattr(error, "getCause", None)
    try:
        cause = getter() if getter is not None else None
    except Exception:  # code of the target
        return None
    return cause if isinstance(cause, BaseException) else None
