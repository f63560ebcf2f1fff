"""What a target shares with the suite in one process, and what is put back when it was changed."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from typing import Any, TextIO

from fscontract.contract.suite.patches import Patches

_STANDARD = (("stdin", 0, "r"), ("stdout", 1, "w"), ("stderr", 2, "w"))


class Surroundings:
    """The directory, the environment, standard streams, signals and traces as they were, and the
    functions of modules that the suite needs."""

    def __init__(self) -> None:
        self.patches = Patches()
        self._directory = _opened_directory()
        self._environment = dict(os.environ)
        self._streams = {name: getattr(sys, name) for name, _, _ in _STANDARD}
        self._files = {number: _duplicate(number) for _, number, _ in _STANDARD}
        self._identities = {number: _identity(number) for number in self._files}
        self._umask = _umask()
        self._timer = signal.getitimer(signal.ITIMER_REAL)
        self._trace, self._profile = threading.gettrace(), threading.getprofile()
        self._signals = _handlers()

    def restore(self, last: bool = False) -> None:
        """Put back what is not as it was. Signals can be set in the main thread only.

        A descriptor of a standard stream that is something else now may be the target's, which
        still reads from it: it is put back at `last`, when what the target printed is shown, too.
        """
        self.patches.undo()
        self._restore_process()
        threading.settrace(self._trace)
        threading.setprofile(self._profile)
        if self._directory is not None:
            with contextlib.suppress(OSError):
                os.fchdir(self._directory)
        if dict(os.environ) != self._environment:
            os.environ.clear()
            os.environ.update(self._environment)
        for name, number, mode in _STANDARD:
            self._restore_stream(name, number, mode, last)
        if last:
            show_printed()
        if threading.current_thread() is threading.main_thread():
            for number, handler in self._signals.items():
                if signal.getsignal(number) is not handler:
                    signal.signal(number, handler)

    def _restore_process(self) -> None:
        """Put back what would spoil files of the suite, or end it."""
        if os.umask(self._umask) != self._umask:
            self.patches.changed["the umask"] = None
        timer = signal.getitimer(signal.ITIMER_REAL)
        if timer != (0.0, 0.0) and self._timer == (0.0, 0.0):
            signal.setitimer(signal.ITIMER_REAL, 0)
            self.patches.changed["the timer of signals"] = None

    def close(self) -> None:
        """Restore, and let the copies of descriptors go."""
        self.restore(last=True)
        for copy in (self._directory, *self._files.values()):
            if copy is not None:
                with contextlib.suppress(OSError):
                    os.close(copy)

    def _restore_stream(self, name: str, number: int, mode: str, last: bool) -> None:
        copy, now = self._files[number], _identity(number)
        if copy is not None and now != self._identities[number] and (last or now is None):
            with contextlib.suppress(OSError):
                os.dup2(copy, number)
        stream = self._streams[name]
        if copy is not None and getattr(stream, "closed", False):
            again = open(number, mode, encoding="utf-8", errors="replace", closefd=False)  # noqa: SIM115
            stream = self._streams[name] = again
        if getattr(sys, name) is not stream:
            setattr(sys, name, stream)


def _umask() -> int:
    """The umask, which can only be asked for by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def show_printed() -> None:
    """Empty the buffers of what was printed, so that it comes before what is printed elsewhere."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):  # closed, broken, or none
            stream.flush()


def private_copy(stream: TextIO) -> TextIO:
    """Another stream to the same place, or the stream itself if it has no descriptor."""
    try:
        copy = os.dup(stream.fileno())
    except (OSError, ValueError, AttributeError):
        return stream
    return open(copy, "w", encoding=stream.encoding, errors=stream.errors)


def _opened_directory() -> int | None:
    try:
        return os.open(".", os.O_RDONLY)
    except OSError:
        return None


def _duplicate(number: int) -> int | None:
    try:
        return os.dup(number)
    except OSError:
        return None


def _identity(number: int) -> tuple[int, int] | None:
    try:
        status = os.fstat(number)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _handlers() -> dict[int, Any]:
    """The handlers of signals that Python set."""
    known = ((number, signal.getsignal(number)) for number in signal.valid_signals())
    return {int(number): handler for number, handler in known if handler is not None}
