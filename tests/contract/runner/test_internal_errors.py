"""Faults of the kit itself: exit code 4, one line, and a traceback if it is asked for."""

from __future__ import annotations

import json
import math
import socket
from collections.abc import Callable
from contextlib import closing
from inspect import signature
from pathlib import Path
from typing import Any, NoReturn

import pytest
from click.testing import CliRunner, Result
from inline_snapshot import snapshot

from fscontract.contract.binding import TargetError
from fscontract.contract.cli import command_exit
from fscontract.contract.cli.main import main
from fscontract.contract.isolation import protocol, supervisor, worker
from fscontract.contract.isolation.journal import SharedJournal, shared_file
from fscontract.contract.program.program import Program
from fscontract.contract.runner import replay, run_options, runner
from fscontract.contract.runner.exit_codes import CLOSED
from fscontract.contract.runner.internal_errors import InternalError
from fscontract.contract.runner.run_options import RunOptions

OPTIONS = RunOptions(
    None, (), ("capabilities.unknown",), "all", "quick", None, 0, 1.0, {}, None, None
)


def run(*args: str) -> Result:
    """The command with these arguments."""
    apart = "mix_stderr" in signature(CliRunner).parameters
    options: dict[str, Any] = {"mix_stderr": False} if apart else {}
    return CliRunner(**options).invoke(main, list(args))


def _raise(error: BaseException) -> NoReturn:
    raise error


FAULTS: dict[str, Callable[[], BaseException]] = {
    "KeyError: 'x'": lambda: KeyError("x"),
    "SystemExit: 0": lambda: SystemExit(0),
    "EOFError": EOFError,
    "BrokenPipeError": BrokenPipeError,
    "MemoryError": MemoryError,
}


