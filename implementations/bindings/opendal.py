"""Binding to Apache OpenDAL operators: files of `open`, `read`, and calls without a file.

The calls of the operator are here as source code, too.
"""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Callable, Coroutine, Iterable
from typing import Any, ClassVar

from fscontract.contract.binding import Action, Binding, Opened
from fscontract.contract.program.filesystem_calls import OPENDAL_OPERATIONS, READER_OPERATIONS
from fscontract.contract.program.program import Step
from fscontract.contract.script.calls import Call, Form, Source, path_text
from fscontract.implementations.bindings.awaiting import finished, settled, spelled
from fscontract.implementations.bindings.common import OpenedFile, plain_bytes
from fscontract.implementations.bindings.file_operations import FILE_OPERATIONS, Fail
from fscontract.implementations.bindings.filesystem_calls import (
    Target,
    bind_call,
    paths_of,
    with_others,
)
from fscontract.implementations.bindings.library_readers import (
    Wording,
    bind_reader,
    missing_readers,
    reader_operations,
    spell_reader,
)
from fscontract.implementations.bindings.object_stores import Store, StoreBinding
from fscontract.implementations.bindings.positioned_reads import (
    bind_pread,
    recording_close,
    while_open,
)
from fscontract.implementations.bindings.script_setup import opendal_setup


def _bind_opendal(step: Step, target: Target, fail: Fail) -> Action:
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


def _spell_opendal(step: Step) -> Call | None:
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


#: Operations of Python's file protocol that an OpenDAL File implements.
_METHODS = frozenset(
    {
        "py_closed",
        "py_read",
        "py_read_default",
        "py_readable",
        "py_readinto",
        "py_readline",
        "py_seek",
    }
    | {"py_seekable", "py_tell", "py_with", "py_with_error", "py_writable", "py_write"}
)
_LOCAL = frozenset({"memory", "fs"})
#: Readers of libraries get a buffer: of a network, a File reads what has arrived, as raw files may.
_WORDING = Wording('BufferedReader(operator.open(name, "rb"))', "operator.write(name, {data})")
_SCHEME = re.compile(r'Operator\("([^"]*)"')


def _opened_for_reader(operator: Any, path: str) -> io.BufferedReader:
    return io.BufferedReader(operator.open(path, "rb"))


class OpendalStore(Store):
    """Files below the root of an Operator."""

    def __init__(self, operator: Any) -> None:
        self.operator = operator

    def write(self, path: str, content: bytes) -> None:
        """Write a file."""
        self.operator.write(path, content)

    def delete(self, path: str) -> None:
        """Delete a file."""
        self.operator.delete(path)

    def length(self, path: str) -> int:
        """Return the length that `stat` reports."""
        return int(self.operator.stat(path).content_length)

    def directories(self) -> Iterable[str]:
        """Return the directories directly below the root.

        No frame holds the lister, for one in a traceback may be dropped on another thread, which
        OpenDAL reports as an unraisable RuntimeError.
        """
        entries = list(self.operator.list(""))
        return [entry.path for entry in entries if entry.path.endswith("/")]

    def delete_all(self, directory: str) -> None:
        """Delete a directory with its content."""
        self.operator.remove_all(f"{directory}/")


class OpendalBinding(StoreBinding):
    """Runs programs on the File that an Operator opens.

    Positioned reads use `read` of the Operator, which is independent of the file.
    """

    api: ClassVar[str] = "opendal"
    default_profile: ClassVar[str] = "opendal"
    opening = 'operator.open(path, "rb")'
    panics = True
    writing = "operator.write(path, {})"
    deleting = "operator.delete(path)"
    status_in_script = "operator.stat(path).content_length"
    making_directory = 'operator.create_dir(path + "/")'
    packages = ("opendal",)
    pread_on_stream = False
    #: Object that `recognise` accepts, for messages.
    accepts: ClassVar[str] = "an opendal.Operator"

    def __init__(self, operator: Any, name: str, secrets: tuple[str, ...] = ()) -> None:
        super().__init__(OpendalStore(operator), name, secrets)
        self.operator = operator
        self.operations = FILE_OPERATIONS | _METHODS | {"pread"} | OPENDAL_OPERATIONS.keys()
        self.operations |= reader_operations()
        self.lacks = missing_readers()
        scheme = _SCHEME.match(repr(operator))
        self.remote = scheme is None or scheme[1] not in _LOCAL

    @classmethod
    def connect(cls, url: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Return an Operator; `arguments` are those of the service, such as `endpoint`."""
        from opendal import Operator

        texts = {key: _text(value) for key, value in arguments.items()}
        return {"operator": Operator.from_uri(url, **texts)}

    @classmethod
    def recognise(cls, obj: object, name: str) -> Binding | None:
        """Return a binding if `obj` is an Operator, else None."""
        module = sys.modules.get("opendal")
        if module is None or not isinstance(obj, module.Operator):
            return None
        return cls(obj, name)

    def open_file(self, path: str) -> OpenedFile:
        """Open the file for reading."""
        return OpenedFile(self.operator.open(path, "rb"), path)

    def file(self, opened: Opened) -> Any:
        """Return the File."""
        return opened.file

    def bind(self, step: Step) -> Action:
        """Return a step without anchors as a function of an OpenedFile."""
        return recording_close(step, super().bind(step))

    def bind_positioned(self, step: Step) -> Action:
        """Return a `read` of a byte range as a function of an opened file.

        Calls of OPENDAL_OPERATIONS do not use the file.
        """
        target = Target(self.operator, self._store.write)
        if step.op in OPENDAL_OPERATIONS:
            return _bind_opendal(step, target, self._fail)
        if step.op in READER_OPERATIONS:
            return bind_reader(step, target, _opened_for_reader, self._fail)
        operator = self.operator
        action = bind_pread(
            step,
            lambda opened, start, n: operator.read(opened.path, offset=start, size=n),
            self.failed,
        )
        return while_open(action)

    def script_setup(self, source: Source) -> tuple[str, ...]:
        """Return the statements that make the store and `path`; raise NoScript."""
        return opendal_setup(source)

    def spell_positioned(self, step: Step, name: str) -> Call | None:
        """Return a pread as a call of the API."""
        if step.op != "pread":
            return _spell_opendal(step) or spell_reader(step, _WORDING)
        position, _size, _offset, length = step.args
        return Call(f"operator.read(path, offset={position}, size={length})", Form.BYTES)


def _text(value: Any) -> str:
    """Return an option as OpenDAL expects it: text, with booleans in lower case."""
    return str(value).lower() if isinstance(value, bool) else str(value)
