"""A small stream under test, broken in whatever way a test likes."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

import pytest

from fscontract.contract.runner import timeouts
from fscontract.contract.runner.executor import Executor
from fscontract.contract.runner.settings import Settings, with_checks
from fscontract.contract.spec.clauses import clauses
from fscontract.contract.spec.profiles import load_profile
from fscontract.implementations.bindings.native import StreamBinding
from fscontract.implementations.bindings.python_file import PythonFileBinding
from fscontract.implementations.memory import MemoryFileSystem, MemoryInputStream

FEATURES = load_profile("reference").features
MakeExecutor: TypeAlias = Callable[..., Executor]


def binding_of(kind: type[MemoryInputStream] = MemoryInputStream) -> StreamBinding:
    """A binding to streams of a class."""
    return StreamBinding(MemoryFileSystem(kind), "test")


def settings_for(*patterns: str, **more: Any) -> Settings:
    """Settings for the reference profile and these clauses (default: all)."""
    chosen = [c for c in clauses().values() if not patterns or c.id in patterns]
    return Settings(load_profile("reference"), with_checks(chosen), **more)


@contextmanager
def executor_of_files(opens: Callable[[str], Any], folder: Path, *more: str) -> Iterator[Executor]:
    """An executor of programs on Python files in a folder, with more features than the usual."""
    binding = PythonFileBinding(opens, str(folder), "files")
    binding.prepare()
    try:
        yield Executor(binding, load_profile("python-file").features.union(more), 64)
    finally:
        binding.dispose()


class Clock:
    """Stands in for the clock of the watchdog alone; other threads have their own."""

    def __init__(self) -> None:
        self.now = 0.0
        self._late: threading.Thread | None = None
        self._due = (math.inf, threading.Event())

    def monotonic(self) -> float:
        """Return the time; each look of the watchdog at a late call is a second after the last."""
        if self._late is not None and not getattr(self._late, "abandoned", False):
            self.now += 1.0
        due, event = self._due
        if self.now >= due:
            event.set()
        return self.now

    def stall(self, seconds: float) -> None:
        """Let this time pass, or less if the watchdog gives up the calling thread."""
        event = threading.Event()
        self._due = self.now + seconds, event
        self.pass_on()
        event.wait()
        self.stop()

    def pass_on(self) -> None:
        """Let time pass until the watchdog gives up the calling thread."""
        self._late = threading.current_thread()

    def stop(self) -> None:
        """Let no more time pass."""
        self._late = None

    def wait_for_ever(self) -> NoReturn:
        """Block; time passes until the watchdog gives up the calling thread."""
        self.pass_on()
        threading.Event().wait()
        raise AssertionError


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The watchdog's clock, which is frozen unless a test advances it.

    So nothing is late on a machine under load.
    """
    made = Clock()
    monkeypatch.setattr(timeouts, "monotonic", made.monotonic)
    return made


@pytest.fixture
def executor() -> Iterator[MakeExecutor]:
    """Executors on prepared bindings, which are disposed of."""
    made: list[StreamBinding] = []

    def make(
        kind: type[MemoryInputStream] = MemoryInputStream,
        buffer: int = 64,
        features: frozenset[str] = FEATURES,
    ) -> Executor:
        binding = binding_of(kind)
        binding.prepare()
        made.append(binding)
        return Executor(binding, features, buffer)

    yield make
    for binding in made:
        binding.dispose()
