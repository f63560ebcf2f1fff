"""Hypothesis strategies for faults."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hypothesis import strategies as st

from fscontract.contract.program.fault_kinds import FaultKind, Parameter
from fscontract.contract.program.faults import FAULTS, Fault, FaultPlan

#: The largest generated amount in bytes.
_MOST_BYTES = 1 << 16


def faults(kinds: Iterable[str] = tuple(FAULTS), requests: int = 8) -> st.SearchStrategy[Fault]:
    """Return faults of these kinds at the first requests.

    They shrink to the first kind at the first request, without an amount. They corrupt no bytes
    silently, because no reader can notice that. Raise ValueError for an empty or unknown kind.
    """
    names = set(kinds)
    if not names <= FAULTS.keys() or not names:
        raise ValueError(f"kinds must be some of {', '.join(FAULTS)}, not {sorted(names)}")
    return st.one_of([_of(kind, requests) for name, kind in FAULTS.items() if name in names])


def fault_plans(
    kinds: Iterable[str] = tuple(FAULTS), requests: int = 8, max_faults: int = 3
) -> st.SearchStrategy[FaultPlan]:
    """Return plans of up to `max_faults` such faults; they shrink to fewer, and to no fault."""
    several_faults = st.lists(faults(kinds, requests), max_size=max_faults)
    return several_faults.map(lambda several: FaultPlan(tuple(several)))


def _of(kind: FaultKind, requests: int) -> st.SearchStrategy[Fault]:
    nth = st.integers(1, requests)
    numbers = st.integers(1, 5)
    times = numbers if kind.times == 1 else st.none() | numbers
    parameters = {p.name: _values(p) for p in kind.parameters.values()}
    return st.builds(Fault, st.just(kind.name), nth, times, **parameters)


def _values(parameter: Parameter) -> st.SearchStrategy[Any]:
    if parameter.name == "amount":
        return st.none() | st.integers(int(parameter.least), _MOST_BYTES)
    return st.sampled_from((None, *parameter.values))
