"""Awaitables of obstore without an event loop, and the end of a process that used them."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest

from fscontract.contract.api.errors import InterruptedIOException
from fscontract.implementations.s3.object_reader import Cancellation
from fscontract.implementations.s3.transports import cancellable_loop
from fscontract.implementations.s3.transports.cancellable_loop import Calls, Failed
from tests.implementations.s3.awaitables import Library
from tests.limits import DEADLOCK


@contextmanager
def elsewhere(call: Callable[[], Any]) -> Iterator[Any]:
    """A call in another thread, of which there is a future."""
    with ThreadPoolExecutor(1) as pool:
        yield pool.submit(call)


def test_a_result_is_handed_over(library: Library) -> None:
    library.may_complete.set()
    assert Calls().run(library.awaitable(7), Cancellation(), DEADLOCK) == 7


def test_an_error_is_a_value(library: Library) -> None:
    library.may_complete.set()
    found = Calls().run(library.awaitable(KeyError("a")), Cancellation(), DEADLOCK)
    assert isinstance(found, Failed)
    assert isinstance(found.error, KeyError)


def test_an_error_at_the_beginning_is_a_value_too() -> None:
    def begin() -> None:
        raise KeyError("a")

    found = Calls().run(begin, Cancellation(), DEADLOCK)
    assert isinstance(found.error, KeyError)


def test_a_late_result_is_a_timeout_and_the_library_is_told(library: Library) -> None:
    with pytest.raises(TimeoutError):
        Calls().run(library.awaitable(7), Cancellation(), 0.01)
    assert library.told.is_set()


def test_cancelling_ends_the_wait_and_the_library_is_told(library: Library) -> None:
    cancel = Cancellation()
    with elsewhere(lambda: Calls().run(library.awaitable(7), cancel, DEADLOCK)) as call:
        cancel.cancel()
        assert isinstance(call.exception(DEADLOCK), InterruptedIOException)
    assert library.told.is_set() or not library.threads


def test_stopping_ends_the_calls_of_one_owner_only(library: Library) -> None:
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


def test_a_call_within_an_event_loop_leaves_that_alone(library: Library) -> None:
    library.may_complete.set()

    async def main() -> tuple[int, bool]:
        outer = asyncio.get_running_loop()
        found = Calls().run(library.awaitable(7), Cancellation(), DEADLOCK)
        return found, asyncio.get_running_loop() is outer

    assert asyncio.run(main()) == (7, True)


def test_the_end_waits_for_a_thread_that_is_still_to_come(library: Library) -> None:
    """A cancelled call is not over for the thread that has yet to hear of it."""
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


def test_after_the_end_only_the_main_thread_begins_calls() -> None:
    under_way = cancellable_loop._UnderWay()
    under_way.end()
    under_way.add(cancellable_loop.Call(Calls()))
    with elsewhere(lambda: under_way.add(cancellable_loop.Call(Calls()))) as call:
        assert isinstance(call.exception(DEADLOCK), InterruptedIOException)


#: Reads in threads that nobody ends, and ends as soon as something was read, which takes a while.
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

def read():
    try:
        while True:
            calls.run(lambda: obstore.get_async(store, "a"), Cancellation(), 10)
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


def test_programs_that_end_while_obstore_is_at_work_are_not_aborted() -> None:
    """Several at a time, so that threads have to wait for their turn: finding S21."""

    def ended(_: int) -> tuple[int, bytes]:
        done = subprocess.run([sys.executable, "-c", ENDING], capture_output=True, check=False)
        return done.returncode, done.stderr

    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(ended, range(12))) == {(0, b"")}
