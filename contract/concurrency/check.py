"""Check that threads can share a stream or a file, report failures, and replay a schedule."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from random import Random
from typing import Any

from fscontract.contract.binding import Binding, TargetError
from fscontract.contract.concurrency.execution import Execution, NoVerdict, ScheduleRunner
from fscontract.contract.concurrency.programs import (
    FAMILIES,
    SMALL,
    Family,
    events_of,
    lockstep_switches,
    long_threads,
    random_switches,
    random_threads,
    single_switches,
    with_switches,
)
from fscontract.contract.concurrency.schedule import ATTEMPTS, Schedule, Switch, shrink
from fscontract.contract.concurrency.verdict import (
    APART,
    CLAUSES,
    VECTORED,
    Fault,
    attribute,
    faults,
    first_fault,
    kind_of,
    overlapping,
    trace,
    victim,
)
from fscontract.contract.program.outcome import INTERRUPTED_RUNS
from fscontract.contract.program.program import Step
from fscontract.contract.runner.result import STOPPED, Counterexample
from fscontract.contract.runner.time_budget import TimeBudget


@dataclass
class ConcurrencyReport:
    """Results by clause of concurrent use.

    They are the number of schedules that exercised each clause, the violations (of MUST) and misses
    (of SHOULD), and the failing schedules as JSON for `replay_schedule`.
    """

    exercised: Counter[str] = field(default_factory=Counter)
    violations: dict[str, Counterexample] = field(default_factory=dict)
    missed: dict[str, Counterexample] = field(default_factory=dict)
    schedules: int = 0
    operations: int = 0
    notes: list[str] = field(default_factory=list)
    #: True if the check ended early.
    stopped: bool = False
    #: Whether it did, or left some of it out, since its time was over.
    cut_short: bool = False
    schedules_json: dict[str, dict[str, Any]] = field(default_factory=dict)

    def note(self, text: str) -> None:
        """Add a note unless it is a duplicate."""
        if text not in self.notes:
            self.notes.append(text)

    def record(self, clause: str, execution: Execution, fault: Fault) -> None:
        """Record that the execution violates the clause."""
        self.violations[clause] = counterexample(execution, fault)
        self.schedules_json[clause] = execution.schedule.to_json()
        self.exercised[clause] += 1

    def drop(self, clause: str) -> None:
        """Remove the record that an execution violates the clause."""
        del self.violations[clause], self.schedules_json[clause]
        self.exercised -= Counter((clause,))


def counterexample(execution: Execution, fault: Fault) -> Counterexample:
    """Return the execution as a counterexample."""
    return Counterexample(
        None,
        fault.expected,
        fault.actual,
        interleaving=trace(execution, fault),
        schedule=execution.schedule.seed,
    )


CLAUSE = "pread.concurrent"
_READ = Step("pread", (6, 8, 0, 8))
_SECOND_READ = Step("pread", (30, 8, 0, 8))
_MAX_POINTS = 12


def waits(execution: Execution) -> bool:
    """Return whether the second thread blocked while the first was paused in its call."""
    return any(e.event == "blocked" and e.thread == 1 for e in execution.log)


def check_overlap(
    runner: ScheduleRunner, features: frozenset[str], length: int, report: ConcurrencyReport
) -> None:
    """Pause a positioned read at several of its events, each time letting another one run.

    The clause is missed if the other read has to wait at half of these points or more. Argument
    checks before a lock and bookkeeping after it never block, and a lock held briefly, for instance
    for a cache lookup, is not a lock around the read.
    """
    schedule = Schedule(max(length, SMALL), ((_READ,), (_SECOND_READ,)))
    base = runner.run(schedule)
    if base.environment or first_fault(base, features) is not None:
        return
    events = base.counts[0][0]
    step = max(1, -(-events // _MAX_POINTS))
    waiting: Execution | None = None
    waited = points = 0
    for event in range(1, events + 1, step):
        switched = Schedule(schedule.length, schedule.threads, (Switch(0, 0, event, 1),))
        execution = runner.run(switched)
        if execution.environment or first_fault(execution, features) is not None:
            return
        points += 1
        if waits(execution):
            waited += 1
            waiting = waiting or execution
    report.exercised[CLAUSE] += points
    if waiting is not None and waited * 2 >= points:
        report.missed[CLAUSE] = counterexample(waiting, waiting_fault())
        report.schedules_json[CLAUSE] = waiting.schedule.to_json()


def waiting_fault() -> Fault:
    """Return the fault of the second thread's call: it waits."""
    expected = ("a read that continues while another is paused",)
    return Fault(1, 0, expected, "waits for another read", "it waited")


