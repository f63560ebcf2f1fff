"""Run schedules, each on newly opened streams of the target.

Threads run in one of three ways: under a `Scheduler`, freely, or one after the other. Those that
each have a stream make one call each in turn instead of that.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import NamedTuple, TypeAlias

from fscontract.contract import clock
from fscontract.contract.binding import Binding
from fscontract.contract.concurrency.schedule import Schedule
from fscontract.contract.concurrency.scheduler import CodeLocation, Entry, Scheduler, WorkerPool
from fscontract.contract.program.content import OF_THREADS, content
from fscontract.contract.program.outcome import Outcome
from fscontract.contract.program.program import Step, resolve_step
from fscontract.contract.runner.timeouts import (
    Abandoned,
    beat,
    clear_interrupts,
    never_finalize,
    without_collection,
)

#: Number of events after which a schedule counts as endless.
MAX_EVENTS = 300_000
#: Factor of the time limit for free threads, which share the machine with other processes.
_FREE_PATIENCE = 5
_REMOTE_PATIENCE = 30
_FREE_SWITCH_INTERVAL = 1e-5

_Call = Callable[[], Outcome]
_Calls: TypeAlias = Sequence[Sequence[_Call]]


class NoVerdict(Exception):
    """The target can't be used, for the reason in the message, so that streams get no verdict."""


@dataclass
class Execution:
    """The result of one schedule: `steps` without anchors, and outcomes, per thread.

    If the execution hung, a thread may have fewer outcomes than steps. `counts` are the events of
    each call of each thread; empty if threads ran freely.
    """

    schedule: Schedule
    data: bytes
    steps: tuple[tuple[Step, ...], ...]
    outcomes: list[list[Outcome]]
    log: list[Entry]
    counts: list[list[int]]
    hang: bool

    @property
    def environment(self) -> Outcome | None:
        """The first outcome that reports an unreachable target, if any."""
        return next((o for o in self._every if o.is_unanswered), None)

    @property
    def is_interrupted(self) -> bool:
        """Return whether the network may have failed a call, which it may do once."""
        return any(o.is_unanswered or o.is_interrupted for o in self._every)

    @property
    def _every(self) -> Iterator[Outcome]:
        return chain.from_iterable(self.outcomes)


class _Log(NamedTuple):
    """The fields of an Execution that come from running its threads."""

    outcomes: list[list[Outcome]]
    log: list[Entry]
    counts: list[list[int]]
    hang: bool


