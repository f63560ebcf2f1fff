"""Assignment of programs, by their numbers, and of other checks to the shards of a run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import TypeAlias, TypeVar
from zlib import crc32

from fscontract.contract.program.program import Program

Item = TypeVar("Item")
#: A place in a run: the number of the phase, and that of the program in it.
Order: TypeAlias = tuple[int, int]
#: The common attributes of failures that look alike.
Looks: TypeAlias = tuple[str, ...]


@dataclass(repr=False, eq=False)
class Shard:
    """Shard `number` (from 0) of `of` shards; together they are the whole run.

    With `seen`, the looks of all failures so far, it is a shard of the search for further failures.
    With `unseen`, the programs of known failures that the others have not seen, it runs those only.
    It also tracks the current place in the run.
    """

    number: int = 0
    of: int = 1
    seen: frozenset[Looks] | None = None
    unseen: tuple[Program, ...] = ()
    _phase: int = field(default=-1, init=False)
    _at: int = field(default=0, init=False)

    def __repr__(self) -> str:
        return f"part {self.number + 1} of {self.of}"

    @property
    def order(self) -> Order:
        """The current place in the run."""
        return self._phase, self._at

    def begin(self) -> None:
        """Begin the next phase, in which this shard may have nothing to run."""
        self._phase += 1
        self._at = 0

    def at(self, number: int) -> None:
        """Set the place in the run for something that is not an assigned program."""
        self._at = number

    def deal(self, name: str, seed: int, items: Iterable[Item], block: int = 1) -> Iterator[Item]:
        """Yield the programs of a phase that belong to the shard: blocks at regular intervals."""
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
        """Return whether a check that is not a program belongs to the shard."""
        if self.seen is not None or self.unseen:
            return False
        return unit % self.of == self.number
