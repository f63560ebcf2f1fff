"""Tests of functions over tasks: order, failures, and incompatible executors."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path
from select import select
from typing import Any

import pytest
from inline_snapshot import snapshot

import fscontract
from fscontract.contract.api.errors import EOFException, PathIOException
from fscontract.implementations.spark.tasks import ExecutorException, Tasks, job_failure
from tests.limits import DEADLOCK


def test_results_are_in_the_order_of_the_items(tasks: Tasks) -> None:
    """Also if a slice has several items."""
    assert tasks.map(lambda n: n * n, range(7), 3) == [n * n for n in range(7)]
    assert tasks.map(abs, []) == []


def test_tasks_run_in_other_processes(tasks: Tasks) -> None:
    assert os.getpid() not in tasks.map(lambda _: os.getpid(), range(4))


def test_exception_keeps_its_class_and_message(tasks: Tasks) -> None:
    """Without Spark's message and traceback."""

    def fail(_: int) -> None:
        raise EOFException("too far")

    with pytest.raises(EOFException, match=r"^too far$"):
        tasks.map(fail, [1])


def test_foreign_exception_message_has_the_class_name(tasks: Tasks) -> None:
    def fail(_: int) -> None:
        class Strange(Exception):
            pass

        raise Strange("once")

    with pytest.raises(PathIOException, match=r"Strange: once"):
        tasks.map(fail, [1])


def test_killed_task_error_is_one_line(tasks: Tasks) -> None:
    """The error says nothing about the file; it has the class of a network failure."""
    with pytest.raises(ExecutorException) as caught:
        tasks.map(lambda _: os._exit(3), [1])
    assert isinstance(caught.value, ConnectionError)
    assert "\n" not in str(caught.value)
    assert "worker exited unexpectedly" in str(caught.value)


def test_an_interrupted_call_cancels_its_tasks(
    tasks: Tasks, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They occupy all cores and would run forever; after the cancellation the cores are free."""
    gate = str(tmp_path / "gate")
    os.mkfifo(gate)
    listening = os.open(gate, os.O_RDONLY | os.O_NONBLOCK)
    # PySpark installs a handler that cancels jobs
    before = signal.signal(signal.SIGINT, signal.default_int_handler)

    def interrupt() -> None:
        if select([listening], [], [], DEADLOCK)[0]:
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    def stay(_: int) -> None:
        with open(gate, "w") as file:
            file.write("here\n")
        threading.Event().wait()

    watcher = threading.Thread(target=interrupt)
    watcher.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            tasks.map(stay, [1, 2])
    finally:
        signal.signal(signal.SIGINT, before)
        watcher.join()
        os.close(listening)
    assert tasks.submit(abs, [-1, -2], 2).result(DEADLOCK) == [1, 2]


def test_version_mismatch_error_has_a_hint(tasks: Tasks, monkeypatch: pytest.MonkeyPatch) -> None:
    have = fscontract.__version__
    monkeypatch.setattr("fscontract.implementations.spark.tasks.__version__", "99.0")
    with pytest.raises(
        ExecutorException, match=r"must have fscontract 99\.0, got fscontract "
    ) as caught:
        tasks.map(abs, [1])
    for part in (f"fscontract {have}", "ship(spark)", "python"):
        assert part in str(caught.value)


def test_spark_message_is_shortened_to_one_line() -> None:
    """The line has the place and the cause."""

    class Java:
        def getMessage(self) -> str:  # noqa: N802 - Java's name
            return (
                "Job aborted: Lost task 0.3\n\tat org.apache.Some(Some.java:1)\n"
                'Traceback (most recent call last):\n  File "x.py", line 1\nValueError: why\n'
            )

    class Failed(Exception):
        java_exception: Any = Java()

    assert str(job_failure(Failed())) == (
        snapshot("the job failed: Job aborted: Lost task 0.3 ... ValueError: why: 'Spark'")
    )
