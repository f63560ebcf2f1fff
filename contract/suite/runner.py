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
from fscontract.contract.openfile_options import option_table
from fscontract.contract.program import Program
from fscontract.contract.suite import faultythreads
from fscontract.contract.suite.comparing import SAME_VALIDATION, against_pair, against_vector
from fscontract.contract.suite.concurrency import check_concurrency
from fscontract.contract.suite.concurrency.generate import of_same_families
from fscontract.contract.suite.costs import check_costs
from fscontract.contract.suite.ending import Journal, LeftOut, clause_of, ended
from fscontract.contract.suite.events import (
    Judged,
    Listener,
    PhaseStarted,
    Progress,
    RunFinished,
    RunStarted,
    ViolationFound,
)
from fscontract.contract.suite.execute import Executor
from fscontract.contract.suite.findings import Findings
from fscontract.contract.suite.generate import exhaustive, search
from fscontract.contract.suite.generate.vectors import Vector
from fscontract.contract.suite.guard import Guarded
from fscontract.contract.suite.leaks import Watch
from fscontract.contract.suite.opening import Keys
from fscontract.contract.suite.phases import phases
from fscontract.contract.suite.resources import STATUS, check_length, check_unbuffer
from fscontract.contract.suite.result import Counterexample, RunResult
from fscontract.contract.suite.settings import Settings
from fscontract.contract.suite.summary import Evidence, sum_up
from fscontract.contract.suite.surroundings import Surroundings
from fscontract.contract.suite.watchdog import supervise

#: After so many hanging programs, or failed connections in a row, the run is not worth going on.
_MOST_HANGS = 5
_MOST_ERRORS = 20
_TICKS_PER_EVENT = 10
_RUNS = "still running"
#: Longer than any schedule may take, in seconds: what hangs then hangs outside the threads.
_SCHEDULE_PATIENCE = 90.0


def check(
    binding: Binding,
    settings: Settings,
    listener: Listener = lambda event: None,
    journal: Journal | None = None,
) -> RunResult:
    """Check a binding. It is prepared first and disposed of in any case.

    Raises TargetError if the target can't be set up, or stops answering before it has shown a
    violation. `journal` is kept meanwhile.
    """
    surroundings = Surroundings()
    try:
        binding = Guarded(binding, settings.timeout)
        run = _Run(binding, settings, listener, surroundings, journal or Journal())
        return _check(run, binding, settings, listener)
    finally:
        surroundings.close()


def _check(run: _Run, binding: Binding, settings: Settings, listener: Listener) -> RunResult:
    profile = settings.profile.name
    listener(RunStarted(binding.name, binding.api, profile, settings.effort, settings.seed))
    try:
        binding.prepare()
        result = run.result()
    except BaseException:
        run.surroundings.restore()
        with contextlib.suppress(TargetError):  # the first error is the one to tell
            binding.dispose()
        raise
    listener(Judged(result))
    try:
        binding.dispose()
    except TargetError as error:  # the verdicts stand all the same
        result = replace(result, warnings=(*result.warnings, str(error)))
    run.surroundings.restore()
    listener(RunFinished(result))
    return result


Item = TypeVar("Item")


class _Enough(Exception):
    """The run was asked to stop at the first violation, and there it is."""


