"""Drive a block reader over the blocks of files, and judge the records that it delivers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from fscontract.contract.models.blockreader import Block, Delivered, split_blocks
from fscontract.contract.pipeline_bindings import (
    BlockReaderBinding,
    CheckedReader,
    DeliveredRecord,
    ReaderSettings,
)
from fscontract.contract.scenarios.blockreader.instrumented_files import InstrumentedFiles
from fscontract.contract.scenarios.scenario import Harness

PATH = "/file"


@dataclass
class ManualClock:
    """A clock that a scenario sets."""

    now: float = 1000.0

    def __call__(self) -> float:
        """Return the time in seconds."""
        return self.now


class ReaderHarness(Harness):
    """Files, and readers of their blocks."""

    longest_repr = 300

    def __init__(self, binding: BlockReaderBinding, clause: str = "") -> None:
        super().__init__(clause)
        self.binding = binding
        self.fs = InstrumentedFiles({})

    def file(self, data: bytes, path: str = PATH) -> ReaderHarness:
        """Add a file."""
        self.fs.files[path] = data
        return self

    def reader(self, **settings: Any) -> CheckedReader:
        """Return a reader with these settings."""
        return self.binding.reader(self.fs, ReaderSettings(**settings))

    def blocks(self, size: int, path: str = PATH, first_id: int = 1) -> list[Block]:
        """Return the blocks of a file."""
        length = self.fs.get_file_status(path).length
        return split_blocks(length, size, 0, path, first_id)

    def read(self, reader: CheckedReader, *blocks: Block) -> list[Delivered]:
        """Return the records of blocks."""
        return [
            Delivered(record.block_id, record.offset, record.record)
            for block in blocks
            for record in self.records(reader, block)
        ]

    def records(self, reader: CheckedReader, block: Block) -> Iterator[DeliveredRecord]:
        """Yield the records of a block; it is a violation if they exceed the bytes of the files."""
        limit = 50 + sum(len(data) for data in self.fs.files.values())
        for count, record in enumerate(reader.process(block)):
            if count >= limit:
                self.fail(f"at most {limit} records", "records without end")
            yield record

    def expect_error(
        self, call: Callable[[], object], *kinds: type[BaseException]
    ) -> BaseException:
        """Judge the clause by whether a call raises one of these exceptions; return it."""
        self.judged()
        try:
            result = call()
        except kinds as error:
            return error
        return self.fail("an exception", f"{result!r:.300}")
