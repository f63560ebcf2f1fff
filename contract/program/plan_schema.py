"""The JSON Schema of plans of faults, generated from the kinds of faults."""

from __future__ import annotations

from typing import Any

from fscontract.contract.program.fault_kinds import (
    MOST_BYTES,
    MOST_REQUESTS,
    MOST_SECONDS,
    OPERATIONS,
    FaultKind,
    Parameter,
)
from fscontract.contract.program.faults import FAULTS, MOST_FAULTS, MOST_TEXT

#: Parameters that may be fractions.
_FRACTIONS = ("seconds", "rate")


def plan_schema() -> dict[str, Any]:
    """Return the schema of the object that `FaultPlan.to_json` returns."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Plan of faults",
        "type": "object",
        "required": ["faults"],
        "additionalProperties": False,
        "properties": {
            "faults": {
                "type": "array",
                "maxItems": MOST_FAULTS,
                "items": {"oneOf": [_fault(kind) for kind in FAULTS.values()]},
            }
        },
    }


def _fault(kind: FaultKind) -> dict[str, Any]:
    operations = {"enum": [name for name in OPERATIONS if name in kind.operations]}
    listed = {"type": "array", "items": operations, "minItems": 1}
    return {
        "description": kind.meaning,
        "type": "object",
        "required": ["kind"],
        "additionalProperties": False,
        "properties": {
            "kind": {"const": kind.name},
            **{name: _parameter(p) for name, p in kind.parameters.items()},
            "operation": {"anyOf": [operations, listed]},
            **_AIMS,
        },
    }


def _parameter(parameter: Parameter) -> dict[str, Any]:
    if parameter.choices:
        return {"enum": list(parameter.choices), "default": parameter.default}
    number = "number" if parameter.name in _FRACTIONS else "integer"
    return {**_number(number, parameter.least, parameter.most), "default": parameter.default}


def _number(kind: str, minimum: float, maximum: float) -> dict[str, Any]:
    return {"type": kind, "minimum": minimum, "maximum": maximum}


def _extent(number: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a pair of the first and the end, which is null if open."""
    end = {"anyOf": [number, {"type": "null"}]}
    return {"type": "array", "prefixItems": [number, end], "minItems": 2, "maxItems": 2}


_GLOB = {"type": "string", "minLength": 1, "maxLength": MOST_TEXT}
_COUNT = _number("integer", 1, MOST_REQUESTS)
_BYTES = _number("integer", 0, MOST_BYTES)
_AIMS: dict[str, Any] = {
    "path": _GLOB,
    "offset": {"anyOf": [_BYTES, _extent(_BYTES)]},
    "attempt": _COUNT,
    "thread": _GLOB,
    "task": _GLOB,
    "during": _extent(_number("number", 0, MOST_SECONDS)),
    "nth": _COUNT,
    "times": {"anyOf": [_COUNT, {"const": "all"}]},
    "probability": _number("number", 0, 1),
    "seed": {"type": "integer"},
}
