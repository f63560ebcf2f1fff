"""Print records, counts and progress; end quietly when standard output is closed."""

from __future__ import annotations

import base64
import json
import os
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Any, BinaryIO

import click

from fscontract.pipeline.blockreader.batches import RecordBatch
from fscontract.pipeline.blocks import FileBlockMetadata
from fscontract.pipeline.cli.plan import BlockRecords

#: The exit code of a command whose output was closed, which a shell gives for SIGPIPE.
CLOSED = 141


class _Closed(Exception):
    """Standard output is closed: a command behind it has seen enough."""


class StandardOutput:
    """Standard output as a binary file."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    @property
    def is_plain(self) -> bool:
        """Return whether to print plain lines: output is not a terminal, or a plain one."""
        from fscontract.contract.report.console import is_plain

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
        from fscontract.contract.text import printable

        encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
        escaped = text if text.isprintable() else printable(text)
        self.write(escaped.encode(encoding, "backslashreplace"), b"\n")

    def flush(self) -> None:
        """Have everything written."""
        try:
            self._file.flush()
        except BrokenPipeError:
            raise _Closed from None


@contextmanager
def standard_output() -> Iterator[StandardOutput]:
    """Open standard output; it is flushed at the end, after an error too.

    If whoever reads it goes away, the command ends, and nothing is said.
    """
    output = StandardOutput(sys.stdout.buffer)
    try:
        try:
            yield output
        finally:
            output.flush()
    except _Closed:
        with suppress(OSError, ValueError):  # what is left has to go somewhere when Python ends
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise click.exceptions.Exit(CLOSED) from None


class Printer(ABC):
    """Prints records, and counts them."""

    #: Whether it needs the bytes of records, and their offsets.
    records = True
    offsets = False

    def __init__(self, output: StandardOutput) -> None:
        self._output = output
        self.count = 0

    def take(self, block_records: BlockRecords, max_records: int) -> None:
        """Print at most `max_records` records."""
        self.count += min(max_records, block_records.records)
        if block_records.batch is not None and self.records:
            self._print(block_records.block, block_records.batch, max_records)

    def finish(self, counted: Mapping[str, Any]) -> None:  # noqa: B027 - most print nothing
        """Print what comes behind the last record."""

    @abstractmethod
    def _print(self, block: FileBlockMetadata, batch: RecordBatch, max_records: int) -> None:
        """Print them."""


class RawPrinter(Printer):
    """The bytes of each record as they are, and `end` behind it."""

    def __init__(self, output: StandardOutput, end: bytes) -> None:
        super().__init__(output)
        self._end = end

    def _print(self, block: FileBlockMetadata, batch: RecordBatch, max_records: int) -> None:
        records = batch.records[:max_records]
        if len(records) == 1:  # it may be huge
            self._output.write(records[0], self._end)
        elif records:
            self._output.write(self._end.join(records), self._end)


class JsonPrinter(Printer):
    """A line of JSON for each record."""

    offsets = True

    def _print(self, block: FileBlockMetadata, batch: RecordBatch, max_records: int) -> None:
        position = {"path": block.file_path, "block": block.block_id}
        for record, offset in zip(batch.records[:max_records], batch.offsets, strict=False):
            line = json.dumps({**position, "offset": offset, **_value(record)})
            self._output.write(line.encode(), b"\n")


class CountPrinter(Printer):
    """Prints the number of records, alone or, as JSON, with other numbers."""

    records = False

    def __init__(self, output: StandardOutput, as_json: bool) -> None:
        super().__init__(output)
        self._as_json = as_json

    def _print(self, block: FileBlockMetadata, batch: RecordBatch, max_records: int) -> None:
        """Print nothing: they are only counted."""

    def finish(self, counted: Mapping[str, Any]) -> None:
        """Print it."""
        text = json.dumps(dict(counted)) if self._as_json else str(self.count)
        self._output.write(text.encode(), b"\n")


def _value(record: bytes) -> dict[str, str]:
    try:
        return {"record": record.decode()}
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(record).decode()}


#: Seconds between two lines.
_PAUSE = 10.0


class ReadProgress(AbstractContextManager["ReadProgress"]):
    """Shows bytes and records; nothing if it is `quiet`.

    `printing` says whether records are printed: there is no bar if they go to a terminal, too.
    """

    def __init__(
        self, quiet: bool, printing: bool, clock: Callable[[], float] = time.monotonic
    ) -> None:
        from fscontract.contract.report.console import is_plain

        self._quiet = quiet
        self._clock = clock
        self._start = self._last_line = clock()
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
        """Return how long it takes so far."""
        return self._clock() - self._start

    def __enter__(self) -> ReadProgress:
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
        elif not self._quiet and self._clock() - self._last_line >= _PAUSE:
            self._last_line = self._clock()
            self.say(f"{self.bytes:,} of {total:,} bytes, {self.records:,} records")

    def say(self, line: str) -> None:
        """Print a line unless `quiet`."""
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
