"""Model of a splitter: judge record by record whether it emits a valid plan of its files.

The acceptor gets the settings of the splitter, the versions of files, and the records in their
order, window by window. It predicts nothing: any order of files is correct.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from fscontract.contract.models.violation import Judge

NO_BLOCK = -1
_SEQUENCE = (1 << 32) - 1


class FileRecord(Protocol):
    """Metadata of a file, as a splitter emits it."""

    @property
    def file_path(self) -> str:
        """The path or URI."""

    @property
    def file_name(self) -> str:
        """The last element of the path."""

    @property
    def relative_path(self) -> str:
        """The path below the scanned directory, starting with the name of that directory."""

    @property
    def file_length(self) -> int:
        """Length of the file in bytes."""

    @property
    def is_directory(self) -> bool:
        """True for a directory."""

    @property
    def number_of_blocks(self) -> int:
        """The number of blocks that follow."""

    @property
    def block_size(self) -> int:
        """Size of a whole block in bytes."""

    @property
    def data_offset(self) -> int:
        """Offset of the first block in bytes."""

    @property
    def block_ids(self) -> Sequence[int]:
        """The ids of the blocks."""

    @property
    def etag(self) -> str | None:
        """The version of the file."""

    @property
    def modification_time(self) -> int | None:
        """Milliseconds since the Unix epoch."""


class BlockRecord(Protocol):
    """Metadata of a block, as a splitter emits it."""

    @property
    def block_id(self) -> int:
        """The id of the block."""

    @property
    def offset(self) -> int:
        """Offset of the first byte."""

    @property
    def length(self) -> int:
        """The exclusive END of the block, not its size."""

    @property
    def is_last_block(self) -> bool:
        """True for the last block of the file."""

    @property
    def previous_block_id(self) -> int:
        """The id of the preceding block."""

    @property
    def file_path(self) -> str:
        """The path or URI."""

    @property
    def file_length(self) -> int:
        """Length of the file in bytes."""

    @property
    def etag(self) -> str | None:
        """The version of the file."""

    @property
    def modification_time(self) -> int | None:
        """Milliseconds since the Unix epoch."""


Record: TypeAlias = FileRecord | BlockRecord


@dataclass(frozen=True)
class Version:
    """A version of a file as a listing reported it."""

    length: int
    is_directory: bool = False
    etag: str | None = None
    modification_time: int | None = None


@dataclass(frozen=True)
class Plan:
    """The settings of the splitter, and all versions of files by path."""

    block_size: int
    threshold: int
    operator_id: int = 0
    data_offset: int = 0
    versions: Mapping[str, Sequence[Version]] = field(default_factory=dict)


def is_block(record: Record) -> bool:
    """Return whether a record describes a block."""
    return hasattr(record, "block_id")


def blocks_of(length: int, size: int, offset: int) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each block of a file: a grid from byte 0, cut at `offset`."""
    start = offset
    while start < length:
        end = min((start // size + 1) * size, length)
        yield start, end
        start = end


def _is_version(file: FileRecord, version: Version) -> bool:
    """Return whether etag and time are those of a version; the time may be rounded."""
    late = abs((file.modification_time or 0) - (version.modification_time or 0))
    return file.etag == version.etag and late <= 1


class Acceptor(Judge):
    """Judge the records of one operator instance, or of several in succession."""

    #: Numbers, and everything from a path on.
    data = re.compile(r"\d+|\S*/.*")

    def __init__(self, plan: Plan) -> None:
        super().__init__()
        self.plan = plan
        self._used: dict[int, object] = {}
        self._count = 0
        self._file: FileRecord | None = None
        #: The offset and id of the preceding block of this file.
        self._last: tuple[int, int] | None = None
        self._index = 0
        self._files: list[FileRecord] = []

    @property
    def pending(self) -> bool:
        """True while blocks of the last file are still expected."""
        return self._file is not None and self._index < self._expected(self._file)

    def follow(self, old: Acceptor) -> None:
        """Continue after the instance that `old` judged, with its block ids.

        The id of the first block then shows which file is pending.
        """
        self._used, self._files = old._used, old._files

    def begin(self) -> None:
        """Start a window."""
        self._count = 0

    def see(self, record: FileRecord | BlockRecord) -> None:
        """Judge the next record."""
        if is_block(record):
            self._block(record)  # type: ignore[arg-type]
        else:
            self._metadata(record)  # type: ignore[arg-type]

    def finish(self) -> None:
        """Judge the end of the records: no blocks of the last file may be missing."""
        file = self._file
        if file is not None:
            count = self._expected(file)
            self.compare("split.cover", self._index, count, f"blocks of {file.file_path}")

    # files --------------------------------------------------------------------------------

    def _metadata(self, file: FileRecord) -> None:
        plan, path = self.plan, file.file_path
        waiting = self._expected(self._file) - self._index if self._file is not None else 0
        self.compare("split.pending-first", waiting, 0, f"blocks left when {path} begins")
        room = self._count < plan.threshold
        self.compare("split.file-start", room, True, f"room for a block when {path} begins")
        self._file, self._last, self._index = file, None, 0
        self._files.append(file)
        versions = plan.versions.get(path, ())
        self.compare("split.uri", bool(versions), True, f"{path} is the path of a file there")
        self.compare("split.file-metadata", file.file_name, path.rstrip("/").rpartition("/")[2])
        if versions:
            self._version(file, versions)
        self._counts(file)

    def _version(self, file: FileRecord, versions: Sequence[Version]) -> None:
        """Check that the record describes a known version of the file, by its time and etag."""
        same = [v for v in versions if _is_version(file, v)]
        alike = same or [v for v in versions if v.length == file.file_length] or [versions[-1]]
        newest = alike[-1]
        if newest.is_directory:  # no clause covers the time and etag of a directory
            self.compare("split.directory", (file.is_directory, file.file_length), (True, 0))
            return
        observed = (file.etag, file.modification_time)
        expected = observed if same else (newest.etag, newest.modification_time)
        self.compare("split.version-kept", observed, expected, f"etag and time of {file.file_path}")
        self.compare("split.file-metadata", file.is_directory, False)
        lengths = [v.length for v in alike if v.length == file.file_length] or [newest.length]
        self.compare("split.file-metadata", file.file_length, lengths[0], "bytes in the metadata")

    def _counts(self, file: FileRecord) -> None:
        plan = self.plan
        self.compare("split.block-size", file.block_size, plan.block_size, "bytes of a block")
        if not file.is_directory:
            self.compare("split.data-offset", file.data_offset, plan.data_offset, "the data offset")
        count, expected = file.number_of_blocks, self._expected(file)
        clause = "split.block-count"
        if file.is_directory:
            clause = "split.directory"
        elif not file.file_length:
            clause = "split.empty-file"
        self.compare(clause, count, expected, f"blocks announced of {file.file_path}")
        self.compare(
            "split.ids-listed", len(file.block_ids), expected, "ids listed in the metadata"
        )

    def _expected(self, file: FileRecord) -> int:
        """Return the number of blocks that must follow, by arithmetic alone."""
        plan = self.plan
        if file.is_directory or plan.data_offset >= file.file_length:
            return 0
        return -(-file.file_length // plan.block_size) - plan.data_offset // plan.block_size

    # blocks -------------------------------------------------------------------------------

    def _block(self, block: BlockRecord) -> None:
        self._count += 1
        allowed = min(self._count, self.plan.threshold)
        self.compare("split.threshold", self._count, allowed, "blocks of a window at most")
        if self._file is None:
            self._resume(block)
        file = self._file
        known = file is not None and file.file_path == block.file_path
        if file is None or (not known and not self.pending):
            self.compare("split.metadata-first", "a block", "the metadata of its file first")
            return
        self.exercised["split.metadata-first"] += 1
        if not self._follows(file):
            return
        self.compare("split.block-file", block.file_path, file.file_path)
        self.compare("split.block-file-length", block.file_length, file.file_length)
        observed, expected = ((r.etag, r.modification_time) for r in (block, file))
        self.compare("split.version-kept", observed, expected, "etag and time of a block")
        self._bounds(block, file)
        self._links(block, file)
        self._last = (block.offset, block.block_id)
        self._index += 1

    def _resume(self, block: BlockRecord) -> None:
        """Resume in the middle of a file: the file that has the block's id."""
        for file in self._files:
            ids = enumerate(file.block_ids) if file.file_path == block.file_path else ()
            index = next((n for n, block_id in ids if block_id == block.block_id), None)
            if index is not None:
                self._file, self._index = file, index
                if index:
                    start = max(self.plan.data_offset, self._start(index - 1))
                    self._last = (start, file.block_ids[index - 1])

    def _start(self, index: int) -> int:
        """Return the start of a block in the grid from byte 0."""
        return (self.plan.data_offset // self.plan.block_size + index) * self.plan.block_size

    def _follows(self, file: FileRecord) -> bool:
        """Return whether the file has another block."""
        count = self._expected(file)
        clause = "split.cover"
        if file.is_directory:
            clause = "split.directory"
        elif not file.file_length:
            clause = "split.empty-file"
        emitted = self._index + 1
        what = f"blocks emitted of {file.file_path}"
        self.compare(clause, emitted, min(emitted, count), what)
        return emitted <= count

    def _bounds(self, block: BlockRecord, file: FileRecord) -> None:
        plan, last = self.plan, self._last
        if last is None:
            clause = "split.data-offset" if plan.data_offset else "split.cover"
            start = plan.data_offset
            self.compare(clause, block.offset, start, "the offset of the first block")
        else:
            start, after = self._start(self._index), max(block.offset, last[0] + 1)
            self.compare("split.order", block.offset, after, "the least offset of the next block")
            if block.offset == after:
                self.compare("split.cover", block.offset, start, "the offset of a block")
        if 0 <= block.offset < file.file_length:  # a misplaced block may have its right size
            start = block.offset
        end = min((start // plan.block_size + 1) * plan.block_size, file.file_length)
        if start:
            counted = block.length == end - start
            self.compare("split.end-offset", counted, False, "length is the number of bytes")
        clause = "split.cover" if end == file.file_length else "split.block-size"
        if block.length != end - start:
            self.compare(clause, block.length, end, "the end of a block")

    def _links(self, block: BlockRecord, file: FileRecord) -> None:
        plan, last = self.plan, self._last
        final = self._index + 1 == self._expected(file)
        self.compare("split.last-flag", block.is_last_block, final, f"the last flag of {block!r}")
        if last is None:
            self.compare("split.first-unlinked", block.previous_block_id, NO_BLOCK)
        else:
            self.compare("split.linked", block.previous_block_id, last[1])
        self.compare(
            "split.ids-form", block.block_id >> 32, plan.operator_id, "the operator in an id"
        )
        position = (file.file_path, file.etag, file.modification_time, self._index)
        owner = self._used.setdefault(block.block_id, position)
        self.compare("split.ids-unique", owner, position, f"whose id {block.block_id} is")
        ids = file.block_ids
        listed = ids[self._index] if self._index < len(ids) else None
        self.compare("split.ids-listed", listed, block.block_id, "the id in the file's metadata")
