"""Guard the kit against targets: calls only return outcomes or raise exceptions.

Shared state is restored. A target may raise objects other than `Exception` (a panic of Rust,
SystemExit), return unusable objects, fork, trace, or hang. The rest of the suite need not handle
that.
"""

from __future__ import annotations

import contextlib
import math
import numbers
import operator
import os
import signal
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from types import NoneType
from typing import Any, NoReturn, TextIO, TypeVar

from fscontract.contract import clock
from fscontract.contract.binding import (
    REFUSALS,
    Action,
    Binding,
    MethodCall,
    NoScene,
    Opened,
    Opener,
    TargetError,
)
from fscontract.contract.pipeline_bindings import PipelineBinding
from fscontract.contract.program.content import SparseContent
from fscontract.contract.program.open_calls import BuilderCall
from fscontract.contract.program.opened_path import OpenedPath
from fscontract.contract.program.outcome import Kind, Outcome, clip, raised, text_of
from fscontract.contract.program.program import Program, Step
from fscontract.contract.runner.patches import Patches
from fscontract.contract.runner.timeouts import Abandoned, held_back, is_abandoned, supervise
from fscontract.contract.script.calls import JavaApi, NoScript, ScriptApi, Source
from fscontract.contract.targets import own_place, raised_at

Value = TypeVar("Value")
#: The factor by which set-up and removal may take longer than a program.
_PATIENCE = 6
#: The seconds that set-up and removal may take in any case, and removal's multiple of writing.
_AT_LEAST, _SHORT_REMOVAL, _REMOVING = 5.0, 2.0, 5.0
#: Values that can be compared, hashed and shown without running code of the target.
_PLAIN = frozenset({int, bool, float, str, bytes, NoneType})
_DEEPEST = 4
#: The characters of a program as calls of the API.
_LONGEST_CALLS = 2000


class _Forks:
    """Detects in a forked process that it is a fork."""

    def __init__(self) -> None:
        #: Processes that use a sandboxed binding; forks of other processes are ignored.
        self.homes: set[int] = set()
        self.away = False
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._forked)

    def _forked(self) -> None:
        if self.homes:
            self.away = True
            sys.settrace(None)  # the scheduler's tracer would wait for threads that a fork lacks

    def leave(self) -> None:
        """End the process if it is a fork in which a call of the target returned."""
        if os.getpid() not in self.homes:
            os._exit(0)


_forks = _Forks()


def begin_fork() -> None:
    """Let a process that the kit forked make calls of targets, also if its parent did."""
    _forks.homes.clear()
    _forks.away = False


def sandboxed(binding: Binding, timeout: float, patches: Patches | None = None) -> SandboxedBinding:
    """Return the binding in a sandbox; TargetError if its attributes can't be read."""
    if not isinstance(binding, SandboxedBinding):
        return SandboxedBinding(binding, timeout, patches)
    if patches is not None:
        _watch.by(patches)
    return binding


class _Watch:
    """The action after each call of a target: its patches are undone."""

    def __init__(self) -> None:
        self.after_call: Callable[[], None] = _nothing
        self.after_close: Callable[[], None] = _nothing

    def by(self, patches: Patches) -> None:
        """Let these patches be undone after each call."""
        self.after_call, self.after_close = patches.after_call, patches.after_close


def _nothing() -> None:
    """Do nothing: no target is sandboxed yet."""


_watch = _Watch()


