"""Check data from outside against the JSON Schemas that ship with the package."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Any

from fscontract.contract.untrusted import short

_TYPES = {
    "boolean": "true or false",
    "integer": "a whole number",
    "number": "a number",
    "string": "text",
    "object": "a mapping",
    "array": "a list",
}


def mistakes(data: Any, schema: str) -> Iterator[str]:
    """Yield what is wrong in `data` by `specs/<schema>.schema.json`, each in one line."""
    for error in _validator(schema).iter_errors(data):
        keys = (f"[{key}]" if isinstance(key, int) else f".{key}" for key in error.absolute_path)
        place = "".join(keys).removeprefix(".") or "top level"
        yield f"{place}: {_explain(error)}"


@cache
def _validator(schema: str) -> Any:
    """Return the validator; 512.0 is not a whole number, as it is in JSON Schema."""
    from jsonschema import Draft202012Validator, validators

    text = files("fscontract.specs").joinpath(f"{schema}.schema.json").read_text("utf-8")
    types = Draft202012Validator.TYPE_CHECKER
    whole = types.redefine("integer", lambda checker, value: type(value) is int)
    extend: Any = validators.extend
    return extend(Draft202012Validator, type_checker=whole)(json.loads(text))


def _explain(error: Any) -> str:
    kind, allowed = error.validator, error.validator_value
    if kind == "additionalProperties":
        known = error.schema["properties"]
        extra = [key for key in error.instance if key not in known]
        return f"unknown {', '.join(map(repr, extra))}; allowed: {', '.join(known)}"
    if kind == "type":
        return f"{_TYPES[allowed]} is wanted, not {short(error.instance)}"
    if kind == "pattern":
        return f"{error.schema['description']}, not {short(error.instance)}"
    return " ".join(str(error.message).split())[:200]
