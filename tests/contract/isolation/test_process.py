"""Processes that answer in lines of JSON, and how they end."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading

import pytest
from inline_snapshot import snapshot

from fscontract.contract.isolation.process import Forked, Process, Quiet, can_fork, describe_exit
from fscontract.contract.runner.sandbox import call_sandboxed, sandboxed
from fscontract.implementations.bindings.native import StreamBinding
from fscontract.implementations.memory import MemoryFileSystem
from tests.limits import DEADLOCK

_LINE = "import socket, sys, time, os, signal; line = socket.socket(fileno=int(sys.argv[1]));"


def process(code: str) -> Process:
    """Return a process that runs this code, with its end of the socket in `line`."""

    def start(theirs: socket.socket) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-c", _LINE + code, str(theirs.fileno())],
            pass_fds=(theirs.fileno(),),
            start_new_session=True,
        )

    return Process(start)


def test_answers_are_the_lines_of_the_process() -> None:
    started = process(r"""line.sendall(b'{"a": 1}\n{"b":'); line.sendall(b' 2}\n')""")
    assert list(started.answers()) == [{"a": 1}, {"b": 2}]
    assert started.end(DEADLOCK) == ""


def test_process_reads_the_lines_that_are_sent() -> None:
    started = process("line.sendall(line.recv(100))")
    started.say('{"go": true}')
    assert list(started.answers()) == [{"go": True}]
    started.end(DEADLOCK)


def test_text_for_a_process_that_ended_is_dropped() -> None:
    started = process("pass")
    assert list(started.answers()) == []
    started.say("{}")
    assert started.end(DEADLOCK) == ""


def test_silent_process_raises_quiet() -> None:
    started = process("line.recv(1)")
    started.quiet = 0.0
    with pytest.raises(Quiet):
        list(started.answers())
    started.end(DEADLOCK)


def test_process_with_another_status_says_so() -> None:
    assert process("sys.exit(3)").end(DEADLOCK) == snapshot("the process exited with status 3")


def test_process_that_does_not_end_is_killed() -> None:
    started = process(f"time.sleep({DEADLOCK})")
    how = started.end(0.0)
    assert how == started.end() == snapshot("the process did not end within 0 s")


def test_interrupt_raises_keyboard_interrupt_in_the_process() -> None:
    started = process(
        r"""
signal.signal(signal.SIGINT, signal.default_int_handler)
try:
    line.sendall(b'{"ready": 1}\n')
    line.recv(1)
except KeyboardInterrupt:
    line.sendall(b'{"interrupted": true}\n')
"""
    )
    assert next(started.answers()) == {"ready": 1}
    assert list(started.interrupt(DEADLOCK)) == [{"interrupted": True}]
    started.end(DEADLOCK)


def test_end_of_a_process_is_named_by_its_status() -> None:
    statuses = (0, 7, -signal.SIGKILL, -99)
    assert {int(status): describe_exit(status) for status in statuses} == snapshot(
        {
            0: "the process exited with status 0",
            7: "the process exited with status 7",
            -9: "the process was ended by SIGKILL",
            -99: "the process was ended by signal 99",
        }
    )


def test_process_with_other_threads_can_not_fork() -> None:
    released = threading.Event()
    thread = threading.Thread(target=released.wait)
    thread.start()
    try:
        assert not can_fork()
    finally:
        released.set()
        thread.join()


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
class TestForked:
    def test_fork_that_returns_has_the_status_of_a_lost_one(self) -> None:
        assert Forked(lambda: None).wait(DEADLOCK) == 70

    def test_status_is_that_of_the_exit(self) -> None:
        assert Forked(lambda: os._exit(3)).wait(DEADLOCK) == 3

    def test_process_that_checked_a_target_forks_one_that_makes_calls(self) -> None:
        """Not one that ends after its first call, as a fork does that a target made."""
        sandboxed(StreamBinding(MemoryFileSystem(), "test"), 1.0)

        def work() -> None:
            call_sandboxed(len, "")
            os._exit(3)

        assert Forked(work).wait(DEADLOCK) == 3

    def test_status_of_a_signal_is_negative(self) -> None:
        forked = Forked(signal.pause)
        assert forked.poll() is None
        forked.send_signal(signal.SIGKILL)
        assert forked.wait(DEADLOCK) == -signal.SIGKILL

    def test_wait_with_a_timeout_raises_timeout_expired(self) -> None:
        forked = Forked(signal.pause)
        with pytest.raises(subprocess.TimeoutExpired):
            forked.wait(0.0)
        forked.send_signal(signal.SIGKILL)
        forked.wait(DEADLOCK)
