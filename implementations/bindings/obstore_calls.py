"""Calls of obstore's stores, and the same calls as source code."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from fscontract.contract.binding import Action
from fscontract.contract.program.program import Step
from fscontract.contract.script.calls import Call, path_text
from fscontract.contract.script.layout import literal
from fscontract.implementations.bindings.awaiting import finished, settled, spelled
from fscontract.implementations.bindings.common import WrongType, plain_bytes, several
from fscontract.implementations.bindings.file_operations import Fail
from fscontract.implementations.bindings.filesystem_calls import Target, bind_call, paths_of

#: Bytes of the buffer of a reader: fewer than those of most files.
_BUFFER = 4


def bind_obstore(step: Step, target: Target, fail: Fail) -> Action:
    """Return a step of OBSTORE_OPERATIONS as a function of an object with `path`.

    The filesystem of the target has the attributes `store`, `open_reader` and `open_reader_async`.
    """
    call = _CALLS[step.op]

    def run(target: Target, path: str, *args: Any) -> Any:
        suffix = "_async" if args[-1] == "async" else ""
        return finished(call(_Source(target.filesystem, path, suffix), *args[:-1]), args[-1])

    return bind_call(run, step, target, fail)


class _Source:
    """A store, the path of an object, and the end of the names of its methods."""

    def __init__(self, binding: Any, path: str, suffix: str) -> None:
        self.binding, self.path, self.suffix = binding, path, suffix

    async def call(self, method: str, path: str = "", /, **options: Any) -> Any:
        """Return the result of a method of the store."""
        made = getattr(self.binding.store, method + self.suffix)
        return await settled(made(path or self.path, **options))

    async def reader(self, path: str = "") -> Any:
        """Return an opened reader."""
        opened = getattr(self.binding, "open_reader" + self.suffix)
        return await settled(opened(path or self.path, _BUFFER))

    async def data(self, result: Any) -> bytes:
        """Return the bytes of the result of a get."""
        return plain_bytes(await settled(getattr(result, "bytes" + self.suffix)()))


def _options(begin: Any, end: Any) -> dict[str, Any]:
    """Return the options of a get: none, an offset, or a range."""
    if begin is None:
        return {}
    return {"options": {"range": {"offset": begin} if end is None else (begin, end)}}


async def _get(source: _Source, begin: int | None, end: int | None) -> bytes:
    return await source.data(await source.call("get", **_options(begin, end)))


async def _get_suffix(source: _Source, count: int) -> bytes:
    return await source.data(await source.call("get", options={"range": {"suffix": count}}))


async def _get_result(source: _Source, begin: int | None, end: int | None, part: str) -> Any:
    result = await source.call("get", **_options(begin, end))
    return result.meta["size"] if part == "size" else tuple(result.range)


async def _stream(source: _Source, count: int) -> bytes:
    """Return the bytes of a stream; raise WrongType if a chunk but the last one is too short."""
    stream = (await source.call("get")).stream(min_chunk_size=count)
    if source.suffix:
        chunks = [plain_bytes(chunk) async for chunk in stream]
    else:
        chunks = [plain_bytes(chunk) for chunk in stream]
    if any(len(chunk) < count for chunk in chunks[:-1]):
        raise WrongType(f"expected chunks of {count} bytes, got {[*map(len, chunks)]}")
    return b"".join(chunks)


async def _get_range(source: _Source, begin: int, end: int, given: str) -> bytes:
    limit = {"length": end - begin} if given == "length" else {"end": end}
    return plain_bytes(await source.call("get_range", start=begin, **limit))


async def _get_ranges(
    source: _Source, begins: tuple[int, ...], ends: tuple[int, ...], given: str
) -> tuple[bytes, ...]:
    parts = await source.call("get_ranges", **_ranges(begins, ends, given))
    return tuple(map(plain_bytes, several(parts)))


def _ranges(begins: tuple[int, ...], ends: tuple[int, ...], given: str) -> dict[str, Any]:
    """Return the arguments of several ranges."""
    starts = {"starts": [*begins]}
    if given == "length":
        lengths = [end - begin for begin, end in zip(begins, ends, strict=False)]
        return {**starts, "lengths": lengths}
    apart = {"coalesce": 0} if given == "apart" else {}
    return {**starts, "ends": [*ends], **apart}


async def _head(source: _Source) -> Any:
    return (await source.call("head"))["size"]


async def _missing(source: _Source, method: str) -> Any:
    path = paths_of(source.path, "missing")
    if method == "open_reader":
        return bool(await source.reader(path))
    limits = {"start": 0, "end": 1} if method == "get_range" else {}
    return bool(await source.call(method, path, **limits))


async def _reader(source: _Source, at: int, count: int | None) -> bytes:
    reader = await source.reader()
    await settled(reader.seek(at))
    given = () if count is None else (count,)
    return plain_bytes(await settled(reader.read(*given)))


async def _reader_size(source: _Source) -> Any:
    return (await source.reader()).size


_CALLS: dict[str, Callable[..., Coroutine[Any, Any, Any]]] = {
    "ob_get": _get,
    "ob_get_suffix": _get_suffix,
    "ob_get_result": _get_result,
    "ob_stream": _stream,
    "ob_get_range": _get_range,
    "ob_get_ranges": _get_ranges,
    "ob_head": _head,
    "ob_missing": _missing,
    "ob_reader": _reader,
    "ob_reader_size": _reader_size,
}


# Source code ---------------------------------------------------------------------------------


def spell_obstore(step: Step) -> Call | None:
    """Return a step as a call of `store` on `path`; None if it is none."""
    spell = _SPELLINGS.get(step.op)
    if spell is None:
        return None
    *args, waits = step.args
    suffix = "_async" if waits == "async" else ""
    return spelled(waits, *(line.replace("@", suffix) for line in spell(*args)))


def _given(**options: Any) -> str:
    return "".join(f", {name}={_literal(value)}" for name, value in options.items())


def _literal(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f'"{key}": {_literal(one)}' for key, one in value.items()) + "}"
    return repr(value) if isinstance(value, tuple) else literal(value)


def _spell_get(begin: Any, end: Any) -> tuple[str, ...]:
    result = f"result = await store.get@(path{_given(**_options(begin, end))})"
    return result, "bytes(await result.bytes@())"


def _spell_suffix(count: int) -> tuple[str, ...]:
    options = _given(options={"range": {"suffix": count}})
    return f"result = await store.get@(path{options})", "bytes(await result.bytes@())"


def _spell_result(begin: Any, end: Any, part: str) -> tuple[str, ...]:
    result = f"result = await store.get@(path{_given(**_options(begin, end))})"
    return result, 'result.meta["size"]' if part == "size" else "[*result.range]"


def _spell_stream(count: int) -> tuple[str, ...]:
    stream = f"stream = (await store.get@(path)).stream(min_chunk_size={count})"
    enough = f"all(len(one) >= {count} for one in chunks[:-1])"
    joined = f'b"".join(chunks) if {enough} else chunks'
    return stream, "chunks = [bytes(one) async for one in stream]", joined


def _spell_ranges(begins: Any, ends: Any, given: str) -> tuple[str, ...]:
    parts = f"parts = await store.get_ranges@(path{_given(**_ranges(begins, ends, given))})"
    return parts, "[bytes(one) for one in parts]"


def _spell_range(begin: int, end: int, given: str) -> tuple[str, ...]:
    limit = {"length": end - begin} if given == "length" else {"end": end}
    return (f"bytes(await store.get_range@(path{_given(start=begin, **limit)}))",)


def _spell_missing(method: str) -> tuple[str, ...]:
    path = path_text("missing")
    if method == "open_reader":
        return (f"bool(await obstore.open_reader@(store, {path}))",)
    limits = ", start=0, end=1" if method == "get_range" else ""
    return (f"bool(await store.{method}@({path}{limits}))",)


_READER = f"reader = await obstore.open_reader@(store, path, buffer_size={_BUFFER})"
_SPELLINGS: dict[str, Callable[..., tuple[str, ...]]] = {
    "ob_get": _spell_get,
    "ob_get_suffix": _spell_suffix,
    "ob_get_result": _spell_result,
    "ob_stream": _spell_stream,
    "ob_get_range": _spell_range,
    "ob_get_ranges": _spell_ranges,
    "ob_head": lambda: ('(await store.head@(path))["size"]',),
    "ob_missing": _spell_missing,
    "ob_reader": lambda at, count: (
        _READER,
        f"await reader.seek({at})",
        f"bytes(await reader.read({'' if count is None else count}))",
    ),
    "ob_reader_size": lambda: (_READER, "reader.size"),
}