@pytest.mark.parametrize("said", FAULTS)
@pytest.mark.parametrize(
    "command",
    [
        ("check", "stubs.py:Stub"),
        ("known", "--write", "k.yaml", "stubs.py:Stub", "--reason", "r"),
        ("profile", "infer", "stubs.py:Stub"),
        ("replay", "r.json", "stubs.py:Stub"),
    ],
)
def test_a_fault_of_the_kit_is_one_line_and_exit_code_4(
    command: tuple[str, ...], said: str, stub_target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever it is, in any command: no other code, no traceback, and where to report it."""
    failure = {
        "fscontract-replay": 1,
        "clause": "capabilities.unknown",
        "program": Program(5, ()).to_json(),
    }
    Path("r.json").write_text(json.dumps(failure))
    for module, name in ((runner, "check"), (replay, "replay")):
        monkeypatch.setattr(module, name, lambda *_, **__: _raise(FAULTS[said]()))
    result = run(*command)
    assert result.exit_code == 4, result.output
    last = result.stderr.splitlines()[-1]
    assert last.startswith(f"fscontract: internal error: {said}")
    assert "report it with the output of 'fscontract --traceback COMMAND ...'" in last
    assert "Traceback" not in result.output


def test_a_traceback_is_printed_if_it_is_asked_for(
    stub_target: str, suite: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before the line."""
    monkeypatch.setattr(runner, "check", lambda *_, **__: _raise(KeyError("x")))
    result = run("--traceback", "check", stub_target)
    first, *_, last = result.stderr.splitlines()
    assert first == snapshot("Traceback (most recent call last):")
    assert last.startswith("fscontract: internal error: KeyError")
    assert "Traceback" not in run("check", stub_target).output


def test_an_exception_that_can_not_be_shown_is_one_line(
    stub_target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With its class."""

    class Unprintable(Exception):
        def __str__(self) -> str:
            raise SystemExit(0)

        __repr__ = __str__

    monkeypatch.setattr(runner, "check", lambda *_, **__: _raise(Unprintable()))
    assert "internal error: Unprintable" in run("check", stub_target).stderr


def test_an_output_that_nobody_reads_is_no_violation(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a shell has it for SIGPIPE; click would exit with 1."""
    monkeypatch.setattr(command_exit, "_output_is_closed", lambda: True)
    monkeypatch.setattr(run_options, "selected", lambda *_, **__: _raise(BrokenPipeError()))
    result = run("check", "memory")
    assert (result.exit_code, result.stderr) == (CLOSED, "")


# In the process of a target ---------------------------------------------------------------------


def answers(target: str) -> list[dict[str, Any]]:
    """Return a child's messages about a target, with the child's code in this process."""
    memory = shared_file()
    ours, theirs = socket.socketpair()
    request: dict[str, Any] = {
        "target": target,
        "run": protocol.to_json(OPTIONS),
        "known": [],
        "crashes": [],
        "hangs": math.inf,
        "until": None,
        "discard": [],
        "do": "run",
        "programs": [],
    }
    with closing(ours), closing(theirs):
        budget = b"\n60.0\n"
        ours.sendall(json.dumps(request).encode() + budget)
        assert worker._Child(theirs, SharedJournal(memory)).work() == 0
        theirs.shutdown(socket.SHUT_WR)
        return [json.loads(line) for line in ours.makefile()]


def test_a_fault_in_the_process_of_a_target_gets_to_the_parent(
    stub_target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With its line and its traceback."""
    monkeypatch.setattr(runner, "check", lambda *_, **__: 1 // 0)
    answer = answers(stub_target)[-1]
    assert answer["fault"].startswith("ZeroDivisionError: ")
    assert answer["trace"].startswith("Traceback")
    with pytest.raises(InternalError, match="ZeroDivisionError"):
        supervisor.Isolated._fail(object.__new__(supervisor.Isolated), answer)


def test_an_exception_of_the_set_up_is_not_taken_for_a_fault_of_the_kit(
    stub_target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The report has its class and place."""
    (answer,) = answers("stubs.py:fails")
    assert answer["target"].startswith("stubs.py:fails: RuntimeError: nothing here (")
    with pytest.raises(TargetError, match="nothing here"):
        supervisor.Isolated._fail(object.__new__(supervisor.Isolated), answer)


SET_UPS = {
    "raises at import": "raise AttributeError('ObjectStoreMethods')",
    "exits at import": "raise SystemExit(0)",
    "has a module __getattr__": "def __getattr__(name): raise RuntimeError('ObjectStoreMethods')",
    "has an odd signature": (
        "class make:\n    __signature__ = 5\nmake = type('M', (), {'__call__': lambda s: 1, "
        "'__signature__': property(lambda s: 1 // 0)})()"
    ),
    "raises in the factory": "def make(): raise AttributeError('ObjectStoreMethods')",
    "raises in a trait": (
        "class Odd:\n    def __getattribute__(self, name): raise RuntimeError(name)\n"
        "def make(): return Odd()"
    ),
    "has a binding without a name": (
        "from stubs import Stub\nclass make(Stub):\n    name = property(lambda s: 1 // 0)"
    ),
}


@pytest.mark.parametrize("how", SET_UPS)
def test_whatever_a_set_up_does_is_exit_code_3_with_class_and_place(
    how: str, stub_target: str
) -> None:
    """It is the target's, not the kit's."""
    Path("odd.py").write_text(SET_UPS[how])
    result = run("check", "odd.py:make")
    assert result.exit_code == 3, result.output
    (line,) = result.stderr.splitlines()
    assert line.startswith("fscontract: error: odd.py:make: ")
    assert line.endswith(")")


def test_a_binding_that_can_not_be_loaded_keeps_no_other_from_being_used(
    stub_target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As that of obstore with a version before 0.12: AttributeError at the import."""
    from fscontract.contract import targets

    class Broken:
        name = "obstore"

        def load(self) -> NoReturn:
            raise AttributeError("module 'obstore.store' has no attribute 'ObjectStoreMethods'")

    found = targets.installed
    broken: dict[str, Any] = {"obstore": Broken()}
    monkeypatch.setattr(
        targets,
        "installed",
        lambda group: broken | found(group) | broken if group == targets.BINDINGS else found(group),
    )
    Path("mem.py").write_text(
        "from fscontract.implementations.memory import MemoryFileSystem as make"
    )
    assert run("check", "mem.py:make", "--clauses", "capabilities.unknown").exit_code == 0
    result = run("check", "stubs.py:number")
    assert result.exit_code == 2
    assert "obstore (unavailable: AttributeError: module 'obstore.store' has no" in result.stderr
    result = run("check", "obstore+memory://x")
    assert result.exit_code == 3
    assert "AttributeError: module 'obstore.store' has no attribute" in result.stderr
