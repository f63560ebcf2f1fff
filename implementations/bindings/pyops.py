"""The operations of Python's binary file protocol (`py_*`) as functions of an opened stream.

Every maker gets `file`, which finds the file object in what the binding opened, and `fail`, which
turns an exception into an outcome; then the arguments of its operation.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import Any, Protocol, TypeAlias

from fscontract.contract.binding import Action, Opened
from fscontract.contract.outcome import INEXPRESSIBLE, Kind, Outcome, raised
from fscontract.contract.program import Step
from fscontract.implementations.bindings.scratch import blank, several

FileOf: TypeAlias = Callable[[Opened], Any]


_RETURNED = Kind.RETURNED
_AT_END = Outcome(_RETURNED, None)


class Fail(Protocol):
    """Turns an exception into an outcome, as `raised` does."""

    def __call__(self, error: Exception, kind: Kind | None = None) -> Outcome:
        """The outcome of a call that raised; `kind` overrides the classification."""
        ...


def bind_python(step: Step, file: FileOf, fail: Fail = raised) -> Action:
    """A `py_*` step as a function of an opened stream."""
    return _MAKERS[step.op](file, fail, *step.args)


def inexpressible(_opened: Opened) -> Outcome:
    """The action of a call that an API has no way to make."""
    return INEXPRESSIBLE


def _call(name: str) -> Callable[..., Action]:
    def make(file: FileOf, fail: Fail, *args: Any) -> Action:
        def run(opened: Opened) -> Outcome:
            try:
                return Outcome(_RETURNED, getattr(file(opened), name)(*args))
            except Exception as error:
                return fail(error)

        return run

    return make


def _readall(file: FileOf, fail: Fail) -> Action:
    def run(opened: Opened) -> Outcome:
        try:
            target = file(opened)
            if not hasattr(target, "readall"):  # only raw files have it: the word is missing
                return INEXPRESSIBLE
            return Outcome(_RETURNED, target.readall())
        except Exception as error:
            return fail(error)

    return run


def _readline(file: FileOf, fail: Fail, limit: int | None) -> Action:
    # None is not documented for readline: no limit is said by leaving it out
    return _call("readline")(file, fail, *(() if limit is None else (limit,)))


def _readlines(file: FileOf, fail: Fail, hint: int | None) -> Action:
    args = () if hint is None else (hint,)

    def run(opened: Opened) -> Outcome:
        try:
            return Outcome(_RETURNED, tuple(several(file(opened).readlines(*args))))
        except Exception as error:
            return fail(error)

    return run


def _readinto(file: FileOf, fail: Fail, form: str, size: int | None) -> Action:
    if size is None:
        return _call("readinto")(file, fail, None)
    if size < 0 or (form == "2d" and size == 0):
        return inexpressible
    make = _BUFFERS[form]

    def run(opened: Opened) -> Outcome:
        buffer = make(size)
        try:
            return Outcome(_RETURNED, file(opened).readinto(buffer), buffer.tobytes())
        except Exception as error:
            return fail(error)

    return run


_BUFFERS: dict[str, Callable[[int], memoryview | array[int]]] = {
    "B": lambda size: memoryview(bytearray(blank(size))),
    "I": lambda size: array("I", blank(4 * size)),
    "2d": lambda size: memoryview(bytearray(blank(2 * size))).cast("B", (size, 2)),
}


def _next(file: FileOf, fail: Fail) -> Action:
    def run(opened: Opened) -> Outcome:
        try:
            return Outcome(_RETURNED, next(file(opened)))
        except StopIteration:
            return _AT_END
        except Exception as error:
            return fail(error)

    return run


def _closed(file: FileOf, fail: Fail) -> Action:
    def run(opened: Opened) -> Outcome:
        try:
            return Outcome(_RETURNED, file(opened).closed)
        except Exception as error:
            return fail(error)

    return run


def _with(file: FileOf, fail: Fail) -> Action:
    def run(opened: Opened) -> Outcome:
        try:
            with file(opened) as entered:
                pass
            return Outcome(_RETURNED, entered.closed)
        except Exception as error:
            return fail(error)

    return run


def _write(file: FileOf, fail: Fail) -> Action:
    return _call("write")(file, fail, b"x")


_MAKERS: dict[str, Callable[..., Action]] = {
    "py_read": _call("read"),
    "py_readall": _readall,
    "py_readinto": _readinto,
    "py_seek": _call("seek"),
    "py_tell": _call("tell"),
    "py_readline": _readline,
    "py_readlines": _readlines,
    "py_next": _next,
    "py_closed": _closed,
    "py_readable": _call("readable"),
    "py_seekable": _call("seekable"),
    "py_writable": _call("writable"),
    "py_with": _with,
    "py_write": _write,
}
#: Every operation of the protocol.
PYTHON_OPERATIONS = frozenset(_MAKERS)
