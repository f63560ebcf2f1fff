"""Notice what a target patches in modules that the suite needs itself, and put it back."""

from __future__ import annotations

import builtins
import contextlib
import gc
import io
import json
import operator
import os
import random
import signal
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple

#: What the suite needs, and those of its names that it uses between any two calls of a target.
_MODULES: tuple[tuple[ModuleType | type, str], ...] = (
    (
        builtins,
        "isinstance issubclass len type tuple list dict set frozenset int str bytes bool min max "
        "any all map zip enumerate range next iter getattr setattr hasattr sorted sum super repr",
    ),
    (threading, "current_thread main_thread get_ident Thread Lock"),
    (threading.Thread, "start join is_alive"),
    *((module, "") for module in (time, contextlib, gc, io, json, os, os.path, random)),
    *((module, "") for module in (signal, sys, tempfile, traceback)),
    *((kind, "") for kind in (threading.Condition, threading.Event)),
    *((kind, "") for kind in (json.JSONEncoder, json.JSONDecoder)),
)
#: After so many programs everything is looked at, until a target has changed something.
_PROGRAMS = 32
#: What the suite or its libraries set themselves, or a target may set as it likes.
_THEIRS = frozenset({"excepthook", "displayhook", "unraisablehook", "breakpointhook"})
_FUNCTIONS = (FunctionType, BuiltinFunctionType, MethodType, type)
_Absent = object()


class _Owner(NamedTuple):
    """A module or class, with its attributes as they were."""

    name: str
    owner: Any
    #: Its attributes as they are.
    now: Any
    get: Callable[[Any], tuple[object, ...]]
    names: tuple[str, ...]
    values: tuple[object, ...]


class Patches:
    """The functions and classes of some modules as they were when this was made.

    What looks for changes uses no name that a target can replace, so that it works while `len` or
    `isinstance` are something else.
    """

    def __init__(self) -> None:
        self._always = tuple(_watched(owner, some.split()) for owner, some in _MODULES if some)
        self._all = tuple(_watched(owner, _names(owner)) for owner, _ in _MODULES)
        self._programs = 0
        self._limit = sys.getrecursionlimit()
        #: The names of what was changed so far.
        self.changed: dict[str, None] = {}

    @property
    def warnings(self) -> tuple[str, ...]:
        """A line that names what was changed, none if nothing was."""
        if not self.changed:
            return ()
        return (f"the target changed {', '.join(self.changed)}, which the suite put back",)

    def after_call(self) -> None:
        """Put everything back if something that the suite needs at once was changed.

        It is called after each call of a target."""
        self._look(self._always)

    def after_close(self) -> None:
        """Do the same after a close, which ends a program, and now and then look at everything.

        A target that has changed something is looked at after each."""
        self._programs += 1
        always = self._programs % _PROGRAMS and not self.changed
        self._look(self._always if always else self._all)

    def _look(
        self,
        owners: tuple[_Owner, ...],
        every: Callable[..., bool] = all,
        function: Callable[..., Any] = map,
        same: Callable[[object, object], bool] = operator.is_,
        limit: Callable[[], int] = sys.getrecursionlimit,
        missing: type[KeyError] = KeyError,
    ) -> None:
        if limit() != self._limit:
            self.undo()
            return
        for one in owners:
            try:
                if every(function(same, one.get(one.now), one.values)):
                    continue
            except missing:  # it was deleted
                pass
            self.undo()
            return

    def undo(
        self,
        put: Callable[[Any, str, object], None] = setattr,
        pairs: Callable[..., Any] = zip,
        limit: Callable[[], int] = sys.getrecursionlimit,
        set_limit: Callable[[int], None] = sys.setrecursionlimit,
    ) -> bool:
        """Put everything back; return whether there was anything to put back."""
        changed = False
        if limit() != self._limit:
            changed = True
            set_limit(self._limit)
            self.changed["the recursion limit"] = None
        for one in self._all:
            for name, value in pairs(one.names, one.values):
                if one.now.get(name, _Absent) is not value:
                    changed = True
                    put(one.owner, name, value)
                    self.changed[one.name + "." + name] = None
        return changed

    @contextlib.contextmanager
    def within_raised_limit(self) -> Iterator[None]:
        """Take the present recursion limit for the suite's own meanwhile: Hypothesis raises it."""
        before, self._limit = self._limit, sys.getrecursionlimit()
        try:
            yield
        finally:
            self._limit = before

    @contextlib.contextmanager
    def tolerated(self) -> Iterator[None]:
        """Tolerate an exception of what is done while a call runs that has patched something."""
        try:
            yield
        except Exception:
            if not self.undo():
                raise


def _watched(owner: ModuleType | type, chosen: Iterable[str]) -> _Owner:
    names, now = tuple(chosen), vars(owner)
    get = operator.itemgetter(*names)
    label = owner.__name__
    if isinstance(owner, type):
        label = f"{owner.__module__}.{owner.__qualname__}"
    return _Owner(label, owner, now, get, names, get(now))


def _names(owner: ModuleType | type) -> Iterator[str]:
    for name, value in vars(owner).items():
        if (owner, name) == (os, "environ"):
            yield name
        if name.startswith("_") or name in _THEIRS or not isinstance(value, _FUNCTIONS):
            continue
        if not (isinstance(value, type) and issubclass(value, BaseException)):
            yield name
