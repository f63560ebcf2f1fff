"""Tests of threads that run blocking calls."""

from __future__ import annotations

import threading
from queue import SimpleQueue
from typing import Any

import pytest

from fscontract.implementations.s3.transports import helper_threads
from fscontract.implementations.s3.transports.helper_threads import HelperThreads
from tests.limits import DEADLOCK


def thread_of(helpers: HelperThreads) -> threading.Thread:
    """Return the thread of a call."""
    results: SimpleQueue[Any] = SimpleQueue()
    helpers.start(threading.current_thread, results.put)
    thread = results.get(timeout=DEADLOCK)
    assert isinstance(thread, threading.Thread)
    return thread


def test_calls_in_sequence_share_one_thread() -> None:
    helpers = HelperThreads()
    assert len({thread_of(helpers) for _ in range(100)}) == 1
    helpers.stop()


def test_concurrent_call_has_its_own_thread() -> None:
    helpers, may_end, ended = HelperThreads(), threading.Event(), threading.Event()
    helpers.start(lambda: may_end.wait(DEADLOCK), lambda _: ended.set())
    assert thread_of(helpers).is_alive()
    assert not ended.is_set()
    may_end.set()
    assert ended.wait(DEADLOCK)
    helpers.stop()


def test_stop_ends_idle_threads_and_a_later_call_starts_another() -> None:
    helpers = HelperThreads()
    first = thread_of(helpers)
    helpers.stop()
    assert not first.is_alive()
    assert thread_of(helpers) is not first
    helpers.stop()


def test_idle_thread_ends_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(helper_threads, "_IDLE", 0.0)
    helpers = HelperThreads()
    first = thread_of(helpers)
    first.join(DEADLOCK)
    assert not first.is_alive()
    assert helpers._idle == []
    assert thread_of(helpers) is not first
