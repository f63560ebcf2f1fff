"""Print the present names of old ones that a command reads."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from fscontract.contract.command_line import say
from fscontract.contract.spec import RenamedWarning


@contextmanager
def renames_printed() -> Iterator[None]:
    """Print each RenamedWarning once, as a line on stderr."""
    printed: set[str] = set()
    with warnings.catch_warnings():
        warnings.simplefilter("always", RenamedWarning)
        show = warnings.showwarning

        def print_rename(
            message: Warning | str,
            category: type[Warning],
            filename: str,
            lineno: int,
            file: TextIO | None = None,
            line: str | None = None,
        ) -> None:
            text = str(message)
            if not issubclass(category, RenamedWarning):
                show(message, category, filename, lineno, file, line)
            elif text not in printed:
                printed.add(text)
                say(f"fscontract: {text}", err=True)

        warnings.showwarning = print_rename
        yield
