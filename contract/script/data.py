"""Write the bytes of test files as short Python or Java source."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fscontract.contract.script.calls import NoScript
from fscontract.contract.script.layout import quoted, statement

#: The most bytes that are written as they are.
_MOST_LITERAL = 32
#: The longest literal of a right result, in characters.
_MOST_TEXT = 120
_PRIME, _LOWEST = 251, 5


def content_lines(versions: tuple[bytes, ...], file: Path | None) -> Iterator[str]:
    """Yield the statements that make DATA, and DATA1 and so on of a file that changes.

    `file` has the content of a target whose only file is made elsewhere.
    """
    for number, data in enumerate(versions):
        name = f"DATA{number or ''}"
        if file is not None and len(data) > _MOST_LITERAL:
            yield f'{name} = open({quoted(str(file.resolve()))}, "rb").read()'
        else:
            yield from _lines(name, data)


def _lines(name: str, data: bytes) -> Iterator[str]:
    if len(data) <= _MOST_LITERAL:
        yield f'{name} = bytes.fromhex("{data.hex()}")' if data else f'{name} = b""'
        return
    line = linear(data)
    if line is not None:
        first, step = line
        text = f"{name} = bytes({_LOWEST} + ({first} + {step} * i) % {_PRIME} for i in range({{}}))"
        yield from statement(text.format(len(data)))
        return
    start, shift = recurrence(data)
    yield f"{name} = {[*start]}"
    yield f"while len({name}) < {len(data)}:"
    following = f"(11 * {name}[-3] + 243 * {name}[-2] + {shift}) % {_PRIME}"
    yield f"    {name}.append({_LOWEST} + {following})"
    yield f"{name} = bytes({name})"


def bytes_text(data: bytes) -> str:
    """Return bytes as a Python literal, in double quotes unless they have some."""
    text = repr(data)
    return text if '"' in text else f'b"{text[2:-1]}"'


def equal_text(value: Any, data: bytes) -> str:
    """Return an expression of a value, in which DATA is `data`; raise NoScript if it is long."""
    if isinstance(value, tuple):
        return f"[{', '.join(equal_text(one, data) for one in value)}]"
    if isinstance(value, bytes) and value and value in data:
        start = data.find(value)
        return "DATA" if value == data else f"DATA[{start}:{start + len(value)}]"
    text = json.dumps(value) if isinstance(value, str) else repr(value)
    text = bytes_text(value) if isinstance(value, bytes) else text
    if len(text) > _MOST_TEXT:
        raise NoScript("the right result is too long")
    return text


def linear(data: bytes) -> tuple[int, int] | None:
    """Return the first number and the step of bytes that are an arithmetic sequence."""
    first, step = data[0] - _LOWEST, (data[1] - data[0]) % _PRIME
    right = bytes(_LOWEST + (first + step * i) % _PRIME for i in range(len(data)))
    return (first, step) if data == right else None


def recurrence(data: bytes) -> tuple[bytes, int]:
    """Return the first three bytes and the shift of a long test content; raise NoScript.

    Each next byte is 5 + (11 a + 243 b + shift) % 251, if a and b are the third and the second
    byte before it.
    """
    shift = (data[3] - _LOWEST - 11 * data[0] - 243 * data[1]) % _PRIME
    for a, b, byte in zip(data, data[1:], data[3:], strict=False):
        if byte != _LOWEST + (11 * a + 243 * b + shift) % _PRIME:
            raise NoScript(f"the file has {len(data):,} bytes that no short formula makes")
    return data[:3], shift