class SandboxedBinding(Binding):
    """A binding whose calls return outcomes or raise exceptions only.

    `timeout` is the time limit of one program in seconds. `patches`, made before, undo what the
    target patches.
    """

    def __init__(self, binding: Binding, timeout: float, patches: Patches | None = None) -> None:
        self._inner = binding
        _watch.by(patches or Patches())
        self._patience = timeout * _PATIENCE
        self._busy: list[str] = []
        self.name = name_of(binding)
        self._tried("can't be used", self._copy_attributes, binding)
        _forks.homes.add(os.getpid())

    def _copy_attributes(self, binding: Binding) -> None:
        """Copy the binding's attributes."""
        self.api = binding.api  # type: ignore[misc]
        self.default_profile = binding.default_profile  # type: ignore[misc]
        self.operations = binding.operations
        self.changes = binding.changes
        self.buffer = binding.buffer
        self.pread_on_stream = binding.pread_on_stream
        self.injector = binding.injector
        self.fixed_content = binding.fixed_content
        self.lacks = binding.lacks
        self.holds_sparse = binding.holds_sparse
        self.versions: dict[str, str] = dict(getattr(binding, "versions", {}))
        #: The seconds that files took to write; to remove them takes as long.
        self.writing = 0.0
        opener = binding.opener
        self.opener = None if opener is None else _SandboxedOpener(opener, self.name)

    @property
    def remote(self) -> bool:
        """True if an operation costs a round trip, also according to the binding."""
        return self._tried("can't be used", lambda: self._inner.remote)

    @remote.setter
    def remote(self, remote: bool) -> None:
        self._tried("can't be used", setattr, self._inner, "remote", remote)

    @property
    def block(self) -> int | None:  # type: ignore[override]
        """The bytes that an open file reads at once, once prepared."""
        return self._inner.block

    @property
    def prefix(self) -> str | None:
        """The prefix of the binding."""
        return self._tried("can't tell its directory", lambda: self._inner.prefix)

    def prepare(self, seconds: float = math.inf) -> None:
        """Make the prefix; raise TargetError, also on a timeout. `seconds` are left of the run."""
        patience = min(max(seconds, _AT_LEAST), self._patience)
        self._patiently(self._inner.prepare, "hangs during set-up", patience)

    def dispose(self, seconds: float = math.inf) -> None:
        """Remove everything; raise TargetError, also on a timeout.

        `seconds` are left of the run. It may take longer, if writing took long.
        """
        what = self.prefix or "what was made"
        patience = max(seconds, _SHORT_REMOVAL, _REMOVING * self.writing)
        patience = min(patience, self._patience)
        self._patiently(self._inner.dispose, f"hangs while {what} is removed", patience)

    def create(self, content: bytes) -> str:
        """Write a new file; TargetError."""
        begin = clock.monotonic()
        try:
            return self._tried_twice("can't write a file", self._inner.create, content)
        finally:
            self.writing += clock.monotonic() - begin

    def create_sparse(self, content: SparseContent) -> str:
        """Write a sparse file; raise TargetError if that fails."""
        return self._tried_twice("can't write a sparse file", self._inner.create_sparse, content)

    def place(self, at: OpenedPath, content: bytes) -> str:
        """Make an unusual path; NoScene or TargetError."""
        return self._tried_twice(f"can't make {at}", self._inner.place, at, content)

    def change(self, path: str, content: bytes | None) -> None:
        """Change or delete a file; TargetError, and NoScene if the store refuses that."""
        try:
            self._tried_twice(f"can't change {path}", self._inner.change, path, content)
        except TargetError as error:
            if isinstance(error.__cause__, REFUSALS):
                raise NoScene(str(error)) from error
            raise

    def method_calls(self, observe: Callable[[MethodCall], None]) -> AbstractContextManager[None]:
        """Observe the calls of the target's methods."""
        return self._inner.method_calls(observe)

    def sources(self, path: str, patience: float | None = None) -> Mapping[str, frozenset[str]]:
        """Return the classes that define what each operation calls.

        Raise TargetError, also if it takes over `patience` seconds: the target may hang since a
        program.
        """
        found: list[Mapping[str, frozenset[str]]] = []
        look = lambda: found.append(self._inner.sources(path))  # noqa: E731
        patience = patience or self._patience / _PATIENCE
        self._patiently(look, "hangs while it is inspected", patience)
        return found[0]

    def open(self, path: str) -> Opened:
        """Open the file at `path`; raise only exceptions."""
        return call_sandboxed(self._inner.open, path)

    def bind(self, step: Step) -> Action:
        """Return the step as a function that returns, with an outcome that can be inspected."""
        action = self._tried(f"can't {step.op}", self._inner.bind, step)
        forks, gettrace, getprofile = _forks, sys.gettrace, sys.getprofile
        after_call = _watch.after_close if step.op == "close" else _watch.after_call

        def run(opened: Opened) -> Outcome:
            before, profile = gettrace(), getprofile()
            try:
                outcome = action(opened)
            except BaseException as error:
                after_call()
                _pass_on(error)
                outcome = raised(error)
            else:
                after_call()
            _end_if_abandoned()
            if forks.away:
                forks.leave()
            if gettrace() is not before:
                sys.settrace(before)
            if getprofile() is not profile:
                sys.setprofile(profile)
            if type(outcome) is Outcome and type(outcome.value) in _PLAIN:
                return outcome
            return _tame(outcome)

        return run

    def spell(self, program: Program) -> str:
        """Return a program as calls of the API; "" if the binding can't tell."""
        try:
            return clip(str(call_sandboxed(self._inner.spell, program)), _LONGEST_CALLS)
        except Exception:  # a report does without it
            return ""

    def script_api(self, source: Source) -> ScriptApi | None:
        """Return the API as scripts use it, None if the binding can't tell.

        Raise NoScript, also on a timeout: the binding may open a file of the target.
        """
        found: list[ScriptApi | NoScript | None] = []

        def look() -> None:
            try:
                found.append(call_sandboxed(self._inner.script_api, source))
            except NoScript as reason:
                found.append(reason)
            except Exception:  # a report does without it
                found.append(None)

        try:
            self._patiently(look, "hangs while a script is written", self._patience / _PATIENCE)
        except TargetError as error:
            raise NoScript(str(error)) from None
        (api,) = found
        if isinstance(api, NoScript):
            raise api
        return api

    def java_api(self, source: Source) -> JavaApi | None:
        """Return the API as Java classes use it, None if it is not one of Java."""
        return call_sandboxed(self._inner.java_api, source)

    def leftovers(self) -> list[str]:
        """Return what other runs have left. Raise TargetError."""
        return self._tried("can't be listed", self._inner.leftovers)

    def discard(self, prefix: str) -> None:
        """Remove what another run has left; raise TargetError, also on a timeout."""
        self._patiently(lambda: self._inner.discard(prefix), f"hangs while {prefix} is removed")

    def status_length(self, path: str) -> int | None:
        """Return the length in the status; raise only exceptions."""
        return call_sandboxed(self._inner.status_length, path)

    def status_etag(self, path: str) -> str | None:
        """Return the version in the status; raise only exceptions."""
        return call_sandboxed(self._inner.status_etag, path)

    @property
    def busy_with(self) -> str:
        """The work of the binding for the suite, such as writing a file: the end of a message."""
        return self._busy[0] if self._busy else ""

    def _tried(self, what: str, call: Callable[..., Value], *args: Any) -> Value:
        self._busy = busy = [what]
        try:
            return tried(f"{self.name}: {what}", call, *args)
        finally:
            if self._busy is busy:  # else an interrupted thread ends, and another one is busy
                self._busy = []

    def _tried_twice(self, what: str, call: Callable[..., Value], *args: Any) -> Value:
        """Return the call's value; make it again if its connection failed, or its answer ended."""
        try:
            return self._tried(what, call, *args)
        except TargetError as error:
            cause = raised(error.__cause__ or error)
            if not (cause.is_unanswered or cause.is_interrupted):
                raise
        return self._tried(what, call, *args)

    def _patiently(
        self, work: Callable[[], None], complaint: str, patience: float | None = None
    ) -> None:
        def call(_: str) -> None:
            self._tried("can't be used", work)

        def give_up(_: object, times: int) -> NoReturn:
            raise TargetError(f"{self.name}: {complaint}")

        supervise(iter([complaint]), call, patience or self._patience, give_up)


