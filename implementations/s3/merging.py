"""Vectored reads: ranges that lie near each other become one request, as S3A does it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar


class Ranged(Protocol):
    """What has a place in a file."""

    @property
    def offset(self) -> int:
        """Where it begins."""

    @property
    def length(self) -> int:
        """How many bytes it has."""


R = TypeVar("R", bound=Ranged)


@dataclass
class Group(Generic[R]):
    """Ranges in the order of their offsets, read by one request from `start` up to `stop`."""

    start: int
    stop: int
    members: list[R] = field(default_factory=list)


def merge(ranges: Iterable[R], min_seek: int, max_read: int) -> list[Group[R]]:
    """Groups that hold each range once, in order.

    A range joins the one before it if fewer than `min_seek` bytes lie between them, and both
    together are at most `max_read` bytes long. Ranges don't overlap.
    """
    groups: list[Group[R]] = []
    for item in sorted(ranges, key=lambda one: one.offset):
        stop = item.offset + item.length
        last = groups[-1] if groups else None
        if (
            last is not None
            and item.offset - last.stop < min_seek
            and stop - last.start <= max_read
        ):
            last.stop = max(stop, last.stop)
            last.members.append(item)
        else:
            groups.append(Group(item.offset, stop, [item]))
    return groups
