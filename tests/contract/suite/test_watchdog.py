"""The watchdog ends what hangs and nothing else."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest

from fscontract.contract.suite.interrupt import Abandoned, give_up
from fscontract.contract.suite.watchdog import supervise, untimed


def test_every_item_is_worked_on_in_order() -> None:
    seen: list[int] = []
    supervise(iter(range(5)), seen.append, 5.0, lambda item: True)
    assert seen == [0, 1, 2, 3, 4]


def test_an_item_that_blocks_is_handed_over_and_the_rest_goes_on() -> None:
    hung: list[int] = []
    seen: list[int] = []

    def work(item: int) -> None:
        if item == 1:
            threading.Event().wait()
        seen.append(item)

    def on_hang(item: object) -> bool:
        assert isinstance(item, int)
        hung.append(item)
        return True

    supervise(iter(range(4)), work, 0.2, on_hang)
    assert (hung, seen) == ([1], [0, 2, 3])


def test_a_loop_in_python_is_stopped() -> None:
    stopped = threading.Event()

    def work(item: int) -> None:
        try:
            while True:
                pass
        finally:
            stopped.set()

    supervise(iter([1]), work, 0.2, lambda item: False)
    assert stopped.wait(10)


def test_an_exception_of_the_work_comes_out() -> None:
    def work(item: int) -> None:
        raise ValueError("it")

    with pytest.raises(ValueError, match="it"):
        supervise(iter([1]), work, 5.0, lambda item: True)


def test_an_exception_of_the_source_comes_out() -> None:
    def items() -> Iterator[int]:
        yield 1
        raise KeyError("source")

    with pytest.raises(KeyError):
        supervise(items(), lambda item: None, 5.0, lambda item: True)


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
    monkeypatch.setattr(time, "sleep", end)
    give_up(thread)
    assert not thread.is_alive()


def test_an_end_that_a_busy_thread_loses_is_sent_again() -> None:
    """As one delivered in a finaliser is, or in one of gc.callbacks."""
    lost: list[BaseException] = []

    def work() -> None:
        while True:
            try:
                while True:
                    [[] for _ in range(100)]
            except Abandoned as error:
                if lost:
                    return
                lost.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    give_up(thread)
    thread.join(10.0)
    assert not thread.is_alive()


def test_what_is_untimed_does_not_make_an_item_hang(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    ticks = threading.Semaphore(0)
    monkeypatch.setattr(time, "monotonic", lambda: now)

    def work(item: object) -> None:
        nonlocal now
        with untimed():
            now += 100.0
            for _ in range(3):
                ticks.acquire()

    def on_hang(item: object) -> bool:
        ticks.release(3)
        raise AssertionError(item)

    supervise(iter([1]), work, 5.0, on_hang, ticks.release)


def test_the_time_before_something_untimed_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    hung: list[object] = []
    told = threading.Event()
    monkeypatch.setattr(time, "monotonic", lambda: now)

    def work(item: object) -> None:
        nonlocal now
        now += 4.0
        with untimed():
            now += 100.0
        now += 4.0
        told.wait()

    def on_hang(item: object) -> bool:
        hung.append(item)
        told.set()
        return False

    supervise(iter([1]), work, 5.0, on_hang)
    assert hung == [1]