class _SandboxedOpener(Opener):
    """An opener whose calls raise only exceptions.

    Calls that are not judged raise TargetError and NoScene.
    """

    def __init__(self, opener: Opener, name: str) -> None:
        self._inner = opener
        self.statistics = opener.statistics
        self._name = name

    @property
    def scenes(self) -> frozenset[str]:  # type: ignore[override]
        """The scenes that it can create, as far as known."""
        return self._tried("can't tell what it can open", lambda: self._inner.scenes)

    @property
    def statuses(self) -> frozenset[str]:  # type: ignore[override]
        """The statuses that it can make."""
        return self._tried("can't tell its statuses", lambda: self._inner.statuses)

    def place(self, scene: str, content: bytes) -> str:
        """Make the scene."""
        return self._tried(f"can't put a {scene} at a path", self._inner.place, scene, content)

    def appear(self, path: str, content: bytes) -> None:
        """Make the file of a scene "late"."""
        self._tried(f"can't write {path}", self._inner.appear, path, content)

    def status(self, path: str, kind: str, length: int | None) -> Any:
        """Return a status of a kind."""
        return self._tried(f"no status of {path}", self._inner.status, path, kind, length)

    def open_file(self, path: str) -> Any:
        """Return a new builder."""
        return call_sandboxed(self._inner.open_file, path)

    def ready(self, path: str, call: BuilderCall) -> BuilderCall:
        """Return the call with a status instead of its kind."""
        return self._tried(f"no status of {path}", self._inner.ready, path, call)

    def call(self, builder: Any, call: BuilderCall) -> Any:
        """Return the builder after a call."""
        return call_sandboxed(self._inner.call, builder, call)

    def build(self, builder: Any) -> Any:
        """Return the result of `build`."""
        return call_sandboxed(self._inner.build, builder)

    def get(self, future: Any) -> Any:
        """Return the stream of the future."""
        return call_sandboxed(self._inner.get, future)

    def outcome(self, error: Exception) -> Outcome:
        """Return the outcome for an exception."""
        return self._tried("can't tell an exception", self._inner.outcome, error)

    def counters(self, opened: Any) -> Mapping[str, int]:
        """Return the statistics that are numbers."""
        return self._tried("can't tell its statistics", self._counted, opened)

    def _counted(self, opened: Any) -> dict[str, int]:
        return {n: c for n, c in self._inner.counters(opened).items() if type(c) is int}

    def _tried(self, what: str, call: Callable[..., Value], *args: Any) -> Value:
        return tried(f"{self._name}: {what}", call, *args)


