"""Targets that allow calls from one thread only: `threads: one` in a profile."""

from __future__ import annotations

import sqlite3
import threading
from dataclasses import replace
from typing import Any

import pytest

from fscontract.contract.binding import TargetError
from fscontract.contract.runner.result import RunResult, Verdict
from fscontract.contract.runner.runner import check
from fscontract.contract.runner.settings import Settings
from fscontract.contract.runner.timeouts import beat, untimed, work_here
from fscontract.implementations.bindings.native import StreamBinding
from fscontract.implementations.memory import MemoryFileSystem, MemoryInputStream
from tests.contract.runner.conftest import settings_for

HINT = "'threads: one' in a profile makes all calls from the first"


class Bound(StreamBinding):
    """A binding whose streams, and files if `with_files`, belong to the thread that makes it."""

    def __init__(self, with_files: bool = False) -> None:
        connection = sqlite3.connect(":memory:")
        self.threads = threads = set[int]()
        self._connection, self._with_files = connection, with_files

        class Stream(MemoryInputStream):
            def seek(self, position: int) -> None:
                threads.add(threading.get_ident())
                connection.execute("select 1")
                super().seek(position)

        super().__init__(MemoryFileSystem(stream_class=Stream), "bound")

    def create(self, content: bytes) -> str:
        if self._with_files:
            try:
                self._connection.execute("select 1")
            except sqlite3.Error as error:
                raise TargetError(f"bound: {error}") from error
        return super().create(content)


def one_thread(*names: str, **more: Any) -> Settings:
    settings = settings_for(*names, **more)
    return replace(settings, profile=replace(settings.profile, one_thread=True))


def of(result: RunResult, name: str) -> tuple[Verdict, str]:
    return next((c.outcome, c.reason) for c in result.clauses if c.clause.id == name)


def test_all_calls_come_from_the_thread_that_makes_the_target() -> None:
    binding = Bound(with_files=True)
    result = check(binding, one_thread("seek.pos", "seek.negative", "pread.serializable"))
    assert result.conforms
    assert binding.threads == {threading.get_ident()}
    assert result.warnings == ()
    reason = "the profile declares threads: one"
    assert of(result, "pread.serializable") == (Verdict.UNEXERCISED, reason)


def test_errors_that_name_threads_have_a_hint() -> None:
    result = check(Bound(), settings_for("seek.pos"))
    assert of(result, "seek.pos")[0] is Verdict.FAIL
    (warning,) = result.warnings
    assert warning.startswith("bound: calls fail because of their thread: ")
    assert warning.endswith(HINT)
    with pytest.raises(TargetError, match=HINT):
        check(Bound(with_files=True), settings_for("seek.pos"))


def test_ticks_end_with_an_item_that_takes_too_long_and_return_with_a_beat() -> None:
    ticks = threading.Semaphore(0)
    begun: list[object] = []

    def work(item: str) -> None:
        assert ticks.acquire(timeout=10)
        while ticks.acquire(timeout=0.3):
            pass  # until the limit is reached
        beat("next")
        assert ticks.acquire(timeout=10)
        while ticks.acquire(timeout=0.3):
            pass
        with untimed():
            assert ticks.acquire(timeout=10)

    work_here(iter(["one"]), work, lambda thread: 0.2, ticks.release, begun.append)
    assert begun == ["next"]


def test_an_error_of_the_work_passes() -> None:
    def work(item: str) -> None:
        raise TargetError(item)

    with pytest.raises(TargetError, match="one"):
        work_here(iter(["one"]), work, lambda thread: 10)
    assert "fscontract-watch" not in {thread.name for thread in threading.enumerate()}
