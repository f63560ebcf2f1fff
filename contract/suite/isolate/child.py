"""The process of an isolated run: gets a request as a line of JSON, answers with lines of JSON."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import sys
import threading
import traceback
from typing import Any

from fscontract.contract.binding import Binding, TargetError
from fscontract.contract.program import Program
from fscontract.contract.suite import runner
from fscontract.contract.suite.commands import common
from fscontract.contract.suite.events import Event, PhaseStarted
from fscontract.contract.suite.execute import Executor
from fscontract.contract.suite.guard import Guarded
from fscontract.contract.suite.isolate import wire
from fscontract.contract.suite.isolate.journal import SharedJournal
from fscontract.contract.suite.opening import Keys
from fscontract.contract.suite.settings import Settings
from fscontract.contract.suite.surroundings import show_printed
from fscontract.contract.suite.watchdog import Next, supervise


class _Child:
    """One request, and the answers to it."""

    def __init__(self, line: socket.socket, journal: SharedJournal) -> None:
        self._line = line
        self._lines = line.makefile(encoding="utf-8")
        self._lock = threading.Lock()
        self._journal = journal
        self._binding: Binding | None = None
        self._told = False

    def work(self) -> None:
        """Do what is asked for; whatever goes wrong is said."""
        try:
            self._work(json.loads(self._lines.readline()))
        except KeyboardInterrupt:
            self._say(interrupted=True)
        except BaseException as error:
            if isinstance(error, BrokenPipeError | ConnectionError):  # nobody listens any more
                return
            code = common.exit_code_of(error) if isinstance(error, Exception) else None
            kinds = {common.SET_UP: "target", common.USAGE: "usage"}
            if code in kinds:
                self._say(**{kinds[code]: str(error)})
            else:
                self._say(fault=traceback.format_exc())

    def _work(self, request: dict[str, Any]) -> None:
        run = wire.options_from_json(request["run"])
        target = request["target"]
        binding = common.resolve(target, run)
        settings = common.settings_for(
            target,
            binding,
            run,
            common.selected(run),
            wire.known_from_json(request["known"]),
            tuple(map(wire.crash_from_json, request["crashes"])),
            tuple(request["until"]) if request["until"] else None,
        )
        self._say(ready=str(binding.name), declared=sorted(settings.declared))
        if not self._lines.readline():
            return
        self._discard(Guarded(binding, run.timeout), request["discard"])
        self._binding = binding
        if request["do"] == "run":
            runner.check(binding, settings, self._listen, self._journal)
        elif request["do"] == "try":
            self._try(binding, settings, [Program.from_json(p) for p in request["programs"]])
        show_printed()  # before the parent says what came out
        self._say(ended=True)

    def _try(self, binding: Binding, settings: Settings, programs: list[Program]) -> None:
        """Run programs one by one, to see whether one ends this process."""
        guarded = Guarded(binding, settings.timeout)
        guarded.prepare()
        prefix = guarded.prefix
        self._say(prefix=prefix)
        profile, buffer = settings.profile, settings.buffer(binding)
        keys = Keys(profile.own_keys, profile.unsupported_keys)
        executor = Executor(guarded, profile.features, buffer, keys, self._journal.place)

        def run(program: Program) -> None:
            executor.run(program)

        def go_on(_: object, times: int) -> Next:
            return Next.GO_ON

        supervise(iter(programs), run, settings.timeout, go_on, on_begin=self._journal.begin)
        guarded.dispose()
        self._say(discarded=prefix)

    def _discard(self, binding: Binding, prefixes: list[str]) -> None:
        for prefix in prefixes:
            try:
                binding.discard(prefix)
                self._say(discarded=prefix)
            except TargetError as error:
                self._say(warning=str(error))

    def _listen(self, event: Event) -> None:
        if isinstance(event, PhaseStarted) and not self._told:
            self._told = True
            assert self._binding is not None
            self._say(prefix=self._binding.prefix)
        self._say(**wire.event_to_json(event))

    def _say(self, **values: Any) -> None:
        line = json.dumps(values).encode() + b"\n"
        with self._lock:
            self._line.sendall(line)


def main(line: int, journal: int) -> None:
    """Serve the parent process at the other end of socket `line`."""
    for number in (line, journal):
        os.set_inheritable(number, False)
    sys.argv[:] = ["fscontract"]
    with socket.socket(fileno=line) as connection:
        _Child(connection, SharedJournal(journal)).work()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()
