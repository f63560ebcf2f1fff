"""The forms in which records are printed."""

from __future__ import annotations

import base64
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

from fscontract.pipeline.blockreader.batches import RecordBatch
from fscontract.pipeline.blocks import FileBlockMetadata
from fscontract.pipeline.commands.output import Output
from fscontract.pipeline.commands.records import Found


class Printer(ABC):
    """Prints records, and counts them."""

    #: Whether it needs the bytes of records, and their offsets.
    records = True
    offsets = False

    def __init__(self, output: Output) -> None:
        self._output = output
        self.count = 0

    def take(self, found: Found, most: int) -> None:
        """Print at most so many records."""
        self.count += min(most, found.records)
        if found.batch is not None and self.records:
            self._print(found.block, found.batch, most)

    def finish(self, counted: Mapping[str, Any]) -> None:  # noqa: B027 - most print nothing
        """Print what comes behind the last record."""

    @abstractmethod
    def _print(self, block: FileBlockMetadata, batch: RecordBatch, most: int) -> None:
        """Print them."""


class Raw(Printer):
    """The bytes of each record as they are, and `end` behind it."""

    def __init__(self, output: Output, end: bytes) -> None:
        super().__init__(output)
        self._end = end

    def _print(self, block: FileBlockMetadata, batch: RecordBatch, most: int) -> None:
        records = batch.records[:most]
        if len(records) == 1:  # it may be huge
            self._output.write(records[0], self._end)
        elif records:
            self._output.write(self._end.join(records), self._end)


class Json(Printer):
    """A line of JSON for each record."""

    offsets = True

    def _print(self, block: FileBlockMetadata, batch: RecordBatch, most: int) -> None:
        place = {"path": block.file_path, "block": block.block_id}
        for record, offset in zip(batch.records[:most], batch.offsets, strict=False):
            line = json.dumps({**place, "offset": offset, **_value(record)})
            self._output.write(line.encode(), b"\n")


class Counting(Printer):
    """How many there are, alone or, as JSON, with other numbers."""

    records = False

    def __init__(self, output: Output, as_json: bool) -> None:
        super().__init__(output)
        self._as_json = as_json

    def _print(self, block: FileBlockMetadata, batch: RecordBatch, most: int) -> None:
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
