"""Calls of PyArrow's filesystems that open a file themselves, and the same calls as source code."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from fscontract.contract.binding import Action
from fscontract.contract.program.filesystem_calls import GZIP, GZIPPED
from fscontract.contract.program.program import Step
from fscontract.contract.script.calls import Call, Form, path_text
from fscontract.contract.script.data import bytes_text
from fscontract.implementations.bindings.common import WrongType, plain_bytes, several
from fscontract.implementations.bindings.file_operations import Fail
from fscontract.implementations.bindings.filesystem_calls import (
    Target,
    bind_call,
    paths_of,
    with_others,
)


def bind_arrow(step: Step, target: Target, fail: Fail) -> Action:
    """Return a step of ARROW_OPERATIONS as a function of an object with `path`."""
    call = _CALLS[step.op]
    return bind_call(lambda t, path, *args: call(t.filesystem, path, *args), step, target, fail)


def _read_at(fs: Any, path: str, at: int, count: int) -> bytes:
    with fs.open_input_file(path) as file:
        return plain_bytes(file.read_at(count, at))


def _get_stream(fs: Any, path: str, at: int, count: int) -> bytes:
    with fs.open_input_file(path) as file:
        return plain_bytes(file.get_stream(at, count).read())


def _independent(fs: Any, path: str, at: int, count: int) -> bytes:
    """Read a stream in two parts, with reads of the file and of another stream between them."""
    with fs.open_input_file(path) as file:
        stream, other = file.get_stream(at, count), file.get_stream(0, 2)
        first = plain_bytes(stream.read(1))
        file.seek(0)
        file.read(1)
        other.read()
        return first + plain_bytes(stream.read())


def _file_position(fs: Any, path: str) -> bytes:
    with fs.open_input_file(path) as file:
        file.read(1)
        file.get_stream(0, 3).read()
        return plain_bytes(file.read(1))


def _read_buffer(fs: Any, path: str, at: int, count: int | None) -> bytes:
    with fs.open_input_file(path) as file:
        file.seek(at)
        return plain_bytes(file.read_buffer(count))


def _input_stream(fs: Any, path: str, count: int | None, buffer: int) -> bytes:
    with fs.open_input_stream(path, compression=None, buffer_size=buffer) as stream:
        if count is None:
            return plain_bytes(stream.read())
        with fs.open_input_stream(path, compression=None) as other:
            other.read(1)  # another stream of the file has a position of its own
            return b"".join(iter(lambda: plain_bytes(stream.read(count)), b""))


def _compressed(fs: Any, path: str, compression: str) -> bytes:
    with fs.open_output_stream(path + GZIP, compression=None) as out:
        out.write(GZIPPED)
    given = None if compression == "none" else compression
    with fs.open_input_stream(path + GZIP, compression=given) as stream:
        return plain_bytes(stream.read())


def _size(fs: Any, path: str) -> Any:
    with fs.open_input_file(path) as file:
        return file.size()


def _metadata(fs: Any, path: str) -> bool:
    with fs.open_input_file(path) as file:
        return isinstance(file.metadata(), Mapping)


def _missing(fs: Any, path: str, opens: str) -> bytes:
    with getattr(fs, opens)(paths_of(path, "missing")) as file:
        return plain_bytes(file.read())


def _info(fs: Any, path: str, name: str, field: str) -> Any:
    given = paths_of(path, name)
    value = getattr(fs.get_file_info(given), field)
    if field == "type":
        return value.name
    right = {"path": given, "base_name": os.path.basename(given)}
    return value == right[field] if field in right else value


def _infos(fs: Any, path: str, paths: tuple[str, ...]) -> tuple[str, ...]:
    """Return the type of each path, in whichever order the filesystem returns them."""
    given, found = paths_of(path, paths), several(fs.get_file_info(paths_of(path, paths)))
    types = {info.path: info.type.name for info in found}
    if sorted(types) != sorted(given):
        raise WrongType(f"expected information on {len(given)} paths, got it on {len(types)}")
    return tuple(types[one] for one in given)


_CALLS: dict[str, Callable[..., Any]] = {
    "pa_read_at": _read_at,
    "pa_get_stream": _get_stream,
    "pa_independent": _independent,
    "pa_file_position": _file_position,
    "pa_read_buffer": _read_buffer,
    "pa_input_stream": _input_stream,
    "pa_compressed": _compressed,
    "pa_size": _size,
    "pa_metadata": _metadata,
    "pa_missing": _missing,
    "pa_info": _info,
    "pa_infos": _infos,
}


# Source code ---------------------------------------------------------------------------------


_FILE = "file = fs.open_input_file(path)"


def spell_arrow(step: Step) -> Call | None:
    """Return a step as a call of the filesystem `fs` on `path`; None if it is none."""
    spell = _SPELLINGS.get(step.op)
    if spell is None:
        return None
    call = spell(*step.args)
    return with_others(step, call, "with fs.open_output_stream(other) as out: out.write({})")


def _equal(text: str, *before: str) -> Call:
    return Call(text, Form.EQUAL, before=before)


def _spell_independent(at: int, count: int) -> Call:
    streams = f"stream, second = file.get_stream({at}, {count}), file.get_stream(0, 2)"
    between = "file.seek(0), file.read(1), second.read()"
    return _equal("first + stream.read()", _FILE, streams, "first = stream.read(1)", between)


def _spell_input_stream(count: int | None, buffer: int) -> Call:
    opened = f"fs.open_input_stream(path, compression=None, buffer_size={buffer})"
    if count is None:
        return _equal(f"{opened}.read()")
    other = "fs.open_input_stream(path, compression=None).read(1)"
    return _equal(f'b"".join(iter(lambda: stream.read({count}), b""))', f"stream = {opened}", other)


def _spell_compressed(compression: str) -> Call:
    opened = "with fs.open_output_stream(packed, compression=None) as out:"
    given = None if compression == "none" else f'"{compression}"'
    return _equal(
        f"fs.open_input_stream(packed, compression={given}).read()",
        f'packed = path + "{GZIP}"',
        f"{opened} out.write({bytes_text(GZIPPED)})",
    )


def _spell_info(name: str, field: str) -> Call:
    path = path_text(name)
    text = f"fs.get_file_info({path}).{field}"
    right = {"path": path, "base_name": f"os.path.basename({path})"}
    if field in right:
        return _equal(f"{text} == {right[field]}")
    return _equal(f"{text}.name" if field == "type" else text)


def _spell_infos(paths: tuple[str, ...]) -> Call:
    given = f"[{', '.join(map(path_text, paths))}]"
    types = "types = {info.path: info.type.name for info in fs.get_file_info(paths)}"
    return _equal("[types[one] for one in paths]", f"paths = {given}", types)


_SPELLINGS: dict[str, Callable[..., Call]] = {
    "pa_read_at": lambda at, count: _equal(f"fs.open_input_file(path).read_at({count}, {at})"),
    "pa_get_stream": lambda at, count: _equal(f"file.get_stream({at}, {count}).read()", _FILE),
    "pa_independent": _spell_independent,
    "pa_file_position": lambda: _equal(
        "file.read(1)", _FILE, "file.read(1)", "file.get_stream(0, 3).read()"
    ),
    "pa_read_buffer": lambda at, count: _equal(
        f"file.read_buffer({count}).to_pybytes()", _FILE, f"file.seek({at})"
    ),
    "pa_input_stream": _spell_input_stream,
    "pa_compressed": _spell_compressed,
    "pa_size": lambda: _equal("fs.open_input_file(path).size()"),
    "pa_metadata": lambda: _equal("isinstance(fs.open_input_file(path).metadata(), dict)"),
    "pa_missing": lambda opens: _equal(f"fs.{opens}({path_text('missing')}).read()"),
    "pa_info": _spell_info,
    "pa_infos": _spell_infos,
}
