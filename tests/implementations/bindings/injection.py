"""Targets with one failing call, and all calls that a binding makes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, TypeAlias

from fscontract.contract.binding import Binding, NoScene, Opener, TargetError
from fscontract.contract.program.outcome import Outcome
from fscontract.contract.program.program import Step

#: Replaces a call.
Wrong: TypeAlias = Callable[[], Any]
_BINDINGS = "fscontract.implementations.bindings"
_PLAIN = (bytes, str, int, float, bool, type(None), dict)
DATA = bytes(range(2, 42))
STEPS = (
    Step("get_pos"),
    Step("read_byte"),
    Step("read_into", (8, 0, 8)),
    Step("seek", (3,)),
    Step("seek", (-1,)),
    Step("skip", (1,)),
    Step("available"),
    Step("unbuffer"),
    Step("has_capability", ("in:unbuffer",)),
    Step("seek_to_new_source", (0,)),
    Step("pread", (1, 8, 0, 8)),
    Step("read_fully", (1, 8, 0, 8)),
    Step("read_fully_all", (1, 8)),
    Step("read_vectored", (((0, 4), (8, 4)), "heap", "absent")),
    Step("read_buffer", (8, 0, None)),
    Step("pread_buffer", (1, 8, 0, None)),
    Step("read_fully_buffer", (1, 8, 0, None)),
    Step("py_read", (2,)),
    Step("py_readall"),
    Step("py_readinto", ("B", 4)),
    Step("py_seek", (0,)),
    Step("py_tell"),
    Step("py_readline", (None,)),
    Step("py_readlines", (None,)),
    Step("py_next"),
    Step("py_closed"),
    Step("py_readable"),
    Step("py_seekable"),
    Step("py_writable"),
    Step("py_write"),
    Step("close"),
    Step("read_byte"),
    Step("pread", (1, 8, 0, 8)),
    Step("py_with"),
)


class Broken(Exception):
    """An exception whose text can't be computed."""

    def __str__(self) -> str:
        raise RuntimeError("no text")


def _raise(error: Exception) -> Any:
    raise error


#: Failures by name.
WRONGS: dict[str, Wrong] = {
    "Broken": lambda: _raise(Broken()),
    "AttributeError": lambda: _raise(AttributeError("no such word in this version")),
    "ValueError": lambda: _raise(ValueError("odd")),
    "None": lambda: None,
    "text": lambda: "text",
    "negative": lambda: -1,
    "huge": lambda: 2**70,
    "object": object,
}


class Saboteur:
    """Lets one of the calls that bindings make on their targets fail, selected by number."""

    def __init__(self, at: int, wrong: Wrong) -> None:
        self.at = at
        self.count = 0
        self._wrong = wrong

    def around(self, found: Any) -> Any:
        """Return a wrapper of an attribute, or of a call's result."""
        if isinstance(found, _PLAIN):
            return found
        if callable(found) and not isinstance(found, type):
            return lambda *given, **named: self.call(found, *given, **named)
        if isinstance(found, (list, tuple)):
            return found
        return Sabotaged(found, self)

    def call(self, function: Callable[..., Any], *given: Any, **named: Any) -> Any:
        """Make the call, or fail."""
        if self.strikes():
            return self._wrong()
        return self.around(function(*given, **named))

    def strikes(self) -> bool:
        """Return True if this call must fail."""
        self.count += 1
        return self.count == self.at


class Sabotaged:
    """An object whose attributes come from a Saboteur."""

    def __init__(self, inner: Any, saboteur: Saboteur) -> None:
        self._inner, self._saboteur = inner, saboteur

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        if isinstance(found, _PLAIN) and self._saboteur.strikes():
            return self._saboteur._wrong()
        return self._saboteur.around(found)

    def __enter__(self) -> Any:
        return self._saboteur.call(self._inner.__enter__)

    def __exit__(self, *error: object) -> Any:
        return self._saboteur.call(self._inner.__exit__, *error)

    def __iter__(self) -> Any:
        return self._saboteur.call(self._inner.__iter__)

    def __next__(self) -> Any:
        return self._saboteur.call(self._inner.__next__)

    def __getitem__(self, key: Any) -> Any:
        return self._saboteur.call(self._inner.__getitem__, key)

    def __buffer__(self, flags: int) -> memoryview:
        return memoryview(self._inner)


def sabotaged_class(base: Any) -> Any:
    """Return a subclass whose methods, called by a binding, come from its `saboteur`."""

    def attribute(self: Any, name: str) -> Any:
        found = base.__getattribute__(self, name)
        caller = sys._getframe(1).f_globals.get("__name__", "")
        saboteur = vars(type(self)).get("saboteur")
        if saboteur is None or name.startswith("__") or not caller.startswith(_BINDINGS):
            return found
        return saboteur.around(found)

    return type(f"Sabotaged{base.__name__}", (base,), {"__getattribute__": attribute})


def live(binding: Binding) -> None:
    """Use a binding in every way; it may raise only exceptions that its interface allows."""
    try:
        with suppress(TargetError):
            binding.prepare()
            _use(binding)
        with suppress(TargetError):
            binding.leftovers()
    finally:
        with suppress(TargetError):
            binding.dispose()


def _use(binding: Binding) -> None:
    path = binding.create(DATA)
    with suppress(TargetError):
        binding.change(path, DATA)
    for ask in (binding.status_length, binding.status_etag):
        with suppress(Exception):  # any exception belongs to the call
            ask(path)
    _read(binding, path)
    if binding.opener is not None:
        _open(binding, binding.opener)


def _read(binding: Binding, path: str) -> None:
    actions = [binding.bind(step) for step in STEPS if step.op in binding.operations]
    try:
        opened = binding.open(path)
    except Exception:  # an exception of the call
        return
    for action in actions:
        outcome = action(opened)
        assert isinstance(outcome, Outcome)
        assert isinstance(outcome.detail, str)


def _open(binding: Binding, opener: Opener) -> None:
    for scene in sorted(opener.scenes):
        with suppress(NoScene, TargetError):
            opener.place(scene, DATA)
    with suppress(TargetError):
        opener.appear(binding.create(DATA), DATA)
    path = binding.create(DATA)
    calls = [("with_file_status", kind, n) for kind in sorted(opener.statuses) for n in (None, 7)]
    for call in calls:
        with suppress(NoScene, TargetError):
            _build(binding, opener, path, opener.ready(path, call))


def _build(binding: Binding, opener: Opener, path: str, ready: Any) -> None:
    try:
        with suppress(Exception):  # the API may lack statistics
            opener.counters(None)
        builder = opener.call(opener.open_file(path), ready)
        opened = opener.get(opener.build(builder))
    except Exception as error:
        outcome = opener.outcome(error)
    else:
        outcome = binding.bind(Step("close"))(opened)
    assert isinstance(outcome, Outcome)


def each_call(make: Callable[[Saboteur], Binding], wrong: Wrong) -> Iterator[int]:
    """Let each call of a binding fail in turn; yield their numbers."""
    number = 1
    while True:
        saboteur = Saboteur(number, wrong)
        live(make(saboteur))
        if saboteur.count < number:
            return
        yield number
        number += 1
