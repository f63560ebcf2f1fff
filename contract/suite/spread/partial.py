"""The evidence of a part of a run, as it goes from one process to another: JSON, nothing else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fscontract.contract.suite.findings import Examined
from fscontract.contract.suite.isolate.wire import counterexample_from_json, counterexample_to_json
from fscontract.contract.suite.spread.part import Order
from fscontract.contract.suite.spread.recording import Record


@dataclass
class Family:
    """What the threads of one family of programs showed, and whether others come after it."""

    order: Order
    exercised: Counter[str] = field(default_factory=Counter)
    counts: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)
    stopped: bool = False


@dataclass
class Partial:
    """What a part showed."""

    records: list[Record]
    exercised: Counter[str]
    unsaid: set[str]
    counts: Counter[str]
    families: list[Family] = field(default_factory=list)
    #: What can be put at a path to be opened, as far as that was tried.
    scenes: frozenset[str] = frozenset()
    #: How many more descriptors, or threads, there were at the end than at the beginning.
    growth: int = 0
    warnings: tuple[str, ...] = ()
    versions: dict[str, str] = field(default_factory=dict)


def partial_to_json(partial: Partial) -> dict[str, Any]:
    """The evidence as an object."""
    return {
        "records": [_record_to_json(record) for record in partial.records],
        "exercised": dict(partial.exercised),
        "unsaid": sorted(partial.unsaid),
        "counts": dict(partial.counts),
        "families": [vars(family) for family in partial.families],
        "scenes": sorted(partial.scenes),
        "growth": partial.growth,
        "warnings": partial.warnings,
        "versions": partial.versions,
    }


def partial_from_json(data: Mapping[str, Any]) -> Partial:
    """The evidence that `partial_to_json` wrote."""
    return Partial(
        records=[_record_from_json(record) for record in data["records"]],
        exercised=Counter(data["exercised"]),
        unsaid=set(data["unsaid"]),
        counts=Counter(data["counts"]),
        families=[_family_from_json(family) for family in data["families"]],
        scenes=frozenset(data["scenes"]),
        growth=data["growth"],
        warnings=tuple(data["warnings"]),
        versions=dict(data["versions"]),
    )


def _family_from_json(data: Mapping[str, Any]) -> Family:
    counters = {name: Counter(data[name]) for name in ("exercised", "counts")}
    return Family(**{**data, **counters, "order": _order(data["order"])})


def _record_to_json(record: Record) -> dict[str, Any]:
    found = record.found
    return {
        "kind": record.kind,
        "order": record.order,
        "signature": record.signature,
        "found": found
        and {
            "clause": found.clause,
            "shown": counterexample_to_json(found.shown),
            "shadowed": found.shadowed,
        },
        "exercised": dict(record.exercised),
        "unsaid": sorted(record.unsaid),
        "programs": record.programs,
        "operations": record.operations,
    }


def _record_from_json(data: Mapping[str, Any]) -> Record:
    found = data["found"]
    if found is not None:
        shown = counterexample_from_json(found["shown"])
        found = Examined(found["clause"], shown, found["shadowed"])
    return Record(
        kind=data["kind"],
        order=_order(data["order"]),
        signature=tuple(data["signature"]),
        found=found,
        exercised=Counter(data["exercised"]),
        unsaid=frozenset(data["unsaid"]),
        programs=data["programs"],
        operations=data["operations"],
    )


def _order(data: Any) -> Order:
    phase, number = data
    return phase, number
