"""Calls of OpenDAL's operators and their files, and the same calls as source code."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from fscontract.contract.binding import Action
from fscontract.contract.program.program import Step
from fscontract.contract.script.calls import Call, path_text
from fscontract.implementations.bindings.awaiting import finished, settled, spelled
from fscontract.implementations.bindings.common import plain_bytes
from fscontract.implementations.bindings.file_operations import Fail
from fscontract.implementations.bindings.filesystem_calls import (
    Target,
    bind_call,
    paths_of,
    with_others,
)


def bind_opendal(step: Step, target: Target, fail: Fail) -> Action:
    """Return a step of OPENDAL_OPERATIONS as a function of an object with `path`."""
    call = _CALLS[step.op]

    def run(target: Target, path: str, *args: Any) -> Any:
        *given, waits = args
        operator = target.filesystem
        if waits == "async":
            operator = operator.to_async_operator()
        return finished(call(operator, path, *given), waits)

    return bind_call(run, step, target, fail)


def _options(at: int | None, count: int | None) -> dict[str, int]:
    named = {"offset": at, "size": count}
    return {name: number for name, number in named.items() if number is not None}


async def _read(operator: Any, path: str, at: int | None, count: int | None) -> bytes:
    return plain_bytes(await settled(operator.read(path, **_options(at, count))))


async def _missing(operator: Any, path: str) -> bytes:
    return plain_bytes(await settled(operator.read(paths_of(path, "missing"))))


async def _file(operator: Any, path: str, at: int, count: int | None) -> bytes:
    file = await settled(operator.open(path, "rb"))
    try:
        await settled(file.seek(at))
        given = () if count is None else (count,)
        return plain_bytes(await settled(file.read(*given)))
    finally:
        await settled(file.close())


async def _seek(operator: Any, path: str, at: int) -> Any:
    file = await settled(operator.open(path, "rb"))
    try:
        return await settled(file.seek(at))
    finally:
        await settled(file.close())


async def _stat(operator: Any, path: str) -> Any:
    return (await settled(operator.stat(path))).content_length


async def _exists(operator: Any, path: str, name: str) -> Any:
    return await settled(operator.exists(paths_of(path, name)))


_CALLS: dict[str, Callable[..., Coroutine[Any, Any, Any]]] = {
    "od_read": _read,
    "od_missing": _missing,
    "od_file": _file,
    "od_seek": _seek,
    "od_stat": _stat,
    "od_exists": _exists,
}


# Source code ---------------------------------------------------------------------------------


def spell_opendal(step: Step) -> Call | None:
    """Return a step as a call of `operator` on `path`; None if it is none."""
    spell = _SPELLINGS.get(step.op)
    if spell is None:
        return None
    *args, waits = step.args
    lines = spell(*args)
    if waits == "async":
        lines = ("source = operator.to_async_operator()", *lines)
    source = "source" if waits == "async" else "operator"
    call = spelled(waits, *(line.replace("@", source) for line in lines))
    return with_others(step, call, "operator.write(other, {})")


def _spell_read(at: int | None, count: int | None) -> tuple[str, ...]:
    options = "".join(f", {name}={number}" for name, number in _options(at, count).items())
    return (f"await @.read(path{options})",)


_FILE = 'file = await @.open(path, "rb")'
_SPELLINGS: dict[str, Callable[..., tuple[str, ...]]] = {
    "od_read": _spell_read,
    "od_missing": lambda: (f"await @.read({path_text('missing')})",),
    "od_file": lambda at, count: (
        _FILE,
        f"await file.seek({at})",
        f"await file.read({'' if count is None else count})",
    ),
    "od_seek": lambda at: (_FILE, f"await file.seek({at})"),
    "od_stat": lambda: ("(await @.stat(path)).content_length",),
    "od_exists": lambda name: (f"await @.exists({path_text(name)})",),
}
