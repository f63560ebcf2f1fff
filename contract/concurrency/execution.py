"""Running one schedule on a newly opened stream of the target."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from fscontract.contract import clock
from fscontract.contract.binding import Binding
from fscontract.contract.concurrency.schedule import Schedule
from fscontract.contract.concurrency.scheduler import Baton, Entry, Place, Pool
from fscontract.contract.program.content import content
from fscontract.contract.program.outcome import Kind, Outcome
from fscontract.contract.program.program import Step, resolve_step
from fscontract.contract.runner.timeouts import (
    Abandoned,
    beat,
    clear_interrupts,
    without_collection,
)

#: Events after which a schedule counts as endless.
MOST_EVENTS = 300_000
#: Free threads have to share the machine with others: they get this much longer.
_FREE_PATIENCE = 5
_REMOTE_PATIENCE = 30
_FREE_SWITCH_INTERVAL = 1e-5

_Call = Callable[[], Outcome]


class NoVerdict(Exception):
    """The target could not be used; the message says why. Nothing about its streams."""


@dataclass
class Trial:
    """What happened when a schedule ran: `steps` without anchors, and outcomes, per thread.

    A thread of a trial that hung has fewer outcomes than steps. `counts` are the events of each
    call of each thread, none if threads ran freely.
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
        """The first outcome that says the target could not be reached, if any."""
        every = (o for outcomes in self.outcomes for o in outcomes)
        return next((o for o in every if o.kind is Kind.ENVIRONMENT), None)


class Laboratory:
    """Runs schedules on one binding; counts them, and the calls they make."""

    def __init__(
        self, binding: Binding, beat: Callable[[int], None], buffer: int, hang_after: float
    ) -> None:
        self.binding = binding
        self.buffer = buffer
        self.hang_after = hang_after
        self.schedules = 0
        self.operations = 0
        self._beat = beat
        self._pool = Pool()
        self._files: dict[int, tuple[str, bytes]] = {}
        self._blocking: set[Place] = set()
        clear_interrupts()
        self._close = binding.bind(Step("close"))

    def close(self) -> None:
        """End the threads."""
        self._pool.close()

    def file(self, length: int) -> tuple[str, bytes]:
        """Path and content of the file of this length, or of the only one there is."""
        known = self._files.get(length)
        if known is None:
            data = self.binding.fixed_content
            data = content(length) if data is None else data
            known = self._files[length] = self.binding.create(data), data
        return known

    def run(self, schedule: Schedule) -> Trial:
        """Run the schedule; NoVerdict if the file can't be opened."""
        trial = self._tried(schedule, self._free if schedule.free else self._controlled)
        self.operations += sum(map(len, trial.outcomes))
        self.schedules += 1
        self._beat(self.schedules)
        return trial

    def run_alone(self, schedule: Schedule) -> Trial:
        """The same calls, each thread's when those before have ended, however long they wait.

        That is no schedule, and not counted.
        """
        return self._tried(schedule, self._one_by_one)

    def _tried(self, schedule: Schedule, way: Callable[..., Trial]) -> Trial:
        beat(schedule)
        path, data = self.file(schedule.length)
        steps = tuple(
            tuple(resolve_step(s, len(data), self.buffer) for s in thread)
            for thread in schedule.threads
        )
        try:
            stream = self.binding.open(path)
        except Exception as error:
            raise NoVerdict(f"open failed: {type(error).__name__}: {error}") from error
        calls = [[partial(self.binding.bind(s), stream) for s in thread] for thread in steps]
        trial = way(schedule, data, steps, calls)
        if not trial.hang:  # a stream whose threads hang would hang its close too
            self._close(stream)
        return trial

    def _controlled(
        self,
        schedule: Schedule,
        data: bytes,
        steps: tuple[tuple[Step, ...], ...],
        calls: Sequence[Sequence[_Call]],
    ) -> Trial:
        baton = Baton(schedule, MOST_EVENTS, self._blocking)
        workers = self._pool.take(len(calls))
        with without_collection():
            for me, worker in enumerate(workers):
                worker.submit(partial(baton.perform, me, calls[me]))
            idents = [w.ident or 0 for w in workers]
            ended = baton.supervise(idents, self.hang_after)
        if not ended:
            self._pool.abandon([workers[i] for i in baton.unfinished()])
        if baton.error is not None:
            raise baton.error
        hang = baton.endless or not ended
        return Trial(schedule, data, steps, baton.outcomes, baton.log, baton.counts, hang)

    def _free(
        self,
        schedule: Schedule,
        data: bytes,
        steps: tuple[tuple[Step, ...], ...],
        calls: Sequence[Sequence[_Call]],
    ) -> Trial:
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
        return run.trial(schedule, data, steps, bool(hanging))

    def _one_by_one(
        self,
        schedule: Schedule,
        data: bytes,
        steps: tuple[tuple[Step, ...], ...],
        calls: Sequence[Sequence[_Call]],
    ) -> Trial:
        run = _FreeRun(calls, together=False)
        hanging: list[int] = []
        for me, worker in enumerate(self._pool.take(len(calls))):
            worker.submit(partial(run.perform, me, calls[me]))
            hanging = run.supervise(self._patience, 1)
            if hanging:
                self._pool.abandon([worker])
                break
        return run.trial(schedule, data, steps, bool(hanging))

    @property
    def _patience(self) -> float:
        """Seconds without a call after which threads that nobody controls hang."""
        return self.hang_after * (_REMOTE_PATIENCE if self.binding.remote else _FREE_PATIENCE)


class _FreeRun:
    """Threads that run as they like; if `together`, once the first call of each has begun.

    So calls are under way at the same time whatever the machine is doing, also where all of a
    thread's calls take less than the start of another thread.
    """

    def __init__(self, calls: Sequence[Sequence[_Call]], together: bool = True) -> None:
        self.log: list[Entry] = []
        self.outcomes: list[list[Outcome]] = [[] for _ in calls]
        self.error: BaseException | None = None
        self._left = set(range(len(calls)))
        self._together = threading.Barrier(max(1, sum(map(bool, calls))) if together else 1)
        self._ended = threading.Semaphore(0)

    def perform(self, me: int, calls: Sequence[_Call]) -> None:
        log, outcomes = self.log.append, self.outcomes[me].append
        try:
            for number, call in enumerate(calls):
                log(Entry("starts", me, number))
                if not number:
                    self._together.wait()
                outcome = call()
                log(Entry("returned", me, number))
                outcomes(outcome)
        except Abandoned:
            raise
        except BaseException as error:
            self.error = error
        self._left.discard(me)
        self._ended.release()

    def supervise(self, hang_after: float, count: int) -> list[int]:
        """Wait for `count` threads to end; those left when none made a call for so many seconds."""
        seen, since = -1, clock.monotonic()
        for _ in range(count):  # also those that have ended by now
            while not self._ended.acquire(timeout=hang_after / 8):
                if len(self.log) != seen:
                    seen, since = len(self.log), clock.monotonic()
                elif clock.monotonic() - since > hang_after:
                    return sorted(self._left)
        return []

    def trial(
        self, schedule: Schedule, data: bytes, steps: tuple[tuple[Step, ...], ...], hang: bool
    ) -> Trial:
        """What happened. An error of the kit's own comes out."""
        if self.error is not None:
            raise self.error
        return Trial(schedule, data, steps, self.outcomes, self.log, [], hang)