#: Consecutive failing schedules of one family without a new clause, after which the family ends.
_ENOUGH = 4
#: Re-runs of a schedule that hangs, which are slow, and of a free-running one.
_HANG_ATTEMPTS = 8
_FREE_ATTEMPTS = 40
_FREE_REPEATS = 3
#: The part of a family's time that schedules with planned switches may take.
_CONTROLLED = 0.7
#: The part of the time left that shrinking one failure may take.
_SHRINKING = 0.5
#: Limit of operations to leave out because they fail without other threads.
MAX_UNSOUND = 3


@dataclass(frozen=True)
class Amount:
    """The amount of work per family at an effort.

    These are the single switches per core program, random programs, schedules of each, free-running
    rounds, and calls per thread in them.
    """

    singles: int
    programs: int
    schedules: int
    rounds: int
    calls: int


AMOUNTS = {
    "quick": Amount(singles=40, programs=24, schedules=10, rounds=4, calls=20),
    "normal": Amount(singles=160, programs=160, schedules=20, rounds=40, calls=30),
    "deep": Amount(singles=400, programs=1000, schedules=24, rounds=200, calls=40),
}


#: The number of the overlap check, which follows all families.
OVERLAP = len(FAMILIES)


class _Stop(Exception):
    """Ends the check of the target; the message is the reason."""


class _OutOfTime(Exception):
    """The time for a family is over."""


