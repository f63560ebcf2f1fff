"""What a run has found so far: for each clause its shortest counterexample."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fscontract.contract.models.openfile_clauses import TOLD_BY
from fscontract.contract.program.program import Program
from fscontract.contract.runner.attribution import Blame
from fscontract.contract.runner.execution import Execution, Violation
from fscontract.contract.runner.executor import Executor
from fscontract.contract.runner.result import Counterexample
from fscontract.contract.runner.shrink import shrink
from fscontract.contract.targets import names_code

#: Failing programs that look alike are shrunk this often; the rest are only counted.
_ALIKE = 3


class Repeats:
    """Counts violations that look alike."""

    def __init__(self) -> None:
        self._seen: Counter[tuple[str, ...]] = Counter()

    def often(self, signature: tuple[str, ...]) -> bool:
        """Count one more; whether it is one too many to be shrunk."""
        self._seen[signature] += 1
        return self._seen[signature] > _ALIKE


@dataclass(frozen=True)
class Examined:
    """A program that was shrunk and attributed: the clause it breaks, or misses."""

    clause: str
    counterexample: Counterexample
    #: A clause whose call failed through the fault of that one.
    shadowed: str = ""


class Counterexamples:
    """Counterexamples by clause, those of the clauses that are judged (`selected`) only."""

    def __init__(self, selected: frozenset[str]) -> None:
        self.selected = selected
        self.failed: dict[str, Counterexample] = {}
        self.missed: dict[str, Counterexample] = {}
        self.hung: dict[str, Counterexample] = {}
        self.crashed: dict[str, Counterexample] = {}
        #: Clauses whose calls failed through the fault of another one, which it is.
        self.shadowed: dict[str, str] = {}
        #: Clauses whose own example fails by a clause that is not judged, which it is.
        self.unheld: dict[str, str] = {}

    def take(self, examined: Examined, missed: bool = False) -> str | None:
        """Keep what an examination came to; the clause if it is new."""
        if examined.shadowed not in ("", examined.clause):
            self.shadowed.setdefault(examined.shadowed, examined.clause)
        return self._keep(
            self.missed if missed else self.failed, examined.clause, examined.counterexample
        )

    def add(self, clause: str, counterexample: Counterexample, missed: bool = False) -> str | None:
        """Keep a counterexample that some other check made."""
        return self._keep(self.missed if missed else self.failed, clause, counterexample)

    def hang(self, clause: str, counterexample: Counterexample) -> str | None:
        """Keep a program that did not end."""
        return self._keep(self.hung, clause, counterexample)

    def crash(self, clause: str, counterexample: Counterexample) -> str | None:
        """Keep a program that ended the process."""
        return self._keep(self.crashed, clause, counterexample)

    def unhold(self, clause: str, by: str, counterexample: Counterexample) -> None:
        """Keep that an example of `clause` fails by a clause that the run does not judge."""
        self.unheld.setdefault(clause, by)

    @property
    def any(self) -> bool:
        """Whether there is a violation at all."""
        return bool(self.failed or self.hung or self.crashed)

    def _keep(
        self, where: dict[str, Counterexample], clause: str, counterexample: Counterexample
    ) -> str | None:
        old = where.get(clause)
        if clause not in self.selected or (old is not None and _size(old) <= _size(counterexample)):
            return None
        where[clause] = counterexample
        return clause if old is None else None


class ShrinkingCounterexamples(Counterexamples):
    """What is found in programs that an executor runs, and runs again to make them smaller."""

    def __init__(self, executor: Executor, selected: frozenset[str]) -> None:
        super().__init__(selected)
        self.executor = executor
        self._repeats = Repeats()
        self._charged: dict[tuple[str, ...], str] = {}
        self._fixed = executor.binding.fixed_content is not None
        self._blame = Blame(
            lambda p: executor.run(p).violation, executor.observe, executor.charge, self._fixed
        )

    def violation(self, violation: Violation) -> str | None:
        """Shrink and attribute a failing program; the clause if it is new."""
        often = self._repeats.often(violation.signature)
        return None if often else self.take(self._examined(violation))

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
        examined = self._examined_miss(violation)
        return None if examined is None else self.take(examined, missed=True)

    def abandon(self) -> None:
        """Forget what is being made small: the program that led to it will be run again."""

    def _examined(self, violation: Violation) -> Examined:
        executor, charged, signature = self.executor, violation.origin, violation.signature
        violation = self._blame.alone(violation)
        failure = violation.failure

        def fails_alike(program: Program) -> bool:
            again = executor.run(program).violation
            return again is not None and again.likeness == violation.likeness

        done: tuple[str, ...] = ()
        clause = failure.clause
        program = violation.program
        if violation.index >= 0 or program.opening is not None or program.faults is not None:
            cut = violation.program.with_steps(violation.program.steps[: violation.index + 1])
            small = shrink(cut, fails_alike, self._fixed) if fails_alike(cut) else violation.program
            again = executor.run(small, trace=True)
            violation = again.violation or violation
            done = outcomes(violation, again)
            clause = self._blame.clause(violation)
        self._charged[signature] = clause
        shadowed = charged if TOLD_BY.get(charged) == clause else failure.clause
        return Examined(clause, replace(counterexample(violation), outcomes=done), shadowed)

    def _examined_miss(self, violation: Violation) -> Examined | None:
        executor, clause = self.executor, violation.failure.clause

        def misses(program: Program) -> bool:
            return any(m.failure.clause == clause for m in executor.run(program).misses)

        cut = violation.program.with_steps(violation.program.steps[: violation.index + 1])
        if self._blame.displaced(cut, violation.index) is not None:
            return None  # it stands elsewhere than it should, which is another clause's matter
        small = shrink(cut, misses, self._fixed)
        again = executor.run(small, trace=True)
        violation = next((m for m in again.misses if m.failure.clause == clause), violation)
        shrunk = replace(counterexample(violation), outcomes=outcomes(violation, again))
        return Examined(clause, shrunk)


def counterexample(violation: Violation) -> Counterexample:
    """A violation as reports show it."""
    how = f"{violation.step.op}: {violation.outcome.kind.value}"
    actual = str(violation.outcome)
    if violation.index < 0 and violation.program.opening is not None:
        actual = f"{violation.step.op}: {actual}"
    return Counterexample(
        violation.program,
        violation.failure.expected,
        actual,
        step=violation.index + 1,
        how=how,
    )


def outcomes(violation: Violation, execution: Execution) -> tuple[str, ...]:
    """Return the outcome of each call of a violation's program, if it is what was executed."""
    steps = violation.program.steps[: violation.index + 1]
    calls = [step for step in steps if step.op != "change"]
    trace = execution.trace[len(execution.trace) - len(calls) :]
    if [step for step, _, _ in trace] != calls:
        return ()
    said = iter(str(outcome) for _, outcome, _ in trace)
    return tuple("" if step.op == "change" else next(said) for step in steps)


def _size(counterexample: Counterexample) -> tuple[int, int, int]:
    program = counterexample.program
    if program is None:
        return (len(counterexample.interleaving), 0, 0)
    return (len(program.steps), program.length, len(program.dumps()))


def write_replay(
    directory: Path, clause: str, counterexample: Counterexample, context: dict[str, Any]
) -> Counterexample:
    """Write the replay file of a counterexample; returns it with the file's path."""
    data: dict[str, Any] = {"fscontract-replay": 1, "clause": clause, **context}
    if counterexample.program is not None:
        data["program"] = counterexample.program.to_json()
    elif counterexample.threads is not None:
        data["threads"] = counterexample.threads
    else:
        return counterexample
    text = json.dumps(data, indent=1, sort_keys=True) + "\n"
    name = hashlib.sha256(text.encode()).hexdigest()[:12]
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / f"{clause}-{name}.json"
    path.write_text(text, encoding="utf-8")
    target = str(context.get("target", ""))
    return replace(counterexample, replay=str(path), code=target if names_code(target) else "")
