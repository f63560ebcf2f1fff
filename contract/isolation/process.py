"""A child process: started by a fork or a new interpreter; messages are lines of JSON."""

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
from fscontract.contract.runner import sandbox

#: Seconds that a process may take to end after its line was closed: it runs the exit handlers of
#: the target.
FAREWELL = 15.0
#: Seconds of silence after the user's interrupt, and seconds until it must have ended.
CLEARING, LONGEST_CLEARING = 15.0, 60.0
_TICK = 0.1
_GLANCE = 0.005
_START = (
    "import sys; sys.path[:] = sys.argv[3:]; "
    "from fscontract.contract.isolation.worker import main; "
    "main(int(sys.argv[1]), int(sys.argv[2]))"
)
#: The parent's ends of open lines: a forked process must close those of other processes.
_lines: weakref.WeakSet[socket.socket] = weakref.WeakSet()


class Quiet(Exception):
    """The process has sent nothing within the time limit."""


class Forked:
    """A forked process; its methods are like those of `subprocess.Popen`."""

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
            except ChildProcessError:  # SIGCHLD is ignored, so that the status is lost
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
    """Run the forked process: the stack below must never be reached."""
    try:
        forget_exit_handlers()
        sandbox.begin_fork()
        work()
    finally:
        os._exit(worker.LOST)


def forget_exit_handlers() -> None:
    """Remove the exit handlers of the parent process in a fork."""
    finalize: Any = weakref.finalize
    atexit._clear()
    for inherited in list(finalize._registry):
        inherited.atexit = False
    atexit.register(finalize._exitfunc)


def can_fork() -> bool:
    """Return whether a fork would work: it lacks all other threads.

    Libraries of macOS do not support forks.
    """
    return hasattr(os, "fork") and sys.platform != "darwin" and threading.active_count() == 1


class Process:
    """A process at the other end of a line, and its messages."""

    def __init__(self, start: Callable[[socket.socket], Forked | subprocess.Popen[bytes]]) -> None:
        ours, theirs = socket.socketpair()
        _lines.add(ours)
        with theirs:
            self._process = start(theirs)
        self._line = ours
        self._line.settimeout(_TICK)
        self._rest = b""
        self._how: str | None = None
        #: Limit of silence in seconds; None for no limit.
        self.quiet: float | None = None
        #: Returns True if a call holds the interpreter for too long.
        self.is_stuck: Callable[[], bool] = lambda: False

    def say(self, text: str) -> None:
        """Send a line; do nothing if the process has closed its end."""
        with contextlib.suppress(OSError):
            self._line.sendall(text.encode() + b"\n")

    def answers(self) -> Iterator[dict[str, Any]]:
        """Yield messages until the process has ended; raise Quiet after too much silence."""
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
            else:  # messages from before the end are still to be read
                alive = self._process.poll() is None

    def interrupt(
        self, patience: float = CLEARING, until_end: bool = False
    ) -> Iterator[dict[str, Any]]:
        """Forward the user's Ctrl-C; yield messages until everything is removed.

        This ends with the message "interrupted", or with the process, which may be silent for
        `patience` seconds.
        """
        self._process.send_signal(signal.SIGINT)
        self.quiet, end = patience, time.monotonic() + LONGEST_CLEARING
        with contextlib.suppress(Quiet, ValueError):  # the Ctrl-C may have cut a line
            for answer in self.answers():
                yield answer
                if ("interrupted" in answer and not until_end) or time.monotonic() > end:
                    return

    def end(self, patience: float = FAREWELL) -> str:
        """Wait for the process to end, or end it, with all its children.

        Return "" if it ended normally, otherwise the reason.
        """
        if self._how is not None:
            return self._how
        self._line.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(patience)
        running = self._process.poll() is None
        for end in (os.killpg, os.kill):  # immediately after a fork it has no process group yet
            if running or end is os.killpg:
                with contextlib.suppress(OSError):
                    end(self._process.pid, signal.SIGKILL)
        status = self._process.wait()
        how = f"the process did not end within {patience:g} s" if running else describe_exit(status)
        self._how = how if running or status else ""
        return self._how

    def _is_quiet(self, since: float) -> bool:
        return self.quiet is not None and time.monotonic() - since > self.quiet

    def _part(self) -> bytes | None:
        """Return available bytes; b"" at the end, None if nothing has arrived."""
        try:
            return self._line.recv(1 << 16)
        except TimeoutError:
            return None
        except OSError:
            return b""


def process_of(journal: int, request: dict[str, Any], forks: bool) -> Process:
    """Start a process for a request, with a journal; by a fork if possible."""

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
        start_new_session=True,  # the parent gets the user's Ctrl-C and forwards it
    )


def describe_exit(status: int) -> str:
    """Describe the end of a process, from its status as of `Popen`."""
    if status >= 0:
        return f"the process exited with status {status}"
    try:
        name = signal.Signals(-status).name
    except ValueError:
        name = f"signal {-status}"
    return f"the process was ended by {name}"
