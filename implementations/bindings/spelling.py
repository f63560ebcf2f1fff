"""Write programs as the calls of a Python API, as a user of the API would."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fscontract.contract.program.program import Program, Step
from fscontract.contract.script.calls import BUFFER, Call, Form, SpellStep
from fscontract.contract.script.layout import literal
from fscontract.implementations.bindings.common import fits

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
    used = program.needs_stream or program.at is not None
    parts = [f"{one} = {opening}" for one in names if used]
    for one in program.steps:
        if one.op == "change":
            parts.append(f"(the file is {_CHANGES[one.args[0]]})")
            continue
        if one.op == "reopen":
            parts.append(f"{names[one.stream]} = {opening}")
            continue
        parts.append(str(step(one, names[one.stream]) or ""))
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


def spell_file(step: Step, name: str, readinto: bool = True) -> Call | None:
    """Return a step as a call of Python's file protocol; None if it has no such call.

    A file without `readinto` reads into a buffer by `read`.
    """
    spell = _FILE.get(step.op)
    call = None if spell is None else spell(name, *step.args)
    if call is not None and step.op == "read_into" and not readinto:
        return Call(f"{name}.read({step.args[-1]})", Form.BYTES)
    return call


def spell_range(step: Step) -> Call | None:
    """Return a positioned step as a call of fsspec; None if it is none."""
    spell = _RANGES.get(step.op)
    return None if spell is None else spell(*step.args)


def spell_stream(step: Step, name: str) -> Call | None:
    """Return a step as a call of this package's streams; None if it has no such call."""
    spell = _STREAM.get(step.op)
    return spell_file(step, f"{name}_file") if spell is None else spell(name, *step.args)


def _method(method: str, form: Form = Form.VALUE) -> Callable[..., Call]:
    def spell(f: str, *args: Any) -> Call:
        # The methods for lines and read1 are called without the argument for no limit
        given = [literal(arg) for arg in args if arg is not None or method in ("read", "readinto")]
        return Call(f"{f}.{method}({', '.join(given)})", form)

    return spell


def _read_into(f: str, size: int | None, offset: int, length: int) -> Call | None:
    if size is None or not fits(size, offset, length):
        return None
    window = f"memoryview({BUFFER})[{offset}:{offset + length}]" if length < size else BUFFER
    return Call(f"{f}.readinto({window})", Form.INTO, f"bytearray({size})", start=offset)


#: The buffer of each format, the part of it that a call fills, and the bytes of that part.
_FORMATS = {
    "B": ("bytearray({n})", "", ""),
    "bytearray": ("bytearray({n})", "", ""),
    "b": ('memoryview(bytearray({n})).cast("b")', "", ""),
    "Q": ('memoryview(bytearray({n8})).cast("Q")', "", ""),
    "2d": ('memoryview(bytearray({n2})).cast("B", ({n}, 2))', "", ""),
    "slice": ("bytearray({n6})", "memoryview({})[3:-3]", "bytes(buffer)"),
    "strided": ("bytearray({n2})", "memoryview({})[::2]", "bytes(buffer[::2])"),
    "readonly": ("memoryview(bytes({n}))", "", ""),
    **{code: (f'array("{code}", [0] * {{n}})', "", "") for code in "HId"},
}


def _fill(method: str) -> Callable[..., Call]:
    def spell(f: str, form: str, size: int | None) -> Call:
        if size is None:
            return Call(f"{f}.{method}(None)", Form.FILLED)
        made, part, filled = _FORMATS[form]
        made = made.format(n=size, n2=2 * size, n6=6 + size, n8=8 * size)
        call = f"{f}.{method}({part.format(BUFFER) if part else BUFFER})"
        start = 3 if form == "slice" else 0
        imports = ("from array import array",) if form in ("H", "I", "d") else ()
        return Call(call, Form.FILLED, made, filled or "bytes(buffer)", start, imports=imports)

    return spell


def _seek(form: Form) -> Callable[..., Call]:
    def spell(f: str, offset: int, whence: int = 0) -> Call:
        return Call(f"{f}.seek({offset}, {whence})" if whence else f"{f}.seek({offset})", form)

    return spell


_FILE: dict[str, Callable[..., Call | None]] = {
    "close": _method("close", Form.NOTHING),
    "get_pos": _method("tell"),
    "seek": _seek(Form.NOTHING),
    "read_byte": lambda f: Call(f"{f}.read(1)", Form.BYTES),
    "read_into": _read_into,
    "py_read": _method("read"),
    "py_read_default": _method("read"),
    "py_readall": _method("readall"),
    "py_readinto": _fill("readinto"),
    "py_read1": _method("read1"),
    "py_readinto1": _fill("readinto1"),
    "py_peek": _method("peek"),
    "py_seek": _seek(Form.VALUE),
    "py_tell": _method("tell"),
    "py_readline": _method("readline"),
    "py_readlines": _method("readlines", Form.LINES),
    # Iteration needs an iterator, which some files are not.
    "py_next": lambda f: Call(f"next(iter({f}))", Form.NEXT, shown=f"next({f})"),
    "py_iterate": lambda f: Call(f"list({f})", Form.LINES),
    "py_flush": _method("flush", Form.NOTHING),
    "py_closed": lambda f: Call(f"{f}.closed"),
    "py_readable": _method("readable"),
    "py_seekable": _method("seekable"),
    "py_writable": _method("writable"),
    "py_with": lambda f: Call(f"{f}.closed", before=(f"with {f}: pass",)),
    "py_with_error": lambda f: Call(
        f"not {f}.__exit__(LookupError, LookupError(), None) and {f}.closed",
        before=(f"{f}.__enter__()",),
        shown=f"with {f}: raise LookupError; {f}.closed",
    ),
    "py_write": lambda f: Call(f'{f}.write(b"x")'),
}


