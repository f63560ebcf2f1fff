"""One run: programs from every source against one binding, judged, shrunk, summed up."""

from __future__ import annotations

import contextlib
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime, timezone
from typing import TypeVar

from fscontract.contract.binding import Binding, TargetError
from fscontract.contract.models.acceptor import TABLES
from fscontract.contract.models.state import Failure
from fscontract.contract.openfile_options import option_table
from fscontract.contract.outcome import Kind, Outcome
from fscontract.contract.program import Program, Step
from fscontract.contract.suite import faultythreads, leaks
from fscontract.contract.suite.concurrency import check_concurrency
from fscontract.contract.suite.costs import check_costs
from fscontract.contract.suite.events import (
    Listener,
    PhaseStarted,
    Progress,
    RunFinished,
    RunStarted,
    ViolationFound,
)
from fscontract.contract.suite.execute import Execution, Executor, Violation
from fscontract.contract.suite.findings import Findings, counterexample
from fscontract.contract.suite.generate import exhaustive, search
from fscontract.contract.suite.generate.vectors import Vector, permits, says
from fscontract.contract.suite.opening import Keys
from fscontract.contract.suite.phases import phases
from fscontract.contract.suite.resources import check_length, check_unbuffer
from fscontract.contract.suite.result import Counterexample, RunResult
from fscontract.contract.suite.settings import Settings
from fscontract.contract.suite.summary import Evidence, sum_up
from fscontract.contract.suite.watchdog import supervise

#: After so many hanging programs, or failed connections in a row, the run is not worth going on.
_MOST_HANGS = 5
_MOST_ERRORS = 20
_TICKS_PER_EVENT = 10
#: A target that leaks is left before the process can open nothing more and all else seems broken.
_MOST_DESCRIPTORS = 400
#: Suspicions of a leak that are looked into; each costs some runs of a program.
_MOST_SUSPICIONS = 100


def check(
    binding: Binding, settings: Settings, listener: Listener = lambda event: None
) -> RunResult:
    """Check a binding. It is prepared first and disposed of in any case.

    Raises TargetError if the target can't be set up, or stops answering.
    """
    run = _Run(binding, settings, listener)
    listener(
        RunStarted(binding.name, binding.api, settings.profile.name, settings.effort, settings.seed)
    )
    try:
        binding.prepare()
        result = run.result()
    except BaseException:
        with contextlib.suppress(TargetError):  # the first error is the one to tell
            binding.dispose()
        raise
    try:
        binding.dispose()
    except TargetError as error:  # the verdicts stand all the same
        result = replace(result, warnings=(str(error),))
    listener(RunFinished(result))
    return result


Item = TypeVar("Item")


class _Enough(Exception):
    """The run was asked to stop at the first violation, and there it is."""


