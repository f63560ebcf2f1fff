"""readVectored: several ranges in one call, each with its own future."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from fscontract.contract.models.stream_state import Failure, Origin
from fscontract.contract.models.transition_table import (
    EOF,
    HADOOP_TESTS,
    HUGE,
    ILLEGAL,
    NULL,
    Accepted,
    Call,
    Operation,
    Refusal,
    Row,
    bytes_fit,
    closed,
    is_open,
    unexpected,
)
from fscontract.contract.program.outcome import IO_KINDS, Outcome

#: The position afterwards is a SHOULD; that later reads work is their own MUST.
_POSITION = Origin("read_vectored", "read-vectored.position")
#: A refused call has read nothing, so the stream has not moved.
_REFUSED = Origin("read_vectored", "read-vectored.position")


def _ranges(call: Call) -> tuple[tuple[int, int], ...]:
    """Return the ranges that are not None, sorted by offset."""
    return tuple(sorted(r for r in call.args[0] or () if r is not None))


def _valid(call: Call) -> tuple[tuple[int, int], ...]:
    """Return the ranges without those that are refused individually."""
    return tuple(r for r in _ranges(call) if r[0] >= 0 and r[1] >= 0)


def overlapping(ranges: tuple[tuple[int, int], ...]) -> bool:
    """Return whether two ranges of a sorted list share a byte."""
    pairs = itertools.pairwise(r for r in ranges if r[1] > 0)
    return any(a[0] + a[1] > b[0] for a, b in pairs)


def _empty_inside(ranges: Sequence[tuple[int, int]]) -> bool:
    """Return whether an empty range lies inside another one: it may count as an overlap."""
    return any(
        length == 0 and start <= offset < start + size
        for offset, length in ranges
        for start, size in ranges
    )


def _beyond(call: Call, range_: tuple[int, int]) -> bool:
    """Return whether the range certainly ends past the end of the file."""
    return range_[0] + range_[1] > call.state.longest


def _empty_at_end(call: Call, range_: tuple[int, int]) -> bool:
    """Return whether a range is empty and not before the end of the file.

    The comparison in the text excludes it, and so does the check of Hadoop's VectoredReadUtils.
    """
    return range_[1] == 0 and range_[0] >= call.state.shortest


def _refuses_early(call: Call) -> bool:
    return call.has("vector-io-early-eof-check") and any(_beyond(call, r) for r in _valid(call))


def _some_empty_past_end(call: Call, outcome: Outcome) -> bool:
    """Return whether only empty ranges are past the end, and the outcome is permitted for them.

    An empty range past the end may be read, and refused as an illegal argument.
    """
    late = [r for r in _valid(call) if _beyond(call, r)]
    fine = not outcome.raised or outcome.kind in ILLEGAL
    return fine and all(length == 0 for _, length in late)


def _bad_range(test: Any) -> Any:
    def applies(call: Call) -> bool:
        return any(test(r) for r in _ranges(call))

    return applies


def _refusal(clause: str, when: Any, kinds: Any, tolerates: Any = None) -> Refusal:
    return Refusal(clause, lambda c: is_open(c) and when(c), kinds, _REFUSED, tolerates=tolerates)


def _range_failure(
    call: Call, requested: tuple[int, int], got: Outcome, inside: str
) -> Failure | None:
    """Return what is wrong with the outcome of one range, if anything.

    `inside` is the clause of ranges that end before EOF.
    """
    offset, length = requested
    late = offset + length > call.state.shortest or _empty_at_end(call, requested)
    may_fail = call.state.changed or offset >= HUGE
    if (late and got.kind in EOF) or (may_fail and got.kind in IO_KINDS):
        return None
    if _beyond(call, requested) and length > 0:
        return Failure("read-vectored.eof-late", "", "raised" if got.raised else "end")
    if length == 0:
        fine = late or (not got.raised and got.value == 0)
        return None if fine else Failure("read-vectored.zero-length", "", "value")
    if got.raised:
        return Failure(_clause_of(call, requested, inside), call.state.origin.works, "raised")
    if got.value != length:
        return Failure("read-vectored.remaining", "", "end")
    if not bytes_fit(call.state, offset, got.buffer or b""):
        return Failure(inside, "", "data")
    return None


def _inside(call: Call) -> str:
    """Return the clause that promises the data of ranges that end before EOF."""
    ranges = _ranges(call)
    if overlapping(ranges):
        return "read-vectored.overlap-allowed"
    if any(_beyond(call, r) for r in ranges):
        return "read-vectored.good-ranges"
    return "read-vectored.data"


def _clause_of(call: Call, asked: tuple[int, int], inside: str) -> str:
    """Return the clause by which a range inside the file is valid."""
    at_end = inside == "read-vectored.data" and sum(asked) == call.state.shortest
    return "read-vectored.exact-end" if at_end else inside


def _delivers(call: Call, outcome: Outcome) -> Accepted | Failure:
    asked = call.args[0]
    after = call.state.at(call.state.pos, _POSITION)
    if outcome.kind in ILLEGAL and _may_be_refused(call):
        return Accepted(after)
    if outcome.kind in EOF and any(r[0] >= HUGE or _empty_at_end(call, r) for r in asked):
        return Accepted(after)
    if outcome.raised:
        return unexpected(call, _refused_clause(call, outcome), outcome)
    if len(outcome.value) != len(asked):
        return Failure("read-vectored.data", "", "value")
    inside = _inside(call)
    for range_, got in zip(asked, outcome.value, strict=True):
        failure = _range_failure(call, range_, got, inside)
        if failure is not None:
            return failure
    return Accepted(after, tuple(_exercised(call, inside)))


def _may_be_refused(call: Call) -> bool:
    """Return whether the arguments may be called illegal.

    These are an empty list, an empty range past the end, and an empty range inside another one.
    """
    asked = call.args[0]
    if not asked:
        return not call.has(HADOOP_TESTS)
    if any(length == 0 and _beyond(call, (offset, length)) for offset, length in asked):
        return True
    return not call.has("vector-io-overlapping-ranges") and _empty_inside(asked)


def _refused_clause(call: Call, outcome: Outcome) -> str:
    """Return the clause that permits refused ranges."""
    asked = call.args[0]
    if not asked:
        return "read-vectored.empty"
    if outcome.kind in EOF and any(_beyond(call, r) for r in asked):
        return "read-vectored.eof-late"
    if outcome.kind in ILLEGAL and any(length == 0 for _, length in asked):
        return "read-vectored.zero-length"
    several = len(asked) > 1 and not call.has("vector-io-overlapping-ranges")
    if several and outcome.kind in ILLEGAL:
        return "read-vectored.overlap"
    filled = [r for r in asked if r[1] > 0]
    if filled and all(_beyond(call, r) for r in filled):
        return "read-vectored.eof-late"
    return _clause_of(call, asked[-1], _inside(call))


def _exercised(call: Call, inside: str) -> set[str]:
    clauses = {"read-vectored.remaining"} if call.args[0] else {"read-vectored.empty"}
    for range_ in call.args[0]:
        if range_[1] == 0:
            clauses.add("read-vectored.zero-length" if sum(range_) <= call.state.shortest else "")
        elif _beyond(call, range_):
            clauses.add("read-vectored.eof-late")
        else:
            clauses.add(_clause_of(call, range_, inside))
    if call.state.origin.works:
        clauses.add(call.state.origin.works)
    return clauses - {""}


def _says(call: Call) -> tuple[str, ...]:
    late = any(_beyond(call, r) and r[1] for r in _ranges(call))
    text = "each range gives its bytes"
    if not call.args[0]:
        return ("returns",) if call.has(HADOOP_TESTS) else ("returns, or raises ILLEGAL_ARGUMENT",)
    return (f"{text}; EOF for ranges beyond the end" if late else text,)


READ_VECTORED = Operation(
    refusals=(
        _refusal("read-vectored.null-ranges", lambda c: c.args[0] is None, NULL),
        _refusal(
            "read-vectored.null-range", lambda c: c.args[0] and None in c.args[0], NULL | ILLEGAL
        )._replace(tested=NULL),
        _refusal(
            "read-vectored.null-allocate",
            lambda c: c.args[1] == "null",
            NULL,
            lambda c, o: not c.args[0] and not o.raised,
        ),
        _refusal(
            "read-vectored.null-release",
            lambda c: c.args[2] == "null",
            NULL,
            lambda c, o: not c.args[0] and not o.raised,
        ),
        _refusal("read-vectored.negative-offset", _bad_range(lambda r: r[0] < 0), EOF),
        _refusal("read-vectored.negative-length", _bad_range(lambda r: r[1] < 0), ILLEGAL),
        _refusal(
            "read-vectored.overlap",
            lambda c: not c.has("vector-io-overlapping-ranges") and overlapping(_valid(c)),
            ILLEGAL,
        ),
        _refusal("read-vectored.eof-early", _refuses_early, EOF, _some_empty_past_end),
    ),
    rows=(
        Row((), is_open, _delivers, _says),
        Row((), closed, lambda c, o: Accepted(c.state), lambda c: ("anything",)),
    ),
    clauses=(
        "read-vectored.data",
        "read-vectored.empty",
        "read-vectored.eof-late",
        "read-vectored.exact-end",
        "read-vectored.good-ranges",
        "read-vectored.overlap-allowed",
        "read-vectored.remaining",
        "read-vectored.zero-length",
    ),
)
