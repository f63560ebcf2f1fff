"""Write programs as the calls of a Python API, as a user of the API would."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from fscontract.contract.program.program import Program, Step
from fscontract.implementations.bindings.common import fits

#: Returns a call on the stream of this name; "" if the API has no such call.
SpellStep: TypeAlias = Callable[[Step, str], str]

_CHANGES = {
    "overwrite": "overwritten",
    "truncate": "truncated",
    "append": "appended to",
    "delete": "deleted",
    "replace": "deleted and written again",
}


def spell_program(program: Program, opening: str, step: SpellStep, name: str = "f") -> str:
    """Return a program as calls of an API; "" if the API lacks one of them.

    The program has no anchors. `opening` is the expression that opens a stream, and `name` the
    variable of the stream, which gets a number if there are several.
    """
    if program.at is not None and opening:
        opening = f"{opening} (path: {program.at})"
    several = program.streams > 1
    names = [f"{name}{n}" if several else name for n in range(1, program.streams + 1)]
    parts = [f"{one} = {opening}" for one in names]
    for one in program.steps:
        if one.op == "change":
            parts.append(f"(the file is {_CHANGES[one.args[0]]})")
            continue
        if one.op == "reopen":
            parts.append(f"{names[one.stream]} = {opening}")
            continue
        parts.append(step(one, names[one.stream]))
    if not all(parts) or not opening:
        return ""
    text = "; ".join(parts)
    return text if program.faults is None else f"[{program.faults}] {text}"


def spell_builder(program: Program, start: str) -> str:
    """Return the opening of a program by the builder that the expression `start` returns."""
    assert program.opening is not None
    calls = [f"{name}({_builder_arguments(name, args)})" for name, *args in program.opening.calls]
    return ".".join([start, *calls, "build()", "result()"])


def _builder_arguments(name: str, args: list[Any]) -> str:
    if name == "with_file_status":
        return "None" if args[0] == "none" else "status"
    return ", ".join(map(repr, args))


def spell_file(step: Step, name: str) -> str:
    """Return a step as a call of Python's file protocol; "" if it has no such call."""
    spell = _FILE.get(step.op)
    return "" if spell is None else spell(name, *step.args)


def spell_range(step: Step) -> str:
    """Return a positioned step as a call of fsspec; "" if it is none."""
    spell = _RANGES.get(step.op)
    return "" if spell is None else spell(*step.args)


def _method(method: str) -> Callable[..., str]:
    def spell(f: str, *args: Any) -> str:
        # readline and readlines are called without the argument for no limit
        given = [repr(arg) for arg in args if arg is not None or method in ("read", "readinto")]
        return f"{f}.{method}({', '.join(given)})"

    return spell


def _read_into(f: str, size: int | None, offset: int, length: int) -> str:
    if size is None or not fits(size, offset, length):
        return ""
    buffer = f"bytearray({size})"
    if length < size:
        buffer = f"memoryview({buffer})[{offset}:{offset + length}]"
    return f"{f}.readinto({buffer})"


def _py_read_into(f: str, form: str, size: int | None) -> str:
    buffers = {
        "B": f"bytearray({size})",
        "bytearray": f"bytearray({size})",
        "b": f'memoryview(bytearray({size})).cast("b")',
        "Q": f'memoryview(bytearray({8 * (size or 0)})).cast("Q")',
        "2d": f'memoryview(bytearray({2 * (size or 0)})).cast("B", ({size}, 2))',
        "slice": f"memoryview(bytearray({6 + (size or 0)}))[3:-3]",
        "strided": f"memoryview(bytearray({2 * (size or 0)}))[::2]",
        "readonly": f"memoryview(bytes({size}))",
        **{code: f'array("{code}", [0] * {size})' for code in "HId"},
    }
    return f"{f}.readinto({'None' if size is None else buffers[form]})"


def _seek(f: str, offset: int, whence: int = 0) -> str:
    return f"{f}.seek({offset}, {whence})" if whence else f"{f}.seek({offset})"


_FILE: dict[str, Callable[..., str]] = {
    "close": _method("close"),
    "get_pos": _method("tell"),
    "seek": _seek,
    "read_byte": lambda f: f"{f}.read(1)",
    "read_into": _read_into,
    "py_read": _method("read"),
    "py_readall": _method("readall"),
    "py_readinto": _py_read_into,
    "py_read1": _method("read1"),
    "py_readinto1": lambda f, *args: _py_read_into(f, *args).replace(".readinto(", ".readinto1("),
    "py_peek": _method("peek"),
    "py_seek": _seek,
    "py_tell": _method("tell"),
    "py_readline": _method("readline"),
    "py_readlines": _method("readlines"),
    "py_next": lambda f: f"next({f})",
    "py_closed": lambda f: f"{f}.closed",
    "py_readable": _method("readable"),
    "py_seekable": _method("seekable"),
    "py_writable": _method("writable"),
    "py_with": lambda f: f"with {f}: pass",
    "py_write": lambda f: f'{f}.write(b"x")',
}


def _cat_ranges(
    ranges: tuple[tuple[int, int] | None, ...] | None, allocate: str, release: str
) -> str:
    pairs = [pair for pair in ranges or () if pair is not None]
    starts, ends = [start for start, _ in pairs], [start + length for start, length in pairs]
    return f'fs.cat_ranges([path] * {len(pairs)}, {starts}, {ends}, on_error="return")'


_RANGES: dict[str, Callable[..., str]] = {
    "pread": lambda position, size, offset, length: (
        f"fs.cat_file(path, {position}, {position + length})"
    ),
    "read_fully": lambda position, size, offset, length: (
        f"fs.read_block(path, {position}, {length})"
    ),
    "read_fully_all": lambda position, size: f"fs.read_block(path, {position}, {size})",
    "read_vectored": _cat_ranges,
}
