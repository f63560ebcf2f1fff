"""Convert messages between the processes of a run to JSON and back, by the types of fields.

Objects of dataclasses become JSON objects. Unlike with pickle, only the expected types can be made
from a message.
"""

from __future__ import annotations

import collections
import types
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import date, datetime
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from fscontract.contract.program.program import Program
from fscontract.contract.runner import events
from fscontract.contract.spec.clauses import Clause, clauses

_Value = TypeVar("_Value")


def to_json(value: Any) -> Any:
    """Return a value as plain data: a clause by its id, a set as a sorted list."""
    if isinstance(value, Clause):
        return value.id
    if isinstance(value, Program):
        return value.to_json()
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Path):
        return str(value)
    if is_dataclass(value):
        return {f.name: to_json(getattr(value, f.name)) for f in fields(value) if f.init}
    if isinstance(value, Mapping):
        return {key: to_json(one) for key, one in value.items()}
    if isinstance(value, set | frozenset):
        return sorted(value)
    if isinstance(value, list | tuple):
        return [to_json(one) for one in value]
    return value


def from_json(kind: type[_Value], data: Any) -> _Value:
    """Return a value of this type from the data that `to_json` made."""
    made: _Value = _made(kind, data)
    return made


def event_to_json(event: events.Event) -> dict[str, Any]:
    """Return an event as an object with the name of its class."""
    return {"event": type(event).__name__, **to_json(event)}


def event_from_json(data: Mapping[str, Any]) -> events.Event:
    """Return the event that `event_to_json` wrote."""
    kinds: dict[str, Any] = {kind.__name__: kind for kind in get_args(events.Event)}
    event: events.Event = _made(kinds[data["event"]], data)
    return event


def _made(kind: Any, data: Any) -> Any:
    origin, arguments = get_origin(kind) or kind, get_args(kind)
    if origin in (Union, types.UnionType):
        if data is None:
            return None
        (kind,) = (one for one in arguments if one is not types.NoneType)
        return _made(kind, data)
    if origin is Clause:
        return clauses()[data]
    if origin is Program:
        return Program.from_json(data)
    if is_dataclass(origin):
        cls: Any = origin
        return cls(**{name: _made(hint, data[name]) for name, hint in _hints(cls).items()})
    if origin in (list, tuple, set, frozenset):
        return origin(_made(arguments[0], one) for one in data)
    if origin in (dict, Mapping, collections.abc.Mapping):
        return {key: _made(arguments[1], one) for key, one in data.items()}
    if origin is collections.Counter:
        return collections.Counter(data)
    if origin in (date, datetime):
        return origin.fromisoformat(data)
    if isinstance(origin, type) and issubclass(origin, Enum | Path):
        return origin(data)
    return data


@cache
def _hints(kind: type) -> dict[str, Any]:
    """Return the types of a dataclass's fields that `__init__` accepts."""
    hints = get_type_hints(kind)
    return {field.name: hints[field.name] for field in fields(kind) if field.init}