def _cat_ranges(
    ranges: tuple[tuple[int, int] | None, ...] | None, allocate: str, release: str
) -> Call:
    pairs = [pair for pair in ranges or () if pair is not None]
    starts, ends = [start for start, _ in pairs], [start + length for start, length in pairs]
    text = f'fs.cat_ranges([path] * {len(pairs)}, {starts}, {ends}, on_error="return")'
    return Call(text, Form.PARTS)


_RANGES: dict[str, Callable[..., Call]] = {
    "pread": lambda position, size, offset, length: Call(
        f"fs.cat_file(path, start={position}, end={position + length})", Form.BYTES
    ),
    "read_fully": lambda position, size, offset, length: Call(
        f"fs.read_block(path, {position}, {length})", Form.EXACT
    ),
    "read_fully_all": lambda position, size: Call(
        f"fs.read_block(path, {position}, {size})", Form.EXACT
    ),
    "read_vectored": _cat_ranges,
}


# This package's streams --------------------------------------------------------------------------


def _place(method: str, positions: int) -> Callable[..., Call]:
    """Return the spelling of a call that places bytes in a buffer after `positions` arguments."""

    def spell(f: str, *args: Any) -> Call:
        before, size, after = args[:positions], args[positions], args[positions + 1 :]
        given = [*map(repr, before), "None" if size is None else BUFFER, *map(repr, after)]
        made = "" if size is None else f"bytearray({size})"
        start = after[0] if after else 0
        return Call(f"{f}.{method}({', '.join(given)})", Form.FILLED, made, start=start)

    return spell


def _byte_buffer(method: str, positions: int) -> Callable[..., Call | None]:
    def spell(f: str, *args: Any) -> Call | None:
        before, (size, start, limit) = args[:positions], args[positions:]
        given = [*map(repr, before), "None" if size is None else BUFFER]
        call = f"{f}.{method}({', '.join(given)})"
        if size is None:
            return Call(call, Form.FILLED)
        if not 0 <= start <= (size if limit is None else limit) <= size:
            return None
        ready = [f"buffer.limit = {limit}"] * (limit not in (None, size))
        ready += [f"buffer.position = {start}"] * (start > 0)
        return Call(
            call,
            Form.FILLED,
            f"ByteBuffer.allocate({size})",
            "bytes(buffer.view)",
            start,
            imports=("from fscontract import ByteBuffer",),
            ready=tuple(ready),
        )

    return spell


_ALLOCATORS = {"heap": "bytearray", "view": "lambda n: memoryview(bytearray(n))", "null": "None"}
_RELEASES = {"given": ["lambda buffer: None"], "absent": [], "null": ["None"]}
_RESULT = """
def result(future):
    try:
        return bytes(future.result(30))
    except Exception as error:
        return error
"""


def _read_vectored(
    f: str, ranges: tuple[tuple[int, int] | None, ...] | None, allocate: str, release: str
) -> Call:
    pairs = ["None" if pair is None else f"FileRange{pair}" for pair in ranges or ()]
    made = "None" if ranges is None else f"[{', '.join(pairs)}]"
    given = ", ".join([BUFFER, _ALLOCATORS[allocate], *_RELEASES[release]])
    return Call(
        f"{f}.read_vectored({given})",
        Form.PARTS,
        made,
        "" if ranges is None else "[result(part.data) for part in buffer]",
        imports=("from fscontract import FileRange",),
        helper=_RESULT,
        simple="" if ranges is None else "[bytes(part.data.result(30)) for part in buffer]",
    )


_STREAM: dict[str, Callable[..., Call | None]] = {
    **{name: _method(name, Form.NOTHING) for name in ("close", "seek", "unbuffer")},
    **{name: _method(name) for name in ("get_pos", "has_capability", "available")},
    "read_byte": _method("read_byte", Form.BYTE),
    "seek_to_new_source": _method("seek_to_new_source"),
    "skip": _method("skip", Form.COUNT),
    "read_into": _place("read_into", 0),
    "pread": _place("pread", 1),
    "read_fully": _place("read_fully", 1),
    "read_fully_all": _place("read_fully", 1),
    "read_vectored": _read_vectored,
    "read_buffer": _byte_buffer("read_buffer", 0),
    "pread_buffer": _byte_buffer("pread_buffer", 1),
    "read_fully_buffer": _byte_buffer("read_fully_buffer", 1),
}
