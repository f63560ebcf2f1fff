"""Merge rules of a table: which of two versions of a record counts.

A table orders versions by commit, or by fields of the rows, and then by commit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isnan
from typing import Any

from fscontract.pipeline.hudi.io import MetadataException

MODE = "hoodie.record.merge.mode"
EVENT_TIME, COMMIT_TIME = "EVENT_TIME_ORDERING", "COMMIT_TIME_ORDERING"
PAYLOAD = "hoodie.compaction.payload.class"
#: Fields that order the versions of a record, before version 9 and since.
PRECOMBINE, ORDERING = "hoodie.table.precombine.field", "hoodie.table.ordering.fields"
_STRATEGIES = ("hoodie.record.merge.strategy.id", "hoodie.compaction.record.merger.strategy")
_PARTIAL = "hoodie.table.partial.update.mode"
#: A row whose field has this value is a deletion. Tables of version 9 have a prefix.
_DELETE_FIELD, _DELETE_MARKER = "hoodie.payload.delete.field", "hoodie.payload.delete.marker"
_PROPERTY = "hoodie.record.merge.property."
#: Payload classes, and the mode of each.
_MODES = {
    "OverwriteWithLatestAvroPayload": COMMIT_TIME,
    "DefaultHoodieRecordPayload": EVENT_TIME,
    "EventTimeAvroPayload": EVENT_TIME,
}
#: Ids of the strategies for the two modes, and of the one that asks the payload class.
_KNOWN_STRATEGIES = frozenset(
    {
        "eeb8d96f-b1e4-49fd-bbf8-28ac514178e5",
        "ce9acb64-bde0-424c-9b91-f6ebba25356d",
        "00000000-0000-0000-0000-000000000000",
    }
)


@dataclass(frozen=True)
class Version:
    """A version of a record.

    `ordering` has the values of the ordering fields; it is None in deletions that count whatever
    these are. `row` identifies the row; None is a deletion.
    """

    ordering: tuple[Any, ...] | None
    row: int | None


@dataclass(frozen=True)
class MergeRules:
    """Rules of a table; no `fields` means the order of commits alone.

    A row in which `delete_field` is `delete_marker` is a deletion.
    """

    fields: tuple[str, ...] = ()
    delete_field: str | None = None
    delete_marker: str | None = None

    def replaces(self, later: Version, earlier: Version) -> bool:
        """Return True if the version of a later commit replaces the other; raise ValueError."""
        if not self.fields or later.ordering is None or earlier.ordering is None:
            return True
        return _order(later.ordering, earlier.ordering)


def _order(later: tuple[Any, ...], earlier: tuple[Any, ...]) -> bool:
    """Return True if the values of the later version are not smaller; raise ValueError."""
    for new, old in zip(later, earlier, strict=True):
        if old is None:  # Hudi updates rows without a value
            return True
        if new is None or _is_nan(new) or _is_nan(old):
            raise ValueError(f"can't compare ordering values {new!r} and {old!r}")
        try:
            if new != old:
                return bool(new > old)
        except TypeError:
            raise ValueError(f"can't compare ordering values {new!r} and {old!r}") from None
    return True


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and isnan(value)


def merge_rules(path: str, properties: Mapping[str, str]) -> MergeRules:
    """Return the rules of the table at `path`; raise MetadataException for unsupported ones."""
    mode = _mode(path, properties)
    names = properties.get(ORDERING) or properties.get(PRECOMBINE) or ""
    fields = tuple(name.strip() for name in names.split(",") if name.strip())
    return MergeRules(
        fields if mode == EVENT_TIME else (),
        _delete_property(properties, _DELETE_FIELD),
        _delete_property(properties, _DELETE_MARKER),
    )


def _mode(path: str, properties: Mapping[str, str]) -> str:
    if (partial := properties.get(_PARTIAL, "NONE")) not in ("", "NONE"):
        raise _unsupported(path, _PARTIAL, partial)
    payload = properties.get(PAYLOAD)
    of_payload = _MODES.get((payload or "").rpartition(".")[2])
    if payload and of_payload is None:
        raise _unsupported(path, PAYLOAD, payload)
    for name in _STRATEGIES:
        if (strategy := properties.get(name)) and strategy not in _KNOWN_STRATEGIES:
            raise _unsupported(path, name, strategy)
    mode = properties.get(MODE)
    if mode and mode not in (EVENT_TIME, COMMIT_TIME):
        raise _unsupported(path, MODE, mode)
    return mode or of_payload or EVENT_TIME


def _delete_property(properties: Mapping[str, str], name: str) -> str | None:
    return properties.get(_PROPERTY + name) or properties.get(name)


def _unsupported(path: str, name: str, value: str) -> MetadataException:
    return MetadataException(path, f"can't merge records: unsupported {name}={value}")
