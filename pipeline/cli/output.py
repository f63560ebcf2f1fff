"""Output of records, counts and progress, with a quiet end when standard output is closed."""

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

#: Exit code when the output was closed, which a shell reports for SIGPIPE.
CLOSED = 141


class _Closed(Exception):
    """Standard output was closed by the reader of the pipe."""


class StandardOutput:
    """Standard output as a binary file."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    @property
    def is_plain(self) -> bool:
        """True to print plain lines: output is not a terminal, or a plain one."""
        from fscontract.contract.report.console import is_plain

        return is_plain(sys.stdout)

    def write(self, *parts: bytes) -> None:
        """Write bytes unchanged."""
        try:
            for part in parts:
                self._file.write(part)
        except BrokenPipeError:
            raise _Closed from None

    def line(self, text: str) -> None:
        """Write a line of text; escape characters that terminals can't show."""
        from fscontract.contract.text import printable

        encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
        escaped = text if text.isprintable() else printable(text)
        self.write(escaped.encode(encoding, "backslashreplace"), b"\n")

    def flush(self) -> None:
        """Flush all output."""
        try:
            self._file.flush()
        except BrokenPipeError:
            raise _Closed from None


@contextmanager
def standard_output() -> Iterator[StandardOutput]:
    """Return a context with standard output, flushed at the end, also after an error.

    If the reader of the pipe closes it, the command ends without a message.
    """
    output = StandardOutput(sys.stdout.buffer)
    try:
        try:
            yield output
        finally:
            output.flush()
    except _Closed:
        # Python flushes remaining data on exit, which needs a destination
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise click.exceptions.Exit(CLOSED) from None


class Printer(ABC):
    """Prints records, and counts them."""

    #: True if it needs the bytes and offsets of records.
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
        """Print what follows the last record."""

    @abstractmethod
    def _print(self, block: FileBlockMetadata, batch: RecordBatch, max_records: int) -> None:
        """Print the records."""


class RawPrinter(Printer):
    """Prints the unchanged bytes of each record, followed by `end`."""

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
    """Prints a line of JSON for each record."""

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
        """Print nothing, because records are only counted."""

    def finish(self, counted: Mapping[str, Any]) -> None:
        """Print the number."""
        text = json.dumps(dict(counted)) if self._as_json else str(self.count)
        self._output.write(text.encode(), b"\n")


def _value(record: bytes) -> dict[str, str]:
    try:
        return {"record": record.decode()}
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(record).decode()}


#: Seconds between two lines of progress.
_PAUSE = 10.0


class ReadProgress(AbstractContextManager["ReadProgress"]):
    """Shows bytes and records, unless `quiet`.

    `printing` means that records are printed: a bar is shown unless they go to a terminal.
    """

    def __init__(
        self, quiet: bool, printing: bool, clock: Callable[[], float] = time.monotonic
    ) -> None:
        from fscontract.contract.report.console import is_plain

        self._quiet = quiet
        self._clock = clock
        self._start = self._last_line = clock()
        #: Bytes of blocks that were read, and number of records.
        self.bytes = 0
        self.records = 0
        self._bar: Any = None
        covered = printing and sys.stdout.isatty()
        if not (quiet or covered or is_plain(sys.stderr)):
            self._bar = _bar()
            self._task = self._bar.add_task("", total=None, records="0 records")

    @property
    def seconds(self) -> float:
        """Elapsed time in seconds."""
        return self._clock() - self._start

    def __enter__(self) -> ReadProgress:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def show(self, total: int) -> None:
        """Show progress, of `total` bytes known so far."""
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
