"""File groups of a partition of the metadata table, and the group of each key."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from fscontract.contract.api.filesystem import FileStatus
from fscontract.pipeline.hudi.timeline import Timeline, parse_name

_GROUP = re.compile(r".*-(\d{4,9})-\d+")


def group_names(statuses: Iterable[FileStatus], metadata: Timeline) -> list[str]:
    """Return the file groups of a listed partition in order, without those of failed instants."""
    names = (parse_name(status.path.rpartition("/")[2]) for status in statuses)
    groups = {name.group for name in names if name is not None and metadata.holds(name.instant)}
    return sorted(groups, key=lambda group: (group_number(group), group))


def group_number(group: str) -> int:
    """Return the number in the name of a file group, -1 if it has none."""
    match = _GROUP.fullmatch(group)
    return int(match[1]) if match else -1


def group_of(key: str, groups: Sequence[str]) -> str:
    """Return the file group of a key: Java's hash of the text, modulo the number of groups."""
    if len(groups) == 1:
        return groups[0]
    value = 0
    units = key.encode("utf-16-be")
    for position in range(0, len(units), 2):
        unit = units[position] << 8 | units[position + 1]
        value = (31 * value + unit) & 0xFFFFFFFF
    signed = value - (1 << 32) if value >> 31 else value
    # Java's absolute value of the smallest integer is negative, and so is its remainder.
    return groups[abs(signed) % len(groups)]
