"""Run threads one at a time, in the order of a schedule, on a pool of threads.

Threads are traced (sys.settrace), and each line or instruction of the target's own code is an event
at which the scheduler may switch threads. The running thread then follows from the schedule alone,
unless a thread blocks on a lock of a paused one: it makes no event for PATIENCE seconds, and
another thread continues. Code under a lock is therefore judged in the same way, but replays less
exactly.
"""

from __future__ import annotations

import os.path
import sys
import threading
from collections.abc import Callable, Sequence
from queue import SimpleQueue
from types import CodeType, FrameType
from typing import Any, NamedTuple, TypeAlias

from fscontract.contract import clock
from fscontract.contract.concurrency.schedule import Schedule
from fscontract.contract.program.outcome import Outcome
from fscontract.contract.runner.timeouts import Abandoned, give_up, is_runnable

#: Seconds without an event after which a thread counts as blocked; and for a thread that is
#: runnable, but does not run, as on a machine under load.
PATIENCE, _RUNNABLE_PATIENCE = 0.02, 2.0
_TICK = 0.002
#: Delay of events in seconds while a thread is blocked, so that it can take a released lock.
_SETTLE = 0.00005
#: The kit's own modules, and imports: their code is not the target's.
_OURS = (
    "fscontract.contract.",
    "fscontract.implementations.bindings.",
    "importlib.",
    "_frozen_importlib",
)

READY, RUNNING, BLOCKED, DONE = range(4)
#: A place in the code: its code object and the line.
CodeLocation: TypeAlias = "tuple[CodeType, int]"
_Tracer: TypeAlias = Callable[[FrameType, str, Any], Any]


class Entry(NamedTuple):
    """One line of the log: an event of a thread, in which of its calls, and its place in the code.

    `event` is "starts", "returned", "paused", "blocked" or "resumes"; `where` is "file.py:12".
    """

    event: str
    thread: int
    call: int
    where: str = ""


class Scheduler:
    """One run of a schedule.

    `log`, `outcomes` and `counts` (events per thread and call) are its results; `blocking` keeps
    the places at which threads blocked, from run to run.
    """

    def __init__(self, schedule: Schedule, limit: int, blocking: set[CodeLocation]) -> None:
        count = len(schedule.threads)
        self.log: list[Entry] = []
        self.outcomes: list[list[Outcome]] = [[] for _ in range(count)]
        self.counts: list[list[int]] = [[] for _ in range(count)]
        self.error: BaseException | None = None
        self.endless = False
        self._kind = "opcode" if schedule.opcodes else "line"
        self._todo = {(s.thread, s.call, s.event): s.to for s in schedule.switches}
        self._limit = limit
        self._given_up = False
        self._blocking = blocking
        self._moves = 0
        self._running = -1
        self._status = [READY] * count
        self._order = list(range(count))
        self._blocked = 0
        self._mutex = threading.Lock()
        self._gates = [_locked() for _ in range(count)]
        self._finished = _locked()

    # In the threads ---------------------------------------------------------------------------

    def perform(self, me: int, calls: Sequence[Callable[[], Outcome]]) -> None:
        """Make the calls of thread `me` when it is scheduled."""
        self._gates[me].acquire()
        tracer = self._tracer(me)
        try:
            for number, call in enumerate(calls):
                self.counts[me].append(0)
                self._event(me, None)
                self.log.append(Entry("starts", me, number))
                outcome = _traced(call, tracer)
                self.log.append(Entry("returned", me, number))
                self.outcomes[me].append(outcome)
        except Abandoned:
            pass
        except BaseException as error:
            self.error = error
        finally:
            self._finish(me)

    def _tracer(self, me: int) -> _Tracer:
        kind, counts, event_of = self._kind, self.counts[me], self._event
        opcodes = kind == "opcode"

        def inside(frame: FrameType, event: str, _arg: Any) -> Any:
            if event == kind:
                counts[-1] += 1
                event_of(me, frame)
            return frame.f_trace  # itself; by its name it would be in a cycle with the scheduler

        def enter(frame: FrameType, _event: str, _arg: Any) -> Any:
            if not is_target(frame):
                return None
            if opcodes:
                frame.f_trace_opcodes, frame.f_trace_lines = True, False
            return inside

        return enter

    def _event(self, me: int, frame: FrameType | None) -> None:
        self._moves += 1
        if self._running != me:
            self._rejoin(me)
        if self._blocked:
            clock.sleep(_SETTLE)
        if self._moves > self._limit or self._given_up:
            self.endless = True
            raise Abandoned
        if self._todo:
            counts = self.counts[me]
            to = self._todo.get((me, len(counts) - 1, counts[-1]))
            if to is not None:
                self._make_way(me, to, frame)

    def _make_way(self, me: int, to: int, frame: FrameType | None) -> None:
        with self._mutex:
            if self._running != me or self._status[to] != READY or to == me:
                return
            call = len(self.counts[me]) - 1
            if frame is not None:
                self.log.append(Entry("paused", me, call, _name(frame)))
            self._status[me] = READY
            self._order.remove(me)
            self._order.append(me)
            self._pass_to(to)
        self._gates[me].acquire()
        if frame is not None:
            self.log.append(Entry("resumes", me, call))

    def _rejoin(self, me: int) -> None:
        """Make a thread wait for its turn again that counted as blocked and continues."""
        with self._mutex:
            if self._status[me] != BLOCKED:
                return
            self._blocked -= 1
            self._status[me] = READY
            if self._running == -1:
                self._pass_to(me)
        self._gates[me].acquire()
        self.log.append(Entry("resumes", me, len(self.counts[me]) - 1))

    def _finish(self, me: int) -> None:
        with self._mutex:
            self._blocked -= self._status[me] == BLOCKED
            self._status[me] = DONE
            if self._running == me:
                self._pass_on()
            if all(s == DONE for s in self._status):
                self._finished.release()

    # Under the mutex --------------------------------------------------------------------------

    def _pass_to(self, thread: int) -> None:
        self._running = thread
        self._status[thread] = RUNNING
        self._gates[thread].release()

    def _pass_on(self) -> None:
        self._running = -1
        for thread in self._order:
            if self._status[thread] == READY:
                self._pass_to(thread)
                return

    # In the caller's thread -------------------------------------------------------------------

    def supervise(self, workers: Sequence[threading.Thread], hang_after: float) -> bool:
        """Start, and wait until every thread has ended (True), or all block (False).

        A late tick counts as one in time, because the threads did not run either.
        """
        with self._mutex:
            self._pass_on()
        moves, idle, last = -1, 0.0, clock.monotonic()
        while not self._finished.acquire(timeout=_TICK):
            now = clock.monotonic()
            idle, last = idle + min(now - last, _TICK), now
            if self._moves != moves:
                moves, idle = self._moves, 0.0
            elif self._running == -1:
                if idle > hang_after:
                    self._given_up = True
                    return False
            elif self._unblock(workers, moves, idle):
                idle = 0.0
        return True

    def unfinished(self) -> list[int]:
        """Return the threads that have not ended."""
        return [i for i, s in enumerate(self._status) if s != DONE]

    def _unblock(self, workers: Sequence[threading.Thread], moves: int, idle: float) -> bool:
        """If the running thread blocks, let another one continue."""
        with self._mutex:
            running = self._running
            if running == -1 or self._moves != moves:
                return False
            worker = workers[running]
            frame = _target_frame(sys._current_frames().get(worker.ident or 0))
            location = None if frame is None else (frame.f_code, frame.f_lineno)
            if idle < PATIENCE and location not in self._blocking:
                return False
            if idle < _RUNNABLE_PATIENCE and is_runnable(worker):
                return False
            if frame is not None and location is not None:
                self._blocking.add(location)
            where = "" if frame is None else _name(frame)
            self.log.append(Entry("blocked", running, len(self.counts[running]) - 1, where))
            self._status[running] = BLOCKED
            self._blocked += 1
            self._pass_on()
            return True


