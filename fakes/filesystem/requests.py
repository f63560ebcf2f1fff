"""What a request to the fake store was, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from fscontract.contract.api.errors import IllegalArgumentException
from fscontract.contract.program.faults import Turn
from fscontract.fakes.filesystem.tree import Check


@dataclass(frozen=True)
class Latency:
    """How many seconds a request takes, and each byte of its body on top."""

    request: float = 0.02
    byte: float = 1e-8

    def __post_init__(self) -> None:
        if not (self.request >= 0 and self.byte >= 0):
            raise IllegalArgumentException(f"a latency is 0 or more, not {self}")


class Request(NamedTuple):
    """One line of the log: what was asked of the store, when, and what came of it.

    `kind` is "open", "status", "list", "read", or what changes something: "put", "mkdirs",
    "delete", "rename", "permission"; "access" asks for permissions. `offset`, `length` (in bytes,
    as asked for), `version` (an etag) and `replica` are those of a read. It began `at` a moment of
    the clock and took `seconds`. `outcome` is "ok" or one word for what was wrong: the kind of the
    fault, "missing", "denied", "precondition", "range", "lost", "refused".
    """

    kind: str
    path: str
    offset: int | None
    length: int | None
    version: str | None
    replica: int | None
    at: float
    seconds: float
    outcome: str


class Target(NamedTuple):
    """What a read asks for besides the path: see `Request`."""

    offset: int | None = None
    length: int | None = None
    version: str | None = None
    replica: int | None = None


class Answer(NamedTuple):
    """The body of a read, and the checks of all the bytes that it should have."""

    body: bytes
    checks: tuple[Check, ...]


@dataclass
class Exchange:
    """A request while it is under way: its turn in the plan of faults, and what it comes to."""

    path: str
    turn: Turn
    seconds: float
    outcome: str = "ok"

    @property
    def fault(self) -> str:
        """The kind of the fault that strikes it, or ""."""
        return "" if self.turn.fault is None else self.turn.fault.kind

    def take_effect(self) -> None:
        """Count the fault, and let it be the outcome."""
        self.outcome = self.fault
        self.turn.took_effect()