class ScheduleRunner:
    """Runs schedules on one binding; counts schedules and calls."""

    def __init__(
        self,
        binding: Binding,
        beat: Callable[[int], None],
        buffer: int,
        hang_after: float,
        keeps_open: bool = False,
    ) -> None:
        self.binding = binding
        #: Whether streams are not closed, since that hangs.
        self._keeps_open = keeps_open
        self.buffer = buffer
        self.hang_after = hang_after
        self.schedules = 0
        self.operations = 0
        self._beat = beat
        self._pool = WorkerPool()
        self._files: dict[int, tuple[str, bytes]] = {}
        self._blocking: set[CodeLocation] = set()
        clear_interrupts()
        self._close = binding.bind(Step("close"))

    def close(self) -> None:
        """End the threads."""
        self._pool.close()

    def file(self, length: int) -> tuple[str, bytes]:
        """Return path and content of the file of this length, or of the fixed file."""
        known = self._files.get(length)
        if known is None:
            data = self.binding.fixed_content
            data = content(length, OF_THREADS) if data is None else data
            known = self._files[length] = self.binding.create(data), data
        return known

    def run(self, schedule: Schedule) -> Execution:
        """Run the schedule; raise NoVerdict if the file can't be opened."""
        execution = self._execute(schedule, self._free if schedule.free else self._controlled)
        self.operations += sum(map(len, execution.outcomes))
        self.schedules += 1
        self._beat(self.schedules)
        return execution

    def run_alone(self, schedule: Schedule) -> Execution:
        """Run the threads one after the other, or in turns, without a limit on waiting.

        This does not count as a schedule.
        """
        return self._execute(schedule, self._in_turns if schedule.apart else self._one_by_one)

    def _execute(
        self, schedule: Schedule, perform: Callable[[Schedule, _Calls], _Log]
    ) -> Execution:
        beat(schedule)
        path, data = self.file(schedule.length)
        steps = tuple(
            tuple(resolve_step(s, len(data), self.buffer) for s in thread)
            for thread in schedule.threads
        )
        try:
            streams = [self.binding.open(path) for _ in (steps if schedule.apart else (0,))]
        except Exception as error:
            raise NoVerdict(f"open failed: {type(error).__name__}: {error}") from error
        of_threads = streams if schedule.apart else streams * len(steps)
        calls = [
            [partial(self.binding.bind(s), stream) for s in thread]
            for thread, stream in zip(steps, of_threads, strict=True)
        ]
        execution = Execution(schedule, data, steps, *perform(schedule, calls))
        end = never_finalize if self._keeps_open or execution.hang else self._close
        for stream in streams:
            end(stream)
        return execution

    def _controlled(self, schedule: Schedule, calls: _Calls) -> _Log:
        scheduler = Scheduler(schedule, MAX_EVENTS, self._blocking)
        workers = self._pool.take(len(calls))
        with without_collection():
            for me, worker in enumerate(workers):
                worker.submit(partial(scheduler.perform, me, calls[me]))
            completed = scheduler.supervise(workers, self.hang_after)
        if not completed:
            self._pool.abandon([workers[i] for i in scheduler.unfinished()])
        if scheduler.error is not None:
            raise scheduler.error
        hang = scheduler.endless or not completed
        return _Log(scheduler.outcomes, scheduler.log, scheduler.counts, hang)

    def _free(self, schedule: Schedule, calls: _Calls) -> _Log:
        run = _FreeRun(calls)
        workers = self._pool.take(len(calls))
        interval = sys.getswitchinterval()
        sys.setswitchinterval(_FREE_SWITCH_INTERVAL)
        try:
            for me, worker in enumerate(workers):
                worker.submit(partial(run.perform, me, calls[me]))
            hanging = run.supervise(self._patience, len(workers))
        finally:
            sys.setswitchinterval(interval)
        self._pool.abandon([workers[i] for i in hanging])
        return run.result(bool(hanging))

    def _one_by_one(self, schedule: Schedule, calls: _Calls) -> _Log:
        run = _FreeRun(calls, together=False)
        hanging: list[int] = []
        for me, worker in enumerate(self._pool.take(len(calls))):
            worker.submit(partial(run.perform, me, calls[me]))
            hanging = run.supervise(self._patience, 1)
            if hanging:
                self._pool.abandon([worker])
                break
        return run.result(bool(hanging))

    def _in_turns(self, schedule: Schedule, calls: _Calls) -> _Log:
        run = _FreeRun(calls, together=False)
        (worker,) = self._pool.take(1)
        for number in range(max(map(len, calls))):
            for me, of_thread in enumerate(calls):
                worker.submit(partial(run.perform, me, of_thread[number : number + 1], number))
                if run.supervise(self._patience, 1):
                    self._pool.abandon([worker])
                    return run.result(True)
        return run.result(False)

    @property
    def _patience(self) -> float:
        """Seconds without a call after which free threads count as hanging."""
        return self.hang_after * (_REMOTE_PATIENCE if self.binding.remote else _FREE_PATIENCE)


class _FreeRun:
    """Threads without a scheduler; if `together`, they start after the first call of each is ready.

    So calls overlap on a loaded machine too, even if all calls of a thread take less time than the
    start of another thread.
    """

    def __init__(self, calls: _Calls, together: bool = True) -> None:
        self.log: list[Entry] = []
        self.outcomes: list[list[Outcome]] = [[] for _ in calls]
        self.error: BaseException | None = None
        self._unfinished = set(range(len(calls)))
        self._together = threading.Barrier(max(1, sum(map(bool, calls))) if together else 1)
        self._done = threading.Semaphore(0)

    def perform(self, me: int, calls: Sequence[_Call], first: int = 0) -> None:
        log, outcomes = self.log.append, self.outcomes[me].append
        try:
            for number, call in enumerate(calls, first):
                log(Entry("starts", me, number))
                if number == first:
                    self._together.wait()
                outcome = call()
                log(Entry("returned", me, number))
                outcomes(outcome)
        except Abandoned:
            raise
        except BaseException as error:
            self.error = error
        self._unfinished.discard(me)
        self._done.release()

    def supervise(self, hang_after: float, count: int) -> list[int]:
        """Wait for `count` threads; return those left after a timeout without any call."""
        logged, since = -1, clock.monotonic()
        for _ in range(count):  # also those that have ended in the meantime
            while not self._done.acquire(timeout=hang_after / 8):
                if len(self.log) != logged:
                    logged, since = len(self.log), clock.monotonic()
                elif clock.monotonic() - since > hang_after:
                    return sorted(self._unfinished)
        return []

    def result(self, hang: bool) -> _Log:
        """Return the log. Raise an error of the kit's own code."""
        if self.error is not None:
            raise self.error
        return _Log(self.outcomes, self.log, [], hang)
