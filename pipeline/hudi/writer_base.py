"""Base class of metadata-table writers: files, instants, and the lock."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from importlib import import_module
from typing import ClassVar

from fscontract.contract.api.filesystem import FileSystem
from fscontract.pipeline.hudi.changes import below
from fscontract.pipeline.hudi.column_stats import MARK, VERSION, Packer, can_pack
from fscontract.pipeline.hudi.commit_metadata import WrittenFile
from fscontract.pipeline.hudi.file_group import FileGroupReader
from fscontract.pipeline.hudi.file_slices import FileSlice, check_slices, latest_slices, visible
from fscontract.pipeline.hudi.hfile.blocks import MAX_BLOCK_BYTES
from fscontract.pipeline.hudi.hfile.writer import write_hfile
from fscontract.pipeline.hudi.io import (
    LockedException,
    MetadataException,
    RolledBackException,
    create_file,
    list_files,
    remove_abandoned,
    write_file,
)
from fscontract.pipeline.hudi.locks import LockProvider
from fscontract.pipeline.hudi.log import data_block, encode_log
from fscontract.pipeline.hudi.log_records import delete_block
from fscontract.pipeline.hudi.metrics import Metrics
from fscontract.pipeline.hudi.record_codec import encode_record
from fscontract.pipeline.hudi.records import ColumnStatistics, Deleted, Record
from fscontract.pipeline.hudi.schema import TYPED_JSON, UNTYPED_JSON
from fscontract.pipeline.hudi.table_location import (
    KEPT,
    PARTITIONS,
    is_typed,
    location_of,
    version_of,
)
from fscontract.pipeline.hudi.timeline import (
    COLUMN_STATS,
    FILE_GROUPS,
    FILES,
    FIRST_INSTANT,
    HOODIE,
    BaseName,
    Clock,
    LogName,
    Timeline,
    TimelineWriter,
    utc_now,
)

#: Modules of the extra `metadata` that a writer needs: if one is missing, nothing is written.
_NEEDED = ("fastavro", "google_crc32c", "xxhash")


@dataclass(frozen=True)
class Services:
    """Settings of compaction, cleaning and archiving, which run before a commit is applied.

    Numbers of deltacommits between compactions, of slices kept per file group, and of instants kept
    on the timelines.
    """

    compact_after: int = 10
    keep_slices: int = 2
    keep_instants: int = 30


class TableWriterBase:
    """Files and instants of a dataset's metadata table, for writers."""

    group_class: ClassVar[type[FileGroupReader]] = FileGroupReader

    def __init__(
        self,
        fs: FileSystem,
        path: str,
        clock: Clock = utc_now,
        *,
        directory: str | None = None,
        lock: LockProvider | None = None,
        hold: bool = False,
        design: int = 2,
        services: Services | None = None,
        patience: timedelta = timedelta(0),
        metrics: Metrics | None = None,
        max_block_bytes: int = MAX_BLOCK_BYTES,
    ) -> None:
        for module in _NEEDED:
            import_module(module)
        self.location = location_of(path, directory)
        self.path = self.location.path
        self.metrics = metrics or Metrics()
        self._fs = fs
        self._max_block_bytes = max_block_bytes
        self._metadata = self.location.metadata
        self._data_instants = TimelineWriter(fs, self.path, clock)
        self._instants = TimelineWriter(fs, self._metadata, clock)
        self._clock = clock
        self._lock = lock
        self._hold = hold
        self._depth = 0
        self._has_lock = False
        self._known: dict[str, str] | None = None
        self._design = design
        self._services = services
        self._patience = patience
        self._mine: set[str] = set()
        #: The times of the actions that completed rollbacks reverted, by that of the rollback.
        self._rolled_back: dict[str, tuple[str, ...]] = {}
        #: Record keys of file slices that were read for the next action to be applied.
        self._keys: dict[FileSlice, frozenset[str]] = {}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.path!r})"

    def close(self) -> None:
        """Release the lock, if it is held permanently."""
        if self._lock is not None and self._has_lock:
            self._has_lock = False
            self._lock.release()

    def timelines(self) -> tuple[Timeline, Timeline]:
        """Return the timelines of the dataset and of its metadata table."""
        if not self._depth:
            self._refresh()
        self._data_instants.layout = self._layout()
        return self._data_instants.timeline(), self._instants.timeline()

    def _layout(self) -> int:
        """Return the layout of the dataset's timeline."""
        return 1 if version_of(self.path, self._of_dataset()) < KEPT[0] else 2

    def _of_dataset(self) -> dict[str, str]:
        """Return the properties of the dataset, also for a table outside it."""
        own = location_of(self.path)
        inside = own.marker == self.location.marker
        return self._properties() if inside else own.properties(self._fs)

    @contextmanager
    def _critical(self) -> Iterator[None]:
        """Return a context with the table locked; timelines are read once, and kept in the context.

        A permanent lock is released by `close`. A failure after the lock was lost becomes a
        LockedException: another writer may have removed what was read.
        """
        if self._depth == 0:
            self._lock_up()
            self._refresh()
        self._depth += 1
        try:
            yield
        except OSError as error:
            is_known = isinstance(error, LockedException | RolledBackException)
            if self._depth == 1 and self._has_lock and not is_known:
                self._check_lock()
            raise
        finally:
            self._depth -= 1
            if self._depth == 0:
                self._refresh()
                if not self._hold:
                    self.close()

    def _lock_up(self) -> None:
        if self._lock is None:
            return
        if self._has_lock:
            self._check_lock()
        else:
            self._lock.acquire()
            self._has_lock = True

    def _check_lock(self) -> None:
        """Raise LockedException if the lock was lost; the last step before committing a change."""
        if self._lock is not None:
            try:
                self._lock.check()
            except LockedException:
                self._has_lock = False
                raise

    def _sweep(self, *more: str) -> None:
        """Delete temporary files of killed writers, which listings omit."""
        own = f"{self.path}/{HOODIE}"
        inside = self._metadata.startswith(f"{own}/")
        for directory in (own, *([] if inside else [self._metadata]), *more):
            remove_abandoned(self._fs, directory)

    def _refresh(self) -> None:
        self._data_instants.refresh()
        self._instants.refresh()
        self._known = None

    def _latest(self) -> str:
        return max(timeline.latest for timeline in self.timelines())

    def _properties(self) -> dict[str, str]:
        if self._known is None or not self._depth:
            self._known = self.location.properties(self._fs)
        return dict(self._known)

    def _slices(self, partition: str, metadata: Timeline) -> list[FileSlice]:
        if partition not in FILE_GROUPS:
            raise MetadataException(self._metadata, f"not a writable partition: {partition!r}")
        slices = latest_slices(list_files(self._fs, f"{self._metadata}/{partition}"), metadata)
        groups = [file_slice.group for file_slice in slices]
        if groups[:1] != [FILE_GROUPS[partition]] or (partition == FILES and len(groups) > 1):
            raise MetadataException(self._metadata, f"unexpected file groups in {partition!r}")
        where = (self._fs, self._metadata, partition)
        check_slices(*where, slices, metadata, self.timelines()[0])
        return slices

    def _partitions(self) -> list[str]:
        """Return the partitions of the table; raise MetadataException if it does not exist."""
        names = self._properties().get(PARTITIONS, "")
        if not names:
            raise MetadataException(self.path, "the dataset has no metadata table")
        return names.split(",")

    def _write_base(
        self, partition: str, group: str, instant: str, records: Iterable[Record]
    ) -> WrittenFile:
        name = str(BaseName(group, instant))
        path = f"{self._metadata}/{partition}/{name}"
        self._mark(partition)
        live: Iterator[Record] = (
            record
            for record in records
            if not (isinstance(record, ColumnStatistics) and record.is_deleted)
        )
        typed, packer = is_typed(self._properties()), Packer()
        info = {b"schema": _schema(typed).encode()}
        if partition == COLUMN_STATS and can_pack():
            live, info = packer.passing(live), {**info, MARK: VERSION}
        entries = ((record.key.encode(), encode_record(record, typed)) for record in live)
        with create_file(self._fs, path) as file:
            bound = self._max_block_bytes
            size = write_hfile(file, entries, info=info, metas=packer.blocks, max_block_bytes=bound)
        return WrittenFile(partition, group, below(partition, name), size)

    def _write_log(
        self, partition: str, group: str, instant: str, records: list[Record]
    ) -> WrittenFile:
        name = str(LogName(group, instant))
        typed = is_typed(self._properties())
        schema, bound = _schema(typed), self._max_block_bytes
        gone = [record.key for record in records if isinstance(record, Deleted)]
        entries = [
            (record.key.encode(), encode_record(record, typed))
            for record in records
            if not isinstance(record, Deleted)
        ]
        blocks = [
            data_block(instant, schema, part, max_block_bytes=bound)
            for part in (_parts(entries, bound // 2) if entries or not gone else ())
        ]
        if gone:
            blocks.append(delete_block(instant, schema, partition, gone))
        content = encode_log(blocks)
        write_file(self._fs, f"{self._metadata}/{partition}/{name}", content, replace=True)
        counts = len(entries), len(gone)
        return WrittenFile(partition, group, below(partition, name), len(content), *counts)

    def _mark(self, partition: str) -> None:
        text = f"#partition metadata\ncommitTime={FIRST_INSTANT}\npartitionDepth=1\n"
        path = f"{self._metadata}/{partition}/.hoodie_partition_metadata"
        write_file(self._fs, path, text.encode(), replace=True)

    def _counts(self, instant: str, data: Timeline) -> bool:
        """Return True if an instant's data must be part of a compaction."""
        return visible(instant, data)


def _schema(typed: bool) -> str:
    return TYPED_JSON if typed else UNTYPED_JSON


def _parts(
    entries: Iterable[tuple[bytes, bytes]], size: int
) -> Iterator[list[tuple[bytes, bytes]]]:
    """Yield entries in lists of about `size` bytes, at least one list."""
    part: list[tuple[bytes, bytes]] = []
    room = size
    for key, value in entries:
        part.append((key, value))
        room -= len(key) + len(value)
        if room < 0:
            yield part
            part, room = [], size
    if part or room == size:
        yield part
