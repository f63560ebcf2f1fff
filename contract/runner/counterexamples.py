"""Collect the failures of a run: for each clause, the shortest program of each distinct one."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

from fscontract.contract.binding import MethodCall
from fscontract.contract.models.differences import difference
from fscontract.contract.models.openfile_clauses import TOLD_BY
from fscontract.contract.program.outcome import Outcome
from fscontract.contract.program.program import OF_FILE, Program, Step
from fscontract.contract.runner.attribution import Blame, Charge, observable
from fscontract.contract.runner.crashes import STAYING
from fscontract.contract.runner.execution import Execution, Violation
from fscontract.contract.runner.executor import Executor
from fscontract.contract.runner.result import Counterexample
from fscontract.contract.runner.shrink import shrink
from fscontract.contract.runner.signature import AT_END, FAILED, signature, traits
from fscontract.contract.runner.time_budget import PhaseTimes, TimeBudget
from fscontract.contract.runner.tracebacks import Recorder, recorded

#: Number of failing programs with the same looks that are shrunk, and of those of one clause;
#: smaller for remote targets.
_ALIKE = 3
_ALIKE_BY_CLAUSE = 60
_ALIKE_REMOTE = 2
_ALIKE_BY_CLAUSE_REMOTE = 48
#: The maximum of distinct failures kept for each clause.
_MAX_DISTINCT = 50
#: The maximum of programs before a failure that are kept with it.
_HISTORY = 32
#: The end of a failure's looks, unless it is the first of its program.
_LATER = "later"
#: The length of a file with space before the end.
_ROOMY = 5
#: The index of the operation before the call in a violation's signature.
_ORIGIN = 5
#: The aspects of failures of which the bytes may be the fault.
_ASPECTS_OF_BYTES = frozenset({"data", "moved", "should", "value"})


class Repeats:
    """Counts violations that look alike."""

    def __init__(self, remote: bool) -> None:
        self._seen: Counter[tuple[str, ...]] = Counter()
        self._alike = _ALIKE_REMOTE if remote else _ALIKE
        self._by_clause = _ALIKE_BY_CLAUSE_REMOTE if remote else _ALIKE_BY_CLAUSE

    def often(self, signature: tuple[str, ...]) -> bool:
        """Count one more; return whether the maximum for shrinking is exceeded.

        The first ones of each way to fail are always shrunk: many programs of one way, after many
        operations, must not hide another.
        """
        by_clause, way = signature[:1], _way(signature)
        self._seen[signature] += 1
        if self._seen[signature] > self._alike:
            return True
        if self._seen[by_clause] >= self._by_clause and self._seen[way] >= self._alike:
            return True
        self._seen[by_clause] += 1
        self._seen[way] += 1
        return False

    @property
    def seen(self) -> frozenset[tuple[str, ...]]:
        """The signatures of violations that were counted."""
        return frozenset(self._seen)


def _way(signature: tuple[str, ...]) -> tuple[str, ...]:
    """Return the part of a violation's signature without the operation before the call."""
    before, after = signature[:_ORIGIN], signature[_ORIGIN + 1 :]
    return *before, *after


@dataclass(frozen=True)
class Examined:
    """A program that was shrunk and attributed: the clause that it violates, or misses."""

    clause: str
    counterexample: Counterexample
    #: A clause whose call failed because of a violation of `clause`.
    shadowed: str = ""


#: For each clause, its counterexamples by signature, in the order of discovery.
BySignature: TypeAlias = dict[str, dict[str, Counterexample]]


class _OutOfTime(Exception):
    """The time for examining a failure is over."""


