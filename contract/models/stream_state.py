"""What the model knows of a stream, and what it says of one outcome."""

from __future__ import annotations

from typing import NamedTuple

#: A position that a failed seek left open.
ANY = -1
#: A position somewhere at or beyond the end.
PAST = -2


class Origin(NamedTuple):
    """The operation that last touched the position, and whom to blame if it went wrong.

    `moved` is broken if a later call finds the stream elsewhere, `works` if a later call that
    should succeed raises, `data` if it delivers bytes that are nowhere in the file. Empty: nobody
    but the operation that notices.
    """

    op: str
    moved: str = ""
    works: str = ""
    data: str = ""
    failed: bool = False


class State(NamedTuple):
    """FSDIS = (pos, data, isOpen), with every content the file has had since it was opened."""

    pos: int
    is_open: bool
    origin: Origin
    versions: tuple[bytes, ...]
    changed: bool = False

    @property
    def shortest(self) -> int:
        """The least length the file may have."""
        return len(self.versions[0]) if not self.changed else min(map(len, self.versions))

    @property
    def longest(self) -> int:
        """The greatest length the file may have."""
        return len(self.versions[0]) if not self.changed else max(map(len, self.versions))

    def at(self, pos: int, origin: Origin) -> State:
        """The same stream at another position."""
        return State(pos, self.is_open, origin, self.versions, self.changed)


class Failure(NamedTuple):
    """An outcome that no possible state permits.

    `clause` is the one that noticed. `cause` is the clause of the earlier operation that may be
    behind it; running a witness decides (suite/blame.py). `aspect` is what was wrong: "value",
    "data" (bytes that are nowhere in the file), "moved" (bytes or a position of somewhere else),
    "end" (an end or a count that is none), "accepted" (a call that had to be refused) or "raised".
    """

    clause: str
    cause: str
    aspect: str
    expected: tuple[str, ...] = ()
    #: Further clauses that the same outcome breaks.
    also: tuple[str, ...] = ()


class Judgement(NamedTuple):
    """The verdict on one outcome: the states it leaves possible (none after a failure), the
    clauses it exercised, the SHOULD clauses it missed, and those it would have exercised had the
    API had a word for the call."""

    states: tuple[State, ...]
    exercised: tuple[str, ...] = ()
    missed: tuple[str, ...] = ()
    failure: Failure | None = None
    unsaid: tuple[str, ...] = ()
    expected: tuple[str, ...] = ()


def opened(data: bytes) -> State:
    """A stream just opened on a file with this content."""
    return State(0, True, Origin("open", "open.state", "open.state"), (data,))
