"""Records of the metadata table, and the merge of a newer record into an older one."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

#: Key of the record that lists the partitions, and name of the only one in an unpartitioned
#: dataset.
ALL_PARTITIONS = "__all_partitions__"
NO_PARTITION = "."

#: Record types, by their numbers in the format.
PARTITIONS, FILES, COLUMN_STATS, RECORD_INDEX, PARTITION_STATS = 1, 2, 3, 5, 6
#: Value types, by their ordinals in Hudi's enumeration.
NULL, DECIMAL = 1, 10


class FileEntry(NamedTuple):
    """A file or a partition: its size in bytes, and whether it is deleted.

    If `replaces`, it replaces earlier entries: `GONE`, and entries merged after it. Otherwise the
    larger size wins.
    """

    size: int
    is_deleted: bool = False
    replaces: bool = False


#: Tombstone of a file or a partition.
GONE = FileEntry(0, is_deleted=True, replaces=True)


class LiveFiles(Mapping[str, FileEntry]):
    """Existing files, as their sizes in bytes; entries are created on access."""

    __slots__ = ("sizes",)

    def __init__(self, sizes: Mapping[str, int]) -> None:
        self.sizes = sizes

    def __getitem__(self, name: str) -> FileEntry:
        return FileEntry(self.sizes[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self.sizes)

    def __len__(self) -> int:
        return len(self.sizes)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.sizes!r})"


@dataclass(frozen=True)
class Deleted:
    """Deletion of a key's whole record."""

    key: str


@dataclass(frozen=True, slots=True)
class FilesRecord:
    """Files of a partition, or partitions of the table, including deleted ones.

    If `replaces`, it replaces earlier records.
    """

    key: str
    files: Mapping[str, FileEntry]
    replaces: bool = False

    @property
    def type(self) -> int:
        """Number of the record's type."""
        return PARTITIONS if self.key == ALL_PARTITIONS else FILES

    @property
    def sizes(self) -> Mapping[str, int]:
        """Sizes of the existing files in bytes."""
        files = self.files
        if isinstance(files, LiveFiles):
            return files.sizes
        return {name: info.size for name, info in files.items() if not info.is_deleted}


class ValueType(NamedTuple):
    """Type of a column's values: ordinal in Hudi's enumeration, and precision and scale as text."""

    ordinal: int
    info: str | None = None


#: Value in statistics. Decimals, dates and times are Python objects, as Avro decodes them.
Value: TypeAlias = object


@dataclass(frozen=True, slots=True)
class ColumnStatistics:
    """Smallest and largest value of a column in a file, or in a partition, depending on `type`.

    None means an unknown value. Values have the type `wrapper`, a name of `schema.WRAPPERS`.
    `value_count` includes nulls. The bounds may be wider than the actual values unless `is_tight`.
    Statistics that are tight or deleted `replaces` earlier ones. `value_type` is stored in tables
    whose statistics have Hudi's second version.
    """

    key: str
    file_name: str
    column: str
    wrapper: str | None = None
    minimum: Value = None
    maximum: Value = None
    value_count: int | None = None
    null_count: int | None = None
    total_size: int | None = None
    total_uncompressed_size: int | None = None
    is_deleted: bool = False
    is_tight: bool = False
    type: int = COLUMN_STATS
    replaces: bool = False
    value_type: ValueType | None = None

    def __post_init__(self) -> None:
        if self.is_deleted or self.is_tight:
            object.__setattr__(self, "replaces", True)

    @property
    def all_null(self) -> bool:
        """True if there are values, all of them null."""
        count = self.value_count
        return self.minimum is None and count is not None and 0 < count == self.null_count

    @property
    def has_digits(self) -> bool:
        """True if the bounds are a decimal's digits, whose order is not that of their bytes."""
        is_decimal = self.value_type is not None and self.value_type.ordinal == DECIMAL
        return self.wrapper == "BytesWrapper" and is_decimal


@dataclass(frozen=True, slots=True)
class LocationRecord:
    """Partition and file group of the record with this key, and the time of its commit.

    The time is in milliseconds since 1970 in UTC. The latest location replaces earlier ones.
    """

    key: str
    partition: str
    file_group: str
    milliseconds: int | None = None
    replaces: bool = True

    @property
    def type(self) -> int:
        """Number of the record's type."""
        return RECORD_INDEX


Record: TypeAlias = FilesRecord | ColumnStatistics | LocationRecord | Deleted


def merge(older: Record, newer: Record) -> Record:
    """Merge two records of one key; associative. Deletions remain as tombstones."""
    if isinstance(newer, Deleted) or newer.replaces:
        return newer
    if isinstance(older, Deleted):
        return replace(newer, replaces=True)
    if isinstance(older, FilesRecord) and isinstance(newer, FilesRecord):
        files = dict(older.files)
        for name, info in newer.files.items():
            files[name] = _merged_info(files.get(name), info)
        return FilesRecord(newer.key, files, older.replaces)
    if isinstance(older, ColumnStatistics) and isinstance(newer, ColumnStatistics):
        return _merged_statistics(older, newer)
    return newer


def without_tombstones(record: Record) -> Record | None:
    """Return a record without its tombstones, None if nothing is left: the last merge step."""
    if isinstance(record, Deleted):
        return None
    if isinstance(record, LocationRecord):
        return record
    if isinstance(record, ColumnStatistics):
        return None if record.is_deleted else record
    sizes = record.sizes
    return FilesRecord(record.key, LiveFiles(sizes)) if sizes else None


def _merged_info(older: FileEntry | None, newer: FileEntry) -> FileEntry:
    if older is None or newer.replaces:
        return newer
    if older.is_deleted:
        return newer._replace(replaces=True)
    return FileEntry(max(older.size, newer.size), replaces=older.replaces)


def _merged_statistics(older: ColumnStatistics, newer: ColumnStatistics) -> ColumnStatistics:
    if older.is_deleted:
        return replace(newer, replaces=True)
    return _widened(older, newer)


def _widened(older: ColumnStatistics, newer: ColumnStatistics) -> ColumnStatistics:
    """Return statistics that cover the values of both."""
    wide = replace(
        newer,
        value_count=_sum(older.value_count, newer.value_count),
        null_count=_sum(older.null_count, newer.null_count),
        total_size=_sum(older.total_size, newer.total_size),
        total_uncompressed_size=_sum(older.total_uncompressed_size, newer.total_uncompressed_size),
        replaces=older.replaces,
    )
    if older.all_null or newer.all_null:
        known = newer if older.all_null else older
        wide = replace(wide, value_type=known.value_type)
        return replace(wide, wrapper=known.wrapper, minimum=known.minimum, maximum=known.maximum)
    comparable = older.wrapper == newer.wrapper and not newer.has_digits
    if not comparable or older.minimum is None or newer.minimum is None:
        return replace(wide, wrapper=None, minimum=None, maximum=None)
    return replace(
        wide,
        minimum=min(older.minimum, newer.minimum),  # type: ignore[call-overload]
        maximum=max(older.maximum, newer.maximum),  # type: ignore[call-overload]
    )


def _sum(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one + other


def is_nan(value: object) -> bool:
    """Return True if a value is NaN, which can't be a bound."""
    return isinstance(value, float) and math.isnan(value)


def are_bounds(low: object, high: object) -> bool:
    """Return True if the smallest and largest value are both known and comparable."""
    return not (low is None or high is None or is_nan(low) or is_nan(high))
