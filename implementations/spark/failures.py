"""Exceptions as data: how a failure in an executor reaches the driver, or one worker another."""

from __future__ import annotations

import builtins
from importlib import import_module
from typing import NamedTuple

from fscontract.contract.api.errors import PathIOException

_OURS = "fscontract."
_BUILTIN = "builtins"


class Failure(NamedTuple):
    """An exception: its class, what it says, and the path it is about."""

    module: str
    name: str
    message: str
    path: str | None = None


def failure_of(error: BaseException) -> Failure:
    """An exception as data."""
    cls = type(error)
    return Failure(cls.__module__, cls.__qualname__, str(error), getattr(error, "path", None))


def error_of(failure: Failure, path: str = "") -> Exception:
    """An exception like the one that was raised; PathIOException on `path` for foreign classes."""
    cls = _class_of(failure)
    error = None if cls is None else _like(cls, failure, path)
    if error is not None:
        return error
    said = f"{failure.name}: {failure.message}" if failure.message else failure.name
    return PathIOException(failure.path or path, said)


def _like(cls: type[Exception], failure: Failure, path: str) -> Exception | None:
    """An exception of the class that says the same; None if it is not made of a message."""
    if issubclass(cls, PathIOException):
        error = cls.__new__(cls)  # the path is in the message already
        error.args = (failure.message,)
        error.path = failure.path or path
        return error
    try:
        return cls(failure.message)
    except TypeError:
        return None


def _class_of(failure: Failure) -> type[Exception] | None:
    """The class if it is ours, or one of Python's own."""
    if failure.module == _BUILTIN:
        error_class = getattr(builtins, failure.name, None)
    elif failure.module.startswith(_OURS):
        error_class = getattr(import_module(failure.module), failure.name, None)
    else:
        return None
    return (
        error_class
        if isinstance(error_class, type) and issubclass(error_class, Exception)
        else None
    )
