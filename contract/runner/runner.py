"""One run: programs from every source against one binding, judged, shrunk, summed up."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime
from functools import lru_cache, partial
from typing import TypeVar

from fscontract.contract.binding import Binding, TargetError
from fscontract.contract.distributed.partial_results import Family, Partial, Recorder
from fscontract.contract.generate import block_boundaries
from fscontract.contract.generate.vectors import Vector
from fscontract.contract.models.acceptor import TABLES, Acceptor
from fscontract.contract.program.program import Program
from fscontract.contract.runner import clock
from fscontract.contract.runner.counterexamples import Findings, counterexample
from fscontract.contract.runner.crashes import Crash, Journal, LeftOut
from fscontract.contract.runner.differential import SAME_VALIDATION, against_pair, against_vector
from fscontract.contract.runner.events import (
    Interrupted,
    Judged,
    Listener,
    PhaseStarted,
    Progress,
    RunFinished,
    RunStarted,
    ViolationFound,
)
from fscontract.contract.runner.executor import Executor
from fscontract.contract.runner.open_executor import Keys
from fscontract.contract.runner.phases import Specials, phases
from fscontract.contract.runner.resource_checks import OUT_OF, Watch
from fscontract.contract.runner.result import INTERRUPTED, Counterexample, RunResult
from fscontract.contract.runner.sandbox import Surroundings, guard
from fscontract.contract.runner.settings import Settings
from fscontract.contract.runner.timeouts import Hangs, held_back, supervise
from fscontract.contract.runner.verdicts import Evidence, sum_up

#: After so many failed connections in a row the run is not worth going on.
_MOST_ERRORS = 20
_TICKS_PER_EVENT = 10


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
        binding = guard(binding, settings.timeout, surroundings.patches)
        run = Run(binding, settings, listener, surroundings, journal or Journal())
        listener(_started(binding, settings))
        result = _prepared(run, run.result)
        listener(Judged(result))
        result = _disposed(run, result)
        listener(RunFinished(result))
        return result
    finally:
        surroundings.close()


def _started(binding: Binding, settings: Settings) -> RunStarted:
    profile, asked = settings.profile.name, len(settings.clauses)
    effort, seed = settings.effort, settings.seed
    return RunStarted(binding.name, binding.api, profile, effort, seed, asked)


def gather(binding: Binding, settings: Settings) -> Partial:
    """What the part of a run shows that the settings have. TargetError as of `check`."""
    surroundings = Surroundings()
    try:
        binding = guard(binding, settings.timeout, surroundings.patches)
        run = Run(binding, settings, lambda event: None, surroundings, Journal())
        return _disposed(run, _prepared(run, run.partial))
    finally:
        surroundings.close()


def _prepared(run: Run, work: Callable[[], Made]) -> Made:
    """Prepare the binding, and do something; the binding is disposed of if that fails."""
    try:
        run.binding.prepare()
        return work()
    except BaseException:
        run.surroundings.restore()
        with contextlib.suppress(TargetError), held_back():  # the first error is the one to tell
            run.binding.dispose()
        raise


def _disposed(run: Run, made: Made) -> Made:
    """Dispose of the binding; what was made says so if that fails."""
    try:
        with held_back():
            run.binding.dispose()
    except TargetError as error:  # the verdicts stand all the same
        made = replace(made, warnings=(*made.warnings, str(error)))
    run.surroundings.restore()
    return replace(made, warnings=(*made.warnings, *run.surroundings.patches.warnings))


Item = TypeVar("Item")


@lru_cache(maxsize=1)
def _acceptor(features: frozenset[str]) -> Acceptor:
    """What the parts of runs remember that a process has, one after the other."""
    return Acceptor(features)


Made = TypeVar("Made", RunResult, Partial)


class _Enough(Exception):
    """The run was asked to stop at the first violation, and there it is."""


class Run:
    """A run under way: what it goes by, what it has found."""

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
        made = partial(
            Executor, binding, profile.features, self.buffer, keys, journal.place, left_out
        )
        part = settings.part
        self.executor = made(acceptor=None if part is None else _acceptor(profile.features))
        self.findings: Findings | Recorder = Findings(self.executor, settings.wanted)
        if part is not None:
            self.findings = Recorder(made(), settings.wanted, part)
        #: What families of threads showed, in a part of a run.
        self.families: list[Family] = []
        self.extra: Counter[str] = Counter()
        self.notes: list[str] = []
        self.warnings: tuple[str, ...] = ()
        #: Why the run can't conform, whatever its clauses show.
        self.incomplete = ""
        self.counts: Counter[str] = Counter()
        self.errors = 0
        self.phase = ""
        #: What is run now, or was last.
        self.item: Program | Vector | None = None
        self.done = 0
        self.total: int | None = None
        self.ticks = 0
        self.leaks = Watch(binding.remote)
        self.hangs = Hangs(self)
        self._begun = 0

    def result(self) -> RunResult:
        """Run every phase and sum up."""
        started, begun = clock.now(), clock.monotonic()
        try:
            self._run()
        except KeyboardInterrupt:
            self.surroundings.restore()
            with contextlib.suppress(RuntimeError):  # a call that goes on may still be counting
                so_far = self._sum_up(started, clock.monotonic() - begun, INTERRUPTED)
                self.listener(Interrupted(replace(so_far, incomplete=INTERRUPTED)))
            raise
        return self._sum_up(started, clock.monotonic() - begun)

    def partial(self) -> Partial:
        """Run what the part has of every phase."""
        self._run()
        executor, findings = self.executor, self.findings
        assert isinstance(findings, Recorder)
        programs = {"programs": executor.programs, "operations": executor.operations}
        self.counts.pop("hangs", 0)  # each of them is among the records
        opener = self.binding.opener
        return Partial(
            findings.records,
            executor.exercised + self.extra,
            executor.unsaid,
            self.counts + Counter(programs),
            self.families,
            frozenset() if opener is None else opener.scenes,
            self.leaks.growth,
            self.warnings + self.hangs.warnings,
            dict(getattr(self.binding, "versions", {})),
        )

    def _run(self) -> None:
        try:
            self._recall()
            self._mind_blocks()
            for name, total, items in phases(
                self.binding, self.settings, self.operations, self.buffer
            ):
                self._start(name, total)
                self._supervise(items, self.attempt)
            for name, work in Specials(self):
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

    def _mind_blocks(self) -> None:
        """Warn if files have no ends of blocks that programs could reach."""
        block, fixed = self.binding.block, self.binding.fixed_content
        why = block_boundaries.unreachable(block or 1, None if fixed is None else len(fixed))
        if block is not None and why:
            said = f"files are read in blocks of {block} bytes, whose ends were not tried: {why}"
            self.warnings += (f"{self.binding.name}: {said}",)

    def _recall(self) -> None:
        """Take over what earlier processes of this run ended with."""
        for crash in self.settings.crashes:
            self.counts["hangs" if crash.hung else "crashes"] += 1
            keep = self.findings.hang if crash.hung else self.findings.crash
            self.report(keep(crash.clause, crash.counterexample))
            for clause in TABLES[crash.op].all_clauses if crash.program is not None else ():
                self.findings.shadowed.setdefault(clause, crash.clause)
            self._mind_crash(crash)

    def _mind_crash(self, crash: Crash) -> None:
        """Keep the run from conforming if no verdict of it shows what ended a process."""
        if crash.clause not in self.settings.declared:
            shown = crash.counterexample
            what = shown.program or "; ".join(shown.interleaving) or shown.how
            self.incomplete = (
                f"a process of the run ended in {what} ({shown.how}, {shown.actual}), which breaks "
                f"{crash.clause}, neither selected nor declared"
            )

    # one program --------------------------------------------------------------------------

    def attempt(self, item: Program | Vector) -> None:
        """Run a program, and keep whatever it shows."""
        if self.settings.until == (self.phase, self.done):
            raise _Enough
        self._begun, self.item = self.done, item
        program = item.program if isinstance(item, Vector) else item
        left_out = self.settings.crashes and self.executor.leaves_out(program)
        execution = self.executor.run(program, trace=isinstance(item, Vector))
        self.done += 1
        self.journal.done = self.done
        if left_out:
            self._mind_left_out(program)
            return
        if execution.environment is not None:
            self.environment(str(execution.environment))
            return
        self.errors = 0
        for miss in execution.misses:
            self.report(self.findings.miss(miss))
        if execution.violation is not None:
            found = execution.violation
            self.report(self.findings.violation(found))
            self.mind_example(self.findings.charged(found), counterexample(found))
        elif isinstance(item, Vector):
            outcomes = [outcome for _, outcome, _ in execution.trace]
            self.keep(item.clause, against_vector(self.executor, item, outcomes))
        elif any(s.stream > 0 for s in program.steps) and program.opening is None:
            self.extra["open.independent"] += 1
        if program.faults is not None:
            self.extra["fault.hang"] += 1
        compared, shown = against_pair(self.executor, program, execution)
        self.extra[SAME_VALIDATION] += compared
        self.keep(SAME_VALIDATION, shown)
        self._look_for_leaks(program)

    def mind_example(self, by: str, shown: Counterexample) -> None:
        """Note that an example, if one runs now, fails by a clause that this run does not judge.

        A clause that it judges is reported itself."""
        if isinstance(self.item, Vector) and by not in self.settings.declared:
            self.findings.unhold(self.item.clause, by, shown)

    def _mind_left_out(self, program: Program) -> None:
        """Note that an example is not run, since it makes calls that ended a process."""
        for crash in self.settings.crashes:
            if program in LeftOut([crash, crash]):
                self.mind_example(crash.clause, crash.counterexample)

    def _look_for_leaks(self, program: Program) -> None:
        clause = "close.release" if program.faults is None else "fault.release"
        self.extra[clause] += 1
        known = clause in self.findings.failed
        again = partial(self.findings.executor.run, program)
        left = self.leaks.left(again, self.surroundings.restore, known)
        if self.leaks.too_many:
            self.counts[f"{OUT_OF}{self.leaks.too_many}"] = 1
            raise _Enough
        if left:
            shown = Counterexample(
                program, ("nothing is left open",), f"left {left}", how=f"close: left {left}"
            )
            self.keep(clause, shown)

    def begin_again(self) -> None:
        """What was begun last is done once more, from its beginning."""
        self.done = self.journal.done = self._begun
        self.findings.abandon()

    def environment(self, text: str) -> None:
        """Count a call that was lost on its way; TargetError after too many of them."""
        self.counts["errors"] += 1
        self.errors += 1
        if self.errors >= _MOST_ERRORS:
            raise TargetError(f"{self.binding.name}: stopped answering: {text}")

    def mind_unselected(self, clause: str, shown: Counterexample) -> None:
        """Tell of what ended a program by the fault of a clause that nobody has asked for."""
        if clause not in self.settings.declared:
            said = f"{shown.how} ({shown.actual}), which breaks {clause}"
            told = f"neither selected nor declared: {said}"
            self.warnings = tuple(dict.fromkeys((*self.warnings, told)))

    # events -------------------------------------------------------------------------------

    def _start(self, phase: str, total: int | None) -> None:
        self.surroundings.restore()
        self.phase, self.total, self.done, self._begun = phase, total, 0, 0
        self.item = None
        if self.settings.part is not None:
            self.settings.part.begin()
        self.journal.done = 0
        self.journal.begin(None)
        self.listener(PhaseStarted(phase, total))

    def supervised(
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
        hangs = self.hangs

        def sheltered(item: Item) -> None:
            """Do it again if it fails since the target has patched what the suite needs."""
            try:
                work(item)
            except (TargetError, _Enough):
                raise
            except Exception:
                if not self.surroundings.patches.undo():
                    raise
                self.begin_again()
                work(item)

        supervise(items, sheltered, timeout, hangs, self._tick, self.journal.begin, hangs.look)

    def beat(self, done: int) -> None:
        """Something else than a program was done, so many times in this phase."""
        self.done = done

    def _tick(self) -> None:
        self.ticks += 1
        if self.ticks % _TICKS_PER_EVENT == 0:
            executor, wanted = self.executor, self.settings.wanted
            reached = (executor.acceptor.reached, executor.counts, self.extra)
            judged = sum(any(clause in one for one in reached) for clause in wanted)
            told = Progress(self.phase, self.done, self.total, executor.operations, clauses=judged)
            with self.surroundings.patches.tolerated():
                self.listener(told)

    def keep(self, clause: str, shown: Counterexample | None) -> None:
        """Keep and tell what a check has found, if it has."""
        if shown is not None:
            self.report(self.findings.add(clause, shown))

    def report(self, clause: str | None) -> None:
        """Tell of a clause, if it is new; that may be the end of the run."""
        if clause is None:
            return
        findings = self.findings
        ends = findings.crashed.get(clause) or findings.hung.get(clause)
        shown = findings.failed.get(clause) or ends
        if shown is not None:
            self.listener(ViolationFound(clause, shown))
        if self.settings.stop_at_first:
            raise _Enough

    def _sum_up(self, started: datetime, seconds: float, lost: str = "") -> RunResult:
        executor = self.executor
        evidence = Evidence(
            self.findings,
            executor.exercised + self.extra,
            frozenset(executor.unsaid),
            bool(self.counts["errors"]),
            "; ".join(self.notes),
            lost,
        )
        self.counts["programs"] = executor.programs
        self.counts["operations"] = executor.operations
        counts = dict(self.counts)
        result = sum_up(self.binding, self.settings, evidence, started, seconds, counts)
        warnings = self.warnings + self.hangs.warnings
        return replace(result, warnings=warnings, incomplete=self.incomplete)
