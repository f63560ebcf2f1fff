"""The watchdog ends what hangs and nothing else."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from fscontract.contract.runner import timeouts
from fscontract.contract.runner.timeouts import (
    Abandoned,
    Next,
    collect_again,
    give_up,
    is_abandoned,
    is_runnable,
    stop_collecting,
    supervise,
    untimed,
)
from tests.contract.runner.conftest import Clock
from tests.limits import DEADLOCK


def _go_on(item: object, times: int) -> Next:
    return Next.GO_ON


def _end(item: object, times: int) -> Next:
    return Next.END


def test_every_item_is_worked_on_in_order() -> None:
    seen: list[int] = []
    supervise(iter(range(5)), seen.append, 5.0, _go_on)
    assert seen == [0, 1, 2, 3, 4]


def test_an_item_that_blocks_is_handed_over_and_the_rest_goes_on(clock: Clock) -> None:
    hung: list[int] = []
    seen: list[int] = []

    def work(item: int) -> None:
        if item == 1:
            clock.wait_for_ever()
        seen.append(item)

    def on_hang(item: int, times: int) -> Next:
        hung.append(item)
        return Next.GO_ON

    supervise(iter(range(4)), work, 5.0, on_hang)
    assert (hung, seen) == ([1], [0, 2, 3])


def test_a_worker_knows_after_a_late_call_that_it_is_abandoned(clock: Clock) -> None:
    late, ended = threading.Event(), threading.Event()
    abandoned: list[tuple[int, bool]] = []

    def work(item: int) -> None:
        if item == 0:
            clock.pass_on()
            late.wait(DEADLOCK)
        abandoned.append((item, is_abandoned()))
        if item == 0:
            ended.set()

    def on_hang(item: int, times: int) -> Next:
        late.set()
        assert ended.wait(DEADLOCK)
        return Next.GO_ON

    supervise(iter(range(2)), work, 5.0, on_hang)
    assert abandoned == [(0, True), (1, False)]


def test_a_loop_in_python_is_stopped(clock: Clock) -> None:
    stopped = threading.Event()

    def work(item: int) -> None:
        try:
            clock.pass_on()
            while True:
                pass
        finally:
            stopped.set()

    supervise(iter([1]), work, 5.0, _end)
    assert stopped.wait(DEADLOCK)


def test_an_exception_of_the_work_comes_out() -> None:
    def work(item: int) -> None:
        raise ValueError("it")

    with pytest.raises(ValueError, match="it"):
        supervise(iter([1]), work, 5.0, _go_on)


def test_an_exception_of_the_source_comes_out() -> None:
    def items() -> Iterator[int]:
        yield 1
        raise KeyError("source")

    with pytest.raises(KeyError):
        supervise(items(), lambda item: None, 5.0, _go_on)


def test_a_thread_that_ends_while_it_is_given_up_is_no_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its clock is gone with it; found by a run against a mutant that was just not too slow."""
    go_on = threading.Event()
    thread = threading.Thread(target=go_on.wait)
    caller = threading.current_thread()
    sleep = time.sleep

    def end(seconds: float) -> None:
        if threading.current_thread() is caller:
            go_on.set()
            thread.join()
        else:
            sleep(seconds)

    thread.start()
    monkeypatch.setattr(timeouts, "sleep", end)
    give_up(thread)
    assert not thread.is_alive()


