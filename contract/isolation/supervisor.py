"""The parent process: runs a target in child processes, and starts another one after a crash."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import date, datetime, timezone
from functools import partial
from itertools import chain, pairwise, repeat
from pathlib import Path
from typing import Any, TypeAlias

from fscontract.contract import clock
from fscontract.contract.binding import TargetError
from fscontract.contract.concurrency.schedule import Schedule
from fscontract.contract.concurrency.verdict import VECTORED
from fscontract.contract.isolation import protocol
from fscontract.contract.isolation.earlier_programs import Programs, needed_before
from fscontract.contract.isolation.journal import SharedJournal, shared_file
from fscontract.contract.isolation.process import (
    CLEARING,
    LONGEST_CLEARING,
    Process,
    Quiet,
    describe_exit,
    process_of,
)
from fscontract.contract.models.serializability import POSITIONED
from fscontract.contract.program.program import Program
from fscontract.contract.runner.crashes import (
    Crash,
    CurrentScenario,
    clause_of,
    ended,
    smaller,
)
from fscontract.contract.runner.events import (
    Event,
    Interrupted,
    Judged,
    Listener,
    PhaseStarted,
    RunFinished,
    RunStarted,
    ViolationFound,
)
from fscontract.contract.runner.internal_errors import Fault, InternalError
from fscontract.contract.runner.replay_files import add_conditions
from fscontract.contract.runner.resource_checks import STATUS
from fscontract.contract.runner.result import (
    INTERRUPTED,
    OUT_OF_TIME,
    VIOLATED,
    ClauseResult,
    Counterexample,
    RunResult,
    Verdict,
)
from fscontract.contract.runner.run_options import RunOptions, budget_of, selected, set_up_limit
from fscontract.contract.runner.time_budget import TimeBudget
from fscontract.contract.runner.timeout_policy import MAX_LATE, late_warning
from fscontract.contract.runner.timeouts import held_back
from fscontract.contract.runner.verdicts import Seen, outcome_of
from fscontract.contract.spec.clauses import STREAM, Clause
from fscontract.contract.spec.known_failures import Known, entries_of
from fscontract.contract.targets import UsageError
from fscontract.contract.text import mask_url
from fscontract.contract.untrusted import UntrustedError

#: Number of crashed processes after which no further program is run.
_MOST_CRASHES = 5
#: Number of processes that try whether a smaller program also crashes.
_MOST_ROUNDS = 4
#: Limit of silence in seconds: longer than any limit of the watchdog in the process.
_QUIET_PROGRAMS, _QUIET = 7, 30.0
#: The maximum seconds of silence after the end of the budget, in which files are removed, and the
#: part of the budget before: a target that hangs outside of calls, such as in a set-up, keeps its
#: process from seeing the end.
_GRACE, _LATE_PART = 20.0, 0.1
#: The maximum of set-up's part of the budget: with slow set-up, a run may end that much later.
_SET_UP_PART = 0.25
#: How many seconds a process whose time is over may take to return its result so far.
_LAST_WORDS = 5.0
#: How many seconds longer than the limit of a call the watchdog in it may take for one look.
_PULSE = 1.0
#: The maximum of failures of a clause that are tried in any case, and of seconds for all.
_MAX_TRIED, _TRYING = 3, 30.0
#: The runs of the program of a failure, the seconds that more than one of all may take, and the
#: runs of one that passed, which show whether the failure comes and goes.
_REPEATS, _REPEATING, _RUNS = 3, 3.0, 10
#: The answer for a program that could not be judged.
_NO_VERDICT = "no verdict"
_PROMISE = "returns or raises"
#: The outcomes of clauses that failed.
_FAILED = VIOLATED | {Verdict.KNOWN, Verdict.INHERITED}
_RUN_ONLY = "its program did not fail again in a new process"
_NO_TIME = "its program did not fail alone, and no time was left to find what it needs"
_NOT_HEARD = "the target closed descriptors of the suite"
#: A failure that may need earlier programs.
_Suspect: TypeAlias = tuple[ClauseResult, Counterexample]
#: Failures with the programs that they need, by clause and signature.
_Changed: TypeAlias = dict[tuple[str, str], Counterexample]


class _Pulse:
    """Tells whether a call keeps even the watchdog of its process from running."""

    def __init__(self, journal: SharedJournal) -> None:
        self._journal = journal
        self._beats = 0
        self._since = clock.monotonic()

    def is_lost(self) -> bool:
        """Return whether the watchdog was last seen longer ago than a call may take."""
        beats, now = self._journal.beats, clock.monotonic()
        if beats != self._beats or not beats:
            self._beats, self._since = beats, now
        return now - self._since > self._journal.limit + _PULSE


class Isolated:
    """A target that is checked in child processes.

    The first process starts immediately, by a fork if `forks`: the target is made in `set_up`.
    """

    def __init__(
        self, target: str, run: RunOptions, known: tuple[Known, ...], forks: bool = False
    ) -> None:
        self.name = mask_url(target)
        #: The APIs of its clauses.
        self.apis: frozenset[str] = frozenset({STREAM})
        self._request = {"target": target, "known": protocol.to_json(known)}
        self._known = known
        self._select = partial(selected, run, anything=True)
        self._forks = forks
        self._declared: frozenset[str] = frozenset()
        #: How each program of a process that judges programs failed.
        self._failed: list[list[str]] = []
        #: The scripts of a process that writes them, each with the reason if it is empty.
        self._scripts: list[tuple[str, str]] = []
        self._quiet: float | None = _QUIET_PROGRAMS * run.timeout + _QUIET
        self._patience = set_up_limit(run.timeout)
        self._run_options = run
        self._late = 0
        #: The time of the run; None before it begins.
        self._time: TimeBudget | None = None
        self._memory = shared_file()
        self._journal = SharedJournal(self._memory)
        self._crashes: list[Crash] = []
        #: The calls that hang of a process whose target they block; none if they do not.
        self._blocked_by: tuple[Crash, ...] = ()
        #: The seconds that calls may still hang after those of such processes.
        self._hangs = math.inf
        self._until: tuple[str, int] | None = None
        self._prefixes: list[str] = []
        self._warnings: list[str] = []
        self._observed: dict[str, bool] = {}
        self._phase = ""
        self._reported: set[str] = set()
        self._started: RunStarted | None = None
        self._judged: RunResult | None = None
        #: The reported violations by clause and signature.
        self._violations: dict[str, dict[str, Counterexample]] = {}
        #: The clauses that held in processes of the run.
        self._held: set[str] = set()
        self._is_set_up, self._setting_up = False, 0.0
        self._process: Process
        self._begin()

    def set_up(self) -> None:
        """Wait until the target is made. Raise UsageError, or TargetError if that fails."""
        if not self._is_set_up:
            begun = clock.monotonic()
            self._await()
            self._is_set_up, self._setting_up = True, clock.monotonic() - begun

    def check(self, listener: Listener) -> RunResult:
        """Return the result of the run; raise TargetError if there is none."""
        self.set_up()
        try:
            result = self._with_earlier_processes(self._result(listener))
            result = self._with_earlier_programs(result)
            self._clear_away()
        except KeyboardInterrupt:
            self._interrupt(listener)
            raise
        finally:
            self._process.end()
        seconds = max(result.seconds, 0.0 if self._time is None else self._time.spent)
        warnings = (*result.warnings, *self._warnings)
        result = replace(result, seconds=seconds, warnings=warnings)
        listener(RunFinished(result))
        return result

    def close(self) -> None:
        """End the process, and release its memory."""
        self._process.end()
        os.close(self._memory)

    # Processes ------------------------------------------------------------------------------

    def _begin(
        self,
        do: str = "run",
        programs: Iterable[Program] = (),
        failures: Sequence[tuple[str, Counterexample]] = (),
    ) -> None:
        """Start a process for a task.

        The task is a "run", a "try" of the programs, to "judge" them, to "write" the scripts of
        the failures, or "nothing" except the removal of prefixes.
        """
        self._journal.clear()
        request = {
            **self._request,
            "run": protocol.to_json(self._options()),
            "crashes": protocol.to_json(self._crashes),
            "hangs": self._hangs,
            "until": self._until,
            "discard": self._prefixes,
            "do": do,
            "observed": self._observed,
            "programs": [program.to_json() for program in programs],
            "failures": protocol.to_json(failures),
        }
        with held_back():  # a process that is not stored could never be ended
            self._process = process_of(self._memory, request, self._forks)
            self._process.is_stuck = _Pulse(self._journal).is_lost

    def _options(self) -> RunOptions:
        """Return the options of the run with the time that is left of its budget."""
        run = self._run_options
        return replace(run, budget=budget_of(run) if self._time is None else self._time.left)

    def _await(self) -> None:
        """Wait until the process has made the target. Raise UsageError, TargetError."""
        process = self._process
        try:
            process.quiet = self._patience
            for answer in process.answers():
                if "ready" in answer:
                    self.name, self.apis = answer["ready"], frozenset(answer["apis"])
                    if not answer["watched"]:
                        self._quiet = None
                    return
                self._fail(answer)
        except KeyboardInterrupt:
            for _ in process.interrupt():
                pass
            process.end()
            raise
        except Quiet:
            process.end(0)
            raise TargetError(
                f"{self.name}: set-up did not finish within {self._patience:g} s"
            ) from None
        except BaseException:
            process.end()
            raise
        raise TargetError(f"{self.name}: {self._how(process.end())} during set-up")

    def _start(
        self,
        do: str = "run",
        programs: Iterable[Program] = (),
        failures: Sequence[tuple[str, Counterexample]] = (),
    ) -> None:
        """Start a process, and wait until it has made the target. Raise UsageError, TargetError."""
        self._begin(do, programs, failures)
        self._await()

    def _result(self, listener: Listener) -> RunResult:
        """Return the result; if the run ends early, the violations that were reported.

        Raise TargetError if none was.
        """
        try:
            return self._run(listener)
        except TargetError as error:
            if self._started is None or not self._violations:
                raise
            self._process.end()
            return self._partial_result(self._started, str(error))

    def _run(self, listener: Listener) -> RunResult:
        if self._time is None:
            seconds = budget_of(self._run_options)
            self._time = TimeBudget(seconds - min(self._setting_up, seconds * _SET_UP_PART))
        while True:
            result, ended, hung = None, False, False
            self._go()
            try:
                self._process.quiet = self._silence()
                for answer in self._process.answers():
                    ended = "ended" in answer
                    if ended:
                        break
                    result = self._handle_answer(answer, listener) or result
                    self._process.quiet = self._silence()
            except Quiet:
                hung = True
            if self._blocked_by:
                self._go_on_without()
                continue
            last_words = self._last_words() if hung and self._time.is_over else None
            if last_words is not None:
                return last_words
            how = self._process.end(0) if hung else self._process.end()
            if hung:
                how = "it stopped responding"
            if result is not None and hung:
                left = f"{self.name}: {how} while its files were removed"
                return replace(result, warnings=(*result.warnings, left))
            if result is not None:
                if not ended or how:
                    why = f"{self.name}: {self._how(how)} after the last program"
                    result = replace(result, incomplete=result.incomplete or why)
                return result
            self._go_on_after(self._how(how), hung)

    def _go(self) -> None:
        """Let the process, which has made the target, do its task in the time that is left."""
        self._process.say(str(self._options().budget))

    def _last_words(self) -> RunResult | None:
        """Return the result so far of a process that is late, which is asked for it by a signal."""
        result = None
        for answer in self._process.interrupt(_LAST_WORDS, until_end=True):
            if answer.get("event") == Interrupted.__name__:
                event = protocol.event_from_json(answer)
                assert isinstance(event, Interrupted)
                why = f"it stopped responding in phase {self._phase}"
                result = replace(event.result, incomplete=why)
            elif "interrupted" in answer and self._prefixes:
                self._prefixes.pop()  # the process has removed its own files
        self._process.end(0)
        return result

    def _silence(self) -> float | None:
        """Return how many seconds the process may be silent from now on."""
        if self._quiet is None or self._time is None:
            return self._quiet
        grace = _GRACE
        if self._judged is None:  # it is not removing files yet
            grace = min(_GRACE, max(_LAST_WORDS, self._time.seconds * _LATE_PART))
        return min(self._quiet, self._time.left + grace)

    def _how(self, how: str) -> str:
        """Describe the end of a process that ended without a message."""
        return _NOT_HEARD if self._journal.unheard else how or describe_exit(0)

    def _interrupt(self, listener: Listener) -> None:
        """Let the process remove its files, and return its partial result."""
        reported = False
        patience = LONGEST_CLEARING if self._quiet is None else CLEARING
        for answer in self._process.interrupt(patience):
            if answer.get("event") == Interrupted.__name__:
                listener(protocol.event_from_json(answer))
                reported = True
            elif "event" in answer:
                self._forward_event(protocol.event_from_json(answer), listener)
            elif "interrupted" in answer and self._prefixes:
                self._prefixes.pop()  # the process has removed its own files
        self._process.end()
        if not reported and self._started is not None:
            listener(Interrupted(self._partial_result(self._started, INTERRUPTED)))
        with held_back():
            self._clear_away()

    def _partial_result(self, started: RunStarted, why: str) -> RunResult:
        """Return the reported results of a run whose process can't sum it up any more."""
        if self._judged is not None:
            return replace(self._judged, incomplete=why)
        chosen = [c for c in self._select() if c.checks and c.api in self.apis]
        return RunResult(
            target=started.target,
            binding=started.binding,
            profile=started.profile,
            effort=started.effort,
            seed=started.seed,
            started=datetime.now(timezone.utc),
            seconds=0.0,
            clauses=tuple(
                self._verdict(clause, started.target, self._violations_of(clause), 0, why)
                for clause in chosen
            ),
            incomplete=why,
        )

    def _violations_of(self, clause: Clause) -> list[Counterexample]:
        """Return the violations of a clause that processes of the run reported."""
        return list(self._violations.get(clause.id, {}).values())

    def _with_earlier_processes(self, result: RunResult) -> RunResult:
        """Return the result with what crashed processes showed, if the last one had no time to."""
        if not (self._crashes and result.cut_short):
            return result
        target = result.target
        return replace(result, clauses=tuple(self._completed(c, target) for c in result.clauses))

    def _completed(self, judged: ClauseResult, target: str) -> ClauseResult:
        """Return the outcome of a clause with what crashed processes showed of it."""
        clause, failures = judged.clause, judged.counterexamples
        signatures = {failure.signature for failure in failures}
        new = [f for f in self._violations_of(clause) if f.signature not in signatures]
        if new and judged.outcome in _FAILED | {Verdict.UNEXERCISED}:
            return self._verdict(clause, target, (*failures, *new), judged.exercised)
        is_out_of_time = (judged.outcome, judged.reason) == (Verdict.UNEXERCISED, OUT_OF_TIME)
        if is_out_of_time and clause.id in self._held:
            return self._verdict(clause, target, (), 1)
        return judged

    def _verdict(
        self,
        clause: Clause,
        target: str,
        failures: Sequence[Counterexample],
        exercised: int,
        lost: str = "",
    ) -> ClauseResult:
        """Return the outcome of a clause by the failures that were reported."""
        ways: dict[str, list[Counterexample]] = {"crash": [], "hang": [], "": []}
        for failure in failures:
            way = failure.how.rpartition(": ")[2]
            ways[way if way in ways else ""].append(failure)
        seen = Seen(
            exercised=max(exercised, len(failures)),
            crashed=tuple(ways["crash"]),
            hung=tuple(ways["hang"]),
            failed=tuple(ways[""]),
            lost=lost,
        )
        listed = entries_of(self._known, target)
        return outcome_of(clause, seen, listed, date.today(), ended_early=True)

    def _handle_answer(self, answer: dict[str, Any], listener: Listener) -> RunResult | None:
        """Handle a message; return the result if it is one."""
        if "event" in answer:
            return self._forward_event(protocol.event_from_json(answer), listener)
        if "blocked" in answer:
            self._blocked_by = protocol.from_json(tuple[Crash, ...], answer["blocked"])
            self._hangs = answer["left"]
            return None
        if "declared" in answer:
            self._declared = frozenset(answer["declared"])
            return None
        if "prefix" in answer and answer["prefix"] is not None:
            self._prefixes.append(answer["prefix"])
        elif "discarded" in answer:
            self._prefixes.remove(answer["discarded"])
        elif "failed" in answer:
            self._failed.append(answer["failed"] if answer["judged"] else [_NO_VERDICT])
        elif "script" in answer:
            self._scripts.append((answer["script"], answer["no_script"]))
        elif "warning" in answer:
            self._warnings.append(answer["warning"])
        else:
            self._fail(answer)
        return None

    def _forward_event(self, event: Event, listener: Listener) -> RunResult | None:
        """Forward an event, unless an earlier process has sent the same."""
        if isinstance(event, Judged | RunFinished):
            if isinstance(event, RunFinished) and self._prefixes:
                self._prefixes.pop()  # the process has removed its own files
            self._judged = event.result
            return event.result
        text = ""
        if isinstance(event, PhaseStarted):
            self._phase = text = event.phase
            self._held |= event.holding
        elif isinstance(event, ViolationFound):
            text = f"violation {event.clause}"
            failures = self._violations.setdefault(event.clause, {})
            failures[event.counterexample.signature] = event.counterexample
        elif isinstance(event, RunStarted):
            text, self._started = "run", event
        if not text or text not in self._reported:
            listener(event)
        self._reported.add(text)
        return None

    def _listen_to_end(self, quiet: float | None) -> str:
        """Let a process without a run finish; return its failure, "" if it ended normally.

        It may be silent for `quiet` seconds.
        """
        self._go()
        self._process.quiet = quiet
        for answer in self._process.answers():
            if "ended" in answer:
                return self._process.end()
            self._handle_answer(answer, _ignore_event)
        return self._how(self._process.end())

    def _fail(self, answer: dict[str, Any]) -> None:
        if "usage" in answer:
            raise UsageError(answer["usage"])
        if "target" in answer:
            raise TargetError(answer["target"])
        if "interrupted" in answer:
            raise KeyboardInterrupt
        if "fault" in answer:
            raise InternalError(Fault(answer["fault"], answer["trace"]))

    def _clear_away(self) -> None:
        """Remove the files of processes that did not complete."""
        if not self._prefixes:
            return
        try:
            self._start("nothing")
            is_late = self._time is not None and self._time.is_over
            patience = _LAST_WORDS if is_late else CLEARING
            self._listen_to_end(LONGEST_CLEARING if self._quiet is None else patience)
        except Quiet:
            self._process.end(0)
        except (TargetError, UsageError) as error:
            self._warnings.append(str(error))
        self._warnings += [f"{self.name}: {prefix} was not removed" for prefix in self._prefixes]

    # Earlier programs -----------------------------------------------------------------------

    def _with_earlier_programs(self, result: RunResult) -> RunResult:
        """Return the result with the programs that its failures need before their own.

        All programs run in a new process first, one after the other. If one of them passes, each
        is tried in a separate process, and so are the further failures of clauses.
        """
        time = TimeBudget(min(_TRYING, max(self._time.left, 1.0)) if self._time else _TRYING)
        suspects = _suspects(result, 0, _MAX_TRIED)
        if not suspects or self._quiet is None or result.incomplete:
            return result
        self._observed = result.observed
        # A process that hangs takes long, runs no other program, and shows the failure at once.
        hanging = [suspect for suspect in suspects if suspect[1].hangs]
        is_late = bool(hanging) and self._time is not None and self._time.is_over
        if is_late and self._is_much_too_late():
            return result
        quick = [] if is_late else [suspect for suspect in suspects if not suspect[1].hangs]
        often = quick * (_REPEATS - 1)
        if _estimated(result, often) > _REPEATING:
            often = []
        ran = [*quick, *often, *hanging]
        seen = self._judged_apart(failure.program for _, failure in ran if failure.program)
        if seen is None:
            return result
        passed = {id(one[1]) for one, how in zip(ran, seen, strict=True) if not _fails(how, one[1])}
        if not passed:
            return result
        if is_late:
            return self._with_lost(result, [s for s in hanging if id(s[1]) in passed], {}, True)
        shown = [id(failure) not in passed for _, failure in suspects]
        # Those that fail after the others come first: what they need is found sooner.
        order = sorted(range(len(suspects)), key=shown.__getitem__, reverse=True)
        tried = [suspects[number] for number in order]
        return self._tried(result, tried + _suspects(result, _MAX_TRIED, None), time)

    def _is_much_too_late(self) -> bool:
        """Return whether the run is over for so long that no call may hang once more."""
        if self._time is None:
            return False
        return self._time.spent - self._time.seconds > max(self._time.seconds * _LATE_PART, 1.0)

    def _tried(
        self,
        result: RunResult,
        suspects: list[_Suspect],
        time: TimeBudget,
    ) -> RunResult:
        changed: _Changed = {}
        lost = [
            one
            for one in suspects
            if not time.is_over and not self._found(one, one[1].history, changed, time)
        ]
        if changed:  # what they need may be what others need
            lost = [one for one in lost if not self._found(one, (), changed, time)]
        return self._with_lost(result, lost, changed, time.is_over)

    def _with_lost(
        self, result: RunResult, lost: list[_Suspect], changed: _Changed, is_late: bool
    ) -> RunResult:
        """Return the result in which the failures `lost` are marked as those of the run only.

        `changed` has other failures to replace. If it `is_late`, no time was left to look for the
        programs that the lost ones need.
        """
        if lost:
            ids = ", ".join(dict.fromkeys(judged.clause.id for judged, _ in lost))
            text = f"failed in the run only, not when their programs ran again: {ids}"
            text += "; no time was left to find what they need" * is_late
            self._warnings.append(f"{self.name}: {text}")
        reason = _NO_TIME if is_late else _RUN_ONLY
        for judged, failure in lost:
            why = reason if failure.script else failure.no_script
            without = replace(failure, script="", no_script=why, intermittent=True)
            self._change(judged, without, changed)
        self._write_scripts(changed)
        return replace(result, clauses=tuple(_replaced(c, changed) for c in result.clauses))

    def _found(
        self, suspect: _Suspect, history: Programs, changed: _Changed, time: TimeBudget
    ) -> bool:
        """Return whether a failure shows again, at least with programs before; these are added.

        Programs that others need are tried first.
        """
        judged, failure = suspect
        if failure.program is None:
            return True
        if self._is_intermittent(failure):
            self._change(judged, replace(failure, intermittent=True), changed)
            return True
        likely = dict.fromkeys(other.before for other in changed.values())
        fails = partial(self._shows, failure)
        before = needed_before(failure.program, history, fails, lambda: time.is_over, likely)
        if before:
            self._change(judged, replace(failure, before=before), changed)
        return before is not None

    def _is_intermittent(self, failure: Counterexample) -> bool:
        """Return whether it comes and goes in runs of its program in one process."""
        if failure.program is None or failure.hangs:
            return False
        seen = self._judged_apart([failure.program] * _RUNS) or []
        shown = [_fails(how, failure) for how in seen]
        return sum(first != then for first, then in pairwise(shown)) > 1

    @staticmethod
    def _change(judged: ClauseResult, failure: Counterexample, changed: _Changed) -> None:
        """Store a failure with its conditions, also in its replay file.

        Another run in this directory may have removed that.
        """
        if failure.replay:
            with suppress(UntrustedError):
                add_conditions(Path(failure.replay), failure)
        changed[judged.clause.id, failure.signature] = failure

    def _write_scripts(self, failures: _Changed) -> None:
        """Write the scripts of failures anew, with the programs that they need before their own."""
        had = {key: f for key, f in failures.items() if f.script}
        self._scripts = []
        try:
            if had:
                self._start("write", failures=[(clause, f) for (clause, _), f in had.items()])
                self._listen_to_end(self._quiet)
        except Quiet:
            self._process.end(0)
        except (TargetError, UsageError) as error:
            self._warnings.append(str(error))
        written = chain(self._scripts, repeat(("", "its process ended")))
        for (key, failure), (text, reason) in zip(had.items(), written, strict=False):
            failures[key] = replace(failure, script=text, no_script=reason)

    def _shows(self, failure: Counterexample, programs: Iterable[Program]) -> bool:
        """Return whether the last program fails as before, in a process that runs only these."""
        seen = self._judged_apart(programs)
        return seen is None or _fails(seen[-1], failure)

    def _judged_apart(self, programs: Iterable[Program]) -> list[list[str]] | None:
        """Return how each program fails in a new process; None if that ended early.

        Programs after one that hangs are not run, and have no verdict.
        """
        programs = list(programs)
        self._failed = []
        try:
            self._start("judge", programs)
            ended = self._listen_to_end(self._quiet)
        except Quiet:
            self._process.end(0)
            return None
        except (TargetError, UsageError):
            return None
        missing = len(programs) - len(self._failed)
        return None if ended else [*self._failed, *([[_NO_VERDICT]] * missing)]

    # Crashes --------------------------------------------------------------------------------

    def _go_on_after(self, how: str, hung: bool) -> None:
        """Start another process without the crashed program; TargetError if that is unknown."""
        item, phase, done = self._journal.item(), self._phase, self._journal.done
        crash = self._crash(item, phase, self._journal.step_index[0], how, hung)
        if self._journal.unheard:  # the process has continued since, so that the cause is unknown
            crash = None
        stopping = self._until is not None
        if crash is None or (stopping and self._until == ("vectors", 0)):
            outside = "" if self._journal.unheard else ", outside any program"
            where = f"in phase {phase}{outside}" if phase else "during set-up"
            self._clear_away()
            raise TargetError(f"{self.name}: {how} {where}")
        if hung and self._late < MAX_LATE and not self._hangs_again(crash):
            self._late += 1
            self._warnings.append(late_warning(str(crash.counterexample.program)))
        else:
            self._crashes.append(crash if hung else self._shrunk(crash))
        if stopping:  # even programs that ran before the crash fail now
            self._until = ("vectors", 0)
        elif len(self._crashes) >= _MOST_CRASHES:
            self._until = (phase, done)
        self._phase = ""
        self._start()

    def _go_on_without(self) -> None:
        """Start another process, without the calls that block the target of this one."""
        self._process.end(0)
        crashed = [crash for crash in self._crashes if not crash.hung]
        self._crashes, self._blocked_by, self._phase = [*crashed, *self._blocked_by], (), ""
        self._start()

    def _hangs_again(self, crash: Crash) -> bool:
        """Return whether the program of a process that hung does so in another one."""
        if crash.program is None:
            return True
        return self._judged_apart([crash.program]) is None or not self._failed

    def _shrunk(self, crash: Crash) -> Crash:
        """Return the crash with a smaller program that also ends a process, if there is one."""
        for _ in range(_MOST_ROUNDS):
            program = crash.program
            if program is None or not program.steps:
                return crash
            try:
                self._start("try", filter(partial(self._charges, crash.clause), smaller(program)))
                how = self._listen_to_end(self._quiet)
            except (TargetError, UsageError, Quiet):
                return crash
            item, index = self._journal.item(), self._journal.step_index[0]
            if not how or not isinstance(item, Program):
                return crash
            shrunk = self._crash(item, "", index, how, hung=False)
            if shrunk is None or (shrunk.op, shrunk.clause) != (crash.op, crash.clause):
                return crash
            crash = shrunk
        return crash

    def _charges(self, clause: str, program: Program) -> bool:
        """Return whether the last call of a program violates this clause if it ends a process."""
        return self._clause_of(program, len(program.steps) - 1) == clause

    def _clause_of(self, program: Program, index: int) -> str:
        return clause_of(program, index, "fault.clean", self._declared)

    def _crash(self, item: object, phase: str, index: int, how: str, hung: bool) -> Crash | None:
        """Return the cause of a crash, None if unknown."""
        word = "hang" if hung else "crash"
        if isinstance(item, Schedule):
            return Crash(_of_threads(item), _with_threads(item, how, word), hung)
        if isinstance(item, CurrentScenario):
            failure = Counterexample(
                None,
                ("it ends",),
                how,
                how=f"scenario: {word}",
                identity=f"scenario: {item.name}",
                scenario=item.label,
            )
            return Crash(item.clause, failure, hung)
        if item is None and phase == "status":
            counterexample = Counterexample(None, ("a status",), how, how=f"status: {word}")
            return Crash(STATUS, counterexample, hung)
        if not isinstance(item, Program):
            return None
        clause = self._clause_of(item, index)
        return Crash(clause, ended(item, index, _PROMISE, how, word), hung)


