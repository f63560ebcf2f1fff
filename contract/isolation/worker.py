"""The child process of an isolated run: reads a request as a line of JSON, writes lines of JSON."""

from __future__ import annotations

import atexit
import contextlib
import gc
import json
import os
import signal
import socket
import sys
import threading
import warnings
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from typing import Any, NoReturn

from fscontract.contract.binding import Binding, TargetError
from fscontract.contract.isolation import protocol
from fscontract.contract.isolation.journal import SharedJournal
from fscontract.contract.pipeline_bindings import PipelineBinding
from fscontract.contract.program.program import Program
from fscontract.contract.runner import exit_codes, internal_errors, runner
from fscontract.contract.runner.counterexamples import how_of
from fscontract.contract.runner.crashes import Blocked, Crash
from fscontract.contract.runner.events import Event, FeaturesObserved, PhaseStarted
from fscontract.contract.runner.execution import Execution
from fscontract.contract.runner.executor import Executor
from fscontract.contract.runner.open_executor import Keys
from fscontract.contract.runner.result import Counterexample
from fscontract.contract.runner.run_options import (
    RunOptions,
    resolve_any,
    selected,
    settings_for,
)
from fscontract.contract.runner.sandbox import (
    Sandbox,
    SandboxedBinding,
    disposed,
    name_of,
    sandboxed,
    show_printed,
)
from fscontract.contract.runner.settings import Settings, with_checks
from fscontract.contract.runner.time_budget import HangTime
from fscontract.contract.runner.timeouts import Next, held_back, supervise, work_here
from fscontract.contract.runner.verdicts import scripted
from fscontract.contract.scenarios import check
from fscontract.contract.spec import RenamedWarning
from fscontract.contract.spec.clauses import STREAM, Clause
from fscontract.contract.spec.known_failures import Known

#: The exit status of a process that could not send its result.
LOST = 70
#: The number of collections of the second generation before one of all objects; 10 by default.
_YOUNG_COLLECTIONS = 60


class _Unheard(Exception):
    """The connection to the parent process is lost."""


class _Child:
    """One request, and the answers to it."""

    def __init__(self, line: socket.socket, journal: SharedJournal) -> None:
        self._line = line
        self._lines = line.makefile(encoding="utf-8")
        self._lock = threading.Lock()
        self._journal = journal
        self._binding: Binding | None = None
        self._settings: Settings | None = None
        self._prefix_sent = False
        self._home = os.getpid()

    def work(self) -> int:
        """Handle the request, report any error, and return the exit status."""
        try:
            try:
                self._work(json.loads(self._lines.readline()))
            except KeyboardInterrupt:
                self._say(interrupted=True)
            except Blocked as error:
                self._say(blocked=protocol.to_json(error.hangs), left=error.left)
            except _Unheard:
                raise
            except BaseException as error:
                code = internal_errors.exit_code_of(error)
                kinds = {exit_codes.SET_UP: "target", exit_codes.USAGE: "usage"}
                if code in kinds:
                    self._say(**{kinds[code]: str(error)})
                else:
                    fault = internal_errors.fault_of(error)
                    self._say(fault=fault.line, trace=fault.trace)
        except _Unheard:
            self._journal.unheard = True
            return LOST
        return 0

    def _work(self, request: dict[str, Any]) -> None:
        run = protocol.from_json(RunOptions, request["run"])
        sandbox = Sandbox()
        with ExitStack() as stack:
            stack.callback(sandbox.close)
            target = self._resolved(request, run, stack)
            if isinstance(target, Binding):
                target = sandboxed(target, run.timeout)
            sandbox.restore()
            self._say(ready=name_of(target), **_traits(target))
            budget = self._lines.readline()
            if not budget:
                return
            run = replace(run, budget=float(budget))
            if isinstance(target, SandboxedBinding):
                self._check_binding(target, request, run)
            elif isinstance(target, PipelineBinding):
                clauses = selected(run, anything=True)
                settings = _settings(target, request, run, clauses)
                check.check_pipeline(target, settings, self._listen, self._journal)
            else:
                target.check(self._listen)
        show_printed()  # before the parent prints the result
        self._say(ended=True)

    def _resolved(self, request: dict[str, Any], run: RunOptions, stack: ExitStack) -> Any:
        """Return the object to check; its resources are closed with the stack."""
        target = request["target"]
        from fscontract.contract.distributed.backend import backend_of

        backend = backend_of(run)
        if backend is None:
            return resolve_any(target, run)
        from fscontract.contract.distributed.driver import DistributedTarget

        stack.callback(_uninterrupted, backend.close)
        return DistributedTarget(target, run, _known(request), backend)

    def _check_binding(
        self, binding: SandboxedBinding, request: dict[str, Any], run: RunOptions
    ) -> None:
        clauses = with_checks(selected(run, anything=True))
        settings = _settings(binding, request, run, clauses)
        self._settings = settings
        self._say(declared=sorted(settings.declared))
        self._discard(binding, request["discard"])
        self._binding = binding
        programs = [Program.from_json(program) for program in request["programs"]]
        if request["do"] == "run":
            runner.check(binding, settings, self._listen, self._journal)
        elif request["do"] == "try":
            self._try(binding, settings, programs)
        elif request["do"] == "judge":
            self._judge(binding, settings.with_observed(request["observed"]), programs)
        elif request["do"] == "write":
            settings = settings.with_observed(request["observed"])
            for clause, data in request["failures"]:
                failure = protocol.from_json(Counterexample, data)
                written = scripted(clause, failure, binding, settings)
                self._say(script=written.script, no_script=written.no_script)

    def _try(self, binding: SandboxedBinding, settings: Settings, programs: list[Program]) -> None:
        """Run programs one by one, to see whether one ends this process."""
        self._run_all(binding, settings, programs, lambda execution: None, Next.GO_ON)

    def _judge(
        self, binding: SandboxedBinding, settings: Settings, programs: list[Program]
    ) -> None:
        """Run programs up to the first one that hangs, and send how each of them fails."""
        self._run_all(
            binding,
            settings,
            programs,
            lambda execution: self._say(
                failed=[how_of(one) for one in (*execution.violations, *execution.misses)],
                judged=execution.environment is None,
            ),
            Next.END,
        )

    def _run_all(
        self,
        binding: SandboxedBinding,
        settings: Settings,
        programs: list[Program],
        keep: Callable[[Execution], None],
        after_hang: Next,
    ) -> None:
        binding.prepare()
        prefix = binding.prefix
        self._say(prefix=prefix)
        profile, buffer = settings.profile, settings.buffer(binding)
        keys = Keys(profile.own_keys, profile.unsupported_keys)
        executor = Executor(binding, profile.features, buffer, keys, self._journal.step_index)

        def run(program: Program) -> None:
            keep(executor.run(program))

        journal = self._journal
        journal.limit = HangTime(settings.budget, settings.timeout).limit()

        def on_tick() -> None:
            journal.beats += 1

        on_tick()
        if profile.one_thread:
            work_here(iter(programs), run, lambda thread: journal.limit, on_tick, journal.begin)
        else:
            supervise(
                iter(programs),
                run,
                journal.limit,
                lambda item, times: after_hang,
                on_tick,
                journal.begin,
            )
        journal.beats = 0
        for warning in disposed(binding, 0.0):  # what hangs does so again, and in other processes
            self._say(warning=warning)
        if prefix is not None:  # otherwise it made no files
            self._say(discarded=prefix)

    def _discard(self, binding: Binding, prefixes: list[str]) -> None:
        for prefix in prefixes:
            try:
                binding.discard(prefix)
                self._say(discarded=prefix)
            except TargetError as error:
                self._say(warning=str(error))

    def _listen(self, event: Event) -> None:
        if isinstance(event, FeaturesObserved) and self._settings is not None:
            observed = self._settings.with_observed(event.features)
            self._say(declared=sorted(observed.declared))
        if isinstance(event, PhaseStarted) and not self._prefix_sent and self._binding is not None:
            self._prefix_sent = True
            self._say(prefix=self._binding.prefix)
        self._say(**protocol.event_to_json(event))

    def _say(self, **values: Any) -> None:
        if os.getpid() != self._home:  # the target forked, and its fork came back to this code
            os._exit(0)
        line = json.dumps(values).encode() + b"\n"
        try:
            with self._lock:
                self._line.sendall(line)
        except OSError as error:
            raise _Unheard from error


