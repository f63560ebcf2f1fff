"""Errors of the data source, shown as one line instead of a Python traceback."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

from fscontract.contract.api.errors import IllegalArgumentException

#: Spark leaves out the traceback of an exception where a worker has this variable.
_HIDE = "SPARK_HIDE_TRACEBACK"


class SourceException(ValueError):
    """The source can't be read as it was asked for: an option, an input, or a file."""


@contextmanager
def one_line() -> Iterator[None]:
    """Raise what goes wrong with files and options as a SourceException without a traceback.

    The process, which is a worker of Spark, ends with the exception, and so does the variable.
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
