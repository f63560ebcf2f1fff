"""How far a reader has come: a bar at a terminal, and else a line now and then, on stderr."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import click

#: Seconds between two lines.
_PAUSE = 10.0


class Progress(AbstractContextManager["Progress"]):
    """Shows bytes and records; nothing if it is `quiet`.

    `printing` says whether records are printed: there is no bar if they go to a terminal, too.
    """

    def __init__(
        self, quiet: bool, printing: bool, clock: Callable[[], float] = time.monotonic
    ) -> None:
        from fscontract.contract.suite.report.console import is_plain

        self._quiet = quiet
        self._clock = clock
        self._began = self._said = clock()
        #: Bytes of blocks that were read, and records.
        self.bytes = 0
        self.records = 0
        self._bar: Any = None
        covered = printing and sys.stdout.isatty()
        if not (quiet or covered or is_plain(sys.stderr)):
            self._bar = _bar()
            self._task = self._bar.add_task("", total=None, records="0 records")

    @property
    def seconds(self) -> float:
        """How long it takes so far."""
        return self._clock() - self._began

    def __enter__(self) -> Progress:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def show(self, total: int) -> None:
        """Show what was read, of `total` bytes that are known of."""
        if self._bar is not None:
            records = f"{self.records:,} records"
            self._bar.update(self._task, completed=self.bytes, total=total, records=records)
        elif not self._quiet and self._clock() - self._said >= _PAUSE:
            self._said = self._clock()
            self.say(f"{self.bytes:,} of {total:,} bytes, {self.records:,} records")

    def say(self, line: str) -> None:
        """A line, unless it is quiet."""
        if not self._quiet:
            click.echo(line, err=True)


def _bar() -> Any:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )

    return Progress(
        BarColumn(),
        DownloadColumn(binary_units=True),
        TextColumn("{task.fields[records]}"),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
