"""Write programs as the Java calls of Hadoop's streams."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from fscontract.contract.program.program import Program, Step
from fscontract.implementations.bindings.spelling import spell_program

_INT = 2**31


def spell(program: Program) -> str:
    """Return a program without anchors as Java calls; "" if there is none for one of them."""
    return spell_program(program, _opening(program), _step, "in")


def _opening(program: Program) -> str:
    if program.opening is None:
        return "fs.open(path)"
    calls = [f"{_BUILDER[name]}({_option(name, args)})" for name, *args in program.opening.calls]
    return ".".join(["fs.openFile(path)", *calls, "build()", "get()"])


def _option(name: str, args: list[Any]) -> str:
    if name == "with_file_status":
        return "null" if args[0] == "none" else "status"
    if name == "buffer_size":
        return str(args[0])
    key, value = args
    return f"{_literal(key)}, {_long(value) if name.endswith('_long') else _literal(value)}"


_BUILDER = {
    "opt": "opt",
    "must": "must",
    "opt_long": "optLong",
    "must_long": "mustLong",
    "opt_double": "optDouble",
    "must_double": "mustDouble",
    "buffer_size": "bufferSize",
    "with_file_status": "withFileStatus",
}


def _literal(value: Any) -> str:
    """Return a text, number or truth value as Java; JSON writes them in the same way."""
    return _number(value) if type(value) is int else json.dumps(value)


def _long(value: int) -> str:
    return f"{value}L"


def _number(value: int) -> str:
    """Return a number where Java converts an int, as a long if it does not fit."""
    return str(value) if -_INT <= value < _INT else _long(value)


def _step(step: Step, name: str) -> str:
    spell = _STEPS.get(step.op)
    return "" if spell is None else f"{name}.{spell(*step.args)}"


def _call(method: str) -> Callable[..., str]:
    return lambda *args: f"{method}({', '.join(map(_literal, args))})"


def _array(size: int | None) -> str:
    return "(byte[]) null" if size is None else f"new byte[{size}]"


def _fill(method: str, positions: int) -> Callable[..., str]:
    def spell(*args: Any) -> str:
        before, size, after = args[:positions], args[positions], args[positions + 1 :]
        given = [*map(_long, before), _array(size), *map(_number, after)]
        return f"{method}({', '.join(given)})"

    return spell


def _byte_buffer(method: str, positions: int) -> Callable[..., str]:
    def spell(*args: Any) -> str:
        before, (size, start, limit) = args[:positions], args[positions:]
        buffer = "(ByteBuffer) null" if size is None else f"ByteBuffer.allocate({size})"
        if size is not None:
            buffer += f".position({start})" if start else ""
            buffer += f".limit({limit})" if limit not in (None, size) else ""
        return f"{method}({', '.join([*map(_long, before), buffer])})"

    return spell


_ALLOCATORS = {"heap": "ByteBuffer::allocate", "view": "ByteBuffer::allocateDirect", "null": "null"}
_RELEASES = {"given": ["buffer -> {}"], "absent": [], "null": ["null"]}


def _vectored(
    ranges: tuple[tuple[int, int] | None, ...] | None, allocate: str, release: str
) -> str:
    parts = (
        "null" if pair is None else f"FileRange.createFileRange({_number(pair[0])}, {pair[1]})"
        for pair in ranges or ()
    )
    listed = "null" if ranges is None else f"Arrays.asList({', '.join(parts)})"
    return f"readVectored({', '.join([listed, _ALLOCATORS[allocate], *_RELEASES[release]])})"


_STEPS: dict[str, Callable[..., str]] = {
    "close": _call("close"),
    "get_pos": _call("getPos"),
    "read_byte": _call("read"),
    "seek": _call("seek"),
    "seek_to_new_source": _call("seekToNewSource"),
    "unbuffer": _call("unbuffer"),
    "has_capability": _call("hasCapability"),
    "skip": _call("skip"),
    "available": _call("available"),
    "read_into": _fill("read", 0),
    "pread": _fill("read", 1),
    "read_fully": _fill("readFully", 1),
    "read_fully_all": _fill("readFully", 1),
    "read_vectored": _vectored,
    "read_buffer": _byte_buffer("read", 0),
    "pread_buffer": _byte_buffer("read", 1),
    "read_fully_buffer": _byte_buffer("readFully", 1),
}