class _Run:
    def __init__(self, binding: Binding, settings: Settings, listener: Listener) -> None:
        self.binding = binding
        binding.remote = settings.remote(binding)  # what the profile says counts for all phases
        self.settings = settings
        self.listener = listener
        self.operations = settings.operations(binding)
        self.buffer = settings.buffer(binding)
        profile = settings.profile
        keys = Keys(profile.own_keys, profile.unsupported_keys)
        self.executor = Executor(binding, profile.features, self.buffer, keys)
        self.findings = Findings(self.executor, settings.wanted)
        self.extra: Counter[str] = Counter()
        self.notes: list[str] = []
        self.counts: Counter[str] = Counter()
        self.errors = 0
        self.phase = ""
        self.done = 0
        self.total: int | None = None
        self.ticks = 0
        self.first = self.held = leaks.glance()
        self.suspicions = 0

    def result(self) -> RunResult:
        """Run every phase and sum up."""
        started, clock = datetime.now(timezone.utc), time.monotonic()
        try:
            for name, total, items in phases(
                self.binding, self.settings, self.operations, self.buffer
            ):
                self._start(name, total)
                supervise(items, self._try, self.settings.timeout, self._hung, self._tick)
            for name, work in self._specials():
                self._start(name, None)
                work()
        except _Enough:
            pass
        return self._sum_up(started, time.monotonic() - clock)

    # phases -------------------------------------------------------------------------------

    def _specials(self) -> Iterator[tuple[str, Callable[[], None]]]:
        """Phases that are not streams of programs."""
        checks = self.settings.checks
        yield "search", lambda: self._supervised("search", self._search)
        if checks("status"):
            yield "status", lambda: self._supervised("status", self._status)
        if checks("resources"):
            yield "resources", lambda: self._supervised("resources", self._resources)
        if checks("cost") and self.binding.opener is not None:
            yield "costs", lambda: self._supervised("costs", self._costs)
        if self.settings.faults is not None and checks("faults"):
            yield "threads under faults", lambda: self._supervised("threads", self._faulty_threads)
        if checks("concurrency"):
            yield "concurrency", self._concurrency

    def _search(self) -> None:
        settings, fixed = self.settings, self.binding.fixed_content
        only = None if fixed is None else len(fixed)

        def fails(program: Program) -> bool:
            found = self.executor.run(program).violation
            return found is not None and found.failure.clause not in self.findings.failed

        if not self.binding.remote:
            found = search.search(
                fails, self.operations, self.buffer, settings.effort, settings.seed, only
            )
            if found is not None:
                self._try(found)

    def _status(self) -> None:
        for length in (0, 1, exhaustive.LENGTH, self.buffer + exhaustive.OVERHANG):
            path, data, _ = self.executor.file(length)
            shown = check_length(self.binding, path, data)
            if shown is not None:
                self._report(self.findings.add("model.len-eq-status", shown))
            elif self.binding.status_length(path) is not None:
                self.extra["model.len-eq-status"] += 1

    def _resources(self) -> None:
        if "unbuffer" in self.operations and "unbuf.release" in self.settings.wanted:
            exercised, shown = check_unbuffer(self.executor)
            self.extra["unbuf.release"] += exercised
            if shown is not None:
                self._report(self.findings.add("unbuf.release", shown))

    def _costs(self) -> None:
        profile, opener = self.settings.profile, self.binding.opener
        assert opener is not None
        declared = [c for c in self.settings.clauses if not profile.satisfies(c.needs)]
        policies = tuple(option_table().policies)
        for found in check_costs(self.executor, opener, declared, profile.budgets, policies):
            self.extra[found.clause] += found.exercised
            if found.unsaid:
                self.executor.unsaid.add(found.clause)
            if found.environment:
                self._environment(found.environment)
            if found.shown is not None:
                self._report(self.findings.add(found.clause, found.shown))

    def _faulty_threads(self) -> None:
        injector = self.binding.injector
        if injector is None or faultythreads.CLAUSE not in self.settings.wanted:
            return
        found = faultythreads.check_preads(self.executor, injector)
        self.extra[faultythreads.CLAUSE] += found.exercised
        if found.shown is not None:
            self._report(self.findings.add(faultythreads.CLAUSE, found.shown))

    def _concurrency(self) -> None:
        settings = self.settings
        report = check_concurrency(
            self.binding,
            settings.profile.features,
            settings.effort,
            settings.seed,
            self._beat,
            self.buffer,
            settings.wanted,
        )
        self.extra.update(report.exercised)
        self.notes += report.notes
        self.counts["schedules"] += report.schedules
        self.executor.operations += report.operations
        for found, missed in ((report.violations, False), (report.missed, True)):
            for clause, shown in found.items():
                how = "threads: hang" if "hang" in shown.actual else "threads: no serial order"
                data = report.schedules_json.get(clause)
                named = replace(shown, how=how, threads=data)
                self._report(self.findings.add(clause, named, missed))

    # one program --------------------------------------------------------------------------

    def _try(self, item: Program | Vector) -> None:
        program = item.program if isinstance(item, Vector) else item
        execution = self.executor.run(program, trace=isinstance(item, Vector))
        self.done += 1
        if execution.environment is not None:
            self._environment(str(execution.environment))
            return
        self.errors = 0
        for miss in execution.misses:
            self._report(self.findings.miss(miss))
        if execution.violation is not None:
            self._report(self.findings.violation(execution.violation))
        elif isinstance(item, Vector):
            self._hold_against(item, [outcome for _, outcome, _ in execution.trace])
        elif any(s.stream > 0 for s in program.steps) and program.opening is None:
            self.extra["open.independent"] += 1
        if program.faults is not None:
            self.extra["fault.hang"] += 1
        self._compare(program, execution)
        self._look_for_leaks(program)

    def _compare(self, program: Program, execution: Execution) -> None:
        """A value of the filesystem's own key ends the open alike, set by `opt` or by `must`."""
        pair = self.executor.openings and self.executor.openings.own_pair(program)
        if not pair or execution.violation is not None or not execution.trace:
            return
        other = self.executor.run(pair)
        ways = [trace[-1] for e in (execution, other) if (trace := e.trace)]
        (step, outcome, _), (_, expected, _) = ways[0], ways[-1]
        self.extra["open.opt-same-validation"] += 1
        if outcome.kind is not expected.kind:
            how = f"{step.op}: {outcome.kind.value}"
            said = f"{step.op}: {outcome}"
            alike = f"as with {pair.opening}: {expected}"
            shown = Counterexample(program, (alike,), said, how=how)
            self._report(self.findings.add("open.opt-same-validation", shown))

    def _hold_against(self, vector: Vector, outcomes: list[Outcome]) -> None:
        """The outcomes passed the model: the last must also be one that the vector lists."""
        if not outcomes or any(o.kind is Kind.INEXPRESSIBLE for o in outcomes):
            return
        data, outcome = self.executor.file(vector.program.length)[1], outcomes[-1]
        if permits(vector, outcome, data, self.buffer):
            return
        last = len(vector.program.steps) - 1
        failure = Failure(vector.clause, "", "value", says(vector))
        step = vector.program.steps[last]
        found = Violation(vector.program, last, step, outcome, failure)
        self._report(self.findings.add(vector.clause, counterexample(found)))

    def _look_for_leaks(self, program: Program) -> None:
        held = leaks.glance()
        clause = "close.release" if program.faults is None else "fault.release"
        self.extra[clause] += 1
        if held.descriptor > self.first.descriptor + _MOST_DESCRIPTORS:
            self.counts["out of descriptors"] = 1
            raise _Enough
        if held.descriptor <= self.held.descriptor and held.threads <= self.held.threads:
            return
        if clause in self.findings.failed or self.suspicions >= _MOST_SUSPICIONS:
            return
        self.suspicions += 1
        left = leaks.grows(lambda: self.executor.run(program))
        self.held = leaks.glance()
        if left:
            shown = Counterexample(
                program, ("nothing is left open",), f"left {left}", how=f"close: left {left}"
            )
            self._report(self.findings.add(clause, shown))

    def _environment(self, text: str) -> None:
        self.counts["errors"] += 1
        self.errors += 1
        if self.errors >= _MOST_ERRORS:
            raise TargetError(f"{self.binding.name}: stopped answering: {text}")

    def _hung(self, item: object) -> bool:
        """A program hangs: record it and say whether to go on."""
        program = item.program if isinstance(item, Vector) else item
        if not isinstance(program, Program) or not program.steps:
            raise TargetError(f"{self.binding.name}: hangs before a call is made")
        index = min(self.executor.index, len(program.steps) - 1)
        self.counts["hangs"] += 1
        clause = "fault.hang" if program.faults else _clause_of(program.steps[index])
        self._report(self.findings.hang(clause, program, index, self.settings.timeout))
        return self.counts["hangs"] < _MOST_HANGS

    # events -------------------------------------------------------------------------------

    def _start(self, phase: str, total: int | None) -> None:
        self.phase, self.total, self.done = phase, total, 0
        self.listener(PhaseStarted(phase, total))

    def _supervised(self, phase: str, work: Callable[[], None]) -> None:
        """Do something under the watchdog that runs programs itself."""

        def once(item: str) -> None:
            work()

        self._supervise(iter([phase]), once)

    def _supervise(self, items: Iterator[Item], work: Callable[[Item], None]) -> None:
        supervise(items, work, self.settings.timeout, self._hung, self._tick)

    def _beat(self, done: int) -> None:
        self.done = done
        self._tick()

    def _tick(self) -> None:
        self.ticks += 1
        if self.ticks % _TICKS_PER_EVENT == 0:
            operations = self.executor.operations
            self.listener(Progress(self.phase, self.done, self.total, operations))

    def _report(self, clause: str | None) -> None:
        if clause is None:
            return
        findings = self.findings
        shown = findings.failed.get(clause) or findings.hung.get(clause)
        if shown is not None:
            self.listener(ViolationFound(clause, shown))
        if self.settings.stop_at_first:
            raise _Enough

    def _sum_up(self, started: datetime, seconds: float) -> RunResult:
        executor = self.executor
        evidence = Evidence(
            self.findings,
            executor.acceptor.counts + executor.counts + self.extra,
            frozenset(executor.unsaid),
            bool(self.counts["errors"]),
            "; ".join(self.notes),
        )
        self.counts["programs"] = executor.programs
        self.counts["operations"] = executor.operations
        return sum_up(self.binding, self.settings, evidence, started, seconds, dict(self.counts))


def _clause_of(step: Step) -> str:
    """The clause that a hanging call breaks: the one that promises its result."""
    table = TABLES[step.op]
    promised = [c for row in table.rows for c in row.clauses] + list(table.clauses)
    for ending in ("progress", "data", "value", "whole", "no-raise"):
        for clause in promised:
            if clause.endswith(ending):
                return clause
    return promised[0]
