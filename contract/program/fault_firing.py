"""Apply a plan of faults to requests: select the fault that strikes each, and record it."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from fscontract.contract.program.fault_kinds import OPERATIONS
from fscontract.contract.program.faults import Fault, FaultPlan, SeenRequest

#: The most requests under a plan that are kept for messages.
MOST_SEEN = 1000


def _task_name() -> str:
    """Return the name of the asyncio task that runs in this thread, "" outside of one."""
    asyncio = sys.modules.get("asyncio")  # without it there is no task
    try:
        task = asyncio and asyncio.current_task()
    except RuntimeError:  # no event loop runs
        return ""
    return task.get_name() if task else ""


@dataclass(frozen=True)
class Turn:
    """One request under a plan: its number (0 without a plan), and the fault that strikes it."""

    number: int = 0
    fault: Fault | None = None
    firing: Firing | None = None
    request: SeenRequest | None = None
    index: int = -1

    def took_effect(self) -> None:
        """Count the fault; call this once the fault has changed the request's result."""
        if self.firing is not None and self.request is not None and self.index >= 0:
            self.firing.count(self.index, self.request)

    def wait(self, seconds: float) -> bool:
        """Wait in real time; return False if the plan was detached before the time was over."""
        return self.firing is None or not self.firing.released.wait(seconds)


@dataclass
class _Record:
    """How often a fault selected a request, was not drawn, came second, and took effect."""

    selected: int = 0
    undrawn: int = 0
    preceded: int = 0
    struck: int = 0


class Firing:
    """An attached plan: counts requests, and selects the fault that strikes each. Thread-safe.

    `now` returns the time in seconds.
    """

    def __init__(self, plan: FaultPlan, now: Callable[[], float] = time.monotonic) -> None:
        self.plan = plan
        self._now, self._start = now, now()
        #: The requests so far.
        self.requests = 0
        #: The faults that have taken effect so far.
        self.fired = 0
        #: The first of the requests, for messages.
        self.seen: list[SeenRequest] = []
        #: Set once the plan is detached: all waits end.
        self.released = threading.Event()
        self._records = [_Record() for _ in plan.faults]
        self._attempts: dict[tuple[str, str, int | None], int] = {}
        self._lock = threading.RLock()  # a predicate may make requests

    def request(
        self, operation: str, path: str = "", offset: int | None = None, length: int | None = None
    ) -> Turn:
        """Count a request of one of the OPERATIONS."""
        assert operation in OPERATIONS
        key = operation, path, offset
        thread, task = threading.current_thread().name, _task_name()
        with self._lock:
            self.requests += 1
            attempt = self._attempts.pop(key, 0) + 1
            at = self._now() - self._start
            request = SeenRequest(
                self.requests, operation, path, offset, length, attempt, thread, at, task
            )
            if request.number <= MOST_SEEN:
                self.seen.append(request)
            index = self._striking(request)
        if index is None:
            return Turn(request.number, None, self)
        return Turn(request.number, self.plan.faults[index], self, request, index)

    def count(self, index: int, request: SeenRequest) -> None:
        """Count a fault of the plan, by its index, that has taken effect on a request."""
        with self._lock:
            self.fired += 1
            self._records[index].struck += 1
            self._attempts[request.operation, request.path, request.offset] = request.attempt

    @property
    def unstruck(self) -> tuple[Fault, ...]:
        """The faults of the plan that have not taken effect so far."""
        pairs = zip(self.plan.faults, self._records, strict=True)
        return tuple(fault for fault, record in pairs if not record.struck)

    def why(self, fault: Fault) -> str:
        """Return why a fault has not taken effect."""
        record = self._records[self.plan.faults.index(fault)]
        if not record.selected:
            return self._unselected(fault)
        if record.selected < fault.nth:
            count = "1 request" if record.selected == 1 else f"{record.selected} requests"
            return f"only {count} matched, {_conditions(fault)}"
        if record.preceded:
            return "an earlier fault of the plan came first"
        if record.undrawn:
            return f"it was not drawn for any of {record.undrawn} requests"
        return "it had no effect on its requests"

    def _striking(self, request: SeenRequest) -> int | None:
        """Return the index of the fault that strikes a request, and count it for each fault."""
        striking = None
        for index, (fault, record) in enumerate(zip(self.plan.faults, self._records, strict=True)):
            if not fault.selects(request):
                continue
            record.selected += 1
            if not fault.nth <= record.selected <= fault.last:
                continue
            if not _drawn(fault, record.selected):
                record.undrawn += 1
            elif striking is not None:
                record.preceded += 1
            else:
                striking = index
        return striking

    def _unselected(self, fault: Fault) -> str:
        """Return the first condition that no request fulfils, with those before it."""
        left, words = list(self.seen), []
        for description, test in fault.conditions():
            words.append(description)
            left = [request for request in left if test(request)]
            if not left:
                break
        return f"no request matched, {' '.join(words)}"


def _conditions(fault: Fault) -> str:
    return " ".join(words for words, _ in fault.conditions())


def _drawn(fault: Fault, number: int) -> bool:
    """Return whether a fault with a probability strikes the selected request of this number."""
    if fault.probability is None:
        return True
    return Random(f"{fault.seed or 0}:{number}").random() < fault.probability
