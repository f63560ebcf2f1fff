"""Programs as data: sequences of calls on newly opened streams.

Positions, lengths and sizes are whole numbers or anchors (`arguments`), so that one program fits
any file.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

from fscontract.contract.program.arguments import (
    Argument,
    ProgramError,
    is_number,
    plain,
    resolve,
    show,
    tuples,
)
from fscontract.contract.program.faults import FaultPlan
from fscontract.contract.program.filesystem_calls import WITHOUT_STREAM, problem
from fscontract.contract.program.open_calls import Opening
from fscontract.contract.program.opened_path import OpenedPath

#: Every operation with the names of its arguments. `size` is the size of the destination buffer in
#: bytes, None for a null buffer. The `py_*` operations are those of Python's binary file protocol,
#: the `fs_*` operations those of an fsspec filesystem.
OPERATIONS: dict[str, tuple[str, ...]] = {
    "close": (),
    "get_pos": (),
    "read_byte": (),
    "read_into": ("size", "offset", "length"),
    "seek": ("position",),
    "seek_to_new_source": ("position",),
    "unbuffer": (),
    "has_capability": ("name",),
    "skip": ("count",),
    "available": (),
    "pread": ("position", "size", "offset", "length"),
    "read_fully": ("position", "size", "offset", "length"),
    "read_fully_all": ("position", "size"),
    "read_vectored": ("ranges", "allocate", "release"),
    "read_buffer": ("size", "start", "limit"),
    "pread_buffer": ("position", "size", "start", "limit"),
    "read_fully_buffer": ("position", "size", "start", "limit"),
    "py_read": ("size",),
    "py_read_default": (),
    "py_readall": (),
    "py_readinto": ("format", "size"),
    "py_read1": ("size",),
    "py_readinto1": ("format", "size"),
    "py_peek": ("size",),
    "py_seek": ("offset", "whence"),
    "py_tell": (),
    "py_readline": ("limit",),
    "py_readlines": ("hint",),
    "py_next": (),
    "py_iterate": (),
    "py_closed": (),
    "py_readable": (),
    "py_seekable": (),
    "py_writable": (),
    "py_with": (),
    "py_with_error": (),
    "py_write": (),
    "py_flush": (),
    **WITHOUT_STREAM,
    "change": ("how",),
    "reopen": (),
}
#: Operations that are not calls of a stream: they change its file, or open the path again.
OF_FILE = frozenset({"change", "reopen"})
#: Operations that read lines of Python's files; a raw one reads them byte by byte.
OF_LINES = frozenset({"py_readline", "py_readlines", "py_next", "py_iterate"})
#: With blocks around nothing, one of which an exception ends.
BLOCKS = frozenset({"py_with", "py_with_error"})
#: Calls after which a stream is closed.
CLOSING = BLOCKS | {"close"}
#: The most streams of a program.
MAX_STREAMS = 256
#: The largest file, in bytes; large ones are sparse (`content`).
MAX_LENGTH = 1 << 33
#: Programs of more calls are shown by their first and last ones.
_MOST_SHOWN = 60
#: Arguments that are numbers or anchors.
_NUMBERS = frozenset(
    {"size", "offset", "length", "position", "count", "start", "limit", "hint", "whence"}
)
#: The ways in which a file may change under a stream; to replace it is to delete it first.
CHANGES = ("overwrite", "truncate", "append", "delete", "replace")
#: Kinds of allocators for `read_vectored`, by what they return; "null" means no allocator.
ALLOCATORS = ("heap", "view", "null")
#: Kinds of `py_readinto` buffers: views of unsigned and of signed bytes; arrays of items of 2, 4
#: and 8 bytes, and a view cast to such items; a two-dimensional view; a bytearray; the middle of
#: a larger buffer; every second byte of one; a view that can't be written.
FORMATS = ("B", "b", "H", "I", "d", "Q", "2d", "bytearray", "slice", "strided", "readonly")


@dataclass(frozen=True)
class Step:
    """One call: the operation, its arguments, and the number of the stream."""

    op: str
    args: tuple[Argument, ...] = ()
    stream: int = 0

    def __str__(self) -> str:
        text = f"{self.op}({', '.join(show(a) for a in self.args)})"
        return text if self.stream == 0 else f"#{self.stream}.{text}"

    def to_json(self) -> Any:
        """Return the step as JSON: `["seek", "len-1"]`, or an object if not on the first stream."""
        call = [self.op, *(plain(a) for a in self.args)]
        return call if self.stream == 0 else {"stream": self.stream, "call": call}

    @classmethod
    def from_json(cls, data: Any, where: str = "step") -> Step:
        """Parse a step; ProgramError names the place and what is allowed there."""
        stream = 0
        if isinstance(data, dict):
            stream, data = data.get("stream", 0), data.get("call")
        if type(stream) is not int or not 0 <= stream < MAX_STREAMS:
            raise ProgramError(f"{where}: stream must be 0 to {MAX_STREAMS - 1}, got {stream!r}")
        if not isinstance(data, list) or not data or not isinstance(data[0], str):
            raise ProgramError(f"{where}: expected a list such as ['seek', 0]")
        op, args = data[0], tuple(tuples(a) for a in data[1:])
        if op not in OPERATIONS:
            raise ProgramError(f"{where}: unknown operation {op!r}; known: {', '.join(OPERATIONS)}")
        names = OPERATIONS[op]
        if len(args) != len(names):
            parameters = ", ".join(names) or "nothing"
            raise ProgramError(f"{where}: {op} takes {parameters}; got {len(args)} arguments")
        for name, value in zip(names, args, strict=True):
            if op in WITHOUT_STREAM:
                expected = problem(name, value)
                if expected:
                    raise ProgramError(f"{where}: {op} {name}: expected {expected}, got {value!r}")
            else:
                _check(name, value, f"{where}: {op} {name}")
        return cls(op, args, stream)


@dataclass(frozen=True)
class Program:
    """Calls on `streams` streams newly opened on one file of `length` bytes.

    With an `opening`, one builder opens them, with one `build` for each stream; otherwise `open`
    does. `faults` happen during the calls. With `at`, `open` gets an unusual path instead of that
    of an ordinary file.
    """

    length: int
    steps: tuple[Step, ...]
    streams: int = 1
    opening: Opening | None = None
    faults: FaultPlan | None = None
    at: OpenedPath | None = None

    def __str__(self) -> str:
        opened = f"f = open({self.length} bytes)"
        if self.at is not None:
            opened = f"f = open({self.at})"
        if self.opening is not None:
            opened = "f = " + self.opening.text(self.length)
        if self.streams > 1:
            opened += f" x {self.streams}"
        text = "; ".join([opened, *_shown(self.steps)])
        return text if self.faults is None else f"[{self.faults}] {text}"

    @property
    def needs_stream(self) -> bool:
        """True if a call uses a stream, or the program has no calls."""
        return not self.steps or any(s.op not in WITHOUT_STREAM for s in self.steps)

    def with_steps(self, steps: tuple[Step, ...]) -> Program:
        """Return a program with the same file and streams, and other calls."""
        return replace(self, steps=steps)

    def to_json(self) -> dict[str, Any]:
        """Return the program as a JSON object."""
        data: dict[str, Any] = {"length": self.length, "streams": self.streams}
        if self.opening is not None:
            data["open"] = self.opening.to_json()
        if self.faults is not None:
            data.update(self.faults.to_json())
        if self.at is not None:
            data["at"] = self.at.to_json()
        return {**data, "steps": [s.to_json() for s in self.steps]}

    @classmethod
    def from_json(cls, data: Any, where: str = "program") -> Program:
        """Parse a program; ProgramError names the place and what is allowed there."""
        if not isinstance(data, dict) or not isinstance(data.get("steps"), list):
            raise ProgramError(f"{where}: expected an object with length and steps")
        length, streams = data.get("length"), data.get("streams", 1)
        if type(length) is not int or not 0 <= length <= MAX_LENGTH:
            raise ProgramError(f"{where}: length must be 0 to {MAX_LENGTH}, got {length!r}")
        if type(streams) is not int or not 1 <= streams <= MAX_STREAMS:
            raise ProgramError(f"{where}: streams must be 1 to {MAX_STREAMS}, got {streams!r}")
        steps = tuple(
            Step.from_json(s, f"{where}: step {i}") for i, s in enumerate(data["steps"], 1)
        )
        if any(s.stream >= streams for s in steps):
            raise ProgramError(f"{where}: unknown stream in a step")
        opening = None
        if "open" in data:
            opening = Opening.from_json(data["open"], f"{where}: open")
        plan = None
        if "faults" in data:
            plan = FaultPlan.from_json({"faults": data["faults"]}, where)
        at = OpenedPath.from_json(data["at"], f"{where}: at") if "at" in data else None
        if at is not None and (opening is not None or plan is not None or streams > 1):
            raise ProgramError(f"{where}: at excludes open, faults and several streams")
        return cls(length, steps, streams, opening, plan, at)

    def dumps(self) -> str:
        """Return the program as one line of JSON."""
        return json.dumps(self.to_json(), separators=(",", ":"))


def resolve_step(step: Step, length: int, buffer: int) -> Step:
    """Return the step with every anchor replaced by a number."""
    return replace(step, args=tuple(resolve(a, length, buffer) for a in step.args))


def resolve_program(program: Program, length: int, buffer: int) -> Program:
    """Return the program with every anchor of its calls replaced by a number."""
    opening = program.opening and program.opening.resolved(length, buffer)
    steps = tuple(resolve_step(step, length, buffer) for step in program.steps)
    return replace(program, steps=steps, opening=opening)


def _shown(steps: tuple[Step, ...]) -> list[str]:
    """Return the calls as text, without those in the middle if there are many."""
    if len(steps) <= _MOST_SHOWN:
        return [f"f.{step}" for step in steps]
    part = _MOST_SHOWN // 2
    left = f"... {len(steps) - 2 * part:,} more calls ..."
    return [*_shown(steps[:part]), left, *_shown(steps[-part:])]


def _check(name: str, value: Argument, where: str) -> None:
    if name in _NUMBERS:
        if not is_number(value) and not (name in ("size", "limit", "hint") and value is None):
            raise ProgramError(
                f"{where}: expected a whole number or an anchor like 'len-1', got {value!r}"
            )
        if name == "size" and type(value) is int and value > 1 << 26:
            raise ProgramError(f"{where}: expected at most {1 << 26} bytes, got {value}")
    elif name == "ranges":
        if value is not None and not all(r is None or _is_range(r) for r in value):
            raise ProgramError(f"{where}: expected a list of [offset, length] pairs, got {value!r}")
    else:
        allowed = {"how": CHANGES, "allocate": ALLOCATORS, "format": FORMATS}.get(name)
        if name == "release":
            allowed = ("given", "absent", "null")
        if not isinstance(value, str) or (allowed and value not in allowed):
            raise ProgramError(
                f"{where}: expected {' or '.join(allowed or ['a string'])}, got {value!r}"
            )


def _is_range(value: Argument) -> bool:
    return isinstance(value, tuple) and len(value) == 2 and all(is_number(v) for v in value)
