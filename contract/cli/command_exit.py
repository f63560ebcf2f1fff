"""End a command by its result, an exception or a signal, with an exit code and a message."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, NoReturn

import click

from fscontract.contract.command_line import say, say_error
from fscontract.contract.runner.exit_codes import CLOSED, CONFORMS, INTERNAL, USAGE

#: Seconds that remaining threads may delay the end of the process.
_FAREWELL = 2.0

#: Options before the command: "traceback" if tracebacks are shown.
_settings: set[str] = set()


def show_tracebacks(show: bool) -> None:
    """Set whether tracebacks of internal errors are printed."""
    _settings.clear()
    _settings.update({"traceback"} if show else ())


def code_of(run: Callable[[], object]) -> int:
    """Run a command and return its exit code; print an error message if it fails."""
    try:
        code = run()
    except (click.Abort, KeyboardInterrupt) as error:
        say_error("interrupted")
        return signal_code(error.__cause__ if isinstance(error, click.Abort) else error)
    except click.exceptions.Exit as error:
        return error.exit_code
    except click.ClickException as error:
        _print_line(error)
        return USAGE
    # of click itself, after a completion: those of a command are handled by `invoked`
    except SystemExit:
        raise
    except BaseException as error:
        from fscontract.contract.runner.internal_errors import exit_code_of

        known = exit_code_of(error)
        if known is None:
            _say_internal(error, "traceback" in _settings)
            return INTERNAL
        say_error(str(error))
        return known
    return code if isinstance(code, int) else CONFORMS


def invoked(invoke: Callable[[click.Context], Any], ctx: click.Context) -> Any:
    """Run a command; convert exceptions for which click would use other exit codes."""
    try:
        return invoke(ctx)
    except (BrokenPipeError, EOFError, SystemExit) as error:
        _raise_again(error)


def _raise_again(error: BrokenPipeError | EOFError | SystemExit) -> NoReturn:
    """Raise click's Exit if the output is closed, otherwise an InternalError."""
    if isinstance(error, BrokenPipeError) and _output_is_closed():
        with contextlib.suppress(OSError, ValueError):  # buffered output needs a place to go
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise click.exceptions.Exit(CLOSED) from None
    from fscontract.contract.runner.internal_errors import InternalError, fault_of

    raise InternalError(fault_of(error)) from error


def _output_is_closed() -> bool:
    """Return whether the reader of the output has ended."""
    try:
        poll = select.poll()
        poll.register(sys.stdout.fileno(), select.POLLOUT)
        return any(events & (select.POLLERR | select.POLLHUP) for _, events in poll.poll(0))
    # there is no descriptor, or no poll on this system
    except (OSError, ValueError, AttributeError):
        return False


def _print_line(error: click.ClickException) -> None:
    """Print one line; for a group without a subcommand, print its subcommands."""
    said = error.format_message()
    if type(error).__name__ == "NoArgsIsHelpError":  # of click since 8.2
        say(said, err=True)
        return
    if isinstance(error, click.MissingParameter) and error.ctx is not None:
        said = f"{said.rstrip('.')}; see '{error.ctx.command_path} --help'"
    say_error(" ".join(said.split()))


def _say_internal(error: BaseException, traceback: bool) -> None:
    """Print an internal error with its traceback, and say where to report it."""
    from fscontract.contract.runner.internal_errors import REPORT, fault_of

    fault = fault_of(error)
    if traceback:
        for line in fault.trace.splitlines():
            say(line, err=True)
    say(f"fscontract: internal error: {fault.line}; {REPORT}", err=True)


def leave_anyway(code: int, before: Collection[threading.Thread]) -> None:
    """Ensure that the process ends although the target has left threads that never end.

    `before` are the threads from the start of the command.
    """

    def leave() -> None:
        time.sleep(_FAREWELL)
        os._exit(code)

    left = (t for t in threading.enumerate() if t not in before and not t.daemon)
    if any(t is not threading.main_thread() for t in left):
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        threading.Thread(target=leave, daemon=True).start()


#: Exit code of a command ended by a signal: this plus its number, as in shells.
BASE = 128
_NAMES = ("SIGTERM", "SIGHUP")


class Stopped(KeyboardInterrupt):
    """A signal has ended the command; `code` is its exit code."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.code = BASE + number


@contextmanager
def stopped_by_signals() -> Iterator[None]:
    """Raise Stopped at SIGTERM and SIGHUP, once; keep ignored signals ignored, as under nohup.

    Handlers can be set in the main thread only: in other threads this changes nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = [getattr(signal, name) for name in _NAMES if hasattr(signal, name)]
    ours = [number for number in numbers if signal.getsignal(number) is signal.SIG_DFL]

    def stop(number: int, frame: FrameType | None) -> None:
        for one in ours:  # a second signal must not interrupt the removal of files
            signal.signal(one, signal.SIG_IGN)
        raise Stopped(number)

    for number in ours:
        signal.signal(number, stop)
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, signal.SIG_DFL)


def signal_code(error: BaseException | None) -> int:
    """Return the exit code of a command that was interrupted by this exception."""
    return error.code if isinstance(error, Stopped) else BASE + signal.SIGINT
