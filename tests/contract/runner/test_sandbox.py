"""A sandboxed binding gives outcomes and exceptions, whatever the target gives."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest

from fscontract.contract.binding import Binding, NoScene, Opened, TargetError
from fscontract.contract.program.open_calls import BuilderCall
from fscontract.contract.program.outcome import Kind, Outcome, returned
from fscontract.contract.program.program import Step
from fscontract.contract.runner import sandbox as sandbox_module
from fscontract.contract.runner.sandbox import Sandbox, SandboxedBinding
from fscontract.contract.runner.timeouts import Abandoned
from fscontract.contract.script.calls import NoScript, ScriptApi, Source
from fscontract.implementations.bindings.native import StreamBinding
from fscontract.implementations.bindings.open_file import StreamOpener
from fscontract.implementations.memory import MemoryFileSystem
from tests.limits import DEADLOCK


class Panic(BaseException):
    """No Exception."""


class Bad(StreamBinding):
    """A binding whose `bind` and `prepare` do what a test says."""

    def __init__(self, does: Callable[[], Any]) -> None:
        super().__init__(MemoryFileSystem(), "bad")
        self.does = does

    def prepare(self) -> None:
        """Do it."""
        self.does()

    def open(self, path: str) -> Any:
        """Do it."""
        return self.does()

    def change(self, path: str, content: bytes | None) -> None:
        """Do it."""
        try:
            self.does()
        except OSError as error:
            raise TargetError(f"can't change {path}") from error

    def bind(self, step: Step) -> Any:
        """An action that does it."""

        def act(opened: Opened) -> Any:
            return self.does()

        return act


def _raises(error: BaseException) -> Callable[[], Any]:
    def does() -> Any:
        raise error

    return does


def _act(does: Callable[[], Any]) -> Outcome:
    return SandboxedBinding(Bad(does), 5.0).bind(Step("close"))(None)


def test_what_is_no_exception_becomes_an_outcome() -> None:
    """With its name and what it says."""
    assert _act(_raises(Panic("ouch"))) == Outcome(Kind.OTHER, detail="Panic: ouch")


def test_what_is_no_exception_comes_out_as_one_of_that_name() -> None:
    """Exceptions pass."""
    with pytest.raises(Exception, match="ouch") as caught:
        SandboxedBinding(Bad(_raises(Panic("ouch"))), 5.0).open("/")
    assert type(caught.value).__name__ == "Panic"


@pytest.mark.parametrize("error", [Abandoned(), KeyboardInterrupt()])
def test_what_the_suite_itself_raises_comes_through(error: BaseException) -> None:
    """A thread that was given up, and the user's Ctrl-C in the main thread."""
    with pytest.raises(type(error)):
        _act(_raises(error))


def test_a_value_of_a_plain_type_stays_what_it_is() -> None:
    """So do the parts of a tuple, and the outcomes of ranges."""
    outcome = returned((1, b"x", None, returned(3, b"abc")))
    assert _act(lambda: outcome) is outcome


def test_a_value_of_another_type_is_stood_for() -> None:
    """By something that shows it, and equals nothing."""

    class Five:
        """Equals 5."""

        def __eq__(self, other: object) -> bool:
            return other == 5

        __hash__ = None  # type: ignore[assignment]

        def __repr__(self) -> str:
            return "5"

    value = _act(lambda: returned(Five())).value
    assert (repr(value), value == 5) == ("5", False)


def test_whole_numbers_of_numpy_become_plain_ones() -> None:
    numpy = pytest.importorskip("numpy")
    value = _act(lambda: returned(numpy.int64(5))).value
    assert (type(value), value) == (int, 5)


def test_a_number_with_a_fraction_stays_foreign() -> None:
    numpy = pytest.importorskip("numpy")
    assert _act(lambda: returned(numpy.float64(5))).value != 5


def test_numbers_and_bytes_of_a_subclass_become_plain_ones() -> None:
    """Whatever the subclass overrides."""

    class Five(int):
        def __int__(self) -> int:
            return 6

    class Two(bytes):
        def __bytes__(self) -> bytes:
            return b""

    values = _act(lambda: returned((Five(5), Two(b"ab")))).value
    assert values == (5, b"ab")
    assert [type(value) for value in values] == [int, bytes]


def test_an_answer_that_is_no_outcome_is_one() -> None:
    """The error names the binding as its cause."""
    assert _act(lambda: 7) == Outcome(Kind.OTHER, detail="the binding returned int")


def test_an_opener_readies_its_calls_itself() -> None:
    """A sandbox in between changes nothing of it, nor of the word that there is no such scene."""

    class Picky(StreamOpener):
        def ready(self, path: str, call: BuilderCall) -> BuilderCall:
            if path == "/none":
                raise NoScene("none of it")
            return ("opt", *call[1:])

    binding = Bad(lambda: None)
    binding.opener = Picky(binding, binding.filesystem)
    opener = SandboxedBinding(binding, 1).opener
    assert opener is not None
    assert opener.ready("/a", ("must", "k", 1)) == ("opt", "k", 1)
    with pytest.raises(NoScene, match="none of it"):
        opener.ready("/none", ("must", "k", 1))