def is_target(frame: FrameType) -> bool:
    """Return whether the frame runs code of the target, not of the kit or of an import."""
    return not str(frame.f_globals.get("__name__", "")).startswith(_OURS)


def _target_frame(frame: FrameType | None) -> FrameType | None:
    """Return the innermost frame of the target in a thread's call, if there is one."""
    while frame is not None and frame.f_code is not Scheduler.perform.__code__:
        if is_target(frame):
            return frame
        frame = frame.f_back
    return None


def _name(frame: FrameType) -> str:
    return f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}"


def _locked() -> threading.Lock:
    lock = threading.Lock()
    lock.acquire()
    return lock


def _traced(call: Callable[[], Outcome], tracer: _Tracer) -> Outcome:
    before = sys.gettrace()
    sys.settrace(tracer)
    try:
        return call()
    finally:
        sys.settrace(before)


class Worker(threading.Thread):
    """A thread that runs jobs one by one."""

    def __init__(self) -> None:
        super().__init__(daemon=True, name="fscontract-schedule")
        self._jobs: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self.start()

    def submit(self, job: Callable[[], None] | None) -> None:
        """Submit the next job; None ends the thread."""
        self._jobs.put(job)

    def run(self) -> None:
        """Run jobs until None, or until the thread is abandoned."""
        try:
            while True:
                job = self._jobs.get()
                if job is None:
                    return
                job()
        except Abandoned:
            pass


class WorkerPool:
    """A pool with as many workers as a schedule has threads."""

    def __init__(self) -> None:
        self._workers: list[Worker] = []

    def take(self, count: int) -> list[Worker]:
        """Return the first `count` workers, starting new ones if necessary."""
        while len(self._workers) < count:
            self._workers.append(Worker())
        return self._workers[:count]

    def abandon(self, workers: list[Worker]) -> None:
        """Abandon workers that hang, and replace them."""
        for worker in workers:
            give_up(worker)
            self._workers.remove(worker)

    def close(self) -> None:
        """End every worker, and wait for them."""
        for worker in self._workers:
            worker.submit(None)
        for worker in self._workers:
            worker.join()
        self._workers.clear()