class _Check:
    def __init__(
        self,
        runner: ScheduleRunner,
        features: frozenset[str],
        amount: Amount,
        seed: int,
        clauses: frozenset[str],
        report: ConcurrencyReport,
        time: TimeBudget,
        without: frozenset[str],
        few: bool,
    ) -> None:
        self.runner = runner
        self._phase = self._time = time
        self._few = few or runner.binding.remote
        self.features = features
        self.amount = amount
        self.seed = seed
        self.clauses = clauses
        self.report = report
        self.operations = runner.binding.operations - without
        fixed = runner.binding.fixed_content
        self.lengths = (SMALL, 2 * runner.buffer + 37) if fixed is None else (len(fixed),) * 2
        self.traceable = not runner.binding.remote
        self._serial: dict[tuple[int, tuple[tuple[Step, ...], ...], bool], str] = {}
        self._unsound: frozenset[str] = frozenset()
        self._failures = 0

    def run(self, only: int | None) -> None:
        """Check every family, then the overlap; or only the check with this number."""
        families = [
            f
            for f in FAMILIES
            if self.clauses & {*f.clauses}
            and f.needs <= self.features
            and f.usable(self.operations)
        ]
        for number, family in enumerate(families):
            if only not in (None, number):
                continue
            self._failures = 0
            rng = Random(f"{self.seed}:{family.name}")
            waiting = 1 if only is not None else len(families) - number
            self._in_part(1 / waiting, self._family, family, rng)
            if number == 0 and not self.traceable and not self.runner.binding.remote:
                self.report.note("no Python code of the target to step through: free threads only")
        if only not in (None, OVERLAP) or CLAUSE not in self.clauses:
            return
        if only is not None and families:  # the run was not traced yet
            self._base(Schedule(self.lengths[0], families[0].core_programs(self.operations)[0]))
        if self.traceable and "pread" in self.operations:
            check_overlap(self.runner, self.features, self.lengths[0], self.report)

    def _family(self, family: Family, rng: Random) -> None:
        self._in_part(_CONTROLLED, self._controlled, family, rng)
        self._free(family, rng)

    def _in_part(
        self, share: float, check: Callable[[Family, Random], None], family: Family, rng: Random
    ) -> None:
        """Do a part of the check in a share of the time that is left."""
        whole = self._time
        self._time = whole.part(share)
        try:
            check(family, rng)
        except _OutOfTime:
            self.report.cut_short = True
        finally:
            self._time = whole

    # Controlled -------------------------------------------------------------------------------

    def _controlled(self, family: Family, rng: Random) -> None:
        for threads in family.core_programs(self.operations):
            seed = rng.getrandbits(32)
            schedule = Schedule(self.lengths[0], threads, seed=seed, apart=family.apart)
            base = self._base(schedule)
            if base is not None:
                singles = single_switches(base.counts, self.amount.singles)
                self._try(family, schedule, chain(singles, lockstep_switches(base.counts)))
        for number in range(self.amount.programs):
            seed = rng.getrandbits(32)
            length = self.lengths[number % 4 == 3]
            threads = random_threads(family, seed, self.operations, length, self.runner.buffer)
            opcodes = number % 4 == 2
            schedule = Schedule(length, threads, (), opcodes, seed=seed, apart=family.apart)
            base = self._base(schedule)
            if base is not None:
                counts = base.counts
                some = (random_switches(counts, rng) for _ in range(self.amount.schedules))
                self._try(family, schedule, some)

    def _base(self, schedule: Schedule) -> Execution | None:
        """Return the run without switches; None if it gives no information."""
        if not self.traceable or self._failures >= _ENOUGH:
            return None
        if schedule.apart and self._wrong_alone(schedule):
            return None  # not a race: the streams disturb each other without threads, too
        execution = self._run(schedule)
        if first_fault(execution, self.features) is not None:
            self._broken_alone(execution)
            return None
        if events_of(execution.counts) == 0:
            self.traceable = False
            return None
        return execution

    def _try(
        self, family: Family, schedule: Schedule, switches: Iterable[tuple[Switch, ...]]
    ) -> None:
        for some in switches:
            execution = self._run(with_switches(schedule, some, schedule.seed))
            fault = first_fault(execution, self.features)
            self._count(family, execution)
            if fault is not None:
                self._report_fault(execution, fault)
                return

    # Free-running -----------------------------------------------------------------------------

    def _free(self, family: Family, rng: Random) -> None:
        rounds = self.amount.rounds
        if self._few:
            rounds = max(2, rounds // 10)
        for number in range(rounds):
            seed = rng.getrandbits(32)
            length = self.lengths[number % 2]
            calls = 4 if self._few else self.amount.calls
            if self._failures >= _ENOUGH:
                return
            schedule = self._free_schedule(family, seed, length, calls)
            if schedule is None:
                return
            execution = self._run(schedule)
            if not self.traceable:  # otherwise the count would not follow from the seed
                self._count(family, execution)
            fault = first_fault(execution, self.features)
            if fault is not None:
                self._report_fault(execution, fault)

    def _free_schedule(self, family: Family, seed: int, length: int, calls: int) -> Schedule | None:
        """Return threads of calls that are correct in serial order; None if there are none.

        This check runs first, because the threads may make the target unusable.
        """
        while len(self._unsound) <= MAX_UNSOUND:
            sound = self.operations - self._unsound
            if not family.usable(sound):
                return None
            threads = long_threads(family, seed, sound, length, self.runner.buffer, calls)
            schedule = Schedule(length, threads, free=True, seed=seed, apart=family.apart)
            wrong = self._wrong_alone(schedule)
            if not wrong:
                return schedule
            self._unsound |= {wrong}
        return None

    # Both -------------------------------------------------------------------------------------

    def _run(self, schedule: Schedule) -> Execution:
        self._check_time()
        execution = _answered(partial(self.runner.run, schedule))
        self.report.schedules, self.report.operations = (
            self.runner.schedules,
            self.runner.operations,
        )
        return execution

    def _check_time(self) -> None:
        if self._time.is_over:
            raise _OutOfTime

    def _count(self, family: Family, execution: Execution) -> None:
        if overlapping(execution):
            self.report.exercised.update(family.clauses)

    def _wrong_alone(self, schedule: Schedule) -> str:
        """Return the operation that fails when the threads run one after the other; "" if none."""
        key = (schedule.length, schedule.threads, schedule.apart)
        if key not in self._serial:
            self._check_time()
            execution = _answered(partial(self.runner.run_alone, schedule))
            fault = first_fault(execution, self.features)
            if fault is not None:
                self._broken_alone(execution)
            self._serial[key] = (
                "" if fault is None else execution.steps[fault.thread][fault.call].op
            )
        return self._serial[key]

    def _broken_alone(self, execution: Execution) -> None:
        if execution.hang:
            raise _Stop("calls hang even one after the other: concurrency was not checked")
        self.report.note("some calls fail even one after the other: they were skipped")

    def _report_fault(self, execution: Execution, fault: Fault) -> None:
        recorded = self._record(
            execution, fault
        )  # immediately, because the target may crash in the next calls
        found, is_smallest = self._shrunk(execution, fault)
        if recorded is not None:
            self.report.drop(recorded)
        # The clause of an execution that is not the smallest may be that of another failure.
        is_new = is_smallest or not self.report.violations
        if not is_new or self._record(*found) is None:
            self._failures += 1
        if execution.hang:
            raise _Stop("stopped because threads hang")

    def _shrunk(self, execution: Execution, fault: Fault) -> tuple[tuple[Execution, Fault], bool]:
        """Return the smallest execution with this fault, and whether there was time to find it."""
        smallest = (execution, fault)
        kind = victim(execution, fault)

        def fails(schedule: Schedule) -> bool:
            nonlocal smallest
            wrong = self._wrong_alone(schedule)
            if wrong and kind_of(wrong) == kind:  # a failure of others does not explain this one
                return False
            for _ in range(_FREE_REPEATS if schedule.free else 1):
                repeated = self._run(schedule)
                for candidate in faults(repeated, self.features):
                    if victim(repeated, candidate) == kind:
                        smallest = (repeated, candidate)
                        return True
            return False

        attempts = _FREE_ATTEMPTS if execution.schedule.free else ATTEMPTS
        family, self._time = self._time, self._phase.part(_SHRINKING)
        is_smallest = True
        try:
            shrink(execution.schedule, fails, _HANG_ATTEMPTS if execution.hang else attempts)
        except _OutOfTime:
            self.report.cut_short, is_smallest = True, False
        finally:
            family.extend(self._time.spent)
            self._time = family
        return smallest, is_smallest

    def _record(self, execution: Execution, fault: Fault) -> str | None:
        """Record the violated clause unless it is recorded already; return it."""
        clause = attribute(execution, fault)
        if clause in self.report.violations or clause not in self.clauses:
            return None
        self.report.record(clause, execution, fault)
        return clause


def _answered(run: Callable[[], Execution]) -> Execution:
    """Run a schedule, again if the network may have failed it; raise _Stop if it does not answer.

    An answer that is interrupted each time is judged.
    """
    for _ in range(INTERRUPTED_RUNS):
        execution = run()
        if not execution.is_interrupted:
            break
    if execution.environment is not None:
        raise _Stop(f"target unreachable: {execution.environment.detail}")
    return execution


def check_concurrency(
    binding: Binding,
    features: frozenset[str],
    effort: str,
    seed: int,
    beat: Callable[[int], None],
    buffer: int = 4096,
    clauses: frozenset[str] | None = None,
    hang_after: float = 2.0,
    only: int | None = None,
    report: ConcurrencyReport | None = None,
    time: TimeBudget | None = None,
    without: frozenset[str] = frozenset(),
    few: bool = False,
    keeps_open: bool = False,
) -> ConcurrencyReport:
    """Check one prepared target under threads that share a stream (PositionedReadable) or a file.

    `effort` is quick, normal or deep; `seed` determines every schedule. `beat` is called with the
    number of schedules after each. `buffer` is a boundary of the target's buffer in bytes.
    `clauses` restricts the check. Threads that all block for `hang_after` seconds hang. `only` is
    the number of a family, or OVERLAP: nothing else is checked then. `report` is filled during the
    check, so that an abandoned check keeps its results. Families share the `time`. Threads make
    calls `without` these operations, and `few` of them if each takes long. If it `keeps_open`, no
    stream is closed, since that hangs.
    """
    every = CLAUSES | {CLAUSE}
    clauses = every if clauses is None else every & clauses
    runner = ScheduleRunner(binding, beat, buffer, hang_after, keeps_open)
    report = ConcurrencyReport() if report is None else report
    amount, time = AMOUNTS[effort], time or TimeBudget()
    unshared = _unshared(binding, features)
    if unshared:
        report.note(unshared)
        clauses &= {APART}
    check = _Check(runner, features, amount, seed, clauses, report, time, without, few)
    length = check.lengths[0]
    if length < SMALL and not unshared:
        report.note(f"the file is too short for reads that differ: {length} bytes, {SMALL} needed")
    if not clauses or length < SMALL:
        return report
    report.stopped = True  # until the check completes
    try:
        check.run(only)
        report.stopped = False
    except (NoVerdict, _Stop) as stop:
        report.note(str(stop) if str(stop).startswith(STOPPED) else f"{STOPPED}: {stop}")
    finally:
        runner.close()
    report.schedules, report.operations = runner.schedules, runner.operations
    return report


def _unshared(binding: Binding, features: frozenset[str]) -> str:
    """Return the reason why threads can't share a stream of the target; "" if they can."""
    if "supports-positioned-readable" not in features:
        return "positioned reads are not declared"
    if not binding.operations & {"pread", "read_fully", VECTORED}:
        return f"the {binding.api} API has no positioned read"
    return ""


#: Number of runs of free threads.
FREE_ROUNDS = 100


@dataclass(frozen=True)
class ScheduleReplay:
    """The result of replaying a schedule.

    It has the violated clause (or the missed one, of a SHOULD) with its counterexample, both None
    if the schedule passes, and in any case the interleaving.
    """

    clause: str | None
    counterexample: Counterexample | None
    interleaving: tuple[str, ...]


def replay_schedule(
    binding: Binding,
    features: frozenset[str],
    data: dict[str, Any],
    buffer: int = 4096,
    hang_after: float = 2.0,
) -> ScheduleReplay:
    """Run a schedule (as `Schedule.to_json` writes it) on a prepared target.

    Raise ProgramError for invalid data, TargetError if the target can't be used.
    """
    schedule = Schedule.from_json(data)
    runner = ScheduleRunner(binding, lambda _: None, buffer, hang_after)
    try:
        for _ in range(FREE_ROUNDS if schedule.free else 1):
            execution = runner.run(schedule)
            result = _result(execution, features)
            if result.clause is not None:
                break
        return result
    except NoVerdict as stop:
        raise TargetError(f"{binding.name}: {stop}") from stop
    finally:
        runner.close()


def _result(execution: Execution, features: frozenset[str]) -> ScheduleReplay:
    if execution.environment is not None:
        raise NoVerdict(f"target unreachable: {execution.environment.detail}")
    fault = first_fault(execution, features)
    if fault is not None:
        example = counterexample(execution, fault)
        return ScheduleReplay(attribute(execution, fault), example, example.interleaving)
    if waits(execution):
        example = counterexample(execution, waiting_fault())
        return ScheduleReplay(CLAUSE, example, example.interleaving)
    return ScheduleReplay(None, None, trace(execution, None))
