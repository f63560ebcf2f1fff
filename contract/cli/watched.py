"""Commands that run a target in a fork of this process, so that a crash can't end the command.

The fork reports the exit code of the command. If it ends without a report, the command fails,
whatever the status. It shares the terminal and the process group, so that debuggers work.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import TYPE_CHECKING, Any

import click

from fscontract.contract.command_line import say_error
from fscontract.contract.runner.exit_codes import CONFORMS, SET_UP

if TYPE_CHECKING:
    from fscontract.contract.isolation.process import Process


def by_default() -> bool:
    """Return whether a process can be forked, and prints where this one does.

    It does not if Python code that calls the command has replaced standard output.
    """
    try:
        return hasattr(os, "fork") and sys.stdout.fileno() == 1
    except (OSError, ValueError, AttributeError):
        return False


#: Seconds for a Ctrl-C to reach both processes, before it is forwarded.
_BOTH = 0.3


class WatchedCommand(click.Command):
    """A command that uses a target, and runs in a fork if possible."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command, and end with its exit code."""
        run = super().invoke
        if by_default() and threading.active_count() == 1:
            from fscontract.contract.cli import command_exit

            ctx.exit(_watch(lambda: command_exit.code_of(lambda: command_exit.invoked(run, ctx))))
        return run(ctx)


class _Said:
    """The reports of the forked process: none if there is only one process."""

    def __init__(self, line: socket.socket) -> None:
        self._line = line
        self._home = os.getpid()

    def __call__(self, **values: Any) -> None:
        if os.getpid() == self._home:
            with suppress(OSError):
                self._line.sendall(json.dumps(values).encode() + b"\n")


#: The report object, in the forked process.
_watchers: list[_Said] = []


def _say(**values: Any) -> None:
    for said in _watchers:
        said(**values)


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """End the command if the block, the set-up of a target, takes longer than this."""
    _say(limit=seconds)
    try:
        yield
    finally:
        _say(limit=None)


@contextmanager
def ending(line: str, code: int) -> Iterator[None]:
    """Print the line, and exit with the code, if the process ends in the block."""
    _say(line=line, code_then=code)
    try:
        yield
    finally:
        _say(line="", code_then=0)


def _watch(run: Callable[[], int]) -> int:
    """Run `run` in a fork of this process, and return its exit code."""
    from fscontract.contract.isolation.process import FAREWELL, Forked, Process, Quiet

    process = Process(lambda line: Forked(lambda: _serve(line, run)))
    state: dict[str, Any] = {}
    try:
        for answer in process.answers():
            state |= answer
            process.quiet = state.get("limit")
        how = process.end(FAREWELL)
    except Quiet:
        process.end(0)
        return _failed(f"set-up did not finish within {state['limit']:g} s")
    except KeyboardInterrupt as error:
        return _interrupted(process, state, error)
    return _code(state, how)


def _code(state: dict[str, Any], how: str) -> int:
    from fscontract.contract.isolation.process import describe_exit

    code: int | None = state.get("code")
    if code is None:
        how = how or describe_exit(0)
        if state.get("line"):
            click.echo(f"{state['line']}\n  actual     {how}")
            return int(state["code_then"])
        return _failed(f"{how} before there was a result")
    if how and code == CONFORMS:
        return _failed(f"{how} after the result")
    return code


def _failed(message: str) -> int:
    say_error(message)
    return SET_UP


def _interrupted(process: Process, state: dict[str, Any], error: KeyboardInterrupt) -> int:
    """Let the process remove its files; it has got the Ctrl-C of a terminal, but not other
    signals.
    """
    from fscontract.contract.cli import command_exit
    from fscontract.contract.isolation.process import CLEARING, Quiet
    from fscontract.contract.runner.timeouts import held_back

    with held_back():
        process.quiet = _BOTH
        with suppress(Quiet, ValueError):
            for answer in process.answers():
                state |= answer
                process.quiet = CLEARING if "interrupted" in state else _BOTH
        if "interrupted" not in state:
            for answer in process.interrupt(until_end=True):
                state |= answer
        process.end()
    if "code" not in state:
        say_error("interrupted")
    return command_exit.signal_code(error)


def _serve(line: socket.socket, run: Callable[[], int]) -> None:
    from fscontract.contract.isolation.worker import leave

    _watchers[:] = [_Said(line)]
    home = os.getpid()

    def note(number: int, frame: FrameType | None) -> None:
        _say(interrupted=True)
        raise KeyboardInterrupt

    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        if signal.getsignal(getattr(signal, name)) is not signal.SIG_IGN or name == "SIGINT":
            signal.signal(getattr(signal, name), note)
    code = run()
    if os.getpid() != home:
        os._exit(0)
    _say(code=code)
    line.close()
    leave(0)