@pytest.mark.parametrize(
    ("times", "runnable", "busy"),
    [((0, 0, 0, 1), False, True), ((0, 0), True, True), ((0, 0, 0, 0, 0), False, False)],
)
def test_thread_that_waits_for_a_processor_is_busy(
    times: tuple[float, ...], runnable: bool, busy: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a machine under load; a thread that blocks neither uses one nor is runnable."""
    clock = iter(times)
    monkeypatch.setattr(timeouts, "_read", lambda _: next(clock))
    monkeypatch.setattr(timeouts, "is_runnable", lambda _: runnable)
    assert timeouts._is_busy(threading.current_thread()) is busy


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_running_thread_is_runnable_and_waiting_thread_is_not() -> None:
    waiting = threading.Event()
    thread = threading.Thread(target=waiting.wait, daemon=True)
    thread.start()
    try:
        while is_runnable(thread):  # until it has begun to wait
            pass
        assert is_runnable(threading.current_thread())
    finally:
        waiting.set()
        thread.join()


def test_thread_that_is_not_started_is_not_runnable() -> None:
    assert not is_runnable(threading.Thread())


def test_an_end_that_a_busy_thread_loses_is_sent_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """As one delivered in a finaliser is, or in one of gc.callbacks."""
    lost: list[BaseException] = []
    delivered = threading.Semaphore(0)

    class Busy(threading.Thread):
        def run(self) -> None:
            while True:
                try:
                    while True:
                        [[] for _ in range(100)]
                except Abandoned as error:
                    lost.append(error)
                delivered.release()
                if len(lost) == 2:
                    return

        def join(self, timeout: float | None = None) -> None:
            """Wait for what was sent, and not for a while."""
            assert delivered.acquire(timeout=DEADLOCK)

    monkeypatch.setattr(timeouts, "_is_busy", lambda thread: len(lost) < 2)
    thread = Busy(daemon=True)
    thread.start()
    give_up(thread)
    assert len(lost) == 2


def test_an_item_is_worked_on_as_often_as_it_is_asked_for(clock: Clock) -> None:
    told: list[tuple[int, int]] = []
    seen: list[int] = []

    def work(item: int) -> None:
        seen.append(item)
        if item in (1, 2) and seen.count(item) < 3:
            clock.wait_for_ever()

    def on_hang(item: int, times: int) -> Next:
        told.append((item, times))
        return Next.AGAIN

    supervise(iter(range(4)), work, 5.0, on_hang)
    assert told == [(1, 1), (1, 2), (2, 1), (2, 2)]
    assert seen == [0, 1, 1, 1, 2, 2, 2, 3]


def test_an_item_that_comes_a_second_time_is_not_one_that_was_asked_for(clock: Clock) -> None:
    told: list[int] = []

    def on_hang(item: object, times: int) -> Next:
        told.append(times)
        return Next.GO_ON

    supervise(iter([1, 1]), lambda item: clock.wait_for_ever(), 5.0, on_hang)
    assert told == [1, 1]


@pytest.mark.parametrize("fails", [False, True])
def test_an_end_that_a_finaliser_loses_is_not_heard_of_but_other_errors_are(
    fails: bool, monkeypatch: pytest.MonkeyPatch, clock: Clock
) -> None:
    heard: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda lost: heard.append(lost.exc_type))

    class Busy:
        def __del__(self) -> None:
            if fails:
                raise ValueError
            clock.pass_on()
            while True:
                pass

    def work(item: object) -> None:
        Busy()

    supervise(iter([1]), work, 5.0, _end)
    assert heard == ([ValueError] if fails else [])


class Seconds:
    """Seconds that pass one by one while a thread waits for them, however late it is scheduled."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._awaited = threading.Semaphore(0)
        self._passed = threading.Semaphore(0)

    def tick(self) -> None:
        """Let a second pass if a thread waits for one."""
        if self._awaited.acquire(blocking=False):
            self._clock.now += 1.0
            self._passed.release()

    def wait(self, count: int) -> None:
        """Wait for this number of seconds."""
        for _ in range(count):
            self._awaited.release()
            self._passed.acquire()

    def stop(self) -> None:
        """Let a thread that waits run on."""
        self._passed.release(20)


def wait_below_the_recursion_limit() -> None:
    """Wait for a thread that sets the limit below the depth of the waiting one."""
    limit = sys.getrecursionlimit()
    refused = threading.Event()

    def work(item: object) -> None:
        sys.setrecursionlimit(40)
        for _ in range(1_000_000):
            pass
        sys.setrecursionlimit(limit)
        refused.set()

    def supervised(depth: int) -> None:
        if depth:
            supervised(depth - 1)
        else:
            supervise(iter([1]), work, 5.0, _go_on)

    supervised(50)
    assert refused.is_set()


def test_a_recursion_limit_below_the_waiting_threads_depth_is_waited_out() -> None:
    """The limit is that of all threads: the one that waits can call nothing meanwhile.

    Nor can any other thread, so this is a separate process.
    """
    call = f"import {__name__} as here; here.wait_below_the_recursion_limit()"
    subprocess.run([sys.executable, "-c", call], cwd=Path(__file__).parents[3], check=True)


def test_what_is_untimed_does_not_make_an_item_hang(clock: Clock) -> None:
    """A tick of a second comes after the other, none of which counts."""
    seconds = Seconds(clock)

    def work(item: object) -> None:
        with untimed():
            seconds.wait(12)

    def on_hang(item: object, times: int) -> Next:
        seconds.stop()
        raise AssertionError(item)

    supervise(iter([1]), work, 5.0, on_hang, seconds.tick)


def test_the_time_before_something_untimed_is_counted(clock: Clock) -> None:
    """Three seconds before it and three after it are over five."""
    seconds = Seconds(clock)
    hung: list[object] = []

    def work(item: object) -> None:
        seconds.wait(3)
        with untimed():
            seconds.wait(10)
        seconds.wait(4)

    def on_hang(item: object, times: int) -> Next:
        hung.append(item)
        seconds.stop()
        return Next.END

    supervise(iter([1]), work, 5.0, on_hang, seconds.tick)
    assert hung == [1]


def test_time_in_which_the_process_stood_still_does_not_count(clock: Clock) -> None:
    ticks = threading.Semaphore(0)

    def work(item: object) -> None:
        clock.now += 1000.0
        for _ in range(3):
            ticks.acquire()

    def on_hang(item: object, times: int) -> Next:
        ticks.release(3)
        raise AssertionError(item)

    supervise(iter([1]), work, 5.0, on_hang, ticks.release)


def test_an_item_hangs_however_late_the_watchdog_looks(clock: Clock) -> None:
    """A tick that comes late counts for a second."""
    hung: list[float] = []

    def tick() -> None:
        clock.now += 60.0

    def on_hang(item: object, times: int) -> Next:
        hung.append(clock.now)
        return Next.END

    def work(item: object) -> None:
        threading.Event().wait()

    supervise(iter([1]), work, 5.0, on_hang, tick)
    assert hung == [360.0]


@pytest.mark.parametrize("collects", [True, False])
def test_garbage_is_collected_again_only_if_it_was_before(collects: bool) -> None:
    """The caller of a run may have ended that, too."""
    before = gc.isenabled()
    (gc.enable if collects else gc.disable)()
    try:
        stop_collecting()
        assert not gc.isenabled()
        collect_again()
        assert gc.isenabled() is collects
    finally:
        (gc.enable if before else gc.disable)()
