"""Index of records in the metadata table: the file group of each record key.

The keys are spread over file groups by Java's hash of the text. Their number is fixed when Hudi
creates the index, and each has files from then on.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta, timezone
from typing import NamedTuple

from fscontract.pipeline.hudi.file_groups import group_number, group_of
from fscontract.pipeline.hudi.records import LocationRecord
from fscontract.pipeline.hudi.timeline import instant_at

#: Property with the time zone of a table's instants: UTC, or LOCAL for that of each writer.
TIME_ZONE = "hoodie.table.timeline.timezone"
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_MILLISECOND = timedelta(milliseconds=1)
#: Offsets of time zones, in milliseconds: their unit, and the largest one.
_QUARTER, _MAX_OFFSET = 15 * 60_000, 14 * 3_600_000


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
