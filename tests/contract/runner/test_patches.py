"""A target that patches the process it shares with the suite spoils neither run nor report."""

from __future__ import annotations

import builtins
import io
import json
import os
import random
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from threading import get_ident
from typing import Any, NoReturn

import pytest
from jsonschema import Draft202012Validator

from fscontract.contract.generate.hypothesis_search import EXAMPLES
from fscontract.contract.report.json import render
from fscontract.contract.runner.patches import Patches
from fscontract.contract.runner.result import RunResult, Verdict
from fscontract.contract.runner.runner import check
from fscontract.contract.spec.clauses import clauses, select
from fscontract.implementations.memory import MemoryInputStream
from fscontract.pipeline.splitter.binding import LocalSplitterBinding
from tests.contract.runner.conftest import binding_of, settings_for
from tests.pipeline_checks import check_pipeline

#: Where a run ends that runs examples alone.
VECTORS = ("exhaustive", 0)


#: The threads of pytest-xdist, which have to go on.
_OTHERS: set[int] = set()


def _refuse(*args: object, **named: object) -> NoReturn:
    raise RuntimeError("patched")


@pytest.fixture(autouse=True)
def mended() -> Iterator[None]:
    """Put back what a failing test leaves patched; threads of others never see it."""
    _OTHERS.clear()
    _OTHERS.update(thread for thread in sys._current_frames() if thread != get_ident())
    patches, mask = Patches(), os.umask(0o022)
    os.umask(mask)
    yield
    patches.undo()
    os.umask(mask)
    signal.setitimer(signal.ITIMER_REAL, 0)


def _patch(owner: Any, *names: str, by: Any = _refuse) -> Callable[[], None]:
    patched = {name: _except_for_others(getattr(owner, name), by) for name in names}

    def change() -> None:
        for name in names:
            setattr(owner, name, patched[name])

    return change


def _except_for_others(right: Any, by: Any) -> Any:
    def patched(*args: Any, **named: Any) -> Any:
        return (right if get_ident() in _OTHERS else by)(*args, **named)

    return patched if callable(by) else by


def _delete_sorted() -> None:
    if hasattr(builtins, "sorted"):
        del builtins.sorted  # which pytest-xdist does not use in a thread


CHANGES: dict[str, tuple[Callable[[], object], tuple[str, ...]]] = {
    "clocks": (
        _patch(time, "time", "monotonic", "perf_counter", by=lambda: -1e9),
        ("time.time", "time.monotonic", "time.perf_counter"),
    ),
    "sleep": (_patch(time, "sleep"), ("time.sleep",)),
    "builtins": (
        _patch(builtins, "isinstance", "len", "print", "open", "sorted", "tuple"),
        ("builtins.isinstance", "builtins.len", "builtins.print", "builtins.open"),
    ),
    "deleted": (_delete_sorted, ("builtins.sorted",)),
    "threads": (
        _patch(threading, "current_thread", "Thread", "Event", "Lock", "Condition"),
        ("threading.current_thread", "threading.Thread", "threading.Event", "threading.Lock"),
    ),
    "methods of threads": (
        _patch(threading.Thread, "join", "start", "is_alive"),
        ("threading.Thread.join", "threading.Thread.start", "threading.Thread.is_alive"),
    ),
    "json": (_patch(json, "dumps", "dump", "loads"), ("json.dumps", "json.dump", "json.loads")),
    "os": (
        _patch(os, "getpid", "dup", "fstat", "replace", "umask"),
        ("os.getpid", "os.dup", "os.fstat", "os.replace", "os.umask"),
    ),
    "environ": (_patch(os, "environ", by={}), ("os.environ",)),
    "random": (_patch(random, "Random"), ("random.Random",)),
    "signal": (_patch(signal, "signal", "getsignal"), ("signal.signal", "signal.getsignal")),
    "io": (_patch(io, "open", "StringIO"), ("io.open", "io.StringIO")),
    "recursion": (lambda: sys.setrecursionlimit(len_of_stack() + 40), ("the recursion limit",)),
    "umask": (lambda: os.umask(0o777), ("the umask",)),
    "timer": (lambda: signal.setitimer(signal.ITIMER_REAL, 600), ("the timer of signals",)),
}


def len_of_stack() -> int:
    """Return how many calls there are on the stack."""
    frame, count = sys._getframe(), 0
    while frame.f_back is not None:
        frame, count = frame.f_back, count + 1
    return count


def _stream(change: Callable[[], object], on: int = 2) -> type[MemoryInputStream]:
    """Streams of which a seek to `on` changes something, and is right otherwise."""

    class Stream(MemoryInputStream):
        def seek(self, position: int) -> None:
            super().seek(position)
            if position == on:
                change()

    return Stream