class Foreign:
    """Represents a value of a type that no call should return, and shows it."""

    def __init__(self, value: object) -> None:
        try:
            self._text = clip(str(repr(value)))
        except BaseException as error:
            _pass_on(error)
            self._text = f"<{type(value).__name__} object>"

    def __repr__(self) -> str:
        return self._text


def call_sandboxed(call: Callable[..., Value], *args: Any) -> Value:
    """Return the call's value; convert an error that is not an `Exception`."""
    try:
        return call(*args)
    except Exception:
        raise
    except BaseException as error:
        _watch.after_call()
        _pass_on(error)
        same = type(type(error).__name__, (Exception,), {})(text_of(error))
        raise same.with_traceback(error.__traceback__) from None
    finally:
        _watch.after_call()
        _end_if_abandoned()
        if _forks.away:
            _forks.leave()


def _end_if_abandoned() -> None:
    """Raise Abandoned after a call that returned too late: another thread uses the executor."""
    if is_abandoned():
        raise Abandoned


def tried(what: str, call: Callable[..., Value], *args: Any) -> Value:
    """Return the value of a call that is not judged.

    Raise TargetError with `what` failed, and where. NoScene, by which an opener reports an
    unsupported scene, passes.
    """
    try:
        return call_sandboxed(call, *args)
    except NoScene:
        raise
    except TargetError as error:
        place = own_place(error.__cause__) if error.__cause__ is not None else ""
        if not place or place in str(error):
            raise
        raise TargetError(f"{error} ({place})") from error.__cause__
    except Exception as error:
        raise TargetError(f"{what}: {error_text(error)} ({raised_at(error)})") from error


def disposed(binding: SandboxedBinding, seconds: float = math.inf) -> tuple[str, ...]:
    """Remove the files of a run; return a warning if that fails: the verdicts remain valid.

    A Ctrl-C waits until this is done. `seconds` are left of the run.
    """
    try:
        with held_back():
            binding.dispose(seconds)
    except TargetError as error:
        return (str(error),)
    return ()


def name_of(target: Binding | PipelineBinding) -> str:
    """Return the target's name in one line. Raise TargetError."""
    return tried("a target has no name", lambda: clip(" ".join(str(target.name).split()), 1000))


def _pass_on(error: BaseException) -> None:
    """Raise errors that are not the target's: an abandoned thread, the user's Ctrl-C."""
    interrupted = isinstance(error, KeyboardInterrupt)
    if interrupted and threading.current_thread() is threading.main_thread():
        raise error
    if isinstance(error, Abandoned):
        raise error


def _tame(outcome: object) -> Outcome:
    if not isinstance(outcome, Outcome):
        return Outcome(Kind.OTHER, detail=f"the binding returned {type(outcome).__name__}")
    value = _tamed(outcome.value)
    return outcome if value is outcome.value else outcome._replace(value=value)


def _tamed(value: object, depth: int = 0) -> object:
    """Return the value, or a replacement for it, down to the parts of a tuple."""
    if type(value) in _PLAIN or isinstance(value, Kind):
        return value
    if depth < _DEEPEST and type(value) in (tuple, Outcome):
        assert isinstance(value, tuple)
        parts = [_tamed(part, depth + 1) for part in value]
        if all(new is old for new, old in zip(parts, value, strict=True)):
            return value
        return Outcome(*parts) if isinstance(value, Outcome) else tuple(parts)  # type: ignore[arg-type]
    if isinstance(value, int):
        return int.__int__(value)  # a number of a subclass is right
    if isinstance(value, bytes):
        return memoryview(value).tobytes()
    number = _whole_number(value)
    return Foreign(value) if number is None else number


