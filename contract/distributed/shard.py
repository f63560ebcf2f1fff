"""Which part of a run a task has: programs by their numbers, other checks one by one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import TypeAlias, TypeVar
from zlib import crc32

Item = TypeVar("Item")
#: Where in a run something was found: the number of the phase, and that of the program in it.
Order: TypeAlias = tuple[int, int]
#: What failures have in common that look alike.
Looks: TypeAlias = tuple[str, ...]


@dataclass(repr=False, eq=False)
class Shard:
    """Shard `number` (from 0) of `of` parts of a run; together they are the whole run.

    With `seen`, it is what comes when the looks of all failures so far are known: the search for
    others. It also knows where in the run it is.
    """

    number: int = 0
    of: int = 1
    seen: frozenset[Looks] | None = None
    _phase: int = field(default=-1, init=False)
    _at: int = field(default=0, init=False)

    def __repr__(self) -> str:
        return f"part {self.number + 1} of {self.of}"

    @property
    def order(self) -> Order:
        """Where the run is."""
        return self._phase, self._at

    def begin(self) -> None:
        """The next phase begins, of which this part may have nothing."""
        self._phase += 1
        self._at = 0

    def at(self, number: int) -> None:
        """The run is at something else than a program that was dealt."""
        self._at = number

    def deal(self, name: str, seed: int, items: Iterable[Item], block: int = 1) -> Iterator[Item]:
        """Those of the programs of a phase that belong to the part: every so many, a block."""
        if self.seen is not None:
            return
        source = iter(items)
        first = (self.number - crc32(f"{seed}:{name}".encode())) % self.of
        start = first * block
        skipped = start
        while True:
            count = 0
            for count, item in enumerate(islice(source, skipped, skipped + block), 1):
                self._at = start + count
                yield item
            if not count:
                return
            skipped = (self.of - 1) * block
            start += skipped + block

    def has(self, unit: int) -> bool:
        """Whether a check that is no program belongs to the part."""
        return self.seen is None and unit % self.of == self.number
