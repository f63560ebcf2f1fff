"""Where a scenario is played: a stage, a reader over it, and what it delivered so far."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any

from fscontract.contract.models.records import (
    Block,
    Broken,
    Layout,
    Seen,
    judge,
    split_blocks,
)
from fscontract.contract.readerport import (
    BlockReaderBinding,
    CheckedReader,
    DeliveredRecord,
    ReaderSettings,
)
from fscontract.contract.suite.blockreader.stage import Stage
from fscontract.contract.suite.guard import said_by

PATH = "/file"


@dataclass(frozen=True)
class Case:
    """A file that is read in blocks of each of the `sizes`; what is odd breaks `clause`.

    An empty clause leaves it to the model to say what is broken. `strides` gives the blocks not in
    order, but every so many-th, and so on.
    """

    clause: str
    layout: Layout
    sizes: Sequence[int] = (1, 2, 3, 4, 5, 7, 1000)
    shorts: Sequence[int] = ()
    buffer: int | None = None
    overflow: int | None = None
    strides: int = 1


class Violated(Exception):
    """What a reader did is not what a clause wants."""

    def __init__(self, clause: str, expected: str, actual: str) -> None:
        super().__init__(f"{clause}: expected {expected}, not {actual}")
        self.broken = Broken(clause, expected, actual)


@dataclass
class Clock:
    """A time that passes when it is told to."""

    now: float = 1000.0

    def __call__(self) -> float:
        """Seconds."""
        return self.now


@dataclass
class Bench:
    """One reader on one stage, for a scenario of one clause."""

    binding: BlockReaderBinding
    clause: str
    stage: Stage = field(default_factory=lambda: Stage({}))

    def file(self, data: bytes, path: str = PATH) -> Bench:
        """Put a file on the stage."""
        self.stage.files[path] = data
        return self

    def reader(self, **settings: Any) -> CheckedReader:
        """A reader with these settings."""
        return self.binding.reader(self.stage, ReaderSettings(**settings))

    def blocks(self, size: int, path: str = PATH, first_id: int = 1) -> list[Block]:
        """The blocks of a file of the stage."""
        length = self.stage.get_file_status(path).length
        return split_blocks(length, size, 0, path, first_id)

    def read(self, reader: CheckedReader, *blocks: Block) -> list[Seen]:
        """The records of blocks; Violated if they never end."""
        found = []
        for block in blocks:
            for record in self.records(reader, block):
                found.append(Seen(record.block_id, record.offset, record.record))
        return found

    def records(self, reader: CheckedReader, block: Block) -> Iterator[DeliveredRecord]:
        """The records of a block one by one; Violated if there are more than the file has bytes."""
        most = 50 + sum(len(data) for data in self.stage.files.values())
        return _bounded(reader.process(block), most, self.clause)

    def want(self, actual: object, expected: object, what: str = "") -> None:
        """Violated unless both are equal."""
        if actual != expected:
            head = f"{what}: " if what else ""
            raise Violated(self.clause, f"{head}{expected!r:.300}", f"{actual!r:.300}")

    def failure(self, act: Callable[[], object], *kinds: type[BaseException]) -> BaseException:
        """The exception of one of these kinds that a call raises; Violated if it does not."""
        try:
            result = act()
        except kinds as error:
            return error
        raise Violated(self.clause, "an exception", f"{result!r:.300}")


def run_case(binding: BlockReaderBinding, case: Case) -> Broken | None:
    """What is odd about a file that is read in blocks of one of the sizes."""
    layout = case.layout
    for size in case.sizes:
        blocks = split_blocks(len(layout.data), size, layout.data_offset)
        if case.strides > 1:
            blocks = [b for i in range(case.strides) for b in blocks[i :: case.strides]]
        broken = _run_blocks(binding, case, blocks)
        if broken is not None:
            place = f"{layout.data!r:.120} in blocks of {size}"
            clause = case.clause or broken.clause
            return replace_clause(broken, clause, f"{place}: {broken.expected}")
    return None


def replace_clause(broken: Broken, clause: str, expected: str) -> Broken:
    """The same finding, charged to a clause."""
    return broken._replace(clause=clause, expected=expected)


def _run_blocks(binding: BlockReaderBinding, case: Case, blocks: Sequence[Block]) -> Broken | None:
    layout, clause = case.layout, case.clause or "rec.none-twice"
    bench = Bench(binding, clause).file(layout.data)
    bench.stage.shorts = case.shorts
    try:
        with closing(_reader_of(bench, case)) as reader:
            seen = bench.read(reader, *blocks)
    except Violated as found:
        return found.broken
    except BaseException as error:  # whatever it raises: there was no reason to
        return Broken(case.clause or "rec.none-lost", "records", said_by(error))
    return judge(layout, blocks, seen)


def _reader_of(bench: Bench, case: Case) -> CheckedReader:
    layout = case.layout
    return bench.reader(
        context=layout.context,
        delimiter=layout.delimiter,
        length=layout.length or None,
        max_length=layout.limit,
        on_too_long=("skip" if layout.skips else "truncate") if layout.limit is not None else None,
        drop_blank=layout.drop_blank,
        data_offset=layout.data_offset,
        buffer_size=case.buffer,
        overflow_buffer_size=case.overflow,
    )


def _bounded(
    records: Iterable[DeliveredRecord], most: int, clause: str
) -> Iterator[DeliveredRecord]:
    for count, record in enumerate(records):
        if count >= most:
            raise Violated(clause, f"at most {most} records", "records without end")
        yield record


def in_context(layout: Layout, context: str) -> Layout:
    """The same file, read in another context."""
    return replace(layout, context=context)
