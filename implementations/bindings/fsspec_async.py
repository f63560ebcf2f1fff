"""Coroutines of fsspec's asynchronous filesystems, and the same calls as source code."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any, TypeVar

from fscontract.contract.binding import Action
from fscontract.contract.program.program import Step
from fscontract.contract.script.calls import Call, Form
from fscontract.implementations.bindings.common import LARGEST, plain_bytes
from fscontract.implementations.bindings.file_operations import Fail
from fscontract.implementations.bindings.filesystem_calls import (
    Target,
    bind_call,
    by_name,
    error_option,
    info_value,
    limits_of,
    parts_of,
    paths_of,
    spell_filesystem,
)

_Result = TypeVar("_Result")


class AsyncTwin:
    """An instance with `asynchronous=True` of the class and with the options of a filesystem.

    It belongs to one event loop, which runs in the thread of each call.
    """

    def __init__(self, filesystem: Any) -> None:
        self._filesystem = filesystem
        self._loop: asyncio.AbstractEventLoop | None = None
        self._twin: Any = None

    def run(self, call: Callable[[Any], Awaitable[_Result]], path: str) -> _Result:
        """Return the awaited result of a call of the instance; `path` is that of a file.

        Raise NotImplementedError if there is no such instance that has the file.
        """
        if self._loop is None or self._loop.is_running():  # the thread of a call that hangs has it
            self._loop, self._twin = asyncio.new_event_loop(), None
        return self._loop.run_until_complete(self._awaited(call, path))

    async def _awaited(self, call: Callable[[Any], Awaitable[_Result]], path: str) -> _Result:
        if self._twin is None:
            self._twin = await twin_of(self._filesystem, path)
        return await call(self._twin)

    def close(self) -> None:
        """Close the sessions of the instance and the loop."""
        loop, self._loop = self._loop, None
        if loop is None or loop.is_running():
            return
        with suppress(Exception):  # verdicts are known
            loop.run_until_complete(_close_session(self._twin))
        with suppress(Exception):
            loop.run_until_complete(loop.shutdown_default_executor())
        loop.close()


async def twin_of(filesystem: Any, path: str) -> Any:
    """Return an asynchronous instance like a filesystem, with a session if it has one.

    Raise NotImplementedError if the class makes no such instances, as that of sshfs, or if they do
    not have the file at `path`, because each has its own files in memory.
    """
    options = {**filesystem.storage_options, "asynchronous": True, "skip_instance_cache": True}
    try:
        twin = type(filesystem)(*filesystem.storage_args, **options)
    except (RuntimeError, TypeError, ValueError) as error:
        raise NotImplementedError(f"no asynchronous instance: {error}") from error
    if not getattr(twin, "asynchronous", False):
        raise NotImplementedError("the instance is not asynchronous")
    if hasattr(twin, "set_session"):
        await twin.set_session()
    try:
        await twin._info(path)
    except FileNotFoundError as error:
        raise NotImplementedError("the instance has other files") from error
    return twin


async def _close_session(twin: Any) -> None:
    if hasattr(twin, "set_session"):
        await (await twin.set_session()).close()


def bind_async(step: Step, target: Target, twin: AsyncTwin, fail: Fail) -> Action:
    """Return a step of ASYNC_OPERATIONS as a function of an object with `path`."""
    call = _CALLS[step.op]

    def run(_target: Target, path: str, *args: Any) -> Any:
        return twin.run(lambda fs: call(fs, path, *args), path)

    return bind_call(run, step, target, fail)


async def _cat_file(fs: Any, path: str, begin: int | None, end: int | None) -> bytes:
    return plain_bytes(await fs._cat_file(path, start=begin, end=end))


async def _cat_missing(fs: Any, path: str) -> bytes:
    return plain_bytes(await fs._cat_file(paths_of(path, "missing")))


async def _cat_ranges(
    fs: Any, path: str, paths: tuple[str, ...], begins: Any, ends: Any, how: str
) -> Any:
    starts, stops, given = limits_of(begins), limits_of(ends), paths_of(path, paths)
    return parts_of(await fs._cat_ranges(given, starts, stops, **error_option(how)))


async def _cat(fs: Any, path: str, paths: str | tuple[str, ...], how: str) -> Any:
    return by_name(await fs._cat(paths_of(path, paths), **error_option(how)), path, paths)


async def _info(fs: Any, path: str, key: str) -> Any:
    return info_value(await fs._info(path), key, path)


async def _read(fs: Any, path: str, count: int | None) -> bytes:
    """Read a stream to its end, in one call or in several."""
    stream = await fs.open_async(path)
    try:
        if count is None:
            return plain_bytes(await stream.read())
        data = bytearray()
        while len(data) < LARGEST and (part := plain_bytes(await stream.read(count))):
            data += part
        return bytes(data)
    finally:
        await _close(stream)


async def _seek(fs: Any, path: str, at: int) -> bytes:
    stream = await fs.open_async(path)
    try:
        moved = stream.seek(at, 2) if at < 0 else stream.seek(at)
        if isinstance(moved, Awaitable):
            await moved
        return plain_bytes(await stream.read())
    finally:
        await _close(stream)


async def _closed(fs: Any, path: str) -> bytes:
    stream = await fs.open_async(path)
    await stream.close()
    try:
        return plain_bytes(await stream.read(1))
    finally:
        await _close(stream)


async def _close(stream: Any) -> None:
    with suppress(Exception):  # no clause is about what close() raises
        await stream.close()


_CALLS: dict[str, Callable[..., Awaitable[Any]]] = {
    "fs_async_cat_file": _cat_file,
    "fs_async_cat_missing": _cat_missing,
    "fs_async_cat_ranges": _cat_ranges,
    "fs_async_cat": _cat,
    "fs_async_info": _info,
    "fs_async_read": _read,
    "fs_async_seek": _seek,
    "fs_async_closed": _closed,
}


# Source code ---------------------------------------------------------------------------------


_TWIN = (
    'options = {**fs.storage_options, "asynchronous": True}',
    "twin = type(fs)(*fs.storage_args, **options)",
)
#: The call that waits for a coroutine, and the start of its source code.
_WAITING = {
    "fs_async_cat_file": "cat_file",
    "fs_async_cat_missing": "cat_file",
    "fs_async_cat_ranges": "cat_ranges",
    "fs_async_cat": "cat",
    "fs_async_info": "info",
}


def spell_async(step: Step) -> Call | None:
    """Return a step as an awaited call on `path`; None if it is none."""
    if step.op not in _WAITING:
        return _spell_stream(step) if step.op in _CALLS else None
    waiting = spell_filesystem(Step(step.op.replace("_async", ""), step.args))
    assert waiting is not None
    text, *before = (
        _awaited_text(line, _WAITING[step.op], "asyncio.run(twin._{})")
        for line in (waiting.text, *waiting.before)
    )
    shown = _awaited_text(str(waiting), _WAITING[step.op], "await fs._{}")
    return replace(waiting, text=text, before=(*_TWIN, *before), shown=shown)


def _awaited_text(text: str, method: str, form: str) -> str:
    """Return source code in which each call of a method of `fs` is in a form that awaits it."""
    head, called, rest = text.partition(f"fs.{method}(")
    if not called:
        return text
    depth, end = 1, 0
    while depth:
        depth += {"(": 1, ")": -1}.get(rest[end], 0)
        end += 1
    awaited = form.format(f"{method}({rest[:end]}")
    return head + awaited + _awaited_text(rest[end:], method, form)


def _spell_stream(step: Step) -> Call:
    """Return reads of a stream as a function, and in reports its statements."""
    lines = ["stream = await twin.open_async(path)"]
    if step.op == "fs_async_seek":
        from_end = isinstance(step.args[0], int) and step.args[0] < 0
        at = f"{step.args[0]}, 2" if from_end else step.args[0]
        lines += [f"stream.seek({at})", "return await stream.read()"]
    elif step.op == "fs_async_closed":
        lines += ["await stream.close()", "return await stream.read(1)"]
    elif step.args[0] is None:
        lines += ["return await stream.read()"]
    else:
        reading = f"while part := await stream.read({step.args[0]}):"
        lines += ['data = b""', reading, "    data += part", "return data"]
    function = ("async def read():", *(f"    {line}" for line in lines))
    shown = "; ".join(lines).replace("twin", "fs").replace(":;     ", ": ").replace("return ", "")
    return Call("asyncio.run(read())", Form.EQUAL, before=(*_TWIN, *function), shown=shown)
