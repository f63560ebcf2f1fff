"""Calls of a builder that say in a plainer way what others say, or that say less.

What is left when a failing program has been made small is what it is blamed on. So if it fails with
an ordinary value, too, the odd one must go.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from fscontract.contract.anchors import Argument, is_anchor
from fscontract.contract.models.openfile import read_value
from fscontract.contract.openfile_options import BUFFER_SIZE, option_table
from fscontract.contract.opening import BuilderCall

#: For each type of an option an ordinary value, and the form of the methods that take it.
_ORDINARY: dict[str, tuple[str, Any]] = {
    "long": ("_long", 1),
    "int": ("_long", 1),
    "boolean": ("", True),
    "policy-list": ("", "default"),
}
#: What a status may be instead, if that does not matter.
_PLAINER_STATUS = {
    "parents": "own",
    "scheme": "own",
    "subclass": "own",
    "located": "own",
    "stale": "own",
    "name-subclass": "name",
}


def plainer(calls: tuple[BuilderCall, ...]) -> Iterator[tuple[BuilderCall, ...]]:
    """The calls with one of them made plainer; each chain of them is finite."""
    for index, call in enumerate(calls):
        others = calls[:index] + calls[index + 1 :]
        for simpler in _plainer(call, others):
            yield (*calls[:index], simpler, *calls[index + 1 :])


def smaller_numbers(value: Argument) -> Iterator[int]:
    """Numbers that read more easily than this number or anchor; each chain of them is finite."""
    if type(value) is int and value > 0:
        yield from (n for n in (0, 1, 2, 4) if n < value)
        if value > 8:
            yield value // 2
            yield value - 1
    elif isinstance(value, str) and value.startswith(("len", "buf")):
        yield from (0, 1, 2, 4)


def _plainer(call: BuilderCall, others: Iterable[BuilderCall]) -> Iterator[BuilderCall]:
    method, *args = call
    if method == "with_file_status":
        yield from _plainer_status(*args)
    elif method == "buffer_size":
        yield "opt_long", BUFFER_SIZE, args[0]
        yield from ((method, n) for n in smaller_numbers(args[0]))
    elif args[0] is not None and args[1] is not None:
        if method.startswith("must") and any(_is_optional(other) for other in others):
            yield "opt" + method.removeprefix("must"), *args
        yield from _plainer_setting(method, *args)


def _plainer_status(kind: str, length: Argument) -> Iterator[BuilderCall]:
    if kind in _PLAINER_STATUS:
        yield "with_file_status", _PLAINER_STATUS[kind], length
    if length is not None:
        yield "with_file_status", kind, None
        yield from (("with_file_status", kind, n) for n in smaller_numbers(length))


def _is_optional(call: BuilderCall) -> bool:
    return bool(call[0].startswith("opt") or call[0] == "buffer_size")


def _plainer_setting(method: str, key: str, value: Any) -> Iterator[BuilderCall]:
    """The same key set to an ordinary value, to what the value means, and to less."""
    table = option_table()
    way = method.partition("_")[0]
    if key not in table.standard_keys:
        if (method, value) != (way, "1"):
            yield way, key, "1"
        return
    form, ordinary = _ORDINARY[table.options[key].type]
    if method.endswith(("_long", "_double")) and is_anchor(value):
        meaning = value
    else:
        meaning = read_value(method, value, key, table)
    if meaning is None:
        yield way + form, key, ordinary
        return
    if (method, value) != (way + form, meaning) or type(value) is not type(meaning):
        yield way + form, key, meaning
    if form == "":
        if meaning not in (True, False, ordinary):
            yield way, key, ordinary
        return
    yield from ((way + form, key, n) for n in smaller_numbers(meaning))
