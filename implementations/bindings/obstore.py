"""Binding to obstore stores: files of `open_reader`, `get_range(s)`, and calls without a file.

The calls of the store are here as source code, too.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Coroutine, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, ClassVar

from fscontract.contract.binding import Action, Binding, Opened, TargetError
from fscontract.contract.program.filesystem_calls import OBSTORE_OPERATIONS
from fscontract.contract.program.program import Step
from fscontract.contract.script.calls import Call, Form, Source, path_text
from fscontract.contract.script.layout import literal
from fscontract.contract.spec.inherited_failures import class_name
from fscontract.implementations.bindings.awaiting import finished, settled, spelled
from fscontract.implementations.bindings.common import WrongType, plain_bytes, several, shown
from fscontract.implementations.bindings.file_operations import FILE_OPERATIONS, Fail
from fscontract.implementations.bindings.filesystem_calls import Target, bind_call, paths_of
from fscontract.implementations.bindings.method_sources import (
    FILE_METHODS,
    STORE_METHODS,
    WRAPPED,
    sources_of,
)
from fscontract.implementations.bindings.object_stores import Store, StoreBinding, versions
from fscontract.implementations.bindings.positioned_reads import (
    bind_pread,
    bind_vectored,
    while_open,
)
from fscontract.implementations.bindings.script_setup import obstore_setup

#: Bytes of the buffer of a reader: fewer than those of most files.
_BUFFER = 4


def _bind_obstore(step: Step, target: Target, fail: Fail) -> Action:
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


def _spell_obstore(step: Step) -> Call | None:
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


#: Operations of Python's file protocol that a ReadableFile implements.
_READS = frozenset({"py_read", "py_read_default", "py_readall", "py_readline", "py_readlines"})
_METHODS = _READS | {"py_seek", "py_seekable", "py_tell"}
#: Operations whose calls return obstore's Bytes, or several.
_RETURN_BYTES = _READS | {"read_vectored"}
_LOCAL = frozenset({"MemoryStore", "LocalStore"})
#: Base class of all stores, and the minimum tested version of obstore. Before 0.10 the class does
#: not exist, and readers end early.
_BASE, _OLDEST = "ObjectStoreMethods", "0.12"


class ObstoreStore(Store):
    """Files below `root`, a path of an obstore store."""

    def __init__(self, store: Any, root: str = "") -> None:
        self.store = store
        self.root = root.strip("/")

    def write(self, path: str, content: bytes) -> None:
        """Write an object."""
        self.store.put(path, content)

    def delete(self, path: str) -> None:
        """Delete an object."""
        self.store.delete(path)

    def length(self, path: str) -> int:
        """Return the size that `head` reports."""
        return int(self.store.head(path)["size"])

    def directories(self) -> Iterable[str]:
        """Return the common prefixes below the root."""
        listing = self.store.list_with_delimiter(self.root or None)
        return [str(path) for path in listing["common_prefixes"]]

    def delete_all(self, directory: str) -> None:
        """Delete all objects, and the directory that a LocalStore leaves."""
        for batch in self.store.list(directory):
            self.store.delete([entry["path"] for entry in batch])
        if type(self.store).__name__ == "LocalStore":
            shutil.rmtree(os.path.join(self.store.prefix or "/", directory), ignore_errors=True)


class Reader:
    """ReadableFile that returns `bytes` instead of obstore's Bytes, and reports being closed.

    A ReadableFile does not report it.
    """

    def __init__(self, file: Any, path: str) -> None:
        self._file = file
        self.path = path
        self.closed = False
        self.seek, self.seekable, self.tell = file.seek, file.seekable, file.tell

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        self.closed = True

    def read(self, *args: Any) -> bytes:
        """Read as the file does."""
        return plain_bytes(self._file.read(*args))

    def readall(self) -> bytes:
        """Read as the file does."""
        return plain_bytes(self._file.readall())

    def readline(self, *args: Any) -> bytes:
        """Read as the file does."""
        return plain_bytes(self._file.readline(*args))

    def readlines(self, *args: Any) -> list[bytes]:
        """Read as the file does."""
        return [plain_bytes(line) for line in several(self._file.readlines(*args))]


class ObstoreBinding(StoreBinding):
    """Runs programs on the ReadableFile that `open_reader` opens.

    Positioned reads use `get_range`, vectored ones `get_ranges` of the store; both are independent
    of the file. Files are opened with small buffers (`buffer` bytes), so that reads cross buffer
    boundaries.
    """

    api: ClassVar[str] = "obstore"
    default_profile: ClassVar[str] = "obstore"
    opening = "obstore.open_reader(store, path)"
    panics = True
    writing = "store.put(path, {})"
    deleting = "store.delete(path)"
    status_in_script = 'obstore.head(store, path)["size"]'
    packages = ("obstore",)
    pread_on_stream = False
    #: Object that `recognise` accepts, for messages.
    accepts: ClassVar[str] = "an obstore store"

    def __init__(
        self, store: Any, name: str, root: str = "", secrets: tuple[str, ...] = ()
    ) -> None:
        super().__init__(ObstoreStore(store, root), name, secrets)
        self.store = store
        self.operations = FILE_OPERATIONS | _METHODS | {"pread", "read_vectored"}
        self.operations |= OBSTORE_OPERATIONS.keys()
        self.remote = type(store).__name__ not in _LOCAL

    @classmethod
    def connect(cls, url: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Return a store for the arguments of `obstore.store.from_url`; raise TargetError."""
        from obstore import store

        _check_version(shown(url), store)
        return {"store": store.from_url(url, **arguments)}

    @classmethod
    def recognise(cls, obj: object, name: str) -> Binding | None:
        """Return a binding if `obj` is an obstore store, else None."""
        module = sys.modules.get("obstore.store")
        if module is None or not _is_store(obj, module):
            return None
        _check_version(name, module)
        everywhere = isinstance(obj, module.LocalStore) and obj.prefix is None
        return cls(obj, name, tempfile.gettempdir() if everywhere else "")

    def sources(self, path: str) -> Mapping[str, frozenset[str]]:
        """Return the classes of obstore behind a store of one's own and its readers; else none."""
        store = sources_of(self.store, STORE_METHODS, self.store)
        if not store:
            return {}
        reader = sources_of(self.open_reader(path, self.buffer), FILE_METHODS, self.store)
        bases = frozenset(map(class_name, type(self.store).__mro__[1:-1]))
        return {**reader, **store, WRAPPED: bases}

    def open_file(self, path: str) -> Reader:
        """Open the object for reading."""
        return Reader(self.open_reader(path, self.buffer), path)

    def open_reader(self, path: str, buffer_size: int) -> Any:
        """Return obstore's own reader of an object."""
        import obstore

        return obstore.open_reader(self.store, path, buffer_size=buffer_size)

    async def open_reader_async(self, path: str, buffer_size: int) -> Any:
        """Return obstore's own asynchronous reader of an object."""
        import obstore

        return await obstore.open_reader_async(self.store, path, buffer_size=buffer_size)

    def file(self, opened: Opened) -> Any:
        """Return the Reader itself."""
        return opened

    def bind_positioned(self, step: Step) -> Action:
        """Return `get_range` or `get_ranges` as a function of an opened file.

        Calls of OBSTORE_OPERATIONS do not use the file.
        """
        store = self.store
        if step.op in OBSTORE_OPERATIONS:
            return _bind_obstore(step, Target(self, self._store.write), self._fail)
        if step.op == "pread":
            action = bind_pread(
                step,
                lambda opened, start, n: self._range(opened.path, start, n),
                self.failed,
            )
        else:
            action = bind_vectored(
                step,
                lambda opened, starts, ends: store.get_ranges(
                    opened.path, starts=starts, ends=ends
                ),
                self.failed,
            )
        return while_open(action)

    def _range(self, path: str, start: int, length: int) -> Any:
        """Return what `get_range` does, and no bytes where its documentation asks for an error.

        An empty range and one from the end on raise, says obstore; Hadoop asks for 0 or -1.
        """
        try:
            return self.store.get_range(path, start=start, length=length)
        except Exception:
            with suppress(Exception):
                size = self._store.length(path) or 0
                if start >= size or length == 0:
                    return b""
            raise

    def script_setup(self, source: Source) -> tuple[str, ...]:
        """Return the statements that make the store and `path`; raise NoScript."""
        return obstore_setup(source)

    def spell_in_script(self, step: Step, name: str) -> Call | None:
        """Return a step as a call that returns bytes instead of obstore's Bytes."""
        call = self.spell_step(step, name)
        if call is None or step.op not in _RETURN_BYTES:
            return call
        if call.form is Form.VALUE:
            return replace(call, text=f"bytes({call.text})")
        return replace(call, text=f"map(bytes, {call.text})")

    @property
    def opening_in_script(self) -> str:
        """The expression that opens a file with the buffer of the binding."""
        return f"obstore.open_reader(store, path, buffer_size={self.buffer})"

    def spell_positioned(self, step: Step, name: str) -> Call | None:
        """Return a positioned or vectored read as a call of the API."""
        if step.op == "read_vectored":
            pairs = [pair for pair in step.args[0] or () if pair is not None]
            starts, ends = [start for start, _ in pairs], [start + n for start, n in pairs]
            return Call(f"store.get_ranges(path, starts={starts}, ends={ends})", Form.PARTS)
        if step.op != "pread":
            return _spell_obstore(step)
        position, _size, _offset, length = step.args
        return Call(f"store.get_range(path, start={position}, length={length})", Form.BYTES)


def _is_store(obj: object, module: Any) -> bool:
    if hasattr(module, _BASE):
        return isinstance(obj, getattr(module, _BASE))
    return type(obj).__module__.partition(".")[0] == "obstore"


def _check_version(name: str, module: Any) -> None:
    if not hasattr(module, _BASE):
        present = versions("obstore").get("obstore", "an older version")
        raise TargetError(f"{name}: expected obstore {_OLDEST} or newer, got {present}")