class Counterexamples:
    """Counterexamples of the clauses that are judged (`selected`), by clause and signature."""

    def __init__(self, selected: frozenset[str]) -> None:
        self.selected = selected
        self.failed: BySignature = {}
        self.missed: BySignature = {}
        self.hung: BySignature = {}
        self.crashed: BySignature = {}
        #: Clauses whose calls failed because of a violation of another clause: the value.
        self.shadowed: dict[str, str] = {}
        #: Clauses whose own example fails by a clause that is not judged: the value.
        self.unheld: dict[str, str] = {}

    def take(self, examined: Examined, missed: bool = False) -> str | None:
        """Keep the result of an examination. Return the clause if it had not failed so far."""
        if examined.shadowed not in ("", examined.clause):
            self.shadowed.setdefault(examined.shadowed, examined.clause)
        return self._keep(
            self.missed if missed else self.failed, examined.clause, examined.counterexample
        )

    def add(self, clause: str, counterexample: Counterexample, missed: bool = False) -> str | None:
        """Add a counterexample of another check."""
        return self._keep(self.missed if missed else self.failed, clause, counterexample)

    def hang(self, clause: str, counterexample: Counterexample) -> str | None:
        """Add a program that hung."""
        return self._keep(self.hung, clause, counterexample)

    def crash(self, clause: str, counterexample: Counterexample) -> str | None:
        """Add a program that crashed the process."""
        return self._keep(self.crashed, clause, counterexample)

    def unhold(self, clause: str, by: str, counterexample: Counterexample) -> None:
        """Record that an example of `clause` fails by a clause that the run does not judge."""
        self.unheld.setdefault(clause, by)

    def of(self, clause: str) -> dict[str, tuple[Counterexample, ...]]:
        """Return what crashed, hung and failed by a clause, and what missed it, shortest first.

        Failures that there was no time to shrink are left out if they are among the others.
        """
        found = {}
        for name in ("crashed", "hung", "failed", "missed"):
            distinct = getattr(self, name).get(clause, {}).values()
            kept = [one for one in distinct if not one.is_one_of(distinct)]
            found[name] = tuple(sorted(kept, key=_size))
        return found

    @property
    def broken(self) -> frozenset[str]:
        """The clauses that can't be said to hold."""
        kinds = (self.failed, self.missed, self.hung, self.crashed, self.shadowed, self.unheld)
        return frozenset().union(*kinds)

    @property
    def any(self) -> bool:
        """True if there is any violation."""
        return bool(self.failed or self.hung or self.crashed)

    def _keep(self, where: BySignature, clause: str, counterexample: Counterexample) -> str | None:
        if clause not in self.selected:
            return None
        is_new = clause not in where
        distinct = where.setdefault(clause, {})
        signature = counterexample.signature
        old = distinct.get(signature)
        if old is None and len(distinct) == _MAX_DISTINCT:
            return None
        if old is None or _size(counterexample) < _size(old):
            distinct[signature] = counterexample
        return clause if is_new else None


