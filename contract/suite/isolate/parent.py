"""The process that the user started: runs a target in others, one after the other as they end."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from fscontract.contract.binding import TargetError
from fscontract.contract.known import Known
from fscontract.contract.masking import mask_url
from fscontract.contract.models.serial import POSITIONED
from fscontract.contract.program import Program
from fscontract.contract.suite.commands.common import RunOptions
from fscontract.contract.suite.concurrency.judging import VECTORED
from fscontract.contract.suite.concurrency.schedule import Schedule
from fscontract.contract.suite.ending import Crash, clause_of, ended, smaller
from fscontract.contract.suite.events import (
    Event,
    Judged,
    Listener,
    PhaseStarted,
    RunFinished,
    RunStarted,
    ViolationFound,
)
from fscontract.contract.suite.isolate import wire
from fscontract.contract.suite.isolate.journal import SharedJournal, shared_file
from fscontract.contract.suite.resources import STATUS
from fscontract.contract.suite.result import Counterexample, RunResult
from fscontract.contract.targets import UsageError

#: After so many ended processes no further program is run.
_MOST_CRASHES = 5
#: Processes that try whether a smaller program ends them, too.
_MOST_ROUNDS = 4
#: How long a process may take to end after it has said that it will, in seconds.
_FAREWELL = 2.0
#: ... and after the user has interrupted it.
_CLEARING = 15.0
#: How long it may say nothing at all: longer than the watchdog in it needs for anything.
_QUIET_PROGRAMS, _QUIET = 7, 30.0
_TICK = 0.1
_PROMISE = "returns or raises"
_START = (
    "import sys; sys.path[:] = sys.argv[3:]; "
    "from fscontract.contract.suite.isolate.child import main; "
    "main(int(sys.argv[1]), int(sys.argv[2]))"
)


class _Quiet(Exception):
    """Nothing has come from the process for too long."""


class _Process:
    """One process, and what it says."""

    def __init__(self, journal: int, request: dict[str, Any]) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603 (this very interpreter)
                [sys.executable, "-c", _START, str(theirs.fileno()), str(journal), *sys.path],
                pass_fds=(theirs.fileno(), journal),
                start_new_session=True,  # the user's Ctrl-C comes to us, and we pass it on
            )
        self._line = ours
        self._line.settimeout(_TICK)
        self._rest = b""
        self.say(json.dumps(request))

    def say(self, text: str) -> None:
        """Say a line; nothing happens if nobody listens."""
        with contextlib.suppress(OSError):
            self._line.sendall(text.encode() + b"\n")

    def answers(self, quiet: float | None = None) -> Iterator[dict[str, Any]]:
        """What it says, until it has ended; _Quiet if it says nothing for `quiet` seconds."""
        since, alive = time.monotonic(), True
        while True:
            part = self._part()
            if part:
                since = time.monotonic()
                *lines, self._rest = (self._rest + part).split(b"\n")
                for line in lines:
                    yield json.loads(line)
            elif part == b"" or not alive:
                return
            elif quiet is not None and time.monotonic() - since > quiet:
                raise _Quiet
            else:  # what it said before it ended is still to be read
                alive = self._process.poll() is None

    def interrupt(self) -> Iterator[dict[str, Any]]:
        """Pass the user's Ctrl-C on; what it says until everything is cleared away."""
        self._process.send_signal(signal.SIGINT)
        with contextlib.suppress(_Quiet, ValueError):  # a line may have been cut by the Ctrl-C
            yield from self.answers(_CLEARING)

    def end(self, patience: float = _FAREWELL) -> int:
        """Let it end, or end it, with all that it has started; its status as of Popen."""
        self._line.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(patience)
        running = self._process.poll() is None
        with contextlib.suppress(OSError):
            os.killpg(self._process.pid, signal.SIGKILL)
        status = self._process.wait()
        return 0 if running else status

    def _part(self) -> bytes | None:
        """What is there to read; b"" at the end, None if nothing came."""
        try:
            return self._line.recv(1 << 16)
        except TimeoutError:
            return None
        except OSError:
            return b""


