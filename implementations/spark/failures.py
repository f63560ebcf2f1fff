"""Exceptions as data, for transfer between executors and the driver."""

from __future__ import annotations

import builtins
from importlib import import_module
from typing import NamedTuple

from fscontract.contract.api.errors import PathIOException

_OURS = "fscontract."
_BUILTIN = "builtins"


class Failure(NamedTuple):
    """An exception: its class, message, and path."""

    module: str
    name: str
    message: str
    path: str | None = None


def failure_of(error: BaseException) -> Failure:
    """Return an exception as data."""
    cls = type(error)
    return Failure(cls.__module__, cls.__qualname__, str(error), getattr(error, "path", None))


def error_of(failure: Failure, path: str = "") -> Exception:
    """Return an equivalent exception; PathIOException on `path` for foreign classes."""
    cls = _class_of(failure)
    error = None if cls is None else _like(cls, failure, path)
    if error is not None:
        return error
    said = f"{failure.name}: {failure.message}" if failure.message else failure.name
    return PathIOException(failure.path or path, said)


def _like(cls: type[Exception], failure: Failure, path: str) -> Exception | None:
    """Return an exception of this class with the message; None if the class takes no message."""
    if issubclass(cls, PathIOException):
        error = cls.__new__(cls)  # the message contains the path already
        error.args = (failure.message,)
        error.path = failure.path or path
        return error
    try:
        return cls(failure.message)
    except TypeError:
        return None


def _class_of(failure: Failure) -> type[Exception] | None:
    """Return the class if it belongs to fscontract or to Python's builtins."""
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