def _checked(stream: type[MemoryInputStream], **more: Any) -> RunResult:
    settings = settings_for("seek.pos", "seek.negative", "read-byte.value", **more)
    return check(binding_of(stream), settings)


def _validated(result: RunResult) -> dict[str, Any]:
    """The report, which keeps its schema."""
    from importlib.resources import files

    schema = json.loads((files("fscontract.specs") / "report.schema.json").read_text())
    report = json.loads(render([result]))
    Draft202012Validator(schema).validate(report)
    return dict(report)


def test_the_recursion_limit_that_hypothesis_raises_is_not_the_targets_change(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(EXAMPLES, "quick", 2)
    warnings = _checked(MemoryInputStream, until=("status", 0)).warnings
    assert not any("recursion limit" in warning for warning in warnings)


def test_a_recursion_limit_that_the_target_sets_under_hypothesis_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(EXAMPLES, "quick", 20)

    def raise_limit() -> None:
        """Raise it: a lower one might also strike the thread of the test, which is deeper."""
        sys.setrecursionlimit(sys.getrecursionlimit() + 7)

    (warning,) = _checked(_stream(raise_limit), until=("status", 0)).warnings
    assert warning.startswith("the target changed the recursion limit")


@pytest.mark.parametrize("change", CHANGES)
def test_a_run_goes_through_and_names_what_the_target_changed(change: str) -> None:
    make, names = CHANGES[change]
    result = _checked(_stream(make), until=VECTORS)
    assert {c.outcome for c in result.clauses} == {Verdict.PASS}
    assert 0 <= result.seconds < 600
    assert abs(result.started.timestamp() - time.time()) < 3600
    (warning,) = result.warnings
    assert warning.startswith("the target changed ")
    assert warning.endswith(", which the suite put back")
    assert all(name in warning for name in names)
    assert _validated(result)


@pytest.mark.parametrize("change", CHANGES)
def test_all_is_as_it_was_after_a_run(change: str) -> None:
    patches = Patches()
    _checked(_stream(CHANGES[change][0]), until=VECTORS)
    assert not patches.undo()


def test_a_stream_that_changes_nothing_is_not_warned_of() -> None:
    assert _checked(MemoryInputStream, until=VECTORS).warnings == ()


def test_a_call_that_puts_back_itself_what_it_changes_is_not_warned_of() -> None:
    """As one does that patches a library around a call of it."""

    class Careful(MemoryInputStream):
        def seek(self, position: int) -> None:
            with pytest.MonkeyPatch.context() as patched:
                patched.setattr(time, "time", lambda: 0.0)
                patched.setattr(os, "getpid", lambda: 1)
                super().seek(position)

    assert _checked(Careful, until=VECTORS).warnings == ()


def test_a_violation_beside_a_change_is_found() -> None:
    class Wrong(MemoryInputStream):
        def seek(self, position: int) -> None:
            super().seek(max(position, 0))
            CHANGES["builtins"][0]()

    result = _checked(Wrong, until=VECTORS)
    outcomes = {c.clause.id: c.outcome for c in result.clauses}
    assert outcomes["seek.negative"] is Verdict.FAIL
    assert outcomes["seek.pos"] is Verdict.PASS


def test_a_call_that_changes_something_and_hangs_is_charged() -> None:
    class Stuck(MemoryInputStream):
        def seek(self, position: int) -> None:
            if position < 0:
                stop = threading.Event()
                CHANGES["threads"][0]()
                CHANGES["clocks"][0]()
                stop.wait()
            super().seek(position)

    result = _checked(Stuck, until=VECTORS, timeout=0.4)
    outcomes = {c.clause.id: c.outcome for c in result.clauses}
    assert outcomes["seek.negative"] is Verdict.HANG
    assert result.seconds >= 0
    assert "threading.Event" in result.warnings[-1]


def test_a_part_of_a_pipeline_that_patches_time_is_timed_right() -> None:
    class Patching(LocalSplitterBinding):
        def filesystem(self) -> Any:
            CHANGES["clocks"][0]()
            return super().filesystem()

    result = check_pipeline(Patching(), select(["split.trigger"]))
    assert 0 <= result.seconds < 600
    assert "time.monotonic" in result.warnings[0]


def test_every_stream_clause_is_judged_although_each_seek_patches_everything() -> None:
    """All phases, and threads."""

    class Everything(MemoryInputStream):
        def seek(self, position: int) -> None:
            super().seek(position)
            for name in ("clocks", "builtins", "threads", "methods of threads", "json", "os"):
                CHANGES[name][0]()

    chosen = [c for c in clauses() if c.startswith(("seek.", "close."))]
    result = check(binding_of(Everything), settings_for(*chosen))
    assert result.conforms
    assert _validated(result)