class Isolated:
    """A target that is checked in processes of its own."""

    def __init__(self, target: str, run: RunOptions, known: tuple[Known, ...]) -> None:
        self.name = mask_url(target)
        self._request = {
            "target": target,
            "run": wire.options_to_json(run),
            "known": wire.known_to_json(known),
        }
        self._declared: frozenset[str] = frozenset()
        self._quiet = _QUIET_PROGRAMS * run.timeout + _QUIET
        self._memory = shared_file()
        self._journal = SharedJournal(self._memory)
        self._crashes: list[Crash] = []
        self._until: tuple[str, int] | None = None
        self._prefixes: list[str] = []
        self._warnings: list[str] = []
        self._phase = ""
        self._said: set[str] = set()
        self._process = self._start()

    def check(self, listener: Listener) -> RunResult:
        """The result of the run; TargetError if there can be none."""
        try:
            result = self._run(listener)
            self._clear_away()
        finally:
            self._process.end()
        result = replace(result, warnings=(*result.warnings, *self._warnings))
        listener(RunFinished(result))
        return result

    def close(self) -> None:
        """End the process, and let its memory go."""
        self._process.end(0)
        os.close(self._memory)

    # Processes ------------------------------------------------------------------------------

    def _start(self, do: str = "run", programs: Iterable[Program] = ()) -> _Process:
        """Start a process and wait until it has resolved the target; UsageError, TargetError.

        It does a "run", is to "try" the programs, or has nothing to do but to remove prefixes.
        """
        self._journal.clear()
        request = {
            **self._request,
            "crashes": [wire.crash_to_json(crash) for crash in self._crashes],
            "until": self._until,
            "discard": self._prefixes,
            "do": do,
            "programs": [program.to_json() for program in programs],
        }
        process = _Process(self._memory, request)
        try:
            for answer in process.answers():
                if "ready" in answer:
                    self.name, self._declared = answer["ready"], frozenset(answer["declared"])
                    return process
                self._fail(answer)
        except BaseException:
            process.end(0)
            raise
        raise TargetError(f"{self.name}: {_how(process.end(_CLEARING))} while it was made")

    def _run(self, listener: Listener) -> RunResult:
        while True:
            result, hung = None, False
            self._process.say("go")
            try:
                for answer in self._process.answers(self._quiet):
                    result = self._hear(answer, listener) or result
                    if "ended" in answer:
                        break
            except _Quiet:
                hung = True
            except KeyboardInterrupt:
                for answer in self._process.interrupt():
                    if answer.get("event") == "interrupted":
                        listener(wire.event_from_json(answer))
                raise
            status = self._process.end(0 if hung else _FAREWELL)
            if result is not None:
                if hung or status:
                    how = "hung" if hung else _how(status)
                    self._warnings.append(f"{self.name}: {how} after the run")
                return result
            self._go_on_after("nothing came from it any more" if hung else _how(status), hung)

    def _hear(self, answer: dict[str, Any], listener: Listener) -> RunResult | None:
        """Take in an answer; the result if it is one."""
        if "event" in answer:
            return self._tell(wire.event_from_json(answer), listener)
        if "prefix" in answer and answer["prefix"] is not None:
            self._prefixes.append(answer["prefix"])
        elif "discarded" in answer:
            self._prefixes.remove(answer["discarded"])
        elif "warning" in answer:
            self._warnings.append(answer["warning"])
        else:
            self._fail(answer)
        return None

    def _tell(self, event: Event, listener: Listener) -> RunResult | None:
        """Pass an event on, unless an earlier process has told the same."""
        if isinstance(event, Judged | RunFinished):
            if isinstance(event, RunFinished) and self._prefixes:
                self._prefixes.pop()  # the process has removed its own
            return event.result
        text = ""
        if isinstance(event, PhaseStarted):
            self._phase = text = event.phase
        elif isinstance(event, ViolationFound):
            text = f"violation {event.clause}"
        elif isinstance(event, RunStarted):
            text = "run"
        if not text or text not in self._said:
            listener(event)
        self._said.add(text)
        return None

    def _listen_to_end(self) -> int:
        """Let a process that does no run do what it is for; its status."""
        self._process.say("go")
        for answer in self._process.answers(self._quiet):
            if "ended" in answer:
                break
            self._hear(answer, _nobody)
        return self._process.end()

    def _fail(self, answer: dict[str, Any]) -> None:
        if "usage" in answer:
            raise UsageError(answer["usage"])
        if "target" in answer:
            raise TargetError(answer["target"])
        if "interrupted" in answer:
            raise KeyboardInterrupt
        if "fault" in answer:
            raise RuntimeError(f"in the process of the target:\n{answer['fault']}")

    def _clear_away(self) -> None:
        """Remove what processes have left that did not come to their end."""
        if not self._prefixes:
            return
        try:
            self._process = self._start("nothing")
            self._listen_to_end()
        except (TargetError, UsageError, _Quiet) as error:
            self._warnings.append(str(error))
        self._warnings += [f"{self.name}: {prefix} is left" for prefix in self._prefixes]

    # Crashes --------------------------------------------------------------------------------

    def _go_on_after(self, how: str, hung: bool) -> None:
        """Start another process without what ended this one; TargetError if that is unknown."""
        item, phase, done = self._journal.item(), self._phase, self._journal.done
        crash = self._crash(item, phase, self._journal.place[0], how, hung)
        stopping = self._until is not None
        if crash is None or (stopping and self._until == ("vectors", 0)):
            where = f"in phase {phase}, outside any program" if phase else "while it was set up"
            self._clear_away()
            raise TargetError(f"{self.name}: {how} {where}")
        self._crashes.append(crash if hung else self._made_small(crash))
        if stopping:  # not even what went well before does any more
            self._until = ("vectors", 0)
        elif len(self._crashes) >= _MOST_CRASHES:
            self._until = (phase, done)
        self._phase = ""
        self._process = self._start()

    def _made_small(self, crash: Crash) -> Crash:
        """The crash with a smaller program, if there is one that ends a process as well."""
        for _ in range(_MOST_ROUNDS):
            program = crash.program
            if program is None or not program.steps:
                return crash
            try:
                self._process = self._start("try", smaller(program))
                status = self._listen_to_end()
            except (TargetError, UsageError, _Quiet):
                return crash
            item, place = self._journal.item(), self._journal.place[0]
            if not status or not isinstance(item, Program):
                return crash
            found = self._crash(item, "", place, _how(status), hung=False)
            if found is None or found.op != crash.op:
                return crash
            crash = found
        return crash

    def _crash(self, item: object, phase: str, place: int, how: str, hung: bool) -> Crash | None:
        """What ended the process, None if that can't be told."""
        word = "hang" if hung else "crash"
        if isinstance(item, Schedule):
            return Crash(_of_threads(item), _with_threads(item, how, word), hung)
        if item is None and phase == "status":
            shown = Counterexample(None, ("a status",), how, how=f"status: {word}")
            return Crash(STATUS, shown, hung)
        if not isinstance(item, Program):
            return None
        clause = clause_of(item, place, "fault.clean", self._declared)
        return Crash(clause, ended(item, place, _PROMISE, how, word), hung)


def _nobody(event: Event) -> None:
    """Listens to nothing."""


def _of_threads(schedule: Schedule) -> str:
    """The clause that a schedule breaks, by what was in it."""
    ops = {step.op for steps in schedule.threads for step in steps}
    if VECTORED in ops:
        return "vread.multiple" if ops == {VECTORED} else "vread.concurrent"
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


def _how(status: int) -> str:
    """How a process ended, in words."""
    if status >= 0:
        return f"the process exited with status {status}"
    try:
        name = signal.Signals(-status).name
    except ValueError:
        name = f"signal {-status}"
    return f"the process was ended by {name}"
