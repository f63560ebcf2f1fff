"""Relations of listings, sizes and information to the right ones, for signatures of failures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from fscontract.contract.models.stream_state import State
from fscontract.contract.models.without_stream import right_values
from fscontract.contract.program.filesystem_calls import LISTING_OPERATIONS
from fscontract.contract.program.outcome import Outcome
from fscontract.contract.program.program import Step

#: Operations whose arguments are names of what is listed, and say which call fails.
_NAMED_BY_ARGUMENTS = LISTING_OPERATIONS.keys() | {"pa_select", "pa_named"}
#: Operations whose results are compared by their entries.
_COMPARED = _NAMED_BY_ARGUMENTS | {"fs_info", "fs_size", "fs_sizes"}
_COMPARED |= {"pa_info", "pa_infos", "pa_many", "pa_size"}


def is_named_by_arguments(step: Step) -> bool:
    """Return whether the name of a call has its arguments."""
    return step.op in _NAMED_BY_ARGUMENTS


def is_compared(step: Step) -> bool:
    """Return whether the result of a call is compared by its entries."""
    return step.op in _COMPARED


def call_name(step: Step) -> str:
    """Return the operation of a call, with the arguments that say what it lists."""
    given = step.args if is_named_by_arguments(step) else ()
    return " ".join(map(str, (step.op, *given)))


def of_result(step: Step, state: State, outcome: Outcome) -> str | None:
    """Return how a result differs from the right one; None for calls that are not compared."""
    if not is_compared(step) or outcome.raised:
        return None
    right = right_values(step, state)
    return ", ".join(_differences(right[0], outcome.value)) if right else ""


def _differences(right: Any, actual: Any) -> Iterator[str]:
    if isinstance(right, tuple) and isinstance(actual, tuple):
        yield from _of_entries(right, actual)
    elif type(right) is int and type(actual) is int and right != actual:
        yield "too small" if actual < right else "too large"
    elif type(right) is not type(actual):
        yield f"a {type(actual).__name__}"


def _of_entries(right: tuple[Any, ...], actual: tuple[Any, ...]) -> Iterator[str]:
    """Yield which entries a result lacks or has otherwise, and whether it has more of them."""
    if not all(isinstance(entry, str | tuple) for entry in right):
        yield from _of_items(right, actual)
        return
    expected, found = (Counter(map(_key, entries)) for entries in (right, actual))
    yield from (f"without {name or 'itself'}" for name in expected if name not in found)
    if found.keys() - expected.keys():
        yield "with others"
    if any(count > expected[name] > 0 for name, count in found.items()):
        yield "repeated"
    changed = [one for one in right if one not in actual and found[_key(one)]]
    yield from (f"other {_key(entry) or 'itself'}" for entry in changed)
    if Counter(right) == Counter(actual):
        yield "in another order"


def _of_items(right: tuple[Any, ...], actual: tuple[Any, ...]) -> Iterator[str]:
    """Yield which items differ, counted from 1."""
    if len(right) != len(actual):
        yield "another length"
    pairs = enumerate(zip(right, actual, strict=False), 1)
    yield from (f"item {number}" for number, (one, other) in pairs if one != other)


def _key(entry: Any) -> str:
    name = str(entry[0] if isinstance(entry, tuple) and entry else entry)
    return name.encode("ascii", "backslashreplace").decode()
