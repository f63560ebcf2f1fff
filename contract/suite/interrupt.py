"""Giving up a thread that hangs."""

from __future__ import annotations

import ctypes
import gc
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

from fscontract.contract.suite.clock import sleep

#: As `time` has it before a target is imported.
_clock_of = getattr(time, "pthread_getcpuclockid", None)
_read = getattr(time, "clock_gettime", None)
#: How long a thread is watched to see whether it is busy, in seconds.
_GLANCE = 0.02
#: How often a busy thread is told to end.
_TRIES = 5


class Abandoned(BaseException):
    """Raised inside a thread that was given up, to end a loop in Python code."""


def give_up(thread: threading.Thread) -> None:
    """Stop the thread if it runs Python code, leave it if it blocks.

    An exception that is delivered in a finaliser, or in one of `gc.callbacks`, is lost, so there is
    no collection meanwhile, and what was lost is sent again.
    """
    for _ in range(_TRIES):
        if thread.ident is None or not thread.is_alive() or not _is_busy(thread.ident):
            return
        with without_collection():
            interrupt(thread.ident)
            thread.join(_GLANCE)


def clear_interrupts() -> None:
    """Take back what an exception sent to a blocked thread leaves behind.

    Python 3.11 raises a flag for all threads until the exception is delivered, and as long as it
    is up a traced thread never gets past the first instruction of a function. Delivering one to
    this thread lowers it.
    """
    if sys.version_info[:2] != (3, 11):
        return
    with suppress(Abandoned), without_collection():
        interrupt(threading.get_ident())
        for _ in range(1000):
            pass


def interrupt(ident: int) -> None:
    """Raise `Abandoned` in a thread as soon as it runs Python code."""
    error = ctypes.py_object(Abandoned)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(ident), error)


@contextmanager
def without_collection() -> Iterator[None]:
    """Without garbage collection, whose finalizers and callbacks would run at any time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@contextmanager
def losses_unheard() -> Iterator[None]:
    """Without a word of an `Abandoned` that is lost: Python would print it, and pytest make it an
    error of whatever test runs."""
    heard = sys.unraisablehook

    def hook(lost: sys.UnraisableHookArgs) -> None:
        if lost.exc_type is not Abandoned:
            heard(lost)

    sys.unraisablehook = hook
    try:
        yield
    finally:
        if sys.unraisablehook is hook:
            sys.unraisablehook = heard


@contextmanager
def held_back() -> Iterator[None]:
    """Hold Ctrl-C, and the other signals that Python handles, back to the end of a clearing up.

    A second one comes through at once.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[tuple[int, FrameType | None]] = []
    before: dict[int, Callable[[int, FrameType | None], Any]] = {}

    def note(number: int, frame: FrameType | None) -> None:
        came.append((number, frame))
        if len(came) > 1:
            before[number](number, frame)

    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        handler = None if number is None else signal.getsignal(number)
        if number is not None and callable(handler):
            before[number] = handler
            signal.signal(number, note)
    try:
        yield
    finally:
        for number, handler in before.items():
            if signal.getsignal(number) is note:
                signal.signal(number, handler)
    for number, frame in came[:1]:
        before[number](number, frame)


def _is_busy(ident: int) -> bool:
    """Whether the thread uses the processor. False where the system can't tell."""
    if _clock_of is None or _read is None:
        return False
    try:
        clock = _clock_of(ident)
        before = _read(clock)
        sleep(_GLANCE)
        return bool(_read(clock) - before > _GLANCE / 10)
    except OSError:  # it has ended meanwhile
        return False
