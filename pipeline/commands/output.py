"""What goes to standard output: bytes as they are, and a quiet end where nobody reads any more."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO

import click

#: The exit code of a command whose output was closed, which a shell gives for SIGPIPE.
CLOSED = 141


class _Closed(Exception):
    """Standard output is closed: a command behind it has seen enough."""


class Output:
    """Standard output as a binary file."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    @property
    def is_plain(self) -> bool:
        """Whether it is no terminal, or one that wants plain lines."""
        from fscontract.contract.suite.report.console import is_plain

        return is_plain(sys.stdout)

    def write(self, *parts: bytes) -> None:
        """Write bytes; nothing is added."""
        try:
            for part in parts:
                self._file.write(part)
        except BrokenPipeError:
            raise _Closed from None

    def line(self, text: str) -> None:
        """Write a line of text, in which what no terminal can show is escaped."""
        from fscontract.contract.suite.report.text import printable

        encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
        shown = text if text.isprintable() else printable(text)
        self.write(shown.encode(encoding, "backslashreplace"), b"\n")

    def flush(self) -> None:
        """Have everything written."""
        try:
            self._file.flush()
        except BrokenPipeError:
            raise _Closed from None


@contextmanager
def standard_output() -> Iterator[Output]:
    """Standard output, which has everything in the end, also if something goes wrong.

    If whoever reads it goes away, the command ends, and nothing is said.
    """
    output = Output(sys.stdout.buffer)
    try:
        try:
            yield output
        finally:
            output.flush()
    except _Closed:
        with suppress(OSError, ValueError):  # what is left has to go somewhere when Python ends
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise click.exceptions.Exit(CLOSED) from None
