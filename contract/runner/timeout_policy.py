"""Apply time limits to a run: run a late program once more, then report a hang.

A machine under load, or a service that stalls, delays single calls. A call that hangs does so
again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TypeVar

from fscontract.contract.binding import TargetError
from fscontract.contract.generate.vectors import Vector
from fscontract.contract.program.program import Program
from fscontract.contract.runner import crashes
from fscontract.contract.runner.context import RunContext, StopRun
from fscontract.contract.runner.crashes import clause_of, ended
from fscontract.contract.runner.result import STOPPED
from fscontract.contract.runner.timeouts import Next, supervise

Item = TypeVar("Item")
#: Number of programs of a run that may be late without hanging; later ones hang immediately.
MAX_LATE = 3


def run_items(
    context: RunContext,
    items: Iterator[Item],
    work: Callable[[Item], None],
    patience: float | None = None,
) -> None:
    """Call `work` on every item under the time limit, or `patience` in seconds."""

    def sheltered(item: Item) -> None:
        """Repeat an item that fails because the target has patched what the suite needs."""
        try:
            work(item)
        except (TargetError, StopRun):
            raise
        except Exception:
            if not context.sandbox.patches.undo():
                raise
            context.repeat()
            work(item)

    supervise(
        items,
        sheltered,
        context.settings.timeout if patience is None else patience,
        partial(_after_timeout, context),
        context.tick,
        context.journal.begin,
        partial(_before_interrupt, context),
    )


def run_check(
    context: RunContext, check: Callable[[], None], patience: float | None = None
) -> None:
    """Run a check that starts its programs itself, under the same watchdog."""
    run_items(context, iter([context.phase]), lambda _: check(), patience)


def late_warnings(context: RunContext) -> tuple[str, ...]:
    """Return a line for each program that was late once, and in time when it was run again."""
    return tuple(f"late once, in time when run again: {late}" for late in context.late)


def _before_interrupt(context: RunContext) -> None:
    """Note the step that runs now: an interrupted program closes its streams, another step."""
    context.interrupted_step = context.executor.index
    context.sandbox.patches.undo()


def _after_timeout(context: RunContext, item: object, times: int) -> Next:
    """Return what follows an item that exceeded the limit this many times in a row."""
    if context.phase == "concurrency":
        return _end_concurrency(context)
    program = item.program if isinstance(item, Vector) else item
    if times > 1:
        context.late.pop()
    elif len(context.late) < MAX_LATE:
        context.late.append(_describe_late(context, program))
        context.repeat()
        return Next.AGAIN
    context.counts["hangs"] += 1
    if not isinstance(program, Program):
        raise TargetError(f"{context.binding.name}: hangs before a call is made")
    return _report_hang(context, program)


def _end_concurrency(context: RunContext) -> Next:
    context.counts["hangs"] += 1
    notes = context.families[-1].notes if context.families else context.notes
    notes.append(f"{STOPPED}: a call hangs before or after the threads run")
    return Next.END


def _report_hang(context: RunContext, program: Program) -> Next:
    index, settings = context.interrupted_step, context.settings
    if 0 <= index < len(program.steps) and program.steps[index].op == "change":
        raise TargetError(f"{context.binding.name}: hangs while a file is changed")
    limit = f"ends within {settings.timeout:g} s"
    counterexample = ended(program, index, limit, "still running", "hang")
    clause = clause_of(program, index, "fault.hang", settings.declared)
    context.warn_unselected(clause, counterexample)
    context.mark_example(clause, counterexample)
    context.report(context.counterexamples.hang(clause, counterexample))
    return Next.GO_ON if context.counts["hangs"] < crashes.MOST_HANGS else Next.END


def _describe_late(context: RunContext, program: object) -> str:
    """Return what was late, in one line."""
    over = f"over {context.settings.timeout:g} s"
    if not isinstance(program, Program):
        return f"{over} in phase {context.phase}"
    late = ended(program, context.interrupted_step, "", over, "late")
    assert late.program is not None
    return f"{late.how}, {over}, in {late.program}"
