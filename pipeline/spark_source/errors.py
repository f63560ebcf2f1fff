"""Errors of the data source, shown as one line instead of a Python traceback."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

from fscontract.contract.api.errors import IllegalArgumentException

#: With this variable, a Spark worker omits the traceback of an exception.
_HIDE = "SPARK_HIDE_TRACEBACK"


class SourceException(ValueError):
    """An invalid option, an unreadable input, or a damaged file."""


@contextmanager
def one_line() -> Iterator[None]:
    """Convert errors of files and options to SourceException without a traceback.

    The Spark worker process ends with the exception, so the variable needs no reset.
    """
    try:
        yield
    except (SourceException, IllegalArgumentException, OSError) as error:
        os.environ[_HIDE] = "1"
        if isinstance(error, SourceException):
            raise
        raise SourceException(_message(error)) from error


def raise_in_one_line(error: SourceException) -> NoReturn:
    """Raise an exception without a traceback, as `one_line` does."""
    os.environ[_HIDE] = "1"
    raise error


def _message(error: Exception) -> str:
    text = " ".join(str(error).split())
    return text or type(error).__name__