def _whole_number(value: object) -> int | None:
    """Return a whole number of another type, such as one of NumPy, as an int, or None.

    No document asks for the type, and Python takes such a number as an offset or a size.
    """
    try:
        return operator.index(value) if isinstance(value, numbers.Integral) else None
    except BaseException as error:
        _pass_on(error)
        return None


def error_text(error: BaseException) -> str:
    """Return the class of an exception of a target and its message, in one line."""
    _pass_on(error)
    text = " ".join(text_of(error).split())
    return clip(f"{type(error).__name__}: {text}" if text else type(error).__name__)


_STANDARD = (("stdin", 0, "r"), ("stdout", 1, "w"), ("stderr", 2, "w"))


class Sandbox:
    """A snapshot of process state to restore.

    It has the directory, the environment, standard streams, signals and traces, and the functions
    of modules that the suite needs.
    """

    def __init__(self) -> None:
        self.patches = Patches()
        self._directory = _opened_directory()
        self._environment = dict(os.environ)
        self._streams = {name: getattr(sys, name) for name, _, _ in _STANDARD}
        self._files = {number: _duplicate(number) for _, number, _ in _STANDARD}
        self._identities = {number: _identity(number) for number in self._files}
        self._umask = _umask()
        self._timer = signal.getitimer(signal.ITIMER_REAL)
        self._trace, self._profile = threading.gettrace(), threading.getprofile()
        self._signals = _handlers()

    def restore(self, last: bool = False) -> None:
        """Restore changed state. Signals can be set in the main thread only.

        A changed descriptor of a standard stream may be in use by the target, which still reads
        from it: it is restored at `last`, when the target's output is flushed, too.
        """
        self.patches.undo()
        self._restore_process()
        threading.settrace(self._trace)
        threading.setprofile(self._profile)
        if self._directory is not None:
            with contextlib.suppress(OSError):
                os.fchdir(self._directory)
        if dict(os.environ) != self._environment:
            os.environ.clear()
            os.environ.update(self._environment)
        for name, number, mode in _STANDARD:
            self._restore_stream(name, number, mode, last)
        if last:
            show_printed()
        if threading.current_thread() is threading.main_thread():
            for number, handler in self._signals.items():
                if signal.getsignal(number) is not handler:
                    signal.signal(number, handler)

    def _restore_process(self) -> None:
        """Restore what would break files of the suite, or end it."""
        if os.umask(self._umask) != self._umask:
            self.patches.changed["the umask"] = None
        timer = signal.getitimer(signal.ITIMER_REAL)
        if timer != (0.0, 0.0) and self._timer == (0.0, 0.0):
            signal.setitimer(signal.ITIMER_REAL, 0)
            self.patches.changed["the timer of signals"] = None

    def close(self) -> None:
        """Restore, and close the copies of descriptors."""
        self.restore(last=True)
        for copy in (self._directory, *self._files.values()):
            if copy is not None:
                with contextlib.suppress(OSError):
                    os.close(copy)

    def _restore_stream(self, name: str, number: int, mode: str, last: bool) -> None:
        copy, now = self._files[number], _identity(number)
        if copy is not None and now != self._identities[number] and (last or now is None):
            with contextlib.suppress(OSError):
                os.dup2(copy, number)
        stream = self._streams[name]
        if copy is not None and getattr(stream, "closed", False):
            again = open(number, mode, encoding="utf-8", errors="replace", closefd=False)  # noqa: SIM115
            stream = self._streams[name] = again
        if getattr(sys, name) is not stream:
            setattr(sys, name, stream)


def _umask() -> int:
    """Return the umask, which can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def show_printed() -> None:
    """Flush the printed output, so that it precedes later output."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):  # closed, broken, or missing
            stream.flush()


def private_copy(stream: TextIO) -> TextIO:
    """Return another stream to the same file, or the stream itself if it has no descriptor."""
    try:
        copy = os.dup(stream.fileno())
    except (OSError, ValueError, AttributeError):
        return stream
    return open(copy, "w", encoding=stream.encoding, errors=stream.errors)


def _opened_directory() -> int | None:
    try:
        return os.open(".", os.O_RDONLY)
    except OSError:
        return None


def _duplicate(number: int) -> int | None:
    try:
        return os.dup(number)
    except OSError:
        return None


def _identity(number: int) -> tuple[int, int] | None:
    try:
        status = os.fstat(number)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _handlers() -> dict[int, Any]:
    """Return the handlers of signals that Python set."""
    known = ((number, signal.getsignal(number)) for number in signal.valid_signals())
    return {int(number): handler for number, handler in known if handler is not None}
