"""Run the suite on one binding: set up, go through the phases, sum up, clean up."""

from __future__ import annotations

import contextlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import lru_cache
from typing import TypeVar

from fscontract.contract import clock
from fscontract.contract.binding import Binding, TargetError
from fscontract.contract.distributed.partial_results import Partial, Recorder
from fscontract.contract.generate import boundaries
from fscontract.contract.models.acceptor import TABLES, Acceptor
from fscontract.contract.runner.context import RunContext, StopRun
from fscontract.contract.runner.counterexamples import ShrinkingCounterexamples
from fscontract.contract.runner.crashes import Blocked, Crash, Journal, LeftOut
from fscontract.contract.runner.events import (
    FeaturesObserved,
    Interrupted,
    Judged,
    Listener,
    RunFinished,
)
from fscontract.contract.runner.executor import Executor
from fscontract.contract.runner.observation import observe, unsupported
from fscontract.contract.runner.open_executor import Keys
from fscontract.contract.runner.phases import (
    Phase,
    absent_phases,
    check_phases,
    program_phases,
)
from fscontract.contract.runner.resource_checks import LeakWatch
from fscontract.contract.runner.result import INTERRUPTED, LEFT_OUT, RunResult
from fscontract.contract.runner.sandbox import Sandbox, disposed, sandboxed
from fscontract.contract.runner.settings import Settings
from fscontract.contract.runner.time_budget import PhaseTimes
from fscontract.contract.runner.timeout_policy import late_warnings
from fscontract.contract.runner.timeouts import collect_again
from fscontract.contract.runner.tracebacks import functions_in
from fscontract.contract.runner.verdicts import Evidence, sum_up
from fscontract.contract.text import plural

Outcome = TypeVar("Outcome", RunResult, Partial)


def check(
    binding: Binding,
    settings: Settings,
    listener: Listener = lambda event: None,
    journal: Journal | None = None,
) -> RunResult:
    """Check a binding. It is prepared first and disposed of in any case.

    Raise TargetError if the target can't be set up, or stops answering before it has shown a
    violation. `journal` is kept up to date.
    """
    sandbox = Sandbox()
    try:
        context = _context(binding, settings, listener, sandbox, journal or Journal())
        listener(settings.started(context.binding))
        result = _prepared(context, _result)
        listener(Judged(result))
        result = _disposed(context, result)
        listener(RunFinished(result))
        return result
    finally:
        collect_again()
        sandbox.close()


def gather(binding: Binding, settings: Settings) -> Partial:
    """Run the shard of the settings, and return its results. Raise TargetError as `check` does."""
    sandbox = Sandbox()
    try:
        context = _context(binding, settings, lambda event: None, sandbox, Journal())
        return _disposed(context, _prepared(context, _partial))
    finally:
        sandbox.close()


# Set up and clean up --------------------------------------------------------------------------


def _context(
    binding: Binding,
    settings: Settings,
    listener: Listener,
    sandbox: Sandbox,
    journal: Journal,
) -> RunContext:
    sheltered = sandboxed(binding, settings.timeout, sandbox.patches)
    sheltered.remote = settings.remote(sheltered)  # the profile's declarations apply to all phases
    profile, shard, buffer = settings.profile, settings.shard, settings.buffer(sheltered)
    keys = Keys(profile.own_keys, profile.unsupported_keys)
    left_out = LeftOut(settings.crashes)
    times = PhaseTimes(settings.budget, settings.timeout, lambda: sheltered.writing)
    times.hangs.left = min(times.hangs.left, settings.hangs)

    def executor(acceptor: Acceptor | None = None) -> Executor:
        features, step_index = profile.features, journal.step_index
        return Executor(sheltered, features, buffer, keys, step_index, left_out, acceptor)

    running = executor(None if shard is None else _acceptor(profile.features))
    counterexamples = ShrinkingCounterexamples(running, settings.selected, times)
    if shard is not None:
        counterexamples = Recorder(executor(), settings.selected, shard, times)
    return RunContext(
        settings=settings,
        binding=sheltered,
        listener=listener,
        sandbox=sandbox,
        journal=journal,
        executor=running,
        counterexamples=counterexamples,
        leaks=LeakWatch(sheltered.remote),
        times=times,
        left_out=left_out,
        operations=settings.operations(sheltered),
        buffer=buffer,
    )


@lru_cache(maxsize=1)
def _acceptor(features: frozenset[str]) -> Acceptor:
    """Return the acceptor that the shards which one process runs share, with its cache."""
    return Acceptor(features)


