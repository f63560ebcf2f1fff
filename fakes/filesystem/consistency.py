"""How long changes take to be seen, in a store that is not strictly consistent."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, fields
from posixpath import dirname
from typing import NamedTuple

from fscontract.contract.errors import IllegalArgumentException
from fscontract.fakes.filesystem.clock import Clock
from fscontract.fakes.filesystem.versions import Version


@dataclass(frozen=True)
class Consistency:
    """Seconds until changes of files are seen; all 0 is strict consistency.

    A new file, or a new version of one, is listed after `list_after`; a deleted one is listed until
    `delete_after`. An open, a read or a status sees a path as it was before a change until
    `read_after`: a new file is late, an overwritten one is the old one, a deleted one is there.
    Whatever changes the tree acts on what is there. Directories are always seen at once.
    """

    list_after: float = 0.0
    delete_after: float = 0.0
    read_after: float = 0.0

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not (value >= 0 and math.isfinite(value)):
                raise IllegalArgumentException(f"{field.name} must be 0 or more, not {value!r}")

    @property
    def window(self) -> float:
        """After how many seconds every change is seen."""
        return max(self.list_after, self.delete_after, self.read_after)


class Change(NamedTuple):
    """What a path became: a version of a file, or None where there is none any more."""

    at: float
    version: Version | None


class History:
    """What became of paths lately, as far as it matters for what is seen of them."""

    def __init__(self, clock: Clock, consistency: Consistency) -> None:
        self._clock = clock
        self.consistency = consistency
        self._changes: dict[str, list[Change]] = {}

    def record(self, path: str, before: Version | None, after: Version | None) -> None:
        """Remember a change that happens now."""
        if self.consistency.window > 0:
            self._recent(path)  # or changes of long ago would be kept for ever
            changes = self._changes.setdefault(path, [Change(-math.inf, before)])
            changes.append(Change(self._clock.now, after))

    def listed(self, path: str) -> Change | None:
        """What a listing shows of the path; None if it is what is there."""
        rules = self.consistency
        return self._seen(path, rules.list_after, rules.delete_after)

    def read(self, path: str) -> Change | None:
        """What opens and reads see at the path; None if it is what is there."""
        rules = self.consistency
        return self._seen(path, rules.read_after, rules.read_after)

    def children(self, path: str) -> Iterator[str]:
        """The paths in a directory that changed lately."""
        return (child for child in tuple(self._changes) if dirname(child) == path)

    def _seen(self, path: str, made: float, gone: float) -> Change | None:
        changes = self._recent(path)
        if not changes:
            return None
        seen, now = changes[0], self._clock.now
        for change in changes[1:]:
            if change.at + (gone if change.version is None else made) <= now:
                seen = change
        return seen

    def _recent(self, path: str) -> list[Change]:
        """The changes of a path, none if the last of them is seen by everybody."""
        changes = self._changes.get(path, [])
        if changes and changes[-1].at + self.consistency.window <= self._clock.now:
            self._changes.pop(path, None)
            return []
        return changes
