"""The form of the transition tables: refusals (preconditions) and rows (postconditions).

An operation refuses a call if any refusal applies, with an outcome that one of those permits.
Otherwise the rows that apply specify what it may return and where the stream is then. Under one
version of the file exactly one row applies; after a change several may.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from fscontract.contract.models.stream_state import ANY, PAST, Failure, Origin, State
from fscontract.contract.program.content import is_ambiguous
from fscontract.contract.program.outcome import (
    FILL,
    IO_KINDS,
    RUNTIME_KINDS,
    Kind,
    Outcome,
    show_bytes,
    words,
)

EOF = frozenset({Kind.EOF})
IO = IO_KINDS
RUNTIME = RUNTIME_KINDS
INDEX = frozenset({Kind.INDEX})
ILLEGAL = frozenset({Kind.ILLEGAL_ARGUMENT})
NULL = frozenset({Kind.NULL})
UNSUPPORTED = frozenset({Kind.UNSUPPORTED}) | IO_KINDS
#: A position beyond any possible file: refusing it is permitted under every profile.
HUGE = 1 << 62
STRICT = "supports-strict-exceptions"
#: Hadoop's own contract tests count where they are stricter than the documents.
HADOOP_TESTS = "hadoop-tests"


class Call(NamedTuple):
    """A call in a state, under the declared features. `args` hold numbers, no anchors."""

    op: str
    args: tuple[Any, ...]
    state: State
    features: frozenset[str]

    def has(self, feature: str) -> bool:
        """Return whether the profile declares the feature."""
        return feature in self.features


class Accepted(NamedTuple):
    """A permitted outcome: the state after it, clauses beyond the row's own, SHOULDs missed.

    `expected` says what these SHOULDs ask for, if the row's text permits more.
    """

    state: State
    exercised: tuple[str, ...] = ()
    missed: tuple[str, ...] = ()
    expected: tuple[str, ...] = ()


class Refusal(NamedTuple):
    """A precondition: if `when` holds, the call raises one of `kinds`.

    `strict` are the kinds left under `supports-strict-exceptions`, `tested` those that Hadoop's own
    test leaves under `hadoop-tests`: then a SHOULD counts as a MUST. `tolerates` tests for return
    values that are also permitted. `origin` describes the stream afterwards; its position is the
    old one, or unknown if `loses_position`; Hadoop's test may ask for the old one (`test_stays`).
    `cause` is an earlier clause that may have caused a failure. If `optional`, the rows judge a
    call that returns.
    """

    clause: str
    when: Callable[[Call], bool]
    kinds: frozenset[Kind]
    origin: Origin | None = None
    strict: frozenset[Kind] | None = None
    tolerates: Callable[[Call, Outcome], bool] | None = None
    loses_position: bool = False
    cause: str = ""
    should: bool = False
    tested: frozenset[Kind] | None = None
    test_stays: bool = False
    optional: bool = False

    def holds(self, call: Call, outcome: Outcome) -> bool:
        """Return whether the precondition judges this outcome."""
        return self.when(call) and (outcome.raised or not self.optional)

    def allowed(self, call: Call) -> frozenset[Kind]:
        """Return the exceptions permitted under the profile."""
        kinds = self.strict if self.strict is not None and call.has(STRICT) else self.kinds
        return kinds & self.tested if self.tested is not None and call.has(HADOOP_TESTS) else kinds

    def is_should(self, call: Call) -> bool:
        """Return whether a violation only misses a SHOULD."""
        return self.should and not (self.tested is not None and call.has(HADOOP_TESTS))

    def permits(self, call: Call, outcome: Outcome) -> bool:
        """Return whether this precondition permits the outcome."""
        if outcome.kind in self.allowed(call):
            return True
        return self.tolerates is not None and self.tolerates(call, outcome)

    def after(self, call: Call) -> State:
        """Return the state after the refusal."""
        state = call.state
        origin = self.origin or state.origin
        loses = self.loses_position and not (self.test_stays and call.has(HADOOP_TESTS))
        origin = origin._replace(failed=True)
        return state.lost(origin) if loses else state.at(state.pos, origin)

    def says(self, call: Call) -> tuple[str, ...]:
        """Return the permitted exceptions as text for a message."""
        return (f"raises {words(self.allowed(call))}",)


class Row(NamedTuple):
    """A postcondition: if `when` holds, `accept` judges the outcome.

    `others` returns the clauses that only some wrong outcomes violate.
    """

    clauses: tuple[str, ...]
    when: Callable[[Call], bool]
    accept: Callable[[Call, Outcome], Accepted | Failure]
    says: Callable[[Call], tuple[str, ...]]
    others: Callable[[Call], tuple[str, ...]] = lambda _: ()


class Operation(NamedTuple):
    """The table of one operation.

    `clauses` are those that `accept` functions name themselves; `moves` means that the outcome
    depends on the stream's position.
    """

    refusals: tuple[Refusal, ...]
    rows: tuple[Row, ...]
    clauses: tuple[str, ...] = ()
    moves: bool = False

    @property
    def all_clauses(self) -> frozenset[str]:
        """Every clause that the table can name."""
        named = {r.clause for r in self.refusals}
        for refusal in self.refusals:
            if refusal.origin is not None:
                named |= {*refusal.origin[1:4]}
        for row in self.rows:
            named |= set(row.clauses)
        return frozenset(named | set(self.clauses)) - {""}


def is_open(call: Call) -> bool:
    """Return isOpen(FSDIS)."""
    return call.state.is_open


def closed(call: Call) -> bool:
    """Return not isOpen(FSDIS)."""
    return not call.state.is_open


def always(call: Call) -> bool:
    """Return True: no condition."""
    return True


def may_be_at_end(call: Call) -> bool:
    """Return whether pos >= len(data), for the shortest possible data."""
    pos = call.state.pos
    return pos == PAST or pos >= call.state.shortest


def may_have_data(call: Call) -> bool:
    """Return whether pos < len(data), for the longest possible data."""
    return ANY <= call.state.pos < call.state.longest


def describe_position(call: Call) -> tuple[str, ...]:
    """Return the permitted answers to a query of the position."""
    state = call.state
    if state.pos == PAST:
        return (f"returns {state.shortest} or more",)
    return (
        f"returns {state.pos}" if state.pos >= 0 else "returns a position that is not negative",
    )


def span(low: int, high: int) -> str:
    """Return the text of the numbers from `low` to `high`."""
    return f"{low} to {high}" if low < high else str(high)


def is_count(value: Any) -> bool:
    """Return whether the value is a whole number and not a bool."""
    return type(value) is int


def byte_fits(state: State, offset: int, value: int) -> bool:
    """Return whether the byte at `offset` may have this value."""
    return any(offset < len(v) and v[offset] == value for v in state.versions)


def bytes_fit(state: State, offset: int, data: bytes) -> bool:
    """Return whether each byte is at its offset in some version of the file."""
    end = offset + len(data)
    if any(version[offset:end] == data for version in state.versions):
        return True
    return state.changed and all(byte_fits(state, offset + i, b) for i, b in enumerate(data))


def occurs(state: State, data: bytes) -> bool:
    """Return whether the bytes occur anywhere in a version of the file.

    Which single bytes a long file has is chance, so each of them counts.
    """
    return bool(data) and any(data in v or is_ambiguous(data, len(v)) for v in state.versions)


def wrong_bytes(call: Call, clause: str, data: bytes, *, by_position: bool) -> Failure:
    """Return the failure of a read that delivered wrong bytes."""
    origin = call.state.origin
    if by_position and occurs(call.state, data):
        return Failure(clause, origin.moved, "moved")
    return Failure(clause, origin.data, "data")


def also_untouched(failure: Failure, clause: str, buffer: bytes, start: int, count: int) -> Failure:
    """Return a failure that breaks `clause`, too, unless the rest of the buffer is untouched."""
    count = max(min(count, len(buffer) - start), 0)
    return failure if untouched(buffer, start, count) else failure._replace(also=(clause,))


def unexpected(call: Call, clause: str, outcome: Outcome) -> Failure:
    """Return the failure of a call that should have succeeded."""
    aspect = "raised" if outcome.raised else "value"
    return Failure(clause, call.state.origin.works if outcome.raised else "", aspect)


def untouched(buffer: bytes, start: int, count: int) -> bool:
    """Return whether every byte outside [start, start + count) still holds FILL."""
    outside = len(buffer) - count
    return buffer.count(FILL, 0, start) + buffer.count(FILL, start + count) == outside


def describe_bytes(state: State, offset: int, count: int) -> str:
    """Return the bytes that belong at an offset, as text for a report."""
    return show_bytes(state.versions[-1][offset : offset + count])
