"""A filesystem that threads leave unusable for good, like one whose streams share a connection."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest
from inline_snapshot import snapshot

from fscontract.contract.api.filesystem import Buffer
from fscontract.contract.concurrency import ConcurrencyReport, check_concurrency, scheduler
from fscontract.contract.runner import phases
from fscontract.contract.runner.result import Verdict
from fscontract.contract.runner.runner import check
from fscontract.implementations.bindings.native import StreamBinding
from fscontract.implementations.memory import MemoryFileSystem, MemoryInputStream
from tests.contract.runner.conftest import settings_for
from tests.limits import DEADLOCK


class Connection:
    """Takes requests of one thread after another; when threads take turns, it answers no more."""

    def __init__(self) -> None:
        self.asking: list[int] = []
        self.mixed = False

    def ask(self) -> None:
        """Send a request, and get the answer unless there is none."""
        me = threading.get_ident()
        if me not in self.asking[-1:]:
            self.asking.append(me)
        self.mixed = self.mixed or len(self.asking) > len(set(self.asking))
        if self.mixed:
            threading.Event().wait()
        time.sleep(0)  # another thread may go on


class Sharing(MemoryFileSystem):
    """A filesystem whose streams share a connection, which may be `broken` from the start."""

    def __init__(self, broken: bool = False) -> None:
        connection = self.connection = Connection()
        connection.mixed = broken

        class Stream(MemoryInputStream):
            def __init__(self, *args: Any) -> None:
                super().__init__(*args)
                if not broken:
                    connection.asking.clear()
                    connection.ask()

            def pread(
                self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
            ) -> int:
                connection.ask()
                return super().pread(position, buffer, offset, length)

        super().__init__(Stream)


def test_what_threads_did_to_it_fails_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing can be tried again, and the check of threads is given up."""
    monkeypatch.setattr(phases, "_SCHEDULE_PATIENCE", 6.0)  # longer than what threads get
    settings = settings_for("model.pread-thread-safe", "read-vectored.multiple", timeout=1.0)
    threads, others = check(StreamBinding(Sharing(), "sharing"), settings).clauses
    assert threads.outcome is Verdict.FAIL
    assert threads.counterexample is not None
    assert threads.counterexample.actual == "hang"
    assert others.reason.startswith("stopped: a call hangs before or after the threads run")


def _checked_freely(
    filesystem: Sharing, features: frozenset[str], monkeypatch: pytest.MonkeyPatch
) -> ConcurrencyReport:
    """What a check of threads that can't be stepped through finds; it may never return.

    It has found something, or has ended.
    """
    monkeypatch.setattr(scheduler, "_OURS", ("",))
    binding, report = StreamBinding(filesystem, "sharing"), ConcurrencyReport()
    binding.prepare()

    def run() -> None:
        check_concurrency(
            binding, features, "quick", 1, lambda _: None, hang_after=0.1, report=report
        )

    worker = threading.Thread(target=run, daemon=True)
    worker.start()
    deadline = time.monotonic() + DEADLOCK
    while worker.is_alive() and not report.violations and time.monotonic() < deadline:
        worker.join(0.1)
    return report


def test_threads_that_run_freely_are_told_of_too(
    features: frozenset[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    report = _checked_freely(Sharing(), features, monkeypatch)
    assert report.violations["model.pread-thread-safe"].actual == "hang"
    assert report.stopped


def test_threads_are_not_blamed_for_calls_that_hang_without_others(
    features: frozenset[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    report = _checked_freely(Sharing(broken=True), features, monkeypatch)
    assert report.violations == {}
    assert report.notes[-1] == (
        snapshot("stopped: calls hang even one after the other: nothing said about concurrency")
    )
