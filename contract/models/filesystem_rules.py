"""Tables of calls whose results do not depend on a stream.

Each table is made of one function, which returns the `Rule` of a call: the clause that applies, and
the results and exceptions that the call may have.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple, TypeAlias

from fscontract.contract.models.stream_state import Failure, State
from fscontract.contract.models.transition_table import Accepted, Call, Operation, Row
from fscontract.contract.program.filesystem_calls import OTHER, REWRITTEN
from fscontract.contract.program.outcome import Kind, Outcome, returned, words
from fscontract.contract.program.program import Step

#: The exception of a path without a file, and any exception.
MISSING = frozenset({Kind.NOT_FOUND})
ANY_ERROR = frozenset(Kind) - {Kind.RETURNED}
#: An exception in a list of results.
RAISED = True
#: Longer files are not searched for bytes: they may be sparse.
_LARGEST_SEARCHED = 1 << 16


class Rule(NamedTuple):
    """The right outcomes of a call: it returns one of `values`, or raises one of `kinds`."""

    clause: str
    values: tuple[Any, ...] = ()
    kinds: frozenset[Kind] = frozenset()
    #: Whether the documentation only recommends it.
    should: bool = False
    #: Where it does, the clause that bytes violate that are in no file; "" if any are permitted.
    of_data: str = ""


#: Returns the rule of a call without anchors on a file with this content.
Rules: TypeAlias = Callable[..., Rule]
#: For each operation its rules, and the clauses that these name.
RuleTable: TypeAlias = Mapping[str, tuple[Rules, tuple[str, ...]]]


def sliced(data: bytes, begin: int | None, end: int | None) -> bytes:
    """Return a range of a file, which may be sparse."""
    return bytes(data[begin:end])


def content_of(data: bytes, path: str) -> bytes | None:
    """Return the bytes at a path; None if there is no file."""
    return {"file": data, "other": OTHER, "rewritten": REWRITTEN, "created": OTHER}.get(path)


def prefixes(data: bytes) -> tuple[bytes, ...]:
    """Return what a read of at most these bytes may return: at least one byte, if there is one."""
    return tuple(data[:count] for count in range(len(data), 0, -1)) or (b"",)


def named(group: str, start: str, *names: str) -> tuple[str, ...]:
    """Return the ids of clauses that begin with the same two words."""
    return tuple(f"{group}.{start}.{name}" for name in names)


def right_values(table: RuleTable, step: Step, state: State) -> tuple[Any, ...]:
    """Return the values that a call without anchors may return; none of other operations."""
    if step.op not in table:
        return ()
    found = _rules(table, Call(step.op, step.args, state, frozenset()))
    return tuple(value for rule in found for value in rule.values)


def operations(
    table: RuleTable, by_content: Mapping[str, tuple[str, ...]] | None = None
) -> dict[str, Operation]:
    """Return the transition table of each operation; `by_content` has clauses that data decide."""
    return {
        op: Operation(
            (), tuple(_row(table, clause) for clause in found), (by_content or {}).get(op, ())
        )
        for op, (_, found) in table.items()
    }


def _rules(table: RuleTable, call: Call) -> list[Rule]:
    """Return the rule of a call for each content that the file may have."""
    rules = table[call.op][0]
    return [rules(data, *call.args) for data in reversed(call.state.versions)]


def _same(right: Any, value: Any) -> bool:
    """Return whether a value is the right one; True and 1 differ."""
    if isinstance(right, tuple) and isinstance(value, tuple):
        return len(right) == len(value) and all(map(_same, right, value))
    return right is value if isinstance(right, bool) or right is None else bool(right == value)


def _is_invented(value: Any, state: State) -> bool:
    """Return whether a result has bytes that are at no offset of a file."""
    if isinstance(value, tuple):
        return any(_is_invented(one, state) for one in value)
    if not isinstance(value, bytes) or state.longest > _LARGEST_SEARCHED:
        return False
    return not any(value in bytes(data) for data in (*state.versions, OTHER, REWRITTEN))


def _accept(table: RuleTable, call: Call, outcome: Outcome) -> Accepted | Failure:
    rules = _rules(table, call)
    for rule in rules:
        found = not outcome.raised and any(_same(one, outcome.value) for one in rule.values)
        if found or outcome.kind in rule.kinds:
            return Accepted(call.state)
    first = rules[0]
    if first.should:
        if first.of_data and not outcome.raised and _is_invented(outcome.value, call.state):
            return Failure(first.of_data, "", "value")
        return Accepted(call.state, missed=(first.clause,))
    accepted = not first.values and not outcome.raised
    aspect = "accepted" if accepted else "raised" if outcome.raised else "value"
    return Failure(first.clause, "", aspect)


def _says(table: RuleTable, call: Call) -> tuple[str, ...]:
    rule = _rules(table, call)[0]
    raises = (f"raises {words(rule.kinds)}",) if len(rule.kinds) < len(ANY_ERROR) else ()
    anything = ("raises an exception",) if rule.kinds and not raises else ()
    shown = tuple(str(returned(value)).replace("returned", "returns") for value in rule.values)
    return shown + (raises if rule.kinds else ()) + anything


def _row(table: RuleTable, clause: str) -> Row:
    def applies(call: Call) -> bool:
        return _rules(table, call)[0].clause == clause

    def others(call: Call) -> tuple[str, ...]:
        rule = _rules(table, call)[0]
        return (rule.of_data,) if rule.should and rule.of_data else ()

    return Row((clause,), applies, partial(_accept, table), partial(_says, table), others)
