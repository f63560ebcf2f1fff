"""The opening of a program's file as data: the scene at the path, and the calls of the builder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from fscontract.contract.program.arguments import (
    Argument,
    ProgramError,
    is_number,
    plain,
    resolve,
    show,
    tuples,
)

#: A builder's method, then its arguments.
BuilderCall: TypeAlias = tuple[Any, ...]

#: Scenes at the path: a file, a file that is created between `open_file` and `build`, no file,
#: a directory, a file without read permission, and a path of another scheme.
SCENES = ("file", "late", "missing", "directory", "unreadable", "foreign")
#: Statuses for `with_file_status`: None; the file's; a status of the same name in another
#: directory, or under another scheme; of a class unknown to the filesystem; with locations; of
#: a file of another name, also with another class; and one from before the file changed.
STATUSES = (
    "none",
    "own",
    "parents",
    "scheme",
    "subclass",
    "located",
    "name",
    "name-subclass",
    "stale",
)
#: Statuses whose last path element differs from the file's.
MISNAMED = frozenset({"name", "name-subclass"})
#: The builder's methods with the names of their arguments. The `length` of a status is the length
#: that it declares for the file, None for the true one.
METHODS: dict[str, tuple[str, ...]] = {
    "opt": ("key", "value"),
    "must": ("key", "value"),
    "opt_long": ("key", "number"),
    "must_long": ("key", "number"),
    "opt_double": ("key", "real"),
    "must_double": ("key", "real"),
    "buffer_size": ("number",),
    "with_file_status": ("status", "length"),
}
#: Floating-point numbers that JSON can't represent.
_NOT_FINITE = ("inf", "-inf", "nan")
_LONGEST = 40
#: The allowed values of each argument: a test and a description.
_ALLOWED: dict[str, tuple[Callable[[Any], bool], str]] = {
    "key": (lambda v: v is None or isinstance(v, str), "text or null"),
    "value": (lambda v: v is None or type(v) in (str, int, bool), "text, a whole number or true"),
    "number": (is_number, "a whole number or an anchor like 'len-1'"),
    "real": (
        lambda v: type(v) is float or is_number(v) or v in _NOT_FINITE,
        "a number, 'inf', '-inf', 'nan' or an anchor like 'len-1'",
    ),
    "status": (lambda v: v in STATUSES, " or ".join(STATUSES)),
    "length": (lambda v: v is None or is_number(v), "null, a whole number or an anchor"),
}


@dataclass(frozen=True)
class Opening:
    """One use of a builder: `open_file(path)`, the calls, `build()`, and waiting for the stream.

    Numbers may be anchors, except in the values of `opt` and `must`, whose text is literal.
    """

    scene: str = "file"
    calls: tuple[BuilderCall, ...] = ()

    def text(self, length: int) -> str:
        """Return the opening as one expression, for a file of `length` bytes."""
        file = f"{length} bytes" if self.scene in ("file", "late") else self.scene
        calls = [f"{name}({', '.join(map(_brief, args))})" for name, *args in self.calls]
        return ".".join([f"open_file({file})", *calls, "build()"])

    def resolved(self, length: int, buffer: int) -> Opening:
        """Return the opening with every anchor replaced by a number."""
        return replace(self, calls=tuple(_resolved(c, length, buffer) for c in self.calls))

    def to_json(self) -> dict[str, Any]:
        """Return the opening as a JSON object."""
        return {"file": self.scene, "calls": [plain(call) for call in self.calls]}

    @classmethod
    def from_json(cls, data: Any, where: str = "open") -> Opening:
        """Parse an opening; ProgramError names the place and what is allowed there."""
        if not isinstance(data, dict) or not isinstance(data.get("calls", []), list):
            raise ProgramError(f"{where}: expected an object with file and calls")
        scene = data.get("file", "file")
        if scene not in SCENES:
            raise ProgramError(f"{where}: file must be {' or '.join(SCENES)}, got {scene!r}")
        calls = enumerate(data.get("calls", []), 1)
        return cls(scene, tuple(_call(call, f"{where}: call {i}") for i, call in calls))


def _brief(value: Argument) -> str:
    """Shorten a very long argument for display."""
    if isinstance(value, str) and len(value) > _LONGEST:
        return f"{value[:_LONGEST]!r}... ({len(value)} characters)"
    if type(value) is int and value.bit_length() > 4 * _LONGEST:
        return f"{value >> (value.bit_length() - 64):#x}... ({value.bit_length()} bits)"
    return show(value)


def _call(data: Any, where: str) -> BuilderCall:
    if not isinstance(data, list) or not data or data[0] not in METHODS:
        raise ProgramError(f"{where}: expected a list that starts with {' or '.join(METHODS)}")
    method, *args = data
    names = METHODS[method]
    if len(args) != len(names):
        raise ProgramError(f"{where}: {method} takes {', '.join(names)}; got {len(args)} arguments")
    for name, value in zip(names, args, strict=True):
        fits, allowed = _ALLOWED[name]
        if not fits(value):
            raise ProgramError(f"{where}: {method} {name}: expected {allowed}, got {value!r:.80}")
    return (method, *map(tuples, args))


def _resolved(call: BuilderCall, length: int, buffer: int) -> BuilderCall:
    method, *args = call
    names = METHODS[method]
    return (method, *(_number(n, v, length, buffer) for n, v in zip(names, args, strict=True)))


def _number(name: str, value: Argument, length: int, buffer: int) -> Argument:
    if name == "real" and value in _NOT_FINITE:
        return float(value)
    return resolve(value, length, buffer) if name in ("number", "real", "length") else value
