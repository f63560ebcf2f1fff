"""Checks of the records that blocks return under faults."""

from __future__ import annotations

import gzip
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from fscontract.contract.api.filesystem import FileSystem
from fscontract.contract.binding import Injector
from fscontract.contract.program.content import replacement
from fscontract.contract.program.faults import FaultPlan
from fscontract.fakes.faulty_local import FaultyLocalFileSystem
from fscontract.fakes.filesystem.filesystem import FakeFileSystem
from fscontract.implementations.memory import MemoryFileSystem
from fscontract.pipeline.blockreader.contexts import FileReaderContext, FixedBytesReaderContext
from fscontract.pipeline.blockreader.lines import LineReaderContext, ReadAheadLineReaderContext
from fscontract.pipeline.blockreader.readers import FSBlockReader, as_bytes, blocks_of
from fscontract.pipeline.blockreader.source import BlockReadException
from fscontract.pipeline.blocks import FileBlockMetadata

_CHANCE = random.Random(8)
#: Lines that no codec compresses well.
DATA = b"".join(
    b"%04d:%s;\r\n" % (i, bytes(_CHANCE.choices(range(60, 127), k=i * 37 % 2000)))
    for i in range(400)
)
#: Bytes read at once: as many as streams buffer, so that each read of the context is a request.
_BUFFER = 1 << 16
#: A record with its block, and its offset in the file.
Record: TypeAlias = tuple[int, int, bytes]
Blocks: TypeAlias = Sequence[FileBlockMetadata]
MakeReader: TypeAlias = Callable[[FileSystem, FileReaderContext], FSBlockReader[bytes]]


@dataclass(frozen=True)
class Case:
    """A context, a file for it, and the block size."""

    name: str
    context: Callable[[], FileReaderContext]
    path: str = "/f"
    data: bytes = field(default=DATA, repr=False)
    block_size: int = 150_000
    #: Read the last block first, so that each block needs a separate stream.
    backwards: bool = False

    def blocks(self, fs: FileSystem) -> Blocks:
        """Return the blocks in reading order."""
        found = list(blocks_of(fs.get_file_status(self.path), self.block_size))
        return found[::-1] if self.backwards else found

    @cache  # noqa: B019 - there are few objects
    def wanted(self) -> tuple[Record, ...]:
        """Return the records without faults."""
        fs = MemoryFileSystem()
        with fs.create(self.path) as file:
            file.write(self.data)
        with reader_of(fs, self.context()) as reader:
            return tuple(
                (block.block_id, r.offset, r.record)
                for block in self.blocks(fs)
                for r in reader.process_block(block)
            )


def reader_of(fs: FileSystem, context: FileReaderContext) -> FSBlockReader[bytes]:
    """Return the reader under test."""
    return FSBlockReader(fs, context, as_bytes)


def _read_ahead(**options: Any) -> Callable[[], FileReaderContext]:
    return lambda: ReadAheadLineReaderContext(
        buffer_size=_BUFFER, overflow_buffer_size=4096, **options
    )


def _fixed(length: int, aligned: bool) -> Callable[[], FileReaderContext]:
    return lambda: FixedBytesReaderContext(length, aligned=aligned, buffer_size=_BUFFER)


CASES = (
    Case("read-ahead", _read_ahead()),
    Case("read-ahead-backwards", _read_ahead(), backwards=True),
    Case("delimiter", _read_ahead(delimiter=b";\r\n")),
    Case("lines", lambda: LineReaderContext(buffer_size=_BUFFER)),
    Case("slices", _fixed(30_000, False)),
    Case("fixed-width", _fixed(25_000, True), backwards=True),
    Case("gzip", _read_ahead(), "/f.gz", gzip.compress(DATA, mtime=0), 1 << 20),
)


class Place:
    """A store for the files, with fault injection."""

    #: Faults that change or delete the file.
    spoiling = frozenset({"change", "cut", "delete", "corrupt", "revoke"})
    #: True if a stream returns new bytes of a file changed during the read.
    shows_changes = False
    fs: FileSystem
    injector: Injector

    def put(self, case: Case) -> None:
        """Restore the file."""
        with self.fs.create(case.path) as file:
            file.write(case.data)


class FakePlace(Place):
    """The fake filesystem, with one retry."""

    def put(self, case: Case) -> None:
        """Create a new filesystem, because replicas of the last one may be damaged."""
        fs = FakeFileSystem(block_size=100_000, retries=1, deadline=5.0)
        fs.write(case.path, case.data)
        self.fs, self.injector = fs, fs.injector


