"""Reader of one file group: merges its logs once, and looks up keys in logs and base file."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from functools import partial

from fscontract.contract.api.filesystem import FileSystem
from fscontract.pipeline.hudi.column_stats import (
    MARK,
    VERSION,
    ColumnChunk,
    block_prefix,
    can_pack,
    chunks,
    column_prefix,
    unpack,
)
from fscontract.pipeline.hudi.file_slices import FileSlice, read_log_file
from fscontract.pipeline.hudi.hfile.blocks import MAX_BLOCK_BYTES
from fscontract.pipeline.hudi.hfile.reader import HFileReader
from fscontract.pipeline.hudi.io import CorruptFileException, FileRegion, in_threads, open_stream
from fscontract.pipeline.hudi.log import DELETE, INSTANT, Log, LogBlock, records_of, rolled_back
from fscontract.pipeline.hudi.log_records import deletions_in
from fscontract.pipeline.hudi.metrics import SCAN, Metrics
from fscontract.pipeline.hudi.record_codec import decoder, sizes_decoder
from fscontract.pipeline.hudi.records import (
    ColumnStatistics,
    Deleted,
    FilesRecord,
    Record,
    merge,
    sizes_of,
    without_tombstones,
)


class FileGroupReader:
    """Records of a slice from instants for which `counts` is true; opens no file yet.

    The logs are read once and held in merged form. Tombstones are dropped, unless a base file
    exists, which contains none.
    """

    def __init__(
        self,
        fs: FileSystem,
        slice_: FileSlice,
        counts: Callable[[str], bool],
        metrics: Metrics | None = None,
        max_block_bytes: int = MAX_BLOCK_BYTES,
    ) -> None:
        self._fs = fs
        self._max_block_bytes = max_block_bytes
        self._metrics = metrics or Metrics()
        self._slice = slice_
        self._counts = counts
        self._open = ExitStack()
        self._base: HFileReader | None = None
        self._decode: Callable[[bytes, bytes], Record | None] | None = None
        self._merged: dict[bytes, Record] | None = None

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._slice.group!r}, {self._slice.base_instant!r})"

    @property
    def name(self) -> str:
        """Name of the file group."""
        return self._slice.group

    def close(self) -> None:
        """Close the base file."""
        self._open.close()
        self._base = None

    def get_many(self, keys: Iterable[str]) -> dict[str, Record]:
        """Return the records of existing keys, with one vectored read of the base file."""
        encoded = {key.encode() for key in keys}
        changes = self._changes()
        base = self._reader()
        values = base.get_many(encoded) if base is not None else {}
        merged = (self._merged_record(key, values.get(key), changes) for key in encoded)
        return {record.key: record for record in merged if record is not None}

    def scan(self, prefix: str = "") -> Iterator[Record]:
        """Yield the records whose key begins with `prefix`, in order; holds a batch of blocks."""
        changes = self._changes()
        for key, value in self._stored(prefix.encode()):
            record = self._merged_record(key, value, changes)
            if record is not None:
                yield record

    def sizes(self) -> Iterator[tuple[str, Mapping[str, int]]]:
        """Yield the key of each record of files, in order, and the sizes in bytes by file name.

        The files are those of `scan`, read faster if no log changes the record.
        """
        changes = self._changes()
        base = self._reader()
        plain = sizes_decoder(None if base is None else base.info.get(b"schema"))
        for key, value in self._stored(b""):
            sizes = None if value is None or key in changes else plain(value)
            if sizes:
                yield key.decode(), sizes
                continue
            record = self._merged_record(key, value, changes)
            if isinstance(record, FilesRecord):
                yield record.key, sizes_of(record)

    def _stored(self, start: bytes) -> Iterator[tuple[bytes, bytes | None]]:
        """Yield the keys in base and logs that begin with `start`, in order.

        With each comes its value in the base; None if it has none.
        """
        pending = sorted((key for key in self._changes() if key.startswith(start)), reverse=True)
        base = self._reader()
        for key, value in base.scan(start) if base is not None else ():
            while pending and pending[-1] <= key:
                if (new := pending.pop()) != key:
                    yield new, None
            yield key, value
        while pending:
            yield pending.pop(), None

    def chunks(self, column: str) -> Iterator[ColumnChunk]:
        """Yield a column's statistics; a later chunk replaces earlier rows of the same file.

        A base file with columnar statistics is read in that form, unless a log has a partial update
        of a base record, or deletes a whole record.
        """
        prefix = column_prefix(column)
        changes = [
            record for key, record in self._changes().items() if key.startswith(prefix.encode())
        ]
        replaced = all(
            isinstance(change, ColumnStatistics) and change.replaces for change in changes
        )
        reader = self._reader()
        if replaced and reader is not None and reader.info.get(MARK) == VERSION and can_pack():
            bound = self._max_block_bytes
            yield from reader.metas(block_prefix(column), lambda data: unpack(data, bound))
            yield from chunks(_of_column(changes, column))
        else:
            yield from chunks(_of_column(self.scan(prefix), column))

    def _merged_record(
        self, key: bytes, value: bytes | None, changes: dict[bytes, Record]
    ) -> Record | None:
        """Return the merged record of base and logs for a key."""
        record = self._decoded(key, value) if value is not None else None
        change = changes.get(key)
        if change is not None:
            record = change if record is None else self.merge(record, change)
        return None if record is None else without_tombstones(record)

    def _reader(self) -> HFileReader | None:
        base = self._slice.base
        if self._base is None and base is not None:
            stream = self._open.enter_context(open_stream(self._fs, base))
            source = FileRegion(stream, base.path, base.length)
            self._base = HFileReader(source, max_block_bytes=self._max_block_bytes)
        return self._base

    def _decoded(self, key: bytes, value: bytes) -> Record | None:
        base, reader = self._slice.base, self._reader()
        if base is None or reader is None:
            return None
        try:
            if self._decode is None:
                self._decode = decoder(reader.info.get(b"schema"))
            return self._decode(key, value)
        except ValueError as error:
            raise CorruptFileException(base.path, 0, str(error)) from error

    def _changes(self) -> dict[bytes, Record]:
        """Return the merged log records by key."""
        if self._merged is None:
            merged: dict[bytes, Record] = {}
            with self._metrics.timed(SCAN):
                for log, block in self._blocks():
                    for key, record in _records(log, block, self._max_block_bytes):
                        self._put(merged, key, record)
            self._merged = merged
        return self._merged

    def add(self, records: Iterable[Record]) -> None:
        """Merge records that are newer than the logs."""
        changes = self._changes()
        for record in records:
            self._put(changes, record.key.encode(), record)

    @staticmethod
    def merge(older: Record, newer: Record) -> Record:
        """Return the merge of two records of one key."""
        return merge(older, newer)

    def _put(self, merged: dict[bytes, Record], key: bytes, record: Record) -> None:
        merged[key] = self.merge(merged[key], record) if key in merged else record

    def _blocks(self) -> list[tuple[Log, LogBlock]]:
        """Return the valid blocks in order, without those that a later one rolls back."""
        files = [file for file in self._slice.logs if self._counts(file.name.instant)]
        if not files:
            return []
        logs = in_threads(partial(read_log_file, self._fs), files)
        blocks: list[tuple[Log, LogBlock]] = []
        complete: set[str] = set()
        for file, log in zip(files, logs, strict=True):
            for block in log.blocks:
                target = rolled_back(log, block)
                if target is not None:
                    blocks = [entry for entry in blocks if entry[1].header.get(INSTANT) != target]
                    continue
                if block.header.get(INSTANT) != file.name.instant:
                    raise CorruptFileException(
                        log.path, block.offset, "log block of another instant"
                    )
                complete.add(file.name.instant)
                blocks.append((log, block))
        for file, log in zip(files, logs, strict=True):
            if file.name.instant not in complete and not log.blocks:
                raise log.torn or CorruptFileException(log.path, 0, "log without blocks")
        return blocks


def _of_column(records: Iterable[Record], column: str) -> Iterator[ColumnStatistics]:
    """Yield the records of this column, without those of columns with the same hash."""
    for record in records:
        if isinstance(record, ColumnStatistics) and record.column == column:
            yield record


def _records(log: Log, block: LogBlock, max_bytes: int) -> Iterator[tuple[bytes, Record]]:
    try:
        if block.type == DELETE:
            for deletion in deletions_in(block.content):
                yield deletion.key.encode(), Deleted(deletion.key)
            return
        schema, entries = records_of(log, block, max_bytes)
        decode = decoder(schema)
        for key, value in entries:
            record = decode(key, value)
            if record is not None:
                yield key, record
    except (ValueError, struct.error) as error:
        raise CorruptFileException(log.path, block.offset, str(error)) from error