def test_a_trace_that_a_call_sets_is_taken_away() -> None:
    """The suite's own code does not run under it."""

    def does() -> Outcome:
        sys.settrace(lambda *_: None)
        return returned()

    before = sys.gettrace()
    _act(does)
    assert sys.gettrace() is before


def test_a_target_that_never_gets_ready_is_given_up() -> None:
    """After some times the patience for a program."""
    binding: Binding = SandboxedBinding(Bad(threading.Event().wait), 0.02)
    with pytest.raises(TargetError, match="bad: hangs during set-up"):
        binding.prepare()


@pytest.mark.parametrize("error", [PermissionError("retained"), FileExistsError("it is there")])
def test_a_store_may_refuse_to_change_a_file(error: OSError) -> None:
    with pytest.raises(NoScene, match="can't change /a"):
        SandboxedBinding(Bad(_raises(error)), 5.0).change("/a", b"")


def test_a_change_that_fails_otherwise_ends_the_run() -> None:
    with pytest.raises(TargetError, match="can't change /a"):
        SandboxedBinding(Bad(_raises(OSError("disk full"))), 5.0).change("/a", b"")


def test_a_fork_that_comes_back_ends() -> None:
    """Only the process that started the run continues."""
    reading, writing = os.pipe()

    def does() -> Outcome:
        os.fork()
        return returned()

    action = SandboxedBinding(Bad(does), 5.0).bind(Step("close"))
    action(None)
    os.write(writing, b"x")
    os.close(writing)
    with open(reading, "rb") as file:
        assert file.read() == b"x"


def test_surroundings_are_put_back(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Directory, environment, streams and hooks of threads."""
    sandbox = Sandbox()
    before = os.getcwd(), dict(os.environ), sys.stdout, threading.gettrace()
    os.chdir(tmp_path)
    os.environ["FSCONTRACT_TEST"] = "1"
    sys.stdout = None
    threading.settrace(lambda *_: None)
    sandbox.close()
    assert (os.getcwd(), dict(os.environ), sys.stdout, threading.gettrace()) == before


def test_a_thread_that_was_abandoned_in_a_call_ends_after_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Another thread uses the executor."""
    binding = SandboxedBinding(Bad(lambda: returned(1)), 5.0)
    read = binding.bind(Step("read_byte"))
    monkeypatch.setattr(sandbox_module, "is_abandoned", lambda: True)
    with pytest.raises(Abandoned):
        binding.open("/a")
    with pytest.raises(Abandoned):
        read(None)


@pytest.mark.parametrize("work", ["prepare", "dispose"])
def test_set_up_and_removal_that_hang_end_with_the_time_of_the_run(
    work: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    never = threading.Event()
    monkeypatch.setattr(sandbox_module, "_AT_LEAST", 0.1)
    inner = StreamBinding(MemoryFileSystem(), "hanging")
    monkeypatch.setattr(inner, work, never.wait)
    binding = SandboxedBinding(inner, DEADLOCK)
    with pytest.raises(TargetError, match="hangs"):
        getattr(binding, work)(0.1)
    never.set()


@pytest.mark.parametrize(
    ("work", "seconds", "writing", "limit"),
    [
        ("prepare", 1.0, 0.0, 5.0),
        ("prepare", 30.0, 0.0, 30.0),
        ("prepare", 100.0, 0.0, 60.0),
        ("dispose", 0.0, 0.0, 2.0),
        ("dispose", 30.0, 1.0, 30.0),
        ("dispose", 0.0, 3.0, 15.0),
        ("dispose", 0.0, 100.0, 60.0),
    ],
)
def test_set_up_and_removal_have_the_time_of_the_run_within_limits(
    work: str, seconds: float, writing: float, limit: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Removal also has a multiple of the time that writing took."""
    limits: list[float] = []
    monkeypatch.setattr(sandbox_module, "supervise", lambda *args: limits.append(args[2]))
    binding = SandboxedBinding(StreamBinding(MemoryFileSystem(), "test"), 10.0)
    binding.writing = writing
    getattr(binding, work)(seconds)
    assert limits == [limit]


def test_script_api_that_hangs_raises_no_script_in_time() -> None:
    never = threading.Event()

    class Hanging(StreamBinding):
        """A binding whose scripts need a file that never opens."""

        def script_api(self, source: Source) -> ScriptApi:
            """Wait."""
            never.wait()
            return super().script_api(source)

    binding = SandboxedBinding(Hanging(MemoryFileSystem(), "hanging"), 0.1)
    with pytest.raises(NoScript, match="hangs while a script is written"):
        binding.script_api(Source("target"))
    never.set()
