"""A target that several processes check, or a single one if one of them is lost."""

from __future__ import annotations

from dataclasses import replace

from fscontract.contract.binding import TargetError
from fscontract.contract.isolation.supervisor import Isolated
from fscontract.contract.runner.events import (
    Event,
    Judged,
    Listener,
    RunFinished,
    RunStarted,
    ViolationFound,
)
from fscontract.contract.runner.result import RunResult
from fscontract.contract.runner.run_options import RunOptions
from fscontract.contract.spec.known_failures import Known


class Parallel:
    """A target whose programs `run.jobs` processes run.

    A crash or a call that never returns takes a process with it. Then one process checks the target
    again and names the program, so that the verdict is the same for any number of processes.
    """

    def __init__(
        self, target: str, run: RunOptions, known: tuple[Known, ...], forks: bool = False
    ) -> None:
        self._target, self._run, self._known, self._forks = target, run, known, forks
        self._isolated = Isolated(target, run, known, forks)
        self.name = self._isolated.name
        #: The clauses of violations that were passed on, and "" for the start of the run.
        self._passed: set[str] = set()

    @property
    def apis(self) -> frozenset[str]:
        """The APIs of its clauses."""
        return self._isolated.apis

    def set_up(self) -> None:
        """Wait until the target is made. Raise UsageError, or TargetError if that fails."""
        self._isolated.set_up()

    def check(self, listener: Listener) -> RunResult:
        """Return the result of the run; raise TargetError if there is none."""
        last: list[Event] = []

        def listen(event: Event) -> None:
            if isinstance(event, Judged | RunFinished):
                last.append(event)
            elif self._is_new(event):
                listener(event)

        try:
            result = self._isolated.check(listen)
        except TargetError:
            result = None
        if result is None or result.incomplete:
            return self._check_again(listener)
        for event in last:
            listener(event)
        return result

    def close(self) -> None:
        """End the processes, and release their memory."""
        self._isolated.close()

    def _check_again(self, listener: Listener) -> RunResult:
        self._isolated.close()
        alone = replace(self._run, jobs=1)
        self._isolated = Isolated(self._target, alone, self._known, self._forks)
        return self._isolated.check(lambda event: listener(event) if self._is_new(event) else None)

    def _is_new(self, event: Event) -> bool:
        """Return whether an event was not passed on by the first of two runs."""
        if not isinstance(event, RunStarted | ViolationFound):
            return True
        key = event.clause if isinstance(event, ViolationFound) else ""
        is_new = key not in self._passed
        self._passed.add(key)
        return is_new
