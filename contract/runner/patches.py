"""Detect what a target patches in modules that the suite needs itself, and restore it."""

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

#: The modules that the suite needs, and their names that it uses between any two calls of a target.
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
#: Number of programs after which all names are checked, until a target has changed something.
_PROGRAMS = 32
#: Names that the suite or its libraries set themselves, or that a target may set.
_THEIRS = frozenset({"excepthook", "displayhook", "unraisablehook", "breakpointhook"})
_FUNCTIONS = (FunctionType, BuiltinFunctionType, MethodType, type)
_Absent = object()


class _Owner(NamedTuple):
    """A module or class, with its original attributes."""

    name: str
    owner: Any
    #: Its current attributes.
    now: Any
    get: Callable[[Any], tuple[object, ...]]
    names: tuple[str, ...]
    values: tuple[object, ...]


class Patches:
    """The functions and classes of some modules at the time of construction.

    The search for changes uses no name that a target can replace, so that it works while `len` or
    `isinstance` are patched.
    """

    def __init__(self) -> None:
        self._always = tuple(_watched(owner, some.split()) for owner, some in _MODULES if some)
        self._all = tuple(_watched(owner, _names(owner)) for owner, _ in _MODULES)
        self._programs = 0
        self._limit = sys.getrecursionlimit()
        #: The names of all changes so far.
        self.changed: dict[str, None] = {}

    @property
    def warnings(self) -> tuple[str, ...]:
        """A line with the changed names, none if there are none."""
        if not self.changed:
            return ()
        return (f"the target changed {', '.join(self.changed)}, which the suite put back",)

    def after_call(self) -> None:
        """Restore everything if a name that the suite needs immediately was changed.

        It is called after each call of a target.
        """
        self._look(self._always)

    def after_close(self) -> None:
        """Do the same after a close, which ends a program; check all names at intervals.

        A target that has changed something is checked after each close.
        """
        self._programs += 1
        always = self._programs % _PROGRAMS and not self.changed
        self._look(self._always if always else self._all)

    def _look(
        self,
        owners: tuple[_Owner, ...],
        limit: Callable[[], int] = sys.getrecursionlimit,
        any_error: type[Exception] = Exception,
    ) -> None:
        if limit() != self._limit:
            self.undo()
            return
        for _, _, now, get, _, values in owners:  # it is faster than attributes
            try:
                # Tuples compare identical items without a call; functions equal only themselves.
                if get(now) == values:
                    continue
            except any_error:  # a name was deleted, or the new value can't be compared
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
        """Restore everything; return whether there was a change."""
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
        """Keep the current recursion limit within the context, because Hypothesis raises it."""
        before, self._limit = self._limit, sys.getrecursionlimit()
        try:
            yield
        finally:
            self._limit = before

    @contextlib.contextmanager
    def tolerated(self) -> Iterator[None]:
        """Ignore an exception while a call runs that has patched a name."""
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