class ShrinkingCounterexamples(Counterexamples):
    """Counterexamples of programs that an executor runs, and runs again to shrink them."""

    def __init__(
        self, executor: Executor, selected: frozenset[str], times: PhaseTimes | None = None
    ) -> None:
        super().__init__(selected)
        self._times = times or PhaseTimes()
        self.executor = executor
        self._repeats = Repeats(executor.binding.remote)
        self._charged: dict[tuple[str, ...], str] = {}
        #: The last programs of the run.
        self.recent: deque[Program] = deque(maxlen=_HISTORY)
        self._shrinking, self._examining_time = TimeBudget(), TimeBudget()
        #: The failures of the programs that the current examination has run.
        self._seen: dict[Program, Violation | None] = {}
        #: The violation that is examined now, as far as it is shrunk; None if it may be none: a
        #: missed SHOULD, or one after another of its program.
        self._smallest: Violation | None = None
        #: Whether programs are shrunk, and few of those that look alike are kept.
        self.shrinks = True
        self._fixed = executor.binding.fixed_content is not None
        self._blame = Blame(
            self._violation_of,
            self._observed,
            executor.charge,
            executor.lengthened,
            self._fixed,
            executor.buffer,
        )

    def violation(self, violation: Violation, later: bool = False) -> str | None:
        """Shrink and attribute a failing program. Return the clause if it is new.

        A violation that is not the first of its program counts only if a program without the
        first one shows it, too: if `later`, shrinking looks for such a program.
        """
        often = self._repeats.often(looks(violation, later)) or self._has_no_time(violation)
        if often and self.shrinks:
            return None
        examine = partial(self._examined, later=later)
        examined = self._in_time(partial(self._in_first_files, examine, later), violation)
        return None if examined is None else self.take(examined)

    @contextmanager
    def taken_unshrunk(self) -> Iterator[None]:
        """Keep every failing program unchanged inside of this context, however many look alike."""
        self.shrinks = False
        try:
            yield
        finally:
            self.shrinks = True

    @property
    def seen(self) -> frozenset[tuple[str, ...]]:
        """The signatures of failures that were looked into."""
        return self._repeats.seen

    def charged(self, violation: Violation) -> str:
        """Return the clause that a violation was charged to, or the last that looked like it."""
        return self._charged.get(violation.signature, violation.failure.clause)

    def miss(self, violation: Violation) -> str | None:
        """Shrink a program that misses a SHOULD; the clause if it is new."""
        clause = violation.failure.clause
        if (
            clause not in self.selected
            or clause in self.missed
            or self._repeats.often(violation.signature)
        ):
            return None
        examine = partial(self._in_first_files, self._examined_miss, False)
        examined = self._in_time(examine, violation)
        return None if examined is None else self.take(examined, missed=True)

    def abandon(self) -> None:
        """Drop the program that is being shrunk; the program that led to it will run again."""

    def _run(self, program: Program, trace: bool = False, resume: bool = False) -> Execution:
        """Run a program for an examination; raise _OutOfTime once its time is over."""
        if self._examining_time.is_over:
            raise _OutOfTime
        return self.executor.run(program, trace, resume)

    def _violation_of(self, program: Program) -> Violation | None:
        """Return the failure of a program; several questions about a failure run the same one."""
        if program not in self._seen:
            self._seen[program] = self._run(program).violation
        return self._seen[program]

    def _observed(self, program: Program) -> list[Outcome]:
        """Return the outcome of every call of a program; raise _OutOfTime as `_run` does."""
        if self._examining_time.is_over:
            raise _OutOfTime
        return self.executor.observe(program)

    def _has_no_time(self, violation: Violation) -> bool:
        """Return whether a failure is one too many for the time that shrinking may take."""
        return not self._times.may_shrink and violation.failure.clause in self.failed

    def _in_time(
        self, examine: Callable[[Violation], Examined | None], violation: Violation
    ) -> Examined | None:
        """Shrink and attribute within the time that one failure may take.

        A failure that can't be attributed by then is one of the call that showed it.
        """
        self._shrinking = self._times.begin_shrinking() if self.shrinks else TimeBudget(0)
        self._examining_time, self._smallest = self._times.begin_attributing(), None
        self._seen.clear()
        try:
            return examine(violation)
        except _OutOfTime:
            return self._unattributed()
        finally:
            self._times.end_shrinking(self._shrinking)

    def _unattributed(self) -> Examined | None:
        """Return the violation that is examined as one of its call, None if it may be none."""
        violation = self._smallest
        if violation is None:
            return None
        clause, index = violation.failure.clause, violation.index
        if index >= 0:
            cut = violation.program.with_steps(violation.program.steps[: index + 1])
            violation = replace(violation, program=cut)
        found = signature(violation, clause, violation.circumstances, False, 0)
        shown = replace(
            counterexample(violation, found),
            unshrunk=True,
            traits=traits(violation, found, ()),
            history=(*self.recent, violation.program),
        )
        return Examined(clause, shown)

    def _in_first_files(
        self, examine: Callable[[Violation], Examined | None], later: bool, violation: Violation
    ) -> Examined | None:
        """Examine a violation on the files that a replay has, if it occurs on them, too."""
        self._smallest = None if later or violation.missed else violation
        if self.executor.has_first_files:
            return examine(violation)
        with self.executor.first_files():
            again = self._run(violation.program, resume=later)
            if any(
                violation.likeness == other.likeness for other in (*again.violations, *again.misses)
            ):
                return examine(violation)
        return examine(violation)

    def _examined(
        self, violation: Violation, later: bool = False, is_changed: bool = False
    ) -> Examined | None:
        """Shrink and attribute a violation; `is_changed` if its program was changed for that."""
        charged, signature = violation.origin, violation.signature
        history = (*self.recent, violation.program)
        self._smallest = None if later else violation
        violation = self._blame.before_shrinking(violation)
        failure, likeness = violation.failure, violation.likeness

        def has_same_failure(program: Program) -> bool:
            again = self._run(program, resume=later)
            return any(other.likeness == likeness for other in again.violations)

        done: tuple[str, ...] = ()
        trace: tuple[str, ...] = ()
        methods: tuple[MethodCall, ...] = ()
        charge = Charge(failure.clause, violation)
        program = violation.program
        if violation.index >= 0 or program.opening is not None or program.faults is not None:
            cut = violation.program.with_steps(violation.program.steps[: violation.index + 1])
            small = (
                self._shrunk(cut, has_same_failure) if has_same_failure(cut) else violation.program
            )
            if not self._shrinking.is_over:
                plain = self._plain(small, likeness, later)
                small = small if plain == small else self._shrunk(plain, has_same_failure)
            again, raised = self._traced(small)
            alike = [other for other in again.first if other.likeness == likeness]
            if later and not alike:
                return None
            violation = next(iter(alike), again.violation) or violation
            self._smallest = None if later else violation
            other = violation if is_changed else self._blame.in_plainer_place(violation)
            if other is not violation:
                instead = self._examined(other, is_changed=True)
                assert instead is not None
                self._charged[signature] = instead.clause
                return replace(instead, shadowed=violation.failure.clause)
            charge = self._blame.charge(violation)
            if self.shrinks and self._shrinking.is_over and charge.violation is not violation:
                violation = charge.violation  # the simplest program, if not the shortest
                again, raised = self._traced(violation.program)
            done, trace = outcomes(violation, again), raised.shown(violation.index)
            methods = raised.methods(violation.index)
        clause = charge.clause
        if not later:
            self._charged[signature] = clause
        shadowed = charged if TOLD_BY.get(charged) == clause else failure.clause
        found = self._signature(charge)
        shrunk = replace(
            counterexample(violation, found),
            outcomes=done,
            unshrunk=self._shrinking.is_over,
            traceback=trace,
            traits=traits(violation, found, methods),
            history=history,
        )
        return Examined(clause, shrunk, shadowed)

    def _traced(self, program: Program) -> tuple[Execution, Recorder]:
        """Run a program once more; record its exceptions and the target's methods it calls."""
        executor = self.executor
        with recorded(lambda: executor.index, executor.binding) as recorder:
            return self._run(program, trace=True), recorder

    def _plain(self, program: Program, likeness: tuple[str, ...], later: bool) -> Program:
        """Return the program with the plainest calls before the one that fails in this way.

        A later failure may be charged to one of these calls, which then stays.
        """

        def failure(program: Program) -> Violation | None:
            first = self._run(program).first
            return next((other for other in first if other.likeness == likeness), None)

        alike = failure(program)
        if alike is None:
            return program
        plain = self._blame.after_plain_calls(alike)
        if later and plain is not program:
            again = failure(plain)
            charge = self._blame.charge
            if again is None or charge(again).clause != charge(alike).clause:
                return program
        return plain

    def _shrunk(self, program: Program, fails: Callable[[Program], bool]) -> Program:
        return shrink(program, fails, self._fixed, lambda: self._shrinking.is_over)

    def _signature(self, charge: Charge) -> str:
        """Return the signature of a shrunk failure, without circumstances that shrinking added."""
        clause, violation = charge
        displacement = self._blame.displacement(violation.program, violation.index)
        is_displaced = displacement is not None and displacement[0] == clause
        if displacement is not None and is_displaced:
            violation = displacement[1]
            moved = self._moved(clause, violation)
            if moved is not None:
                return moved
        circumstances = violation.circumstances
        if AT_END in circumstances and not self._fixed:
            longer = self._violation_of(self.executor.lengthened(violation.program))
            if longer is not None and _is_elsewhere(longer, violation):
                circumstances = tuple(c for c in circumstances if c != AT_END)
        approach = self._approach(violation, is_displaced)
        return signature(violation, clause, circumstances, is_displaced, approach)

    def _moved(self, clause: str, violation: Violation) -> str | None:
        """Return the signature of a call that must not move the position, but does anywhere.

        Where it moves to may depend on its arguments, so only a call without any has a direction.
        None if the call moves the position under more circumstances than that.
        """
        program, index = violation.program, violation.index
        step = program.steps[index - 1] if index > 0 else None
        if step is None or step.op not in STAYING or program.opening or program.faults:
            return None
        length = program.length if self._fixed else max(program.length, _ROOMY)
        for size, start in ((program.length, 0), (program.length, 1), (length, 1)):
            alone = (*_seek(start, program), replace(step, stream=0), violation.step)
            seen = self._blame.displacement(Program(size, alone), len(alone) - 1)
            if seen is not None and seen[0] == clause and seen[1].index == len(alone) - 1:
                failed = [FAILED] if FAILED in seen[1].circumstances else []
                how = "moved" if step.args else seen[1].relation or "moved"
                return "; ".join([f"position: {how}", *failed, f"after {step.op}"])
        return None

    def _approach(self, violation: Violation, is_displaced: bool) -> int:
        """Return the number of first calls that only set the position.

        With a single seek in their place, the program fails in the same way. A call that leaves the
        stream elsewhere does not count.
        """
        program, index = violation.program, violation.index - is_displaced
        if program.opening is not None or program.faults is not None or index < 1:
            return 0
        if any(step.op in OF_FILE or step.stream for step in program.steps):
            return 0
        trace = self._run(program, trace=True).trace
        most = min(index, len(trace))
        for count in range(most, most - observable(most), -1):
            states = trace[count - 1][2].states
            if not states or not states[0].is_open or states[0].pos < 0:
                continue
            for seek in _seeks(states[0].pos, program):
                steps = (*seek, *program.steps[count:])
                again = self._violation_of(program.with_steps(steps))
                if again is not None and again.likeness == violation.likeness:
                    return count
        return 0

    def _examined_miss(self, violation: Violation) -> Examined | None:
        clause = violation.failure.clause
        history = (*self.recent, violation.program)

        def misses(program: Program) -> bool:
            missed = [m.index for m in self._run(program).misses if m.failure.clause == clause]
            # At a wrong position another clause is violated.
            return bool(missed) and not self._blame.is_displaced(program, missed[0])

        cut = violation.program.with_steps(violation.program.steps[: violation.index + 1])
        if self._blame.is_displaced(cut, violation.index):
            return None
        small = self._shrunk(cut, misses)
        found = [m.index for m in self._run(small).misses if m.failure.clause == clause]
        small = small.with_steps(small.steps[: found[0] + 1]) if found else cut
        again, raised = self._traced(small)
        violation = replace(violation, program=cut)  # if it does not miss it again
        violation = next((m for m in again.misses if m.failure.clause == clause), violation)
        if self._blame.on_unopened(violation) is not None:
            return None
        shrunk = replace(
            counterexample(violation),
            outcomes=outcomes(violation, again),
            traceback=raised.shown(violation.index),
            traits=traits(
                violation,
                signature(violation, clause, violation.circumstances, False, 0),
                raised.methods(violation.index),
            ),
            history=history,
        )
        return Examined(clause, shrunk)


