"""Tasks in processes of this machine."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from fscontract.contract.binding import TargetError
from fscontract.contract.distributed.processes import ProcessBackend
from tests.limits import DEADLOCK


def pid(request: str) -> str:
    """Return the number of this process."""
    return str(os.getpid())


def killed(request: str) -> str:
    """End this process."""
    os.kill(os.getpid(), signal.SIGKILL)
    return request


def waiting(request: str) -> str:
    """Wait for the end of this process; `request` is a file that says that it waits."""
    Path(request).write_text(str(os.getpid()))
    threading.Event().wait()
    return request


@pytest.fixture
def two() -> Iterator[ProcessBackend]:
    """Return a backend of two processes."""
    with closing(ProcessBackend(2)) as backend:
        yield backend


def test_tasks_run_in_at_most_as_many_other_processes(two: ProcessBackend) -> None:
    pids = {two.submit(pid, "", "").result(DEADLOCK) for _ in range(5)}
    assert 1 <= len(pids) <= 2
    assert str(os.getpid()) not in pids


def test_task_whose_process_is_killed_says_so_and_others_run(two: ProcessBackend) -> None:
    with pytest.raises(TargetError, match="the process was ended by SIGKILL"):
        two.submit(killed, "", "").result(DEADLOCK)
    assert two.submit(pid, "", "").result(DEADLOCK)


def test_closed_backend_has_ended_its_tasks(two: ProcessBackend, tmp_path: Path) -> None:
    note = tmp_path / "pid"
    task = two.submit(waiting, str(note), "")
    until(lambda: note.exists() and bool(note.read_text()))
    two.close()
    with pytest.raises(TargetError):
        task.result(DEADLOCK)
    with pytest.raises(ProcessLookupError):
        os.kill(int(note.read_text()), 0)


def until(holds: Callable[[], bool]) -> None:
    """Wait until a condition holds."""
    tick = threading.Event()
    while not holds():
        tick.wait(0.01)
