"""The model's knowledge of a stream, and its judgements of outcomes."""

from __future__ import annotations

from typing import NamedTuple

#: An unknown position, after a failed seek.
ANY = -1
#: An unknown position at or past the end.
PAST = -2


class Origin(NamedTuple):
    """The operation that last touched the position, and the clauses charged if a later call fails.

    `moved` is charged if a later call finds the stream elsewhere, `works` if a later call that
    should succeed raises, `data` if it delivers bytes that occur nowhere in the file. If empty,
    only the failing operation is charged. `before` is the position before a call that may have
    changed it, if known: the likeliest one.
    """

    op: str
    moved: str = ""
    works: str = ""
    data: str = ""
    failed: bool = False
    before: int = ANY


class State(NamedTuple):
    """FSDIS = (pos, data, isOpen), with every content the file has had since it was opened."""

    pos: int
    is_open: bool
    origin: Origin
    versions: tuple[bytes, ...]
    changed: bool = False

    @property
    def shortest(self) -> int:
        """The least length that the file may have."""
        return len(self.versions[0]) if not self.changed else min(map(len, self.versions))

    @property
    def longest(self) -> int:
        """The greatest length that the file may have."""
        return len(self.versions[0]) if not self.changed else max(map(len, self.versions))

    def at(self, pos: int, origin: Origin) -> State:
        """Return the same stream at another position.

        One whose position stays unknown keeps the likeliest one.
        """
        if pos < 0 and self.pos < 0 and origin.before == ANY != self.origin.before:
            origin = origin._replace(before=self.origin.before)
        return State(pos, self.is_open, origin, self.versions, self.changed)

    def lost(self, origin: Origin) -> State:
        """Return the same stream at an unknown position, most likely the present one.

        An origin that names the likeliest position itself keeps it.
        """
        before = max(self.pos, ANY) if origin.before == ANY else origin.before
        return self.at(ANY, origin._replace(before=before))


class Failure(NamedTuple):
    """An outcome that no possible state permits.

    `clause` is the one that detected it. `cause` is the clause of the earlier operation that may
    have caused it; running a witness decides (runner/attribution.py). `aspect` is what was wrong:
    "value", "data" (bytes that occur nowhere in the file), "moved" (bytes or a position from
    elsewhere), "end" (a wrong end or count), "accepted" (a call that had to be refused) or
    "raised".
    """

    clause: str
    cause: str
    aspect: str
    expected: tuple[str, ...] = ()
    #: Further clauses that the same outcome breaks.
    also: tuple[str, ...] = ()


class Judgement(NamedTuple):
    """The verdict on one outcome.

    It has the states that the outcome leaves possible (none after a failure), the clauses it
    exercised, the SHOULD clauses it missed, and the clauses it would have exercised if the API had
    the operation.
    """

    states: tuple[State, ...]
    exercised: tuple[str, ...] = ()
    missed: tuple[str, ...] = ()
    failure: Failure | None = None
    unsaid: tuple[str, ...] = ()
    expected: tuple[str, ...] = ()


def opened(data: bytes) -> State:
    """Return the state of a stream just opened on a file with this content."""
    return State(0, True, Origin("open", "open.state", "open.state"), (data,))
