"""Apply time limits to a run: run a late program once more, then report a hang.

A machine under load, or a service that stalls, delays single calls. A call that hangs does so
again. Programs that make it in the same state are skipped then.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence, Set
from contextlib import suppress
from dataclasses import replace
from functools import partial
from threading import Thread
from typing import TypeVar

from fscontract.contract.binding import TargetError
from fscontract.contract.generate.vectors import Vector
from fscontract.contract.models.acceptor import TABLES
from fscontract.contract.models.openfile_stages import READ_OPERATIONS
from fscontract.contract.program.filesystem_calls import PROCESS_OPERATIONS
from fscontract.contract.program.program import OF_LINES, Program
from fscontract.contract.runner.context import LateCall, RunContext, StopRun
from fscontract.contract.runner.crashes import Blocked, Crash, clause_of, ended
from fscontract.contract.runner.resource_checks import STATUS
from fscontract.contract.runner.result import LEFT_OUT, STOPPED, Counterexample
from fscontract.contract.runner.timeouts import Next, keeps_running, supervise, work_here
from fscontract.contract.runner.tracebacks import ends_in, frames_of, functions_of, lines_of
from fscontract.contract.text import plural

Item = TypeVar("Item")
#: How a call ended that hangs.
HANG = "hang"
#: Number of programs of a run that may be late without hanging; later ones hang immediately.
MAX_LATE = 3
#: The methods of Python's files that read lines.
_LINE_METHODS = frozenset({"readline", "readlines", "__next__", "__iter__"})
_LONG_LINES = (
    "no lines were read from files of {:,} bytes or more: a request for each byte takes too long"
)
#: The seconds that a write may take after the end of the run, if the target is known to hang.
_AT_END = 1.0
#: The seconds at least in which a program ends that did so before.
_SOON = 1.0
#: How many times longer a program may take whose calls start a process, which imports a library.
_OF_PROCESS = 3


def run_items(
    context: RunContext,
    items: Iterator[Item],
    work: Callable[[Item], None],
    patience: float | None = None,
) -> None:
    """Call `work` on every item; each call of it may take as long as the run allows.

    `patience` is the limit instead, in seconds up to the run's end, where calls are not told apart.
    """
    executor, journal, binding = context.executor, context.journal, context.binding
    factor, again = [1], [False]  # of the item, found before a call may patch what that needs
    is_remote = binding.remote  # a client waits for any request in the same function

    def limit(thread: Thread | None = None) -> float:
        if patience is None:
            seconds = _seconds(context, thread, is_remote, again[0])
        else:
            seconds = 0.0 if context.times.run.is_over else patience
        journal.limit = factor[0] * seconds
        return journal.limit

    def sheltered(item: Item) -> None:
        """Repeat an item that fails because the target has patched what the suite needs."""
        try:
            factor[0] = _OF_PROCESS if _starts_process(_program_of(item)) else 1
            again[0] = context.late_call is not None and context.late_call.item is item
            context.given = item
            work(item)
        except (TargetError, StopRun):
            raise
        except Exception:
            if not context.sandbox.patches.undo():
                raise
            context.repeat()
            work(item)

    limit()
    journal.beats += 1  # from now on, since the first call may hold the interpreter

    def mark() -> tuple[object, ...]:
        return executor.programs, executor.opened, executor.index, binding.busy_with

    try:
        if context.settings.profile.one_thread:
            work_here(items, sheltered, limit, context.tick, journal.begin, mark)
            return
        supervise(
            items,
            sheltered,
            limit,
            partial(_after_timeout, context),
            context.tick,
            journal.begin,
            partial(_before_interrupt, context),
            mark,
        )
    finally:
        journal.beats = 0
        journal.begin(None)  # what hangs from now on is none of the items


def _seconds(context: RunContext, thread: Thread | None, is_remote: bool, again: bool) -> float:
    """Return how many seconds the current call may take, or what the binding does for the suite."""
    timeout = context.settings.timeout
    if context.binding.busy_with:
        is_late = context.counts["hangs"] and context.times.run.is_over
        return min(timeout, _AT_END) if is_late else timeout
    here = not is_remote and _runs_in(context.hanging, thread)
    stalls = _may_stall(context, is_remote, again)
    return context.times.hangs.limit(context.executor.length, again, here, stalls)


def _may_stall(context: RunContext, is_remote: bool, again: bool) -> bool:
    """Return whether a call may be late without a hang, as one was, which ended when made `again`.

    A server may stall, or a client wait before it asks again. Without len(), which a target may
    have patched.
    """
    return (is_remote and again) or context.late[again:] != []


def _runs_in(functions: Set[str], thread: Thread | None) -> bool:
    """Return whether a thread is in one of these functions, the innermost of the target."""
    if not functions or thread is None:
        return False
    return ends_in(functions, functions_of(frames_of(thread)))


def _program_of(item: object) -> object:
    return item.program if isinstance(item, Vector) else item


def _starts_process(program: object) -> bool:
    return isinstance(program, Program) and any(s.op in PROCESS_OPERATIONS for s in program.steps)


def run_check(
    context: RunContext, check: Callable[[], None], patience: float | None = None
) -> None:
    """Run a check that starts its programs itself, under the same watchdog."""
    run_items(context, iter([context.phase]), lambda _: check(), patience)


def late_warnings(context: RunContext) -> tuple[str, ...]:
    """Return a line for each program that was late once, and in time when it was run again.

    Another one counts those for which the store was busy, or their connection failed.
    """
    count = context.executor.answered_again
    text = f"{plural(count, 'program')} failed with connection errors, and not when run again"
    lines = [f"{context.binding.name}: {text}"] * (count > 0)
    if math.isfinite(context.left_out.lines_below):
        lines.append(_LONG_LINES.format(math.ceil(context.left_out.lines_below)))
    return (*map(late_warning, context.late), *lines)


def late_warning(what: str) -> str:
    """Return the line for something that was late once."""
    return f"late once, in time when run again: {what}"


def _before_interrupt(context: RunContext, thread: Thread) -> None:
    """Note the step that runs now: an interrupted program closes its streams, another step."""
    context.interrupted_step = context.executor.index
    context.interrupted_in = context.binding.busy_with
    context.interrupted_thread = thread
    context.interrupted_frames = frames_of(thread)
    context.executor.keep_open()
    context.sandbox.patches.undo()


def _after_timeout(context: RunContext, item: object, times: int) -> Next:
    """Return what follows an item that exceeded the limit this many times in a row."""
    if context.phase == "concurrency":
        return _end_concurrency(context)
    limit, hangs = context.journal.limit, context.times.hangs
    hangs.spend(limit)
    program = _late_again(context, _program_of(item))
    call = LateCall(context.given, program, context.interrupted_step, context.interrupted_frames)
    if isinstance(program, Program) and _reads_by_byte(context, program):
        context.left_out.add_lines(hangs.bytes_in_time)
        context.repeat()
        return Next.AGAIN
    if isinstance(program, Program) and _is_consequence(context, program):
        return _without(context, program)
    if context.late_call is not None and context.late_call[:3] == call[:3]:
        context.late.pop()
    elif _leaves_out(context, program):
        context.repeat()
        return Next.AGAIN
    elif context.counts["hangs"] and context.times.run.is_over:
        return Next.END  # there is no time to run it again, and other calls are known to hang
    elif len(context.late) < MAX_LATE:
        context.late.append(_describe_late(context, program, limit))
        context.late_call = call
        context.repeat()
        return Next.AGAIN
    context.late_call = None
    context.counts["hangs"] += 1
    if not isinstance(program, Program):
        if context.phase == "status" and not context.interrupted_in:
            return _end_status(context, limit)
        raise _ended(context, "hangs before a call is made")
    if context.left_out.covers(program, context.interrupted_step):
        return Next.END if hangs.is_spent else Next.GO_ON  # it hangs in something else
    _report_hang(context, program, limit)
    context.repeat()
    return Next.AGAIN


def _late_again(context: RunContext, program: object) -> object:
    """Return the program that is late, or that was, if it keeps this one from its end.

    A call that hangs may block others, such as those that wait for the same lock or event loop, so
    that an earlier step hangs when the item runs again, or an earlier program.
    """
    late, step = context.late_call, context.interrupted_step
    if late is None or late.item is not context.given or not isinstance(program, Program):
        return program
    is_earlier = late.program == program and step < late.step
    is_other = late.program != program and _is_blocked(context, _op_of(program, step))
    if is_earlier or is_other:
        context.interrupted_step, context.interrupted_frames = late.step, late.frames
        context.interrupted_in = ""
        return late.program
    return program


def _reads_by_byte(context: RunContext, program: Program) -> bool:
    """Return whether a call is late as one that reads lines by a request for each byte.

    So do raw streams, whose methods for lines are Python's and call those of the target.
    """
    op = _op_of(program, context.interrupted_step)
    if op not in OF_LINES or program.length < context.times.hangs.bytes_in_time:
        return False
    called = functions_of(context.interrupted_frames)[:1]
    return any(function.partition(" of ")[0] not in _LINE_METHODS for function in called)


def _op_of(program: Program, index: int) -> str:
    """Return the operation of a step of a program; before and after them it opens and closes."""
    if index < 0:
        return "open"
    return program.steps[index].op if index < len(program.steps) else "close"


def _leaves_out(context: RunContext, program: object) -> bool:
    """Leave out the operation of a late call if the time for hangs is spent.

    These are in a function in which others hang, so it is not judged: it may be slow.
    """
    index, left_out = context.interrupted_step, context.left_out
    if not context.times.hangs.is_spent or not isinstance(program, Program):
        return False
    called = functions_of(context.interrupted_frames)
    if not ends_in(context.hanging, called) or context.interrupted_in:
        return False
    if left_out.covers(program, index):
        return False
    left_out.add(program, index, everywhere=True)
    context.counts[LEFT_OUT] += 1
    return True


def _end_status(context: RunContext, limit: float) -> Next:
    """Keep the hang of a status, and end its check."""
    expected = (f"a status within {limit:.3g} s",)
    traceback = lines_of(context.interrupted_frames)
    counterexample = Counterexample(
        None, expected, "still running", how=f"status: {HANG}", traceback=traceback
    )
    context.report(context.counterexamples.hang(STATUS, counterexample))
    return Next.END


def _end_concurrency(context: RunContext) -> Next:
    """End the check of threads: its time is over, or a call hangs outside of them."""
    context.threads_left = True
    if context.times.phase.is_over or context.times.run.is_over:
        context.leaks.restart()  # the threads that are left behind end when they can
        return Next.END
    context.counts["hangs"] += 1
    notes = context.families[-1].notes if context.families else context.notes
    notes.append(f"{STOPPED}: a call hangs before or after the threads run")
    return Next.END


def _report_hang(context: RunContext, program: Program, limit: float) -> None:
    """Keep the hang, and leave out what makes the same call in the same state."""
    index, settings = context.interrupted_step, context.settings
    if context.interrupted_in:
        raise _ended(context, f"{context.interrupted_in}: it hangs")
    is_call = 0 <= index < len(program.steps)
    state = context.executor.state_before(program, index) if is_call else None
    context.left_out.add(program, index, context.times.hangs.is_spent, state)
    counterexample = ended(program, index, f"ends within {limit:.3g} s", "still running", HANG)
    op, frames = counterexample.how.partition(":")[0], context.interrupted_frames
    functions = functions_of(frames)
    is_first = context.hanging.isdisjoint(functions)  # only it is tried again in a new process
    context.hanging.update(functions)
    counterexample = replace(
        counterexample,
        traceback=lines_of(frames),
        traits=(f"{op} {HANG}", *functions, *_of_reads(op, functions)),
        history=tuple(context.counterexamples.recent) if is_first else (),
    )
    # as features that are not observed yet, or whose observation hangs, will have their defaults
    declared = settings.with_observed(context.observed).declared
    clause = clause_of(program, index, "fault.hang", declared)
    context.warn_unselected(clause, counterexample, declared)
    context.mark_example(clause, counterexample)
    for other in TABLES[op].all_clauses:
        context.counterexamples.shadowed.setdefault(other, clause)
    context.hangs.append(Crash(clause, counterexample, hung=True))
    context.report(context.counterexamples.hang(clause, counterexample))
    if context.journal.restarts and (
        keeps_running(context.interrupted_thread) or _is_blocked(context, op)
    ):
        raise _ended(context, f"calls hang after {counterexample.program}")


def _ended(context: RunContext, why: str) -> TargetError:
    """Return the error that ends the run, which another process may continue without the calls."""
    text, known = f"{context.binding.name}: {why}", context.settings.crashes
    hangs = (*(crash for crash in known if crash.hung), *context.hangs)
    return Blocked(text, hangs, context.times.hangs.left) if context.hangs else TargetError(text)


def _is_consequence(context: RunContext, program: Program) -> bool:
    """Return whether a program hangs because calls of others have hung."""
    index = context.interrupted_step
    if not context.hangs or context.interrupted_in or context.left_out.covers(program, index):
        return False
    return _is_blocked(context, _op_of(program, index))


def _without(context: RunContext, program: Program) -> Next:
    """Continue without an operation of which all calls hang now, if not in another process."""
    if context.journal.restarts:
        raise _ended(context, f"calls hang after {context.hangs[-1].program}")
    context.left_out.add(program, context.interrupted_step, everywhere=True)
    context.counts[LEFT_OUT] += 1
    context.repeat()
    return Next.AGAIN


def _is_blocked(context: RunContext, op: str) -> bool:
    """Return whether a program hangs in which a call of `op` ended before others hung."""
    completed = context.completed
    known = [p for called, p in completed.items() if called == op or op in ("open", "close")]
    before = next((p for p in known if p not in context.left_out), None)
    if before is None:
        return False
    hung: list[Program] = []

    def on_hang(program: Program, times: int) -> Next:
        hung.append(program)
        return Next.END

    def run(program: Program) -> None:
        with suppress(Exception):  # it may fail: only its end matters
            context.executor.run(program)

    limit = max(_SOON, context.times.hangs.limit(where_others_hang=True))
    supervise(iter([before]), run, limit, on_hang, context.tick)
    context.times.hangs.spend(limit * len(hung))
    return bool(hung)


def _of_reads(op: str, functions: Sequence[str]) -> tuple[str, ...]:
    """Return the trait of reads that hang in no known function of the target."""
    return () if functions or op not in READ_OPERATIONS else (f"read: {HANG}",)


def _describe_late(context: RunContext, program: object, limit: float) -> str:
    """Return what was late, in one line."""
    over = f"over {limit:.3g} s"
    if not isinstance(program, Program):
        return f"{over} in phase {context.phase}"
    late = ended(program, context.interrupted_step, "", over, "late")
    assert late.program is not None
    return f"{late.how}, {over}, in {late.program}"
