"""The state of a run, handed to its phases, which are functions of it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from datetime import date
from threading import Thread
from traceback import FrameSummary
from typing import NamedTuple

from fscontract.contract.binding import TargetError
from fscontract.contract.distributed.partial_results import Family
from fscontract.contract.generate.vectors import Vector
from fscontract.contract.program.program import Program
from fscontract.contract.runner.counterexamples import ShrinkingCounterexamples
from fscontract.contract.runner.crashes import Crash, Journal, LeftOut
from fscontract.contract.runner.events import Listener, PhaseStarted, Progress, ViolationFound
from fscontract.contract.runner.executor import Executor
from fscontract.contract.runner.resource_checks import LeakWatch
from fscontract.contract.runner.result import (
    FAILED_FAST,
    VIOLATED,
    Boundary,
    Counterexample,
    PhaseShare,
)
from fscontract.contract.runner.sandbox import Sandbox, SandboxedBinding
from fscontract.contract.runner.settings import Settings
from fscontract.contract.runner.time_budget import PhaseTimes
from fscontract.contract.runner.timeouts import untimed
from fscontract.contract.runner.verdicts import Seen, outcome_of

#: Number of consecutive failed connections after which the run ends.
_MAX_ERRORS = 20
_TICKS_PER_EVENT = 10
#: The length of the file that is opened to look at its class.
_LENGTH = 5
#: After how many seconds the pace of a run is known, and about how many programs it has at quick.
_PACE, _MANY = 1.0, 40_000


class StopRun(Exception):
    """Ends the run early, because of the settings, or because the target leaks too much."""


class LateCall(NamedTuple):
    """A call that took too long: a step of a program, which ran for an item of the run.

    The program may be another one, which examines a failure of the item. The frames are those in
    which the call was.
    """

    item: object
    program: object
    step: int
    frames: list[FrameSummary]


@dataclass
class RunContext:
    """The target, the settings and the findings of a run."""

    settings: Settings
    binding: SandboxedBinding
    listener: Listener
    sandbox: Sandbox
    journal: Journal
    executor: Executor
    counterexamples: ShrinkingCounterexamples
    leaks: LeakWatch
    times: PhaseTimes
    #: Programs that are not run, since they ended a process or hung.
    left_out: LeftOut
    #: Operations that the binding can express and the profile allows.
    operations: frozenset[str]
    #: A boundary of the implementation's buffer, in bytes.
    buffer: int

    #: Number of exercises of each clause by checks other than programs.
    exercised: Counter[str] = field(default_factory=Counter)
    counts: Counter[str] = field(default_factory=Counter)
    #: Results of families of threads, in a shard of a run.
    families: list[Family] = field(default_factory=list)
    #: The reasons why threads were not checked completely.
    notes: list[str] = field(default_factory=list)
    #: Whether threads were left in calls, after which the target may be unusable.
    threads_left: bool = False
    warnings: list[str] = field(default_factory=list)
    #: Programs that exceeded the time limit once, and passed when they ran again.
    late: list[str] = field(default_factory=list)
    #: The reason why the run can't conform, whatever its clauses show.
    incomplete: str = ""
    #: Phases that ended before their last program, since their time was over.
    cut_short: list[PhaseShare] = field(default_factory=list)
    #: Why the settings have ended the run, "" if they have not.
    stopped: str = ""
    #: Why the target has ended the run, "" if it has not.
    ended: str = ""

    #: The features that the profile leaves open, as observed.
    observed: dict[str, bool] = field(default_factory=dict)
    #: The sizes in which the target works, as far as they are known; None before they are learned.
    learned: tuple[Boundary, ...] | None = None

    phase: str = ""
    #: The number of programs of the phase, None if unknown.
    total: int | None = None
    done: int = 0
    #: The number and the program that runs now, or ran last.
    begun: int = 0
    item: Program | Vector | None = None
    #: The step at which a program was last interrupted.
    interrupted_step: int = -1
    #: What the binding did for the suite then, such as writing a file; "" during a call.
    interrupted_in: str = ""
    #: The thread in which it ran.
    interrupted_thread: Thread | None = None
    #: The frames of the target in which the program was then.
    interrupted_frames: list[FrameSummary] = field(default_factory=list)
    #: For each operation the last program that made a call of it, and ended before others hung.
    completed: dict[str, Program] = field(default_factory=dict)
    #: The calls that hung in this process.
    hangs: list[Crash] = field(default_factory=list)
    #: The functions of the target in which calls hung.
    hanging: set[str] = field(default_factory=set)
    #: What the current phase runs now: a program, or a check.
    given: object = None
    #: The call that was late last, and is made once more.
    late_call: LateCall | None = None
    #: The seconds that a call took in the last two programs of each phase.
    _paces: dict[str, tuple[float, float]] = field(default_factory=dict)
    #: The calls of the phases before the current one.
    _calls_before: int = 0
    #: The base classes of the target, None before they were looked up.
    _sources: Mapping[str, frozenset[str]] | None = None
    _looked: bool = False
    _ticks: int = 0
    #: Clauses that calls failed by the environment could have exercised; all if one ended the run.
    unanswered: set[str] = field(default_factory=set)
    #: How the last call ended that the environment failed, "" if none did.
    last_lost: str = ""
    _errors_in_a_row: int = 0

    def begin_phase(self, name: str, total: int | None = None, done: int = 0) -> None:
        """Start the next phase, or resume one after `done` programs, in a clean environment."""
        self.sandbox.restore()
        self.times.begin(name)
        self._calls_before = self._calls
        self.phase, self.total, self.done, self.begun = name, total, done, done
        self.item = None
        if self.settings.shard is not None:
            self.settings.shard.begin()
        self.journal.done = done
        self.journal.begin(None)
        self.listener(PhaseStarted(name, total, self._holding()))

    def _holding(self) -> frozenset[str]:
        """Return the clauses that calls have judged, and that hold so far."""
        holding = self.settings.selected - self.counterexamples.broken
        return frozenset(clause for clause in holding if self._has_judged(clause))

    def _has_judged(self, clause: str) -> bool:
        executor = self.executor
        counts = executor.acceptor.reached, executor.counts, self.exercised
        return any(clause in one for one in counts)

    @property
    def gets_few(self) -> bool:
        """True if the target gets few programs.

        Its calls are round trips, or it leaks so often that all programs would end the run.
        """
        return self.binding.remote or self.leaks.is_frequent

    @property
    def is_slow(self) -> bool:
        """Whether calls take so long that the time of the run may not be enough for all."""
        time, done, seconds = self.times.run, self.executor.programs, self.executor.seconds
        if math.isinf(time.seconds) or seconds < _PACE or not done:
            return False
        return seconds / done * _MANY > time.left

    def has_time_for(self, calls: int) -> bool:
        """Return whether the time of the phase is enough for a program of this number of calls.

        Each is expected to take as long as those so far, of all programs, the phase or its last two
        programs, and a stream to open as long as a call. Setting up the run does not count. The
        first program of a phase may take more than its time.
        """
        times = self.times
        left = times.phase.left if self.done else times.of_first
        if not left or math.isinf(left):
            return left > 0
        done = self._calls
        of_phase = done - self._calls_before
        pace = self.executor.seconds / done if done else 0.0
        pace = max(pace, min(self._paces.get(self.phase, (0.0,))))
        if of_phase:
            pace = max(pace, times.phase.spent / of_phase)
        return pace * (calls + 1) <= left

    def note_pace(self, seconds: float, calls: int) -> None:
        """Note how long a program with this number of calls took; one may stall for once."""
        _, last = self._paces.get(self.phase, (0.0, 0.0))
        self._paces[self.phase] = last, seconds / calls
        self.times.hangs.note(seconds, calls)

    def note_completed(self, program: Program) -> None:
        """Note a program that has ended, for failures that need earlier programs, and for hangs."""
        self.counterexamples.recent.append(program)
        if self.hangs or (self.left_out and program in self.left_out):
            return
        if program.opening is None and program.faults is None and program.at is None:
            for step in program.steps:
                self.completed[step.op] = program

    @property
    def _calls(self) -> int:
        """How many calls were made so far, counting each program as one."""
        return self.executor.operations + self.executor.programs

    def repeat(self) -> None:
        """Return to the start of the program that was begun last."""
        self.done = self.journal.done = self.begun
        self.counterexamples.abandon()

    def tick(self) -> None:
        """Report progress at intervals."""
        self._ticks += 1
        self.journal.beats += 1
        if self._ticks % _TICKS_PER_EVENT == 0:
            judged = sum(map(self._has_judged, self.settings.selected))
            operations = self.executor.operations
            progress = Progress(self.phase, self.done, self.total, operations, clauses=judged)
            with self.sandbox.patches.tolerated():
                self.listener(progress)

    def keep(self, clause: str, counterexample: Counterexample | None) -> None:
        """Keep and report the counterexample of a check, if there is one."""
        if counterexample is not None:
            self.report(self.counterexamples.add(clause, counterexample))

    def report(self, clause: str | None) -> None:
        """Report a clause, if it is new; StopRun if the run ends here."""
        if clause is not None:
            if (
                self.counterexamples.failed and not self._looked
            ):  # at the end of the run the target may no longer answer
                self._looked = True
                with untimed():
                    self.sources()
            self._tell(clause)
        if self.settings.fail_fast and self._fails():
            self.stopped = FAILED_FAST
        if self.stopped or (clause is not None and self.settings.stop_at_first):
            raise StopRun

    def _tell(self, clause: str) -> None:
        counterexamples = self.counterexamples
        for by_clause in (counterexamples.failed, counterexamples.crashed, counterexamples.hung):
            if clause in by_clause:
                self.listener(ViolationFound(clause, next(iter(by_clause[clause].values()))))
                break

    def sources(self) -> Mapping[str, frozenset[str]]:
        """Return the base classes from which failures may be inherited; none in a strict run."""
        if self.settings.strict or not self.counterexamples.failed:
            return {}
        if self._sources is None:
            try:
                path, _, _ = self.executor.file(_LENGTH)
                self._sources = self.binding.sources(path, self.times.hangs.limit())
            except TargetError:  # it hangs, as it would again
                self._sources = {}
            except Exception:  # whatever the target raises: then it inherits nothing
                return {}
        return self._sources

    def _fails(self) -> bool:
        """Return whether a clause has a violation that is neither known nor inherited."""
        settings, found = self.settings, self.counterexamples
        suspects = {*found.failed, *found.crashed, *found.hung} & settings.declared
        sources = self.sources()
        for clause in settings.clauses:
            if clause.id in suspects:
                seen = Seen(0, unverified=None, lost="", unsaid=frozenset(), **found.of(clause.id))
                listed = settings.known_of(self.binding.name)
                has_budget = clause.id in settings.profile.budgets
                result = outcome_of(
                    clause, seen, listed, date.today(), sources=sources, has_budget=has_budget
                )
                if result.outcome in VIOLATED:
                    return True
        return False

    def lose_call(self, text: str, clauses: Set[str]) -> None:
        """Count a call that the environment failed, and note which `clauses` it could exercise.

        Raise TargetError after too many in a row.
        """
        self.counts["errors"] += 1
        self.unanswered |= clauses
        self.last_lost = text
        self._errors_in_a_row += 1
        if self._errors_in_a_row >= _MAX_ERRORS:
            raise TargetError(f"{self.binding.name}: stopped answering: {text}")

    def reach(self) -> None:
        """Note that the target has answered."""
        self._errors_in_a_row = 0

    def mark_example(self, clause: str, counterexample: Counterexample) -> None:
        """Note that the example that runs now, if one does, fails by an unselected clause."""
        if isinstance(self.item, Vector) and clause not in self.settings.declared:
            self.counterexamples.unhold(self.item.clause, clause, counterexample)

    def warn_unselected(
        self, clause: str, counterexample: Counterexample, declared: Set[str]
    ) -> None:
        """Warn that a clause ended a program that was neither selected nor `declared`."""
        if clause in declared:
            return
        how = f"{counterexample.how} ({counterexample.actual}), which breaks {clause}"
        warning = f"neither selected nor declared: {how}"
        if warning not in self.warnings:
            self.warnings.append(warning)
