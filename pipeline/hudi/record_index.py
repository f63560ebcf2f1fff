"""Index of records in the metadata table: the file group of each record key.

The keys are spread over file groups by Java's hash of the text. Their number is fixed when the
index is created, and each has files from then on.

An action writes a record for each key that it adds to a file group of the dataset, or moves there,
and a deletion for each key that is in none any more. A key that stays in its file group keeps its
record, with the instant that wrote it there first.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime, timedelta, timezone
from typing import NamedTuple, TypeAlias

from fscontract.pipeline.hudi.records import Deleted, LocationRecord, Record
from fscontract.pipeline.hudi.timeline import group_number, group_of, instant_at

#: Property with the time zone of a table's instants: UTC, or LOCAL for that of each writer.
TIME_ZONE = "hoodie.table.timeline.timezone"
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_MILLISECOND = timedelta(milliseconds=1)
#: Offsets of time zones, in milliseconds: their unit, and the largest one.
_QUARTER, _MAX_OFFSET = 15 * 60_000, 14 * 3_600_000
#: Hudi's rule for the number of file groups: its bounds, bytes of a file group and of a record, and
#: the expected growth.
_MIN_GROUPS, MAX_GROUPS = 10, 10_000
_GROUP_BYTES, _RECORD_BYTES, _GROWTH = 1 << 30, 48, 2

#: A file group of the dataset: its partition and its name.
Group: TypeAlias = tuple[str, str]


class RecordLocation(NamedTuple):
    """Location of a record: the partition and file group, and the instant that moved it there.

    The instant is None if it is neither on the timeline nor in UTC: the index stores its time, but
    not the time zone of its name.
    """

    partition: str
    file_group: str
    instant: str | None


def by_group(keys: Iterable[str], groups: Sequence[str]) -> dict[str, list[str]]:
    """Return the keys of each file group; raise ValueError if a file group is missing."""
    ordered = sorted(groups, key=group_number)
    numbers = [group_number(group) for group in ordered]
    if numbers != list(range(len(numbers))):
        raise ValueError(f"expected file groups from 0 to {len(numbers) - 1}, got {numbers}")
    keys_of: dict[str, list[str]] = defaultdict(list)
    for key in dict.fromkeys(keys):
        keys_of[group_of(key, ordered)].append(key)
    return keys_of


def file_group_count(records: int) -> int:
    """Return the number of file groups that Hudi gives a new index of this many records."""
    estimated = _GROWTH * records // (_GROUP_BYTES // _RECORD_BYTES)
    return max(_MIN_GROUPS, min(estimated, MAX_GROUPS))


def group_names(count: int) -> list[str]:
    """Return the names of the file groups of a new index."""
    return [f"record-index-{number:04}-0" for number in range(count)]


def milliseconds_of(instant: str) -> int | None:
    """Return the time of an instant, in milliseconds since 1970, as if it were in UTC.

    Instants of this package are in UTC. For those of Hudi in another time zone, `location` finds
    the instant on the timeline. Return None for a name that is not a time.
    """
    time = _time(instant)
    return time if time >= 0 else None


def location_changes(
    before: Mapping[Group, AbstractSet[str]],
    after: Mapping[Group, AbstractSet[str]],
    stored: Callable[[Iterable[str]], Mapping[str, LocationRecord]],
    instant: str,
) -> list[Record]:
    """Return the sorted records of an action that changes the keys of file groups.

    `before` and `after` have the keys of each changed file group. `stored` returns the records that
    the index has: a key that left a file group is deleted only if the index locates it there, and
    no other changed file group has it.
    """
    nothing: AbstractSet[str] = frozenset()
    located = {
        key: group
        for group, keys in sorted(after.items())
        for key in keys - before.get(group, nothing)
    }
    left = {key for group, keys in before.items() for key in keys - after.get(group, nothing)}
    gone, changed = set(), before.keys() | after.keys()
    for key, record in stored(left - located.keys()).items():
        group = record.partition, record.file_group
        if group not in changed or key in after.get(group, nothing):
            continue
        others = [other for other, keys in sorted(after.items()) if key in keys]
        if others:
            located[key] = others[-1]
        else:
            gone.add(key)
    time = milliseconds_of(instant)
    records: list[Record] = [LocationRecord(key, *group, time) for key, group in located.items()]
    records += map(Deleted, gone)
    return sorted(records, key=lambda record: record.key.encode())


def location(record: LocationRecord, instants: Iterable[str], zone: str) -> RecordLocation:
    """Return the location in a record; `instants` are those of the dataset's timeline."""
    instant = None
    if record.milliseconds is not None:
        instant = _instant(record.milliseconds, instants, zone)
    return RecordLocation(record.partition, record.file_group, instant)


def _instant(milliseconds: int, instants: Iterable[str], zone: str) -> str | None:
    try:
        name = instant_at(_EPOCH + milliseconds * _MILLISECOND)
    except OverflowError:
        return None
    if zone.upper() == "UTC":
        return name
    offsets = {time: _time(time) - milliseconds for time in instants}
    fitting = [
        time
        for time, offset in offsets.items()
        if offset % _QUARTER == 0 and abs(offset) <= _MAX_OFFSET
    ]
    return fitting[0] if len(fitting) == 1 else None


def _time(instant: str) -> int:
    """Return the time of an instant as milliseconds, as if it were in UTC; -1 for other names."""
    try:
        time = datetime.strptime(f"{instant}000+0000", "%Y%m%d%H%M%S%f%z")
    except ValueError:
        return -1
    return (time - _EPOCH) // _MILLISECOND
