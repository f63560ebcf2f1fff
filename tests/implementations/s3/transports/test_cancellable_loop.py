"""Tests of awaiting obstore without an event loop, and of interpreter exit."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from queue import SimpleQueue
from typing import Any

import pytest

from fscontract.contract.api.errors import InterruptedIOException
from fscontract.implementations.s3.object_reader import Cancellation
from fscontract.implementations.s3.transports import cancellable_loop
from fscontract.implementations.s3.transports.cancellable_loop import Calls, Failed, HelperThreads
from tests.implementations.s3.awaitables import Library
from tests.limits import DEADLOCK


@contextmanager
def elsewhere(call: Callable[[], Any]) -> Iterator[Any]:
    """Run a call in another thread; yield its future."""
    with ThreadPoolExecutor(1) as pool:
        yield pool.submit(call)


def test_result_is_returned(library: Library) -> None:
    library.may_complete.set()
    assert Calls().run(library.awaitable(7), Cancellation(), DEADLOCK) == 7


def test_error_is_returned_as_a_value(library: Library) -> None:
    library.may_complete.set()
    found = Calls().run(library.awaitable(KeyError("a")), Cancellation(), DEADLOCK)
    assert isinstance(found, Failed)
    assert isinstance(found.error, KeyError)


def test_error_at_the_start_is_returned_as_a_value() -> None:
    def begin() -> None:
        raise KeyError("a")

    found = Calls().run(begin, Cancellation(), DEADLOCK)
    assert isinstance(found.error, KeyError)


def test_timeout_cancels_the_library_call(library: Library) -> None:
    with pytest.raises(TimeoutError):
        Calls().run(library.awaitable(7), Cancellation(), 0.01)
    assert library.told.is_set()


def test_cancel_ends_the_wait_and_the_library_call(library: Library) -> None:
    cancel = Cancellation()
    with elsewhere(lambda: Calls().run(library.awaitable(7), cancel, DEADLOCK)) as call:
        cancel.cancel()
        assert isinstance(call.exception(DEADLOCK), InterruptedIOException)
    assert library.told.is_set() or not library.threads


def test_stop_cancels_the_calls_of_one_owner(library: Library) -> None:
    mine, others = Calls(), Calls()
    with (
        elsewhere(lambda: mine.run(library.awaitable(1), Cancellation(), DEADLOCK)) as first,
        elsewhere(lambda: others.run(library.awaitable(2), Cancellation(), DEADLOCK)) as second,
    ):
        while len(library.threads) < 2:
            assert not first.done()
        mine.stop()
        assert isinstance(first.exception(DEADLOCK), InterruptedIOException)
        library.may_complete.set()
        assert second.result(DEADLOCK) == 2


def test_call_within_an_event_loop_keeps_that_loop(library: Library) -> None:
    library.may_complete.set()

    async def main() -> tuple[int, bool]:
        outer = asyncio.get_running_loop()
        found = Calls().run(library.awaitable(7), Cancellation(), DEADLOCK)
        return found, asyncio.get_running_loop() is outer

    assert asyncio.run(main()) == (7, True)


def test_exit_waits_for_threads_of_cancelled_calls(library: Library) -> None:
    """A cancelled call is not complete until obstore's thread notices."""
    under_way, cancel = cancellable_loop._UnderWay(), Cancellation()
    call = cancellable_loop.Call(Calls())
    under_way.add(call)
    cancellable_loop._begin(library.awaitable(7), call)
    with elsewhere(under_way.end) as ended:
        while not call.cancelling:
            assert not ended.done()
        assert not call.left
        assert not ended.done()
        library.may_complete.set()
        ended.result(DEADLOCK)
        assert call.left
    assert not cancel.cancelled


def test_only_the_main_thread_starts_calls_after_exit() -> None:
    under_way = cancellable_loop._UnderWay()
    under_way.end()
    under_way.add(cancellable_loop.Call(Calls()))
    with elsewhere(lambda: under_way.add(cancellable_loop.Call(Calls()))) as call:
        assert isinstance(call.exception(DEADLOCK), InterruptedIOException)


def test_blocking_call_returns_its_result_or_its_error_as_a_value() -> None:
    calls = Calls()
    assert calls.wait(calls.send(lambda: 7), Cancellation(), DEADLOCK) == 7
    found = calls.wait(calls.send(lambda: int("a")), Cancellation(), DEADLOCK)
    assert isinstance(found.error, ValueError)
    calls.stop()


def test_cancel_ends_the_wait_for_a_blocking_call() -> None:
    """The call is under way until its thread has left the library."""
    calls, cancel, may_end = Calls(), Cancellation(), threading.Event()
    call = calls.send(lambda: may_end.wait(DEADLOCK))
    cancel.cancel()
    with pytest.raises(InterruptedIOException):
        calls.wait(call, cancel, DEADLOCK)
    assert not call.left
    may_end.set()
    cancellable_loop._UNDER_WAY._wait()
    assert call.left


def test_blocking_call_without_a_thread_is_not_under_way(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", fail)
    with pytest.raises(RuntimeError):
        Calls().send(lambda: None)
    assert all(call.left for call in cancellable_loop._UNDER_WAY._calls)


#: Script with reads in daemon threads that exits after the first read.
ENDING = """
import sys
import threading
import time
import obstore
from obstore.store import MemoryStore
from fscontract.contract.api.errors import InterruptedIOException
from fscontract.implementations.s3.object_reader import Cancellation
from fscontract.implementations.s3.transports.cancellable_loop import Calls

sys.setswitchinterval(1e-9)  # threads take turns at every step
store, calls, first = MemoryStore(), Calls(), threading.Event()
store.put("a", b"abc")
ways = {
    "run": lambda: calls.run(lambda: obstore.get_async(store, "a"), Cancellation(), 10),
    "send": lambda: calls.wait(calls.send(lambda: obstore.get(store, "a")), Cancellation(), 10),
}
once = ways[sys.argv[1]]

def read():
    try:
        while True:
            once()
            first.set()
    except InterruptedIOException:
        return

for _ in range(24):
    threading.Thread(target=read, daemon=True).start()
first.wait()

class Late:
    def __del__(self, sleep=time.sleep):
        sleep(0.3)

late = Late()
"""


@pytest.mark.parametrize(("way", "processes"), [("run", 12), ("send", 6)])
def test_exit_during_obstore_calls_does_not_abort(way: str, processes: int) -> None:
    """Several processes run concurrently, so that threads wait for CPU time: finding S21."""

    def ended(_: int) -> tuple[int, bytes]:
        done = subprocess.run([sys.executable, "-c", ENDING, way], capture_output=True, check=False)
        return done.returncode, done.stderr

    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(ended, range(processes))) == {(0, b"")}


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
    monkeypatch.setattr(cancellable_loop, "_IDLE", 0.0)
    helpers = HelperThreads()
    first = thread_of(helpers)
    first.join(DEADLOCK)
    assert not first.is_alive()
    assert helpers._idle == []
    assert thread_of(helpers) is not first
