"""Binding of the metadata tables to the scenarios of their contract."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import datetime, timedelta, timezone
from importlib.util import find_spec
from typing import Any, ClassVar, TypeVar

from fscontract.contract.api.errors import UnsupportedOperationException
from fscontract.contract.api.filesystem import FileStatus, FileSystem
from fscontract.contract.binding import TargetError
from fscontract.contract.pipeline_bindings import (
    DATASET,
    CheckedListing,
    CheckedTableReader,
    CheckedWriter,
    MetadataTableBinding,
    Statistics,
    TableChange,
    TableSettings,
)
from fscontract.implementations.memory import MemoryFileSystem
from fscontract.implementations.targets import check_options
from fscontract.pipeline.hudi.changes import Change, Sizes
from fscontract.pipeline.hudi.io import MetadataWarning
from fscontract.pipeline.hudi.listing import FileListing
from fscontract.pipeline.hudi.locks import LOCKS, FileLock
from fscontract.pipeline.hudi.parquet_stats import Statistics as StatisticsByFile
from fscontract.pipeline.hudi.pruning import Filter
from fscontract.pipeline.hudi.records import ColumnStatistics
from fscontract.pipeline.hudi.slice_merge import KEY
from fscontract.pipeline.hudi.table import MetadataTable
from fscontract.pipeline.hudi.table_location import (
    SCHEMA,
    location_of,
    read_properties,
    write_properties,
)
from fscontract.pipeline.hudi.timeline import (
    COLUMN_STATS,
    INFLIGHT,
    RECORD_INDEX,
    Instant,
    load_timeline,
)
from fscontract.pipeline.hudi.writer import MetadataWriter, Services

#: Wrappers of the values in scenarios.
_WRAPPERS = {int: "LongWrapper", float: "DoubleWrapper", str: "StringWrapper"}
_T = TypeVar("_T")
_START = datetime(2026, 1, 1, tzinfo=timezone.utc)
#: File groups and the schema of rows in scenarios.
_GROUP = "{:08x}-0000-4000-8000-000000000000-0"
_ROWS = '{"type": "record", "name": "row", "fields": [{"name": "id", "type": "long"}]}'


class TableBinding(MetadataTableBinding):
    """Tables in this process. Mutants replace their classes, which are attributes."""

    writer_class: ClassVar[type[MetadataWriter]] = MetadataWriter
    table_class: ClassVar[type[MetadataTable]] = MetadataTable
    listing_class: ClassVar[type[FileListing]] = FileListing
    lock_class: ClassVar[type[FileLock]] = FileLock

    def __init__(
        self, name: str = "metadata-table", filesystem: Callable[[], FileSystem] = MemoryFileSystem
    ) -> None:
        self.name = name
        self._filesystem = filesystem
        self._ticks = itertools.count()

    def clock(self) -> datetime:
        """Return a time that advances by one second at each call, shared by all writers."""
        return _START + timedelta(seconds=next(self._ticks))

    def filesystem(self) -> FileSystem:
        """Return a new empty filesystem."""
        return self._filesystem()

    def writer(self, filesystem: FileSystem, settings: TableSettings) -> CheckedWriter:
        """Return a writer."""
        lock = None
        if settings.lock:
            lock = self.lock_class(
                filesystem,
                f"{DATASET}/{LOCKS}",
                lease=timedelta(seconds=settings.lease),
                wait=timedelta(seconds=3),
                clock=self.clock,
                sleep=lambda seconds: None,
            )
        services = None
        if settings.compact_after is not None:
            services = Services(settings.compact_after, 1, settings.keep_instants)
        writer = self.writer_class(
            filesystem,
            DATASET,
            self.clock,
            lock=lock,
            hold=settings.lock == "session",
            design=settings.design,
            services=services,
            patience=timedelta(seconds=settings.patience),
        )
        return _Writer(writer, filesystem)

    def reader(
        self, filesystem: FileSystem, as_of: str | None = None, read_only: bool = False
    ) -> CheckedTableReader:
        """Return the table at present, or at an instant."""
        merge = not read_only
        return _Reader(self.table_class(filesystem, DATASET, as_of=as_of, merge_unsynced=merge))

    def listing(
        self, filesystem: FileSystem, enabled: bool = True, validate: bool = False
    ) -> CheckedListing:
        """Return the files from the table or from a listing."""
        return _Listing(
            lambda: self.listing_class(filesystem, DATASET, enabled=enabled, validate=validate)
        )

    def put_rows(
        self, filesystem: FileSystem, partition: str, group: int, instant: str, keys: Iterable[str]
    ) -> tuple[str, int]:
        """Write a Parquet file with the meta fields that the index reads."""
        if find_spec("pyarrow") is None:
            raise UnsupportedOperationException("rows need PyArrow")
        import pyarrow as pa
        import pyarrow.parquet as pq

        marker = location_of(DATASET).marker
        properties = read_properties(filesystem, marker)
        if SCHEMA not in properties:
            write_properties(filesystem, marker, {**properties, SCHEMA: _ROWS}, replace=True)
        name = f"{_GROUP.format(group)}_0-1-0_{instant}.parquet"
        path = f"{DATASET}/{partition}/{name}"
        with filesystem.create(path) as out:
            pq.write_table(pa.table({KEY: pa.array(list(keys), pa.string())}), out)
        return name, filesystem.get_file_status(path).length


class _Writer(CheckedWriter):
    def __init__(self, writer: MetadataWriter, fs: FileSystem) -> None:
        self._writer = writer
        self._fs = fs

    def initialize(self) -> None:
        self._writer.initialize()

    def bootstrap(self, content: TableChange) -> None:
        self._writer.bootstrap(_change(content), "dataset")

    def begin(self, action: str) -> str:
        return self._writer.begin(action).time

    def apply(self, instant: str, change: TableChange) -> None:
        self._writer.apply(self._instant(instant), _change(change))

    def finish(self, instant: str, change: TableChange) -> None:
        self._writer.finish(self._instant(instant), _change(change))

    def clean(self, deleted: Mapping[str, Collection[str]]) -> str:
        return self._writer.clean(deleted).time

    def roll_back(self, instant: str, deleted: Mapping[str, Collection[str]]) -> str:
        return self._writer.roll_back(self._instant(instant), deleted).time

    def restore(self, instant: str) -> str:
        return self._writer.restore(self._instant(instant)).time

    def recover(self) -> None:
        self._writer.recover()

    def sync(self) -> None:
        self._writer.sync()

    def compact(self) -> bool:
        return self._writer.compact() is not None

    def clean_table(self) -> None:
        self._writer.clean_table()

    def create_statistics(
        self, statistics: Mapping[tuple[str, str], Collection[Statistics]]
    ) -> None:
        known = _known(statistics)
        columns = {column.column for columns in statistics.values() for column in columns}

        def read(fs: FileSystem, path: str, sizes: Sizes, names: object) -> StatisticsByFile:
            files = ((partition, name) for partition, group in sizes.items() for name in group)
            return {file: known[file] for file in files if file in known}

        self._writer.create_partition(COLUMN_STATS, columns, read)

    def drop_statistics(self) -> None:
        self._writer.drop_partition(COLUMN_STATS)

    def create_record_index(self) -> None:
        self._writer.create_partition(RECORD_INDEX, file_groups=2)

    def archive(self) -> None:
        self._writer.archive()

    def close(self) -> None:
        self._writer.close()

    def _instant(self, time: str) -> Instant:
        instant = load_timeline(self._fs, DATASET).instants.get(time)
        if instant is None:  # another writer has rolled it back
            return Instant(time, "commit", INFLIGHT)
        return instant


class _Reader(CheckedTableReader):
    def __init__(self, table: MetadataTable) -> None:
        self._table = table

    def partitions(self) -> list[str]:
        return self._table.list_partitions()

    def files(self, partitions: Iterable[str]) -> Mapping[str, Mapping[str, int]]:
        listings = self._table.list_many(partitions)
        return {partition: _sizes(statuses) for partition, statuses in listings.items()}

    def prune(self, column: str, operator: str, value: Any) -> set[str]:
        condition = Filter(column, operator, value)  # type: ignore[arg-type]
        return set(_sizes(self._table.prune([condition])))

    def locate(self, keys: Iterable[str]) -> Mapping[str, tuple[str, int]]:
        return {
            key: (location.partition, int(location.file_group.partition("-")[0], 16))
            for key, location in self._table.lookup(keys).items()
        }

    def close(self) -> None:
        self._table.close()


class _Listing(CheckedListing):
    """A listing that counts its warnings, and suppresses them."""

    def __init__(self, make: Callable[[], FileListing]) -> None:
        self._warned = 0
        self._listing: FileListing = self._counting(make)

    def partitions(self) -> list[str]:
        return self._counting(self._listing.list_partitions)

    def files(self, partition: str) -> Mapping[str, int]:
        return _sizes(self._counting(lambda: self._listing.list_files(partition)))

    def warnings(self) -> int:
        return self._warned

    def metrics(self) -> Mapping[str, float]:
        return self._listing.metrics.snapshot()

    def _counting(self, call: Callable[[], _T]) -> _T:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            result = call()
        self._warned += sum(issubclass(w.category, MetadataWarning) for w in caught)
        return result


def metadata_table(options: Mapping[str, str]) -> MetadataTableBinding:
    """Return the target `metadata-table`, tables in memory; raise TargetError for any option."""
    check_options("metadata-table", options, ())
    if find_spec("fastavro") is None:
        raise TargetError("metadata-table requires fastavro; pip install 'fscontract[metadata]'")
    return TableBinding()


def _sizes(statuses: Iterable[FileStatus]) -> dict[str, int]:
    return {status.path.rpartition("/")[2]: status.length for status in statuses}


def _change(change: TableChange) -> Change:
    return Change(change.added, change.deleted, _known(change.statistics))


def _known(statistics: Mapping[tuple[str, str], Collection[Statistics]]) -> StatisticsByFile:
    return {file: [_statistics(column) for column in known] for file, known in statistics.items()}


def _statistics(known: Statistics) -> ColumnStatistics:
    wrapper = _WRAPPERS.get(type(known.minimum))
    return ColumnStatistics(
        "", "", known.column, wrapper, known.minimum, known.maximum,
        known.value_count, known.null_count,
    )  # fmt: skip