def _suspects(result: RunResult, start: int, stop: int | None) -> list[_Suspect]:
    """Return some failures of each clause that other programs preceded."""
    return [
        (judged, failure)
        for judged in result.clauses
        if judged.outcome in VIOLATED | {Verdict.LAX}
        for failure in judged.counterexamples[start:stop]
        if failure.history and not (failure.known or failure.inherited)
    ]


def _estimated(result: RunResult, suspects: Iterable[_Suspect]) -> float:
    """Return how many seconds the calls of failures take, by those of the run."""
    calls = sum(len(failure.program.steps) + 1 for _, failure in suspects if failure.program)
    return calls * result.seconds / max(result.counts.get("operations", 0), 1)


def _fails(seen: list[str], failure: Counterexample) -> bool:
    """Return whether a program failed as in the run, or could not be judged."""
    return failure.how in seen or _NO_VERDICT in seen


def _replaced(
    judged: ClauseResult, changed: Mapping[tuple[str, str], Counterexample]
) -> ClauseResult:
    """Return the result with its changed counterexamples."""
    failures = [
        changed.get((judged.clause.id, failure.signature), failure)
        for failure in judged.counterexamples
    ]
    return judged.showing(failures)


def _ignore_event(event: Event) -> None:
    """Ignore events."""


def _of_threads(schedule: Schedule) -> str:
    """Return the clause that a schedule violates, by its operations."""
    ops = {step.op for steps in schedule.threads for step in steps}
    if VECTORED in ops:
        return "read-vectored.multiple" if ops == {VECTORED} else "read-vectored.concurrent"
    return "model.pread-thread-safe" if ops <= POSITIONED else "pread.serializable"


def _with_threads(schedule: Schedule, how: str, word: str) -> Counterexample:
    lines = tuple(
        f"thread {number}: {'; '.join(map(str, steps))}"
        for number, steps in enumerate(schedule.threads)
    )
    return Counterexample(
        None,
        ("every call returns or raises",),
        how,
        interleaving=lines,
        schedule=schedule.seed,
        threads=schedule.to_json(),
        how=f"threads: {word}",
    )
