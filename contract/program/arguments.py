"""Positions and lengths relative to a file, so that one program fits any file.

An anchor is `0`, `len` (the file's length), `buf` (a boundary of the implementation's buffer) or
`max` (the largest 64-bit number), each with `+n` or `-n`, as in `"len-1"`.
"""

from __future__ import annotations

import re
from typing import Any, TypeAlias

Argument: TypeAlias = Any  # int, anchor, None, str or a tuple of pairs of int or anchor

_MAX = 2**63 - 1
_ANCHOR = re.compile(r"(len|buf|max)(?:([+-])(\d{1,18}))?\Z")


class ProgramError(ValueError):
    """A program that can't be parsed; the message names the place and what is allowed."""


def is_anchor(value: Argument) -> bool:
    """Return whether the value is text that represents a number."""
    return isinstance(value, str) and _ANCHOR.match(value) is not None


def is_number(value: Argument) -> bool:
    """Return whether the value is a whole number or an anchor."""
    return type(value) is int or is_anchor(value)


def resolve(value: Argument, length: int, buffer: int) -> Argument:
    """Replace the anchors in an argument: `length` is the file's, `buffer` a boundary."""
    if isinstance(value, str):
        match = _ANCHOR.match(value)
        if match is None:
            return value
        base = {"len": length, "buf": buffer, "max": _MAX}[match[1]]
        return base + int((match[2] or "+") + (match[3] or "0"))
    if isinstance(value, tuple):
        return tuple(resolve(v, length, buffer) for v in value)
    return value


def tuples(value: Any) -> Argument:
    """Convert JSON's lists to tuples, recursively."""
    return tuple(tuples(v) for v in value) if isinstance(value, list) else value


def plain(value: Argument) -> Any:
    """Convert tuples to JSON's lists, recursively."""
    return [plain(v) for v in value] if isinstance(value, tuple) else value


def show(value: Argument) -> str:
    """Return an argument as written in a program's text: anchors bare, other text quoted."""
    if isinstance(value, tuple):
        return "[" + ", ".join(show(v) for v in value) + "]"
    return value if is_anchor(value) else repr(value)
