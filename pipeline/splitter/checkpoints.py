"""The state of a splitter as one line of JSON, and what is read of one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from fscontract.contract.errors import IllegalArgumentException

#: The version of checkpoints that is written here; others are refused.
VERSION = 1


def write_checkpoint(state: Mapping[str, Any]) -> str:
    """The state as one line of JSON."""
    return json.dumps({"checkpoint": VERSION, **state})


def read_checkpoint(text: str, form: Mapping[str, Any]) -> dict[str, Any]:
    """The state that was written, with the keys of `form`; IllegalArgumentException."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise IllegalArgumentException(f"a checkpoint is no JSON: {error}") from None
    if not isinstance(data, dict) or data.pop("checkpoint", None) != VERSION:
        raise IllegalArgumentException(f"not a checkpoint of version {VERSION}")
    if data.keys() != form.keys():
        odd = ", ".join(sorted(data.keys() ^ form.keys()))
        raise IllegalArgumentException(f"a checkpoint of another splitter: {odd}")
    for name in ("operator", "sequence"):
        if type(data[name]) is not int or data[name] < 0:
            raise IllegalArgumentException(f"{name} of a checkpoint is no count")
    pending = data["pending"]
    if pending is not None and not (
        isinstance(pending, list) and [type(x) for x in pending] == [str, int]
    ):
        raise IllegalArgumentException("pending of a checkpoint is no file with a count")
    return data
