"""Programs of a run that take too long: one is run again before it counts as hanging.

A machine that is short of something, or a service that stalls, makes a call late now and then. A
call that hangs does so again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fscontract.contract.binding import TargetError
from fscontract.contract.program import Program
from fscontract.contract.suite import ending
from fscontract.contract.suite.ending import clause_of, ended
from fscontract.contract.suite.generate.vectors import Vector
from fscontract.contract.suite.result import STOPPED
from fscontract.contract.suite.watchdog import Next

if TYPE_CHECKING:
    from fscontract.contract.suite.runner import Run

#: So many programs of a run may be late without hanging; what is late after them, hangs.
MOST_LATE = 3
_RUNS = "still running"


class Hangs:
    """What becomes of a run's programs that take longer than they may."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._late: list[str] = []
        self._index = -1

    @property
    def warnings(self) -> tuple[str, ...]:
        """A line for each program that was late once, and ended in time when it was run again."""
        return tuple(f"late once, in time when run again: {late}" for late in self._late)

    def look(self) -> None:
        """Note the step that runs now: what is interrupted closes its streams, which is another."""
        self._index = self._run.executor.index
        self._run.surroundings.patches.undo()

    def __call__(self, item: object, times: int) -> Next:
        """What comes after an item that took too long, as it has done so many times in a row."""
        run = self._run
        if run.phase == "concurrency":
            return self._ends_concurrency()
        program = item.program if isinstance(item, Vector) else item
        if times > 1:
            self._late.pop()
        elif len(self._late) < MOST_LATE:
            self._late.append(self._told(program))
            run.begin_again()
            return Next.AGAIN
        run.counts["hangs"] += 1
        if not isinstance(program, Program):
            raise TargetError(f"{run.binding.name}: hangs before a call is made")
        return self._counts(program)

    def _ends_concurrency(self) -> Next:
        run = self._run
        run.counts["hangs"] += 1
        notes = run.families[-1].notes if run.families else run.notes
        notes.append(f"{STOPPED}: a call hangs before or after the threads run")
        return Next.END

    def _counts(self, program: Program) -> Next:
        run, index, settings = self._run, self._index, self._run.settings
        if 0 <= index < len(program.steps) and program.steps[index].op == "change":
            raise TargetError(f"{run.binding.name}: hangs while a file is changed")
        shown = ended(program, index, f"ends within {settings.timeout:g} s", _RUNS, "hang")
        clause = clause_of(program, index, "fault.hang", settings.declared)
        run.mind_unselected(clause, shown)
        run.mind_example(clause, shown)
        run.report(run.findings.hang(clause, shown))
        return Next.GO_ON if run.counts["hangs"] < ending.MOST_HANGS else Next.END

    def _told(self, program: object) -> str:
        """What was late, in a line."""
        run = self._run
        over = f"over {run.settings.timeout:g} s"
        if not isinstance(program, Program):
            return f"{over} in phase {run.phase}"
        shown = ended(program, self._index, "", over, "late")
        assert shown.program is not None
        return f"{shown.how}, {over}, in {shown.program}"
