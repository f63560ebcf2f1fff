"""Calls that are written once for methods and their coroutines."""

from __future__ import annotations

import asyncio

import pytest

from fscontract.implementations.bindings.awaiting import finished, settled, spelled


async def _soon() -> str:
    await asyncio.sleep(0)
    return "later"


async def _call(value: object) -> object:
    return await settled(value)


def test_call_that_waits_has_its_result_without_an_event_loop() -> None:
    assert finished(_call("now"), "sync") == "now"


def test_coroutine_is_awaited_in_an_event_loop() -> None:
    assert finished(_call(_soon()), "async") == "later"


def test_exceptions_pass() -> None:
    async def fails() -> None:
        raise FileNotFoundError("k")

    for waits in ("sync", "async"):
        with pytest.raises(FileNotFoundError):
            finished(fails(), waits)


def test_lines_are_a_function_only_if_they_await() -> None:
    lines = "result = await store.get(path)", "bytes(await result.bytes())"
    waiting, awaited = (spelled(waits, *lines) for waits in ("sync", "async"))
    assert str(waiting) == "result = store.get(path); bytes(result.bytes())"
    assert awaited.text == "asyncio.run(read())"
    assert awaited.before[-1] == "    return bytes(await result.bytes())"
    assert str(awaited) == "; ".join(lines)