def _seek(position: int, program: Program) -> tuple[Step, ...]:
    """Return the calls that bring a new stream to `position`, in the API of the program."""
    if not position:
        return ()
    if any(step.op.startswith("py_") for step in program.steps):
        return (Step("py_seek", (position, 0)),)
    return (Step("seek", (position,)),)


def _seeks(position: int, program: Program) -> tuple[tuple[Step, ...], ...]:
    """Return ways to bring a new stream there: py_seek() may return a wrong position."""
    ways = _seek(position, program), (Step("seek", (position,)),) if position else ()
    return tuple(dict.fromkeys(ways))


def _is_elsewhere(longer: Violation, violation: Violation) -> bool:
    """Return whether a program that fails at the end of its file fails within a longer one."""
    return longer.likeness == violation.likeness and AT_END not in longer.circumstances


def looks(violation: Violation, later: bool) -> tuple[str, ...]:
    """Return the common attributes of violations that look alike, which are shrunk rarely."""
    return (*violation.signature, _LATER) if later else violation.signature


def how_of(violation: Violation) -> str:
    """Return the call of a violation, and how it ended."""
    return f"{violation.step.op}: {violation.outcome.kind.value}"


def counterexample(violation: Violation, identity: str = "") -> Counterexample:
    """Return a violation as reports show it; `identity` is its signature."""
    actual = str(violation.outcome)
    program = violation.program
    if violation.index < 0 and (program.opening is not None or program.at is not None):
        actual = f"{violation.step.op}: {actual}"
    judged = violation.judged if violation.failure.aspect in _ASPECTS_OF_BYTES else None
    return Counterexample(
        program,
        violation.failure.expected,
        actual,
        step=violation.index + 1,
        how=how_of(violation),
        identity=identity,
        difference="" if judged is None else difference(*judged, violation.outcome),
    )


def outcomes(violation: Violation, execution: Execution) -> tuple[str, ...]:
    """Return the outcome of each call of a violation's program, if it is what was executed."""
    steps = violation.program.steps[: violation.index + 1]
    calls = [step for step in steps if step.op not in OF_FILE]
    trace = execution.trace[len(execution.trace) - len(calls) :]
    if [step for step, _, _ in trace] != calls:
        return ()
    said = iter(str(outcome) for _, outcome, _ in trace)
    return tuple("" if step.op in OF_FILE else next(said) for step in steps)


def _size(counterexample: Counterexample) -> tuple[int, int, int]:
    program = counterexample.program
    if program is None:
        return (len(counterexample.interleaving), 0, 0)
    return (len(program.steps), program.length, len(program.dumps()))
