"""Functions over tasks: order, failures, and executors that don't fit."""

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


def test_results_come_in_the_order_of_the_items(tasks: Tasks) -> None:
    """Also when a slice has several."""
    assert tasks.map(lambda n: n * n, range(7), 3) == [n * n for n in range(7)]
    assert tasks.map(abs, []) == []


def test_tasks_run_in_other_processes(tasks: Tasks) -> None:
    assert os.getpid() not in tasks.map(lambda _: os.getpid(), range(4))


def test_an_exception_comes_home_as_what_it_was(tasks: Tasks) -> None:
    """No text of Spark's, and no traceback."""

    def fail(_: int) -> None:
        raise EOFException("too far")

    with pytest.raises(EOFException, match=r"^too far$"):
        tasks.map(fail, [1])


def test_a_foreign_exception_says_its_name(tasks: Tasks) -> None:
    def fail(_: int) -> None:
        class Strange(Exception):
            pass

        raise Strange("once")

    with pytest.raises(PathIOException, match=r"Strange: once"):
        tasks.map(fail, [1])


def test_a_task_that_dies_is_one_line(tasks: Tasks) -> None:
    """Nothing is known of the file then: it is a failure of the network's kind."""
    with pytest.raises(ExecutorException) as caught:
        tasks.map(lambda _: os._exit(3), [1])
    assert isinstance(caught.value, ConnectionError)
    assert "\n" not in str(caught.value)
    assert "worker exited unexpectedly" in str(caught.value)


def test_an_interrupted_call_cancels_its_tasks(
    tasks: Tasks, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They hold all cores, and would go on for ever; whoever comes next finds them free."""
    gate = str(tmp_path / "gate")
    os.mkfifo(gate)
    listening = os.open(gate, os.O_RDONLY | os.O_NONBLOCK)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # PySpark cancels by itself

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


def test_another_version_is_named_with_a_cure(
    tasks: Tasks, monkeypatch: pytest.MonkeyPatch
) -> None:
    have = fscontract.__version__
    monkeypatch.setattr("fscontract.implementations.spark.tasks.__version__", "99.0")
    with pytest.raises(ExecutorException, match=r"fscontract 99\.0, the executor has") as caught:
        tasks.map(abs, [1])
    for part in (f"fscontract {have}", "ship(spark)", "python"):
        assert part in str(caught.value)


def test_what_spark_says_is_cut_to_one_line() -> None:
    """Where it was, and what it was."""

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