def _prepared(context: RunContext, run: Callable[[RunContext], Outcome]) -> Outcome:
    """Prepare the binding, and run; dispose of the binding if that fails."""
    try:
        context.binding.prepare(context.times.run.left)
        return run(context)
    except Blocked:  # it does not remove its files, either
        raise
    except BaseException:
        context.sandbox.restore()
        disposed(context.binding, context.times.run.left)  # the first error is the one to report
        raise


def _disposed(context: RunContext, outcome: Outcome) -> Outcome:
    """Dispose of the binding; return the outcome, with a warning if that fails."""
    warnings = outcome.warnings + disposed(context.binding, context.times.run.left)
    context.sandbox.restore()
    context.executor.release()
    if context.settings.shard is None:  # no other shard uses it
        context.executor.acceptor.release()
    return replace(outcome, warnings=warnings + context.sandbox.patches.warnings)


# The run --------------------------------------------------------------------------------------


def _result(context: RunContext) -> RunResult:
    """Run every phase and sum up."""
    begun = clock.now(), clock.monotonic()
    try:
        _run(context)
    except KeyboardInterrupt:
        context.sandbox.restore()
        with contextlib.suppress(RuntimeError):  # a running call may still be counting
            context.incomplete = INTERRUPTED
            context.listener(Interrupted(_sum_up(context, *begun, INTERRUPTED)))
        raise
    return _sum_up(context, *begun)


def _partial(context: RunContext) -> Partial:
    """Run the shard's part of every phase."""
    _run(context)
    executor, counterexamples, opener = (
        context.executor,
        context.counterexamples,
        context.binding.opener,
    )
    assert isinstance(counterexamples, Recorder)
    programs = {"programs": executor.programs, "operations": executor.operations}
    context.counts.pop("hangs", 0)  # each of them is also a record
    return Partial(
        counterexamples.records,
        executor.exercised + context.exercised,
        executor.unsaid,
        context.counts + Counter(programs),
        context.unanswered,
        context.families,
        frozenset() if opener is None else opener.scenes,
        context.leaks.growth,
        (*context.warnings, *late_warnings(context)),
        tuple(context.cut_short),
        dict(getattr(context.binding, "versions", {})),
        context.observed,
        context.learned or (),
    )


def _run(context: RunContext) -> None:
    try:
        _declare_observed(context)
        _leave_out_unsupported(context)
        _recall_crashes(context)
        _warn_of_unreachable_blocks(context)
        _run_phases(context)
    except StopRun:
        pass
    except TargetError as error:
        if not context.counterexamples.any:
            hint = _about_threads(context, [str(error)])
            if hint:
                raise TargetError(f"{error}; {hint}") from error
            raise
        if isinstance(error, Blocked) and context.journal.restarts:
            raise
        context.counts["errors"] += 1
        context.unanswered |= context.settings.selected
        context.ended = f"ended early: {error}"
        context.warnings.append(context.ended)
    context.sandbox.restore()
    failures = [f for found in context.counterexamples.failed.values() for f in found.values()]
    hint = _about_threads(context, [failure.actual for failure in failures])
    if hint:
        context.warnings.append(f"{context.binding.name}: {hint}")
    limits = (context.executor.refusal, context.executor.stream_limit)
    context.warnings += filter(None, limits)
    if context.last_lost:
        lost = plural(context.counts["errors"], "call")
        context.warnings.append(f"lost {lost} to the environment, the last by {context.last_lost}")


#: What messages of objects that belong to a thread say, such as those of sqlite3.
_OWN_THREAD = re.compile(r"\b(created in|same|another|different|wrong|main) thread\b|in a thread\b")


def _about_threads(context: RunContext, messages: Iterable[str]) -> str:
    """Return how to allow calls that fail because of their thread, "" if none says so."""
    if context.settings.profile.one_thread or not any(map(_OWN_THREAD.search, messages)):
        return ""
    return (
        "calls fail because of their thread: the target is made in one thread, and programs run "
        "in another; 'threads: one' in a profile makes all calls from the first"
    )


def _run_phases(context: RunContext) -> None:
    """Run all phases, up to the one at which the settings end the run.

    Programs for which a phase had no time are run in the time that the others leave.
    """
    unfinished: list[tuple[Phase, int]] = []
    until = context.settings.until
    context.times.leave_out(absent_phases(context))
    for phase in program_phases(context):
        context.begin_phase(phase.name, phase.total)
        if until == (phase.name, 0):
            return
        if not phase.run(context):
            unfinished.append((phase, context.done))
    broken = False
    for phase in check_phases(context):
        if phase.name == _THREADS:
            unfinished = _resumed(context, unfinished, (_THREADS,))
        found = _found(context)
        context.begin_phase(phase.name, phase.total)
        if until is not None and until[0] == phase.name:
            return
        if not phase.run(context):
            unfinished.append((phase, context.done))
        if phase.name == _THREADS:
            broken = context.threads_left or _found(context) != found
    waiting: list[tuple[Phase, int]] = []
    while unfinished != waiting and not broken:
        waiting, unfinished = unfinished, _resumed(context, unfinished)
    context.cut_short += [phase.share(done) for phase, done in unfinished]


