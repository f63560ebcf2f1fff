"""Signals that end a command as Ctrl-C does: what was found is reported, what was made removed."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

#: The exit code of a command that a signal ended is this and its number, as a shell has it.
BASE = 128
_NAMES = ("SIGTERM", "SIGHUP")


class Stopped(KeyboardInterrupt):
    """A signal has ended the command; `code` is its exit code."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.code = BASE + number


@contextmanager
def stopped_by_signals() -> Iterator[None]:
    """Raise Stopped at SIGTERM and SIGHUP, once; where they are ignored, as by nohup, they stay so.

    Handlers can be set in the main thread only: elsewhere nothing changes.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = [getattr(signal, name) for name in _NAMES if hasattr(signal, name)]
    ours = [number for number in numbers if signal.getsignal(number) is signal.SIG_DFL]

    def stop(number: int, frame: FrameType | None) -> None:
        for one in ours:  # the next one is not to keep things from being cleared away
            signal.signal(one, signal.SIG_IGN)
        raise Stopped(number)

    for number in ours:
        signal.signal(number, stop)
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, signal.SIG_DFL)


def code_of(error: BaseException | None) -> int:
    """Return the exit code of a command that was interrupted by this exception."""
    return error.code if isinstance(error, Stopped) else BASE + signal.SIGINT
