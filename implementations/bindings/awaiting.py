"""Write a call once for an API whose coroutines mirror its methods."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Coroutine
from typing import Any, TypeVar

from fscontract.contract.script.calls import Call, Form

_Result = TypeVar("_Result")


async def settled(value: Any) -> Any:
    """Return a value, or the result of an awaitable."""
    return await value if inspect.isawaitable(value) else value


def finished(call: Coroutine[Any, Any, _Result], waits: str) -> _Result:
    """Return the result of a call: in an event loop if it is "async", else without one."""
    if waits == "async":
        return asyncio.run(call)
    try:
        call.send(None)
    except StopIteration as done:
        result: _Result = done.value
        return result
    raise RuntimeError("a call that waits was suspended")


def spelled(waits: str, *lines: str) -> Call:
    """Return statements and an expression, in which `await ` marks what a coroutine awaits.

    A call that waits has them without the mark. A coroutine has them as a function.
    """
    if waits == "sync":
        *before, text = (line.replace("await ", "").replace("async ", "") for line in lines)
        return Call(text, Form.EQUAL, before=tuple(before))
    *before, text = lines
    function = ("async def read():", *(f"    {line}" for line in before), f"    return {text}")
    return Call("asyncio.run(read())", Form.EQUAL, before=function, shown="; ".join(lines))