def _settings(
    target: Binding | PipelineBinding,
    request: dict[str, Any],
    run: RunOptions,
    clauses: tuple[Clause, ...],
) -> Settings:
    """Return the settings of a run on the target, which skips what ended earlier processes."""
    return replace(
        settings_for(target, run, clauses, _known(request), target=request["target"]),
        crashes=protocol.from_json(tuple[Crash, ...], request["crashes"]),
        hangs=request["hangs"],
        until=tuple(request["until"]) if request["until"] else None,
    )


def _known(request: dict[str, Any]) -> tuple[Known, ...]:
    return protocol.from_json(tuple[Known, ...], request["known"])


def _traits(target: Any) -> dict[str, Any]:
    """Return the attributes of the checked object for the parent.

    `apis` are those of its clauses; `watched` means that silence is a hang.
    """
    if isinstance(target, Binding):
        return {"apis": [STREAM], "watched": True}
    apis = [target.api] if isinstance(target, PipelineBinding) else sorted(target.apis)
    return {"apis": apis, "watched": False}


def _uninterrupted(close: Any) -> None:
    with held_back():
        close()


def main(line: int, journal: int) -> NoReturn:
    """Serve the parent process at the other end of socket `line`, and end this one."""
    for number in (line, journal):
        os.set_inheritable(number, False)
    sys.argv[:] = ["fscontract"]
    # A collection of all objects passes over the whole kit; those of young ones are as usual.
    gc.set_threshold(*gc.get_threshold()[:2], _YOUNG_COLLECTIONS)
    warnings.simplefilter("ignore", RenamedWarning)  # the parent process warns
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        number = getattr(signal, name)
        if name == "SIGINT" or signal.getsignal(number) is not signal.SIG_IGN:
            # SIGINT is ignored in a job that a shell started with &
            signal.signal(number, signal.default_int_handler)
    status = LOST
    try:
        with socket.socket(fileno=line) as connection:
            status = _Child(connection, SharedJournal(journal)).work()
    finally:
        leave(status)


def leave(status: int) -> NoReturn:
    """Run the exit handlers, and end the process without waiting for threads or finalizers."""
    for number in (signal.SIGINT, signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)):
        with contextlib.suppress(ValueError, OSError):
            signal.signal(number, signal.SIG_IGN)
    with contextlib.suppress(BaseException):
        atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(BaseException):
            stream.flush()
    os._exit(status)
