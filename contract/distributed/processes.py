"""Shards of a run in processes of this machine: `fscontract check TARGET --jobs N`."""

from __future__ import annotations

import json
import os
import queue
import socket
import subprocess
import sys
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from importlib import import_module
from typing import Any, NoReturn

from fscontract.contract.binding import TargetError
from fscontract.contract.distributed.backend import Backend, Work
from fscontract.contract.isolation import worker
from fscontract.contract.isolation.process import Process, Quiet

#: Seconds between two signs of life of a process, and of silence after which it is ended.
_BEAT, _QUIET = 1.0, 60.0
#: Seconds that an idle process may take to end.
_FAREWELL = 2.0
_START = (
    "import sys; sys.path[:] = sys.argv[2:]; "
    "from fscontract.contract.distributed.processes import serve; "
    "serve(int(sys.argv[1]))"
)


class ProcessBackend(Backend):
    """A number of processes, each of which runs one task after the other."""

    shards_per_task = 1  # each makes the target again, and processes of one machine are alike

    def __init__(self, count: int) -> None:
        self.name = f"{count} processes"
        self._count = count
        self._threads = ThreadPoolExecutor(count, "fscontract-jobs")
        #: The processes without a task; None for one that is still to be started.
        self._idle: queue.SimpleQueue[Process | None] = queue.SimpleQueue()
        self._busy: list[Process] = []
        self._cancelled = threading.Event()
        for _ in range(count):
            self._idle.put(None)

    @property
    def parallelism(self) -> int:
        """The number of processes."""
        return self._count

    def submit(self, work: Work, request: str, description: str) -> Future[str]:
        """Run a task in the next idle process."""
        line = json.dumps({"work": f"{work.__module__}:{work.__qualname__}", "request": request})
        return self._threads.submit(self._run, line)

    def running(self) -> int:
        """Return the number of running tasks."""
        return len(self._busy)

    def cancel(self) -> None:
        """End the processes that run tasks, and start no other task."""
        self._cancelled.set()
        for process in list(self._busy):
            process.end(0)
        self._threads.shutdown(cancel_futures=True)

    def close(self) -> None:
        """End all processes."""
        self.cancel()
        while not self._idle.empty():
            process = self._idle.get()
            if process is not None:
                process.end(_FAREWELL)

    def _run(self, line: str) -> str:
        process = self._idle.get() or Process(_started)
        self._busy.append(process)
        answer = None
        try:
            if self._cancelled.is_set():
                raise TargetError("cancelled")
            answer = _answer(process, line)
        finally:
            self._busy.remove(process)
            self._idle.put(None if answer is None else process)
        if answer is None:
            raise TargetError(process.end(_FAREWELL) or "the process ended before its task")
        return answer


def _started(theirs: socket.socket) -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603 (this very interpreter)
        [sys.executable, "-c", _START, str(theirs.fileno()), *sys.path],
        pass_fds=(theirs.fileno(),),
        start_new_session=True,  # the process that waits for it gets the user's Ctrl-C
    )


def _answer(process: Process, line: str) -> str | None:
    """Return what a task returned; None if its process ended, or gave no sign of life."""
    process.quiet = _QUIET
    process.say(line)
    try:
        for answer in process.answers():
            if "answer" in answer:
                return str(answer["answer"])
    except Quiet:
        process.end(0)
    return None


def serve(line: int) -> NoReturn:
    """Run the tasks that arrive at socket `line`, until its other end is closed."""
    os.set_inheritable(line, False)
    connection = socket.socket(fileno=line)
    lock, ended = threading.Lock(), threading.Event()

    def say(**values: Any) -> None:
        with lock:
            connection.sendall(json.dumps(values).encode() + b"\n")

    threading.Thread(target=partial(_beat, say, ended), daemon=True).start()
    with suppress(OSError):  # the other end is gone
        for text in connection.makefile(encoding="utf-8"):
            request = json.loads(text)
            module, _, name = request["work"].partition(":")
            say(answer=getattr(import_module(module), name)(request["request"]))
    ended.set()
    worker.leave(0)


def _beat(say: Any, ended: threading.Event) -> None:
    """Give signs of life; end the process if the other end is closed."""
    while not ended.wait(_BEAT):
        try:
            say(beat=True)
        except OSError:
            os._exit(worker.LOST)


def processes(count: str) -> Backend:
    """Return a backend of this number of processes."""
    return ProcessBackend(int(count))