class _Run:
    def __init__(
        self,
        binding: Binding,
        settings: Settings,
        listener: Listener,
        surroundings: Surroundings,
        journal: Journal,
    ) -> None:
        self.binding = binding
        self.surroundings = surroundings
        self.journal = journal
        binding.remote = settings.remote(binding)  # what the profile says counts for all phases
        self.settings = settings
        self.listener = listener
        self.operations = settings.operations(binding)
        self.buffer = settings.buffer(binding)
        profile = settings.profile
        keys = Keys(profile.own_keys, profile.unsupported_keys)
        left_out = LeftOut(settings.crashes)
        self.executor = Executor(
            binding, profile.features, self.buffer, keys, journal.place, left_out
        )
        self.findings = Findings(self.executor, settings.wanted)
        self.extra: Counter[str] = Counter()
        self.notes: list[str] = []
        self.warnings: tuple[str, ...] = ()
        self.counts: Counter[str] = Counter()
        self.errors = 0
        self.phase = ""
        self.done = 0
        self.total: int | None = None
        self.ticks = 0
        self.leaks = Watch(binding.remote)

    def result(self) -> RunResult:
        """Run every phase and sum up."""
        started, clock = datetime.now(timezone.utc), time.monotonic()
        try:
            self._recall()
            for name, total, items in phases(
                self.binding, self.settings, self.operations, self.buffer
            ):
                self._start(name, total)
                self._supervise(items, self._try)
            for name, work in self._specials():
                self._start(name, None)
                if self.settings.until is not None and self.settings.until[0] == name:
                    break
                work()
        except _Enough:
            pass
        except TargetError as error:
            if not self.findings.any:
                raise
            self.counts["errors"] += 1
            self.warnings += (f"ended early: {error}",)
        self.surroundings.restore()
        return self._sum_up(started, time.monotonic() - clock)

    def _recall(self) -> None:
        """Take over what earlier processes of this run ended with."""
        for crash in self.settings.crashes:
            self.counts["hangs" if crash.hung else "crashes"] += 1
            keep = self.findings.hang if crash.hung else self.findings.crash
            self._report(keep(crash.clause, crash.counterexample))
            for clause in TABLES[crash.op].all_clauses if crash.program is not None else ():
                self.findings.shadowed.setdefault(clause, crash.clause)
            if crash.clause not in self.settings.declared:
                shown = crash.counterexample
                said = f"{shown.how} ({shown.actual}), which breaks {crash.clause}"
                self.warnings += (f"neither selected nor declared: {said}",)

    # phases -------------------------------------------------------------------------------

    def _specials(self) -> Iterator[tuple[str, Callable[[], None]]]:
        """Phases that are not streams of programs."""
        checks = self.settings.checks
        crashed = {c.clause for c in self.settings.crashes if c.program is None}
        yield "search", lambda: self._supervised("search", self._search)
        if checks("status") and STATUS not in crashed:
            yield "status", lambda: self._supervised("status", self._status)
        if checks("resources"):
            yield "resources", lambda: self._supervised("resources", self._resources)
        if checks("cost") and self.binding.opener is not None:
            yield "costs", lambda: self._supervised("costs", self._costs)
        if self.settings.faults is not None and checks("faults"):
            yield "threads under faults", lambda: self._supervised("threads", self._faulty_threads)
        if checks("concurrency"):
            patience = max(self.settings.timeout, _SCHEDULE_PATIENCE)
            yield "concurrency", lambda: self._supervised("c", self._concurrency, patience)

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
            known, shown = check_length(self.binding, path, data)
            self._keep(STATUS, shown)
            self.extra[STATUS] += known

    def _resources(self) -> None:
        if "unbuffer" in self.operations and "unbuf.release" in self.settings.wanted:
            exercised, shown = check_unbuffer(self.executor)
            self.extra["unbuf.release"] += exercised
            self._keep("unbuf.release", shown)

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
            self._keep(found.clause, found.shown)

    def _faulty_threads(self) -> None:
        injector = self.binding.injector
        if injector is None or faultythreads.CLAUSE not in self.settings.wanted:
            return
        found = faultythreads.check_preads(self.executor, injector)
        self.extra[faultythreads.CLAUSE] += found.exercised
        self._keep(faultythreads.CLAUSE, found.shown)

    def _concurrency(self) -> None:
        settings = self.settings
        crashed = {c.clause for c in settings.crashes if c.program is None}
        report = check_concurrency(
            self.binding,
            settings.profile.features,
            settings.effort,
            settings.seed,
            self._beat,
            self.buffer,
            settings.wanted - of_same_families(crashed),
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
        if self.settings.until == (self.phase, self.done):
            raise _Enough
        program = item.program if isinstance(item, Vector) else item
        left_out = self.settings.crashes and self.executor.leaves_out(program)
        execution = self.executor.run(program, trace=isinstance(item, Vector))
        self.done += 1
        self.journal.done = self.done
        if left_out:
            return
        if execution.environment is not None:
            self._environment(str(execution.environment))
            return
        self.errors = 0
        for miss in execution.misses:
            self._report(self.findings.miss(miss))
        if execution.violation is not None:
            self._report(self.findings.violation(execution.violation))
        elif isinstance(item, Vector):
            outcomes = [outcome for _, outcome, _ in execution.trace]
            self._keep(item.clause, against_vector(self.executor, item, outcomes))
        elif any(s.stream > 0 for s in program.steps) and program.opening is None:
            self.extra["open.independent"] += 1
        if program.faults is not None:
            self.extra["fault.hang"] += 1
        compared, shown = against_pair(self.executor, program, execution)
        self.extra[SAME_VALIDATION] += compared
        self._keep(SAME_VALIDATION, shown)
        self._look_for_leaks(program)

    def _look_for_leaks(self, program: Program) -> None:
        clause = "close.release" if program.faults is None else "fault.release"
        self.extra[clause] += 1
        known = clause in self.findings.failed
        left = self.leaks.left(lambda: self.executor.run(program), self.surroundings.restore, known)
        if self.leaks.too_many:
            self.counts[f"out of {self.leaks.too_many}"] = 1
            raise _Enough
        if left:
            shown = Counterexample(
                program, ("nothing is left open",), f"left {left}", how=f"close: left {left}"
            )
            self._keep(clause, shown)

    def _environment(self, text: str) -> None:
        self.counts["errors"] += 1
        self.errors += 1
        if self.errors >= _MOST_ERRORS:
            raise TargetError(f"{self.binding.name}: stopped answering: {text}")

    def _hung(self, item: object) -> bool:
        """A program hangs: record it and say whether to go on."""
        program = item.program if isinstance(item, Vector) else item
        self.counts["hangs"] += 1
        if self.phase == "concurrency":
            self.notes.append("stopped: a call hangs before or after the threads run")
            return False
        if not isinstance(program, Program):
            raise TargetError(f"{self.binding.name}: hangs before a call is made")
        index, settings = self.executor.index, self.settings
        shown = ended(program, index, f"ends within {settings.timeout:g} s", _RUNS, "hang")
        clause = clause_of(program, index, "fault.hang", settings.declared)
        self._report(self.findings.hang(clause, shown))
        return self.counts["hangs"] < _MOST_HANGS

    # events -------------------------------------------------------------------------------

    def _start(self, phase: str, total: int | None) -> None:
        self.surroundings.restore()
        self.phase, self.total, self.done = phase, total, 0
        self.journal.done = 0
        self.journal.begin(None)
        self.listener(PhaseStarted(phase, total))

    def _supervised(
        self, phase: str, work: Callable[[], None], patience: float | None = None
    ) -> None:
        """Do something under the watchdog that runs programs itself."""

        def once(item: str) -> None:
            work()

        self._supervise(iter([phase]), once, patience)

    def _supervise(
        self, items: Iterator[Item], work: Callable[[Item], None], patience: float | None = None
    ) -> None:
        timeout = self.settings.timeout if patience is None else patience
        supervise(items, work, timeout, self._hung, self._tick, self.journal.begin)

    def _beat(self, done: int) -> None:
        self.done = done

    def _tick(self) -> None:
        self.ticks += 1
        if self.ticks % _TICKS_PER_EVENT == 0:
            operations = self.executor.operations
            self.listener(Progress(self.phase, self.done, self.total, operations))

    def _keep(self, clause: str, shown: Counterexample | None) -> None:
        if shown is not None:
            self._report(self.findings.add(clause, shown))

    def _report(self, clause: str | None) -> None:
        if clause is None:
            return
        findings = self.findings
        ends = findings.crashed.get(clause) or findings.hung.get(clause)
        shown = findings.failed.get(clause) or ends
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
        counts = dict(self.counts)
        result = sum_up(self.binding, self.settings, evidence, started, seconds, counts)
        return replace(result, warnings=self.warnings)
