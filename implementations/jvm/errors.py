"""Exceptions of Python's as those that Java's callers catch for the same fault."""

from __future__ import annotations

import io
import traceback
from collections.abc import Callable
from typing import Any, TypeVar

from fscontract.contract.errors import InterruptedIOException, NullPointerException, PathIOException
from fscontract.contract.outcome import text_of
from fscontract.implementations.jvm.machine import java_class
from fscontract.implementations.jvm.shim import shim_class

_R = TypeVar("_R")
#: First match wins; what is not here crosses as JPype lets it, a RuntimeException in Java.
_CLASSES: tuple[tuple[type[BaseException], str], ...] = (
    (NotImplementedError, "java.lang.UnsupportedOperationException"),
    (io.UnsupportedOperation, "java.lang.UnsupportedOperationException"),
    (EOFError, "java.io.EOFException"),
    (FileNotFoundError, "java.io.FileNotFoundException"),
    (FileExistsError, "org.apache.hadoop.fs.FileAlreadyExistsException"),
    (PermissionError, "org.apache.hadoop.security.AccessControlException"),
    (TimeoutError, "java.net.SocketTimeoutException"),
    (InterruptedIOException, "java.io.InterruptedIOException"),
    (OSError, "java.io.IOException"),
    (IndexError, "java.lang.IndexOutOfBoundsException"),
    (NullPointerException, "java.lang.NullPointerException"),
    (ValueError, "java.lang.IllegalArgumentException"),
)
#: Lines of Python that a Java exception shows, at most.
_MOST_LINES = 20


def crossing(call: Callable[..., _R]) -> Callable[..., _R]:
    """The call with its exceptions as Java's."""

    def run(*arguments: Any) -> _R:
        try:
            return call(*arguments)
        except Exception as error:
            if _name(error) is None:
                raise
            raise java_error(error) from error

    return run


def java_error(error: Exception) -> Any:
    """The exception that stands for this one in Java, and has it as its cause."""
    if isinstance(error, java_class("java.lang.Throwable")):
        return error
    name, texts = _name(error) or "java.lang.RuntimeException", [text_of(error)]
    if type(error) is PathIOException:
        name = "org.apache.hadoop.fs.PathIOException"
        texts = [error.path, texts[0].removesuffix(f": {error.path!r}")]
    # made in Java: JPype takes some of its exception classes for no Throwable
    return _cause(error).standIn(java_class(name), texts)


def _name(error: Exception) -> str | None:
    return next((name for cls, name in _CLASSES if isinstance(error, cls)), None)


def _cause(error: Exception) -> Any:
    frames = traceback.extract_tb(error.__traceback__)[-_MOST_LINES:][::-1]
    kind = type(error)
    return shim_class("PythonException")(
        f"{kind.__module__}.{kind.__qualname__}: {text_of(error)}",
        [frame.name for frame in frames],
        [frame.filename for frame in frames],
        [frame.lineno or -1 for frame in frames],
    )