#: The phase in which several threads use the target. One that fails there may fail in all programs
#: afterwards, for example because its connection is broken, so the others are resumed before it.
_THREADS = "concurrency"


def _resumed(
    context: RunContext, waiting: Sequence[tuple[Phase, int]], later: tuple[str, ...] = ()
) -> list[tuple[Phase, int]]:
    """Resume phases, and return those that still had no time; `later` phases keep their shares."""
    unfinished = []
    for number, (phase, done) in enumerate(waiting):
        context.begin_phase(phase.name, phase.total, done)
        context.times.resume([*(phase.name for phase, _ in waiting[number:]), *later])
        if not phase.run(context):
            unfinished.append((phase, context.done))
    return unfinished


def _found(context: RunContext) -> tuple[int, int]:
    """Return the numbers of hangs and of failed clauses so far."""
    return context.counts["hangs"], len(context.counterexamples.failed)


def _declare_observed(context: RunContext) -> None:
    """Observe the features that the profile leaves open, and expect from now on what was seen."""
    profile = context.settings.profile
    if not profile.observed:
        return
    context.observed = observe(context)
    context.listener(FeaturesObserved(context.observed))
    context.settings = context.settings.with_observed(context.observed)
    features, shard = context.settings.profile.features, context.settings.shard
    context.executor.judge_by(Acceptor(features) if shard is None else _acceptor(features))
    if context.counterexamples.executor is not context.executor:
        context.counterexamples.executor.judge_by(Acceptor(features))


def _leave_out_unsupported(context: RunContext) -> None:
    """Make no calls that the files of the target do not support, as Python's IOBase permits."""
    binding = context.binding
    reasons = unsupported(context)
    binding.operations -= reasons.keys()
    context.operations -= reasons.keys()
    binding.lacks = {**binding.lacks, **reasons}


def _warn_of_unreachable_blocks(context: RunContext) -> None:
    """Warn if programs can't reach block boundaries of files."""
    block, fixed, name = context.binding.block, context.binding.fixed_content, context.binding.name
    reason = boundaries.unreachable_blocks(block or 1, None if fixed is None else len(fixed))
    if block is not None and reason:
        blocks = f"files are read in blocks of {block} bytes, whose ends were not tried: {reason}"
        context.warnings.append(f"{name}: {blocks}")


def _recall_crashes(context: RunContext) -> None:
    """Take over the crashes of earlier processes of this run."""
    counterexamples = context.counterexamples
    for crash in context.settings.crashes:
        context.counts["hangs" if crash.hung else "crashes"] += 1
        keep = counterexamples.hang if crash.hung else counterexamples.crash
        context.report(keep(crash.clause, crash.counterexample))
        if crash.hung:
            context.hanging |= functions_in(crash.counterexample.traits)
        for clause in TABLES[crash.op].all_clauses if crash.program is not None else ():
            counterexamples.shadowed.setdefault(clause, crash.clause)
        if crash.clause not in context.settings.declared:
            context.incomplete = _unjudged(crash)


def _unjudged(crash: Crash) -> str:
    """Return the reason why the run can't conform: no verdict shows a crash."""
    counterexample = crash.counterexample
    interleaving = "; ".join(counterexample.interleaving)
    what = counterexample.program or interleaving or counterexample.how
    return (
        f"a process of the run ended in {what} ({counterexample.how}, {counterexample.actual}), "
        f"which breaks {crash.clause}, neither selected nor declared"
    )


def _sum_up(context: RunContext, start: datetime, begun: float, lost: str = "") -> RunResult:
    executor = context.executor
    evidence = Evidence(
        context.counterexamples,
        executor.exercised + context.exercised,
        frozenset(executor.unsaid),
        context.unanswered,
        "; ".join(context.notes),
        lost,
        out_of_time=bool(context.cut_short or context.counts[LEFT_OUT]),
        sources=context.sources(),
        stopped=context.stopped,
        ended=context.ended,
    )
    context.counts["programs"] = executor.programs
    context.counts["operations"] = executor.operations
    seconds, counts = clock.monotonic() - begun, dict(context.counts)
    result = sum_up(context.binding, context.settings, evidence, start, seconds, counts)
    return replace(
        result,
        warnings=(*context.warnings, *late_warnings(context)),
        incomplete=context.incomplete,
        observed=context.observed,
        cut_short=tuple(context.cut_short),
        boundaries=context.learned or (),
    )
