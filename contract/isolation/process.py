"""One process beside this one: started by a fork or anew, spoken to in lines of JSON."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from fscontract.contract.isolation import worker

#: How long a process may take to end after its line was closed, in seconds: it runs the exit
#: handlers of the target.
FAREWELL = 15.0
#: How long it may be silent after the user has interrupted it, and how long it may go on at all.
CLEARING, LONGEST_CLEARING = 15.0, 60.0
_TICK = 0.1
_GLANCE = 0.005
_START = (
    "import sys; sys.path[:] = sys.argv[3:]; "
    "from fscontract.contract.isolation.worker import main; "
    "main(int(sys.argv[1]), int(sys.argv[2]))"
)
#: Our ends of the lines that are open: a forked process must not hold the other ones.
_lines: weakref.WeakSet[socket.socket] = weakref.WeakSet()


class Quiet(Exception):
    """Nothing has come from the process for too long."""


class Forked:
    """A forked process; what it has of `subprocess.Popen` does the same here."""

    def __init__(self, work: Callable[[], None]) -> None:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError, AttributeError):
                stream.flush()
        self.pid = os.fork()
        self.returncode: int | None = None
        if self.pid == 0:
            _live(work)

    def poll(self) -> int | None:
        """Return its status as of `Popen`, or None while it runs."""
        if self.returncode is None:
            try:
                pid, status = os.waitpid(self.pid, os.WNOHANG)
            except ChildProcessError:  # the signal SIGCHLD is ignored: its status is lost
                pid, status = self.pid, 0
            if pid:
                self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Return its status when it has ended; subprocess.TimeoutExpired."""
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            status = self.poll()
            if status is not None:
                return status
            if end is not None and time.monotonic() >= end:
                raise subprocess.TimeoutExpired("fscontract", timeout or 0.0)
            time.sleep(_GLANCE)

    def send_signal(self, number: int) -> None:
        """Send a signal unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)


def _live(work: Callable[[], None]) -> NoReturn:
    """Be the forked process: nothing of the stack below may ever run here."""
    try:
        forget_exit_handlers()
        work()
    finally:
        os._exit(worker.LOST)


def forget_exit_handlers() -> None:
    """Leave the exit handlers of the process that was forked to that process."""
    finalize: Any = weakref.finalize
    atexit._clear()
    for inherited in list(finalize._registry):
        inherited.atexit = False
    atexit.register(finalize._exitfunc)


def can_fork() -> bool:
    """Whether a fork of this process has all that it needs: other threads would be missing.

    Libraries of macOS are not made for it.
    """
    return hasattr(os, "fork") and sys.platform != "darwin" and threading.active_count() == 1


class Process:
    """A process that was started with the other end of a line, and what it says."""

    def __init__(self, start: Callable[[socket.socket], Forked | subprocess.Popen[bytes]]) -> None:
        ours, theirs = socket.socketpair()
        _lines.add(ours)
        with theirs:
            self._process = start(theirs)
        self._line = ours
        self._line.settimeout(_TICK)
        self._rest = b""
        self._how: str | None = None
        #: How many seconds it may say nothing; None for no limit.
        self.quiet: float | None = None
        #: Returns True if a call holds the interpreter for too long.
        self.is_stuck: Callable[[], bool] = lambda: False

    def say(self, text: str) -> None:
        """Say a line; nothing happens if nobody listens."""
        with contextlib.suppress(OSError):
            self._line.sendall(text.encode() + b"\n")

    def answers(self) -> Iterator[dict[str, Any]]:
        """Yield what it says until it has ended; Quiet if it says nothing for too long."""
        since, alive = time.monotonic(), True
        while True:
            part = self._part()
            if part:
                since = time.monotonic()
                *lines, self._rest = (self._rest + part).split(b"\n")
                for line in lines:
                    yield json.loads(line)
            elif part == b"" or not alive:
                return
            elif self.is_stuck() or self._is_quiet(since):
                raise Quiet
            else:  # what it said before it ended is still to be read
                alive = self._process.poll() is None

    def interrupt(
        self, patience: float = CLEARING, until_end: bool = False
    ) -> Iterator[dict[str, Any]]:
        """Pass the user's Ctrl-C on; yield what it says until everything is cleared away.

        That is when it says "interrupted", or when it has ended. It may be silent for `patience`
        seconds.
        """
        self._process.send_signal(signal.SIGINT)
        self.quiet, end = patience, time.monotonic() + LONGEST_CLEARING
        with contextlib.suppress(Quiet, ValueError):  # a line may have been cut by the Ctrl-C
            for answer in self.answers():
                yield answer
                if ("interrupted" in answer and not until_end) or time.monotonic() > end:
                    return

    def end(self, patience: float = FAREWELL) -> str:
        """Let it end, or end it, with all that it has started.

        Return "" if it ended as it should, or else how.
        """
        if self._how is not None:
            return self._how
        self._line.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(patience)
        running = self._process.poll() is None
        for end in (os.killpg, os.kill):  # just after a fork it has no group yet
            if running or end is os.killpg:
                with contextlib.suppress(OSError):
                    end(self._process.pid, signal.SIGKILL)
        status = self._process.wait()
        how = f"the process did not end within {patience:g} s" if running else how_ended(status)
        self._how = how if running or status else ""
        return self._how

    def _is_quiet(self, since: float) -> bool:
        return self.quiet is not None and time.monotonic() - since > self.quiet

    def _part(self) -> bytes | None:
        """Return what can be read; b"" at the end, None if nothing came."""
        try:
            return self._line.recv(1 << 16)
        except TimeoutError:
            return None
        except OSError:
            return b""


def process_of(journal: int, request: dict[str, Any], forks: bool) -> Process:
    """Start a process that serves a request, with a journal; by a fork if that can be."""

    def start(theirs: socket.socket) -> Forked | subprocess.Popen[bytes]:
        if forks and can_fork():
            return Forked(lambda: _serve(theirs, journal))
        return _started(theirs, journal)

    process = Process(start)
    process.say(json.dumps(request))
    return process


def _serve(theirs: socket.socket, journal: int) -> None:
    os.setsid()
    for line in list(_lines):
        line.close()
    worker.main(theirs.detach(), journal)


def _started(theirs: socket.socket, journal: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603 (this very interpreter)
        [sys.executable, "-c", _START, str(theirs.fileno()), str(journal), *sys.path],
        pass_fds=(theirs.fileno(), journal),
        start_new_session=True,  # the user's Ctrl-C comes to us, and we pass it on
    )


def how_ended(status: int) -> str:
    """Say how a process ended, by its status as of `Popen`."""
    if status >= 0:
        return f"the process exited with status {status}"
    try:
        name = signal.Signals(-status).name
    except ValueError:
        name = f"signal {-status}"
    return f"the process was ended by {name}"