class LocalPlace(Place):
    """A local directory, without retries."""

    spoiling = frozenset({"change", "cut", "delete"})
    shows_changes = True

    def __init__(self, root: Path) -> None:
        fs = FaultyLocalFileSystem(str(root))
        self.fs, self.injector = fs, fs.injector


class S3Place(Place):
    """A bucket behind a proxy, with one retry. Faults of the proxy do not change the file."""

    spoiling = frozenset[str]()

    def __init__(self, fs: FileSystem, injector: Injector) -> None:
        self.fs, self.injector = fs, injector
        self._there: set[str] = set()

    def put(self, case: Case) -> None:
        """Write the file once, because nothing changes it."""
        if case.path not in self._there:
            super().put(case)
            self._there.add(case.path)


def violation(place: Place, case: Case, plan: FaultPlan, make: MakeReader = reader_of) -> str:
    """Return the error in the records of the blocks under the plan, or in the failure; else "".

    Either all records are returned, or those of the blocks before a named block, and possibly the
    first of that one. A second read without faults returns the rest.
    """
    place.put(case)
    blocks, wanted = case.blocks(place.fs), case.wanted()
    found: list[Record] = []
    with make(place.fs, case.context()) as reader:
        with place.injector.attached(plan):
            failed = _read(reader, blocks, found)
        if place.shows_changes and "change" in plan.kinds:
            return _mixed(found, case)
        if failed is None:
            return _compared(found, wanted)
        at, error = failed
        return (
            _misnamed(error, blocks[at])
            or _not_before(found, wanted, blocks[at])
            or _not_resumed(reader, blocks[at:], wanted, bool(plan.kinds & place.spoiling))
        )


def _read(
    reader: FSBlockReader[bytes], blocks: Blocks, found: list[Record]
) -> tuple[int, Exception] | None:
    """Read blocks until one fails; return its index and the error."""
    for at, block in enumerate(blocks):
        try:
            for r in reader.process_block(block):
                found.append((r.block_id, r.offset, r.record))
        except Exception as error:
            return at, error
    return None


def _compared(found: Sequence[Record], wanted: Sequence[Record]) -> str:
    if list(found) == list(wanted):
        return ""
    twice = [r for r in found if found.count(r) > 1][:1]
    lost = [r for r in wanted if r not in found][:1]
    other = [r for r in found if r not in wanted][:1]
    shown = [[(record[0], record[1], record[2][:20]) for record in x] for x in (lost, twice, other)]
    return "{} records, not {}; lost {}, twice {}, wrong {}".format(len(found), len(wanted), *shown)


def _misnamed(error: Exception, block: FileBlockMetadata) -> str:
    if not isinstance(error, BlockReadException):
        return f"{type(error).__name__} is not a BlockReadException: {error}"
    place = f"block {block.block_id} at offset {error.offset}"
    named = (error.path, error.block_id) == (block.file_path, block.block_id)
    said = place in str(error) and repr(block.file_path) in str(error)
    inside = block.offset <= error.offset <= len(DATA)
    return (
        "" if named and said and inside else f"{place} of {block.file_path} is not named: {error}"
    )


def _not_before(found: Sequence[Record], wanted: Sequence[Record], block: FileBlockMetadata) -> str:
    """Return an error if the records are not those before the block and its first ones."""
    ids = [record[0] for record in wanted]
    before = ids.index(block.block_id) if block.block_id in ids else len(found)
    upto = before + ids.count(block.block_id)
    if before <= len(found) <= upto:
        return _compared(found, wanted[: len(found)])
    return f"{len(found)} records before block {block.block_id} failed, not {before} to {upto}"


def _not_resumed(
    reader: FSBlockReader[bytes], blocks: Blocks, wanted: Sequence[Record], spoilt: bool
) -> str:
    if spoilt:
        return ""
    ids = {block.block_id for block in blocks}
    again: list[Record] = []
    failed = _read(reader, blocks, again)
    rest = [record for record in wanted if record[0] in ids]
    return f"still failing: {failed[1]}" if failed else _compared(again, rest)


def _mixed(found: Sequence[Record], case: Case) -> str:
    """Check a local file that was changed in place, which can't be detected.

    All bytes must come from either version. For a compressed file, the records must be correct up
    to the point where it can't be decompressed.
    """
    if case.data is not DATA:
        return _compared(found, case.wanted()[: len(found)])
    old, new = case.data, replacement(case.data)
    for _, offset, record in found:
        both = (old[offset : offset + len(record)], new[offset : offset + len(record)])
        if record not in both and any(
            byte not in pair for byte, *pair in zip(record, *both, strict=True)
        ):
            return f"bytes of the record at {offset} are from elsewhere"
    return ""
